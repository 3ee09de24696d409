// Access of import functions to their node.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/NodeImport.h"

#include "compiler/onnx/GraphImporter.h"
#include "compiler/onnx/OpTable.h"
#include "compiler/onnx/OpTypes.h"
#include "compiler/onnx/TensorData.h"
#include "dialects/Cnn/ConstantData.h"
#include "dialects/Cnn/Evaluate/Evaluate.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;
using ::onnx::AttributeProto;

NodeImport::NodeImport(GraphImporter &graph, const ::onnx::NodeProto &node, int64_t opset,
                       Location loc, OpBuilder &builder)
    : graph(graph), node(node), opsetVersion(opset), loc(loc), builder(builder) {
  results.resize(node.output_size());
}

bool NodeImport::isPerImage() const { return graph.isPerImage(); }

InFlightDiagnostic NodeImport::error() {
  failedAlready = true;
  return mlir::emitError(loc) << opType() << " ";
}

InFlightDiagnostic NodeImport::unsupported() {
  failedAlready = true;
  InFlightDiagnostic error = mlir::emitError(loc)
                             << "unsupported: " << opType() << " of "
                             << (domain().empty() ? StringRef("ai.onnx") : domain());
  if (opsetVersion != 0)
    error << " opset " << opsetVersion;
  error << ": ";
  return error;
}

StringRef NodeImport::domain() const { return plainDomain(node.domain()); }

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

LogicalResult NodeImport::expectInputs(unsigned count, unsigned max) {
  if (inputs.size() > max)
    return error() << "has " << inputs.size() << " inputs, at most " << max << " expected";
  for (unsigned i = 0; i < count; ++i)
    if (!hasInput(i))
      return error() << "lacks input " << i << ", needs " << count;
  return success();
}

LogicalResult NodeImport::expectTypes(StringRef text) {
  std::optional<OpTypes> types = OpTypes::parse(text);
  if (!types)
    return error() << "has a row in the op table with malformed types '" << text << "'";
  for (auto [i, input] : llvm::enumerate(inputs)) {
    std::optional<InputTypes> expected = types->of(i);
    if (!input || !expected)
      continue;
    std::optional<unsigned> type = elementTypeIndex(input.elementType());
    if (!type || !(expected->set >> *type & 1))
      return error() << "has elements of "
                     << (type ? elementTypeNames()[*type] : llvm::StringLiteral("another type"))
                     << " in input " << i << ", expected " << showTypes(expected->set);
    if (expected->sameAs && hasInput(*expected->sameAs) &&
        inputs[*expected->sameAs].elementType() != input.elementType())
      return error() << "has elements of " << elementTypeNames()[*type] << " in input " << i
                     << ", expected "
                     << elementTypeNames()[*elementTypeIndex(
                            inputs[*expected->sameAs].elementType())]
                     << " as in input " << *expected->sameAs;
  }
  return success();
}

FailureOr<HostTensor> NodeImport::hostInput(unsigned index, StringRef what) {
  if (std::optional<HostTensor> host = toHost(inputs[index]))
    return *host;
  std::vector<std::string> sources = graph.shapeSources(node.input(index));
  if (sources.empty())
    return unsupported() << what << " ('" << node.input(index)
                         << "') depends on data that are known only at run time";
  return error() << what << " ('" << node.input(index) << "') depends on the value of input"
                 << (sources.size() == 1 ? "" : "s") << " '" << llvm::join(sources, "', '")
                 << "'; bind " << (sources.size() == 1 ? "it" : "them") << " to known values";
}

FailureOr<SmallVector<int64_t>> NodeImport::constantInts(unsigned index, StringRef what) {
  FailureOr<HostTensor> host = hostInput(index, what);
  if (failed(host))
    return failure();
  if (host->isFloat())
    return error() << what << " must be integers, got " << host->type;
  SmallVector<int64_t> result;
  for (const LinearInt &element : host->ints) {
    if (element.batch != 0)
      return error() << what << " depends on the free batch; fix it with --shape";
    result.push_back(element.constant);
  }
  return result;
}

