// From the functions that KernelBuilder makes to MLIR's llvm dialect.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"

namespace convoy {

/// Registers what lowering and translation need. Before the first lowering in a context, and not
/// while other threads use it.
void prepareContextForCodegen(mlir::MLIRContext *context);

/// Lowers functions of arith, math, scf, vector and llvm ops to the llvm dialect, in place. The
/// modules stand in no other module; they are lowered at the same time.
mlir::LogicalResult lowerToLlvmDialect(llvm::ArrayRef<mlir::ModuleOp> modules);

} // namespace convoy
