// The walk over an ONNX graph that fills a module.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "compiler/onnx/Importer.h"
#include "compiler/onnx/ModelFile.h"
#include "compiler/onnx/NodeImport.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <functional>

namespace convoy::onnx {

struct OpEntry;

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

class GraphImporter {
public:
  GraphImporter(ModelFile &file, const ImportOptions &options);

  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> run();

  ModelFile &getFile() { return file; }
  /// Imports the nodes of a graph inside a node and returns its outputs. `name` is the attribute's.
  mlir::FailureOr<llvm::SmallVector<Tensor>>
  importSubgraph(::onnx::GraphProto &subgraph, mlir::Location loc, llvm::StringRef name);
  /// The inputs that have to be bound for `name` to be known.
  std::vector<std::string> shapeSources(llvm::StringRef name) const;

private:
  mlir::LogicalResult checkVersions();
  mlir::LogicalResult checkOptions();
  mlir::LogicalResult importBoundInput(const std::string &name);
  mlir::LogicalResult importInputs(mlir::func::FuncOp function);
  mlir::LogicalResult importOutputs(mlir::func::FuncOp function);
  mlir::LogicalResult importNode(const GraphNames &graphNames, int index);
  /// Imports a node with these inputs; `conditions` counts those that decided about them.
  mlir::LogicalResult importNode(const ::onnx::NodeProto &proto, const OpEntry &entry,
                                 int64_t opset, mlir::Location loc,
                                 llvm::ArrayRef<Tensor> inputs,
                                 llvm::SmallVectorImpl<Tensor> &results, int conditions = 0);
  /// The same where inputs are alternatives: once for each.
  mlir::LogicalResult importAlternatives(const ::onnx::NodeProto &proto, const OpEntry &entry,
                                         int64_t opset, mlir::Location loc,
                                         llvm::ArrayRef<Tensor> inputs,
                                         llvm::SmallVectorImpl<Tensor> &results, int conditions);
  /// The tensor of a name; silent failure if what defines it failed.
  mlir::LogicalResult lookUp(llvm::StringRef name, Tensor &tensor);
  mlir::FailureOr<mlir::RankedTensorType> inputType(const ::onnx::ValueInfoProto &input,
                                                    std::string &wanted);
  mlir::LogicalResult checkDeclared(const ::onnx::ValueInfoProto &value,
                                    mlir::RankedTensorType type);

  ModelFile &file;
  ::onnx::GraphProto &graph;
  const ImportOptions &options;
  GraphNames names;
  mlir::MLIRContext *context;
  mlir::OpBuilder builder;
  llvm::StringMap<Tensor> tensors;
  llvm::StringMap<::onnx::TensorProto *> initializers;
  llvm::StringMap<int64_t> opsets;
  /// What nodes that count have made, by their op, attributes and input values: exporters write the
  /// same node again for each use, and only one count can be seen to be the same.
  llvm::StringMap<llvm::SmallVector<Tensor>> counted;
  int graphDepth = 0;
};

} // namespace convoy::onnx
