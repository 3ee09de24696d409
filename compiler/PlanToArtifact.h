// A planned module with its code as a variant of an artifact.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "compiler/artifact/Artifact.h"
#include "targets/Target.h"

#include "mlir/IR/BuiltinOps.h"

namespace convoy {

/// Appends `module`, whose kernels have been generated into `code`, to the variants of `artifact`.
/// Constants go to the artifact's pool, where equal ones of several variants are one.
mlir::LogicalResult addVariant(mlir::ModuleOp module, const Target &target,
                               const GeneratedCode &code, artifact::Artifact &artifact);

} // namespace convoy
