// Ops that bring data to a scale.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/convoy-fuzz/Builder.h"

#include <algorithm>
#include <cmath>

using namespace convoy;
using namespace convoy::fuzz;

// A bf16 or f16 statistic is beyond what the other implementations compute in these types.
static bool isSingle(const Value &value) { return value.type() == CONVOY_TYPE_F32; }

static bool makeBatchNormalization(Builder &b) {
  int x = b.image(0, isSingle);
  if (x == kOmitted)
    return false;
  int64_t channels = b[x].dims()[1];
  int scale = b.constant(CONVOY_TYPE_F32, {channels}, {-1.5, 1.5, 0, 0});
  int bias = b.constant(CONVOY_TYPE_F32, {channels}, {-1, 1, 0, 0});
  int mean = b.constant(CONVOY_TYPE_F32, {channels}, {-1, 1, 0, 0});
  int variance = b.constant(CONVOY_TYPE_F32, {channels}, {0.5, 2, 0, 0});
  double epsilon = b.choices.oneIn(3) ? 0.1 : 1e-5;
  Range p = b[x].range;
  double factor = 1.5 / std::sqrt(0.5), most = (p.magnitude() + 1) * factor + 1;
  std::vector<::onnx::AttributeProto> attributes;
  if (epsilon != 1e-5)
    attributes.push_back(attr("epsilon", epsilon));
  return b.add("BatchNormalization", {x, scale, bias, mean, variance},
               {{CONVOY_TYPE_F32, b[x].dims(),
                 rounded(CONVOY_TYPE_F32, -most, most, p.error * factor, 0, 4 * most)}},
               attributes);
}

// (x - mean) / sqrt(variance + epsilon) * scale + bias over n elements. The quotient is below
// sqrt(n); its slope below 3 / sqrt(epsilon), also where all elements are alike.
static Range normalized(const Range &p, double n, double epsilon) {
  double unit = unitOf(CONVOY_TYPE_F32), most = 1.5 * std::sqrt(n) + 1;
  double own = unit * (4 * std::sqrt(n) + 8) * p.magnitude();
  return {-most, most, 1.5 * 3 * (p.error + own) / std::sqrt(epsilon) + 16 * unit * most, 0};
}

static bool makeInstanceNormalization(Builder &b) {
  int x = b.image(0, isSingle);
  if (x == kOmitted)
    return false;
  int64_t channels = b[x].dims()[1];
  int scale = b.constant(CONVOY_TYPE_F32, {channels}, {-1.5, 1.5, 0, 0});
  int bias = b.constant(CONVOY_TYPE_F32, {channels}, {-1, 1, 0, 0});
  double n = double(elements(b[x].dims())) / (channels * b[x].dims()[0]);
  double epsilon = b.choices.pick<double>({0.1, 0.01, 1});
  return b.add("InstanceNormalization", {x, scale, bias},
               {{CONVOY_TYPE_F32, b[x].dims(), normalized(b[x].range, n, epsilon)}},
               {attr("epsilon", epsilon)});
}

static bool makeLayerNormalization(Builder &b) {
  int x = b.floatValue([](const Value &value) {
    return isSingle(value) && value.rank() >= 2 && elements(value.dims()) > 0;
  });
  if (x == kOmitted)
    return false;
  int64_t axis = b.axisOf(b[x].rank()), at = b.positiveAxis(axis, b[x].rank());
  Dims inner(b[x].dims().begin() + at, b[x].dims().end());
  int scale = b.constant(CONVOY_TYPE_F32, inner, {-1.5, 1.5, 0, 0});
  int bias = b.choices.oneIn(3) ? kOmitted : b.constant(CONVOY_TYPE_F32, inner, {-1, 1, 0, 0});
  double epsilon = b.choices.pick<double>({0.1, 0.01, 1});
  return b.add(
      "LayerNormalization", {x, scale, bias},
      {{CONVOY_TYPE_F32, b[x].dims(), normalized(b[x].range, double(elements(inner)), epsilon)}},
      {attr("axis", axis), attr("epsilon", epsilon)});
}

static bool makeGroupNormalization(Builder &b) {
  int x =
      b.image(0, [](const Value &value) { return isSingle(value) && value.dims()[1] % 4 == 0; });
  if (x == kOmitted)
    return false;
  int64_t groups = b.choices.pick<int64_t>({2, 4, 1});
  // The scale is one a group until opset 21, and one a channel then.
  Dims dims = {b.opset() < 21 ? groups : b[x].dims()[1]};
  int scale = b.constant(CONVOY_TYPE_F32, dims, {-1.5, 1.5, 0, 0});
  int bias = b.constant(CONVOY_TYPE_F32, dims, {-1, 1, 0, 0});
  double n = double(elements(b[x].dims())) / (groups * b[x].dims()[0]);
  double epsilon = b.choices.pick<double>({0.1, 0.01, 1});
  return b.add("GroupNormalization", {x, scale, bias},
               {{CONVOY_TYPE_F32, b[x].dims(), normalized(b[x].range, n, epsilon)}},
               {attr("num_groups", groups), attr("epsilon", epsilon)});
}

