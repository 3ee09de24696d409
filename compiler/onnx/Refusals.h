// What can be refused of a node without the types of its inputs: its op, opset and attributes. So
// one run names every unsupported node, also those behind another one. SPDX-License-Identifier:
// Apache-2.0 WITH LLVM-exception

#pragma once

#include "compiler/onnx/NodeImport.h"

namespace convoy::onnx {

/// Reports an op that has no row in the op table. `imports`: whether the model imports an opset of
/// the node's domain.
void refuseOp(NodeImport &node, bool imports);
/// Reports what the attributes of an op say that is not supported. The import function, which is
/// not called for a node without inputs, looks at the same.
void refuseAttrs(NodeImport &node);

} // namespace convoy::onnx
