// Constants, shapes, and ops that only change a shape.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/Ops.h"
#include "compiler/onnx/ScalarBuilder.h"
#include "compiler/onnx/TensorData.h"

#include "dialects/Cnn/ConstantData.h"

#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

static HostTensor hostInts(NodeImport &node, ArrayRef<int64_t> values) {
  SmallVector<LinearInt> elements;
  for (int64_t value : values)
    elements.push_back({0, value});
  return HostTensor::ofInts(node.getContext(), elements);
}

static HostTensor hostFloats(NodeImport &node, ArrayRef<double> values) {
  auto type = RankedTensorType::get(values.size(), Float32Type::get(node.getContext()));
  HostTensor result{type, {}, {}};
  for (double value : values)
    result.floats.push_back({0, value});
  return result;
}

LogicalResult convoy::onnx::importConstant(NodeImport &node) {
  for (StringRef name : {"sparse_value", "value_string", "value_strings"})
    if (node.hasAttr(name))
      return node.unsupported() << "attribute '" << name
                                << "' is given, expected a value of numbers or bools";
  if (node.hasAttr("value")) {
    ElementsAttr value = node.tensorAttr("value");
    if (!value)
      return failure();
    node.setResult(0, Tensor(cnn::ConstantOp::create(node.getBuilder(), node.getLoc(), value)
                                 .getResult()));
  } else if (node.hasAttr("value_float")) {
    node.setResult(0, Tensor(hostFloats(node, node.floatAttr("value_float", 0)).reshaped({})));
  } else if (node.hasAttr("value_floats")) {
    node.setResult(0, Tensor(hostFloats(node, node.floatsAttr("value_floats"))));
  } else if (node.hasAttr("value_int")) {
    node.setResult(0, Tensor(hostInts(node, node.intAttr("value_int", 0)).reshaped({})));
  } else if (node.hasAttr("value_ints")) {
    node.setResult(0, Tensor(hostInts(node, node.intsAttr("value_ints"))));
  } else {
    return node.error() << "has no value";
  }
  return success();
}

// The extents that a known tensor of integers means, the batch only in dimension 0.
static FailureOr<SmallVector<int64_t>> shapeOf(NodeImport &node, const HostTensor &host) {
  if (host.isFloat() || host.type.getRank() > 1)
    return node.error() << "has a shape that is no vector of integers: " << host.type;
  SmallVector<int64_t> shape;
  for (auto [i, element] : llvm::enumerate(host.ints)) {
    if (element.batch == 1 && element.constant == 0 && i == 0) {
      shape.push_back(ShapedType::kDynamic);
      continue;
    }
    if (element.batch != 0)
      return node.error() << "makes extent " << i
                          << " of its result from the free batch; fix the batch with --shape";
    if (element.constant < 0)
      return node.error() << "has the negative extent " << element.constant;
    shape.push_back(element.constant);
  }
  if (failed(node.checkSize(shape)))
    return failure();
  return shape;
}

LogicalResult convoy::onnx::importConstantOfShape(NodeImport &node) {
  FailureOr<HostTensor> host = node.hostInput(0, "the shape");
  if (failed(host))
    return failure();
  FailureOr<SmallVector<int64_t>> shape = shapeOf(node, *host);
  if (failed(shape))
    return failure();
  Type elementType = Float32Type::get(node.getContext());
  ElementsAttr value = DenseElementsAttr::get(RankedTensorType::get({1}, elementType), 0.0f);
  if (node.hasAttr("value")) {
    value = node.tensorAttr("value");
    if (!value)
      return failure();
    elementType = value.getElementType();
    if (value.getNumElements() != 1)
      return node.error() << "attribute 'value' has " << value.getNumElements()
                          << " elements, expected one";
  }
  FailureOr<Tensor> result = node.splat(RankedTensorType::get(*shape, elementType), value);
  if (failed(result))
    return failure();
  node.setResult(0, *result);
  return success();
}

