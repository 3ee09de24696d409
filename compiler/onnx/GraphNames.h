// Names and order of a graph: what can be known without types.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "compiler/onnx/ModelFile.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <functional>

namespace convoy::onnx {

/// Names, producers and order of a graph: what can be known without types.
class GraphNames {
public:
  explicit GraphNames(ModelFile &file) : graph(*file.proto.mutable_graph()), file(file) {}
  /// Of a graph inside a node, which sees the names of the graph around it: `isOuter` tells whether
  /// one is such. `prefix` begins the names of nodes that have none.
  GraphNames(ModelFile &file, ::onnx::GraphProto &graph, std::string prefix,
             std::function<bool(llvm::StringRef)> isOuter)
      : graph(graph), file(file), prefix(std::move(prefix)), isOuter(std::move(isOuter)) {}

  /// Checks names and order; fills what the accessors give.
  mlir::LogicalResult analyze();

  ::onnx::GraphProto &getGraph() const { return graph; }
  /// Nodes that the outputs need, producers first.
  llvm::ArrayRef<int> liveNodes() const { return order; }
  mlir::Location nodeLoc(int node) const;
  /// All that a node reads: its inputs, then what graphs inside it read from around them.
  llvm::ArrayRef<std::string> reads(int node) const { return nodeReads[node]; }
  /// The node that makes a value; -1 for inputs, initializers and unknown names.
  int producer(llvm::StringRef name) const;
  /// Inputs that have no initializer, in order.
  llvm::ArrayRef<const ::onnx::ValueInfoProto *> inputs() const { return freeInputs; }
  bool isInput(llvm::StringRef name) const { return inputNames.contains(name); }
  /// The inputs on whose values `name` depends, through ops other than Shape and Size; nothing
  /// if it also depends on what is no arithmetic on shapes.
  std::vector<std::string> valueSources(llvm::StringRef name) const;

private:
  mlir::LogicalResult visit(int node, std::vector<char> &state);
  bool isDefinedElsewhere(llvm::StringRef name) const {
    return initializers.contains(name) || inputNames.contains(name) || (isOuter && isOuter(name));
  }

  ::onnx::GraphProto &graph;
  ModelFile &file;
  std::string prefix;
  std::function<bool(llvm::StringRef)> isOuter;
  std::vector<std::vector<std::string>> nodeReads;
  llvm::StringMap<int> producers;
  llvm::StringSet<> initializers, inputNames;
  std::vector<const ::onnx::ValueInfoProto *> freeInputs;
  std::vector<int> order;
};

} // namespace convoy::onnx
