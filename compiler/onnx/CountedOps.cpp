// Ops whose results have an extent that the data decide: NonZero, Compress, Unique,
// NonMaxSuppression.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/Extents.h"
#include "compiler/onnx/Ops.h"
#include "compiler/onnx/ScalarBuilder.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;

static LogicalResult setCounted(NodeImport &node, unsigned index, FailureOr<Tensor> result,
                                int64_t dim, Value count) {
  if (failed(result))
    return failure();
  result->extent = Extent{dim, count};
  node.setResult(index, *result);
  return success();
}

static Type i64Type(NodeImport &node) { return IntegerType::get(node.getContext(), 64); }
static Type boolType(NodeImport &node) { return IntegerType::get(node.getContext(), 1); }

static FailureOr<Tensor> gather(NodeImport &node, const Tensor &src, const Tensor &indices,
                                int64_t axis) {
  FailureOr<RankedTensorType> type =
      cnn::GatherOp::inferType(node.getLoc(), src.type(), indices.type(), axis);
  FailureOr<Value> srcValue = node.toValue(src), indexValue = node.toValue(indices);
  if (failed(type) || failed(srcValue) || failed(indexValue))
    return failure();
  return node.create<cnn::GatherOp>(*type, *srcValue, *indexValue, axis, StringAttr());
}

namespace {

/// The places of the true elements of a mask and their number.
struct Places {
  Tensor positions;
  Value count;
};

} // namespace

static FailureOr<Places> findTrue(NodeImport &node, const Tensor &mask) {
  FailureOr<Value> value = node.toValue(mask);
  FailureOr<Value> count = countTrue(node, mask);
  if (failed(value) || failed(count))
    return failure();
  FailureOr<Tensor> positions = node.create<cnn::TruePositionsOp>(
      RankedTensorType::get(mask.shape(), i64Type(node)), *value, StringAttr());
  if (failed(positions))
    return failure();
  return Places{*positions, *count};
}

//===----------------------------------------------------------------------===//
// NonZero and Compress
//===----------------------------------------------------------------------===//

// Whether each element of a tensor of any type is not zero.
static FailureOr<Tensor> isNonZero(NodeImport &node, const Tensor &src) {
  return createMap(node, {src}, boolType(node), [&](ScalarBuilder &s, ArrayRef<Value> x) {
    ScalarBuilder bools(node.getBuilder(), node.getLoc(), boolType(node));
    return s.select(s.equal(x[0], s.number(0)), bools.integer(0), bools.integer(1));
  });
}

static HostTensor zeroOf(Type elementType) {
  HostTensor zero{RankedTensorType::get({}, elementType), {}, {}};
  if (isa<FloatType>(elementType))
    zero.floats.push_back({0, 0});
  else
    zero.ints.push_back({0, 0});
  return zero;
}

// The positions of true elements that are known; nothing if they are not.
static std::optional<SmallVector<int64_t>> knownPlaces(NodeImport &node, const Tensor &mask) {
  std::optional<HostTensor> host = node.toHost(mask);
  if (!host || !host->isConstant())
    return std::nullopt;
  SmallVector<int64_t> places;
  for (int64_t i = 0; i < host->size(); ++i)
    if (host->isFloat() ? host->floats[i].constant != 0 : host->ints[i].constant != 0)
      places.push_back(i);
  return places;
}

static Tensor vectorOf(NodeImport &node, ArrayRef<int64_t> values) {
  SmallVector<LinearInt> elements;
  for (int64_t value : values)
    elements.push_back({0, value});
  return Tensor(HostTensor::ofInts(node.getContext(), elements));
}

