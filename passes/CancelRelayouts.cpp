// Removes relayouts that undo each other, repeat each other, or change constants.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Passes.h"

#include "dialects/Cnn/ConstantData.h"
#include "passes/Graph.h"
#include "passes/Relayout.h"
#include "passes/Remarks.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace convoy {
#define GEN_PASS_DEF_CANCELRELAYOUTS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;

namespace {

// A constant has any layout from the start.
struct RelayoutOfConstant : public OpRewritePattern<cnn::RelayoutOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(cnn::RelayoutOp op, PatternRewriter &rewriter) const override {
    if (!cnn::getConstant(op.getSrc()))
      return rewriter.notifyMatchFailure(op, "src is not constant");
    rewriter.replaceOp(op,
                       relayoutConstant(rewriter, op.getSrc(), cnn::getLayoutTag(op.getType())));
    return success();
  }
};

// relayout(relayout(x)) is one relayout, or x itself.
struct RelayoutOfRelayout : public OpRewritePattern<cnn::RelayoutOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(cnn::RelayoutOp op, PatternRewriter &rewriter) const override {
    auto producer = op.getSrc().getDefiningOp<cnn::RelayoutOp>();
    if (!producer)
      return rewriter.notifyMatchFailure(op, "src is not made by a relayout");
    Value src = producer.getSrc();
    if (src.getType() == op.getType()) {
      remarkPassed(op.getLoc(), "CancelRelayouts", "layout", "relayout cancelled");
      rewriter.replaceOp(op, src);
      return success();
    }
    remarkPassed(op.getLoc(), "CancelRelayouts", "layout", "relayouts merged");
    rewriter.modifyOpInPlace(op, [&] { op.getSrcMutable().assign(src); });
    return success();
  }
};

// Of equal relayouts of one value the first serves all.
struct SameRelayout : public OpRewritePattern<cnn::RelayoutOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(cnn::RelayoutOp op, PatternRewriter &rewriter) const override {
    for (Operation *user : op.getSrc().getUsers()) {
      auto other = dyn_cast<cnn::RelayoutOp>(user);
      if (!other || other == op || other.getType() != op.getType() ||
          other->getBlock() != op->getBlock() || !other->isBeforeInBlock(op))
        continue;
      remarkPassed(op.getLoc(), "CancelRelayouts", "layout", "relayout shared");
      rewriter.replaceOp(op, other.getDst());
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no equal relayout before it");
  }
};

// A map between relayouts there and back computes in the layout outside of them.
struct MapBetweenRelayouts : public OpRewritePattern<cnn::MapOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(cnn::MapOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    if (op->use_empty())
      return rewriter.notifyMatchFailure(op, "no users");
    auto first = dyn_cast<cnn::RelayoutOp>(*op->user_begin());
    if (!first)
      return rewriter.notifyMatchFailure(op, "a user is no relayout");
    auto outside = cast<RankedTensorType>(first.getType());
    for (Operation *user : op->getUsers())
      if (!isa<cnn::RelayoutOp>(user) || user->getResult(0).getType() != outside)
        return rewriter.notifyMatchFailure(op, "a user wants the layout as it is");
    StringRef outsideTag = cnn::getLayoutTag(outside);
    auto isRelaid = [&](Value input) {
      auto relayout = input.getDefiningOp<cnn::RelayoutOp>();
      return relayout && relayout->hasOneUse() &&
             cnn::getLayoutTag(tensorType(relayout.getSrc())) == outsideTag;
    };
    auto isSingle = [](Value input) {
      auto inputType = tensorType(input);
      return inputType.hasStaticShape() && inputType.getNumElements() == 1;
    };
    for (Value input : op.getInputs())
      if (!isRelaid(input) && !isSingle(input) &&
          !(cnn::getConstant(input) && tensorType(input).getRank() == type.getRank()))
        return rewriter.notifyMatchFailure(op, "an input would need a relayout");

    // Only now: a pattern that makes constants and then fails is tried again without end.
    SmallVector<Value> inputs;
    for (Value input : op.getInputs()) {
      if (isRelaid(input))
        inputs.push_back(input.getDefiningOp<cnn::RelayoutOp>().getSrc());
      else
        inputs.push_back(isSingle(input) ? input : relayoutConstant(rewriter, input, outsideTag));
    }
    remarkPassed(op.getLoc(), "CancelRelayouts", "layout", "relayouts around a map cancelled");
    SmallVector<Operation *> users(op->getUsers());
    rewriter.modifyOpInPlace(op, [&] {
      op.getInputsMutable().assign(inputs);
      op.getDst().setType(outside);
    });
    for (Operation *user : users)
      rewriter.replaceOp(user, op.getDst());
    return success();
  }
};

struct CancelRelayouts : public convoy::impl::CancelRelayoutsBase<CancelRelayouts> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<RelayoutOfConstant, RelayoutOfRelayout, SameRelayout, MapBetweenRelayouts>(
        &getContext());
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config))) {
      getOperation().emitError("the patterns that cancel relayouts come to no end");
      signalPassFailure();
    }
    eraseUnusedConstants(getOperation());
  }
};

} // namespace
