// Resize as ONNX's text of opset 19 and its reference have it: one dimension after another, in
// double, rounded once at the end.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Cnn/Evaluate/Movement.h"
#include "dialects/Cnn/Evaluate/Ops.h"

#include <cmath>

using namespace mlir;
using namespace convoy::cnn;

namespace {
// One dimension of a resize.
struct Axis {
  int64_t srcExtent, dstExtent;
  double scale, roiStart, roiEnd;

  bool isIdentity(CoordinateMode mode) const {
    bool isWhole = mode != CoordinateMode::TfCropAndResize || (roiStart == 0 && roiEnd == 1);
    return scale == 1 && srcExtent == dstExtent && isWhole;
  }
};

// What one coordinate of the result is made of. Indices are inside the source.
struct Taps {
  bool isOutside = false;
  SmallVector<std::pair<int64_t, double>, 4> terms;
};
} // namespace

static double sourceCoordinate(CoordinateMode mode, const Axis &axis, double x) {
  double resized = axis.scale * axis.srcExtent; // need not be whole
  switch (mode) {
  case CoordinateMode::HalfPixel:
    return (x + 0.5) / axis.scale - 0.5;
  case CoordinateMode::HalfPixelSymmetric:
    return axis.srcExtent / 2.0 * (1 - axis.dstExtent / resized) + (x + 0.5) / axis.scale - 0.5;
  case CoordinateMode::PytorchHalfPixel:
    return axis.dstExtent > 1 ? (x + 0.5) / axis.scale - 0.5 : 0;
  case CoordinateMode::AlignCorners:
    return resized == 1 ? 0 : x * (axis.srcExtent - 1) / (resized - 1);
  case CoordinateMode::Asymmetric:
    return x / axis.scale;
  case CoordinateMode::TfHalfPixelForNn:
    return (x + 0.5) / axis.scale;
  case CoordinateMode::TfCropAndResize:
    break;
  }
  double last = axis.srcExtent - 1, crop = axis.roiEnd - axis.roiStart;
  if (axis.dstExtent == 1)
    return 0.5 * (axis.roiStart + axis.roiEnd) * last;
  return axis.roiStart * last + x * crop * last / (axis.dstExtent - 1);
}

static int64_t nearest(NearestMode mode, double x) {
  double down = std::floor(x), rest = x - down;
  switch (mode) {
  case NearestMode::RoundPreferFloor:
    return down + (rest > 0.5);
  case NearestMode::RoundPreferCeil:
    return down + (rest >= 0.5);
  case NearestMode::Floor:
    return down;
  case NearestMode::Ceil:
    break;
  }
  return std::ceil(x);
}

