// What ops would cost with other layouts.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "passes/KernelTable.h"
#include "passes/MinCut.h"

namespace convoy {

/// `type` with leading dimensions of extent 1 up to `rank`.
mlir::RankedTensorType withRank(mlir::RankedTensorType type, int64_t rank);
/// Whether an operand is the weights of a convolution.
bool isWeight(mlir::OpOperand &operand);
/// Whether an operand is read by the scalar region, so its layout must be the result's.
bool isRegionOperand(mlir::OpOperand &operand);

/// Asks the kernel table.
class CostModel {
public:
  /// No kernel.
  static constexpr int64_t kNever = MinCut::kNever;

  CostModel(const KernelTable &table, cnn::TargetAttr target) : table(table), target(target) {}

  /// The cost of `op` in 1/16 ns with its activations in the layout of `inputTag`, its region's
  /// operands and its result in that of `resultTag`.
  int64_t ofOp(mlir::Operation *op, llvm::StringRef inputTag, llvm::StringRef resultTag);
  int64_t ofRelayout(mlir::RankedTensorType type, llvm::StringRef from, llvm::StringRef to);

private:
  int64_t select(mlir::Operation *op);
  const KernelTable &table;
  cnn::TargetAttr target;
};

} // namespace convoy