FailureOr<SmallVector<double>> NodeImport::constantFloats(unsigned index, StringRef what) {
  FailureOr<HostTensor> host = hostInput(index, what);
  if (failed(host))
    return failure();
  if (!host->isFloat())
    return error() << what << " must be floating-point numbers, got " << host->type;
  SmallVector<double> result;
  for (const LinearFloat &element : host->floats) {
    if (element.batch != 0)
      return error() << what << " depends on the free batch; fix it with --shape";
    result.push_back(element.constant);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

bool NodeImport::hasAttr(StringRef name) const {
  return llvm::any_of(node.attribute(), [&](const AttributeProto &a) { return a.name() == name; });
}

// An attribute's type, also where a file of the first IR versions leaves it out.
static AttributeProto::AttributeType typeOf(const AttributeProto &attr) {
  if (attr.type() != AttributeProto::UNDEFINED)
    return attr.type();
  return attr.has_f()              ? AttributeProto::FLOAT
         : attr.has_i()            ? AttributeProto::INT
         : attr.has_s()            ? AttributeProto::STRING
         : attr.has_t()            ? AttributeProto::TENSOR
         : attr.has_g()            ? AttributeProto::GRAPH
         : attr.floats_size() > 0  ? AttributeProto::FLOATS
         : attr.ints_size() > 0    ? AttributeProto::INTS
         : attr.strings_size() > 0 ? AttributeProto::STRINGS
                                   : AttributeProto::UNDEFINED;
}

const AttributeProto *NodeImport::findAttr(StringRef name, AttributeProto::AttributeType type) {
  used.insert(name);
  for (const AttributeProto &attr : node.attribute()) {
    if (attr.name() != name)
      continue;
    if (typeOf(attr) == type)
      return &attr;
    // An empty list has no type in the text form.
    bool isEmptyList = attr.ints_size() == 0 && attr.floats_size() == 0 &&
                       (typeOf(attr) == AttributeProto::FLOATS ||
                        typeOf(attr) == AttributeProto::INTS ||
                        typeOf(attr) == AttributeProto::UNDEFINED);
    if (isEmptyList && (type == AttributeProto::INTS || type == AttributeProto::FLOATS))
      return &attr;
    error() << "attribute '" << name << "' is "
            << AttributeProto::AttributeType_Name(typeOf(attr)) << ", expected "
            << AttributeProto::AttributeType_Name(type);
    return nullptr;
  }
  return nullptr;
}

int64_t NodeImport::intAttr(StringRef name, int64_t byDefault) {
  const AttributeProto *attr = findAttr(name, AttributeProto::INT);
  return attr ? attr->i() : byDefault;
}

double NodeImport::floatAttr(StringRef name, double byDefault) {
  const AttributeProto *attr = findAttr(name, AttributeProto::FLOAT);
  return attr ? attr->f() : byDefault;
}

std::string NodeImport::stringAttr(StringRef name, StringRef byDefault) {
  const AttributeProto *attr = findAttr(name, AttributeProto::STRING);
  return attr ? attr->s() : byDefault.str();
}

SmallVector<int64_t> NodeImport::intsAttr(StringRef name, ArrayRef<int64_t> byDefault) {
  const AttributeProto *attr = findAttr(name, AttributeProto::INTS);
  return attr ? SmallVector<int64_t>(attr->ints().begin(), attr->ints().end())
              : SmallVector<int64_t>(byDefault);
}

SmallVector<double> NodeImport::floatsAttr(StringRef name) {
  const AttributeProto *attr = findAttr(name, AttributeProto::FLOATS);
  return attr ? SmallVector<double>(attr->floats().begin(), attr->floats().end())
              : SmallVector<double>();
}

SmallVector<std::string> NodeImport::stringsAttr(StringRef name) {
  const AttributeProto *attr = findAttr(name, AttributeProto::STRINGS);
  return attr ? SmallVector<std::string>(attr->strings().begin(), attr->strings().end())
              : SmallVector<std::string>();
}

ElementsAttr NodeImport::tensorAttr(StringRef name) {
  const AttributeProto *attr = findAttr(name, AttributeProto::TENSOR);
  if (!attr)
    return {};
  // The importer owns the model and reads each node once: the tensor's data may move out.
  FailureOr<ElementsAttr> constant =
      importTensor(loc, graph.getFile(), const_cast<::onnx::TensorProto &>(attr->t()));
  if (failed(constant)) {
    failedAlready = true;
    return {};
  }
  return *constant;
}

FailureOr<SmallVector<Tensor>> NodeImport::importGraph(StringRef name) {
  const AttributeProto *attr = findAttr(name, AttributeProto::GRAPH);
  if (!attr && !hasErrors())
    return error() << "lacks attribute '" << name << "'";
  if (!attr)
    return failure();
  // As with tensors, the graph is read once.
  FailureOr<SmallVector<Tensor>> outputs =
      graph.importSubgraph(const_cast<::onnx::GraphProto &>(attr->g()), loc, name);
  if (failed(outputs))
    failedAlready = true;
  return outputs;
}

FailureOr<SmallVector<Tensor>> NodeImport::tryGraph(StringRef name,
                                                    std::vector<Diagnostic> &errors) {
  bool hadErrors = failedAlready;
  std::vector<Diagnostic> others;
  FailureOr<SmallVector<Tensor>> outputs;
  {
    ScopedDiagnosticHandler handler(getContext(), [&](Diagnostic &diagnostic) {
      bool isError = diagnostic.getSeverity() == DiagnosticSeverity::Error;
      (isError ? errors : others).push_back(std::move(diagnostic));
      return success();
    });
    ++graph.attempts;
    outputs = importGraph(name);
    --graph.attempts;
  }
  for (Diagnostic &diagnostic : others)
    getContext()->getDiagEngine().emit(std::move(diagnostic));
  failedAlready = hadErrors;
  return outputs;
}

void NodeImport::reportUnusedAttrs() {
  for (const AttributeProto &attr : node.attribute())
    if (!used.contains(attr.name()))
      unsupported() << "attribute '" << attr.name() << "' is unknown";
}

//===----------------------------------------------------------------------===//
// Results and tensors
//===----------------------------------------------------------------------===//

void NodeImport::setResult(unsigned index, Tensor tensor) {
  if (index < results.size())
    results[index] = std::move(tensor);
}

void NodeImport::setExtent(unsigned index, std::optional<Extent> extent) {
  if (index < results.size() && results[index])
    results[index].extent = extent;
}

FailureOr<Value> NodeImport::toValue(const Tensor &tensor) {
  if (tensor.value)
    return tensor.value;
  if (!tensor.host->isConstant()) {
    error() << "uses as data what depends on the free batch; fix the batch with --shape";
    return failure();
  }
  return cnn::ConstantOp::create(builder, loc, tensor.host->toConstant()).getResult();
}

std::optional<HostTensor> NodeImport::toHost(const Tensor &tensor) const {
  if (tensor.host)
    return *tensor.host;
  if (ElementsAttr constant = cnn::getConstant(tensor.value))
    return HostTensor::fromConstant(constant);
  return std::nullopt;
}

LogicalResult NodeImport::checkSize(ArrayRef<int64_t> shape) {
  if (countElements(shape))
    return success();
  return error() << "makes a tensor of too many elements: [" << shape << "]";
}

LogicalResult NodeImport::checkConstantSize(ArrayRef<int64_t> shape) {
  constexpr int64_t kMost = int64_t(1) << 24;
  std::optional<int64_t> count = countElements(shape);
  if (count && *count <= kMost)
    return success();
  return error() << "makes a constant of too many elements: [" << shape << "], at most " << kMost
                 << " are possible";
}

// The result of an op whose operands are small constants; nothing if one is not, or the result is
// large.
static std::optional<HostTensor> evaluateOnHost(Operation *op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (op->getNumOperands() == 0 || op->getNumResults() != 1 || !type.hasStaticShape() ||
      type.getNumElements() > HostTensor::kMaxElements)
    return std::nullopt;
  SmallVector<cnn::Tensor> operands;
  for (Value operand : op->getOperands()) {
    auto operandType = cast<RankedTensorType>(operand.getType());
    ElementsAttr constant = cnn::getConstant(operand);
    if (!constant || operandType.getNumElements() > HostTensor::kMaxElements)
      return std::nullopt;
    operands.push_back(cnn::Tensor::fromConstant(operandType, constant));
  }
  FailureOr<SmallVector<cnn::Tensor>> results = cnn::evaluate(op, operands);
  if (failed(results))
    return std::nullopt;
  return HostTensor::fromConstant((*results)[0].toConstant(type));
}

FailureOr<Tensor> NodeImport::keep(Operation *op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (succeeded(checkSize(type.getShape())) && succeeded(mlir::verify(op))) {
    if (std::optional<HostTensor> host = evaluateOnHost(op)) {
      op->erase();
      return Tensor(std::move(*host));
    }
    return Tensor(op->getResult(0));
  }
  failedAlready = true;
  op->erase();
  return failure();
}

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

FailureOr<Tensor> NodeImport::reshape(const Tensor &tensor, ArrayRef<int64_t> shape) {
  if (tensor.shape() == shape)
    return tensor;
  if (std::optional<HostTensor> host = toHost(tensor))
    if (!ShapedType::isDynamicShape(shape) &&
        ShapedType::getNumElements(shape) == host->size())
      return Tensor(host->reshaped(shape));
  FailureOr<Value> value = toValue(tensor);
  if (failed(value))
    return failure();
  return create<cnn::ReshapeOp>(RankedTensorType::get(shape, tensor.elementType()), *value,
                                StringAttr());
}

// Row-major strides of a static shape.
static SmallVector<int64_t> stridesOf(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  return strides;
}

// For each element of `shape`, start + sum of position times stride.
static std::vector<int64_t> stridedIndices(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides,
                                           int64_t start) {
  std::vector<int64_t> indices(ShapedType::getNumElements(shape));
  SmallVector<int64_t> position(shape.size(), 0);
  int64_t index = start;
  for (int64_t &result : indices) {
    result = index;
    for (size_t i = shape.size(); i-- > 0;) {
      index += strides[i];
      if (++position[i] < shape[i])
        break;
      index -= strides[i] * shape[i];
      position[i] = 0;
    }
  }
  return indices;
}

FailureOr<Tensor> NodeImport::transpose(const Tensor &tensor, ArrayRef<int64_t> perm) {
  SmallVector<int64_t> sorted(perm);
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, tensor.rank())))
    return error() << "perm [" << perm << "] is no permutation of rank " << tensor.rank();
  SmallVector<int64_t> shape;
  for (int64_t dim : perm)
    shape.push_back(tensor.shape()[dim]);
  if (std::optional<HostTensor> host = toHost(tensor)) {
    SmallVector<int64_t> strides = stridesOf(tensor.shape()), permuted;
    for (int64_t dim : perm)
      permuted.push_back(strides[dim]);
    return Tensor(host->pick(shape, stridedIndices(shape, permuted, 0)));
  }
  FailureOr<Value> value = toValue(tensor);
  if (failed(value))
    return failure();
  return create<cnn::TransposeOp>(RankedTensorType::get(shape, tensor.elementType()), *value, perm,
                                  StringAttr());
}