// Keys' cubic convolution kernel.
static double cubic(double distance, double a) {
  double x = std::fabs(distance);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

// The weights of the samples around x. With antialias a kernel that shrinks the source is as much
// wider as the source is larger.
static void interpolate(ResizeOp op, const Axis &axis, double x, Taps &taps) {
  bool isCubic = op.getMode() == ResizeMode::Cubic;
  double a = op.getCubicCoeffA().convertToDouble();
  double stretch = op.getAntialias() ? std::min(axis.scale, 1.0) : 1.0;
  // ONNX counts from the sample on the left of x; if x is a sample, from the one before it.
  double left = std::ceil(x) - 1;
  int64_t first = std::floor((isCubic ? -2 : -1) / stretch) + 1, count = 2 - 2 * first;
  double sum = 0;
  SmallVector<double, 4> weights;
  for (int64_t i = 0; i < count; ++i) {
    double position = left + first + i, distance = (position - x) * stretch;
    double weight = isCubic ? cubic(distance, a) : std::clamp(1 - std::fabs(distance), 0.0, 1.0);
    weights.push_back(weight);
    sum += weight;
  }
  if (op.getAntialias())
    for (double &weight : weights)
      weight /= sum;
  if (op.getExcludeOutside()) {
    sum = 0;
    for (auto [i, weight] : llvm::enumerate(weights)) {
      double position = left + first + int64_t(i);
      if (position < 0 || position >= axis.srcExtent)
        weight = 0;
      sum += weight;
    }
    if (sum != 0)
      for (double &weight : weights)
        weight /= sum;
  }
  for (auto [i, weight] : llvm::enumerate(weights)) {
    double position = std::clamp<double>(left + first + int64_t(i), 0, axis.srcExtent - 1);
    taps.terms.push_back({static_cast<int64_t>(position), weight});
  }
}

static std::vector<Taps> tapsOf(ResizeOp op, const Axis &axis) {
  std::vector<Taps> result(axis.dstExtent);
  for (auto [i, taps] : llvm::enumerate(result)) {
    double x = sourceCoordinate(op.getCoordinates(), axis, i);
    taps.isOutside = op.getCoordinates() == CoordinateMode::TfCropAndResize &&
                     (x < 0 || x > axis.srcExtent - 1);
    if (taps.isOutside)
      continue;
    if (op.getMode() != ResizeMode::Nearest) {
      interpolate(op, axis, x, taps);
      continue;
    }
    int64_t index = nearest(op.getNearestMode(), x);
    taps.terms.push_back({std::clamp<int64_t>(index, 0, axis.srcExtent - 1), 1});
  }
  return result;
}

// Resamples one dimension; `outer` and `inner` are the numbers of elements before and after it.
static std::vector<Lane> resample(ArrayRef<Lane> src, ArrayRef<Taps> taps, int64_t srcExtent,
                                  int64_t outer, int64_t inner, double fill) {
  std::vector<Lane> dst(outer * taps.size() * inner, Lane{});
  Lane *to = dst.data();
  for (int64_t o = 0; o < outer; ++o)
    for (const Taps &tap : taps) {
      for (int64_t i = 0; i < inner; ++i)
        to[i].f = tap.isOutside ? fill : 0.0;
      for (auto [index, weight] : tap.terms) {
        const Lane *from = src.data() + (o * srcExtent + index) * inner;
        // A sample of no weight does not count, whatever it is.
        if (weight != 0)
          for (int64_t i = 0; i < inner; ++i)
            to[i].f += from[i].f * weight;
      }
      to += inner;
    }
  return dst;
}

LogicalResult convoy::cnn::compute(ResizeOp op, ArrayRef<Tensor> operands, Tensor &dst) {
  const Tensor &src = operands[0];
  if (dst.numElements() == 0)
    return success();
  if (src.numElements() == 0)
    return op.emitOpError() << "makes elements of none";
  int64_t rank = src.rank();
  SmallVector<Axis> axes;
  for (int64_t dim = 0; dim < rank; ++dim) {
    bool hasRoi = !op.getRoi().empty();
    axes.push_back({src.shape()[dim], dst.shape()[dim], op.getScales()[dim],
                    hasRoi ? op.getRoi()[dim] : 0, hasRoi ? op.getRoi()[dim + rank] : 1});
  }
  Codec codec = *Codec::of(src.elementType());
  Lane fill;
  fill.f = op.getExtrapolationValue().convertToDouble();
  if (op.getMode() == ResizeMode::Nearest) {
    CoordinateTables tables;
    for (const Axis &axis : axes) {
      std::vector<int64_t> &table = tables.emplace_back();
      if (axis.isIdentity(op.getCoordinates())) {
        llvm::append_range(table, llvm::seq<int64_t>(0, axis.dstExtent));
        continue;
      }
      for (const Taps &taps : tapsOf(op, axis))
        table.push_back(taps.isOutside ? -1 : taps.terms.front().first);
    }
    char fillBytes[8] = {};
    if (!codec.isFloat())
      fill.i = static_cast<int64_t>(fill.f);
    codec.encode(&fill, 1, fillBytes);
    gatherByTables(src, tables, fillBytes, dst);
    return success();
  }

  std::vector<Lane> lanes(src.numElements());
  codec.decode(src.data(), src.numElements(), lanes.data());
  if (!codec.isFloat())
    for (Lane &lane : lanes)
      lane.f = static_cast<double>(lane.i);
  for (int64_t dim = 0; dim < rank; ++dim) {
    const Axis &axis = axes[dim];
    if (axis.isIdentity(op.getCoordinates()))
      continue;
    int64_t outer = 1, inner = 1;
    for (int64_t extent : dst.shape().take_front(dim))
      outer *= extent;
    for (int64_t extent : src.shape().drop_front(dim + 1))
      inner *= extent;
    lanes = resample(lanes, tapsOf(op, axis), axis.srcExtent, outer, inner, fill.f);
  }
  if (!codec.isFloat()) {
    // As ONNX's reference: to the nearest integer, ties to even, then into the type's range.
    auto type = cast<IntegerType>(src.elementType());
    unsigned width = type.getWidth();
    bool isUnsigned = type.isUnsigned() || width == 1;
    double low = isUnsigned ? 0 : -std::ldexp(1.0, width - 1);
    double high = std::ldexp(1.0, isUnsigned ? width : width - 1);
    for (Lane &lane : lanes) {
      lane.f = std::nearbyint(lane.f);
      if (lane.f >= high)
        lane.i = isUnsigned ? int64_t(llvm::maskTrailingOnes<uint64_t>(width))
                            : llvm::maxIntN(width);
      else
        lane.i = static_cast<int64_t>(std::max(lane.f, low));
    }
  }
  codec.encode(lanes.data(), lanes.size(), dst.mutableData());
  return success();
}
