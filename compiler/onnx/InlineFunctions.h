// Replaces the calls of a model's own functions by their bodies.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "compiler/onnx/ModelFile.h"

namespace convoy::onnx {

/// Rewrites the graph of `file` until it calls none of the model's functions, and drops those. A
/// node of a body is named after the call, then itself. Errors are located at the calls.
mlir::LogicalResult inlineFunctions(ModelFile &file);

} // namespace convoy::onnx
