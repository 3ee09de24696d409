// Changes to the nodes and names of a model.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/fuzz/Mutate.h"

#include "compiler/onnx/OpTable.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/logging.h>

using namespace convoy::fuzz;
using ::onnx::AttributeProto;
using ::onnx::FunctionProto;
using ::onnx::GraphProto;
using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;
using ::onnx::ValueInfoProto;

using Nodes = google::protobuf::RepeatedPtrField<NodeProto>;

namespace {

/// All parts of a model, those of graphs inside nodes included.
struct Parts {
  std::vector<Nodes *> lists;
  std::vector<NodeProto *> nodes;
  std::vector<AttributeProto *> attributes;
  std::vector<TensorProto *> tensors;
  std::vector<ValueInfoProto *> values;
  std::vector<std::string> names;

  explicit Parts(ModelProto &model) {
    add(*model.mutable_graph());
    for (FunctionProto &function : *model.mutable_functions())
      add(*function.mutable_node());
    if (names.empty())
      names.push_back("x");
  }

private:
  void add(Nodes &list) {
    lists.push_back(&list);
    for (NodeProto &node : list) {
      nodes.push_back(&node);
      names.insert(names.end(), node.output().begin(), node.output().end());
      for (AttributeProto &attribute : *node.mutable_attribute()) {
        attributes.push_back(&attribute);
        if (attribute.has_t())
          tensors.push_back(attribute.mutable_t());
        if (attribute.has_g())
          add(*attribute.mutable_g());
      }
    }
  }
  void add(GraphProto &graph) {
    for (auto *list : {graph.mutable_input(), graph.mutable_output()})
      for (ValueInfoProto &value : *list) {
        values.push_back(&value);
        names.push_back(value.name());
      }
    for (TensorProto &tensor : *graph.mutable_initializer()) {
      tensors.push_back(&tensor);
      names.push_back(tensor.name());
    }
    add(*graph.mutable_node());
  }
};

class Mutator {
public:
  Mutator(const std::vector<Seed> &corpus, ModelProto &model, Random &random)
      : corpus(corpus), model(model), random(random), parts(model) {}

  void mutateOnce();

private:
  void mutateNode(NodeProto &node);
  void mutateNodes(Nodes &nodes);
  void mutateInputs(NodeProto &node);
  void mutateVersions();
  void mutateGraph();
  void wrapInIf(NodeProto &node);
  void wrapInFunction(NodeProto &node);
  void bringNode(Nodes &nodes);
  std::string otherOp();

  const std::vector<Seed> &corpus;
  ModelProto &model;
  Random &random;
  Parts parts;
};

} // namespace

std::string Mutator::otherOp() {
  static const std::string unknown[] = {
      "Loop",       "Scan", "SequenceConstruct", "SequenceAt",  "Optional",
      "Frobnicate", "",     "StringNormalizer",  "Multinomial", "\x01\x1b[31m"};
  if (random.oneIn(8))
    return unknown[random.below(std::size(unknown))];
  llvm::ArrayRef<convoy::onnx::OpEntry> table = convoy::onnx::opTable();
  return table[random.below(table.size())].name.str();
}

void Mutator::mutateInputs(NodeProto &node) {
  auto &inputs = *node.mutable_input();
  switch (inputs.empty() ? 0 : random.below(6)) {
  case 0:
    *inputs.Add() = random.pick(parts.names);
    return;
  case 1:
    inputs.RemoveLast();
    return;
  case 2:
    inputs.SwapElements(0, static_cast<int>(random.below(inputs.size())));
    return;
  case 3:
    inputs.Mutable(static_cast<int>(random.below(inputs.size())))->clear();
    return;
  default: // also a name of later, which makes a cycle
    *inputs.Mutable(static_cast<int>(random.below(inputs.size()))) = random.pick(parts.names);
  }
}

void Mutator::mutateNode(NodeProto &node) {
  static const std::string attributeNames[] = {"axis",
                                               "axes",
                                               "kernel_shape",
                                               "pads",
                                               "strides",
                                               "dilations",
                                               "group",
                                               "auto_pad",
                                               "mode",
                                               "perm",
                                               "to",
                                               "keepdims",
                                               "ceil_mode",
                                               "k",
                                               "value",
                                               "shape",
                                               "blocksize",
                                               "alpha",
                                               "equation",
                                               "split",
                                               "num_outputs",
                                               "batch_dims",
                                               "allowzero",
                                               "hidden_size",
                                               "direction",
                                               "dtype",
                                               "block_size",
                                               "output_shape",
                                               "output_padding",
                                               "num_groups",
                                               "count_include_pad",
                                               "layout"};
  switch (random.below(9)) {
  case 0:
    node.set_op_type(otherOp());
    return;
  case 1:
    node.set_domain(random.oneIn(2) ? "" : random.oneIn(2) ? "com.microsoft" : "ai.onnx.ml");
    return;
  case 2:
    if (node.output_size() > 0 && random.oneIn(2))
      *node.mutable_output(static_cast<int>(random.below(node.output_size()))) =
          random.pick(parts.names);
    else
      node.add_output(random.oneIn(2) ? "extra" : "");
    return;
  case 3: {
    AttributeProto *added = node.add_attribute();
    added->set_name(attributeNames[random.below(std::size(attributeNames))]);
    added->set_type(random.pick({AttributeProto::INT, AttributeProto::INTS, AttributeProto::FLOAT,
                                 AttributeProto::STRING}));
    mutateAttribute(*added, random);
    return;
  }
  case 4:
    if (node.attribute_size() > 0)
      node.mutable_attribute()->RemoveLast();
    return;
  default:
    mutateInputs(node);
  }
}

