// Ops that compare or add up the elements along an axis: ArgMax, Hardmax, TopK, CumSum.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/Extents.h"
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

static FailureOr<Tensor> argExtreme(NodeImport &node, const Tensor &src, int64_t axis,
                                    bool keepDims, bool least, bool last) {
  FailureOr<RankedTensorType> type =
      cnn::ReduceOp::inferType(node.getLoc(), src.type(), {axis}, keepDims);
  FailureOr<Value> value = node.toValue(src);
  if (failed(type) || failed(value))
    return failure();
  auto i64 = IntegerType::get(node.getContext(), 64);
  return node.create<cnn::ArgExtremeOp>(RankedTensorType::get(type->getShape(), i64), *value, axis,
                                        keepDims, least, last, StringAttr());
}

LogicalResult convoy::onnx::importArgExtreme(NodeImport &node) {
  const Tensor &src = node.input(0);
  FailureOr<int64_t> axis = node.normalizeAxis(node.intAttr("axis", 0), src.rank());
  bool keepDims = node.intAttr("keepdims", 1) != 0;
  bool last = node.opset() >= 12 && node.intAttr("select_last_index", 0) != 0;
  if (failed(axis))
    return failure();
  return setResult(node, 0,
                   argExtreme(node, src, *axis, keepDims, node.opType() == "ArgMin", last));
}

// One at the first largest element along an axis, zero elsewhere.
static FailureOr<Tensor> hardmax(NodeImport &node, const Tensor &src, int64_t axis) {
  if (src.shape()[axis] == 0)
    return src; // nothing, so nothing is the largest
  FailureOr<Tensor> place = argExtreme(node, src, axis, /*keepDims=*/true, false, false);
  if (failed(place))
    return failure();
  FailureOr<Tensor> positions = node.positions(src.shape()[axis], axis, src.rank());
  if (failed(positions))
    return failure();
  return createMap(node, {*place, *positions}, src.elementType(),
                   [&](ScalarBuilder &s, ArrayRef<Value> x) {
                     ScalarBuilder own(node.getBuilder(), node.getLoc(), src.elementType());
                     return s.select(s.equal(x[0], x[1]), own.number(1), own.number(0));
                   });
}

LogicalResult convoy::onnx::importHardmax(NodeImport &node) {
  const Tensor &src = node.input(0);
  if (node.opset() >= 13) {
    FailureOr<int64_t> axis = node.normalizeAxis(node.intAttr("axis", -1), src.rank());
    return failed(axis) ? failure() : setResult(node, 0, hardmax(node, src, *axis));
  }
  // All dimensions from the axis on are one.
  FailureOr<int64_t> axis = node.normalizeAxis(node.intAttr("axis", 1), src.rank());
  if (failed(axis))
    return failure();
  if (ShapedType::isDynamicShape(src.shape().drop_front(*axis)))
    return node.error() << "works along the free batch; fix it with --shape";
  SmallVector<int64_t> shape(src.shape().take_front(*axis));
  shape.push_back(ShapedType::getNumElements(src.shape().drop_front(*axis)));
  FailureOr<Tensor> result = node.reshape(src, shape);
  if (succeeded(result))
    result = hardmax(node, *result, *axis);
  if (succeeded(result))
    result = node.reshape(*result, src.shape());
  return setResult(node, 0, result);
}

// The least of a count, a known number and another count, if there is one; not below 0.
static FailureOr<Value> smallest(NodeImport &node, Value count, int64_t most, Value other) {
  SmallVector<Tensor> inputs{Tensor(count)};
  if (other)
    inputs.push_back(Tensor(other));
  FailureOr<Tensor> result =
      createMap(node, inputs, IntegerType::get(node.getContext(), 64),
                [&](ScalarBuilder &s, ArrayRef<Value> x) {
                  Value least = s.min(x[0], s.integer(most));
                  if (x.size() > 1)
                    least = s.min(least, x[1]);
                  return s.max(least, s.integer(0));
                });
  return valueOf(node, result);
}

