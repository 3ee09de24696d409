// Canonical, smaller graphs: what does nothing goes away, what is a simpler op becomes it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Passes.h"

#include "dialects/Cnn/ConstantData.h"
#include "passes/Graph.h"
#include "passes/Remarks.h"
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
struct Simplify : public convoy::impl::SimplifyBase<Simplify> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    addCanonicalizations(patterns);
    populateTransposePatterns(patterns);
    populatePadPatterns(patterns);
    populateShapePatterns(patterns);
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance(getOperation());
    eliminateCommonSubExpressions(rewriter, dominance, getOperation());
    eraseUnusedConstants(getOperation());
  }
};
} // namespace
