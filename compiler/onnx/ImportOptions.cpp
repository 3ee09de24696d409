// What a user says of a model's inputs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/Importer.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;

std::string ImportOptions::addShape(StringRef text) {
  size_t equals = text.rfind('=');
  if (equals == StringRef::npos || equals == 0)
    return "expected NAME=1x3x224x224";
  std::vector<int64_t> shape;
  SmallVector<StringRef> parts;
  if (equals + 1 < text.size())
    text.drop_front(equals + 1).split(parts, 'x');
  for (StringRef part : parts) {
    int64_t extent;
    if (part == "?" || part == "N") {
      if (!shape.empty())
        return "only the first extent, the batch, may be free";
      extent = ShapedType::kDynamic;
    } else if (part.getAsInteger(10, extent) || extent < 0) {
      return "'" + part.str() + "' is no extent";
    }
    shape.push_back(extent);
  }
  if (!shapes.emplace(text.take_front(equals).str(), shape).second)
    return "input '" + text.take_front(equals).str() + "' is given twice";
  return "";
}
