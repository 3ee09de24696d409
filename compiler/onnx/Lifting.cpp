// Ops on lifted tensors: the batch lies before all dimensions that the model knows of, so each op
// works on shapes and axes that begin one dimension further back.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/Extents.h"
#include "compiler/onnx/GraphImporter.h"
#include "compiler/onnx/Images.h"
#include "compiler/onnx/OpTable.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;
using ::onnx::NodeProto;

static bool isBatched(const Tensor &tensor) { return tensor && cnn::hasFreeBatch(tensor.type()); }

// The shape that the model knows.
static SmallVector<int64_t> modelShape(const Tensor &tensor) {
  if (!isBatched(tensor))
    return SmallVector<int64_t>(tensor.shape());
  if (tensor.isLifted)
    return SmallVector<int64_t>(tensor.shape().drop_front());
  SmallVector<int64_t> shape(tensor.shape());
  shape[0] = 1;
  return shape;
}

// A batched tensor lifted, its shape padded in front to a rank.
static FailureOr<Tensor> lift(NodeImport &node, const Tensor &tensor, int64_t rank = 0) {
  SmallVector<int64_t> shape = modelShape(tensor);
  while (static_cast<int64_t>(shape.size()) < rank)
    shape.insert(shape.begin(), 1);
  shape.insert(shape.begin(), ShapedType::kDynamic);
  FailureOr<Tensor> result = node.reshape(tensor, shape);
  if (succeeded(result))
    result->isLifted = true;
  return result;
}

// The other form where the model's shape begins with 1.
static FailureOr<Tensor> settle(NodeImport &node, Tensor tensor) {
  if (!isBatched(tensor))
    return tensor;
  tensor.isLifted = true;
  SmallVector<int64_t> shape = modelShape(tensor);
  if (shape.empty() || shape[0] != 1)
    return tensor;
  shape[0] = ShapedType::kDynamic;
  FailureOr<Tensor> result = node.reshape(tensor, shape);
  if (succeeded(result))
    result->isLifted = false;
  return result;
}

FailureOr<Tensor> NodeImport::reshapeImage(const Tensor &tensor, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> lifted{ShapedType::kDynamic};
  llvm::append_range(lifted, shape);
  FailureOr<Tensor> result = reshape(tensor, lifted);
  if (failed(result))
    return failure();
  return settle(*this, *result);
}

SmallVector<int64_t> NodeImport::imageShape(const Tensor &tensor) const {
  return modelShape(tensor);
}

//===----------------------------------------------------------------------===//
// Kinds of ops
//===----------------------------------------------------------------------===//

namespace {

/// How an op is told about the dimension in front.
enum class Lifting {
  None,       // not at all
  Own,        // its import function asks for the model's shape itself
  Broadcast,  // inputs get one rank
  Axis,       // attribute `axis`
  Axes,       // attribute or second input `axes`; all where there are none
  Transpose,  // attribute `perm`
  Slice,      // attributes or inputs, each axis named
  Product,    // matrices behind dimensions that broadcast
};

} // namespace

static Lifting liftingOf(const NodeImport &node) {
  const ExtentRule *rule = findExtentRule(node.opType());
  if (rule && rule->isElementwise)
    return Lifting::Broadcast;
  Lifting modern = node.opset() >= 13 ? Lifting::Axis : Lifting::None;
  return llvm::StringSwitch<Lifting>(node.opType())
      .Cases({"Flatten", "Reshape", "Shape", "Size", "Squeeze", "Unsqueeze"}, Lifting::Own)
      .Cases({"ArgMax", "ArgMin", "Concat", "Gather", "LayerNormalization", "Split"}, Lifting::Axis)
      .Cases({"Hardmax", "LogSoftmax", "Softmax"}, modern)
      .Cases({"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
              "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"},
             Lifting::Axes)
      .Case("Transpose", Lifting::Transpose)
      .Case("Slice", Lifting::Slice)
      .Case("MatMul", Lifting::Product)
      .Default(Lifting::None);
}

static int64_t defaultAxis(StringRef opType) {
  return llvm::StringSwitch<int64_t>(opType)
      .Cases({"Hardmax", "LayerNormalization", "LogSoftmax", "Softmax"}, -1)
      .Default(0);
}