FailureOr<Tensor> NodeImport::broadcast(const Tensor &tensor, ArrayRef<int64_t> shape) {
  FailureOr<SmallVector<int64_t>> joined = cnn::inferBroadcast(loc, {shape, tensor.shape()});
  if (failed(joined)) {
    failedAlready = true;
    return failure();
  }
  if (ArrayRef<int64_t>(*joined) != shape)
    return error() << tensor.type() << " does not broadcast to "
                   << RankedTensorType::get(shape, tensor.elementType());
  if (tensor.shape() == shape)
    return tensor;
  if (failed(checkSize(shape)))
    return failure();
  bool isSmall = !ShapedType::isDynamicShape(shape) &&
                 ShapedType::getNumElements(shape) <= HostTensor::kMaxElements;
  if (std::optional<HostTensor> host = toHost(tensor); host && isSmall)
    return Tensor(host->pick(shape, broadcastIndices(tensor.shape(), shape)));
  FailureOr<Value> value = toValue(tensor);
  if (failed(value))
    return failure();
  return create<cnn::BroadcastOp>(RankedTensorType::get(shape, tensor.elementType()), *value,
                                  StringAttr());
}

FailureOr<Tensor> NodeImport::slice(const Tensor &tensor, ArrayRef<int64_t> starts,
                                    ArrayRef<int64_t> steps, ArrayRef<int64_t> shape) {
  bool isWhole = tensor.shape() == shape && llvm::all_of(starts, [](int64_t s) { return s == 0; });
  if (isWhole && llvm::all_of(steps, [](int64_t s) { return s == 1; }))
    return tensor;
  if (std::optional<HostTensor> host = toHost(tensor)) {
    SmallVector<int64_t> strides = stridesOf(tensor.shape());
    int64_t start = 0;
    for (size_t i = 0; i < strides.size(); ++i) {
      start += starts[i] * strides[i];
      strides[i] *= steps[i];
    }
    return Tensor(host->pick(shape, stridedIndices(shape, strides, start)));
  }
  FailureOr<Value> value = toValue(tensor);
  if (failed(value))
    return failure();
  return create<cnn::SliceOp>(RankedTensorType::get(shape, tensor.elementType()), *value, starts,
                              steps, StringAttr());
}

