// Graphs as ONNX models, and as ONNX text.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/convoy-fuzz/Graph.h"

#include "tools/support/Error.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace convoy;
using namespace convoy::fuzz;

double Range::magnitude() const { return std::max(std::fabs(lo), std::fabs(hi)); }

std::vector<int> Graph::inputs() const {
  std::set<int> used(outputs.begin(), outputs.end());
  for (const Node &node : nodes)
    used.insert(node.inputs.begin(), node.inputs.end());
  std::vector<int> result;
  for (int i = 0; i < static_cast<int>(values.size()); ++i)
    if (values[i].kind == Value::Input && used.count(i))
      result.push_back(i);
  return result;
}

void Graph::dropUnused() {
  std::set<int> used(outputs.begin(), outputs.end());
  std::vector<Node> kept;
  for (size_t i = nodes.size(); i-- > 0;) {
    bool isUsed = std::any_of(nodes[i].outputs.begin(), nodes[i].outputs.end(),
                              [&](int output) { return used.count(output) != 0; });
    if (!isUsed)
      continue;
    used.insert(nodes[i].inputs.begin(), nodes[i].inputs.end());
    kept.push_back(std::move(nodes[i]));
  }
  std::reverse(kept.begin(), kept.end());
  nodes = std::move(kept);
}

static void setTensor(::onnx::TensorProto &proto, const std::string &name, const Tensor &tensor) {
  proto.set_name(name);
  proto.set_data_type(tensor.type);
  for (int64_t dim : tensor.dims)
    proto.add_dims(dim);
  proto.set_raw_data(tensor.bytes.data(), tensor.bytes.size());
}

std::string convoy::fuzz::toTensorProto(const std::string &name, const Tensor &tensor) {
  ::onnx::TensorProto proto;
  setTensor(proto, name, tensor);
  return proto.SerializeAsString();
}

static void setInfo(::onnx::ValueInfoProto &info, const Value &value) {
  info.set_name(value.name);
  auto *type = info.mutable_type()->mutable_tensor_type();
  type->set_elem_type(value.type());
  type->mutable_shape();
  for (int64_t dim : value.dims())
    type->mutable_shape()->add_dim()->set_dim_value(dim);
}

::onnx::ModelProto convoy::fuzz::toModel(const Graph &graph) {
  ::onnx::ModelProto model;
  // The first version of the file in which initializers need not be inputs, or the opset's own.
  model.set_ir_version(graph.opset >= 21 ? 10 : 8);
  auto *opset = model.add_opset_import();
  opset->set_domain("");
  opset->set_version(graph.opset);
  bool microsoft = std::any_of(graph.nodes.begin(), graph.nodes.end(),
                               [](const Node &node) { return !node.domain.empty(); });
  if (microsoft) {
    opset = model.add_opset_import();
    opset->set_domain("com.microsoft");
    opset->set_version(1);
  }
  ::onnx::GraphProto *proto = model.mutable_graph();
  proto->set_name("fuzz");
  std::set<int> used;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node &node = graph.nodes[i];
    ::onnx::NodeProto *made = proto->add_node();
    made->set_op_type(node.op);
    made->set_domain(node.domain);
    made->set_name(tools::format("n%zu", i));
    used.insert(node.inputs.begin(), node.inputs.end());
    for (int input : node.inputs)
      made->add_input(input == kOmitted ? "" : graph.values[input].name);
    for (int output : node.outputs)
      made->add_output(output == kOmitted ? "" : graph.values[output].name);
    for (const ::onnx::AttributeProto &attribute : node.attributes)
      *made->add_attribute() = attribute;
  }
  for (int input : graph.inputs())
    setInfo(*proto->add_input(), graph.values[input]);
  for (int output : graph.outputs)
    setInfo(*proto->add_output(), graph.values[output]);
  for (int i : used)
    if (i != kOmitted && graph.values[i].kind == Value::Constant)
      setTensor(*proto->add_initializer(), graph.values[i].name, graph.values[i].tensor);
  return model;
}

// ---- Text
// ----------------------------------------------------------------------------------------

static const char *typeName(int32_t type) {
  switch (type) {
  case CONVOY_TYPE_F32:
    return "float";
  case CONVOY_TYPE_F64:
    return "double";
  case CONVOY_TYPE_F16:
    return "float16";
  case CONVOY_TYPE_BF16:
    return "bfloat16";
  case CONVOY_TYPE_BOOL:
    return "bool";
  case CONVOY_TYPE_I8:
    return "int8";
  case CONVOY_TYPE_U8:
    return "uint8";
  case CONVOY_TYPE_I16:
    return "int16";
  case CONVOY_TYPE_U16:
    return "uint16";
  case CONVOY_TYPE_I32:
    return "int32";
  case CONVOY_TYPE_U32:
    return "uint32";
  case CONVOY_TYPE_U64:
    return "uint64";
  default:
    return "int64";
  }
}