// The axis of the model's shape, from the front.
static int64_t axisOf(NodeImport &node) {
  int64_t axis = node.intAttr("axis", defaultAxis(node.opType()));
  return axis < 0 ? axis + static_cast<int64_t>(modelShape(node.input(0)).size()) : axis;
}

// The axes of a reduction in the model's shape; nothing if they are not known.
static std::optional<SmallVector<int64_t>> axesOf(NodeImport &node) {
  int64_t rank = modelShape(node.input(0)).size();
  SmallVector<int64_t> axes = node.intsAttr("axes");
  if (node.hasInput(1)) {
    std::optional<HostTensor> host = node.toHost(node.input(1));
    if (!host || host->isFloat())
      return std::nullopt;
    for (const LinearInt &element : host->ints)
      axes.push_back(element.constant);
  }
  if (axes.empty() && node.intAttr("noop_with_empty_axes", 0) == 0)
    axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  for (int64_t &axis : axes)
    axis = axis < 0 ? axis + rank : axis;
  return axes;
}

bool convoy::onnx::needsLifting(NodeImport &node) {
  if (llvm::any_of(node.allInputs(), [](const Tensor &input) { return input && input.isLifted; }))
    return true;
  int64_t least = INT64_MAX, most = 0;
  for (const Tensor &input : node.allInputs())
    if (input) {
      least = isBatched(input) ? std::min(least, input.rank()) : least;
      most = std::max(most, input.rank());
    }
  switch (liftingOf(node)) {
  case Lifting::None:
    return false;
  case Lifting::Own:
    return true;
  case Lifting::Broadcast:
    return most > least;
  case Lifting::Axis:
    // A concatenation takes what has no batch to each image.
    return (isBatched(node.input(0)) || node.opType() == "Concat") &&
           (axisOf(node) == 0 ||
            (node.opType() == "Concat" && !llvm::all_of(node.allInputs(), isBatched)));
  case Lifting::Axes: {
    std::optional<SmallVector<int64_t>> axes = axesOf(node);
    return axes && llvm::is_contained(*axes, 0);
  }
  case Lifting::Transpose: {
    SmallVector<int64_t> perm = node.intsAttr("perm");
    return perm.empty() || perm[0] != 0;
  }
  case Lifting::Slice:
    return false;
  case Lifting::Product:
    return most > least || (isBatched(node.input(1)) && node.input(1).rank() == 2);
  }
  return false;
}

//===----------------------------------------------------------------------===//
// A node in other words
//===----------------------------------------------------------------------===//

static ::onnx::AttributeProto &attribute(NodeProto &proto, StringRef name,
                                         ::onnx::AttributeProto::AttributeType type) {
  for (auto &attr : *proto.mutable_attribute())
    if (attr.name() == name)
      return attr;
  auto *attr = proto.add_attribute();
  attr->set_name(name.str());
  attr->set_type(type);
  return *attr;
}

static void setInt(NodeProto &proto, StringRef name, int64_t value) {
  attribute(proto, name, ::onnx::AttributeProto::INT).set_i(value);
}

static void setInts(NodeProto &proto, StringRef name, ArrayRef<int64_t> values) {
  auto &attr = attribute(proto, name, ::onnx::AttributeProto::INTS);
  attr.clear_ints();
  for (int64_t value : values)
    attr.add_ints(value);
}

static Tensor vectorOf(NodeImport &node, ArrayRef<int64_t> values) {
  SmallVector<LinearInt> elements;
  for (int64_t value : values)
    elements.push_back({0, value});
  return Tensor(HostTensor::ofInts(node.getContext(), elements));
}

// Behind the batch. The largest number is no axis before and none after.
static int64_t shifted(int64_t axis) { return axis == INT64_MAX ? axis : axis + 1; }

static SmallVector<int64_t> shifted(ArrayRef<int64_t> axes) {
  return llvm::map_to_vector(axes, [](int64_t axis) { return shifted(axis); });
}