LogicalResult convoy::onnx::importNonZero(NodeImport &node) {
  Tensor src = node.input(0);
  if (!src.type().hasStaticShape())
    return node.error() << "counts along the free batch; fix it with --shape";
  int64_t rank = src.rank(), size = src.type().getNumElements();
  SmallVector<int64_t> strides(rank, 1);
  for (int64_t i = rank; i-- > 1;)
    strides[i - 1] = strides[i] * src.shape()[i];
  if (std::optional<SmallVector<int64_t>> places = knownPlaces(node, src)) {
    SmallVector<int64_t> coordinates;
    for (int64_t dim = 0; dim < rank; ++dim)
      for (int64_t place : *places)
        coordinates.push_back(place / strides[dim] % src.shape()[dim]);
    FailureOr<Tensor> result = node.reshape(vectorOf(node, coordinates),
                                            {rank, static_cast<int64_t>(places->size())});
    if (failed(result))
      return failure();
    node.setResult(0, *result);
    return success();
  }
  if (src.extent) {
    FailureOr<Tensor> filled = fillBeyondCount(node, src, zeroOf(src.elementType()));
    if (failed(filled))
      return failure();
    src = *filled;
  }
  FailureOr<Tensor> mask = isNonZero(node, src);
  if (succeeded(mask))
    mask = node.reshape(*mask, {size});
  if (failed(mask))
    return failure();
  FailureOr<Places> places = findTrue(node, *mask);
  if (failed(places))
    return failure();
  if (rank <= 1) {
    FailureOr<Tensor> result = rank == 1 ? node.reshape(places->positions, {1, size})
                                         : node.slice(places->positions, {0}, {1}, {0});
    if (succeeded(result) && rank == 0)
      result = node.reshape(*result, {0, 0});
    return setCounted(node, 0, result, 1, places->count);
  }
  // Linear positions as coordinates.
  FailureOr<Tensor> row = node.reshape(places->positions, {1, size});
  FailureOr<Tensor> stride = node.reshape(vectorOf(node, strides), {rank, 1});
  FailureOr<Tensor> extent = node.reshape(vectorOf(node, src.shape()), {rank, 1});
  if (failed(row) || failed(stride) || failed(extent))
    return failure();
  return setCounted(node, 0,
                    createMap(node, {*row, *stride, *extent}, i64Type(node),
                              [](ScalarBuilder &s, ArrayRef<Value> x) {
                                return s.mod(s.div(x[0], x[1]), x[2], /*truncated=*/true);
                              }),
                    1, places->count);
}

LogicalResult convoy::onnx::importCompress(NodeImport &node) {
  Tensor src = node.input(0), condition = node.input(1);
  if (condition.rank() != 1 || !condition.type().hasStaticShape() ||
      !condition.elementType().isInteger(1))
    return node.error() << "needs a vector of bools, got " << condition.type();
  if (src.extent)
    return node.unsupported() << "input 0 has an extent that only a run tells";
  int64_t axis = 0;
  if (node.hasAttr("axis")) {
    FailureOr<int64_t> normalized = node.normalizeAxis(node.intAttr("axis", 0), src.rank());
    if (failed(normalized))
      return failure();
    axis = *normalized;
  } else {
    if (!src.type().hasStaticShape())
      return node.error() << "joins the free batch with other dimensions; fix it with --shape";
    FailureOr<Tensor> flat = node.reshape(src, {src.type().getNumElements()});
    if (failed(flat))
      return failure();
    src = *flat;
  }
  if (src.type().isDynamicDim(axis))
    return node.error() << "picks along the free batch; fix it with --shape";
  if (condition.shape()[0] > src.shape()[axis])
    return node.error() << "has " << condition.shape()[0] << " conditions for the extent "
                        << src.shape()[axis];
  if (std::optional<SmallVector<int64_t>> places =
          condition.extent ? std::nullopt : knownPlaces(node, condition)) {
    FailureOr<Tensor> result = gather(node, src, vectorOf(node, *places), axis);
    if (failed(result))
      return failure();
    node.setResult(0, *result);
    return success();
  }
  if (condition.extent) {
    FailureOr<Tensor> filled = fillBeyondCount(node, condition, zeroOf(boolType(node)));
    if (failed(filled))
      return failure();
    condition = *filled;
  }
  FailureOr<Places> places = findTrue(node, condition);
  if (failed(places))
    return failure();
  return setCounted(node, 0, gather(node, src, places->positions, axis), axis, places->count);
}

//===----------------------------------------------------------------------===//
// Concat and Slice along a counted dimension
//===----------------------------------------------------------------------===//

// How many elements a dimension has, as a scalar.
static Tensor countOf(NodeImport &node, const Tensor &tensor, int64_t dim) {
  if (tensor.extent && tensor.extent->dim == dim)
    return Tensor(tensor.extent->count);
  return Tensor(
      HostTensor::ofInts(node.getContext(), LinearInt{0, tensor.shape()[dim]}).reshaped({}));
}

