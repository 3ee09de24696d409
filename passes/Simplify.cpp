// Folds what is known at compile time, brings the rest into canonical form and removes what nobody
// needs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Passes.h"

#include "dialects/Cnn/Evaluate/Fold.h"
#include "passes/Graph.h"
#include "passes/SimplifyPatterns.h"

#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace convoy {
#define GEN_PASS_DEF_SIMPLIFY
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;

// What the dialects of graphs and scalar regions bring along.
static void addCanonicalizations(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  for (RegisteredOperationName name : context->getRegisteredOperations())
    if (isa<cnn::CnnDialect, arith::ArithDialect, math::MathDialect>(name.getDialect()))
      name.getCanonicalizationPatterns(patterns, context);
}

namespace {
struct Simplify : convoy::impl::SimplifyBase<Simplify> {
  using SimplifyBase::SimplifyBase;
  void runOnOperation() override;
  LogicalResult foldConstants();
  LogicalResult applyPatterns();
};
} // namespace

LogicalResult Simplify::foldConstants() {
  cnn::FoldLimits limits;
  limits.resultBytes = maxBytes;
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    FailureOr<cnn::FoldStatistics> result = cnn::foldConstants(function, limits);
    if (failed(result))
      return failure();
    numFolded += result->numFolded;
    numForwarded += result->numForwarded;
    numDead += result->numDead;
  }
  return success();
}

LogicalResult Simplify::applyPatterns() {
  RewritePatternSet patterns(&getContext());
  addCanonicalizations(patterns);
  populateTransposePatterns(patterns);
  populatePadPatterns(patterns);
  populateFocusPatterns(patterns);
  populateShapePatterns(patterns);
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config)))
    return getOperation().emitError("the patterns that simplify come to no end");
  return success();
}

void Simplify::runOnOperation() {
  // Folding first: what is known about shapes and pads is what the patterns look at. They leave
  // transposed constants behind.
  if (failed(foldConstants()) || failed(applyPatterns()) || failed(foldConstants()))
    return signalPassFailure();
  IRRewriter rewriter(&getContext());
  DominanceInfo dominance(getOperation());
  eliminateCommonSubExpressions(rewriter, dominance, getOperation());
  eraseUnusedConstants(getOperation());
}
