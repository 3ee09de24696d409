// Folds what is known at compile time and removes what nobody needs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Passes.h"

#include "dialects/Cnn/Evaluate/Fold.h"

namespace convoy {
#define GEN_PASS_DEF_SIMPLIFY
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;

namespace {
struct Simplify : convoy::impl::SimplifyBase<Simplify> {
  using SimplifyBase::SimplifyBase;
  void runOnOperation() override {
    cnn::FoldLimits limits;
    limits.resultBytes = maxBytes;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      FailureOr<cnn::FoldStatistics> result = cnn::foldConstants(function, limits);
      if (failed(result))
        return signalPassFailure();
      numFolded += result->numFolded;
      numForwarded += result->numForwarded;
      numDead += result->numDead;
    }
  }
};
} // namespace