static bool makeSoftmax(Builder &b, const char *op) {
  bool isLog = std::string(op) == "LogSoftmax";
  int x = b.floatValue([](const Value &value) {
    return value.rank() >= 1 && elements(value.dims()) > 0 && value.range.magnitude() < 40 &&
           value.type() == CONVOY_TYPE_F32;
  });
  if (x == kOmitted)
    return false;
  int64_t axis = b.axisOf(b[x].rank());
  if (b.opset() < 11 && axis < 0)
    axis += b[x].rank();
  int64_t at = b.positiveAxis(axis, b[x].rank());
  double n = b[x].dims()[at];
  if (b.opset() < 13)
    n = double(elements(Dims(b[x].dims().begin() + at, b[x].dims().end())));
  Range p = b[x].range;
  double spread = 2 * p.magnitude();
  Range range = isLog ? rounded(CONVOY_TYPE_F32, -spread - std::log(n), 0, 2 * p.error, 0,
                                spread + std::log(n) + 8, n)
                      : rounded(CONVOY_TYPE_F32, 0, 1, 2 * p.error, 0, 1 + spread, n);
  return b.add(op, {x}, {{CONVOY_TYPE_F32, b[x].dims(), range}}, {attr("axis", axis)});
}

static bool makeHardmax(Builder &b) {
  int x = b.floatValue([](const Value &value) {
    return value.rank() >= 1 && elements(value.dims()) > 0 && value.range.exact() &&
           isSingle(value);
  });
  if (x == kOmitted || b.opset() < 13)
    return false;
  return b.add("Hardmax", {x}, {{CONVOY_TYPE_F32, b[x].dims(), {0, 1, 0, 1}}},
               {attr("axis", b.axisOf(b[x].rank()))});
}

static bool makeLrn(Builder &b) {
  int x = b.image(2, isSingle);
  if (x == kOmitted)
    return false;
  int64_t size = b.choices.pick<int64_t>({3, 5, 1, 2, 4});
  double alpha = b.choices.pick<double>({1e-4, 0.1, 1}),
         beta = b.choices.pick<double>({0.75, 0.5, 1});
  double bias = b.choices.pick<double>({1, 2});
  Range p = b[x].range;
  double m = p.magnitude();
  // y = x * s^-beta with s >= bias >= 1: both factors' slopes are below 1 + 2 alpha m^2.
  Range range = rounded(CONVOY_TYPE_F32, -m, m, p.error * (1 + 2 * alpha * m * m), 0,
                        4 * m + alpha * m * m * m, size);
  return b.add("LRN", {x}, {{CONVOY_TYPE_F32, b[x].dims(), range}},
               {attr("size", size), attr("alpha", alpha), attr("beta", beta), attr("bias", bias)});
}

static bool makeLpNormalization(Builder &b) {
  int x = b.floatValue([](const Value &value) {
    return value.rank() >= 1 && elements(value.dims()) > 0 && value.range.lo > 0.1 &&
           isSingle(value);
  });
  if (x == kOmitted)
    return false;
  Range p = b[x].range;
  return b.add(
      "LpNormalization", {x},
      {{CONVOY_TYPE_F32, b[x].dims(), rounded(CONVOY_TYPE_F32, 0, 1, 2 * p.error / p.lo, 0, 16)}},
      {attr("axis", b.axisOf(b[x].rank())), attr("p", b.choices.between(1, 2))});
}

void convoy::fuzz::addNormalizations(std::vector<OpKind> &kinds) {
  kinds.push_back({"BatchNormalization", 20, 7, kNewest, makeBatchNormalization});
  kinds.push_back({"InstanceNormalization", 5, 6, kNewest, makeInstanceNormalization});
  kinds.push_back({"LayerNormalization", 5, 17, kNewest, makeLayerNormalization});
  kinds.push_back({"GroupNormalization", 4, 18, kNewest, makeGroupNormalization});
  kinds.push_back({"Softmax", 8, 1, kNewest, [](Builder &b) { return makeSoftmax(b, "Softmax"); }});
  kinds.push_back(
      {"LogSoftmax", 3, 1, kNewest, [](Builder &b) { return makeSoftmax(b, "LogSoftmax"); }});
  kinds.push_back({"Hardmax", 2, 13, kNewest, makeHardmax});
  kinds.push_back({"LRN", 4, 1, kNewest, makeLrn});
  kinds.push_back({"LpNormalization", 2, 1, kNewest, makeLpNormalization});
}