// The shape of the fills of ONNX's first years: an attribute, the input's, or the input's value;
// the last two with more dimensions at the end.
static FailureOr<SmallVector<int64_t>> fillShape(NodeImport &node) {
  SmallVector<int64_t> shape = node.intsAttr("shape"), extra = node.intsAttr("extra_shape");
  bool isValue = node.intAttr("input_as_shape", 0) != 0;
  if (!node.hasInput(0)) {
    if (isValue || !extra.empty())
      return node.error() << "has no input to take its shape from";
    for (int64_t extent : shape)
      if (extent < 0)
        return node.error() << "has the negative extent " << extent;
  } else if (node.hasAttr("shape")) {
    return node.error() << "has both an input and attribute 'shape'";
  } else if (isValue) {
    FailureOr<HostTensor> host = node.hostInput(0, "the shape");
    if (failed(host))
      return failure();
    FailureOr<SmallVector<int64_t>> value = shapeOf(node, *host);
    if (failed(value))
      return failure();
    shape = *value;
  } else {
    shape.assign(node.input(0).shape().begin(), node.input(0).shape().end());
  }
  for (int64_t extent : extra) {
    if (extent < 0)
      return node.error() << "has the negative extent " << extent;
    shape.push_back(extent);
  }
  if (failed(node.checkSize(shape)))
    return failure();
  return shape;
}

LogicalResult convoy::onnx::importConstantFill(NodeImport &node) {
  FailureOr<SmallVector<int64_t>> shape = fillShape(node);
  if (failed(shape))
    return failure();
  int64_t dataType = node.intAttr("dtype", ::onnx::TensorProto::FLOAT);
  Type elementType = getElementType(node.getContext(), dataType);
  if (!elementType)
    return node.unsupported() << "elements of " << getDataTypeName(dataType);
  HostTensor number{RankedTensorType::get({1}, Float32Type::get(node.getContext())),
                    {},
                    {{0, node.floatAttr("value", 0)}}};
  std::optional<HostTensor> value = foldCast(number, elementType);
  if (!value)
    return node.unsupported() << "elements of " << elementType;
  FailureOr<Tensor> result =
      node.splat(RankedTensorType::get(*shape, elementType), value->toConstant());
  if (failed(result))
    return failure();
  node.setResult(0, *result);
  return success();
}

LogicalResult convoy::onnx::importGivenTensorFill(NodeImport &node) {
  FailureOr<SmallVector<int64_t>> shape = fillShape(node);
  if (failed(shape))
    return failure();
  SmallVector<double> values = node.floatsAttr("values");
  auto type = RankedTensorType::get(*shape, Float32Type::get(node.getContext()));
  if (!type.hasStaticShape() || type.getNumElements() != static_cast<int64_t>(values.size()))
    return node.error() << "has " << values.size() << " values for " << type;
  HostTensor filled{type, {}, {}};
  for (double value : values)
    filled.floats.push_back({0, value});
  node.setResult(0, Tensor(std::move(filled)));
  return success();
}

//===----------------------------------------------------------------------===//
// Shapes as values
//===----------------------------------------------------------------------===//

// Whether the node works on images that the model takes for one.
static bool isOfImages(const NodeImport &node) {
  return node.isPerImage() && cnn::hasFreeBatch(node.input(0).type());
}

// The type that the model knows.
static RankedTensorType modelType(const NodeImport &node) {
  RankedTensorType type = node.input(0).type();
  return isOfImages(node)
             ? RankedTensorType::get(node.imageShape(node.input(0)), type.getElementType())
             : type;
}

// The shape of a tensor with an extent that only a run tells.
static LogicalResult countedShape(NodeImport &node, int64_t start, int64_t end) {
  const Tensor &src = node.input(0);
  SmallVector<Tensor> parts;
  for (int64_t i = start; i < end; ++i) {
    if (i != src.extent->dim) {
      parts.push_back(Tensor(HostTensor::ofInts(node.getContext(), LinearInt{0, src.shape()[i]})));
      continue;
    }
    FailureOr<Tensor> count = node.reshape(Tensor(src.extent->count), {1});
    if (failed(count))
      return failure();
    parts.push_back(*count);
  }
  FailureOr<Tensor> result = node.concat(parts, 0);
  if (failed(result))
    return failure();
  node.setResult(0, *result);
  return success();
}

