// What a user says of a model's inputs, as text.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/Importer.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;

std::string convoy::onnx::showShape(ArrayRef<int64_t> shape) {
  std::string text;
  for (int64_t extent : shape) {
    text += text.empty() ? "" : "x";
    text += ShapedType::isDynamic(extent) ? "?" : std::to_string(extent);
  }
  return text;
}
