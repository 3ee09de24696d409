// An op on its own with the ways to compute it, as kernels that can be compiled and timed.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "dialects/Plan/Plan.h"
#include "targets/Target.h"

#include "mlir/IR/OwningOpRef.h"

namespace convoy::tune {

/// A way to compute an op.
struct Candidate {
  const Strategy *strategy;
  std::string config;
  double estimateNs;
};

/// A copy of an op of a graph, in the layouts that it has there.
class OpCase {
public:
  /// Strategies and variants whose estimate is beyond `mostTimes` the best one are no candidates.
  OpCase(mlir::Operation *op, const Target &target, double mostTimes);

  /// Whether its time depends on nothing but what its signature says: not so where integers, such as
  /// indices, decide about it.
  static bool isMeasurable(mlir::Operation *op);

  /// By estimate, best first.
  llvm::ArrayRef<Candidate> candidates() const { return able; }
  /// Numbers of the operands that are constant weights.
  llvm::ArrayRef<unsigned> weights() const { return weightOperands; }
  /// Adds a kernel of that name to `library`, whose weights are packed as the candidate wants them.
  plan::KernelOp addKernel(mlir::ModuleOp library, llvm::StringRef name,
                           const Candidate &candidate) const;

private:
  const Target &target;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<unsigned> weightOperands;
  std::vector<Candidate> able;
};

} // namespace convoy::tune