// The concatenation of tensors that are known; the types have been checked.
static HostTensor concatHosts(ArrayRef<HostTensor> parts, RankedTensorType type, int64_t axis) {
  HostTensor result{type, {}, {}};
  int64_t outer = 1;
  for (int64_t extent : type.getShape().take_front(axis))
    outer *= extent;
  for (int64_t i = 0; i < outer; ++i)
    for (const HostTensor &part : parts) {
      int64_t run = part.size() / outer;
      if (part.isFloat())
        result.floats.insert(result.floats.end(), part.floats.begin() + i * run,
                             part.floats.begin() + (i + 1) * run);
      else
        result.ints.insert(result.ints.end(), part.ints.begin() + i * run,
                           part.ints.begin() + (i + 1) * run);
    }
  return result;
}

FailureOr<Tensor> NodeImport::concat(ArrayRef<Tensor> tensors, int64_t axis) {
  SmallVector<RankedTensorType> types =
      llvm::map_to_vector(tensors, [](const Tensor &t) { return t.type(); });
  FailureOr<RankedTensorType> type = cnn::ConcatOp::inferType(loc, types, axis);
  if (failed(type)) {
    failedAlready = true;
    return failure();
  }
  SmallVector<HostTensor> hosts;
  for (const Tensor &tensor : tensors)
    if (std::optional<HostTensor> host = toHost(tensor))
      hosts.push_back(std::move(*host));
  if (hosts.size() == tensors.size() && type->getNumElements() > 0 &&
      type->getNumElements() <= HostTensor::kMaxElements)
    return Tensor(concatHosts(hosts, *type, axis));
  SmallVector<Value> values;
  for (const Tensor &tensor : tensors) {
    FailureOr<Value> value = toValue(tensor);
    if (failed(value))
      return failure();
    values.push_back(*value);
  }
  return create<cnn::ConcatOp>(*type, values, axis, StringAttr());
}

