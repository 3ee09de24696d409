// What passes know of a target's kernels: a table of strategies, best first.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "dialects/Cnn/Cnn.h"

#include <optional>
#include <string>
#include <vector>

namespace convoy {

/// A way to compute an op. Targets extend it by the function that emits code.
struct Strategy {
  virtual ~Strategy() = default;

  /// The name that `strategy` attributes and reports carry.
  virtual llvm::StringRef name() const = 0;
  /// An estimate of the time for one image in nanoseconds, or nothing if the strategy cannot
  /// compute `op` with the layouts that its activations have now. Weights are still row-major.
  virtual std::optional<double> cost(mlir::Operation *op, cnn::TargetAttr target) const = 0;
  /// The layout tag that operand `index` (a constant) must be packed to; empty if it is used as it
  /// is.
  virtual std::string packedLayout(mlir::Operation *, unsigned /*operandIndex*/,
                                   cnn::TargetAttr) const {
    return {};
  }
};

/// The strategies of a target in order of preference; the last one computes everything.
class KernelTable {
public:
  virtual ~KernelTable() = default;
  virtual llvm::ArrayRef<const Strategy *> strategies() const = 0;

  /// The cheapest strategy for `op`, the earlier one of equals; null if none can compute it.
  const Strategy *select(mlir::Operation *op, cnn::TargetAttr target) const;
  /// The strategy of a name, or null.
  const Strategy *find(llvm::StringRef name) const;
};

} // namespace convoy
