// Sampling at computed positions, in double and rounded once.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Cnn/Evaluate/Ops.h"

#include <cmath>
#include <cstring>

using namespace mlir;
using namespace convoy::cnn;

namespace {
// The elements of one dimension that a position is made of; an index of -1 is a zero.
struct Taps {
  SmallVector<std::pair<int64_t, double>, 4> terms;
};

// Where a dimension ends for SamplePadding::Reflection.
struct Mirror {
  double low, high;
  double operator()(double x) const {
    double range = high - low;
    if (!(range > 0))
      return low;
    double rest = std::fmod(std::fabs(x - low), 2 * range);
    return low + (rest <= range ? rest : 2 * range - rest);
  }
};
} // namespace

static double keys(double x) {
  constexpr double a = -0.75;
  x = std::fabs(x);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

static Taps tapsAt(double x, int64_t extent, SampleOp op) {
  Mirror mirror{-0.5, extent - 0.5};
  if (op.getAlignCorners())
    mirror = {0, extent - 1.0};
  SamplePadding padding = op.getPadding();
  if (std::isnan(x))
    x = -1;
  if (op.getMode() == ResizeMode::Nearest)
    x = std::nearbyint(x);
  if (x < mirror.low || x > mirror.high) {
    if (padding == SamplePadding::Border)
      x = std::clamp(x, 0.0, extent - 1.0);
    else if (padding == SamplePadding::Reflection)
      x = mirror(x);
  }
  x = std::clamp(x, -4.0, extent + 4.0); // only zeros are left out there
  auto place = [&](int64_t i) -> int64_t {
    if (padding == SamplePadding::Zeros)
      return i < 0 || i >= extent ? -1 : i;
    if (padding == SamplePadding::Reflection)
      i = static_cast<int64_t>(mirror(i));
    return std::clamp<int64_t>(i, 0, extent - 1);
  };
  int64_t floor = static_cast<int64_t>(std::floor(x));
  Taps taps;
  if (op.getMode() == ResizeMode::Nearest)
    taps.terms.push_back({place(static_cast<int64_t>(x)), 1});
  else if (op.getMode() == ResizeMode::Linear)
    taps.terms.append({{place(floor), 1 - (x - floor)}, {place(floor + 1), x - floor}});
  else
    for (int64_t i = floor - 1; i <= floor + 2; ++i)
      taps.terms.push_back({place(i), keys(x - i)});
  return taps;
}

LogicalResult convoy::cnn::compute(SampleOp op, ArrayRef<Tensor> operands, Tensor &dst) {
  const Tensor &src = operands[0], &positions = operands[1];
  ArrayRef<int64_t> extents = src.shape().drop_front(2);
  size_t rank = extents.size();
  int64_t images = src.shape()[0], channels = src.shape()[1];
  int64_t points = dst.numElements() / (images * channels), plane = 1;
  for (int64_t extent : extents)
    plane *= extent;
  std::optional<Codec> codec = Codec::of(src.elementType());
  std::vector<Lane> samples(src.numElements()), results(dst.numElements());
  codec->decode(src.data(), src.numElements(), samples.data());
  std::optional<Codec> positionCodec = Codec::of(positions.elementType());
  std::vector<Lane> coordinates(positions.numElements());
  positionCodec->decode(positions.data(), positions.numElements(), coordinates.data());

  for (int64_t n = 0; n < images; ++n)
    for (int64_t p = 0; p < points; ++p) {
      SmallVector<Taps, 3> taps;
      for (size_t d = 0; d < rank; ++d) // the last dimension's coordinate comes first
        taps.push_back(
            tapsAt(coordinates[(n * points + p) * rank + rank - 1 - d].f, extents[d], op));
      for (int64_t c = 0; c < channels; ++c) {
        const Lane *image = samples.data() + (n * channels + c) * plane;
        Lane &result = results[(n * channels + c) * points + p];
        result = Lane{};
        double sum = 0;
        auto add = [&](auto &self, size_t d, int64_t offset, double weight) -> void {
          if (d == rank) {
            if (op.getMode() == ResizeMode::Nearest)
              result = image[offset];
            else
              sum += weight * image[offset].f;
            return;
          }
          for (auto [index, own] : taps[d].terms)
            if (index >= 0)
              self(self, d + 1, offset * extents[d] + index, weight * own);
        };
        add(add, 0, 0, 1);
        if (op.getMode() != ResizeMode::Nearest)
          result.f = sum;
      }
    }
  codec->normalize(results.data(), results.size());
  codec->encode(results.data(), results.size(), dst.mutableData());
  return success();
}

// The linear interpolation that roi_align has: an element beyond the image there is nothing.
static double interpolate(const Lane *plane, int64_t height, int64_t width, double y, double x) {
  if (!(y >= -1 && y <= height && x >= -1 && x <= width))
    return 0;
  y = std::clamp(y, 0.0, height - 1.0);
  x = std::clamp(x, 0.0, width - 1.0);
  int64_t top = static_cast<int64_t>(y), left = static_cast<int64_t>(x);
  int64_t bottom = std::min(top + 1, height - 1), right = std::min(left + 1, width - 1);
  double down = y - top, across = x - left;
  auto at = [&](int64_t row, int64_t column) { return plane[row * width + column].f; };
  return (1 - down) * ((1 - across) * at(top, left) + across * at(top, right)) +
         down * ((1 - across) * at(bottom, left) + across * at(bottom, right));
}

static int64_t samplesOf(double extent, int64_t bins, int64_t given) {
  if (given > 0)
    return std::min(given, RoiAlignOp::kMostSamples);
  double wanted = std::ceil(extent / bins);
  return wanted > 0 ? static_cast<int64_t>(
                          std::min(wanted, static_cast<double>(RoiAlignOp::kMostSamples)))
                    : 0;
}

LogicalResult convoy::cnn::compute(RoiAlignOp op, ArrayRef<Tensor> operands, Tensor &dst) {
  const Tensor &src = operands[0];
  std::vector<Lane> lanes[3];
  for (auto [tensor, values] : llvm::zip(operands, lanes)) {
    values.resize(tensor.numElements());
    Codec::of(tensor.elementType())->decode(tensor.data(), tensor.numElements(), values.data());
  }
  int64_t channels = src.shape()[1], height = src.shape()[2], width = src.shape()[3];
  ArrayRef<int64_t> bins = op.getBins();
  double scale = op.getSpatialScale().convertToDouble(), offset = op.getHalfPixel() ? 0.5 : 0;
  std::vector<Lane> results(dst.numElements());
  Lane *result = results.data();
  for (int64_t r = 0; r < dst.shape()[0]; ++r) {
    const Lane *roi = lanes[1].data() + 4 * r;
    double left = roi[0].f * scale - offset, top = roi[1].f * scale - offset;
    double roiWidth = roi[2].f * scale - offset - left, roiHeight = roi[3].f * scale - offset - top;
    if (!op.getHalfPixel()) {
      roiWidth = std::fmax(roiWidth, 1);
      roiHeight = std::fmax(roiHeight, 1);
    }
    int64_t rows = samplesOf(roiHeight, bins[0], op.getSamplingRatio());
    int64_t columns = samplesOf(roiWidth, bins[1], op.getSamplingRatio());
    double binHeight = roiHeight / bins[0], binWidth = roiWidth / bins[1];
    int64_t image = std::clamp<int64_t>(lanes[2][r].i, 0, src.shape()[0] - 1);
    for (int64_t c = 0; c < channels; ++c) {
      const Lane *plane = lanes[0].data() + (image * channels + c) * height * width;
      for (int64_t i = 0; i < bins[0]; ++i)
        for (int64_t j = 0; j < bins[1]; ++j) {
          bool isMax = op.getKind() == PoolKind::Max;
          double value = isMax && rows * columns > 0 ? -INFINITY : 0;
          for (int64_t y = 0; y < rows; ++y)
            for (int64_t x = 0; x < columns; ++x) {
              double sample = interpolate(plane, height, width,
                                          top + i * binHeight + (y + 0.5) * binHeight / rows,
                                          left + j * binWidth + (x + 0.5) * binWidth / columns);
              if (!isMax)
                value += sample;
              else if (sample > value || std::isnan(sample))
                value = sample;
            }
          (result++)->f = isMax ? value : value / std::max<int64_t>(rows * columns, 1);
        }
    }
  }
  Codec codec = *Codec::of(dst.elementType());
  codec.normalize(results.data(), results.size());
  codec.encode(results.data(), results.size(), dst.mutableData());
  return success();
}
