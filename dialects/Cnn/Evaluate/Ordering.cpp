// Ops that compare or add up the elements along one axis and tell something of each place.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Cnn/Evaluate/Ops.h"

#include <numeric>

using namespace mlir;
using namespace convoy::cnn;

namespace {

/// The elements along an axis of a tensor: those at start + i * stride.
struct Rows {
  int64_t extent, stride, outer = 1;

  Rows(ArrayRef<int64_t> shape, int64_t axis) : extent(shape[axis]), stride(1) {
    for (int64_t size : shape.drop_front(axis + 1))
      stride *= size;
    for (int64_t size : shape.take_front(axis))
      outer *= size;
  }
  int64_t count() const { return outer * stride; }
  int64_t start(int64_t row) const { return row / stride * extent * stride + row % stride; }
};

} // namespace

template <typename T> static bool isNaN(T value) { return value != value; }

// Whether `a` is larger than `b`, a NaN than any number; with `least` whether it is smaller.
template <typename T>
static bool isAhead(T a, T b, bool least) {
  if (least)
    return a < b || (isNaN(b) && !isNaN(a));
  return a > b || (isNaN(a) && !isNaN(b));
}

LogicalResult convoy::cnn::compute(ArgExtremeOp op, ArrayRef<Tensor> operands, Tensor &dst) {
  const Tensor &src = operands[0];
  Rows rows(src.shape(), op.getAxis());
  auto *result = reinterpret_cast<int64_t *>(dst.mutableData());
  dispatch(src.elementType(), [&](auto *type) {
    using T = std::remove_pointer_t<decltype(type)>;
    Decoded<T> elements(src);
    for (int64_t row = 0; row < rows.count(); ++row) {
      const T *first = elements.data() + rows.start(row);
      int64_t best = 0;
      for (int64_t i = 1; i < rows.extent; ++i) {
        T a = first[i * rows.stride], b = first[best * rows.stride];
        // A NaN is ahead of numbers both ways.
        bool ahead = isNaN(a) || isNaN(b) ? isNaN(a) && !isNaN(b) : op.getLeast() ? a < b : a > b;
        bool equal = a == b || (isNaN(a) && isNaN(b));
        if (ahead || (equal && op.getLast()))
          best = i;
      }
      result[row] = best;
    }
  });
  return success();
}

LogicalResult convoy::cnn::compute(TopKOp op, ArrayRef<Tensor> operands, Tensor &dst) {
  const Tensor &src = operands[0];
  Rows rows(src.shape(), op.getAxis()), places(dst.shape(), op.getAxis());
  auto *result = reinterpret_cast<int64_t *>(dst.mutableData());
  dispatch(src.elementType(), [&](auto *type) {
    using T = std::remove_pointer_t<decltype(type)>;
    Decoded<T> elements(src);
    std::vector<int64_t> order(rows.extent);
    for (int64_t row = 0; row < rows.count(); ++row) {
      const T *first = elements.data() + rows.start(row);
      std::iota(order.begin(), order.end(), 0);
      llvm::sort(order, [&](int64_t a, int64_t b) {
        T x = first[a * rows.stride], y = first[b * rows.stride];
        bool ahead = isAhead(x, y, op.getLeast()), behind = isAhead(y, x, op.getLeast());
        return ahead != behind ? ahead : a < b;
      });
      for (int64_t i = 0; i < places.extent; ++i)
        result[places.start(row) + i * places.stride] = order[i];
    }
  });
  return success();
}

LogicalResult convoy::cnn::compute(CumulativeSumOp op, ArrayRef<Tensor> operands, Tensor &dst) {
  const Tensor &src = operands[0];
  Rows rows(src.shape(), op.getAxis());
  std::vector<Lane> lanes(dst.numElements());
  dispatch(src.elementType(), [&](auto *type) {
    using T = std::remove_pointer_t<decltype(type)>;
    Decoded<T> elements(src);
    Sum<T> *result = sums<T>(lanes);
    for (int64_t row = 0; row < rows.count(); ++row) {
      Sum<T> sum = 0;
      for (int64_t i = 0; i < rows.extent; ++i) {
        int64_t at = rows.start(row) +
                     (op.getReverse() ? rows.extent - 1 - i : i) * rows.stride;
        Sum<T> next = sum + elements.data()[at];
        result[at] = op.getExclusive() ? sum : next;
        sum = next;
      }
    }
  });
  Codec codec = *Codec::of(src.elementType());
  codec.encode(lanes.data(), dst.numElements(), dst.mutableData());
  return success();
}
