// Pooling.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Cnn/Evaluate/Ops.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace convoy::cnn;

namespace {
// The windows of a pooling op and what they cover of its source.
class Windows {
public:
  template <typename Op>
  Windows(Op op, ArrayRef<int64_t> src, ArrayRef<int64_t> dst)
      : kernel(op.getKernel()), strides(op.getStrides()), pads(op.getPads()),
        dilations(op.getDilations()), src(src.drop_front(2)), dst(dst.drop_front(2)),
        srcStrides(rowMajorStrides(this->src)) {}

  // Calls `visit(window, offset)` with each source element, as an offset in its plane, of each
  // window, and `finish(window, padded)` after each, with the number of elements that the window
  // has inside the source and its padding.
  template <typename Visit, typename Finish>
  void forEach(Visit &&visit, Finish &&finish) const {
    size_t rank = kernel.size();
    int64_t count = 1;
    for (int64_t extent : dst)
      count *= extent;
    SmallVector<int64_t> position(rank, 0), tap(rank), begin(rank), end(rank);
    for (int64_t window = 0; window < count; ++window) {
      int64_t padded = 1;
      bool isEmpty = false;
      for (size_t i = 0; i < rank; ++i) {
        int64_t start = position[i] * strides[i] - pads[i];
        // Taps of the kernel from begin to end lie inside the source.
        begin[i] = start < 0 ? llvm::divideCeil(-start, dilations[i]) : 0;
        end[i] = tapsBelow(src[i] - start, i);
        isEmpty |= begin[i] >= end[i];
        padded *= tapsBelow(src[i] + pads[i + rank] - start, i);
      }
      if (!isEmpty) {
        tap = begin;
        for (bool more = true; more;) {
          int64_t offset = 0;
          for (size_t i = 0; i < rank; ++i)
            offset += (position[i] * strides[i] - pads[i] + tap[i] * dilations[i]) * srcStrides[i];
          for (int64_t t = begin[rank - 1]; t < end[rank - 1]; ++t)
            visit(window, offset + (t - begin[rank - 1]) * dilations[rank - 1]);
          more = false;
          for (size_t i = rank - 1; i-- > 0 && !more;) {
            more = ++tap[i] < end[i];
            if (!more)
              tap[i] = begin[i];
          }
        }
      }
      finish(window, padded);
      for (size_t i = rank; i-- > 0;) {
        if (++position[i] < dst[i])
          break;
        position[i] = 0;
      }
    }
  }

private:
  // Taps of dimension i that are fewer than `distance` from the window's start.
  int64_t tapsBelow(int64_t distance, size_t i) const {
    return distance <= 0 ? 0 : std::min(kernel[i], (distance - 1) / dilations[i] + 1);
  }

  ArrayRef<int64_t> kernel, strides, pads, dilations, src, dst;
  SmallVector<int64_t> srcStrides;
};
} // namespace

// Whether `value` replaces `best` as the maximum: the first NaN stays.
template <typename T>
static bool exceeds(T value, T best) {
  if constexpr (std::is_floating_point_v<T>)
    return value > best || (std::isnan(value) && !std::isnan(best));
  else
    return value > best;
}

static int64_t planeOf(const Tensor &tensor) {
  int64_t size = 1;
  for (int64_t extent : tensor.shape().drop_front(2))
    size *= extent;
  return size;
}

LogicalResult convoy::cnn::compute(PoolOp op, ArrayRef<Tensor> operands, Tensor &dst) {
  const Tensor &src = operands[0];
  std::vector<Lane> accumulators(dst.numElements());
  int64_t planes = src.shape()[0] * src.shape()[1];
  int64_t srcPlane = planeOf(src), dstPlane = planeOf(dst);
  Windows windows(op, src.shape(), dst.shape());
  bool isMax = op.getKind() == PoolKind::Max, countsPadding = op.getCountIncludePad();
  std::optional<Codec> codec = Codec::of(src.elementType());
  dispatch(src.elementType(), [&](auto *type) {
    using T = std::remove_pointer_t<decltype(type)>;
    Decoded<T> elements(src);
    // Below every element of the type.
    T least = std::numeric_limits<T>::lowest();
    if constexpr (std::is_floating_point_v<T>)
      least = -std::numeric_limits<T>::infinity();
    else if (!std::is_unsigned_v<T>)
      least = src.elementType().isUnsignedInteger() || codec->bitWidth() == 1
                  ? 0
                  : llvm::minIntN(codec->bitWidth());
    for (int64_t plane = 0; plane < planes; ++plane) {
      const T *from = elements.data() + plane * srcPlane;
      Sum<T> *to = sums<T>(accumulators) + plane * dstPlane;
      if (isMax) {
        T best = least;
        windows.forEach(
            [&](int64_t, int64_t offset) {
              if (exceeds(from[offset], best))
                best = from[offset];
            },
            [&](int64_t window, int64_t) {
              to[window] = best;
              best = least;
            });
        continue;
      }
      Sum<T> sum = 0;
      int64_t inside = 0;
      windows.forEach(
          [&](int64_t, int64_t offset) {
            sum += from[offset];
            ++inside;
          },
          [&](int64_t window, int64_t padded) {
            int64_t divisor = countsPadding ? padded : inside;
            if constexpr (std::is_floating_point_v<T>)
              to[window] = sum / static_cast<Sum<T>>(divisor);
            else
              to[window] = divisor == 0 ? 0 : sum / static_cast<T>(divisor);
            sum = 0;
            inside = 0;
          });
    }
  });
  return applyEpilogue(op, accumulators, operands.drop_front(), dst);
}

LogicalResult convoy::cnn::compute(PoolArgmaxOp op, ArrayRef<Tensor> operands, Tensor &dst) {
  const Tensor &src = operands[0];
  int64_t planes = src.shape()[0] * src.shape()[1];
  int64_t srcPlane = planeOf(src), dstPlane = planeOf(dst);
  Windows windows(op, src.shape(), dst.shape());
  auto *indices = reinterpret_cast<int64_t *>(dst.mutableData());
  // Column-major order has the first spatial dimension innermost.
  ArrayRef<int64_t> extents = src.shape().drop_front(2);
  auto place = [&](int64_t offset) {
    if (!op.getColumnMajor())
      return offset;
    int64_t placed = 0;
    for (int64_t extent : llvm::reverse(extents)) {
      placed = placed * extent + offset % extent;
      offset /= extent;
    }
    return placed;
  };
  dispatch(src.elementType(), [&](auto *type) {
    using T = std::remove_pointer_t<decltype(type)>;
    Decoded<T> elements(src);
    for (int64_t plane = 0; plane < planes; ++plane) {
      const T *from = elements.data() + plane * srcPlane;
      int64_t best = -1;
      windows.forEach(
          [&](int64_t, int64_t offset) {
            if (best < 0 || exceeds(from[offset], from[best]))
              best = offset;
          },
          [&](int64_t window, int64_t) {
            indices[plane * dstPlane + window] = plane * srcPlane + place(std::max<int64_t>(best, 0));
            best = -1;
          });
    }
  });
  return success();
}
