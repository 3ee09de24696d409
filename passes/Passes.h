// Factories and registration of the passes; what each does is in Passes.td.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "dialects/Cnn/Cnn.h"
#include "dialects/Plan/Plan.h"
#include "passes/KernelTable.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <functional>
#include <memory>

namespace convoy {

/// The kernel table for a target; null if there is none.
using KernelTableLookup = std::function<const KernelTable *(cnn::TargetAttr)>;

std::unique_ptr<mlir::Pass> createSelectKernels(KernelTableLookup lookup);
/// With one table, which must outlive the pass.
inline std::unique_ptr<mlir::Pass> createSelectKernels(const KernelTable &table) {
  return createSelectKernels([&table](cnn::TargetAttr) { return &table; });
}

#define GEN_PASS_DECL
#include "passes/Passes.h.inc"

/// Registers all passes for the command line; `lookup` serves those that need a kernel table.
void registerPasses(KernelTableLookup lookup);

} // namespace convoy
