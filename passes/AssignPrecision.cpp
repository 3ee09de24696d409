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

// Whether the op adds up or interpolates elements, so that the type of sums matters.
static bool accumulates(Operation *op) {
  if (auto pool = dyn_cast<cnn::PoolOp>(op))
    return pool.getKind() == cnn::PoolKind::Average;
  if (auto reduce = dyn_cast<cnn::ReduceOp>(op))
    return reduce.getKind() != cnn::ReduceKind::Max && reduce.getKind() != cnn::ReduceKind::Min;
  if (auto resize = dyn_cast<cnn::ResizeOp>(op))
    return resize.getMode() != cnn::ResizeMode::Nearest;
  return isa<cnn::ConvOp, cnn::ConvTransposeOp, cnn::MatmulOp, cnn::SoftmaxOp, cnn::LrnOp>(op);
}

// The op computes its accumulator in f32; its epilogue takes it rounded once.
static void accumulateInF32(cnn::EpilogueOpInterface op) {
  OpBuilder builder(op);
  Type f32 = builder.getF32Type();
  Type half = op.getAccumulatorType();
  unsigned numExtras = op.getRegionOperands().size();
  for (unsigned i = 0; i < op->getNumOperands() - numExtras; ++i)
    op->setOperand(i, convertTensor(builder, op->getLoc(), op->getOperand(i), f32));
  BlockArgument accumulator = op.getScalarRegion().getArgument(0);
  accumulator.setType(f32);
  builder.setInsertionPointToStart(accumulator.getOwner());
  Value rounded = arith::TruncFOp::create(builder, op->getLoc(), half, accumulator);
  accumulator.replaceAllUsesExcept(rounded, rounded.getDefiningOp());
}

// The op computes in f32 between two casts.
static void computeInF32(Operation *op) {
  OpBuilder builder(op);
  Value result = op->getResult(0);
  Type half = tensorType(result).getElementType();
  op->setOperand(0, convertTensor(builder, op->getLoc(), op->getOperand(0), builder.getF32Type()));
  result.setType(withElements(tensorType(result), builder.getF32Type()));
  builder.setInsertionPointAfter(op);
  Value narrow = convertTensor(builder, op->getLoc(), result, half);
  result.replaceAllUsesExcept(narrow, narrow.getDefiningOp());
}

// Arithmetic of the region on half floats becomes arithmetic on f32 whose result is rounded: the
// correctly rounded result of each op, as f32 holds more than twice the bits.
static bool roundAfterEachOp(cnn::EpilogueOpInterface op) {
  bool changed = false;
  for (Operation &inner : llvm::make_early_inc_range(op.getScalarRegion().front())) {
    if (inner.getNumResults() != 1 || inner.hasTrait<OpTrait::ConstantLike>() ||
        isa<arith::ExtFOp, arith::TruncFOp, arith::SelectOp, arith::BitcastOp>(inner))
      continue;
    bool takesHalf = llvm::any_of(inner.getOperandTypes(), [](Type type) { return isHalf(type); });
    bool givesHalf = isHalf(inner.getResult(0).getType());
    if (!takesHalf && !givesHalf)
      continue;
    OpBuilder builder(&inner);
    for (OpOperand &operand : inner.getOpOperands())
      if (isHalf(operand.get().getType()))
        operand.set(
            arith::ExtFOp::create(builder, inner.getLoc(), builder.getF32Type(), operand.get()));
    if (givesHalf) {
      Value result = inner.getResult(0);
      Type half = result.getType();
      result.setType(builder.getF32Type());
      builder.setInsertionPointAfter(&inner);
      Value rounded = arith::TruncFOp::create(builder, inner.getLoc(), half, result);
      result.replaceAllUsesExcept(rounded, rounded.getDefiningOp());
    }
    changed = true;
  }
  return changed;
}

namespace {
struct AssignPrecision : public convoy::impl::AssignPrecisionBase<AssignPrecision> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> graph = getGraph(getOperation());
    if (failed(graph))
      return signalPassFailure();
    SmallVector<Operation *> ops;
    for (Operation &op : graph->getBody().front())
      if (isComputeOp(&op))
        ops.push_back(&op);
    for (Operation *op : ops) {
      auto epilogueOp = dyn_cast<cnn::EpilogueOpInterface>(op);
      std::string what;
      if (accumulates(op) && isHalf(op->getOperand(0))) {
        what = "sums in f32";
        if (epilogueOp)
          accumulateInF32(epilogueOp);
        else
          computeInF32(op);
      }
      if (epilogueOp && roundAfterEachOp(epilogueOp))
        what += std::string(what.empty() ? "" : ", ") + "scalar arithmetic in f32";
      if (!what.empty())
        remarkPassed(op->getLoc(), "AssignPrecision", "precision", what);
    }
    eraseUnusedConstants(getOperation());
  }
};
} // namespace
