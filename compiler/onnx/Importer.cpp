// The walk over an ONNX graph: names and order, inputs, nodes, outputs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/Importer.h"

#include "compiler/onnx/Extents.h"
#include "compiler/onnx/GraphImporter.h"
#include "compiler/onnx/InlineFunctions.h"
#include "compiler/onnx/OpTable.h"
#include "compiler/onnx/TensorData.h"
#include "dialects/Cnn/ConstantData.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;
using ::onnx::NodeProto;
using ::onnx::ValueInfoProto;

// The newest version of the file format that onnx 1.23 writes.
static constexpr int64_t kNewestIrVersion = 14;

static bool isDefaultDomain(StringRef domain) { return domain.empty() || domain == "ai.onnx"; }

static std::string showShape(ArrayRef<int64_t> shape) {
  std::string text;
  for (int64_t extent : shape) {
    text += text.empty() ? "" : "x";
    text += ShapedType::isDynamic(extent) ? "?" : std::to_string(extent);
  }
  return text;
}

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

//===----------------------------------------------------------------------===//
// Names and order
//===----------------------------------------------------------------------===//

Location GraphNames::nodeLoc(int index) const {
  const NodeProto &node = graph.node(index);
  std::string name =
      node.name().empty() ? prefix + node.op_type() + "_" + std::to_string(index) : node.name();
  return NameLoc::get(StringAttr::get(file.getLoc().getContext(), name));
}

int GraphNames::producer(StringRef name) const {
  auto found = producers.find(name);
  return found == producers.end() ? -1 : found->second;
}

// The names that a graph reads from around it.
static void collectOuterReads(const ::onnx::GraphProto &graph, std::vector<std::string> &names) {
  llvm::StringSet<> own;
  for (const ValueInfoProto &input : graph.input())
    own.insert(input.name());
  for (const auto &tensor : graph.initializer())
    own.insert(tensor.name());
  for (const NodeProto &node : graph.node())
    for (const std::string &name : node.output())
      own.insert(name);
  std::vector<std::string> read;
  for (const ValueInfoProto &output : graph.output())
    read.push_back(output.name());
  for (const NodeProto &node : graph.node()) {
    read.insert(read.end(), node.input().begin(), node.input().end());
    for (const auto &attr : node.attribute())
      if (attr.has_g())
        collectOuterReads(attr.g(), read);
  }
  for (std::string &name : read)
    if (!name.empty() && own.insert(name).second)
      names.push_back(std::move(name));
}

LogicalResult GraphNames::analyze() {
  nodeReads.clear();
  for (const NodeProto &node : graph.node()) {
    std::vector<std::string> &reads =
        nodeReads.emplace_back(node.input().begin(), node.input().end());
    for (const auto &attr : node.attribute())
      if (attr.has_g())
        collectOuterReads(attr.g(), reads);
  }
  Location loc = file.getLoc();
  for (const auto &tensor : graph.initializer())
    if (!initializers.insert(tensor.name()).second)
      return mlir::emitError(loc) << "initializer '" << tensor.name() << "' is defined twice";
  if (graph.sparse_initializer_size() > 0)
    return mlir::emitError(loc) << "unsupported: initializer '"
                                << graph.sparse_initializer(0).values().name() << "' is sparse";
  for (const ValueInfoProto &input : graph.input()) {
    if (input.name().empty())
      return mlir::emitError(loc) << "an input has no name";
    if (!inputNames.insert(input.name()).second)
      return mlir::emitError(loc) << "input '" << input.name() << "' is defined twice";
    if (!initializers.contains(input.name()))
      freeInputs.push_back(&input);
    else if (file.proto.ir_version() >= 4)
      mlir::emitRemark(loc) << "input '" << input.name()
                            << "' has a default value, which is taken as a constant";
  }
  for (int i = 0; i < graph.node_size(); ++i)
    for (const std::string &name : graph.node(i).output()) {
      if (name.empty())
        continue;
      if (initializers.contains(name) || inputNames.contains(name) ||
          !producers.try_emplace(name, i).second)
        return mlir::emitError(nodeLoc(i)) << "defines '" << name << "' for a second time";
    }
  if (graph.output_size() == 0)
    return mlir::emitError(loc) << "the graph has no outputs";

  // ONNX wants the nodes in order; some writers do not care, and a cycle must be found anyway.
  std::vector<char> state(graph.node_size(), 0);
  for (const ValueInfoProto &output : graph.output()) {
    int node = producer(output.name());
    if (node < 0 && !isDefinedElsewhere(output.name()))
      return mlir::emitError(loc) << "output '" << output.name() << "' is made by no node";
    if (node >= 0 && failed(visit(node, state)))
      return failure();
  }
  // As in the file where that is an order, so that numbers and dumps follow the model.
  std::vector<int> sorted = order;
  llvm::sort(sorted);
  bool inOrder = llvm::all_of(sorted, [&](int i) {
    return llvm::all_of(reads(i),
                        [&](const std::string &name) { return producer(name) < i; });
  });
  if (inOrder)
    order = std::move(sorted);
  return success();
}

