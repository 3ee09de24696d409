// What ops would cost with other layouts.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/CostModel.h"

#include "passes/Graph.h"
#include "passes/Parts.h"
#include "passes/Relayout.h"

#include <cmath>

using namespace mlir;
using namespace convoy;

RankedTensorType convoy::withRank(RankedTensorType type, int64_t rank) {
  if (type.getRank() >= rank)
    return type;
  SmallVector<int64_t> shape(rank - type.getRank(), 1);
  llvm::append_range(shape, type.getShape());
  return RankedTensorType::get(shape, type.getElementType());
}

bool convoy::isWeight(OpOperand &operand) {
  return isa<cnn::ConvOp, cnn::ConvTransposeOp>(operand.getOwner()) &&
         operand.getOperandNumber() == 1;
}

bool convoy::isRegionOperand(OpOperand &operand) {
  auto op = dyn_cast<cnn::EpilogueOpInterface>(operand.getOwner());
  if (!op || op.getRegionOperands().empty())
    return false;
  return operand.getOperandNumber() >= op.getRegionOperands().getBeginOperandIndex();
}

int64_t CostModel::select(Operation *op) {
  KernelChoice choice = table.choose(op, target);
  if (!choice.strategy)
    return kNever;
  // In 1/16 ns, so that what is cheap still counts.
  double cost = choice.ns * 16;
  return std::llround(std::min<double>(cost, kNever / 2));
}

int64_t CostModel::ofOp(Operation *op, StringRef inputTag, StringRef resultTag) {
  Block scratch;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToEnd(&scratch);
  Operation *clone = builder.clone(*op);
  int64_t rank = tensorType(op->getResult(0)).getRank();
  for (OpOperand &operand : clone->getOpOperands()) {
    bool inRegion = isRegionOperand(operand);
    StringRef tag = inRegion ? resultTag : inputTag;
    auto type = tensorType(operand.get());
    bool isSingle = type.hasStaticShape() && type.getNumElements() == 1;
    if (isWeight(operand) || isSingle)
      continue;
    if (!tag.empty())
      type = withRank(type, rank);
    operand.set(scratch.addArgument(cnn::withLayout(type, tag), op->getLoc()));
  }
  Value result = clone->getResult(0);
  result.setType(cnn::withLayout(tensorType(result), resultTag));
  // These will mostly need no kernel.
  if (auto concat = dyn_cast<cnn::ConcatOp>(clone); concat && getPartOffsets(concat))
    return 0;
  if (auto slice = dyn_cast<cnn::SliceOp>(clone); slice && getPartOffset(slice))
    return 0;
  return select(clone);
}

int64_t CostModel::ofRelayout(RankedTensorType type, StringRef from, StringRef to) {
  RankedTensorType src = cnn::withLayout(type, from), dst = cnn::withLayout(type, to);
  if (haveSameOrder(src, dst))
    return 0;
  Block scratch;
  Location loc = UnknownLoc::get(type.getContext());
  OpBuilder builder(type.getContext());
  builder.setInsertionPointToEnd(&scratch);
  return select(
      cnn::RelayoutOp::create(builder, loc, dst, scratch.addArgument(src, loc), StringAttr()));
}
