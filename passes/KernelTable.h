// What passes know of a target's kernels: a table of strategies, best first.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "dialects/Cnn/Cnn.h"

#include <optional>
#include <string>
#include <vector>

namespace convoy {

/// The attribute of an op that says which variant of its strategy computes it; without it, the one
/// that the strategy's own estimate prefers. What it may say is the strategy's business.
inline constexpr llvm::StringLiteral kConfigAttrName = "cnn.config";
/// What that attribute says; empty without it.
llvm::StringRef getConfig(mlir::Operation *op);

/// A way to compute an op. Targets extend it by the function that emits code.
struct Strategy {
  virtual ~Strategy() = default;

  /// The name that `strategy` attributes and reports carry.
  virtual llvm::StringRef name() const = 0;
  /// An estimate of the time for one image in nanoseconds, or nothing if the strategy cannot
  /// compute `op` with the layouts that its activations have now, in the variant that its config
  /// names. Weights are still row-major.
  virtual std::optional<double> cost(mlir::Operation *op, cnn::TargetAttr target) const = 0;
  /// The layout tag that operand `index` (a constant) must be packed to; empty if it is used as it
  /// is.
  virtual std::string packedLayout(mlir::Operation *, unsigned /*operandIndex*/,
                                   cnn::TargetAttr) const {
    return {};
  }
  /// Variants of the strategy for `op` that are worth measuring beside the preferred one, most
  /// promising first.
  virtual std::vector<std::string> configs(mlir::Operation *, cnn::TargetAttr) const { return {}; }

  /// The cost in the variant of `config`, whatever `op` has now.
  std::optional<double> costAs(mlir::Operation *op, llvm::StringRef config,
                               cnn::TargetAttr target) const;
};

/// How long a strategy took to compute an op.
struct Measurement {
  std::string strategy, config;
  double ns;
};

/// What is chosen for an op, and why.
struct KernelChoice {
  const Strategy *strategy = nullptr; ///< null if none can compute it
  std::string config;
  double ns = 0;            ///< measured, or estimated if nothing was measured
  bool isMeasured = false;  ///< this very choice was
  double estimateNs = 0;    ///< what it was estimated to take
  const Strategy *estimated = nullptr; ///< what estimates alone choose
  double estimatedNs = 0;              ///< its estimate
  std::optional<double> estimatedTook; ///< and its measured time
  std::vector<std::string> unknown;    ///< measured strategies that the table does not have

  /// Whether measurements say something else than estimates.
  bool isChanged() const { return strategy != estimated || !config.empty(); }
};

/// The strategies of a target in order of preference; the last one computes everything.
class KernelTable {
public:
  virtual ~KernelTable() = default;
  virtual llvm::ArrayRef<const Strategy *> strategies() const = 0;
  /// What is known by measurement of `op` as it is now.
  virtual llvm::ArrayRef<Measurement> measurements(mlir::Operation *, cnn::TargetAttr) const {
    return {};
  }

  /// The cheapest strategy for `op`, the earlier one of equals. What was measured counts with its
  /// time. What was not competes with its estimate, corrected by how far the estimates of what was
  /// measured are off. `op` has no config.
  KernelChoice choose(mlir::Operation *op, cnn::TargetAttr target) const;
  /// The strategy of a name, or null.
  const Strategy *find(llvm::StringRef name) const;
};

} // namespace convoy
