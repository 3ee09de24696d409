// Ops that pick or place elements by indices: GatherElements, GatherND, Scatter and its kin, OneHot,
// MaxUnpool.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/Ops.h"
#include "compiler/onnx/ScalarBuilder.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;

static LogicalResult setResult(NodeImport &node, unsigned index, FailureOr<Tensor> result) {
  if (failed(result))
    return failure();
  node.setResult(index, *result);
  return success();
}

FailureOr<Tensor> convoy::onnx::gatherElements(NodeImport &node, const Tensor &src,
                                               const Tensor &indices, ArrayRef<int64_t> shape,
                                               int64_t axis) {
  FailureOr<Value> srcValue = node.toValue(src), indexValue = node.toValue(indices);
  if (failed(srcValue) || failed(indexValue))
    return failure();
  return node.create<cnn::GatherElementsOp>(RankedTensorType::get(shape, src.elementType()),
                                            *srcValue, *indexValue, axis, StringAttr());
}

static FailureOr<Tensor> scatter(NodeImport &node, const Tensor &src, const Tensor &indices,
                                 const Tensor &updates, cnn::ScatterKind kind, int64_t axis) {
  FailureOr<Value> srcValue = node.toValue(src), indexValue = node.toValue(indices),
                   updateValue = node.toValue(updates);
  if (failed(srcValue) || failed(indexValue) || failed(updateValue))
    return failure();
  return node.create<cnn::ScatterOp>(RankedTensorType::get(src.shape(), src.elementType()),
                                     *srcValue, *indexValue, *updateValue, kind, axis,
                                     StringAttr());
}

//===----------------------------------------------------------------------===//
// Along one axis
//===----------------------------------------------------------------------===//

LogicalResult convoy::onnx::importGatherElements(NodeImport &node) {
  const Tensor &src = node.input(0), &indices = node.input(1);
  FailureOr<int64_t> axis = node.normalizeAxis(node.intAttr("axis", 0), src.rank());
  if (failed(axis))
    return failure();
  return setResult(node, 0, gatherElements(node, src, indices, indices.shape(), *axis));
}

// What the node's reduction does to an element.
static FailureOr<cnn::ScatterKind> scatterKind(NodeImport &node) {
  std::string name = node.opset() < 16 ? "none" : node.stringAttr("reduction", "none");
  bool hasExtremes = node.opset() >= 18;
  std::optional<cnn::ScatterKind> kind =
      llvm::StringSwitch<std::optional<cnn::ScatterKind>>(name)
          .Case("none", cnn::ScatterKind::Set)
          .Case("add", cnn::ScatterKind::Add)
          .Case("mul", cnn::ScatterKind::Mul)
          .Case("max", hasExtremes ? std::optional(cnn::ScatterKind::Max) : std::nullopt)
          .Case("min", hasExtremes ? std::optional(cnn::ScatterKind::Min) : std::nullopt)
          .Default(std::nullopt);
  if (!kind)
    return node.unsupported() << "attribute 'reduction' is '" << name
                              << "', expected none, add, mul"
                              << (hasExtremes ? ", max or min" : "");
  return *kind;
}

LogicalResult convoy::onnx::checkScatter(NodeImport &node) {
  return failure(failed(scatterKind(node)));
}

LogicalResult convoy::onnx::importScatterElements(NodeImport &node) {
  const Tensor &src = node.input(0), &indices = node.input(1), &updates = node.input(2);
  FailureOr<int64_t> axis = node.normalizeAxis(node.intAttr("axis", 0), src.rank());
  FailureOr<cnn::ScatterKind> kind = scatterKind(node);
  if (failed(axis) || failed(kind))
    return failure();
  if (indices.shape() != updates.shape())
    return node.error() << "has indices of " << indices.type() << " for updates of "
                        << updates.type();
  return setResult(node, 0, scatter(node, src, indices, updates, *kind, *axis));
}

//===----------------------------------------------------------------------===//
// By tuples of indices
//===----------------------------------------------------------------------===//

namespace {

/// What is done with a tuple that lies outside.
enum class Outside { Clamp, Drop };

} // namespace

static int64_t product(ArrayRef<int64_t> extents) {
  int64_t result = 1;
  for (int64_t extent : extents)
    result *= extent;
  return result;
}

