// Rewrites of transposes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/SimplifyPatterns.h"

#include "passes/Graph.h"
#include "passes/Relayout.h"

using namespace mlir;
using namespace convoy;

namespace {

struct TransposeOfTranspose : public OpRewritePattern<cnn::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(cnn::TransposeOp op, PatternRewriter &rewriter) const override {
    auto producer = op.getSrc().getDefiningOp<cnn::TransposeOp>();
    if (!producer)
      return rewriter.notifyMatchFailure(op, "src is not made by a transpose");
    SmallVector<int64_t> perm;
    for (int64_t dim : op.getPerm())
      perm.push_back(producer.getPerm()[dim]);
    rewriter.replaceOpWithNewOp<cnn::TransposeOp>(op, op.getType(), producer.getSrc(), perm,
                                                  StringAttr());
    return success();
  }
};

// The order in memory is that of the dimensions with more than one element.
struct TransposeOfOnes : public OpRewritePattern<cnn::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(cnn::TransposeOp op, PatternRewriter &rewriter) const override {
    auto type = tensorType(op.getSrc());
    if (type.getEncoding() || tensorType(op.getDst()).getEncoding())
      return rewriter.notifyMatchFailure(op, "not row-major");
    SmallVector<int64_t> moved;
    for (int64_t dim : op.getPerm())
      if (type.getDimSize(dim) != 1)
        moved.push_back(dim);
    if (!llvm::is_sorted(moved))
      return rewriter.notifyMatchFailure(op, "moves elements");
    rewriter.replaceOpWithNewOp<cnn::ReshapeOp>(op, op.getType(), op.getSrc(), StringAttr());
    return success();
  }
};

// The permutation that undoes `perm`.
SmallVector<int64_t> invert(ArrayRef<int64_t> perm) {
  SmallVector<int64_t> inverse(perm.size());
  for (auto [i, dim] : llvm::enumerate(perm))
    inverse[dim] = i;
  return inverse;
}

template <typename T> SmallVector<T> permute(ArrayRef<T> values, ArrayRef<int64_t> perm) {
  SmallVector<T> result;
  for (int64_t dim : perm)
    result.push_back(values[dim]);
  return result;
}

RankedTensorType permuteType(RankedTensorType type, ArrayRef<int64_t> perm) {
  return RankedTensorType::get(permute(type.getShape(), perm), type.getElementType());
}

// The transpose that all `inputs` but constants and single elements are made by, if its
// permutation is theirs too and moving it behind `op` leaves no more transposes than there are.
cnn::TransposeOp getCommonTranspose(Operation *op, ValueRange inputs) {
  cnn::TransposeOp common;
  bool goesAway =
      llvm::any_of(op->getUsers(), [](Operation *user) { return isa<cnn::TransposeOp>(user); });
  for (Value input : inputs) {
    auto type = tensorType(input);
    bool isSingle = type.hasStaticShape() && type.getNumElements() == 1;
    auto transpose = input.getDefiningOp<cnn::TransposeOp>();
    if (!transpose) {
      if (isSingle || input.getDefiningOp<cnn::ConstantOp>())
        continue;
      return {};
    }
    if (common && common.getPerm() != transpose.getPerm())
      return {};
    common = transpose;
    goesAway |= getOnlyUser(input) == op;
  }
  return goesAway ? common : cnn::TransposeOp();
}

// An input as it is before the transposes.
Value untranspose(PatternRewriter &rewriter, Value input, ArrayRef<int64_t> perm) {
  if (auto transpose = input.getDefiningOp<cnn::TransposeOp>())
    return transpose.getSrc();
  auto type = tensorType(input);
  if (type.hasStaticShape() && type.getNumElements() == 1 && type.getRank() == 0)
    return input;
  Value full = expandRank(rewriter, input, perm.size());
  SmallVector<int64_t> inverse = invert(perm);
  return cnn::TransposeOp::create(rewriter, input.getLoc(), permuteType(tensorType(full), inverse),
                                  full, inverse, StringAttr());
}

