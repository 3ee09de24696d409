// Reduction along axes, and elementwise functions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Cnn/Evaluate/Ops.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace convoy::cnn;

// The least and greatest value that elements of a type can have.
template <typename T>
static std::pair<Sum<T>, Sum<T>> bounds(Type type) {
  if constexpr (std::is_floating_point_v<T>) {
    return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  } else {
    unsigned width = type.getIntOrFloatBitWidth();
    if (type.isUnsignedInteger() || width == 1)
      return {0, static_cast<T>(llvm::maskTrailingOnes<uint64_t>(width))};
    return {static_cast<T>(llvm::minIntN(width)), static_cast<T>(llvm::maxIntN(width))};
  }
}

// Folds the elements of src into dst, of which `dims` tells the place of each, with `combine`.
template <typename T, typename Combine>
static void fold(const T *src, int64_t count, ArrayRef<WalkDim> dims, Sum<T> *dst,
                 Combine combine) {
  Walk walk(dims);
  while (count > 0) {
    int64_t length = walk.left();
    Sum<T> *to = dst + walk.offset();
    if (walk.stride() == 0) {
      Sum<T> sum = *to;
      for (int64_t i = 0; i < length; ++i)
        sum = combine(sum, src[i]);
      *to = sum;
    } else {
      for (int64_t i = 0; i < length; ++i)
        to[i] = combine(to[i], src[i]);
    }
    walk.advance(length);
    src += length;
    count -= length;
  }
}

template <typename T>
static void reduce(ReduceOp op, const Tensor &src, Sum<T> *dst, int64_t dstCount) {
  using S = Sum<T>;
  Decoded<T> elements(src);
  SmallVector<int64_t> kept(src.shape());
  for (int64_t axis : op.getAxes())
    kept[axis] = 1;
  SmallVector<WalkDim> dims =
      coalesce(src.shape(), broadcastStrides(kept, src.shape()));
  auto run = [&](S initial, auto combine) {
    std::fill_n(dst, dstCount, initial);
    fold(elements.data(), src.numElements(), dims, dst, combine);
  };
  auto [least, greatest] = bounds<T>(src.elementType());
  switch (op.getKind()) {
  case ReduceKind::Sum:
    return run(0, [](S a, T b) { return a + b; });
  case ReduceKind::Prod:
    return run(1, [](S a, T b) { return a * b; });
  case ReduceKind::Max:
    return run(least, [](S a, T b) { return b > a || b != b ? S(b) : a; });
  case ReduceKind::Min:
    return run(greatest, [](S a, T b) { return b < a || b != b ? S(b) : a; });
  case ReduceKind::Mean:
    break;
  }
  run(0, [](S a, T b) { return a + b; });
  int64_t divisor = 1;
  for (int64_t axis : op.getAxes())
    divisor *= src.shape()[axis];
  for (int64_t i = 0; i < dstCount; ++i) {
    if constexpr (std::is_floating_point_v<T>)
      dst[i] /= divisor;
    else
      dst[i] = divisor == 0 ? 0 : dst[i] / static_cast<S>(divisor);
  }
}

LogicalResult convoy::cnn::compute(ReduceOp op, ArrayRef<Tensor> operands, Tensor &dst) {
  std::vector<Lane> accumulators(dst.numElements());
  dispatch(operands[0].elementType(), [&](auto *type) {
    using T = std::remove_pointer_t<decltype(type)>;
    reduce<T>(op, operands[0], sums<T>(accumulators), dst.numElements());
  });
  return applyEpilogue(op, accumulators, operands.drop_front(), dst);
}

LogicalResult convoy::cnn::compute(MapOp op, ArrayRef<Tensor> operands, Tensor &dst) {
  FailureOr<ScalarProgram> program = ScalarProgram::decode(op);
  if (failed(program))
    return failure();
  program->run(nullptr, operands, dst);
  return success();
}
