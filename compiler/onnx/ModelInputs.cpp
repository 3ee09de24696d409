// What a caller learns about a model's inputs without importing it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/DeclaredType.h"
#include "compiler/onnx/GraphNames.h"
#include "compiler/onnx/Importer.h"
#include "compiler/onnx/InlineFunctions.h"
#include "compiler/onnx/OpTable.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;
using ::onnx::NodeProto;
using ::onnx::ValueInfoProto;

// Whether an input has an extent, other than the batch, that the model does not tell.
static bool hasOpenExtent(const ValueInfoProto &input) {
  if (!input.type().has_tensor_type())
    return false;
  const auto &declared = input.type().tensor_type();
  if (!declared.has_shape())
    return true;
  const auto &dims = declared.shape().dim();
  for (int i = 1; i < dims.size(); ++i)
    if (!isStatic(dims[i]))
      return true;
  return false;
}

LogicalResult convoy::onnx::readInputs(StringRef path, MLIRContext *context, ModelInputs &inputs) {
  ModelFile file(path, llvm::sys::path::parent_path(path), context);
  GraphNames names(file);
  OtherOpsets otherOpsets;
  if (failed(file.read(path)) || failed(inlineFunctions(file, otherOpsets)) ||
      failed(names.analyze()))
    return failure();
  auto opsetOf = [&](StringRef domain) -> int64_t {
    for (const auto &import : file.proto.opset_import())
      if (plainDomain(import.domain()) == domain)
        return import.version();
    return 0;
  };
  // The inputs of a node whose values shapes depend on: bit i for input i.
  auto shapeInputs = [&](auto &self, const NodeProto &node) -> unsigned {
    StringRef domain = plainDomain(node.domain());
    const OpEntry *entry = findOp(domain, node.op_type(), opsetOf(domain));
    if (knownOpsets(domain, node.op_type()).empty())
      inputs.unknownOps.insert(node.op_type());
    unsigned mask = entry ? entry->shapeInputs : 0;
    // Of a graph inside the node, whatever it reads may be a shape.
    for (const auto &attr : node.attribute())
      if (attr.has_g())
        for (const NodeProto &inner : attr.g().node())
          mask = self(self, inner) != 0 ? ~0u : mask;
    return mask;
  };
  llvm::StringSet<> wanted;
  for (int index : names.liveNodes()) {
    unsigned mask = shapeInputs(shapeInputs, file.proto.graph().node(index));
    for (const auto &[i, read] : llvm::enumerate(names.reads(index)))
      if (mask == ~0u || (i < 32 && (mask >> i) & 1))
        for (const std::string &name : names.valueSources(read))
          wanted.insert(name);
  }
  for (const ValueInfoProto *input : names.inputs()) {
    if (wanted.contains(input->name()))
      inputs.shapeInputs.push_back(inputs.names.size());
    else if (hasOpenExtent(*input))
      inputs.openInputs.push_back(inputs.names.size());
    inputs.names.push_back(input->name());
  }
  return success();
}