// Depth first without recursion: a model may be a chain of any length.
LogicalResult GraphNames::visit(int root, std::vector<char> &state) {
  enum { New, Open, Done };
  SmallVector<std::pair<int, int>> stack;
  if (state[root] == New) {
    state[root] = Open;
    stack.push_back({root, 0});
  }
  while (!stack.empty()) {
    auto [index, next] = stack.back();
    if (next == static_cast<int>(reads(index).size())) {
      state[index] = Done;
      order.push_back(index);
      stack.pop_back();
      continue;
    }
    ++stack.back().second;
    const std::string &name = reads(index)[next];
    int child = producer(name);
    if (child < 0) {
      if (!name.empty() && !isDefinedElsewhere(name))
        return mlir::emitError(nodeLoc(index))
               << "reads '" << name << "', which no node, input or initializer defines";
      continue;
    }
    if (state[child] == Open)
      return mlir::emitError(nodeLoc(index))
             << "reads '" << name << "', which depends on this node's own result: a cycle";
    if (state[child] == New) {
      state[child] = Open;
      stack.push_back({child, 0});
    }
  }
  return success();
}

// Whether the importer computes a node where its inputs are known; with graphs inside it, if it
// computes all of their nodes.
static bool foldsNode(const NodeProto &node) {
  bool folds = isDefaultDomain(node.domain()) && llvm::any_of(opTable(), [&](const OpEntry &entry) {
    return entry.name == node.op_type() && entry.folds;
  });
  return folds && llvm::all_of(node.attribute(), [](const auto &attr) {
    return !attr.has_g() || llvm::all_of(attr.g().node(), foldsNode);
  });
}

