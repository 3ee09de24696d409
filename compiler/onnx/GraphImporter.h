// The walk over an ONNX graph that fills a module.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "compiler/onnx/GraphNames.h"
#include "compiler/onnx/Importer.h"
#include "compiler/onnx/InlineFunctions.h"
#include "compiler/onnx/NodeImport.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

namespace convoy::onnx {

struct OpEntry;

class GraphImporter {
public:
  /// With `freesBatch` a batch of 1 that inputs declare becomes free.
  GraphImporter(ModelFile &file, const ImportOptions &options, bool freesBatch);

  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> run();
  /// Whether the free batch is one that the model declares as 1. Then dimension 0 of a tensor with
  /// a free batch has, to the model, the extent 1.
  bool isPerImage() const { return perImage; }

  ModelFile &getFile() { return file; }
  /// Imports the nodes of a graph inside a node and returns its outputs. `name` is the attribute's.
  /// `takesInputs`: the graph may have inputs, of which nothing is known; that is for looking at
  /// its nodes only.
  mlir::FailureOr<llvm::SmallVector<Tensor>> importSubgraph(::onnx::GraphProto &subgraph,
                                                            mlir::Location loc,
                                                            llvm::StringRef name,
                                                            bool takesInputs = false);
  /// The inputs that have to be bound for `name` to be known.
  std::vector<std::string> shapeSources(llvm::StringRef name) const;

  /// Attempts in progress, whose errors may never be seen.
  unsigned attempts = 0;

private:
  mlir::LogicalResult checkVersions();
  mlir::LogicalResult checkOptions();
  /// Makes the initializers of a graph known by name.
  mlir::LogicalResult addInitializers(::onnx::GraphProto &subgraph);
  mlir::LogicalResult importBoundInput(const std::string &name);
  mlir::LogicalResult importInputs(mlir::func::FuncOp function);
  mlir::LogicalResult importOutputs(mlir::func::FuncOp function);
  /// Imports a node whose inputs have a free batch in the place of the model's 1, or before it.
  mlir::LogicalResult importLifted(NodeImport &node, const OpEntry &entry);
  bool isFreed(const ::onnx::ValueInfoProto &input) const;
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
  /// Reports what can be refused of a node that is not imported, without its inputs' types, and of
  /// the nodes of graphs inside it.
  void refuseNode(NodeImport &node, const OpEntry *entry);
  void refuseGraphs(NodeImport &node);
  /// The tensor of a name; silent failure if what defines it failed.
  mlir::LogicalResult lookUp(llvm::StringRef name, Tensor &tensor);
  mlir::FailureOr<mlir::RankedTensorType> inputType(const ::onnx::ValueInfoProto &input,
                                                    std::string &wanted);

  ModelFile &file;
  ::onnx::GraphProto &graph;
  const ImportOptions &options;
  const bool freesBatch;
  bool perImage = false;
  GraphNames names;
  mlir::MLIRContext *context;
  mlir::OpBuilder builder;
  llvm::StringMap<Tensor> tensors;
  llvm::StringMap<::onnx::TensorProto *> initializers;
  llvm::StringMap<int64_t> opsets;
  /// Whether the opset of the default domain is one that the table is about. If not, nodes are only
  /// looked at.
  bool knowsOpset = true;
  OtherOpsets otherOpsets;
  /// What nodes that count have made, by their op, attributes and input values: exporters write the
  /// same node again for each use, and only one count can be seen to be the same.
  llvm::StringMap<llvm::SmallVector<Tensor>> counted;
  int graphDepth = 0;
};

} // namespace convoy::onnx
