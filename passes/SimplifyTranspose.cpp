// Rewrites of transposes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/SimplifyPatterns.h"

#include "passes/Graph.h"

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

} // namespace

void convoy::populateTransposePatterns(RewritePatternSet &patterns) {
  patterns.add<TransposeOfTranspose, TransposeOfOnes>(patterns.getContext());
}
