// Folds that need no arithmetic: what does nothing goes away. Constants are folded by
// convoy-simplify.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Cnn/Cnn.h"

using namespace mlir;
using namespace convoy::cnn;

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (getSrc().getType() == getDst().getType())
    return getSrc();
  if (auto producer = getSrc().getDefiningOp<ReshapeOp>()) {
    getSrcMutable().assign(producer.getSrc());
    return getResult();
  }
  return {};
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  if (llvm::equal(getPerm(), llvm::seq<int64_t>(0, getPerm().size())) &&
      getSrc().getType() == getDst().getType())
    return getSrc();
  return {};
}

OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  return getSrc().getType() == getDst().getType() ? getSrc() : Value();
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  bool whole = llvm::all_of(getSteps(), [](int64_t step) { return step == 1; });
  return whole && getSrc().getType() == getDst().getType() ? getSrc() : Value();
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return getInputs().size() == 1 && getInputs()[0].getType() == getDst().getType()
             ? getInputs()[0]
             : Value();
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  auto isZero = [](int64_t extent) { return extent == 0; };
  return llvm::all_of(getLow(), isZero) && llvm::all_of(getHigh(), isZero) &&
                 getSrc().getType() == getDst().getType()
             ? getSrc()
             : Value();
}

OpFoldResult RelayoutOp::fold(FoldAdaptor) {
  if (getSrc().getType() == getDst().getType())
    return getSrc();
  if (auto producer = getSrc().getDefiningOp<RelayoutOp>()) {
    getSrcMutable().assign(producer.getSrc());
    return getResult();
  }
  return {};
}
