// Convolution and transposed convolution.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Cnn/Evaluate/Correlate.h"
#include "dialects/Cnn/Evaluate/Ops.h"

using namespace mlir;
using namespace convoy::cnn;

static int64_t product(ArrayRef<int64_t> extents) {
  int64_t result = 1;
  for (int64_t extent : extents)
    result *= extent;
  return result;
}

// Calls `visit` with every index inside the extents, in row-major order.
template <typename F>
static void forEachIndex(ArrayRef<int64_t> extents, F &&visit) {
  if (llvm::is_contained(extents, 0))
    return;
  SmallVector<int64_t> index(extents.size(), 0);
  for (;;) {
    visit(ArrayRef<int64_t>(index));
    size_t dim = extents.size();
    while (dim > 0 && ++index[dim - 1] == extents[dim - 1])
      index[--dim] = 0;
    if (dim == 0)
      return;
  }
}

namespace {
// The padded image of a convolution, sorted by the remainder of each coordinate by the stride. In
// one such phase the samples of neighbouring results are neighbours, so that a kernel position is
// nothing but a shift.
struct PhasedImage {
  SmallVector<int64_t> strides, extents; // of the phases, and of the samples of one phase
  SmallVector<int64_t> extentStrides;
  int64_t phaseSize = 1, size = 1;

  PhasedImage(ArrayRef<int64_t> padded, ArrayRef<int64_t> strides) : strides(strides) {
    for (auto [extent, stride] : llvm::zip_equal(padded, strides))
      extents.push_back(llvm::divideCeil(extent, stride));
    extentStrides = rowMajorStrides(extents);
    phaseSize = product(extents);
    size = phaseSize * product(strides);
  }
  // Position of a coordinate's sample along one dimension; these add up.
  int64_t offset(size_t dim, int64_t coordinate) const {
    int64_t phase = coordinate % strides[dim];
    for (size_t i = dim + 1; i < strides.size(); ++i)
      phase *= strides[i];
    return phase * phaseSize + coordinate / strides[dim] * extentStrides[dim];
  }
  int64_t offset(ArrayRef<int64_t> coordinates) const {
    int64_t sum = 0;
    for (auto [dim, coordinate] : llvm::enumerate(coordinates))
      sum += offset(dim, coordinate);
    return sum;
  }
};
} // namespace

template <typename T>
static void convolve(ConvOp op, const Tensor &srcTensor, const Tensor &weiTensor,
                     ArrayRef<int64_t> dstShape, Sum<T> *dst) {
  Decoded<T> src(srcTensor), wei(weiTensor);
  ArrayRef<int64_t> srcSpatial = srcTensor.shape().drop_front(2);
  ArrayRef<int64_t> kernel = weiTensor.shape().drop_front(2), dstSpatial = dstShape.drop_front(2);
  size_t rank = kernel.size();
  int64_t groups = op.getGroups(), ic = srcTensor.shape()[1] / groups, oc = dstShape[1] / groups;
  ArrayRef<int64_t> low = op.getPads().take_front(rank);

  // The part of the source that results read; a negative pad crops it.
  SmallVector<int64_t> padded;
  for (size_t i = 0; i < rank; ++i)
    padded.push_back((dstSpatial[i] - 1) * op.getStrides()[i] +
                     (kernel[i] - 1) * op.getDilations()[i] + 1);
  PhasedImage image(padded, op.getStrides());
  SmallVector<int64_t> shifts;
  forEachIndex(kernel, [&](ArrayRef<int64_t> k) {
    SmallVector<int64_t> coordinates;
    for (size_t i = 0; i < rank; ++i)
      coordinates.push_back(k[i] * op.getDilations()[i]);
    shifts.push_back(image.offset(coordinates));
  });
  // Where each coordinate of the last dimension goes, for a row is copied at a time.
  int64_t width = srcSpatial.back();
  SmallVector<int64_t> column;
  for (int64_t x = 0; x < width; ++x) {
    int64_t coordinate = x + low.back();
    bool isInside = coordinate >= 0 && coordinate < padded.back();
    column.push_back(isInside ? image.offset(rank - 1, coordinate) : -1);
  }

  SmallVector<int64_t> lastDst;
  for (int64_t extent : dstSpatial)
    lastDst.push_back(extent - 1);
  int64_t length = 1; // of a line that has all results, in the pitch of the image
  for (size_t i = 0; i < rank; ++i)
    length += lastDst[i] * image.extentStrides[i];
  int64_t srcPlane = product(srcSpatial), dstPlane = product(dstSpatial);
  std::vector<T> samples(ic * image.size);
  std::vector<Sum<T>> lines(oc * length);
  for (int64_t n = 0; n < dstShape[0]; ++n)
    for (int64_t g = 0; g < groups; ++g) {
      for (int64_t c = 0; c < ic; ++c) {
        const T *plane = src.data() + ((n * groups + g) * ic + c) * srcPlane;
        forEachIndex(srcSpatial.drop_back(), [&](ArrayRef<int64_t> row) {
          T *line = samples.data() + c * image.size;
          for (auto [dim, position] : llvm::enumerate(row)) {
            int64_t coordinate = position + low[dim];
            if (coordinate < 0 || coordinate >= padded[dim]) {
              plane += width;
              return;
            }
            line += image.offset(dim, coordinate);
          }
          for (int64_t x = 0; x < width; ++x)
            if (column[x] >= 0)
              line[column[x]] = plane[x];
          plane += width;
        });
      }
      int64_t weiRow = ic * shifts.size();
      correlate<T>({samples.data(), ic, image.size, shifts}, wei.data() + g * oc * weiRow, oc,
                   weiRow, shifts.size(), length, lines.data());
      for (int64_t o = 0; o < oc; ++o) {
        Sum<T> *plane = dst + ((n * groups + g) * oc + o) * dstPlane;
        forEachIndex(dstSpatial.drop_back(), [&](ArrayRef<int64_t> row) {
          const Sum<T> *line = lines.data() + o * length;
          for (auto [dim, position] : llvm::enumerate(row))
            line += position * image.extentStrides[dim];
          plane = std::copy_n(line, dstSpatial.back(), plane);
        });
      }
    }
}