LogicalResult convoy::onnx::importShape(NodeImport &node) {
  const Tensor &src = node.input(0);
  RankedTensorType type = modelType(node);
  int64_t rank = type.getRank();
  auto bound = [&](StringRef name, int64_t byDefault) {
    int64_t value = node.intAttr(name, byDefault);
    return std::clamp<int64_t>(value < 0 ? value + rank : value, 0, rank);
  };
  int64_t start = bound("start", 0), end = bound("end", rank);
  if (src.extent && src.extent->dim >= start && src.extent->dim < end)
    return countedShape(node, start, end);
  SmallVector<LinearInt> extents;
  for (int64_t i = start; i < end; ++i)
    extents.push_back(type.isDynamicDim(i) ? LinearInt{1, 0} : LinearInt{0, type.getDimSize(i)});
  node.setResult(0, Tensor(HostTensor::ofInts(node.getContext(), extents)));
  return success();
}

LogicalResult convoy::onnx::importSize(NodeImport &node) {
  RankedTensorType type = node.input(0).type();
  if (const std::optional<Extent> &extent = node.input(0).extent) {
    int64_t others = 1;
    for (int64_t i = 0; i < type.getRank(); ++i)
      others *= i == extent->dim ? 1 : type.getDimSize(i);
    FailureOr<Tensor> size = createMap(
        node, {Tensor(extent->count)}, IntegerType::get(node.getContext(), 64),
        [&](ScalarBuilder &s, ArrayRef<Value> x) { return s.mul(x[0], s.integer(others)); });
    if (failed(size))
      return failure();
    node.setResult(0, *size);
    return success();
  }
  int64_t count = cnn::perImage(type).getNumElements();
  bool grows = cnn::hasFreeBatch(type) && !node.isPerImage();
  LinearInt size = grows ? LinearInt{count, 0} : LinearInt{0, count};
  node.setResult(0, Tensor(HostTensor::ofInts(node.getContext(), size).reshaped({})));
  return success();
}

//===----------------------------------------------------------------------===//
// Changes of shape
//===----------------------------------------------------------------------===//

static LogicalResult setReshaped(NodeImport &node, ArrayRef<int64_t> shape) {
  const Tensor &src = node.input(0);
  FailureOr<Tensor> result =
      isOfImages(node) ? node.reshapeImage(src, shape) : node.reshape(src, shape);
  if (failed(result))
    return failure();
  node.setResult(0, *result);
  return success();
}

// The shape that Reshape means by extents with 0 and -1. Element counts are those of an image
// where the batch is free.
static FailureOr<SmallVector<int64_t>> resolveReshape(NodeImport &node, RankedTensorType src,
                                                      ArrayRef<LinearInt> wanted,
                                                      bool allowZero) {
  SmallVector<int64_t> shape;
  std::optional<size_t> inferred;
  int64_t known = 1;
  for (auto [i, element] : llvm::enumerate(wanted)) {
    int64_t extent = element.constant;
    if (element.batch != 0) {
      if (i != 0 || element.batch != 1 || element.constant != 0)
        return node.error() << "makes extent " << i
                            << " from the free batch; fix the batch with --shape";
      extent = ShapedType::kDynamic;
    } else if (extent == 0 && !allowZero) {
      if (static_cast<int64_t>(i) >= src.getRank())
        return node.error() << "copies dimension " << i << " of " << src;
      extent = src.getDimSize(i);
    } else if (extent == -1) {
      if (inferred)
        return node.error() << "leaves dimensions " << *inferred << " and " << i << " open";
      inferred = i;
    } else if (extent < 0) {
      return node.error() << "has the extent " << extent;
    }
    if (ShapedType::isDynamic(extent) && i != 0)
      return node.error() << "moves the free batch to dimension " << i
                          << "; fix it with --shape";
    shape.push_back(extent);
    if (extent >= 0) {
      std::optional<int64_t> product = llvm::checkedMul(known, extent);
      if (!product)
        return node.error() << "has a shape with too many elements";
      known = *product;
    }
  }
  int64_t count = cnn::perImage(src).getNumElements();
  bool isFree = cnn::hasFreeBatch(src);
  bool keepsBatch = !shape.empty() && ShapedType::isDynamic(shape[0]);
  if (inferred) {
    if (isFree && !keepsBatch && *inferred == 0 && known == count) {
      shape[0] = ShapedType::kDynamic; // all but the batch is accounted for
      return shape;
    }
    if (isFree == keepsBatch) {
      if (known == 0 || count % known != 0)
        return node.error() << "cannot divide " << src << " into parts of " << known
                            << " elements";
      shape[*inferred] = count / known;
      known = count;
    }
  }
  if (isFree != keepsBatch) {
    SmallVector<std::string> text;
    for (const LinearInt &element : wanted)
      text.push_back(element.batch != 0 ? "N" : std::to_string(element.constant));
    return node.error() << "of " << src << " to [" << llvm::join(text, ", ")
                        << "] does not keep the free batch in dimension 0; fix it with --shape";
  }
  if (known != count)
    return node.error() << "cannot give " << src << " the shape [" << ArrayRef<int64_t>(shape)
                        << "]: the numbers of elements differ";
  return shape;
}