template <typename List, typename Print> static std::string joined(const List &list, Print print) {
  std::string text;
  for (const auto &item : list)
    text += (text.empty() ? "" : ", ") + print(item);
  return text;
}

static std::string number(double value, bool isFloat) {
  if (!isFloat)
    return tools::format("%.0f", value);
  // The parser takes a number with a point or an exponent as floating.
  std::string text = tools::format("%.9g", value);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

static std::string typeText(int32_t type, const std::vector<int64_t> &dims) {
  std::string text = typeName(type);
  // "float[]" would be a tensor of unknown rank to the parser.
  if (dims.empty())
    return text;
  return text + "[" + joined(dims, [](int64_t dim) { return std::to_string(dim); }) + "]";
}

static std::string infoText(const ::onnx::ValueInfoProto &info) {
  std::vector<int64_t> dims;
  for (const auto &dim : info.type().tensor_type().shape().dim())
    dims.push_back(dim.dim_value());
  return typeText(info.type().tensor_type().elem_type(), dims) + " " + info.name();
}

static bool canSay(const ::onnx::TensorProto &proto) {
  return proto.data_type() != CONVOY_TYPE_F16 && proto.data_type() != CONVOY_TYPE_BF16;
}

static std::string tensorText(const ::onnx::TensorProto &proto) {
  Tensor tensor;
  tensor.type = static_cast<convoy_type>(proto.data_type());
  tensor.dims.assign(proto.dims().begin(), proto.dims().end());
  tensor.bytes.assign(proto.raw_data().begin(), proto.raw_data().end());
  std::vector<double> elements;
  for (int64_t i = 0; i < tensor.size(); ++i)
    elements.push_back(tensor.at(i));
  bool isFloat = tools::isFloat(tensor.type);
  return typeText(tensor.type, tensor.dims) + " " + proto.name() + " = {" +
         joined(elements, [&](double element) { return number(element, isFloat); }) + "}";
}

static std::string attributeText(const ::onnx::AttributeProto &attribute) {
  auto integer = [](int64_t value) { return std::to_string(value); };
  auto real = [](float value) { return number(value, true); };
  std::string text = attribute.name() + " = ";
  switch (attribute.type()) {
  case ::onnx::AttributeProto::INT:
    return text + integer(attribute.i());
  case ::onnx::AttributeProto::FLOAT:
    return text + real(attribute.f());
  case ::onnx::AttributeProto::STRING:
    return text + "\"" + attribute.s() + "\"";
  case ::onnx::AttributeProto::INTS:
    return text + "[" + joined(attribute.ints(), integer) + "]";
  case ::onnx::AttributeProto::FLOATS:
    return text + "[" + joined(attribute.floats(), real) + "]";
  default:
    return text + tensorText(attribute.t());
  }
}

std::string convoy::fuzz::toText(const ::onnx::ModelProto &model) {
  const ::onnx::GraphProto &graph = model.graph();
  if (!std::all_of(graph.initializer().begin(), graph.initializer().end(), canSay))
    return "";
  std::string text =
      tools::format("<ir_version: %lld, opset_import: [", (long long)model.ir_version());
  text += joined(model.opset_import(), [](const ::onnx::OperatorSetIdProto &opset) {
    return tools::format("\"%s\" : %lld", opset.domain().c_str(), (long long)opset.version());
  });
  text += "]>\nfuzz (" + joined(graph.input(), infoText) + ") => (" +
          joined(graph.output(), infoText) + ")\n";
  if (graph.initializer_size())
    text += "<" + joined(graph.initializer(), tensorText) + ">\n";
  text += "{\n";
  auto name = [](const std::string &value) { return value.empty() ? "\"\"" : value; };
  for (const ::onnx::NodeProto &node : graph.node()) {
    text += "  " + joined(node.output(), name) + " = ";
    text += node.domain().empty() ? node.op_type() : node.domain() + "." + node.op_type();
    if (node.attribute_size())
      text += " <" + joined(node.attribute(), attributeText) + ">";
    text += "(" + joined(node.input(), name) + ")\n";
  }
  return text + "}\n";
}