void Mutator::mutateNodes(Nodes &nodes) {
  if (nodes.empty())
    return bringNode(nodes);
  int at = static_cast<int>(random.below(nodes.size()));
  switch (random.below(5)) {
  case 0:
    nodes.DeleteSubrange(at, 1);
    return;
  case 1: {
    NodeProto copy = nodes.Get(at);
    *nodes.Add() = copy;
    return;
  }
  case 2:
    nodes.SwapElements(at, static_cast<int>(random.below(nodes.size())));
    return;
  case 3:
    return bringNode(nodes);
  default: // a chain: the node reads its own kind of result
    NodeProto copy = nodes.Get(at);
    if (copy.input_size() > 0 && copy.output_size() > 0) {
      *nodes.Mutable(at)->mutable_output(0) = "link";
      *copy.mutable_input(0) = "link";
    }
    *nodes.Add() = copy;
  }
}

// A node of another model, with the constants that it reads.
void Mutator::bringNode(Nodes &nodes) {
  const GraphProto &other = random.pick(corpus).model.graph();
  if (other.node_size() == 0)
    return;
  NodeProto *copy = nodes.Add();
  *copy = other.node(static_cast<int>(random.below(other.node_size())));
  for (std::string &input : *copy->mutable_input())
    if (random.oneIn(2)) {
      input = random.pick(parts.names);
    } else {
      for (const TensorProto &tensor : other.initializer())
        if (tensor.name() == input)
          *model.mutable_graph()->add_initializer() = tensor;
    }
  if (model.graph().output_size() > 0 && copy->output_size() > 0 && random.oneIn(2)) {
    ValueInfoProto *output = model.mutable_graph()->add_output();
    output->set_name(copy->output(0));
  }
}

void Mutator::mutateVersions() {
  switch (random.below(5)) {
  case 0:
    model.set_ir_version(interestingInt(random));
    return;
  case 1:
    model.add_opset_import()->set_version(interestingInt(random));
    return;
  case 2:
    if (model.opset_import_size() > 0)
      model.mutable_opset_import(0)->set_version(interestingInt(random));
    return;
  case 3:
    model.clear_opset_import();
    return;
  default:
    if (model.opset_import_size() > 0)
      model.mutable_opset_import(0)->set_version(1 + random.below(28));
  }
}

void Mutator::mutateGraph() {
  GraphProto &graph = *model.mutable_graph();
  switch (random.below(6)) {
  case 0: { // an input that is known
    if (graph.input_size() == 0)
      return;
    const ValueInfoProto &input = graph.input(static_cast<int>(random.below(graph.input_size())));
    TensorProto *tensor = graph.add_initializer();
    tensor->set_name(input.name());
    tensor->set_data_type(input.type().tensor_type().elem_type());
    for (const auto &dim : input.type().tensor_type().shape().dim())
      tensor->add_dims(dim.dim_value());
    tensor->set_raw_data(std::string(random.below(4096), static_cast<char>(random.below(3))));
    return;
  }
  case 1: // a constant that is not
    if (graph.initializer_size() > 0) {
      TensorProto tensor = graph.initializer(graph.initializer_size() - 1);
      graph.mutable_initializer()->RemoveLast();
      ValueInfoProto *input = graph.add_input();
      input->set_name(tensor.name());
      auto *type = input->mutable_type()->mutable_tensor_type();
      type->set_elem_type(tensor.data_type());
      type->mutable_shape();
      for (int64_t extent : tensor.dims())
        type->mutable_shape()->add_dim()->set_dim_value(extent);
    }
    return;
  case 2:
    graph.add_output()->set_name(random.pick(parts.names));
    return;
  case 3:
    if (graph.initializer_size() > 0)
      *graph.add_initializer() = TensorProto(graph.initializer(0));
    return;
  case 4:
    graph.add_sparse_initializer()->mutable_values()->set_name(random.pick(parts.names));
    return;
  default:
    for (ValueInfoProto &output : *graph.mutable_output())
      output.clear_type();
  }
}