// Joins tuples in the last dimension of `indices` to positions in a row-major tensor of `extents`.
// To drop one, its position is made the number of elements.
static FailureOr<Tensor> joinTuples(NodeImport &node, const Tensor &indices,
                                    ArrayRef<int64_t> extents, Outside outside) {
  ArrayRef<int64_t> shape = indices.shape().drop_back();
  SmallVector<int64_t> starts(indices.rank(), 0), steps(indices.rank(), 1),
      one(indices.shape());
  one.back() = 1;
  SmallVector<Tensor> parts;
  for (size_t i = 0; i < extents.size(); ++i) {
    starts.back() = i;
    FailureOr<Tensor> part = node.slice(indices, starts, steps, one);
    if (succeeded(part))
      part = node.reshape(*part, shape);
    if (failed(part))
      return failure();
    parts.push_back(*part);
  }
  // The op itself does the rest with a single index.
  if (parts.size() == 1)
    return parts[0];
  Type i64 = IntegerType::get(node.getContext(), 64);
  return createMap(node, parts, i64, [&](ScalarBuilder &narrow, ArrayRef<Value> elements) {
    ScalarBuilder s(node.getBuilder(), node.getLoc(), i64);
    Value joined = s.integer(0), isInside;
    for (auto [extent, element] : llvm::zip_equal(extents, elements)) {
      Value index = narrow.cast(element, i64), size = s.integer(extent), zero = s.integer(0);
      index = s.select(s.less(index, zero), s.add(index, size), index);
      if (outside == Outside::Clamp) {
        index = s.max(s.min(index, s.integer(extent - 1)), zero);
      } else {
        Value here = s.make<arith::AndIOp>(s.lessOrEqual(zero, index), s.less(index, size));
        isInside = isInside ? s.make<arith::AndIOp>(isInside, here) : here;
      }
      joined = s.add(s.mul(joined, size), index);
    }
    return isInside ? s.select(isInside, joined, s.integer(product(extents))) : joined;
  });
}

// The number of indices in a tuple.
static FailureOr<int64_t> tupleSize(NodeImport &node, const Tensor &src, const Tensor &indices,
                                    int64_t batchDims) {
  if (indices.rank() < 1 || indices.type().isDynamicDim(indices.rank() - 1))
    return node.error() << "needs tuples in the last dimension of the indices, got "
                        << indices.type();
  int64_t size = indices.shape().back();
  if (size < 1 || size > src.rank() - batchDims)
    return node.error() << "has tuples of " << size << " indices for " << src.type()
                        << (batchDims ? " and batch_dims " + std::to_string(batchDims) : "");
  return size;
}

LogicalResult convoy::onnx::importGatherNd(NodeImport &node) {
  const Tensor &src = node.input(0), &indices = node.input(1);
  int64_t batchDims = node.opset() < 12 ? 0 : node.intAttr("batch_dims", 0);
  if (batchDims < 0 || batchDims >= std::min(src.rank(), indices.rank()))
    return node.error() << "attribute 'batch_dims' is " << batchDims << " for " << src.type()
                        << " and " << indices.type();
  FailureOr<int64_t> size = tupleSize(node, src, indices, batchDims);
  if (failed(size))
    return failure();
  ArrayRef<int64_t> batch = src.shape().take_front(batchDims);
  ArrayRef<int64_t> picked = src.shape().slice(batchDims, *size);
  ArrayRef<int64_t> rest = src.shape().drop_front(batchDims + *size);
  ArrayRef<int64_t> tuples = indices.shape().drop_front(batchDims).drop_back();
  if (batch != indices.shape().take_front(batchDims))
    return node.error() << "has other batch dimensions in " << src.type() << " than in "
                        << indices.type();
  if (ShapedType::isDynamicShape(picked))
    return node.error() << "picks along the free batch; fix it with --shape";
  if (ShapedType::isDynamicShape(tuples) && batchDims > 0)
    return node.error() << "moves the free batch from dimension 0; fix it with --shape";

  FailureOr<Tensor> places = joinTuples(node, indices, picked, Outside::Clamp);
  if (failed(places))
    return failure();
  SmallVector<int64_t> flat(batch);
  flat.push_back(product(picked));
  if (batchDims == 0) {
    llvm::append_range(flat, rest);
    FailureOr<Tensor> joined = node.reshape(src, flat);
    if (failed(joined))
      return failure();
    FailureOr<RankedTensorType> type =
        cnn::GatherOp::inferType(node.getLoc(), joined->type(), places->type(), 0);
    FailureOr<Value> from = node.toValue(*joined), at = node.toValue(*places);
    if (failed(type) || failed(from) || failed(at))
      return failure();
    return setResult(node, 0, node.create<cnn::GatherOp>(*type, *from, *at, 0, StringAttr()));
  }
  // [batch, picked, rest] at [batch, tuples, 1].
  flat.push_back(product(rest));
  SmallVector<int64_t> at(batch), shape(batch), dst(batch);
  at.append({product(tuples), 1});
  shape.append({product(tuples), product(rest)});
  llvm::append_range(dst, tuples);
  llvm::append_range(dst, rest);
  FailureOr<Tensor> joined = node.reshape(src, flat);
  if (succeeded(joined) && succeeded(places))
    places = node.reshape(*places, at);
  if (failed(joined) || failed(places))
    return failure();
  FailureOr<Tensor> result = gatherElements(node, *joined, *places, shape, batchDims);
  if (succeeded(result))
    result = node.reshape(*result, dst);
  return setResult(node, 0, result);
}

