// Folds what is known at compile time.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace convoy::cnn {

struct FoldLimits {
  /// A result with more bytes is folded only if it is no larger than the operands together.
  int64_t resultBytes = 16 << 20;
};

struct FoldStatistics {
  /// Ops that became constants, were found to do nothing, or were dead.
  int64_t numFolded = 0, numForwarded = 0, numDead = 0;
};

/// Replaces the cnn ops of `function` whose operands are constants by constants, forwards what
/// does nothing and removes what nobody uses. The data of constants that this leaves without a
/// user in the module are released, so a chain of folds holds one copy at a time.
mlir::FailureOr<FoldStatistics> foldConstants(mlir::func::FuncOp function,
                                              const FoldLimits &limits = {});

} // namespace convoy::cnn
