// Chooses the types that ops compute in.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Passes.h"

#include "dialects/Cnn/ConstantData.h"
#include "passes/Graph.h"
#include "passes/Remarks.h"

#include "mlir/IR/IRMapping.h"

namespace convoy {
#define GEN_PASS_DEF_ASSIGNPRECISION
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;

static bool isHalf(Type type) { return type.isF16() || type.isBF16(); }
static bool isHalf(Value value) { return isHalf(tensorType(value).getElementType()); }

static RankedTensorType withElements(RankedTensorType type, Type elementType) {
  return RankedTensorType::get(type.getShape(), elementType, type.getEncoding());
}

// Converts a float value between f32 and a half type.
static Value convertScalar(OpBuilder &builder, Location loc, Value value, Type type) {
  if (value.getType() == type)
    return value;
  if (value.getType().getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(builder, loc, type, value);
  return arith::TruncFOp::create(builder, loc, type, value);
}

// A tensor with other float elements: a new constant, or a map.
static Value convertTensor(OpBuilder &builder, Location loc, Value value, Type elementType) {
  RankedTensorType type = withElements(tensorType(value), elementType);
  if (ElementsAttr constant = cnn::getConstant(value)) {
    cnn::ConstantData data(constant);
    Type from = constant.getElementType();
    int64_t count = constant.getNumElements();
    int64_t size = cnn::getElementBytes(elementType), fromSize = cnn::getElementBytes(from);
    std::vector<char> bytes(count * size);
    for (int64_t i = 0; i < count; ++i)
      cnn::writeFloat(bytes.data() + i * size, elementType,
                      cnn::readFloat(data.bytes().data() + i * fromSize, from));
    return createConstant(builder, loc, type, std::move(bytes));
  }
  auto map = cnn::MapOp::create(builder, loc, type, value, StringAttr());
  OpBuilder::InsertionGuard guard(builder);
  Block *block =
      builder.createBlock(&map.getBody(), {}, {tensorType(value).getElementType()}, {loc});
  cnn::YieldOp::create(builder, loc,
                       convertScalar(builder, loc, block->getArgument(0), elementType));
  return map.getDst();
}

// Whether the op computes in f32 from f32 elements: where it adds up or interpolates, because the
// type of sums matters; where it picks elements, because that loses nothing and targets have fast
// kernels for f32.
static bool computesInF32(Operation *op) {
  return isa<cnn::ConvOp, cnn::ConvTransposeOp, cnn::MatmulOp, cnn::PoolOp, cnn::ReduceOp,
             cnn::ResizeOp, cnn::SoftmaxOp, cnn::LrnOp>(op);
}

namespace {

/// Makes f32 of the arithmetic of one scalar region on half floats. The results are rounded where
/// they leave it, and where the region itself rounds.
class Widener {
public:
  explicit Widener(cnn::EpilogueOpInterface op)
      : op(op), block(op.getScalarRegion().front()), builder(op->getContext()) {}

  /// `sum` is an argument of type `half` that became f32.
  void addWide(Value sum, Type half) {
    wide[sum] = sum;
    halves[sum] = half;
  }

  /// Returns whether any arithmetic was on half floats.
  bool run() {
    for (Operation &inner : llvm::make_early_inc_range(block.without_terminator()))
      widen(&inner);
    Operation *yield = block.getTerminator();
    Type type = cnn::getScalarType(tensorType(op->getResult(0)).getElementType());
    builder.setInsertionPoint(yield);
    for (OpOperand &result : yield->getOpOperands())
      if (isHalf(type))
        result.set(convertScalar(builder, op->getLoc(), result.get(), type));
    return changed;
  }

private:
  static bool isHalf(Type type) { return type.isF16() || type.isBF16(); }

  // The f32 that stands for a value that was a half float.
  Value getWide(Value value) {
    Value &known = wide[value];
    if (known)
      return known;
    if (Operation *definition = value.getDefiningOp())
      builder.setInsertionPointAfter(definition);
    else
      builder.setInsertionPointToStart(&block);
    return known = arith::ExtFOp::create(builder, op->getLoc(), builder.getF32Type(), value);
  }
  bool wasHalf(Value value) const { return isHalf(value.getType()) || wide.contains(value); }

  void widen(Operation *inner) {
    // What converts from half floats has an exact operand; what converts to them rounds.
    if (auto ext = dyn_cast<arith::ExtFOp>(inner); ext && wasHalf(ext.getIn())) {
      if (ext.getType().isF32()) {
        ext.replaceAllUsesWith(getWide(ext.getIn()));
        ext.erase();
      } else {
        ext.getInMutable().set(getWide(ext.getIn()));
      }
      return;
    }
    if (isa<arith::TruncFOp>(inner))
      return;
    if (auto bitcast = dyn_cast<arith::BitcastOp>(inner)) {
      // The bits are those of the half float.
      if (auto half = halves.find(bitcast.getIn()); half != halves.end()) {
        builder.setInsertionPoint(inner);
        bitcast.getInMutable().set(
            convertScalar(builder, op->getLoc(), bitcast.getIn(), half->second));
      }
      return;
    }
    auto isHalfType = [](Type type) { return isHalf(type); };
    bool takesHalf = llvm::any_of(inner->getOperands(), [&](Value v) { return wasHalf(v); });
    bool givesHalf = llvm::any_of(inner->getResultTypes(), isHalfType);
    if (!takesHalf && !givesHalf)
      return;
    for (OpOperand &operand : inner->getOpOperands())
      if (wasHalf(operand.get()))
        operand.set(getWide(operand.get()));
    for (Value result : inner->getResults())
      if (isHalf(result.getType())) {
        widenConstant(inner);
        halves[result] = result.getType();
        result.setType(builder.getF32Type());
        wide[result] = result;
      }
    changed |= !inner->hasTrait<OpTrait::ConstantLike>();
  }

  void widenConstant(Operation *inner) {
    auto constant = dyn_cast<arith::ConstantOp>(inner);
    if (!constant)
      return;
    double value = cast<FloatAttr>(constant.getValue()).getValueAsDouble();
    constant.setValueAttr(builder.getF32FloatAttr(value));
  }

  cnn::EpilogueOpInterface op;
  Block &block;
  OpBuilder builder;
  DenseMap<Value, Value> wide;
  /// What the values that became f32 had been.
  DenseMap<Value, Type> halves;
  bool changed = false;
};

struct AssignPrecision : public convoy::impl::AssignPrecisionBase<AssignPrecision> {
  void runOnOperation() override;

private:
  Value toF32(OpBuilder &builder, Location loc, Value value);
  void accumulateInF32(cnn::EpilogueOpInterface op);
  void computeInF32(Operation *op);

  /// What was cast already: users come after the first one.
  DenseMap<Value, Value> wideTensors;
};

} // namespace

Value AssignPrecision::toF32(OpBuilder &builder, Location loc, Value value) {
  Value &known = wideTensors[value];
  if (!known)
    known = convertTensor(builder, loc, value, builder.getF32Type());
  return known;
}

// The op computes its accumulator in f32.
void AssignPrecision::accumulateInF32(cnn::EpilogueOpInterface op) {
  OpBuilder builder(op);
  unsigned numExtras = op.getRegionOperands().size();
  for (unsigned i = 0; i < op->getNumOperands() - numExtras; ++i)
    op->setOperand(i, toF32(builder, op->getLoc(), op->getOperand(i)));
  op.getScalarRegion().getArgument(0).setType(builder.getF32Type());
}

// The op computes in f32 between two casts.
void AssignPrecision::computeInF32(Operation *op) {
  OpBuilder builder(op);
  Value result = op->getResult(0);
  Type half = tensorType(result).getElementType();
  op->setOperand(0, toF32(builder, op->getLoc(), op->getOperand(0)));
  result.setType(withElements(tensorType(result), builder.getF32Type()));
  builder.setInsertionPointAfter(op);
  Value narrow = convertTensor(builder, op->getLoc(), result, half);
  result.replaceAllUsesExcept(narrow, narrow.getDefiningOp());
}

void AssignPrecision::runOnOperation() {
  FailureOr<func::FuncOp> graph = getGraph(getOperation());
  if (failed(graph))
    return signalPassFailure();
  SmallVector<Operation *> ops;
  for (Operation &op : graph->getBody().front())
    if (isComputeOp(&op))
      ops.push_back(&op);
  for (Operation *op : ops) {
    auto epilogueOp = dyn_cast<cnn::EpilogueOpInterface>(op);
    bool isWide = computesInF32(op) && isHalf(op->getOperand(0));
    std::string what;
    Type half;
    if (isWide) {
      half = tensorType(op->getOperand(0)).getElementType();
      what = "computes in f32";
      if (epilogueOp)
        accumulateInF32(epilogueOp);
      else
        computeInF32(op);
    }
    if (epilogueOp) {
      Widener widener(epilogueOp);
      if (isWide)
        widener.addWide(epilogueOp.getScalarRegion().getArgument(0), half);
      if (widener.run())
        what += std::string(what.empty() ? "" : ", ") + "scalar arithmetic in f32";
    }
    if (!what.empty())
      remarkPassed(op->getLoc(), "AssignPrecision", "precision", what);
  }
  wideTensors.clear();
  eraseUnusedConstants(getOperation());
}