LogicalResult convoy::onnx::importReshape(NodeImport &node) {
  FailureOr<HostTensor> host = node.hostInput(1, "the shape");
  if (failed(host))
    return failure();
  if (host->isFloat() || host->type.getRank() != 1)
    return node.error() << "needs a vector of integers as shape, got " << host->type;
  FailureOr<SmallVector<int64_t>> shape = resolveReshape(
      node, modelType(node), host->ints, node.intAttr("allowzero", 0) != 0);
  return failed(shape) ? failure() : setReshaped(node, *shape);
}

LogicalResult convoy::onnx::importFlatten(NodeImport &node) {
  RankedTensorType src = modelType(node);
  int64_t axis = node.intAttr("axis", 1), rank = src.getRank();
  if (axis < -rank || axis > rank)
    return node.error() << "axis " << axis << " is outside rank " << rank;
  axis = axis < 0 ? axis + rank : axis;
  ArrayRef<int64_t> outer = src.getShape().take_front(axis);
  ArrayRef<int64_t> inner = src.getShape().drop_front(axis);
  if (ShapedType::isDynamicShape(inner))
    return node.error() << "moves the free batch to dimension 1; fix it with --shape";
  // The batch stays alone in front, or there would be several in one dimension.
  if (ShapedType::isDynamicShape(outer)) {
    if (ShapedType::getNumElements(outer.drop_front()) != 1)
      return node.error() << "joins the free batch with dimension 1; fix it with --shape";
    return setReshaped(node, {ShapedType::kDynamic, ShapedType::getNumElements(inner)});
  }
  return setReshaped(node, {ShapedType::getNumElements(outer), ShapedType::getNumElements(inner)});
}

static LogicalResult squeeze(NodeImport &node, std::optional<ArrayRef<int64_t>> given) {
  RankedTensorType src = modelType(node);
  SmallVector<int64_t> axes;
  if (given) {
    FailureOr<SmallVector<int64_t>> normalized = node.normalizeAxes(*given, src.getRank());
    if (failed(normalized))
      return failure();
    axes = *normalized;
  } else {
    for (int64_t i = 0; i < src.getRank(); ++i)
      if (src.getDimSize(i) == 1)
        axes.push_back(i);
  }
  SmallVector<int64_t> shape;
  for (int64_t i = 0; i < src.getRank(); ++i) {
    if (!llvm::is_contained(axes, i))
      shape.push_back(src.getDimSize(i));
    else if (src.isDynamicDim(i))
      return node.error() << "removes the free batch; fix it with --shape";
    else if (src.getDimSize(i) != 1)
      return node.error() << "removes dimension " << i << " of " << src
                          << ", whose extent is not 1";
  }
  return setReshaped(node, shape);
}

LogicalResult convoy::onnx::importSqueezeAttr(NodeImport &node) {
  if (!node.hasAttr("axes"))
    return squeeze(node, std::nullopt);
  return squeeze(node, node.intsAttr("axes"));
}

