// Replaces the calls of a model's own functions by their bodies.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/InlineFunctions.h"

#include "compiler/onnx/OpTable.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <google/protobuf/unknown_field_set.h>

using namespace mlir;
using namespace convoy::onnx;
using ::onnx::AttributeProto;
using ::onnx::FunctionProto;
using ::onnx::GraphProto;
using ::onnx::NodeProto;

using Nodes = google::protobuf::RepeatedPtrField<NodeProto>;

// A crafted file could double the nodes with each function; no real model comes near this.
static constexpr int64_t kMostNodes = 1 << 18;
// Or call through so many functions that the stack ends.
static constexpr unsigned kMostNested = 128;

// Fields that a protobuf of an older ONNX does not name. The parser keeps them.
static constexpr int kNodeOverload = 8, kFunctionOverload = 13, kFunctionDefault = 11;

template <typename Message>
static std::vector<std::string> unnamedField(const Message &message, int number) {
  std::vector<std::string> result;
  const google::protobuf::UnknownFieldSet &fields =
      message.GetReflection()->GetUnknownFields(message);
  for (int i = 0; i < fields.field_count(); ++i)
    if (const auto &field = fields.field(i);
        field.number() == number &&
        field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
      result.push_back(field.length_delimited());
  return result;
}

// Functions are told apart by domain, name and overload.
template <typename Message> static std::string keyOf(const Message &message, int overload) {
  StringRef name;
  if constexpr (std::is_same_v<Message, NodeProto>)
    name = message.op_type();
  else
    name = message.name();
  std::vector<std::string> overloads = unnamedField(message, overload);
  return (plainDomain(message.domain()) + ":" + name + ":" +
          (overloads.empty() ? "" : overloads.back()))
      .str();
}

namespace {

/// One call: what the names and attributes of the body stand for.
struct Call {
  const FunctionProto &function;
  const NodeProto &node;
  std::string prefix;
  std::vector<AttributeProto> defaults;
  llvm::StringMap<std::string> names;

  std::string rename(const std::string &name) const {
    auto known = names.find(name);
    if (name.empty() || known == names.end())
      return name.empty() ? name : prefix + name;
    return known->second;
  }
  /// The attribute of the call, or the function's default; null if neither gives it.
  const AttributeProto *argument(StringRef name) const {
    for (const AttributeProto &attr : node.attribute())
      if (attr.name() == name)
        return &attr;
    for (const AttributeProto &attr : defaults)
      if (attr.name() == name)
        return &attr;
    return nullptr;
  }
};

class Inliner {
public:
  Inliner(ModelFile &file, OtherOpsets &otherOpsets) : file(file), otherOpsets(otherOpsets) {
    for (const FunctionProto &function : file.proto.functions())
      functions[keyOf(function, kFunctionOverload)] = &function;
    for (const auto &import : file.proto.opset_import())
      opsets[plainDomain(import.domain())] = import.version();
  }

  LogicalResult run() { return expand(*file.proto.mutable_graph()->mutable_node()); }

private:
  LogicalResult expand(Nodes &nodes);
  LogicalResult expandCall(const NodeProto &node, const FunctionProto &function, Nodes &nodes);
  void importOpsets(const FunctionProto &function);
  void checkOpset(const FunctionProto &function, const NodeProto &node);
  void instantiate(const Call &call, NodeProto &node);
  void instantiate(const Call &call, GraphProto &graph);
  Location locOf(const NodeProto &node) {
    StringRef name = node.name().empty() ? StringRef(node.op_type()) : StringRef(node.name());
    return NameLoc::get(StringAttr::get(file.getLoc().getContext(), name));
  }

  ModelFile &file;
  OtherOpsets &otherOpsets;
  llvm::StringMap<const FunctionProto *> functions;
  llvm::StringMap<int64_t> opsets;
  /// The functions whose bodies are being expanded, and the nodes made so far.
  llvm::StringSet<> active;
  int64_t numNodes = 0, numCalls = 0;
};

} // namespace

LogicalResult Inliner::expand(Nodes &nodes) {
  Nodes result;
  for (NodeProto &node : nodes) {
    for (AttributeProto &attr : *node.mutable_attribute()) {
      if (attr.has_g() && failed(expand(*attr.mutable_g()->mutable_node())))
        return failure();
      for (GraphProto &graph : *attr.mutable_graphs())
        if (failed(expand(*graph.mutable_node())))
          return failure();
    }
    auto function = functions.find(keyOf(node, kNodeOverload));
    if (function == functions.end()) {
      result.Add()->Swap(&node);
      continue;
    }
    if (failed(expandCall(node, *function->second, result)))
      return failure();
  }
  nodes.Swap(&result);
  return success();
}

void Inliner::importOpsets(const FunctionProto &function) {
  for (const auto &import : function.opset_import()) {
    if (!opsets.try_emplace(plainDomain(import.domain()), import.version()).second)
      continue;
    // The model leaves a domain to its functions.
    auto *added = file.proto.add_opset_import();
    added->set_domain(import.domain());
    added->set_version(import.version());
  }
}

// A node of a body must mean the same in the model's opset, by which it is imported.
void Inliner::checkOpset(const FunctionProto &function, const NodeProto &node) {
  StringRef domain = plainDomain(node.domain());
  for (const auto &import : function.opset_import())
    if (plainDomain(import.domain()) == domain &&
        findOp(domain, node.op_type(), import.version()) !=
            findOp(domain, node.op_type(), opsets.lookup(domain)))
      otherOpsets[keyOfNode(node)] = "function '" + function.name() + "' means that of opset " +
                                     std::to_string(import.version()) +
                                     ", expected the model's opset";
}

std::string convoy::onnx::keyOfNode(const NodeProto &node) {
  return node.name() + ":" + node.domain() + ":" + node.op_type();
}

LogicalResult Inliner::expandCall(const NodeProto &node, const FunctionProto &function,
                                  Nodes &nodes) {
  Location loc = locOf(node);
  std::string key = keyOf(function, kFunctionOverload);
  if (!active.insert(key).second)
    return mlir::emitError(loc) << "function '" << function.name() << "' calls itself";
  if (active.size() > kMostNested)
    return mlir::emitError(loc) << "calls functions more than " << kMostNested << " deep";
  if (node.input_size() > function.input_size() || node.output_size() > function.output_size())
    return mlir::emitError(loc) << "has " << node.input_size() << " inputs and "
                                << node.output_size() << " outputs, function '"
                                << function.name() << "' has " << function.input_size() << " and "
                                << function.output_size();
  importOpsets(function);

  std::string name = node.name().empty() ? node.op_type() : node.name();
  Call call{function, node, name + "_" + std::to_string(numCalls++) + "/", {}, {}};
  for (const std::string &bytes : unnamedField(function, kFunctionDefault))
    if (!call.defaults.emplace_back().ParseFromString(bytes))
      return mlir::emitError(loc) << "calls function '" << function.name()
                                  << "', which has a damaged attribute";
  for (int i = 0; i < function.input_size(); ++i)
    call.names[function.input(i)] = i < node.input_size() ? node.input(i) : "";
  Nodes body;
  for (int i = 0; i < function.output_size(); ++i) {
    if (i >= node.output_size() || node.output(i).empty())
      continue;
    auto [known, isNew] = call.names.try_emplace(function.output(i), node.output(i));
    if (isNew)
      continue;
    // An input that is handed through, or an output that is named twice.
    NodeProto *identity = body.Add();
    identity->set_op_type("Identity");
    identity->set_name(call.prefix + "Identity");
    identity->add_input(known->second);
    identity->add_output(node.output(i));
  }
  for (const NodeProto &inner : function.node()) {
    if (++numNodes > kMostNodes)
      return mlir::emitError(loc) << "makes more than " << kMostNodes
                                  << " nodes of the model's functions";
    NodeProto *copy = body.Add();
    *copy = inner;
    instantiate(call, *copy);
  }
  // The body may call further functions.
  if (failed(expand(body)))
    return failure();
  for (NodeProto &inner : body)
    nodes.Add()->Swap(&inner);
  active.erase(key);
  return success();
}

void Inliner::instantiate(const Call &call, NodeProto &node) {
  node.set_name(call.prefix + (node.name().empty() ? node.op_type() : node.name()));
  checkOpset(call.function, node);
  for (std::string &name : *node.mutable_input())
    name = call.rename(name);
  for (std::string &name : *node.mutable_output())
    name = call.rename(name);
  google::protobuf::RepeatedPtrField<AttributeProto> attributes;
  for (AttributeProto &attr : *node.mutable_attribute()) {
    if (!attr.ref_attr_name().empty()) {
      // What the call leaves out, the node leaves out.
      const AttributeProto *argument = call.argument(attr.ref_attr_name());
      if (!argument)
        continue;
      AttributeProto *copy = attributes.Add();
      *copy = *argument;
      copy->set_name(attr.name());
      continue;
    }
    AttributeProto *copy = attributes.Add();
    copy->Swap(&attr);
    if (copy->has_g())
      instantiate(call, *copy->mutable_g());
    for (GraphProto &graph : *copy->mutable_graphs())
      instantiate(call, graph);
  }
  node.mutable_attribute()->Swap(&attributes);
}

void Inliner::instantiate(const Call &call, GraphProto &graph) {
  for (auto *values : {graph.mutable_input(), graph.mutable_output(), graph.mutable_value_info()})
    for (auto &value : *values)
      value.set_name(call.rename(value.name()));
  for (auto &tensor : *graph.mutable_initializer())
    tensor.set_name(call.rename(tensor.name()));
  for (NodeProto &node : *graph.mutable_node())
    instantiate(call, node);
}

LogicalResult convoy::onnx::inlineFunctions(ModelFile &file, OtherOpsets &otherOpsets) {
  if (file.proto.functions_size() == 0)
    return success();
  if (failed(Inliner(file, otherOpsets).run()))
    return failure();
  file.proto.clear_functions();
  return success();
}