LogicalResult convoy::cnn::compute(ConvOp op, ArrayRef<Tensor> operands, Tensor &dst) {
  std::vector<Lane> accumulators(dst.numElements());
  if (!accumulators.empty())
    dispatch(operands[0].elementType(), [&](auto *type) {
      using T = std::remove_pointer_t<decltype(type)>;
      convolve<T>(op, operands[0], operands[1], dst.shape(), sums<T>(accumulators));
    });
  return applyEpilogue(op, accumulators, operands.drop_front(2), dst);
}

// Adds every source element, times the kernel, to where it belongs.
template <typename T>
static void scatter(ConvTransposeOp op, const Tensor &srcTensor, const Tensor &weiTensor,
                    ArrayRef<int64_t> dstShape, Sum<T> *dst) {
  Decoded<T> src(srcTensor), wei(weiTensor);
  ArrayRef<int64_t> srcSpatial = srcTensor.shape().drop_front(2);
  ArrayRef<int64_t> kernel = weiTensor.shape().drop_front(2), dstSpatial = dstShape.drop_front(2);
  size_t rank = kernel.size();
  int64_t groups = op.getGroups(), ic = srcTensor.shape()[1] / groups, oc = dstShape[1] / groups;
  int64_t srcPlane = product(srcSpatial), dstPlane = product(dstSpatial);
  int64_t kernelSize = product(kernel);
  SmallVector<int64_t> dstStrides = rowMajorStrides(dstSpatial);
  // Where a source coordinate lands with a kernel position; the result may not reach so far.
  auto landing = [&](size_t dim, int64_t i, int64_t k) {
    return i * op.getStrides()[dim] + k * op.getDilations()[dim] - op.getPads()[dim];
  };
  int64_t width = srcSpatial.back(), stride = op.getStrides().back();
  for (int64_t n = 0; n < dstShape[0]; ++n)
    for (int64_t g = 0; g < groups; ++g)
      for (int64_t c = 0; c < ic; ++c)
        for (int64_t o = 0; o < oc; ++o) {
          const T *srcStart = src.data() + ((n * groups + g) * ic + c) * srcPlane;
          const T *weight = wei.data() + ((g * ic + c) * oc + o) * kernelSize;
          Sum<T> *dstStart = dst + ((n * groups + g) * oc + o) * dstPlane;
          forEachIndex(kernel, [&](ArrayRef<int64_t> k) {
            Sum<T> factor = *weight++;
            int64_t first = landing(rank - 1, 0, k.back());
            // Source columns from `begin` to `end` land inside the result.
            int64_t begin = first < 0 ? llvm::divideCeil(-first, stride) : 0;
            int64_t end = first >= dstSpatial.back()
                              ? 0
                              : std::min(width, (dstSpatial.back() - 1 - first) / stride + 1);
            const T *srcRow = srcStart;
            forEachIndex(srcSpatial.drop_back(), [&](ArrayRef<int64_t> row) {
              const T *samples = srcRow;
              srcRow += width;
              int64_t offset = first;
              for (auto [dim, position] : llvm::enumerate(row)) {
                int64_t place = landing(dim, position, k[dim]);
                if (place < 0 || place >= dstSpatial[dim])
                  return;
                offset += place * dstStrides[dim];
              }
              Sum<T> *results = dstStart + offset;
              for (int64_t x = begin; x < end; ++x)
                results[x * stride] += factor * samples[x];
            });
          });
        }
}

LogicalResult convoy::cnn::compute(ConvTransposeOp op, ArrayRef<Tensor> operands, Tensor &dst) {
  std::vector<Lane> accumulators(dst.numElements(), Lane{});
  if (!accumulators.empty() && operands[0].numElements() > 0)
    dispatch(operands[0].elementType(), [&](auto *type) {
      using T = std::remove_pointer_t<decltype(type)>;
      scatter<T>(op, operands[0], operands[1], dst.shape(), sums<T>(accumulators));
    });
  return applyEpilogue(op, accumulators, operands.drop_front(2), dst);
}