// A map of transposed inputs is the transpose of a map, which can join what made the inputs.
struct TransposeThroughMap : public OpRewritePattern<cnn::MapOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(cnn::MapOp op, PatternRewriter &rewriter) const override {
    cnn::TransposeOp transpose = getCommonTranspose(op, op.getInputs());
    auto type = tensorType(op.getDst());
    if (!transpose || tensorType(transpose.getDst()).getRank() != type.getRank())
      return rewriter.notifyMatchFailure(op, "inputs are not transposed alike");
    SmallVector<int64_t> perm(transpose.getPerm()), inverse = invert(perm);
    for (Value input : op.getInputs())
      if (tensorType(input).getRank() > type.getRank())
        return rewriter.notifyMatchFailure(op, "an input has a larger rank");
    SmallVector<Value> inputs;
    for (Value input : op.getInputs())
      inputs.push_back(untranspose(rewriter, input, perm));
    auto map =
        cnn::MapOp::create(rewriter, op.getLoc(), permuteType(type, inverse), inputs, StringAttr());
    map.getBody().takeBody(op.getBody());
    rewriter.replaceOpWithNewOp<cnn::TransposeOp>(op, type, map.getDst(), perm, StringAttr());
    return success();
  }
};

struct TransposeThroughConcat : public OpRewritePattern<cnn::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(cnn::ConcatOp op, PatternRewriter &rewriter) const override {
    cnn::TransposeOp transpose = getCommonTranspose(op, op.getInputs());
    if (!transpose)
      return rewriter.notifyMatchFailure(op, "inputs are not transposed alike");
    SmallVector<int64_t> perm(transpose.getPerm());
    SmallVector<Value> inputs;
    for (Value input : op.getInputs())
      inputs.push_back(untranspose(rewriter, input, perm));
    auto type = tensorType(op.getDst());
    Value concat = cnn::ConcatOp::create(rewriter, op.getLoc(), permuteType(type, invert(perm)),
                                         inputs, perm[op.getAxis()], StringAttr());
    rewriter.replaceOpWithNewOp<cnn::TransposeOp>(op, type, concat, perm, StringAttr());
    return success();
  }
};

struct TransposeThroughPad : public OpRewritePattern<cnn::PadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(cnn::PadOp op, PatternRewriter &rewriter) const override {
    cnn::TransposeOp transpose = getCommonTranspose(op, op.getSrc());
    if (!transpose)
      return rewriter.notifyMatchFailure(op, "src is not transposed");
    SmallVector<int64_t> perm(transpose.getPerm()), inverse = invert(perm);
    auto type = tensorType(op.getDst());
    Value pad = cnn::PadOp::create(rewriter, op.getLoc(), permuteType(type, inverse),
                                   transpose.getSrc(), op.getValue(), permute(op.getLow(), inverse),
                                   permute(op.getHigh(), inverse), op.getMode(), StringAttr());
    rewriter.replaceOpWithNewOp<cnn::TransposeOp>(op, type, pad, perm, StringAttr());
    return success();
  }
};

struct TransposeThroughReduce : public OpRewritePattern<cnn::ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(cnn::ReduceOp op, PatternRewriter &rewriter) const override {
    auto transpose = op.getSrc().getDefiningOp<cnn::TransposeOp>();
    if (!transpose || !op.getKeepDims() || !op.getExtras().empty())
      return rewriter.notifyMatchFailure(op, "src is not transposed, or dimensions go away");
    SmallVector<int64_t> perm(transpose.getPerm()), axes;
    for (int64_t axis : op.getAxes())
      axes.push_back(perm[axis]);
    llvm::sort(axes);
    auto type = tensorType(op.getDst());
    auto reduce = cast<cnn::ReduceOp>(rewriter.clone(*op));
    reduce.getSrcMutable().assign(transpose.getSrc());
    reduce.setAxes(axes);
    reduce.getDst().setType(permuteType(type, invert(perm)));
    rewriter.replaceOpWithNewOp<cnn::TransposeOp>(op, type, reduce.getDst(), perm, StringAttr());
    return success();
  }
};

} // namespace

void convoy::populateTransposePatterns(RewritePatternSet &patterns) {
  patterns.add<TransposeOfTranspose, TransposeOfOnes, TransposeThroughMap, TransposeThroughConcat,
               TransposeThroughPad, TransposeThroughReduce>(patterns.getContext());
}