LogicalResult convoy::onnx::importScatterNd(NodeImport &node) {
  const Tensor &src = node.input(0), &indices = node.input(1), &updates = node.input(2);
  FailureOr<cnn::ScatterKind> kind = scatterKind(node);
  FailureOr<int64_t> size = tupleSize(node, src, indices, 0);
  if (failed(kind) || failed(size))
    return failure();
  ArrayRef<int64_t> picked = src.shape().take_front(*size), rest = src.shape().drop_front(*size);
  ArrayRef<int64_t> tuples = indices.shape().drop_back();
  SmallVector<int64_t> expected(tuples);
  llvm::append_range(expected, rest);
  if (updates.shape() != ArrayRef<int64_t>(expected))
    return node.error() << "has updates of " << updates.type() << ", expected the shape ["
                        << ArrayRef<int64_t>(expected) << "]";
  if (ShapedType::isDynamicShape(src.shape()) || ShapedType::isDynamicShape(tuples))
    return node.error() << "places along the free batch; fix it with --shape";
  // [picked, rest] with updates of [tuples, rest].
  FailureOr<Tensor> places = joinTuples(node, indices, picked, Outside::Drop);
  if (succeeded(places))
    places = node.reshape(*places, {product(tuples), 1});
  FailureOr<Tensor> joined = node.reshape(src, {product(picked), product(rest)});
  FailureOr<Tensor> values = node.reshape(updates, {product(tuples), product(rest)});
  if (failed(places) || failed(joined) || failed(values))
    return failure();
  FailureOr<Tensor> result = scatter(node, *joined, *places, *values, *kind, 0);
  if (succeeded(result))
    result = node.reshape(*result, src.shape());
  return setResult(node, 0, result);
}

//===----------------------------------------------------------------------===//
// OneHot and MaxUnpool
//===----------------------------------------------------------------------===//

// The one number of an input that must be known now; of a float its whole part.
static FailureOr<int64_t> knownNumber(NodeImport &node, unsigned index, StringRef what) {
  FailureOr<HostTensor> host = node.hostInput(index, what);
  if (failed(host))
    return failure();
  if (host->size() != 1 || !host->isConstant())
    return node.error() << what << " must be one number, got " << host->type;
  if (host->isFloat())
    return static_cast<int64_t>(host->floats[0].constant);
  return host->ints[0].constant;
}

LogicalResult convoy::onnx::importOneHot(NodeImport &node) {
  const Tensor &indices = node.input(0), &values = node.input(2);
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.intAttr("axis", -1), indices.rank() + 1);
  FailureOr<int64_t> depth = knownNumber(node, 1, "depth");
  if (failed(axis) || failed(depth))
    return failure();
  if (*depth < 0 || *depth > (int64_t(1) << 31))
    return node.error() << "has the depth " << *depth;
  if (values.shape() != ArrayRef<int64_t>{2})
    return node.error() << "needs values for off and on, got " << values.type();
  SmallVector<int64_t> shape(indices.shape());
  shape.insert(shape.begin() + *axis, 1);
  if (*axis == 0 && ShapedType::isDynamicShape(indices.shape()))
    return node.error() << "moves the free batch from dimension 0; fix it with --shape";
  FailureOr<Tensor> spread = node.reshape(indices, shape);
  FailureOr<Tensor> places = node.positions(*depth, *axis, indices.rank() + 1);
  FailureOr<Tensor> off = node.slice(values, {0}, {1}, {1}), on = node.slice(values, {1}, {1}, {1});
  if (failed(spread) || failed(places) || failed(off) || failed(on))
    return failure();
  Type i64 = IntegerType::get(node.getContext(), 64);
  return setResult(
      node, 0,
      createMap(node, {*spread, *places, *off, *on}, values.elementType(),
                [&](ScalarBuilder &s, ArrayRef<Value> x) {
                  ScalarBuilder integers(node.getBuilder(), node.getLoc(), i64);
                  Value index = s.cast(x[0], i64);
                  Value fromEnd = integers.add(index, integers.integer(*depth));
                  index = s.select(integers.less(index, integers.integer(0)), fromEnd, index);
                  return s.select(integers.equal(index, x[1]), x[3], x[2]);
                }));
}