FailureOr<Tensor> convoy::onnx::concatCounted(NodeImport &node, ArrayRef<Tensor> tensors,
                                              int64_t axis) {
  // The bounded parts, one after another, and of these what counts.
  FailureOr<Tensor> whole = node.concat(tensors, axis);
  if (failed(whole))
    return failure();
  SmallVector<Tensor> masks;
  for (const Tensor &tensor : tensors) {
    if (tensor.extent && tensor.extent->dim != axis)
      return node.unsupported() << "inputs with counts along different dimensions";
    FailureOr<Tensor> places = node.positions(tensor.shape()[axis], 0, 1);
    if (failed(places))
      return failure();
    FailureOr<Tensor> mask = createMap(
        node, {*places, countOf(node, tensor, axis)}, boolType(node),
        [](ScalarBuilder &s, ArrayRef<Value> x) { return s.less(x[0], x[1]); });
    if (failed(mask))
      return failure();
    masks.push_back(*mask);
  }
  FailureOr<Tensor> mask = node.concat(masks, 0);
  if (failed(mask))
    return failure();
  FailureOr<Places> places = findTrue(node, *mask);
  if (failed(places))
    return failure();
  FailureOr<Tensor> result = gather(node, *whole, places->positions, axis);
  if (succeeded(result))
    result->extent = Extent{axis, places->count};
  return result;
}

FailureOr<Tensor> convoy::onnx::sliceCounted(NodeImport &node, const Tensor &src, int64_t axis,
                                             const Tensor &start, const Tensor &end,
                                             int64_t step) {
  if (src.type().isDynamicDim(axis))
    return node.error() << "cuts the free batch; fix it with --shape";
  if (src.extent && src.extent->dim != axis)
    return node.unsupported() << "along two dimensions whose extents only a run tells";
  std::optional<HostTensor> from = node.toHost(start), to = node.toHost(end);
  bool isKnown = from && to && from->isConstant() && to->isConstant();
  if (isKnown && from->ints[0].constant == 0 && to->ints[0].constant >= src.shape()[axis] &&
      step == 1)
    return src;
  Type i64 = i64Type(node);
  // No step is longer than the extent; the least number has no negative.
  step = std::clamp<int64_t>(step, -(src.shape()[axis] + 1), src.shape()[axis] + 1);
  // Numpy's clamps, as importSlice has them: place 0 is the first element, then their number.
  auto bounds = [&](ScalarBuilder &s, ArrayRef<Value> x) -> std::pair<Value, Value> {
    Value from = x[0], to = x[1], count = x[2], zero = s.integer(0), one = s.integer(1);
    from = s.select(s.less(from, zero), s.add(from, count), from);
    to = s.select(s.less(to, zero), s.add(to, count), to);
    Value size;
    if (step > 0) {
      from = s.min(s.max(from, zero), count);
      to = s.min(s.max(to, zero), count);
      size = s.add(s.sub(to, from), s.integer(step - 1));
    } else {
      Value last = s.sub(count, one);
      from = s.max(s.min(from, last), zero);
      to = s.max(s.min(to, last), s.integer(-1));
      size = s.add(s.sub(from, to), s.integer(-step - 1));
    }
    size = s.div(s.max(size, zero), s.integer(std::abs(step)));
    return {from, s.min(size, count)};
  };
  SmallVector<Tensor> inputs{start, end, countOf(node, src, axis)};
  FailureOr<Tensor> first = createMap(
      node, inputs, i64, [&](ScalarBuilder &s, ArrayRef<Value> x) {
        ScalarBuilder wide(node.getBuilder(), node.getLoc(), i64);
        return bounds(wide, {s.cast(x[0], i64), s.cast(x[1], i64), x[2]}).first;
      });
  FailureOr<Tensor> size = createMap(
      node, inputs, i64, [&](ScalarBuilder &s, ArrayRef<Value> x) {
        ScalarBuilder wide(node.getBuilder(), node.getLoc(), i64);
        return bounds(wide, {s.cast(x[0], i64), s.cast(x[1], i64), x[2]}).second;
      });
  if (failed(first) || failed(size))
    return failure();
  // The most that there can be: less than all if both ends are known and count from the front.
  int64_t extent = src.shape()[axis], most = llvm::divideCeil(extent, std::abs(step));
  if (isKnown && step > 0) {
    int64_t a = from->ints[0].constant, b = to->ints[0].constant;
    if (a >= 0 && b >= 0) {
      b = std::min(b, extent);
      most = b <= a ? 0 : llvm::divideCeil(b - a, step);
    }
  }
  FailureOr<Tensor> places = node.positions(most, 0, 1);
  if (failed(places))
    return failure();
  FailureOr<Tensor> indices = createMap(
      node, {*places, *first}, i64, [&](ScalarBuilder &s, ArrayRef<Value> x) {
        // What is beyond the count may be beyond the tensor: gather clamps it, but a negative
        // number would count from the end.
        return s.max(s.add(s.mul(x[0], s.integer(step)), x[1]), s.integer(0));
      });
  FailureOr<Value> count = valueOf(node, size);
  if (failed(indices) || failed(count))
    return failure();
  FailureOr<Tensor> result = gather(node, src, *indices, axis);
  if (succeeded(result))
    result->extent = Extent{axis, *count};
  return result;
}