LogicalResult convoy::onnx::importSqueeze(NodeImport &node) {
  if (!node.hasInput(1))
    return squeeze(node, std::nullopt);
  FailureOr<SmallVector<int64_t>> axes = node.constantInts(1, "axes");
  return failed(axes) ? failure() : squeeze(node, *axes);
}

static LogicalResult unsqueeze(NodeImport &node, ArrayRef<int64_t> given) {
  RankedTensorType src = modelType(node);
  int64_t rank = src.getRank() + given.size();
  FailureOr<SmallVector<int64_t>> axes = node.normalizeAxes(given, rank);
  if (failed(axes))
    return failure();
  SmallVector<int64_t> shape;
  ArrayRef<int64_t> rest = src.getShape();
  for (int64_t i = 0; i < rank; ++i) {
    bool isNew = llvm::is_contained(*axes, i);
    shape.push_back(isNew ? 1 : rest.front());
    if (!isNew)
      rest = rest.drop_front();
    if (ShapedType::isDynamic(shape.back()) && i > 0)
      return node.error() << "moves the free batch to dimension " << i
                          << "; fix it with --shape";
  }
  return setReshaped(node, shape);
}

LogicalResult convoy::onnx::importUnsqueezeAttr(NodeImport &node) {
  if (!node.hasAttr("axes"))
    return node.error() << "lacks attribute 'axes'";
  return unsqueeze(node, node.intsAttr("axes"));
}

LogicalResult convoy::onnx::importUnsqueeze(NodeImport &node) {
  FailureOr<SmallVector<int64_t>> axes = node.constantInts(1, "axes");
  return failed(axes) ? failure() : unsqueeze(node, *axes);
}

//===----------------------------------------------------------------------===//
// Repetition
//===----------------------------------------------------------------------===//

LogicalResult convoy::onnx::importExpand(NodeImport &node) {
  FailureOr<HostTensor> host = node.hostInput(1, "the shape");
  if (failed(host))
    return failure();
  FailureOr<SmallVector<int64_t>> wanted = shapeOf(node, *host);
  if (failed(wanted))
    return failure();
  // Both ways: an extent of 1 in the wanted shape keeps the input's.
  FailureOr<SmallVector<int64_t>> shape =
      cnn::inferBroadcast(node.getLoc(), {node.input(0).shape(), *wanted});
  if (failed(shape))
    return failure();
  FailureOr<Tensor> result = node.broadcast(node.input(0), *shape);
  if (failed(result))
    return failure();
  node.setResult(0, *result);
  return success();
}

LogicalResult convoy::onnx::importTile(NodeImport &node) {
  const Tensor &src = node.input(0);
  FailureOr<SmallVector<int64_t>> repeats = node.constantInts(1, "repeats");
  if (failed(repeats))
    return failure();
  if (static_cast<int64_t>(repeats->size()) != src.rank())
    return node.error() << "has " << repeats->size() << " repeats for " << src.type();
  // [a, b] times (2, 3): as [1, a, 1, b], broadcast to [2, a, 3, b], joined to [2a, 3b].
  SmallVector<int64_t> split, spread, joined;
  for (auto [extent, repeat] : llvm::zip(src.shape(), *repeats)) {
    if (repeat < 0 || repeat > (int64_t(1) << 31))
      return node.error() << "has the repeat " << repeat;
    if (repeat != 1 && ShapedType::isDynamic(extent))
      return node.error() << "repeats the free batch; fix it with --shape";
    if (repeat != 1) {
      split.push_back(1);
      spread.push_back(repeat);
    }
    split.push_back(extent);
    spread.push_back(extent);
    std::optional<int64_t> product =
        repeat == 1 ? std::optional(extent) : llvm::checkedMul(extent, repeat);
    if (!product)
      return node.error() << "repeats " << src.type() << " too often";
    joined.push_back(*product);
  }
  FailureOr<Tensor> result = node.reshape(src, split);
  if (succeeded(result))
    result = node.broadcast(*result, spread);
  if (succeeded(result))
    result = node.reshape(*result, joined);
  if (failed(result))
    return failure();
  node.setResult(0, *result);
  return success();
}
