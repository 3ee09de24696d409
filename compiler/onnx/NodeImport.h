// What an import function sees of its node: inputs, attributes, and the ways to make results.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "compiler/onnx/HostTensor.h"

#include "llvm/ADT/StringSet.h"

#include <memory>

#include <onnx/onnx_pb.h>

namespace convoy::onnx {

class GraphImporter;

/// That a dimension has an extent that only a run tells: `count`, a scalar of i64. The type has the
/// largest one that is possible.
struct Extent {
  int64_t dim;
  mlir::Value count;
  bool operator==(const Extent &other) const { return dim == other.dim && count == other.count; }
};

struct Alternatives;

/// An ONNX value: known on the host, or in the IR, or both. Or neither: then a condition of run time
/// decides between two values, and no import function ever sees it, because the importer imports a
/// node that reads it once for each.
struct Tensor {
  mlir::Value value;
  std::shared_ptr<const HostTensor> host;
  /// Of the one dimension that may have such an extent.
  std::optional<Extent> extent;
  std::shared_ptr<const Alternatives> alternatives;
  /// That the free batch lies before all dimensions that the model knows of: see Images.h.
  bool isLifted = false;

  Tensor() = default;
  Tensor(mlir::Value value) : value(value) {}
  Tensor(HostTensor host) : host(std::make_shared<HostTensor>(std::move(host))) {}

  explicit operator bool() const { return value || host || alternatives; }
  mlir::RankedTensorType type() const {
    return value ? mlir::cast<mlir::RankedTensorType>(value.getType()) : host->type;
  }
  llvm::ArrayRef<int64_t> shape() const { return type().getShape(); }
  mlir::Type elementType() const { return type().getElementType(); }
  int64_t rank() const { return type().getRank(); }
};

/// Two values of different shapes, or known ones, of which `condition`, a scalar of i1, chooses.
struct Alternatives {
  mlir::Value condition;
  Tensor whenTrue, whenFalse;
};

/// A node on its way into the module. Accessors of attributes report what is wrong with one and
/// return a default; the importer then drops what the import function made.
class NodeImport {
public:
  NodeImport(GraphImporter &graph, const ::onnx::NodeProto &node, int64_t opset,
             mlir::Location loc, mlir::OpBuilder &builder);

  llvm::StringRef opType() const { return node.op_type(); }
  /// The domain of the op, empty for the default one.
  llvm::StringRef domain() const;
  /// The opset of the op's domain; 0 if the model imports none.
  int64_t opset() const { return opsetVersion; }
  mlir::Location getLoc() const { return loc; }
  mlir::OpBuilder &getBuilder() { return builder; }
  mlir::MLIRContext *getContext() const { return loc.getContext(); }

  /// Whether the free batch stands for an extent that the model declares as 1: see GraphImporter.
  bool isPerImage() const;

  /// An error at this node.
  mlir::InFlightDiagnostic error();
  /// An error that says that Convoy lacks what the node asks for.
  mlir::InFlightDiagnostic unsupported();

  // Inputs. One that is optional and left out is "not given".
  unsigned numInputs() const { return inputs.size(); }
  bool hasInput(unsigned index) const { return index < inputs.size() && inputs[index]; }
  /// An input; the table guarantees that the first, required ones are given.
  const Tensor &input(unsigned index) const { return inputs[index]; }
  llvm::ArrayRef<Tensor> allInputs() const { return inputs; }
  /// Adds an input that is not given.
  void addInput() { inputs.emplace_back(); }
  /// Puts another tensor in the place of an input.
  void replaceInput(unsigned index, Tensor tensor) { inputs[index] = std::move(tensor); }
  /// Checks that the inputs in [0, count) are given and that there are at most `max`.
  mlir::LogicalResult expectInputs(unsigned count, unsigned max);
  /// Checks that their elements are of the types that a row of the op table lists.
  mlir::LogicalResult expectTypes(llvm::StringRef types);
  /// The elements of an input that must be known now; an error says on which inputs of the model
  /// it depends. `what` names its meaning.
  mlir::FailureOr<HostTensor> hostInput(unsigned index, llvm::StringRef what);
  /// The same for a list of integers that do not depend on the batch.
  mlir::FailureOr<llvm::SmallVector<int64_t>> constantInts(unsigned index, llvm::StringRef what);
  mlir::FailureOr<llvm::SmallVector<double>> constantFloats(unsigned index, llvm::StringRef what);

  // Attributes.
  bool hasAttr(llvm::StringRef name) const;
  int64_t intAttr(llvm::StringRef name, int64_t byDefault);
  double floatAttr(llvm::StringRef name, double byDefault);
  std::string stringAttr(llvm::StringRef name, llvm::StringRef byDefault);
  llvm::SmallVector<int64_t> intsAttr(llvm::StringRef name,
                                      llvm::ArrayRef<int64_t> byDefault = {});
  llvm::SmallVector<double> floatsAttr(llvm::StringRef name);
  llvm::SmallVector<std::string> stringsAttr(llvm::StringRef name);
  /// The constant of a tensor attribute; null if there is none.
  mlir::ElementsAttr tensorAttr(llvm::StringRef name);
  /// Imports the graph of an attribute where the node stands and returns its outputs.
  mlir::FailureOr<llvm::SmallVector<Tensor>> importGraph(llvm::StringRef name);
  /// The same, but errors are kept instead of reported.
  mlir::FailureOr<llvm::SmallVector<Tensor>> tryGraph(llvm::StringRef name,
                                                      std::vector<mlir::Diagnostic> &errors);
  /// Accepts an attribute that has no meaning at run time.
  void ignoreAttr(llvm::StringRef name) { used.insert(name); }
  /// Reports attributes that no accessor has asked for.
  void reportUnusedAttrs();
  bool hasErrors() const { return failedAlready; }

