// The nodes of a graph: each finds its inputs and its row of the op table.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/Extents.h"
#include "compiler/onnx/GraphImporter.h"
#include "compiler/onnx/Images.h"
#include "compiler/onnx/OpTable.h"
#include "compiler/onnx/Ops.h"
#include "compiler/onnx/Refusals.h"
#include "compiler/onnx/TensorData.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;
using ::onnx::NodeProto;

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

LogicalResult GraphImporter::addInitializers(::onnx::GraphProto &subgraph) {
  for (auto &tensor : *subgraph.mutable_initializer())
    initializers[tensor.name()] = &tensor;
  for (const auto &tensor : subgraph.sparse_initializer()) {
    tensors[tensor.values().name()] = Tensor();
    mlir::emitError(file.getLoc()) << "unsupported: initializer '" << tensor.values().name()
                                   << "' is sparse, expected a dense one";
  }
  return failure(subgraph.sparse_initializer_size() > 0);
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
  // A failure is remembered too: it is reported once, unless that was in an attempt.
  if (succeeded(result) || attempts == 0)
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
  StringRef domain = plainDomain(proto.domain());
  auto version = opsets.find(domain);
  int64_t opset = version == opsets.end() ? 0 : version->second;
  // Of an opset that is not known, what the nearest one tells.
  const OpEntry *entry =
      findOp(domain, proto.op_type(),
             domain.empty() ? std::clamp<int64_t>(opset, kOldestOpset, kNewestOpset) : opset);

  SmallVector<Tensor> inputs, results(proto.output_size());
  bool hasInputs = true;
  for (const std::string &name : proto.input()) {
    Tensor tensor;
    hasInputs &= name.empty() || succeeded(lookUp(name, tensor));
    inputs.push_back(std::move(tensor));
  }
  // Until the node is imported, those that read its results know that they have none.
  for (const std::string &output : proto.output())
    if (!output.empty())
      tensors[output] = Tensor();
  auto other = otherOpsets.find(keyOfNode(proto));
  if (!entry || !hasInputs || !knowsOpset || other != otherOpsets.end()) {
    NodeImport node(*this, proto, opset, loc, builder);
    node.inputs.assign(inputs.begin(), inputs.end());
    if (other != otherOpsets.end())
      node.unsupported() << other->second;
    else
      refuseNode(node, entry);
    refuseGraphs(node);
    return failure();
  }
  if (failed(importNode(proto, *entry, opset, loc, inputs, results)))
    return failure();
  for (int i = 0; i < proto.output_size(); ++i)
    if (!proto.output(i).empty())
      tensors[proto.output(i)] = results[i];
  return success();
}

