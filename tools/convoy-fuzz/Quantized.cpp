// Quantization. Scales are powers of two, or the data exact, so that no rounding decides a step.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/convoy-fuzz/Builder.h"

#include <algorithm>
#include <cmath>

using namespace convoy;
using namespace convoy::fuzz;

static Range typeRange(convoy_type type) {
  return type == CONVOY_TYPE_U8 ? Range{0, 255, 0, 1} : Range{-128, 127, 0, 1};
}

static double power(Builder &b) { return b.choices.pick<double>({1, 0.5, 0.25, 2, 0.125}); }

static bool makeQuantize(Builder &b) {
  int x = b.floatValue(
      [](const Value &value) { return value.range.exact() && value.type() == CONVOY_TYPE_F32; });
  if (x == kOmitted)
    return false;
  convoy_type type = b.choices.oneIn(2) ? CONVOY_TYPE_U8 : CONVOY_TYPE_I8;
  double zero = type == CONVOY_TYPE_U8 ? double(b.choices.between(0, 200))
                                       : double(b.choices.between(-20, 20));
  double step = power(b);
  Range p = b[x].range, limits = typeRange(type);
  auto quantized = [&](double value) {
    return std::max(limits.lo, std::min(limits.hi, std::nearbyint(value / step) + zero));
  };
  return b.add("QuantizeLinear", {x, b.scalar(CONVOY_TYPE_F32, step), b.scalar(type, zero)},
               {{type, b[x].dims(), {quantized(p.lo), quantized(p.hi), 0, 1}}});
}

static int quantizedValue(Builder &b, const Builder::Filter &filter, const Dims &dims) {
  int found = b.find([&](const Value &value) {
    return (value.type() == CONVOY_TYPE_U8 || value.type() == CONVOY_TYPE_I8) && filter(value);
  });
  if (found != kOmitted && !b.choices.oneIn(6))
    return found;
  convoy_type type = b.choices.oneIn(2) ? CONVOY_TYPE_U8 : CONVOY_TYPE_I8;
  return b.input(type, dims, typeRange(type));
}

static bool makeDequantize(Builder &b) {
  int x = quantizedValue(
      b, [](const Value &) { return true; }, b.newDims(4));
  convoy_type type = b[x].type();
  double zero = double(b.choices.between(type == CONVOY_TYPE_U8 ? 0 : -20, 20)), step = power(b);
  Range p = b[x].range;
  std::vector<::onnx::AttributeProto> attributes;
  int scale, point;
  if (b.opset() >= 13 && b[x].rank() >= 2 && b.choices.oneIn(3)) {
    Dims dims = {b[x].dims()[1]};
    Tensor scales;
    scales.type = CONVOY_TYPE_F32;
    scales.resize(dims);
    for (int64_t i = 0; i < scales.size(); ++i)
      scales.set(i, i % 2 ? step : 0.5 * step);
    scale = b.constant(scales);
    point = b.constant(type, dims, {type == CONVOY_TYPE_U8 ? 0.0 : -20.0, 20, 0, 1});
    attributes.push_back(attr("axis", int64_t(1)));
  } else {
    scale = b.scalar(CONVOY_TYPE_F32, step);
    point = b.choices.oneIn(4) ? kOmitted : b.scalar(type, zero);
  }
  return b.add(
      "DequantizeLinear", {x, scale, point},
      {{CONVOY_TYPE_F32, b[x].dims(), {(p.lo - 20) * step, (p.hi + 20) * step, 0, step / 2}}},
      attributes);
}