// All inputs with the batch in front, of one rank where they broadcast.
static LogicalResult liftInputs(NodeImport &node, Lifting lifting) {
  int64_t rank = 0;
  if (lifting == Lifting::Broadcast || lifting == Lifting::Product)
    for (const Tensor &input : node.allInputs())
      rank = input ? std::max<int64_t>(rank, modelShape(input).size()) : rank;
  for (unsigned i = 0; i < node.numInputs(); ++i) {
    if (!node.hasInput(i))
      continue;
    Tensor input = node.input(i);
    if (!isBatched(input) && node.opType() != "Concat")
      continue;
    if (input.extent)
      return node.unsupported() << "input " << i << " has a free batch before an extent that only "
                                   "a run tells; fix it with --shape";
    if (lifting == Lifting::Product && modelShape(input).size() < 2)
      return node.error() << "multiplies a vector for each image; fix it with --shape";
    FailureOr<Tensor> lifted;
    if (isBatched(input)) {
      lifted = lift(node, input, rank);
    } else {
      SmallVector<int64_t> shape{1};
      llvm::append_range(shape, input.shape());
      lifted = node.reshape(input, shape);
      shape[0] = ShapedType::kDynamic;
      if (succeeded(lifted))
        lifted = node.broadcast(*lifted, shape);
    }
    if (failed(lifted))
      return failure();
    node.replaceInput(i, *lifted);
  }
  return success();
}

// Slices name their axes, of which the first may be left out.
static LogicalResult liftSlice(NodeImport &node, NodeProto &proto, int64_t rank) {
  SmallVector<int64_t> axes = node.intsAttr("axes");
  size_t count = node.intsAttr("starts").size();
  if (node.numInputs() > 1) {
    count = node.input(1).rank() == 1 ? node.input(1).shape()[0] : 0;
    if (node.hasInput(3)) {
      FailureOr<SmallVector<int64_t>> given = node.constantInts(3, "axes");
      if (failed(given))
        return failure();
      axes = *given;
    }
  }
  if (axes.empty())
    axes = llvm::to_vector(llvm::seq<int64_t>(0, count));
  for (int64_t &axis : axes)
    axis = axis < 0 ? axis + rank : axis;
  if (node.numInputs() > 1) {
    while (node.numInputs() < 4)
      node.addInput();
    node.replaceInput(3, vectorOf(node, shifted(axes)));
  } else {
    setInts(proto, "axes", shifted(axes));
  }
  return success();
}

LogicalResult GraphImporter::importLifted(NodeImport &node, const OpEntry &entry) {
  Lifting lifting = liftingOf(node);
  if (lifting == Lifting::None)
    return node.error() << "takes the images of a batch from elsewhere than dimension 0; fix it "
                           "with --shape";
  if (lifting == Lifting::Own)
    return entry.import(node);
  NodeProto proto = node.node;
  int64_t rank = modelShape(node.input(0)).size();
  switch (lifting) {
  case Lifting::Axis:
    for (unsigned i = 1; i < node.numInputs(); ++i)
      if (isBatched(node.input(i)) && node.opType() != "Concat")
        return node.error() << "has a parameter for each image; fix it with --shape";
    setInt(proto, "axis", shifted(axisOf(node)));
    break;
  case Lifting::Axes: {
    std::optional<SmallVector<int64_t>> axes = axesOf(node);
    if (!axes)
      return node.unsupported() << "axes that only a run tells";
    if (node.hasInput(1))
      node.replaceInput(1, vectorOf(node, shifted(*axes)));
    else if (entry.maxInputs > 1 && !axes->empty()) {
      while (node.numInputs() < 2)
        node.addInput();
      node.replaceInput(1, vectorOf(node, shifted(*axes)));
    } else if (!axes->empty())
      setInts(proto, "axes", shifted(*axes));
    break;
  }
  case Lifting::Transpose: {
    SmallVector<int64_t> perm =
        node.intsAttr("perm", llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, rank))));
    perm = shifted(perm);
    perm.insert(perm.begin(), 0);
    setInts(proto, "perm", perm);
    break;
  }
  case Lifting::Slice:
    if (failed(liftSlice(node, proto, rank)))
      return failure();
    break;
  default:
    break;
  }
  if (failed(liftInputs(node, lifting)))
    return failure();
  NodeImport inner(*this, proto, node.opset(), node.getLoc(), builder);
  inner.inputs = node.inputs;
  LogicalResult result = entry.import(inner);
  inner.reportUnusedAttrs();
  if (failed(result) || inner.hasErrors())
    return failure();
  for (const auto &attr : node.node.attribute())
    node.ignoreAttr(attr.name());
  for (auto [i, tensor] : llvm::enumerate(inner.getResults())) {
    if (!tensor)
      continue;
    FailureOr<Tensor> settled = settle(node, tensor);
    if (failed(settled))
      return failure();
    node.setResult(i, *settled);
  }
  return success();
}