LogicalResult GraphImporter::importNode(const NodeProto &proto, const OpEntry &entry,
                                        int64_t opset, Location loc, ArrayRef<Tensor> inputs,
                                        SmallVectorImpl<Tensor> &results, int conditions) {
  // Trailing inputs that are left out may be written as "".
  while (!inputs.empty() && !inputs.back())
    inputs = inputs.drop_back();
  if (llvm::any_of(inputs, [](const Tensor &input) { return input.alternatives != nullptr; }))
    return importAlternatives(proto, entry, opset, loc, inputs, results, conditions);
  NodeImport node(*this, proto, opset, loc, builder);
  node.inputs.assign(inputs.begin(), inputs.end());

  Block *block = builder.getInsertionBlock();
  Operation *last = block->empty() ? nullptr : &block->back();
  LogicalResult result = node.expectInputs(entry.minInputs, entry.maxInputs);
  if (succeeded(result))
    result = node.expectTypes(entry.types);
  bool isBatched = llvm::any_of(
      node.inputs, [](const Tensor &input) { return input && cnn::hasFreeBatch(input.type()); });
  if (succeeded(result) && perImage && isBatched && !keepsImagesApart(node))
    result = node.error() << "does not keep the images of a batch apart; fix it with --shape";
  std::string key = keyOfCounting(proto, node.inputs);
  if (auto known = counted.find(key); succeeded(result) && known != counted.end()) {
    results.assign(known->second.begin(), known->second.end());
    return success();
  }
  const ExtentRule *rule = nullptr;
  for (auto [i, input] : llvm::enumerate(node.inputs)) {
    if (failed(result) || rule || !input.extent)
      continue;
    rule = node.domain().empty() ? findExtentRule(proto.op_type()) : nullptr;
    if (!rule)
      result = node.unsupported() << "input " << i << ", " << input.type()
                                  << ", has a dimension, number " << input.extent->dim
                                  << ", whose extent only a run tells";
  }
  if (succeeded(result) && rule && rule->before)
    result = rule->before(node);
  if (succeeded(result) && perImage && isBatched && needsLifting(node))
    result = importLifted(node, entry);
  else if (succeeded(result))
    result = entry.import(node);
  if (succeeded(result) && rule && rule->after)
    result = rule->after(node);
  if (succeeded(result))
    node.reportUnusedAttrs();
  if (succeeded(result) && !node.hasErrors()) {
    for (int i = 0; i < proto.output_size(); ++i)
      if (!proto.output(i).empty() && !node.getResults()[i])
        return node.error() << "has no output " << i;
    results.assign(node.getResults().begin(), node.getResults().end());
    if (!key.empty())
      counted[key] = SmallVector<Tensor>(node.getResults());
    return success();
  }
  // What graphs inside the node have brought into the IR may be known by name already.
  bool hasGraphs = llvm::any_of(proto.attribute(), [](const auto &attr) { return attr.has_g(); });
  while (!hasGraphs && !block->empty() && &block->back() != last)
    block->back().erase();
  refuseGraphs(node);
  return failure();
}

LogicalResult GraphImporter::importAlternatives(const NodeProto &proto, const OpEntry &entry,
                                                int64_t opset, Location loc,
                                                ArrayRef<Tensor> inputs,
                                                SmallVectorImpl<Tensor> &results,
                                                int conditions) {
  // Each doubles the work.
  constexpr int kMostConditions = 4;
  if (conditions == kMostConditions)
    return NodeImport(*this, proto, opset, loc, builder).unsupported()
           << "the shapes of its inputs depend on more than " << kMostConditions
           << " conditions that only a run tells";
  Value condition = llvm::find_if(inputs, [](const Tensor &input) {
                      return input.alternatives != nullptr;
                    })->alternatives->condition;
  SmallVector<Tensor> sides[2];
  for (bool isTrue : {true, false}) {
    SmallVector<Tensor> restricted;
    for (const Tensor &input : inputs)
      restricted.push_back(restrictTo(input, condition, isTrue));
    // Importing takes the data of attributes.
    NodeProto copy;
    if (isTrue)
      copy = proto;
    if (failed(importNode(isTrue ? copy : proto, entry, opset, loc, restricted, sides[isTrue],
                          conditions + 1)))
      return failure();
  }
  NodeImport node(*this, proto, opset, loc, builder);
  results.resize(proto.output_size());
  for (int i = 0; i < proto.output_size(); ++i) {
    if (proto.output(i).empty())
      continue;
    FailureOr<Tensor> joined = joinBranches(node, condition, sides[true][i], sides[false][i]);
    if (failed(joined))
      return failure();
    results[i] = *joined;
  }
  return success();
}

void GraphImporter::refuseNode(NodeImport &node, const OpEntry *entry) {
  if (entry)
    refuseAttrs(node);
  else
    refuseOp(node, opsets.contains(node.domain()));
}

// Those that the node has not imported itself.
void GraphImporter::refuseGraphs(NodeImport &node) {
  for (const auto &attr : node.node.attribute()) {
    if (!attr.has_g() || !node.used.insert(attr.name()).second)
      continue;
    // As with tensors, the graph is read once.
    (void)importSubgraph(const_cast<::onnx::GraphProto &>(attr.g()), node.getLoc(), attr.name(),
                         /*takesInputs=*/true);
  }
}