static bool makeQLinearConv(Builder &b) {
  auto isImage = [](const Value &value) { return value.rank() == 4 && elements(value.dims()) > 0; };
  int x = quantizedValue(b, isImage, b.newDims(4));
  if (!isImage(b[x]))
    return false;
  const Dims src = b[x].dims();
  int64_t group = b.choices.oneIn(4) ? src[1] : 1, kernel = b.choices.pick<int64_t>({1, 3, 2});
  int64_t pad = kernel == 3 && b.choices.oneIn(2) ? 1 : 0, stride = b.choices.between(1, 2);
  int64_t outputs = group == 1 ? b.choices.pick<int64_t>({1, 3, 8, 16, 17}) : group;
  Dims dst = {src[0], outputs, (src[2] + 2 * pad - kernel) / stride + 1,
              (src[3] + 2 * pad - kernel) / stride + 1};
  if (src[2] + 2 * pad < kernel || src[3] + 2 * pad < kernel)
    return false;
  int w = b.constant(CONVOY_TYPE_I8, {outputs, src[1] / group, kernel, kernel}, {-20, 20, 0, 1});
  convoy_type type = b[x].type();
  double zero = double(b.choices.between(0, type == CONVOY_TYPE_U8 ? 128 : 20));
  int bias =
      b.choices.oneIn(2) ? b.constant(CONVOY_TYPE_I32, {outputs}, {-500, 500, 0, 1}) : kOmitted;
  // A product of powers of two: its multiples of a half round to even in every implementation.
  return b.add("QLinearConv",
               {x, b.scalar(CONVOY_TYPE_F32, 0.5), b.scalar(type, zero), w,
                b.scalar(CONVOY_TYPE_F32, 0.125), b.scalar(CONVOY_TYPE_I8, 0),
                b.scalar(CONVOY_TYPE_F32, b.choices.pick<double>({4, 1, 8})),
                b.scalar(type, double(b.choices.between(0, 20))), bias},
               {{type, dst, typeRange(type)}},
               {attr("kernel_shape", Dims{kernel, kernel}), attr("pads", Dims{pad, pad, pad, pad}),
                attr("strides", Dims{stride, stride}), attr("group", group)});
}

static bool makeConvInteger(Builder &b) {
  auto isImage = [](const Value &value) {
    return value.rank() == 4 && elements(value.dims()) > 0 && value.type() == CONVOY_TYPE_U8;
  };
  int x = quantizedValue(b, isImage, b.newDims(4));
  if (!isImage(b[x]))
    return false;
  const Dims src = b[x].dims();
  int64_t outputs = b.choices.pick<int64_t>({1, 3, 8, 17});
  if (src[1] > 8)
    return false; // Keeps the sums small.
  int w = b.constant(CONVOY_TYPE_U8, {outputs, src[1], 1, 1}, {0, 9, 0, 1});
  double zero = double(b.choices.between(0, 100));
  double most = 9 * 255.0 * src[1];
  return b.add("ConvInteger",
               {x, w, b.choices.oneIn(3) ? kOmitted : b.scalar(CONVOY_TYPE_U8, zero)},
               {{CONVOY_TYPE_I32, {src[0], outputs, src[2], src[3]}, {-most, most, 0, 1}}});
}

static bool makeMatMulInteger(Builder &b) {
  auto isMatrix = [](const Value &value) {
    return value.rank() >= 2 && elements(value.dims()) > 0 && value.dims().back() <= 12 &&
           value.type() == CONVOY_TYPE_U8;
  };
  int x = quantizedValue(b, isMatrix, {b.choices.between(1, 9), b.choices.between(1, 9)});
  if (!isMatrix(b[x]))
    return false;
  int64_t k = b[x].dims().back(), n = b.choices.pick<int64_t>({4, 1, 17});
  int w = b.constant(CONVOY_TYPE_I8, {k, n}, {-9, 9, 0, 1});
  Dims dims = b[x].dims();
  dims.back() = n;
  double most = 9 * 255.0 * k;
  return b.add("MatMulInteger", {x, w, b.choices.oneIn(3) ? kOmitted : b.scalar(CONVOY_TYPE_U8, 3)},
               {{CONVOY_TYPE_I32, dims, {-most, most, 0, 1}}});
}

void convoy::fuzz::addQuantized(std::vector<OpKind> &kinds) {
  kinds.push_back({"QuantizeLinear", 8, 10, kNewest, makeQuantize});
  kinds.push_back({"DequantizeLinear", 8, 10, kNewest, makeDequantize});
  kinds.push_back({"QLinearConv", 5, 10, kNewest, makeQLinearConv});
  kinds.push_back({"ConvInteger", 2, 10, kNewest, makeConvInteger});
  kinds.push_back({"MatMulInteger", 2, 10, kNewest, makeMatMulInteger});
}
