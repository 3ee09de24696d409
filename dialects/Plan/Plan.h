// The plan dialect: the one header for its users.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"

#include "dialects/Plan/PlanDialect.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Plan/PlanTypes.h.inc"
#define GET_OP_CLASSES
#include "dialects/Plan/PlanOps.h.inc"

namespace convoy::plan {

/// Alignment of every buffer's offset in the arena and of every constant, in bytes.
inline constexpr int64_t kBufferAlignment = 64;

/// What a kernel computes and how, as text: the same for two kernels that differ in their symbol and
/// in the nodes that they came from.
std::string getIdentity(KernelOp kernel);

} // namespace convoy::plan
