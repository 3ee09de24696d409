// Verifiers of the ops of CnnIndexOps.td, which numbers their constraints.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Cnn/Cnn.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::cnn;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static LogicalResult expectType(Operation *op, RankedTensorType expected) {
  RankedTensorType actual = typeOf(op->getResult(0));
  if (actual.getShape() == expected.getShape() &&
      actual.getElementType() == expected.getElementType())
    return success();
  return op->emitOpError() << "has result " << actual << ", expected " << expected;
}

static LogicalResult checkAxis(Operation *op, RankedTensorType src, int64_t axis) {
  if (axis < 0 || axis >= src.getRank())
    return op->emitOpError() << "axis " << axis << " is outside rank " << src.getRank();
  if (src.isDynamicDim(axis))
    return op->emitOpError() << "axis " << axis << " is the free batch; fix it with --shape";
  return success();
}

static LogicalResult checkIndices(Operation *op, RankedTensorType indices, RankedTensorType to) {
  if (!indices.getElementType().isSignlessInteger(32) &&
      !indices.getElementType().isSignlessInteger(64))
    return op->emitOpError() << "indices must be i32 or i64, got " << indices.getElementType();
  FailureOr<SmallVector<int64_t>> shape =
      inferBroadcast(op->getLoc(), {to.getShape(), indices.getShape()});
  if (failed(shape))
    return failure();
  if (ArrayRef<int64_t>(*shape) != to.getShape())
    return op->emitOpError() << "indices " << indices << " do not broadcast to " << to;
  return success();
}

// Whether `part` fits into `whole` but along an axis.
static LogicalResult checkFits(Operation *op, StringRef what, RankedTensorType part,
                               RankedTensorType whole, int64_t axis) {
  if (part.getRank() != whole.getRank() || part.getElementType() != whole.getElementType())
    return op->emitOpError() << what << " " << part << " and src " << whole
                             << " differ in rank or element type";
  for (int64_t i = 0; i < whole.getRank(); ++i) {
    bool fits = part.isDynamicDim(i) || whole.isDynamicDim(i)
                    ? part.isDynamicDim(i) == whole.isDynamicDim(i)
                    : part.getDimSize(i) <= whole.getDimSize(i);
    if (i != axis && !fits)
      return op->emitOpError() << what << " " << part << " does not fit into src " << whole
                               << " in dimension " << i;
  }
  if (part.isDynamicDim(axis))
    return op->emitOpError() << "axis " << axis << " is the free batch; fix it with --shape";
  return success();
}

LogicalResult GatherElementsOp::verify() {
  auto src = typeOf(getSrc()), dst = typeOf(getDst());
  int64_t axis = getAxis();
  if (failed(checkAxis(*this, src, axis)) ||               // gather_elements_c1, c4
      failed(checkFits(*this, "result", dst, src, axis)) || // gather_elements_c1, c3
      failed(checkIndices(*this, typeOf(getIndices()), dst))) // gather_elements_c2
    return failure();
  if (src.getDimSize(axis) == 0 && perImage(dst).getNumElements() > 0) // gather_elements_c5
    return emitOpError() << "picks from dimension " << axis << " of " << src
                         << ", which has no elements";
  return success();
}

LogicalResult ScatterOp::verify() {
  auto src = typeOf(getSrc()), updates = typeOf(getUpdates());
  if (failed(checkAxis(*this, src, getAxis())) ||                       // scatter_c1, c5
      failed(checkFits(*this, "updates", updates, src, getAxis())) ||   // scatter_c1, c3, c5
      failed(checkIndices(*this, typeOf(getIndices()), updates)))       // scatter_c2
    return failure();
  return expectType(*this, src); // scatter_c4
}

LogicalResult ArgExtremeOp::verify() {
  auto src = typeOf(getSrc());
  if (failed(checkAxis(*this, src, getAxis()))) // arg_extreme_c1, c3
    return failure();
  FailureOr<RankedTensorType> reduced =
      ReduceOp::inferType(getLoc(), src, {static_cast<int64_t>(getAxis())}, getKeepDims());
  if (failed(reduced))
    return failure();
  auto expected = RankedTensorType::get(reduced->getShape(), IntegerType::get(getContext(), 64));
  if (src.getDimSize(getAxis()) == 0 && perImage(expected).getNumElements() > 0) // arg_extreme_c4
    return emitOpError() << "dimension " << getAxis() << " of " << src << " has no elements";
  return expectType(*this, expected); // arg_extreme_c2
}