FailureOr<Tensor> NodeImport::alongChannels(const Tensor &vector, int64_t rank) {
  if (vector.rank() != 1)
    return error() << "needs a vector along the channels, got " << vector.type();
  SmallVector<int64_t> shape(std::max<int64_t>(rank, 2), 1);
  shape[1] = vector.shape()[0];
  return reshape(vector, shape);
}

FailureOr<Tensor> NodeImport::splat(RankedTensorType type, Attribute value) {
  auto single = cast<ElementsAttr>(value);
  auto one = HostTensor::fromConstant(single);
  if (!one)
    return error() << "needs one element, got " << single.getShapedType();
  HostTensor scalar = one->reshaped({});
  if (!type.hasStaticShape())
    return broadcast(Tensor(scalar), type.getShape());
  if (type.getNumElements() == 0)
    return Tensor(scalar.pick(type.getShape(), {}));
  if (type.getNumElements() <= HostTensor::kMaxElements)
    return Tensor(
        scalar.pick(type.getShape(), std::vector<int64_t>(type.getNumElements(), 0)));
  if (failed(checkSize(type.getShape())))
    return failure();
  if (int64_t bytes = cnn::getBytes(type); bytes > cnn::kMostRepeatedBytes)
    return error() << "makes a constant of " << bytes << " bytes, at most "
                   << cnn::kMostRepeatedBytes << " may repeat one element: " << type;
  DenseElementsAttr dense;
  if (type.getElementType().isInteger(1)) {
    dense = DenseElementsAttr::get(type, scalar.ints[0].constant != 0);
  } else {
    cnn::ConstantData data(scalar.toConstant());
    dense = DenseElementsAttr::getFromRawBuffer(type, data.bytes());
  }
  return Tensor(cnn::ConstantOp::create(builder, loc, dense).getResult());
}

FailureOr<Tensor> NodeImport::positions(int64_t count, int64_t axis, int64_t rank) {
  SmallVector<int64_t> shape(rank, 1);
  shape[axis] = count;
  if (failed(checkConstantSize(shape)))
    return failure();
  SmallVector<LinearInt> elements;
  for (int64_t i = 0; i < count; ++i)
    elements.push_back({0, i});
  return Tensor(HostTensor::ofInts(getContext(), elements).reshaped(shape));
}

FailureOr<int64_t> NodeImport::normalizeAxis(int64_t axis, int64_t rank, StringRef what) {
  if (axis < -rank || axis >= rank)
    return error() << what << " " << axis << " is outside rank " << rank;
  return axis < 0 ? axis + rank : axis;
}

FailureOr<SmallVector<int64_t>> NodeImport::normalizeAxes(ArrayRef<int64_t> axes, int64_t rank) {
  SmallVector<int64_t> result;
  for (int64_t axis : axes) {
    FailureOr<int64_t> normalized = normalizeAxis(axis, rank);
    if (failed(normalized))
      return failure();
    result.push_back(*normalized);
  }
  llvm::sort(result);
  if (std::adjacent_find(result.begin(), result.end()) != result.end())
    return error() << "has an axis twice: [" << axes << "]";
  return result;
}