  // Results.
  unsigned numOutputs() const { return node.output_size(); }
  bool hasOutput(unsigned index) const {
    return static_cast<int>(index) < node.output_size() && !node.output(index).empty();
  }
  void setResult(unsigned index, Tensor tensor);
  /// Says of a result that was set which dimension is counted.
  void setExtent(unsigned index, std::optional<Extent> extent);
  llvm::ArrayRef<Tensor> getResults() const { return results; }

  // Tensors.
  /// The IR value of a tensor, made from its elements if it has none; an error if they depend on
  /// the free batch.
  mlir::FailureOr<mlir::Value> toValue(const Tensor &tensor);
  /// The elements of a tensor if they are known; the value of a small constant is.
  std::optional<HostTensor> toHost(const Tensor &tensor) const;
  /// An error if no machine can hold a tensor of that shape.
  mlir::LogicalResult checkSize(llvm::ArrayRef<int64_t> shape);
  /// An error if a constant has more elements than the importer makes one by one. A few bytes of a
  /// model can ask for any number.
  mlir::LogicalResult checkConstantSize(llvm::ArrayRef<int64_t> shape);
  /// Keeps an op that was just made, or removes it if it does not verify. Where its operands are
  /// known and its result is small, the result is computed here and the op removed.
  mlir::FailureOr<Tensor> keep(mlir::Operation *op);
  template <typename OpTy, typename... Args> mlir::FailureOr<Tensor> create(Args &&...args) {
    return keep(OpTy::create(builder, loc, std::forward<Args>(args)...));
  }
  /// The same for an op with an epilogue, which gets the identity.
  template <typename OpTy, typename... Args>
  mlir::FailureOr<Tensor> createWithIdentity(Args &&...args) {
    OpTy op = OpTy::create(builder, loc, std::forward<Args>(args)...);
    cnn::buildIdentityEpilogue(builder, op.getScalarRegion(), op.getAccumulatorType(), loc);
    return keep(op);
  }

  // Data movement, on the host where the elements are known.
  mlir::FailureOr<Tensor> reshape(const Tensor &tensor, llvm::ArrayRef<int64_t> shape);
  /// Of a tensor with a free batch that stands for the model's 1: the shape that the model knows.
  llvm::SmallVector<int64_t> imageShape(const Tensor &tensor) const;
  /// And such a tensor under another shape of the model.
  mlir::FailureOr<Tensor> reshapeImage(const Tensor &tensor, llvm::ArrayRef<int64_t> shape);
  mlir::FailureOr<Tensor> transpose(const Tensor &tensor, llvm::ArrayRef<int64_t> perm);
  mlir::FailureOr<Tensor> broadcast(const Tensor &tensor, llvm::ArrayRef<int64_t> shape);
  mlir::FailureOr<Tensor> slice(const Tensor &tensor, llvm::ArrayRef<int64_t> starts,
                                llvm::ArrayRef<int64_t> steps, llvm::ArrayRef<int64_t> shape);
  mlir::FailureOr<Tensor> concat(llvm::ArrayRef<Tensor> tensors, int64_t axis);
  /// A vector along dimension 1 of a tensor of `rank`, as per-channel parameters are.
  mlir::FailureOr<Tensor> alongChannels(const Tensor &vector, int64_t rank);
  /// A tensor of `type` whose elements all are `value`, one element; a free batch is allowed.
  mlir::FailureOr<Tensor> splat(mlir::RankedTensorType type, mlir::Attribute value);
  /// The positions 0 to count - 1 as i64 along `axis` of a tensor of `rank`, extents of 1 besides.
  mlir::FailureOr<Tensor> positions(int64_t count, int64_t axis, int64_t rank);

  /// `axis` counted from the front; an error if it is outside [-rank, rank).
  mlir::FailureOr<int64_t> normalizeAxis(int64_t axis, int64_t rank, llvm::StringRef what = "axis");
  /// The same for a list, sorted; an error if one repeats.
  mlir::FailureOr<llvm::SmallVector<int64_t>> normalizeAxes(llvm::ArrayRef<int64_t> axes,
                                                            int64_t rank);

private:
  friend class GraphImporter;
  const ::onnx::AttributeProto *findAttr(llvm::StringRef name,
                                         ::onnx::AttributeProto::AttributeType type);

  GraphImporter &graph;
  const ::onnx::NodeProto &node;
  int64_t opsetVersion;
  mlir::Location loc;
  mlir::OpBuilder &builder;
  llvm::SmallVector<Tensor> inputs;
  llvm::SmallVector<Tensor> results;
  llvm::StringSet<> used;
  bool failedAlready = false;
};

} // namespace convoy::onnx
