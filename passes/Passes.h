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

/// A lookup that always gives one table, which must outlive the passes that have it.
inline KernelTableLookup always(const KernelTable &table) {
  return [&table](cnn::TargetAttr) { return &table; };
}

#define GEN_PASS_DECL
#include "passes/Passes.h.inc"

std::unique_ptr<mlir::Pass> createAssignLayout(KernelTableLookup lookup);
std::unique_ptr<mlir::Pass> createSelectKernels(KernelTableLookup lookup);
std::unique_ptr<mlir::Pass> createPackWeights(KernelTableLookup lookup,
                                              PackWeightsOptions options = {});

/// Registers all passes for the command line; `lookup` serves those that need a kernel table.
void registerPasses(KernelTableLookup lookup);

} // namespace convoy