// With `count` the number of results is not known: k is the most there can be.
static LogicalResult topK(NodeImport &node, int64_t k, bool largest, Value count = {}) {
  Tensor src = node.input(0);
  FailureOr<int64_t> axis = node.normalizeAxis(node.intAttr("axis", -1), src.rank());
  if (failed(axis))
    return failure();
  SmallVector<int64_t> shape(src.shape());
  if (ShapedType::isDynamic(shape[*axis]))
    return node.error() << "orders along the free batch; fix it with --shape";
  if (k < 0 || k > shape[*axis])
    return node.error() << "picks " << k << " of " << shape[*axis] << " elements";
  shape[*axis] = k;
  if (src.extent && src.extent->dim == *axis) {
    // What is not there comes last; there is no more than there is.
    FailureOr<Tensor> filled =
        fillBeyondCount(node, src, extremeOf(src.elementType(), /*greatest=*/!largest));
    FailureOr<Value> most = smallest(node, src.extent->count, k, count);
    if (failed(filled) || failed(most))
      return failure();
    src = *filled;
    count = *most;
  } else if (src.extent) {
    return node.unsupported() << "of a tensor with another dimension whose extent only a run tells";
  } else if (count) {
    FailureOr<Value> most = smallest(node, count, k, {});
    if (failed(most))
      return failure();
    count = *most;
  }
  std::optional<Extent> extent;
  if (count)
    extent = Extent{*axis, count};
  FailureOr<Value> value = node.toValue(src);
  if (failed(value))
    return failure();
  auto i64 = IntegerType::get(node.getContext(), 64);
  FailureOr<Tensor> places = node.create<cnn::TopKOp>(RankedTensorType::get(shape, i64), *value,
                                                      *axis, !largest, StringAttr());
  if (failed(places))
    return failure();
  node.setResult(1, *places);
  node.setExtent(1, extent);
  if (!node.hasOutput(0))
    return success();
  if (failed(setResult(node, 0, gatherElements(node, src, *places, shape, *axis))))
    return failure();
  node.setExtent(0, extent);
  return success();
}

LogicalResult convoy::onnx::importTopKAttr(NodeImport &node) {
  if (!node.hasAttr("k"))
    return node.error() << "lacks attribute 'k'";
  return topK(node, node.intAttr("k", 0), /*largest=*/true);
}

LogicalResult convoy::onnx::importTopK(NodeImport &node) {
  bool largest = node.opset() < 11 || node.intAttr("largest", 1) != 0;
  node.ignoreAttr("sorted"); // sorted is one of the orders that are allowed without it
  const Tensor &given = node.input(1);
  if (!node.toHost(given)) {
    if (!given.type().hasStaticShape() || given.type().getNumElements() != 1 ||
        !given.elementType().isSignlessInteger(64))
      return node.error() << "needs one i64 as k, got " << given.type();
    FailureOr<int64_t> axis =
        node.normalizeAxis(node.intAttr("axis", -1), node.input(0).rank());
    FailureOr<Tensor> count = node.reshape(given, {});
    FailureOr<Value> value = valueOf(node, count);
    if (failed(axis) || failed(value))
      return failure();
    return topK(node, node.input(0).shape()[*axis], largest, *value);
  }
  FailureOr<SmallVector<int64_t>> k = node.constantInts(1, "k");
  if (failed(k))
    return failure();
  if (k->size() != 1)
    return node.error() << "needs one number k, got " << node.input(1).type();
  return topK(node, (*k)[0], largest);
}

LogicalResult convoy::onnx::importCumSum(NodeImport &node) {
  const Tensor &src = node.input(0);
  bool exclusive = node.intAttr("exclusive", 0) != 0, reverse = node.intAttr("reverse", 0) != 0;
  FailureOr<SmallVector<int64_t>> given = node.constantInts(1, "axis");
  if (failed(given))
    return failure();
  if (given->size() != 1)
    return node.error() << "needs one axis, got " << node.input(1).type();
  FailureOr<int64_t> axis = node.normalizeAxis((*given)[0], src.rank());
  FailureOr<Value> value = node.toValue(src);
  if (failed(axis) || failed(value))
    return failure();
  return setResult(node, 0,
                   node.create<cnn::CumulativeSumOp>(
                       RankedTensorType::get(src.shape(), src.elementType()), *value, *axis,
                       exclusive, reverse, StringAttr()));
}
