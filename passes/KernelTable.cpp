// Selection from a kernel table.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/KernelTable.h"

using namespace convoy;

const Strategy *KernelTable::select(mlir::Operation *op, cnn::TargetAttr target) const {
  const Strategy *best = nullptr;
  double bestCost = 0;
  for (const Strategy *strategy : strategies()) {
    std::optional<double> cost = strategy->cost(op, target);
    if (cost && (!best || *cost < bestCost)) {
      best = strategy;
      bestCost = *cost;
    }
  }
  return best;
}

const Strategy *KernelTable::find(llvm::StringRef name) const {
  for (const Strategy *strategy : strategies())
    if (strategy->name() == name)
      return strategy;
  return nullptr;
}
