// Folds batch normalization and other affine functions of a channel into weights.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Passes.h"

#include "dialects/Cnn/ConstantData.h"
#include "passes/Affine.h"
#include "passes/Graph.h"
#include "passes/Remarks.h"

#include <cfloat>
#include <cmath>
#include <cstring>

namespace convoy {
#define GEN_PASS_DEF_FOLDBATCHNORM
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;

namespace {

// What conv, conv_transpose and matmul have in common here: weights that scale channels of the
// result, and the dimension of the result that is the channel.
struct Producer {
  cnn::EpilogueOpInterface op;
  unsigned weightOperand = 1;
  int64_t axis;
  // The channel of the result that element `index` of the row-major weights contributes to.
  std::function<int64_t(int64_t index)> channelOf;

  static std::optional<Producer> get(Operation *op);
  Value weights() const { return op->getOperand(weightOperand); }
};

} // namespace

std::optional<Producer> Producer::get(Operation *op) {
  Producer producer;
  if (!isa_and_nonnull<cnn::ConvOp, cnn::ConvTransposeOp, cnn::MatmulOp>(op))
    return std::nullopt;
  producer.op = cast<cnn::EpilogueOpInterface>(op);
  ArrayRef<int64_t> shape = tensorType(producer.weights()).getShape();
  producer.axis = 1;
  if (isa<cnn::ConvOp>(op)) {
    int64_t inner = llvm::product_of(shape.drop_front());
    producer.channelOf = [=](int64_t index) { return index / inner; };
  } else if (auto conv = dyn_cast<cnn::ConvTransposeOp>(op)) {
    int64_t kernel = llvm::product_of(shape.drop_front(2)), ocOfGroup = shape[1];
    int64_t icOfGroup = shape[0] / static_cast<int64_t>(conv.getGroups());
    producer.channelOf = [=](int64_t index) {
      int64_t oc = index / kernel % ocOfGroup, ic = index / kernel / ocOfGroup;
      return ic / icOfGroup * ocOfGroup + oc;
    };
  } else {
    auto matmul = cast<cnn::MatmulOp>(op);
    producer.axis = tensorType(matmul.getDst()).getRank() - 1;
    int64_t inner = matmul.getTransposeRhs() ? shape.back() : 1;
    int64_t n = matmul.getTransposeRhs() ? shape[shape.size() - 2] : shape.back();
    producer.channelOf = [=](int64_t index) { return index / inner % n; };
  }
  return producer;
}

// The function of a batch_norm with constant parameters.
static std::optional<ChannelAffine> getAffine(cnn::BatchNormOp op) {
  auto scale = cnn::getConstantFloats(op.getScale()), bias = cnn::getConstantFloats(op.getBias());
  auto mean = cnn::getConstantFloats(op.getMean());
  auto variance = cnn::getConstantFloats(op.getVariance());
  if (!scale || !bias || !mean || !variance)
    return std::nullopt;
  ChannelAffine affine;
  for (size_t i = 0; i < scale->size(); ++i) {
    double factor = (*scale)[i] / std::sqrt((*variance)[i] + op.getEpsilon().convertToDouble());
    affine.scale.push_back(factor);
    affine.shift.push_back((*bias)[i] - (*mean)[i] * factor);
  }
  return affine;
}

// The function that the only user of `value` applies to it, if it is affine along `axis`.
static std::optional<ChannelAffine> getAffineUser(Operation *user, Value value, int64_t axis) {
  if (user->getNumResults() != 1 ||
      tensorType(user->getResult(0)).getShape() != tensorType(value).getShape())
    return std::nullopt;
  if (auto norm = dyn_cast<cnn::BatchNormOp>(user)) {
    if (norm.getSrc() != value || axis != 1)
      return std::nullopt;
    return getAffine(norm);
  }
  auto map = dyn_cast<cnn::MapOp>(user);
  if (!map || llvm::count(map.getInputs(), value) != 1)
    return std::nullopt;
  unsigned index = llvm::find(map.getInputs(), value) - map.getInputs().begin();
  return getChannelAffine(cast<cnn::EpilogueOpInterface>(user), map.getBody().getArgument(index),
                          axis);
}

// Denormals cost a lot on CPUs that do not flush them, and add nothing to a sum.
static double flush(double value, Type type) {
  return (type.isF32() || type.isBF16()) && std::fabs(value) < FLT_MIN ? 0.0 : value;
}

static std::vector<char> scaleWeights(const Producer &producer, ArrayRef<double> scale) {
  ElementsAttr weights = cnn::getConstant(producer.weights());
  cnn::ConstantData data(weights);
  Type type = weights.getElementType();
  std::vector<char> result(data.bytes().size());
  int64_t size = cnn::getElementBytes(type), count = result.size() / size;
  for (int64_t i = 0; i < count; ++i) {
    double factor = scale[producer.channelOf(i)];
    double value = cnn::readFloat(data.bytes().data() + i * size, type) * factor;
    cnn::writeFloat(result.data() + i * size, type, flush(value, type));
  }
  return result;
}

// Makes the producer compute `affine` of its bare sum.
static void absorb(Producer &producer, const ChannelAffine &affine) {
  Operation *op = producer.op;
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Type elementType = tensorType(op->getResult(0)).getElementType();
  if (llvm::any_of(affine.scale, [](double value) { return value != 1.0; }))
    op->setOperand(producer.weightOperand,
                   createConstant(builder, loc, tensorType(producer.weights()),
                                  scaleWeights(producer, affine.scale)));

  Region &region = producer.op.getScalarRegion();
  producer.op.getRegionOperandsMutable().clear();
  region.getBlocks().clear();
  Type accumulator = producer.op.getAccumulatorType();
  std::vector<double> shift = affine.shift;
  for (double &value : shift)
    value = flush(value, elementType);
  if (llvm::all_of(shift, [](double value) { return value == 0; })) {
    cnn::buildIdentityEpilogue(builder, region, accumulator, loc);
    return;
  }
  SmallVector<int64_t> shape(tensorType(op->getResult(0)).getRank(), 1);
  shape[producer.axis] = shift.size();
  Value bias = createConstant(builder, loc, RankedTensorType::get(shape, elementType), shift);
  producer.op.getRegionOperandsMutable().append(bias);
  Block *block = builder.createBlock(&region, {}, {accumulator, elementType}, {loc, loc});
  Value sum = arith::AddFOp::create(builder, loc, block->getArgument(0), block->getArgument(1));
  cnn::YieldOp::create(builder, loc, sum);
}

// A parameter of a batch_norm as an operand that broadcasts along dimension 1 of `src`.
static Value alongChannel(OpBuilder &builder, Value parameter, RankedTensorType src) {
  SmallVector<int64_t> shape(src.getRank(), 1);
  shape[src.getRank() < 2 ? 0 : 1] = tensorType(parameter).getDimSize(0);
  auto type = RankedTensorType::get(shape, tensorType(parameter).getElementType());
  return cnn::ReshapeOp::create(builder, parameter.getLoc(), type, parameter, StringAttr());
}

static cnn::MapOp createMap(OpBuilder &builder, Location loc, Type type, ValueRange inputs,
                            function_ref<Value(OpBuilder &, ValueRange)> body) {
  auto map = cnn::MapOp::create(builder, loc, type, inputs, StringAttr());
  SmallVector<Type> types;
  for (Value input : inputs)
    types.push_back(cnn::getScalarType(tensorType(input)));
  OpBuilder::InsertionGuard guard(builder);
  Block *block =
      builder.createBlock(&map.getBody(), {}, types, SmallVector<Location>(types.size(), loc));
  cnn::YieldOp::create(builder, loc, body(builder, block->getArguments()));
  return map;
}

static void replaceByMap(cnn::BatchNormOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto src = tensorType(op.getSrc());
  cnn::MapOp map;
  std::optional<ChannelAffine> affine = getAffine(op);
  if (affine && affine->isFinite()) {
    SmallVector<int64_t> shape(src.getRank(), 1);
    shape[src.getRank() < 2 ? 0 : 1] = affine->scale.size();
    auto type = RankedTensorType::get(shape, src.getElementType());
    Value scale = createConstant(builder, loc, type, affine->scale);
    Value shift = createConstant(builder, loc, type, affine->shift);
    map = createMap(builder, loc, op.getType(), {op.getSrc(), scale, shift},
                    [&](OpBuilder &b, ValueRange args) -> Value {
                      Value product = arith::MulFOp::create(b, loc, args[0], args[1]);
                      return arith::AddFOp::create(b, loc, product, args[2]);
                    });
  } else {
    SmallVector<Value> inputs{op.getSrc()};
    for (Value parameter : {op.getScale(), op.getBias(), op.getMean(), op.getVariance()})
      inputs.push_back(alongChannel(builder, parameter, src));
    map =
        createMap(builder, loc, op.getType(), inputs, [&](OpBuilder &b, ValueRange args) -> Value {
          // In the type of src; parameters may be of a wider one.
          Type type = args[0].getType();
          auto toType = [&](Value value) -> Value {
            unsigned from = value.getType().getIntOrFloatBitWidth();
            unsigned to = type.getIntOrFloatBitWidth();
            if (value.getType() == type)
              return value;
            if (from > to)
              return arith::TruncFOp::create(b, loc, type, value);
            return arith::ExtFOp::create(b, loc, type, value);
          };
          Value epsilon = arith::ConstantOp::create(
              b, loc, b.getFloatAttr(type, op.getEpsilon().convertToDouble()));
          Value variance = arith::AddFOp::create(b, loc, toType(args[4]), epsilon);
          Value deviation = math::SqrtOp::create(b, loc, variance);
          Value centered = arith::SubFOp::create(b, loc, args[0], toType(args[3]));
          Value normal = arith::DivFOp::create(b, loc, centered, deviation);
          Value scaled = arith::MulFOp::create(b, loc, normal, toType(args[1]));
          return arith::AddFOp::create(b, loc, scaled, toType(args[2]));
        });
  }
  op.replaceAllUsesWith(map.getDst());
  op.erase();
}

// Why the user of a producer stays; empty if it was absorbed.
static std::string absorbUser(Operation *user, Value value) {
  std::optional<Producer> producer = Producer::get(value.getDefiningOp());
  if (!producer)
    return "its input is not made by conv, conv_transpose or matmul";
  if (getOnlyUser(value) != user)
    return "its input has other users";
  ElementsAttr weights = cnn::getConstant(producer->weights());
  if (!weights || !isa<FloatType>(weights.getElementType()))
    return "the weights are not constant";
  if (tensorType(value).getElementType() != weights.getElementType())
    return "the producer changes the element type";
  Region &epilogue = producer->op.getScalarRegion();
  std::optional<ChannelAffine> inner =
      getChannelAffine(producer->op, epilogue.getArgument(0), producer->axis);
  if (!inner)
    return "the producer's epilogue is not affine";
  std::optional<ChannelAffine> outer = getAffineUser(user, value, producer->axis);
  if (!outer)
    return "it is not an affine function of a channel with constants";
  if (tensorType(user->getResult(0)).getElementType() != weights.getElementType())
    return "it changes the element type";
  ChannelAffine affine = outer->after(*inner);
  if (!affine.isFinite())
    return "its factors are not finite";
  absorb(*producer, affine);
  producer->op->setLoc(joinLocations(producer->op->getLoc(), user->getLoc()));
  user->getResult(0).replaceAllUsesWith(value);
  return {};
}

namespace {
struct FoldBatchNorm : public convoy::impl::FoldBatchNormBase<FoldBatchNorm> {
  void runOnOperation() override;
};
} // namespace

void FoldBatchNorm::runOnOperation() {
  // In program order, so a chain behind one producer is absorbed link by link.
  SmallVector<Operation *> candidates;
  getOperation().walk([&](Operation *op) {
    if (isa<cnn::BatchNormOp, cnn::MapOp>(op))
      candidates.push_back(op);
  });
  for (Operation *op : candidates) {
    std::string why = "none of its inputs can absorb it";
    SmallVector<Value> inputs(op->getOperands());
    if (isa<cnn::BatchNormOp>(op))
      inputs.resize(1);
    for (Value input : inputs) {
      why = absorbUser(op, input);
      if (why.empty())
        break;
    }
    if (why.empty()) {
      remarkPassed(op->getLoc(), "FoldBatchNorm", "fold",
                   "folded into the weights of its producer");
      op->erase();
    } else if (auto norm = dyn_cast<cnn::BatchNormOp>(op)) {
      remarkMissed(op->getLoc(), "FoldBatchNorm", "fold", "batch_norm becomes a map: " + why);
      replaceByMap(norm);
    }
  }
  eraseUnusedConstants(getOperation());
}