LogicalResult TopKOp::verify() {
  auto src = typeOf(getSrc()), dst = typeOf(getDst());
  int64_t axis = getAxis();
  if (failed(checkAxis(*this, src, axis))) // top_k_c1, c3
    return failure();
  SmallVector<int64_t> shape(src.getShape());
  if (dst.getRank() == src.getRank()) {
    shape[axis] = dst.getDimSize(axis);
    if (shape[axis] > src.getDimSize(axis))
      return emitOpError() << "picks " << shape[axis] << " of " << src.getDimSize(axis)
                           << " elements";
  }
  return expectType(*this, // top_k_c2
                    RankedTensorType::get(shape, IntegerType::get(getContext(), 64)));
}

LogicalResult CumulativeSumOp::verify() {
  auto src = typeOf(getSrc());
  if (failed(checkAxis(*this, src, getAxis()))) // cumulative_sum_c1, c3
    return failure();
  return expectType(*this, src); // cumulative_sum_c2
}

static bool isScalar(Value value, Type elementType) {
  auto type = typeOf(value);
  return type.hasStaticShape() && type.getNumElements() == 1 &&
         type.getElementType() == elementType;
}

LogicalResult TruePositionsOp::verify() {
  auto src = typeOf(getSrc());
  if (src.getRank() != 1 || !src.hasStaticShape() || !src.getElementType().isInteger(1))
    return emitOpError() << "needs a vector of i1, got " << src; // true_positions_c1
  return expectType(*this, // true_positions_c2
                    RankedTensorType::get(src.getShape(), IntegerType::get(getContext(), 64)));
}

LogicalResult SuppressOp::verify() {
  auto boxes = typeOf(getBoxes()), order = typeOf(getOrder()), eligible = typeOf(getEligible());
  auto dst = typeOf(getDst());
  Type i64 = IntegerType::get(getContext(), 64), f32 = Float32Type::get(getContext());
  if (boxes.getRank() != 3 || boxes.getDimSize(2) != 4 || boxes.getElementType() != f32)
    return emitOpError() << "needs boxes of [n, boxes, 4] and f32, got " << boxes; // suppress_c1
  if (order.getRank() != 3 || order.getElementType() != f32 ||
      order.getDimSize(0) != boxes.getDimSize(0) || order.getDimSize(2) != boxes.getDimSize(1))
    return emitOpError() << "needs an order of [n, classes, boxes] and f32 for " << boxes
                         << ", got " << order; // suppress_c2
  FailureOr<SmallVector<int64_t>> shape =
      inferBroadcast(getLoc(), {order.getShape(), eligible.getShape()});
  if (failed(shape))
    return failure();
  if (!eligible.getElementType().isInteger(1) || ArrayRef<int64_t>(*shape) != order.getShape())
    return emitOpError() << "eligible, " << eligible << ", must be i1 and broadcast to "
                         << order; // suppress_c3
  if (!isScalar(getThreshold(), f32) || (getLimit() && !isScalar(getLimit(), i64)))
    return emitOpError() << "needs one f32 as threshold and one i64 as limit"; // suppress_c4
  if (dst.getRank() != 3 || dst.getDimSize(2) > order.getDimSize(2))
    return emitOpError() << "has result " << dst << " for an order of " << order; // suppress_c5
  return expectType(*this, // suppress_c5
                    RankedTensorType::get({order.getDimSize(0), order.getDimSize(1),
                                           dst.getDimSize(2)},
                                          i64));
}

LogicalResult PackOp::verify() {
  auto src = typeOf(getSrc());
  if (failed(checkAxis(*this, src, getAxis()))) // pack_c1
    return failure();
  if (!isScalar(getCount(), IntegerType::get(getContext(), 64))) // pack_c2
    return emitOpError() << "needs one i64 as count, got " << typeOf(getCount());
  if (!src.hasStaticShape())
    return emitOpError() << "needs a static shape, got " << src; // pack_c3
  return expectType(*this, src);                                 // pack_c3
}