//===----------------------------------------------------------------------===//
// Unique
//===----------------------------------------------------------------------===//

// All vectors below have one extent; `rank` is a place in the sorted order, `group` the number of a
// unique value in it.
LogicalResult convoy::onnx::importUnique(NodeImport &node) {
  Tensor src = node.input(0);
  bool sorted = node.intAttr("sorted", 1) != 0;
  if (node.hasAttr("axis")) {
    FailureOr<int64_t> axis = node.normalizeAxis(node.intAttr("axis", 0), src.rank());
    if (failed(axis))
      return failure();
    if (src.rank() != 1)
      return node.unsupported() << "attribute 'axis' of a tensor of rank " << src.rank();
  }
  if (!src.type().hasStaticShape())
    return node.error() << "counts along the free batch; fix it with --shape";
  int64_t size = src.type().getNumElements();
  FailureOr<Tensor> flat = node.reshape(src, {size});
  FailureOr<Value> value = valueOf(node, flat);
  if (failed(value))
    return failure();
  Type i64 = i64Type(node);
  auto vector = RankedTensorType::get({size}, i64);
  ScalarBuilder integers(node.getBuilder(), node.getLoc(), i64);

  FailureOr<Tensor> order = node.create<cnn::TopKOp>(vector, *value, 0, /*least=*/true,
                                                     StringAttr());
  FailureOr<Tensor> places = node.positions(size, 0, 1);
  if (failed(order) || failed(places))
    return failure();
  FailureOr<Tensor> ordered = gather(node, *flat, *order, 0);
  FailureOr<Tensor> before = createMap(
      node, {*places}, i64,
      [&](ScalarBuilder &s, ArrayRef<Value> x) { return s.max(s.sub(x[0], s.integer(1)), s.integer(0)); });
  if (failed(ordered) || failed(before))
    return failure();
  FailureOr<Tensor> previous = gather(node, *ordered, *before, 0);
  if (failed(previous))
    return failure();
  // Two NaNs are one value.
  FailureOr<Tensor> starts =
      createMap(node, {*ordered, *previous, *places}, boolType(node),
                [&](ScalarBuilder &s, ArrayRef<Value> x) {
                  Value same = s.equal(x[0], x[1]);
                  if (s.isFloat()) {
                    Value a = s.equal(x[0], x[0]), b = s.equal(x[1], x[1]);
                    ScalarBuilder bools(node.getBuilder(), node.getLoc(), boolType(node));
                    Value bothNan = s.select(s.make<arith::OrIOp>(a, b), bools.integer(0),
                                             bools.integer(1));
                    same = s.make<arith::OrIOp>(same, bothNan);
                  }
                  ScalarBuilder bools(node.getBuilder(), node.getLoc(), boolType(node));
                  Value isFirst = integers.equal(x[2], integers.integer(0));
                  return s.select(isFirst, bools.integer(1),
                                  s.select(same, bools.integer(0), bools.integer(1)));
                });
  if (failed(starts))
    return failure();
  FailureOr<Places> groups = findTrue(node, *starts); // of each group its first rank
  FailureOr<Tensor> ones = createMap(
      node, {*starts}, i64,
      [&](ScalarBuilder &s, ArrayRef<Value> x) { return s.cast(x[0], i64); });
  FailureOr<Value> onesValue = valueOf(node, ones);
  if (failed(groups) || failed(onesValue))
    return failure();
  FailureOr<Tensor> sums =
      node.create<cnn::CumulativeSumOp>(vector, *onesValue, 0, false, false, StringAttr());
  if (failed(sums))
    return failure();
  // The number of elements of each group: to the start of the next one.
  FailureOr<Tensor> ends = createMap(
      node, {*places}, i64, [&](ScalarBuilder &s, ArrayRef<Value> x) {
        return s.min(s.add(x[0], s.integer(1)), s.integer(std::max<int64_t>(size - 1, 0)));
      });
  if (failed(ends))
    return failure();
  FailureOr<Tensor> next = gather(node, groups->positions, *ends, 0);
  if (failed(next))
    return failure();
  FailureOr<Tensor> counts = createMap(
      node, {*next, groups->positions, *places, Tensor(groups->count)}, i64,
      [&](ScalarBuilder &s, ArrayRef<Value> x) {
        Value isInside = s.less(s.add(x[2], s.integer(1)), x[3]);
        return s.sub(s.select(isInside, x[0], s.integer(size)), x[1]);
      });
  FailureOr<Tensor> firsts = gather(node, *order, groups->positions, 0); // lower indices first
  FailureOr<Tensor> groupOfRank = createMap(
      node, {*sums}, i64,
      [&](ScalarBuilder &s, ArrayRef<Value> x) { return s.sub(x[0], s.integer(1)); });
  if (failed(counts) || failed(firsts) || failed(groupOfRank))
    return failure();
  auto scatter = [&](const Tensor &to, const Tensor &at, const Tensor &what) -> FailureOr<Tensor> {
    FailureOr<Value> a = node.toValue(to), b = node.toValue(at), c = node.toValue(what);
    if (failed(a) || failed(b) || failed(c))
      return failure();
    return node.create<cnn::ScatterOp>(RankedTensorType::get(to.shape(), to.elementType()), *a, *b,
                                       *c, cnn::ScatterKind::Set, 0, StringAttr());
  };
  FailureOr<Tensor> inverse = scatter(*places, *order, *groupOfRank);
  if (failed(inverse))
    return failure();
  FailureOr<Tensor> indices = firsts;
  if (!sorted) {
    // In the order in which they first occur: the ranks of first places among each other.
    FailureOr<Tensor> isFirst = scatter(*starts, *order, *starts);
    if (failed(isFirst))
      return failure();
    FailureOr<Places> occurring = findTrue(node, *isFirst);
    FailureOr<Tensor> firstOnes = createMap(
        node, {*isFirst}, i64,
        [&](ScalarBuilder &s, ArrayRef<Value> x) { return s.cast(x[0], i64); });
    FailureOr<Value> firstValue = valueOf(node, firstOnes);
    if (failed(occurring) || failed(firstValue))
      return failure();
    FailureOr<Tensor> number =
        node.create<cnn::CumulativeSumOp>(vector, *firstValue, 0, /*exclusive=*/true, false,
                                          StringAttr());
    FailureOr<Tensor> groupOfNew = gather(node, *inverse, occurring->positions, 0);
    FailureOr<Tensor> firstOfAll = gather(node, *firsts, *inverse, 0);
    if (failed(number) || failed(groupOfNew) || failed(firstOfAll))
      return failure();
    indices = occurring->positions;
    counts = gather(node, *counts, *groupOfNew, 0);
    inverse = gather(node, *number, *firstOfAll, 0);
    if (failed(counts) || failed(inverse))
      return failure();
  }
  if (node.hasOutput(3) && failed(setCounted(node, 3, counts, 0, groups->count)))
    return failure();
  node.setResult(2, *inverse);
  if (node.hasOutput(1) && failed(setCounted(node, 1, indices, 0, groups->count)))
    return failure();
  return setCounted(node, 0, gather(node, *flat, *indices, 0), 0, groups->count);
}

