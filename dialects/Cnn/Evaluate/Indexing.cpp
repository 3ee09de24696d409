// Ops that pick and place elements by indices.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Cnn/Evaluate/Ops.h"

#include <cmath>
#include <cstring>

using namespace mlir;
using namespace convoy::cnn;

// Visits the elements of `shape` in row-major order. `visit` gets the place in a tensor that the
// strides `first` are of, without what `axis` adds, and in one that `second` are of.
template <typename F>
static void visit(ArrayRef<int64_t> shape, ArrayRef<int64_t> first, ArrayRef<int64_t> second,
                  int64_t axis, F &&visit) {
  int64_t count = 1, a = 0, b = 0;
  for (int64_t extent : shape)
    count *= extent;
  SmallVector<int64_t> index(shape.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    visit(i, a, b);
    for (int64_t dim = shape.size(); dim-- > 0;) {
      int64_t step = dim == axis ? 0 : first[dim];
      a += step;
      b += second[dim];
      if (++index[dim] < shape[dim])
        break;
      a -= step * shape[dim];
      b -= second[dim] * shape[dim];
      index[dim] = 0;
    }
  }
}

LogicalResult convoy::cnn::compute(GatherElementsOp op, ArrayRef<Tensor> operands, Tensor &dst) {
  const Tensor &src = operands[0];
  Decoded<int64_t> indices(operands[1]);
  int64_t axis = op.getAxis(), extent = src.shape()[axis], size = src.elementBytes();
  SmallVector<int64_t> strides = rowMajorStrides(src.shape());
  SmallVector<int64_t> indexStrides = broadcastStrides(operands[1].shape(), dst.shape());
  visit(dst.shape(), strides, indexStrides, axis, [&](int64_t i, int64_t from, int64_t place) {
    int64_t index = indices.data()[place];
    index = std::clamp<int64_t>(index < 0 ? index + extent : index, 0, extent - 1);
    std::memcpy(dst.mutableData() + i * size, src.data() + (from + index * strides[axis]) * size,
                size);
  });
  return success();
}

template <typename S, typename T>
static S combine(ScatterKind kind, S a, T b) {
  switch (kind) {
  case ScatterKind::Set:
    return b;
  case ScatterKind::Add:
    return a + b;
  case ScatterKind::Mul:
    return a * b;
  case ScatterKind::Max:
    return b > a || b != b ? S(b) : a;
  case ScatterKind::Min:
    return b < a || b != b ? S(b) : a;
  }
  return a;
}

LogicalResult convoy::cnn::compute(ScatterOp op, ArrayRef<Tensor> operands, Tensor &dst) {
  const Tensor &src = operands[0], &updates = operands[2];
  Decoded<int64_t> indices(operands[1]);
  std::memcpy(dst.mutableData(), src.data(), src.bytes().size());
  if (updates.numElements() == 0)
    return success();
  int64_t axis = op.getAxis(), extent = src.shape()[axis], size = src.elementBytes();
  SmallVector<int64_t> strides = rowMajorStrides(src.shape());
  SmallVector<int64_t> indexStrides = broadcastStrides(operands[1].shape(), updates.shape());
  Codec codec = *Codec::of(src.elementType());
  bool isBool = src.elementType().isInteger(1);
  dispatch(src.elementType(), [&](auto *type) {
    using T = std::remove_pointer_t<decltype(type)>;
    Decoded<T> values(updates);
    visit(updates.shape(), strides, indexStrides, axis, [&](int64_t i, int64_t to, int64_t place) {
      int64_t index = indices.data()[place];
      index = index < 0 ? index + extent : index;
      if (index < 0 || index >= extent)
        return;
      char *element = dst.mutableData() + (to + index * strides[axis]) * size;
      Lane lane;
      codec.decode(element, 1, &lane);
      if constexpr (std::is_floating_point_v<T>)
        lane.f = combine<double, T>(op.getKind(), lane.f, values.data()[i]);
      else
        lane.i = combine<T, T>(op.getKind(), lane.i, values.data()[i]);
      // A sum of bools is their or, a product their and.
      if (isBool)
        lane.i = lane.i != 0;
      codec.encode(&lane, 1, element);
    });
  });
  return success();
}