std::vector<std::string> GraphNames::valueSources(StringRef root) const {
  std::vector<std::string> result;
  llvm::StringSet<> seen;
  SmallVector<std::string> worklist{root.str()};
  while (!worklist.empty()) {
    std::string name = worklist.pop_back_val();
    if (name.empty() || !seen.insert(name).second || initializers.contains(name))
      continue;
    if (inputNames.contains(name)) {
      result.push_back(name);
      continue;
    }
    int index = producer(name);
    if (index < 0)
      continue;
    const NodeProto &node = graph.node(index);
    if (node.op_type() == "Shape" || node.op_type() == "Size")
      continue;
    if (!foldsNode(node))
      return {};
    worklist.append(reads(index).begin(), reads(index).end());
  }
  return result;
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

GraphImporter::GraphImporter(ModelFile &file, const ImportOptions &options)
    : file(file), graph(*file.proto.mutable_graph()), options(options), names(file),
      context(file.getLoc().getContext()), builder(context) {}

std::vector<std::string> GraphImporter::shapeSources(StringRef name) const {
  return names.valueSources(name);
}

LogicalResult GraphImporter::checkVersions() {
  Location loc = file.getLoc();
  int64_t irVersion = file.proto.ir_version();
  if (irVersion < kOldestIrVersion || irVersion > kNewestIrVersion)
    return mlir::emitError(loc) << "has IR version " << irVersion << "; " << kOldestIrVersion
                                << " to " << kNewestIrVersion << " are supported";
  for (const auto &import : file.proto.opset_import()) {
    StringRef domain = isDefaultDomain(import.domain()) ? StringRef() : StringRef(import.domain());
    auto [known, isNew] = opsets.try_emplace(domain, import.version());
    if (!isNew && known->second != import.version()) {
      known->second = std::max<int64_t>(known->second, import.version());
      mlir::emitRemark(loc) << "imports two opsets of domain '" << domain << "'; the newer one, "
                            << known->second << ", counts";
    }
  }
  auto version = opsets.find("");
  if (version == opsets.end())
    return mlir::emitError(loc) << "imports no opset of the default domain";
  if (version->second < kOldestOpset || version->second > kNewestOpset)
    return mlir::emitError(loc) << "needs opset " << version->second << "; " << kOldestOpset
                                << " to " << kNewestOpset << " are supported";
  return success();
}

LogicalResult GraphImporter::checkOptions() {
  auto check = [&](const std::string &name, StringRef what) -> LogicalResult {
    if (llvm::any_of(names.inputs(), [&](const ValueInfoProto *i) { return i->name() == name; }))
      return success();
    InFlightDiagnostic error = mlir::emitError(file.getLoc())
                               << what << " is given for '" << name
                               << "', which is no input; the inputs are";
    for (const ValueInfoProto *input : names.inputs())
      error << " '" << input->name() << "'";
    return error;
  };
  for (const auto &[name, shape] : options.shapes)
    if (failed(check(name, "a shape")))
      return failure();
  for (const auto &[name, bytes] : options.boundInputs)
    if (failed(check(name, "a value")))
      return failure();
  return success();
}

// Some writers say -1 for an extent that they do not know.
static bool isStatic(const ::onnx::TensorShapeProto::Dimension &dim) {
  return dim.has_dim_value() && dim.dim_value() >= 0;
}

LogicalResult GraphImporter::checkDeclared(const ValueInfoProto &value, RankedTensorType type) {
  if (!value.type().has_tensor_type())
    return success();
  const auto &declared = value.type().tensor_type();
  Type elementType = getElementType(context, declared.elem_type());
  if (declared.elem_type() != 0 && elementType != type.getElementType())
    return mlir::emitError(file.getLoc())
           << "'" << value.name() << "' is declared with elements of "
           << getDataTypeName(declared.elem_type()) << ", but is " << type;
  if (!declared.has_shape())
    return success();
  const auto &dims = declared.shape().dim();
  bool agrees = dims.size() == type.getRank();
  for (int i = 0; agrees && i < dims.size(); ++i)
    agrees = !isStatic(dims[i]) || type.isDynamicDim(i) ||
             dims[i].dim_value() == type.getDimSize(i);
  if (agrees)
    return success();
  SmallVector<int64_t> shape;
  for (const auto &dim : dims)
    shape.push_back(isStatic(dim) ? dim.dim_value() : ShapedType::kDynamic);
  return mlir::emitError(file.getLoc())
         << "'" << value.name() << "' is declared as [" << showShape(shape) << "], but is ["
         << showShape(type.getShape()) << "]";
}

FailureOr<RankedTensorType> GraphImporter::inputType(const ValueInfoProto &input,
                                                     std::string &wanted) {
  Location loc = file.getLoc();
  if (!input.type().has_tensor_type())
    return mlir::emitError(loc) << "unsupported: input '" << input.name() << "' is no tensor";
  const auto &declared = input.type().tensor_type();
  Type elementType = getElementType(context, declared.elem_type());
  if (!elementType)
    return mlir::emitError(loc) << "unsupported: input '" << input.name() << "' has elements of "
                                << getDataTypeName(declared.elem_type());
  auto sized = [&](ArrayRef<int64_t> shape) -> FailureOr<RankedTensorType> {
    if (!countElements(shape))
      return mlir::emitError(loc) << "input '" << input.name() << "' has too many elements: "
                                  << showShape(shape);
    return RankedTensorType::get(shape, elementType);
  };
  const auto &dims = declared.shape().dim();
  auto given = options.shapes.find(input.name());
  if (given != options.shapes.end()) {
    bool fits = !declared.has_shape() || dims.size() == static_cast<int>(given->second.size());
    for (int i = 0; fits && declared.has_shape() && i < dims.size(); ++i)
      fits = !isStatic(dims[i]) || dims[i].dim_value() == given->second[i];
    if (fits)
      return sized(given->second);
    SmallVector<int64_t> shape;
    for (const auto &dim : dims)
      shape.push_back(isStatic(dim) ? dim.dim_value() : ShapedType::kDynamic);
    return mlir::emitError(loc) << "shape [" << showShape(given->second)
                                << "] does not fit input '" << input.name() << "', which is ["
                                << showShape(shape) << "]";
  }
  std::string text;
  bool isComplete = declared.has_shape();
  SmallVector<int64_t> shape;
  for (const auto &[i, dim] : llvm::enumerate(dims)) {
    if (!isStatic(dim) && i > 0)
      isComplete = false;
    text += i > 0 ? "x" : "";
    text += isStatic(dim)              ? std::to_string(dim.dim_value())
            : i == 0                   ? "?"
            : dim.dim_param().empty()  ? "<unknown>"
                                       : "<" + dim.dim_param() + ">";
    shape.push_back(isStatic(dim) ? dim.dim_value() : ShapedType::kDynamic);
  }
  if (!isComplete) {
    wanted += (wanted.empty() ? "" : " ") + input.name() + "=" +
              (declared.has_shape() ? text : "<unknown rank>");
    return RankedTensorType();
  }
  return sized(shape);
}

LogicalResult GraphImporter::importBoundInput(const std::string &name) {
  ::onnx::TensorProto tensor;
  if (!tensor.ParseFromString(options.boundInputs.at(name)))
    return mlir::emitError(file.getLoc()) << "the value given for input '" << name
                                          << "' is no tensor";
  Location loc = NameLoc::get(builder.getStringAttr(name));
  FailureOr<ElementsAttr> value = importTensor(loc, file, tensor);
  if (failed(value))
    return failure();
  for (const ValueInfoProto *input : names.inputs())
    if (input->name() == name &&
        failed(checkDeclared(*input, cast<RankedTensorType>(value->getShapedType()))))
      return failure();
  tensors[name] = Tensor(cnn::ConstantOp::create(builder, loc, *value).getResult());
  return success();
}

LogicalResult GraphImporter::importInputs(func::FuncOp function) {
  bool hasFailed = false;
  std::string wanted;
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attrs;
  Block *block = &function.getBody().front();
  std::string batchName, batchInput;
  for (const ValueInfoProto *input : names.inputs()) {
    if (options.boundInputs.count(input->name())) {
      hasFailed |= failed(importBoundInput(input->name()));
      continue;
    }
    FailureOr<RankedTensorType> type = inputType(*input, wanted);
    if (failed(type)) {
      hasFailed = true;
      continue;
    }
    if (!*type)
      continue;
    // Two symbols need not be one number, and only one may stay free.
    if (cnn::hasFreeBatch(*type) && !options.shapes.count(input->name())) {
      const std::string &symbol = input->type().tensor_type().shape().dim(0).dim_param();
      if (!symbol.empty() && !batchName.empty() && symbol != batchName) {
        mlir::emitError(file.getLoc())
            << "inputs '" << batchInput << "' and '" << input->name()
            << "' have different free extents '" << batchName << "' and '" << symbol
            << "'; fix one with --shape, or say with --shape that it is the batch, "
            << input->name() << "=" << showShape(type->getShape());
        hasFailed = true;
      } else if (!symbol.empty()) {
        batchName = symbol;
        batchInput = input->name();
      }
    }
    types.push_back(*type);
    attrs.push_back(builder.getDictionaryAttr(
        builder.getNamedAttr(cnn::kNameAttrName, builder.getStringAttr(input->name()))));
    tensors[input->name()] = Tensor(
        block->addArgument(*type, NameLoc::get(builder.getStringAttr(input->name()))));
  }
  if (!wanted.empty()) {
    mlir::emitError(file.getLoc()) << "the shapes of some inputs are open; fix all but the batch "
                                      "with --shape: "
                                   << wanted;
    hasFailed = true;
  }
  function.setFunctionType(builder.getFunctionType(types, {}));
  function.setAllArgAttrs(attrs);
  return failure(hasFailed);
}

// Brings the value of an initializer into the IR when a node first reads it.
static LogicalResult importInitializer(ModelFile &file, OpBuilder &builder,
                                       ::onnx::TensorProto &proto, Tensor &tensor) {
  FailureOr<ElementsAttr> value = importTensor(file.getLoc(), file, proto);
  if (failed(value))
    return failure();
  Location loc = NameLoc::get(builder.getStringAttr(proto.name()));
  tensor = Tensor(cnn::ConstantOp::create(builder, loc, *value).getResult());
  return success();
}

LogicalResult GraphImporter::lookUp(StringRef name, Tensor &tensor) {
  auto known = tensors.find(name);
  if (known != tensors.end()) {
    tensor = known->second;
    return success(static_cast<bool>(tensor));
  }
  auto initializer = initializers.find(name);
  if (initializer == initializers.end())
    return failure();
  LogicalResult result = importInitializer(file, builder, *initializer->second, tensor);
  // A failure is remembered too: it is reported once.
  tensors[name] = tensor;
  return result;
}

// The same for two nodes that count the same; empty for others.
static std::string keyOfCounting(const NodeProto &proto, ArrayRef<Tensor> inputs) {
  std::string key;
  if (proto.op_type() != "NonZero" && proto.op_type() != "Compress" &&
      proto.op_type() != "NonMaxSuppression")
    return key;
  NodeProto rest = proto;
  rest.clear_name();
  rest.clear_doc_string();
  rest.clear_input();
  for (std::string &output : *rest.mutable_output())
    output.clear();
  key = rest.SerializeAsString();
  for (const Tensor &input : inputs) {
    if (input.host)
      return "";
    key += "," + llvm::utohexstr(reinterpret_cast<uintptr_t>(input.value.getAsOpaquePointer()));
  }
  return key;
}

LogicalResult GraphImporter::importNode(const GraphNames &graphNames, int index) {
  const NodeProto &proto = graphNames.getGraph().node(index);
  Location loc = graphNames.nodeLoc(index);
  StringRef domain = isDefaultDomain(proto.domain()) ? StringRef() : StringRef(proto.domain());
  auto version = opsets.find(domain);
  bool isKnown = false;
  const OpEntry *entry =
      version == opsets.end() ? nullptr : findOp(domain, proto.op_type(), version->second, isKnown);

  NodeImport node(*this, proto, version == opsets.end() ? 0 : version->second, loc, builder);
  bool hasInputs = true;
  for (const std::string &name : proto.input()) {
    Tensor tensor;
    hasInputs &= name.empty() || succeeded(lookUp(name, tensor));
    node.inputs.push_back(std::move(tensor));
  }
  if (!entry) {
    InFlightDiagnostic error = mlir::emitError(loc) << "unsupported: " << proto.op_type();
    if (!domain.empty())
      error << " of domain '" << domain << "'";
    if (domain == kMicrosoftLayoutDomain)
      return error << ": onnxruntime wrote this model for the machine that it ran on; export it "
                      "again without optimization, or with its level at most 'extended'";
    if (version == opsets.end())
      return error << ": the model imports no opset of its domain";
    error << " of opset " << version->second;
    return isKnown ? error << ": this opset has no such op, or Convoy not yet"
                   : error << ": no such op is known";
  }
  // What failed above was reported there.
  if (!hasInputs)
    return failure();

  Block *block = builder.getInsertionBlock();
  Operation *last = block->empty() ? nullptr : &block->back();
  // Trailing inputs that are left out may be written as "".
  while (!node.inputs.empty() && !node.inputs.back())
    node.inputs.pop_back();
  LogicalResult result = node.expectInputs(entry->minInputs, entry->maxInputs);
  if (succeeded(result))
    result = node.expectTypes(entry->types);
  std::string key = keyOfCounting(proto, node.inputs);
  if (auto known = counted.find(key); succeeded(result) && known != counted.end()) {
    for (int i = 0; i < proto.output_size(); ++i)
      if (!proto.output(i).empty())
        tensors[proto.output(i)] = known->second[i];
    return success();
  }
  const ExtentRule *rule = nullptr;
  for (auto [i, input] : llvm::enumerate(node.inputs)) {
    if (failed(result) || rule || !input.extent)
      continue;
    rule = domain.empty() ? findExtentRule(proto.op_type()) : nullptr;
    if (!rule)
      result = node.unsupported()
               << "input " << i << ", " << input.type() << ", has a dimension, number "
               << input.extent->dim << ", whose extent only a run tells";
  }
  if (succeeded(result) && rule && rule->before)
    result = rule->before(node);
  if (succeeded(result))
    result = entry->import(node);
  if (succeeded(result) && rule && rule->after)
    result = rule->after(node);
  if (succeeded(result))
    node.reportUnusedAttrs();
  if (succeeded(result) && !node.hasErrors()) {
    for (int i = 0; i < proto.output_size(); ++i) {
      if (proto.output(i).empty())
        continue;
      if (!node.getResults()[i])
        return node.error() << "has no output " << i;
      tensors[proto.output(i)] = node.getResults()[i];
    }
    if (!key.empty())
      counted[key] = SmallVector<Tensor>(node.getResults());
    return success();
  }
  // What graphs inside the node have brought into the IR may be known by name already.
  bool hasGraphs = llvm::any_of(proto.attribute(), [](const auto &attr) { return attr.has_g(); });
  while (!hasGraphs && !block->empty() && &block->back() != last)
    block->back().erase();
  return failure();
}

FailureOr<SmallVector<Tensor>> GraphImporter::importSubgraph(::onnx::GraphProto &subgraph,
                                                             Location loc, StringRef name) {
  constexpr int kMostGraphs = 64; // one inside the other; a file's nesting is bounded already
  if (graphDepth >= kMostGraphs)
    return mlir::emitError(loc) << "has graphs nested more than " << kMostGraphs << " deep";
  std::string prefix;
  if (auto named = dyn_cast<NameLoc>(loc))
    prefix = (named.getName().getValue() + "/" + name + "/").str();
  GraphNames inner(file, subgraph, prefix, [&](StringRef name) {
    return tensors.contains(name) || initializers.contains(name);
  });
  if (subgraph.input_size() > 0)
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
  for (auto &tensor : *subgraph.mutable_initializer()) {
    hide(tensor.name());
    initializers[tensor.name()] = &tensor;
  }
  for (const NodeProto &node : subgraph.node())
    for (const std::string &output : node.output())
      if (!output.empty())
        hide(output);

  ++graphDepth;
  bool hasFailed = false;
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

LogicalResult GraphImporter::importOutputs(func::FuncOp function) {
  bool hasFailed = false;
  SmallVector<Value> values;
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attrs;
  SmallVector<std::optional<Extent>> extents;
  for (const ValueInfoProto &output : graph.output()) {
    Tensor tensor;
    if (failed(lookUp(output.name(), tensor))) {
      hasFailed = true;
      continue;
    }
    // A declared output may be stale once a shape was given by hand. It may have an extent where
    // only the largest one is known.
    if (options.shapes.empty() && !tensor.extent &&
        failed(checkDeclared(output, tensor.type()))) {
      hasFailed = true;
      continue;
    }
    if (!tensor.value) {
      if (!tensor.host->isConstant()) {
        mlir::emitError(file.getLoc()) << "output '" << output.name()
                                       << "' is a shape that depends on the free batch; fix the "
                                          "batch with --shape";
        hasFailed = true;
        continue;
      }
      tensor.value = cnn::ConstantOp::create(builder,
                                             NameLoc::get(builder.getStringAttr(output.name())),
                                             tensor.host->toConstant());
    }
    Location loc = NameLoc::get(builder.getStringAttr(output.name()));
    // As a tensor of its real extents lies in memory.
    if (tensor.extent && ShapedType::getNumElements(
                             tensor.shape().take_front(tensor.extent->dim)) != 1)
      tensor.value = cnn::PackOp::create(builder, loc, tensor.type(), tensor.value,
                                         tensor.extent->count, tensor.extent->dim, StringAttr());
    values.push_back(tensor.value);
    extents.push_back(tensor.extent);
    types.push_back(tensor.type());
    attrs.push_back(builder.getDictionaryAttr(
        builder.getNamedAttr(cnn::kNameAttrName, builder.getStringAttr(output.name()))));
  }
  if (hasFailed)
    return failure();
  // Counts are results too, after all others.
  llvm::SmallMapVector<Value, int64_t, 4> counts;
  for (auto [i, extent] : llvm::enumerate(extents)) {
    if (!extent)
      continue;
    int64_t number = counts.try_emplace(extent->count, extents.size() + counts.size()).first->second;
    SmallVector<NamedAttribute> named(attrs[i].begin(), attrs[i].end());
    named.push_back(builder.getNamedAttr(cnn::kExtentAttrName,
                                         cnn::ExtentAttr::get(context, extent->dim, number)));
    attrs[i] = builder.getDictionaryAttr(named);
  }
  for (auto [count, number] : counts) {
    values.push_back(count);
    types.push_back(count.getType());
    attrs.push_back(builder.getDictionaryAttr({}));
  }
  func::ReturnOp::create(builder, file.getLoc(), values);
  function.setFunctionType(
      builder.getFunctionType(function.getFunctionType().getInputs(), types));
  function.setAllResultAttrs(attrs);
  return success();
}

FailureOr<OwningOpRef<ModuleOp>> GraphImporter::run() {
  if (failed(inlineFunctions(file)) || failed(checkVersions()) || failed(names.analyze()) ||
      failed(checkOptions()))
    return failure();
  context->loadDialect<cnn::CnnDialect, func::FuncDialect, arith::ArithDialect,
                       math::MathDialect>();
  for (auto &tensor : *graph.mutable_initializer())
    initializers[tensor.name()] = &tensor;

  OwningOpRef<ModuleOp> module = ModuleOp::create(file.getLoc());
  builder.setInsertionPointToEnd(module->getBody());
  auto function =
      func::FuncOp::create(builder, file.getLoc(), "main", builder.getFunctionType({}, {}));
  builder.setInsertionPointToEnd(function.addEntryBlock());

  if (failed(importInputs(function)))
    return failure();
  // All that is wrong in one run.
  bool hasFailed = false;
  for (int node : names.liveNodes())
    hasFailed |= failed(importNode(names, node));
  if (hasFailed || failed(importOutputs(function)))
    return failure();
  // Shapes that only the importer read.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
    if (isa<cnn::ConstantOp>(op) && op.use_empty())
      op.erase();
  if (failed(mlir::verify(*module)))
    return failure();
  return module;
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

FailureOr<OwningOpRef<ModuleOp>> convoy::onnx::importModel(StringRef path, const ImportOptions &options,
                                                   MLIRContext *context) {
  ModelFile file(path, llvm::sys::path::parent_path(path), context);
  if (failed(file.read(path)))
    return failure();
  return GraphImporter(file, options).run();
}

FailureOr<OwningOpRef<ModuleOp>> convoy::onnx::importModelFromMemory(StringRef bytes, StringRef name,
                                                             StringRef folder,
                                                             const ImportOptions &options,
                                                             MLIRContext *context) {
  ModelFile file(name, folder, context);
  if (failed(file.parse(bytes, name.ends_with(".onnxtxt"))))
    return failure();
  return GraphImporter(file, options).run();
}

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
  if (failed(file.read(path)) || failed(inlineFunctions(file)) || failed(names.analyze()))
    return failure();
  auto opsetOf = [&](StringRef domain) -> int64_t {
    for (const auto &import : file.proto.opset_import())
      if (import.domain() == domain || (isDefaultDomain(domain) && isDefaultDomain(import.domain())))
        return import.version();
    return 0;
  };
  // The inputs of a node whose values shapes depend on: bit i for input i.
  auto shapeInputs = [&](auto &self, const NodeProto &node) -> unsigned {
    StringRef domain = isDefaultDomain(node.domain()) ? StringRef() : StringRef(node.domain());
    bool isKnown = false;
    const OpEntry *entry = findOp(domain, node.op_type(), opsetOf(domain), isKnown);
    if (!isKnown)
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
