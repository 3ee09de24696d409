// Rewrites of ops whose shape is their point.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/SimplifyPatterns.h"

#include "passes/Graph.h"

using namespace mlir;
using namespace convoy;

namespace {

// A map broadcasts its inputs itself.
struct BroadcastIntoMap : public OpRewritePattern<cnn::MapOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(cnn::MapOp op, PatternRewriter &rewriter) const override {
    for (OpOperand &input : op->getOpOperands()) {
      auto broadcast = input.get().getDefiningOp<cnn::BroadcastOp>();
      if (!broadcast)
        continue;
      SmallVector<ArrayRef<int64_t>> shapes;
      for (OpOperand &other : op->getOpOperands())
        shapes.push_back(
            tensorType(&other == &input ? broadcast.getSrc() : other.get()).getShape());
      FailureOr<SmallVector<int64_t>> shape = cnn::inferBroadcast(op.getLoc(), shapes);
      if (failed(shape) || ArrayRef<int64_t>(*shape) != tensorType(op.getDst()).getShape())
        continue;
      rewriter.modifyOpInPlace(op, [&] { input.set(broadcast.getSrc()); });
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no input is broadcast in vain");
  }
};

// A map that yields its only input.
struct IdentityMap : public OpRewritePattern<cnn::MapOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(cnn::MapOp op, PatternRewriter &rewriter) const override {
    auto yielded =
        dyn_cast<BlockArgument>(cast<cnn::YieldOp>(op.getBody().front().back()).getValue());
    if (!yielded)
      return rewriter.notifyMatchFailure(op, "computes");
    Value input = op.getInputs()[yielded.getArgNumber()];
    if (input.getType() != op.getType())
      return rewriter.notifyMatchFailure(op, "broadcasts");
    rewriter.replaceOp(op, input);
    return success();
  }
};

// With its dimensions kept, a reduction over space can have the layout of what it reduces.
struct KeepReducedDims : public OpRewritePattern<cnn::ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(cnn::ReduceOp op, PatternRewriter &rewriter) const override {
    if (op.getKeepDims() || op.getAxes().empty() || op.getAxes().front() < 2)
      return rewriter.notifyMatchFailure(op, "does not drop spatial dimensions alone");
    if (!op.getExtras().empty())
      return rewriter.notifyMatchFailure(op, "extras have the rank of the result");
    SmallVector<int64_t> shape(tensorType(op.getSrc()).getShape());
    for (int64_t axis : op.getAxes())
      shape[axis] = 1;
    auto type = RankedTensorType::get(shape, tensorType(op.getDst()).getElementType());
    Type oldType = op.getType();
    rewriter.setInsertionPointAfter(op);
    auto kept = cast<cnn::ReduceOp>(rewriter.clone(*op));
    kept.setKeepDims(true);
    kept.getDst().setType(type);
    rewriter.replaceOpWithNewOp<cnn::ReshapeOp>(op, oldType, kept.getDst(), StringAttr());
    return success();
  }
};

// Every n-th of every m-th element.
struct SliceOfSlice : public OpRewritePattern<cnn::SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(cnn::SliceOp op, PatternRewriter &rewriter) const override {
    auto producer = op.getSrc().getDefiningOp<cnn::SliceOp>();
    if (!producer)
      return rewriter.notifyMatchFailure(op, "src is not sliced");
    SmallVector<int64_t> starts, steps;
    for (size_t i = 0; i < op.getStarts().size(); ++i) {
      starts.push_back(producer.getStarts()[i] + op.getStarts()[i] * producer.getSteps()[i]);
      steps.push_back(producer.getSteps()[i] * op.getSteps()[i]);
    }
    rewriter.replaceOpWithNewOp<cnn::SliceOp>(op, op.getType(), producer.getSrc(), starts, steps,
                                              StringAttr());
    return success();
  }
};

// concat(a, b, c) after concat(a, b) takes that as its first input: dense blocks concatenate all
// that came before again and again, and a part that is in place need not be copied.
struct ConcatOfConcat : public OpRewritePattern<cnn::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(cnn::ConcatOp op, PatternRewriter &rewriter) const override {
    cnn::ConcatOp best;
    for (Operation *user : op.getInputs().front().getUsers()) {
      auto other = dyn_cast<cnn::ConcatOp>(user);
      if (!other || other->getBlock() != op->getBlock() || !other->isBeforeInBlock(op) ||
          other.getAxis() != op.getAxis() || other.getInputs().size() < 2 ||
          other.getInputs().size() >= op.getInputs().size())
        continue;
      if (other.getInputs() == op.getInputs().take_front(other.getInputs().size()) &&
          (!best || best.getInputs().size() < other.getInputs().size()))
        best = other;
    }
    if (!best)
      return rewriter.notifyMatchFailure(op, "no concat of its first inputs before it");
    SmallVector<Value> inputs{best.getDst()};
    llvm::append_range(inputs, op.getInputs().drop_front(best.getInputs().size()));
    rewriter.modifyOpInPlace(op, [&] { op.getInputsMutable().assign(inputs); });
    return success();
  }
};

} // namespace

void convoy::populateShapePatterns(RewritePatternSet &patterns) {
  patterns.add<BroadcastIntoMap, IdentityMap, KeepReducedDims, SliceOfSlice, ConcatOfConcat>(
      patterns.getContext());
}
