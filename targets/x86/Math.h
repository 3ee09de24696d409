// Elementary functions without a C library.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace convoy {

/// Replaces, on scalars and vectors, the ops of math and arith for which x86 has no instructions,
/// and which would become calls of a library, by arithmetic.
void expandMath(mlir::ModuleOp module);

} // namespace convoy