// The node as both branches of an If, with a condition of run time or a known one.
void Mutator::wrapInIf(NodeProto &node) {
  if (node.output_size() == 0)
    return;
  NodeProto inner = node;
  node.Clear();
  node.set_op_type("If");
  node.add_input(random.oneIn(2) ? "condition" : random.pick(parts.names));
  for (const std::string &output : inner.output())
    node.add_output(output);
  for (const char *name : {"then_branch", "else_branch"}) {
    AttributeProto *attribute = node.add_attribute();
    attribute->set_name(name);
    attribute->set_type(AttributeProto::GRAPH);
    GraphProto *graph = attribute->mutable_g();
    *graph->add_node() = inner;
    for (const std::string &output : inner.output())
      graph->add_output()->set_name(output);
  }
  GraphProto &graph = *model.mutable_graph();
  bool hasCondition = false;
  for (const ValueInfoProto &input : graph.input())
    hasCondition |= input.name() == "condition";
  for (const TensorProto &tensor : graph.initializer())
    hasCondition |= tensor.name() == "condition";
  if (hasCondition)
    return;
  if (random.oneIn(2)) {
    TensorProto *tensor = graph.add_initializer();
    tensor->set_name("condition");
    tensor->set_data_type(TensorProto::BOOL);
    tensor->add_int32_data(static_cast<int32_t>(random.below(2)));
  } else {
    ValueInfoProto *input = graph.add_input();
    input->set_name("condition");
    input->mutable_type()->mutable_tensor_type()->set_elem_type(TensorProto::BOOL);
    input->mutable_type()->mutable_tensor_type()->mutable_shape();
  }
}

// The node as the body of a function, which may call itself.
void Mutator::wrapInFunction(NodeProto &node) {
  FunctionProto *function = model.add_functions();
  function->set_name(node.op_type());
  function->set_domain("own");
  *function->add_node() = node;
  for (const std::string &input : node.input())
    function->add_input(input);
  for (const std::string &output : node.output())
    function->add_output(output);
  for (const AttributeProto &attribute : node.attribute())
    function->add_attribute(attribute.name());
  for (const auto &import : model.opset_import()) {
    auto *own = function->add_opset_import();
    *own = import;
    if (random.oneIn(4))
      own->set_version(1 + random.below(28));
  }
  node.set_domain("own");
  if (random.oneIn(4))
    *function->add_node() = node;
  for (AttributeProto &attribute : *function->mutable_node(0)->mutable_attribute())
    if (random.oneIn(2))
      attribute.set_ref_attr_name(attribute.name());
}

void Mutator::mutateOnce() {
  auto any = [&](auto &list, auto &&change) {
    if (!list.empty())
      change(*random.pick(list));
  };
  switch (random.below(20)) {
  case 0:
    return mutateVersions();
  case 1:
  case 2:
    return mutateGraph();
  case 3:
    return any(parts.nodes, [&](NodeProto &node) { wrapInIf(node); });
  case 4:
    return any(parts.nodes, [&](NodeProto &node) { wrapInFunction(node); });
  case 5:
  case 6:
    return any(parts.lists, [&](Nodes &nodes) { mutateNodes(nodes); });
  case 7:
  case 8:
  case 9:
    return any(parts.nodes, [&](NodeProto &node) { mutateNode(node); });
  case 10:
  case 11:
  case 12:
    return any(parts.values,
               [&](ValueInfoProto &value) { mutateType(*value.mutable_type(), random); });
  case 13:
  case 14:
  case 15:
    return any(parts.tensors, [&](TensorProto &tensor) { mutateTensor(tensor, random); });
  default:
    return any(parts.attributes, [&](AttributeProto &attribute) {
      if (!attribute.has_g() || random.oneIn(8))
        mutateAttribute(attribute, random);
    });
  }
}

std::string convoy::fuzz::mutate(const std::vector<Seed> &corpus, Random &random) {
  ModelProto model = random.pick(corpus).model;
  const std::string before = model.SerializeAsString();
  std::string bytes = before;
  if (!random.oneIn(10)) {
    // Many changes make a file that is refused at the first look.
    size_t changes = random.oneIn(8) ? 1 + random.below(12) : 1 + random.below(2);
    // Some change nothing, of a model without an attribute, say.
    constexpr size_t kMost = 20;
    for (size_t i = 0; i < changes || (bytes == before && i < kMost); ++i) {
      Mutator(corpus, model, random).mutateOnce();
      bytes = model.SerializeAsString();
    }
  }
  if (bytes == before || random.oneIn(10))
    mutateBytes(bytes, random);
  return bytes;
}