//===----------------------------------------------------------------------===//
// NonMaxSuppression
//===----------------------------------------------------------------------===//

// A single number as a scalar, or `byDefault` if the input is not given.
static FailureOr<Tensor> scalarInput(NodeImport &node, unsigned index, Type elementType,
                                     HostTensor byDefault) {
  if (!node.hasInput(index))
    return Tensor(std::move(byDefault));
  const Tensor &tensor = node.input(index);
  if (!tensor.type().hasStaticShape() || tensor.type().getNumElements() != 1 ||
      tensor.elementType() != elementType)
    return node.error() << "needs one number of " << elementType << " as input " << index
                        << ", got " << tensor.type();
  return node.reshape(tensor, {});
}

LogicalResult convoy::onnx::importNonMaxSuppression(NodeImport &node) {
  const Tensor &boxes = node.input(0), &scores = node.input(1);
  bool center = node.intAttr("center_point_box", 0) != 0;
  Type f32 = Float32Type::get(node.getContext()), i64 = i64Type(node);
  if (boxes.rank() != 3 || scores.rank() != 3 || boxes.shape()[2] != 4 ||
      boxes.shape()[0] != scores.shape()[0] || boxes.shape()[1] != scores.shape()[2])
    return node.error() << "needs boxes of [N, boxes, 4] and scores of [N, classes, boxes], got "
                        << boxes.type() << " and " << scores.type();
  if (!boxes.type().hasStaticShape())
    return node.error() << "counts boxes along the free batch; fix it with --shape";
  if (boxes.elementType() != f32 || scores.elementType() != f32)
    return node.unsupported() << "elements of " << boxes.elementType();
  bool hasCount = boxes.extent || scores.extent;
  if (hasCount && !(boxes.extent && scores.extent && boxes.extent->dim == 1 &&
                    scores.extent->dim == 2 && boxes.extent->count == scores.extent->count))
    return node.unsupported() << "boxes and scores do not have one extent, which only a run tells";
  int64_t images = scores.shape()[0], classes = scores.shape()[1], count = scores.shape()[2];

  FailureOr<Tensor> limit = scalarInput(node, 2, i64, zeroOf(i64));
  FailureOr<Tensor> threshold = scalarInput(node, 3, f32, zeroOf(f32));
  if (failed(limit) || failed(threshold))
    return failure();
  int64_t most = count;
  Value limitValue;
  if (std::optional<HostTensor> known = node.toHost(*limit); known && known->isConstant()) {
    most = std::clamp<int64_t>(known->ints[0].constant, 0, count);
  } else {
    FailureOr<Value> value = node.toValue(*limit);
    if (failed(value))
      return failure();
    limitValue = *value;
  }

  // Which boxes may be picked at all.
  Tensor eligible(HostTensor{RankedTensorType::get({1, 1, 1}, boolType(node)), {{0, 1}}, {}});
  if (hasCount || node.hasInput(4)) {
    SmallVector<Tensor> inputs{scores};
    if (node.hasInput(4)) {
      FailureOr<Tensor> least = scalarInput(node, 4, f32, zeroOf(f32));
      if (failed(least))
        return failure();
      inputs.push_back(*least);
    }
    if (hasCount) {
      FailureOr<Tensor> places = node.positions(count, 2, 3);
      if (failed(places))
        return failure();
      inputs.append({*places, Tensor(scores.extent->count)});
    }
    FailureOr<Tensor> mask = createMap(
        node, inputs, boolType(node), [&](ScalarBuilder &s, ArrayRef<Value> x) {
          ScalarBuilder integers(node.getBuilder(), node.getLoc(), i64);
          Value result;
          if (node.hasInput(4))
            result = s.less(x[1], x[0]);
          if (hasCount) {
            Value here = integers.less(x[x.size() - 2], x.back());
            result = result ? Value(s.make<arith::AndIOp>(result, here)) : here;
          }
          return result;
        });
    if (failed(mask))
      return failure();
    eligible = *mask;
  }

  FailureOr<Value> boxValue = node.toValue(boxes), scoreValue = node.toValue(scores),
                   eligibleValue = node.toValue(eligible), thresholdValue = node.toValue(*threshold);
  if (failed(boxValue) || failed(scoreValue) || failed(eligibleValue) || failed(thresholdValue))
    return failure();
  FailureOr<Tensor> kept = node.create<cnn::SuppressOp>(
      RankedTensorType::get({images, classes, most}, i64), *boxValue, *scoreValue, *eligibleValue,
      *thresholdValue, limitValue, center, StringAttr());
  int64_t size = images * classes * most;
  if (succeeded(kept))
    kept = node.reshape(*kept, {size});
  if (failed(kept))
    return failure();

  // The places in use, one after another, as image, class and box.
  FailureOr<Tensor> mask =
      createMap(node, {*kept}, boolType(node), [&](ScalarBuilder &s, ArrayRef<Value> x) {
        return s.lessOrEqual(s.integer(0), x[0]);
      });
  if (failed(mask))
    return failure();
  FailureOr<Places> places = findTrue(node, *mask);
  if (failed(places))
    return failure();
  auto coordinate = [&](int64_t divisor, int64_t extent) {
    return createMap(node, {places->positions}, i64, [&](ScalarBuilder &s, ArrayRef<Value> x) {
      Value quotient = s.div(x[0], s.integer(std::max<int64_t>(divisor, 1)));
      return s.mod(quotient, s.integer(std::max<int64_t>(extent, 1)), /*truncated=*/true);
    });
  };
  SmallVector<Tensor> columns;
  for (FailureOr<Tensor> column : {coordinate(classes * most, images), coordinate(most, classes),
                                   gather(node, *kept, places->positions, 0)}) {
    if (succeeded(column))
      column = node.reshape(*column, {size, 1});
    if (failed(column))
      return failure();
    columns.push_back(*column);
  }
  return setCounted(node, 0, node.concat(columns, 1), 0, places->count);
}
