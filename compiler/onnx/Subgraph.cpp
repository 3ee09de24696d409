// Graphs inside a node, whose names hide those around them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/GraphImporter.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;
using ::onnx::NodeProto;
using ::onnx::ValueInfoProto;

FailureOr<SmallVector<Tensor>> GraphImporter::importSubgraph(::onnx::GraphProto &subgraph,
                                                             Location loc, StringRef name,
                                                             bool takesInputs) {
  constexpr int kMostGraphs = 64; // one inside the other; a file's nesting is bounded already
  if (graphDepth >= kMostGraphs)
    return mlir::emitError(loc) << "has graphs nested more than " << kMostGraphs << " deep";
  std::string prefix;
  if (auto named = dyn_cast<NameLoc>(loc))
    prefix = (named.getName().getValue() + "/" + name + "/").str();
  GraphNames inner(file, subgraph, prefix, [&](StringRef name) {
    return tensors.contains(name) || initializers.contains(name);
  });
  if (subgraph.input_size() > 0 && !takesInputs)
    return mlir::emitError(loc) << "unsupported: graph '" << name << "' has inputs";
  if (failed(inner.analyze()))
    return failure();

  // The graph's own names hide outer ones until its end: those of two branches may be the same.
  llvm::StringMap<Tensor> outerTensors;
  llvm::StringMap<::onnx::TensorProto *> outerInitializers;
  SmallVector<std::string> own;
  auto hide = [&](const std::string &name) {
    own.push_back(name);
    if (auto known = tensors.find(name); known != tensors.end())
      outerTensors[name] = known->second;
    if (auto known = initializers.find(name); known != initializers.end())
      outerInitializers[name] = known->second;
    tensors.erase(name);
    initializers.erase(name);
  };
  for (const auto &tensor : subgraph.initializer())
    hide(tensor.name());
  for (const auto &tensor : subgraph.sparse_initializer())
    hide(tensor.values().name());
  for (const ValueInfoProto &input : subgraph.input()) {
    hide(input.name());
    tensors[input.name()] = Tensor();
  }
  for (const NodeProto &node : subgraph.node())
    for (const std::string &output : node.output())
      if (!output.empty())
        hide(output);

  ++graphDepth;
  bool hasFailed = failed(addInitializers(subgraph));
  for (int node : inner.liveNodes())
    hasFailed |= failed(importNode(inner, node));
  --graphDepth;
  SmallVector<Tensor> outputs;
  for (const ValueInfoProto &output : subgraph.output())
    hasFailed |= failed(lookUp(output.name(), outputs.emplace_back()));

  for (const std::string &name : own) {
    tensors.erase(name);
    initializers.erase(name);
  }
  for (auto &entry : outerTensors)
    tensors[entry.getKey()] = entry.getValue();
  for (auto &entry : outerInitializers)
    initializers[entry.getKey()] = entry.getValue();
  if (hasFailed)
    return failure();
  return outputs;
}