LogicalResult convoy::onnx::importMaxUnpool(NodeImport &node) {
  const Tensor &src = node.input(0), &indices = node.input(1);
  int64_t spatialRank = src.rank() - 2;
  SmallVector<int64_t> kernel = node.intsAttr("kernel_shape");
  SmallVector<int64_t> strides =
      node.intsAttr("strides", SmallVector<int64_t>(std::max<int64_t>(spatialRank, 0), 1));
  SmallVector<int64_t> pads =
      node.intsAttr("pads", SmallVector<int64_t>(2 * std::max<int64_t>(spatialRank, 0), 0));
  if (spatialRank < 1 || static_cast<int64_t>(kernel.size()) != spatialRank ||
      strides.size() != kernel.size() || pads.size() != 2 * kernel.size())
    return node.error() << "has a kernel_shape [" << kernel << "], strides [" << strides
                        << "] and pads [" << pads << "] for " << src.type();
  if (indices.shape() != src.shape() || !indices.elementType().isSignlessInteger(64))
    return node.error() << "has indices of " << indices.type() << " for " << src.type();
  // The shape that MaxPool read: indices count its elements. A larger one that is asked for adds
  // zeros at the ends.
  SmallVector<int64_t> shape(src.shape());
  constexpr int64_t kLargest = int64_t(1) << 31;
  for (int64_t i = 0; i < spatialRank; ++i) {
    for (int64_t number : {kernel[i], strides[i], pads[i], pads[i + spatialRank], shape[i + 2]})
      if (number < 0 || number > kLargest)
        return node.error() << "has an extent or attribute of " << number;
    shape[i + 2] = (shape[i + 2] - 1) * strides[i] + kernel[i] - pads[i] - pads[i + spatialRank];
    if (shape[i + 2] < 0)
      return node.error() << "makes spatial dimension " << i << " of extent " << shape[i + 2];
  }
  if (failed(node.checkSize(shape)))
    return failure();
  SmallVector<int64_t> wanted(shape);
  if (node.hasInput(2)) {
    FailureOr<HostTensor> host = node.hostInput(2, "output_shape");
    if (failed(host))
      return failure();
    if (host->isFloat() || host->size() != src.rank())
      return node.error() << "has an output_shape of " << host->type << " for " << src.type();
    for (int64_t i = 2; i < src.rank(); ++i) {
      if (host->ints[i].batch != 0 || host->ints[i].constant < 0)
        return node.error() << "has an output_shape that is no extent in dimension " << i;
      wanted[i] = host->ints[i].constant;
    }
  }

  bool isFree = cnn::hasFreeBatch(src.type());
  RankedTensorType image = cnn::perImage(RankedTensorType::get(shape, src.elementType()));
  int64_t size = image.getNumElements(), count = cnn::perImage(src.type()).getNumElements();
  int64_t axis = isFree ? 1 : 0;
  auto flat = [&](int64_t extent) {
    return isFree ? SmallVector<int64_t>{ShapedType::kDynamic, extent}
                  : SmallVector<int64_t>{extent};
  };
  FailureOr<Tensor> values = node.reshape(src, flat(count));
  FailureOr<Tensor> places = node.reshape(indices, flat(count));
  if (failed(values) || failed(places))
    return failure();
  Attribute zero = node.getBuilder().getZeroAttr(src.elementType());
  FailureOr<Tensor> zeros =
      node.splat(RankedTensorType::get(flat(size), src.elementType()),
                 DenseElementsAttr::get(RankedTensorType::get({1}, src.elementType()), zero));
  // Of a free batch each image counts from its own first element.
  if (isFree)
    places = createMap(node, {*places}, indices.elementType(),
                       [&](ScalarBuilder &s, ArrayRef<Value> x) {
                         return s.mod(x[0], s.integer(std::max<int64_t>(size, 1)), false);
                       });
  if (failed(zeros) || failed(places))
    return failure();
  FailureOr<Tensor> result =
      scatter(node, *zeros, *places, *values, cnn::ScatterKind::Set, axis);
  if (succeeded(result))
    result = node.reshape(*result, shape);
  if (failed(result) || wanted == shape)
    return setResult(node, 0, result);
  SmallVector<int64_t> low(src.rank(), 0), high(src.rank(), 0);
  for (int64_t i = 2; i < src.rank(); ++i)
    high[i] = wanted[i] - shape[i];
  FailureOr<Value> value = node.toValue(*result);
  if (failed(value))
    return failure();
  return setResult(node, 0,
                   node.create<cnn::PadOp>(RankedTensorType::get(wanted, src.elementType()),
                                           *value, Value(), low, high, cnn::PadMode::Constant,
                                           StringAttr()));
}
