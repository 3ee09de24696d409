// Names and order of a graph.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/GraphNames.h"

#include "compiler/onnx/OpTable.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;
using ::onnx::NodeProto;
using ::onnx::ValueInfoProto;

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
  for (const auto &tensor : graph.sparse_initializer())
    if (!initializers.insert(tensor.values().name()).second)
      return mlir::emitError(loc) << "initializer '" << tensor.values().name()
                                  << "' is defined twice";
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
    return llvm::all_of(reads(i), [&](const std::string &name) { return producer(name) < i; });
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
  bool folds =
      plainDomain(node.domain()).empty() && llvm::any_of(opTable(), [&](const OpEntry &entry) {
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
