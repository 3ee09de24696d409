// What ONNX's Resize reads along one axis.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/reference/ResizeTable.h"

#include <cmath>

using namespace convoy;
using namespace convoy::cnn;

namespace {
struct Axis {
  double scale;      // the factor that the model gives
  double extent;     // of the source
  double resized;    // extent * scale, which need not be whole
  double resizedInt; // the result's extent
  double roiStart, roiEnd;
};
} // namespace

// The source's coordinate of the result's coordinate x, in the words of ONNX's
// coordinate_transformation_mode. What its formulas call length_resized is the result's extent, but
// for align_corners, where ONNX's own tests take the extent before it is rounded.
static double originalOf(CoordinateMode mode, double x, const Axis &axis) {
  switch (mode) {
  case CoordinateMode::HalfPixel:
    return (x + 0.5) / axis.scale - 0.5;
  case CoordinateMode::HalfPixelSymmetric: {
    double adjustment = axis.resizedInt / axis.resized;
    double offset = axis.extent / 2 * (1 - adjustment);
    return offset + (x + 0.5) / axis.scale - 0.5;
  }
  case CoordinateMode::PytorchHalfPixel:
    return axis.resizedInt > 1 ? (x + 0.5) / axis.scale - 0.5 : 0;
  case CoordinateMode::AlignCorners:
    return axis.resized == 1 ? 0 : x * (axis.extent - 1) / (axis.resized - 1);
  case CoordinateMode::Asymmetric:
    return x / axis.scale;
  case CoordinateMode::TfHalfPixelForNn:
    return (x + 0.5) / axis.scale;
  case CoordinateMode::TfCropAndResize: {
    double span = (axis.roiEnd - axis.roiStart) * (axis.extent - 1);
    if (axis.resizedInt > 1)
      return axis.roiStart * (axis.extent - 1) + x * span / (axis.resizedInt - 1);
    return 0.5 * (axis.roiStart + axis.roiEnd) * (axis.extent - 1);
  }
  }
  llvm_unreachable("all modes are above");
}

static double cubicWeight(double distance, double a) {
  double x = std::abs(distance);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2)
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

static double linearWeight(double distance) { return std::max(0.0, 1 - std::abs(distance)); }

static int64_t nearestOf(NearestMode mode, double x) {
  double floor = std::floor(x), ratio = x - floor;
  bool up = false;
  switch (mode) {
  case NearestMode::RoundPreferFloor:
    up = ratio > 0.5;
    break;
  case NearestMode::RoundPreferCeil:
    up = ratio >= 0.5;
    break;
  case NearestMode::Floor:
    break;
  case NearestMode::Ceil:
    up = ratio > 0;
    break;
  }
  return static_cast<int64_t>(floor) + up;
}

bool ResizeAxis::isIdentity() const {
  if (taps != 1)
    return false;
  for (auto [i, index] : llvm::enumerate(indices))
    if (index != static_cast<int32_t>(i) || weights[i] != 1)
      return false;
  return true;
}

ResizeAxis convoy::makeResizeAxis(ResizeOp op, unsigned dim) {
  auto src = mlir::cast<mlir::RankedTensorType>(op.getSrc().getType());
  auto dst = mlir::cast<mlir::RankedTensorType>(op.getDst().getType());
  int64_t extent = src.getDimSize(dim), size = dst.getDimSize(dim);
  Axis axis{op.getScales()[dim], static_cast<double>(extent), 0, static_cast<double>(size), 0, 1};
  axis.resized = axis.scale * axis.extent;
  if (!op.getRoi().empty()) {
    axis.roiStart = op.getRoi()[dim];
    axis.roiEnd = op.getRoi()[dim + src.getRank()];
  }

  ResizeAxis table;
  // An axis that is not resized keeps its elements, whatever the kernel would weigh in.
  bool crops = op.getCoordinates() == CoordinateMode::TfCropAndResize;
  bool whole = !crops || (axis.roiStart == 0 && axis.roiEnd == 1);
  if (extent == size && axis.scale == 1 && whole) {
    for (int64_t i = 0; i < size; ++i) {
      table.indices.push_back(i);
      table.weights.push_back(1);
    }
    return table;
  }

  bool nearest = op.getMode() == ResizeMode::Nearest, cubic = op.getMode() == ResizeMode::Cubic;
  // Antialiasing widens the kernel when it shrinks the axis.
  double widening = op.getAntialias() && !nearest ? std::min(axis.scale, 1.0) : 1.0;
  int64_t reach = cubic ? 2 : 1; // of the kernel, in source elements, when it is not widened
  int64_t first = static_cast<int64_t>(std::floor(-reach / widening)) + 1;
  table.taps = nearest ? 1 : 2 - 2 * first;
  double cubicA = op.getCubicCoeffA().convertToDouble();

  for (int64_t o = 0; o < size; ++o) {
    double x = originalOf(op.getCoordinates(), static_cast<double>(o), axis);
    if (crops && (x < 0 || x > axis.extent - 1)) {
      table.indices.insert(table.indices.end(), table.taps, -1);
      table.weights.insert(table.weights.end(), table.taps, 0);
      continue;
    }
    if (nearest) {
      int64_t index = nearestOf(op.getNearestMode(), x);
      table.indices.push_back(std::clamp<int64_t>(index, 0, extent - 1));
      table.weights.push_back(1);
      continue;
    }
    int64_t base = static_cast<int64_t>(std::floor(x)) + first;
    std::vector<double> weights;
    double total = 0;
    for (int64_t t = 0; t < table.taps; ++t) {
      double distance = (static_cast<double>(base + t) - x) * widening;
      double weight = cubic ? cubicWeight(distance, cubicA) : linearWeight(distance);
      bool outside = base + t < 0 || base + t >= extent;
      if (outside && op.getExcludeOutside())
        weight = 0;
      weights.push_back(weight);
      total += weight;
      table.indices.push_back(std::clamp<int64_t>(base + t, 0, extent - 1));
    }
    // Without widening or exclusion the weights already sum to 1.
    bool normalize = (widening < 1 || op.getExcludeOutside()) && total != 0;
    for (double weight : weights)
      table.weights.push_back(normalize ? weight / total : weight);
  }
  return table;
}
