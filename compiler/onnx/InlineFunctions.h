// Replaces the calls of a model's own functions by their bodies.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "compiler/onnx/ModelFile.h"

#include "llvm/ADT/StringMap.h"

namespace convoy::onnx {

/// Why nodes of functions cannot be imported: their function means an opset in which the op is
/// another one than in the model's. By keyOfNode.
using OtherOpsets = llvm::StringMap<std::string>;
std::string keyOfNode(const ::onnx::NodeProto &node);

/// Rewrites the graph of `file` until it calls none of the model's functions, and drops those. A
/// node of a body is named after the call, then itself. Errors are located at the calls.
mlir::LogicalResult inlineFunctions(ModelFile &file, OtherOpsets &otherOpsets);

} // namespace convoy::onnx
