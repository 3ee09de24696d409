// Several ops in the forms in which networks have them: what the passes look for.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/convoy-fuzz/Builder.h"

#include <algorithm>
#include <cmath>

using namespace convoy;
using namespace convoy::fuzz;

// Makes one op of another kind of the table.
static bool make(Builder &b, const char *name) {
  for (const OpKind &kind : opKinds())
    if (kind.name == name)
      return b.opset() >= kind.from && b.opset() <= kind.to && kind.make(b);
  return false;
}

// y = f(x) of a value that is known to have this range; false if it is too inexact.
static bool step(Builder &b, const char *op, const std::vector<int> &inputs, const Range &range,
                 const std::vector<::onnx::AttributeProto> &attributes = {}) {
  const Value &first = b[inputs[0]];
  return b.add(op, inputs, {{first.type(), first.dims(), range}}, attributes);
}

static bool makeActivatedConv(Builder &b) {
  static const std::vector<const char *> tails = {
      "Relu",  "BatchNormalization", "Add", "Clip", "LeakyRelu", "Sigmoid", "Mul",
      "PRelu", "HardSwish",          "Elu", "Max",  "Tanh"};
  if (!make(b, "Conv"))
    return false;
  for (int64_t count = 1 + b.choices.draw(3); count > 0; --count)
    if (!make(b, b.choices.pick(tails)))
      return true; // What is there by now is as good.
  return true;
}

// x * sigmoid(x), in two nodes.
static bool makeSwish(Builder &b) {
  int x = b.image(0, [](const Value &value) {
    return value.type() == CONVOY_TYPE_F32 && value.range.magnitude() < 50;
  });
  if (x == kOmitted)
    return false;
  Range p = b[x].range;
  Range gate = rounded(CONVOY_TYPE_F32, 0, 1, p.error / 4, 0, 1);
  if (!step(b, "Sigmoid", {x}, gate))
    return false;
  double m = p.magnitude();
  return step(b, "Mul", {x, b.last()},
              rounded(CONVOY_TYPE_F32, -m, m, p.error + m * gate.error, 0, m));
}

// x * clip(x + 3, 0, 6) / 6, as exporters before HardSwish write it.
static bool makeHardSwish(Builder &b) {
  int x = b.image(0, [](const Value &value) { return value.type() == CONVOY_TYPE_F32; });
  if (x == kOmitted || b.opset() < 11)
    return false;
  Range p = b[x].range;
  double m = p.magnitude();
  Range shifted = rounded(CONVOY_TYPE_F32, p.lo + 3, p.hi + 3, p.error, 0, m + 3);
  if (!step(b, "Add", {x, b.scalar(CONVOY_TYPE_F32, 3)}, shifted))
    return false;
  if (!step(b, "Clip", {b.last(), b.scalar(CONVOY_TYPE_F32, 0), b.scalar(CONVOY_TYPE_F32, 6)},
            {0, 6, shifted.error, 0}))
    return false;
  Range product =
      rounded(CONVOY_TYPE_F32, -6 * m, 6 * m, 6 * p.error + m * shifted.error, 0, 6 * m);
  if (!step(b, "Mul", {x, b.last()}, product))
    return false;
  return step(b, "Div", {b.last(), b.scalar(CONVOY_TYPE_F32, 6)},
              rounded(CONVOY_TYPE_F32, -m, m, product.error / 6, 0, m));
}

// Channels in groups, changed about: reshape, transpose, reshape.
static bool makeShuffle(Builder &b) {
  int x = b.image(2, [](const Value &value) { return value.dims()[1] % 2 == 0; });
  if (x == kOmitted)
    return false;
  Dims dims = b[x].dims();
  int64_t groups = dims[1] % 4 == 0 && b.choices.oneIn(2) ? 4 : 2;
  Range range = b[x].range;
  convoy_type type = b[x].type();
  Dims split = {dims[0], groups, dims[1] / groups, dims[2], dims[3]};
  if (!b.add("Reshape", {x, b.integers(split)}, {{type, split, range}}))
    return false;
  std::swap(split[1], split[2]);
  if (!b.add("Transpose", {b.last()}, {{type, split, range}}, {attr("perm", Dims{0, 2, 1, 3, 4})}))
    return false;
  return b.add("Reshape", {b.last(), b.integers(dims)}, {{type, dims, range}});
}

// A gate for each channel from the mean of it.
static bool makeSqueezeExcite(Builder &b) {
  int x = b.image(2, [](const Value &value) {
    return value.type() == CONVOY_TYPE_F32 && value.range.magnitude() < 50;
  });
  if (x == kOmitted)
    return false;
  Dims dims = b[x].dims(), pooled = {dims[0], dims[1], 1, 1};
  Range p = b[x].range;
  double n = double(dims[2] * dims[3]), m = p.magnitude();
  Range mean = rounded(CONVOY_TYPE_F32, p.lo, p.hi, p.error, 0, m, n);
  if (!b.add("GlobalAveragePool", {x}, {{CONVOY_TYPE_F32, pooled, mean}}))
    return false;
  double most = 1.7 / std::sqrt(double(dims[1])), sum = dims[1] * most * m;
  int w = b.constant(CONVOY_TYPE_F32, {dims[1], dims[1], 1, 1}, {-most, most, 0, 0});
  Range mixed =
      rounded(CONVOY_TYPE_F32, -sum, sum, dims[1] * most * mean.error, 0, sum, double(dims[1]));
  if (!b.add("Conv", {b.last(), w}, {{CONVOY_TYPE_F32, pooled, mixed}}))
    return false;
  Range gate = rounded(CONVOY_TYPE_F32, 0, 1, mixed.error / 4, 0, 1);
  if (!b.add("Sigmoid", {b.last()}, {{CONVOY_TYPE_F32, pooled, gate}}))
    return false;
  std::vector<int> inputs = {x, b.last()};
  if (b.choices.oneIn(2))
    std::swap(inputs[0], inputs[1]);
  return b.add(
      "Mul", inputs,
      {{CONVOY_TYPE_F32, dims, rounded(CONVOY_TYPE_F32, -m, m, p.error + m * gate.error, 0, m)}});
}

// To rows of channels, a product, and back.
static bool makeChannelsLast(Builder &b) {
  int x = b.image(2);
  if (x == kOmitted)
    return false;
  Dims d = b[x].dims();
  Range range = b[x].range;
  convoy_type type = b[x].type();
  if (!b.add("Transpose", {x}, {{type, {d[0], d[2], d[3], d[1]}, range}},
             {attr("perm", Dims{0, 2, 3, 1})}))
    return false;
  static const std::vector<const char *> middles = {"MatMul", "Relu", "LayerNormalization",
                                                    "Add",    "Mul",  "Softmax"};
  if (!make(b, b.choices.pick(middles)))
    return true;
  int y = b.last();
  if (b[y].rank() != 4)
    return true;
  d = b[y].dims();
  return b.add("Transpose", {y}, {{b[y].type(), {d[0], d[3], d[1], d[2]}, b[y].range}},
               {attr("perm", Dims{0, 3, 1, 2})});
}

// Two constants and an op on them: all of it can be computed at compile time.
static bool makeConstants(Builder &b) {
  Dims dims = b.newDims(b.choices.between(1, 4));
  int x = b.constant(CONVOY_TYPE_F32, dims, {-3, 3, 0, 1}),
      y = b.constant(CONVOY_TYPE_F32, dims, {-3, 3, 0, 1});
  switch (b.choices.draw(4)) {
  case 0:
    return b.add("Add", {x, y}, {{CONVOY_TYPE_F32, dims, {-6, 6, 0, 1}}});
  case 1:
    return b.add("Mul", {x, y}, {{CONVOY_TYPE_F32, dims, {-9, 9, 0, 1}}});
  case 2:
    return b.add("Relu", {x}, {{CONVOY_TYPE_F32, dims, {0, 3, 0, 1}}});
  default:
    return b.add("Concat", {x, y}, {{CONVOY_TYPE_F32, (dims[0] *= 2, dims), {-3, 3, 0, 1}}},
                 {attr("axis", int64_t(0))});
  }
}

// A reshape to a shape that is computed from the operand's, as exporters write x.view(n, -1).
static bool makeView(Builder &b) {
  int x = b.floatValue(
      [](const Value &value) { return value.rank() >= 2 && elements(value.dims()) > 0; });
  if (x == kOmitted)
    return false;
  int64_t rank = b[x].rank(), kept = b.choices.draw(2);
  Range extents{0, 1e4, 0, 1};
  if (!b.add("Shape", {x}, {{CONVOY_TYPE_I64, {rank}, extents}}))
    return false;
  int shape = b.last();
  if (!b.add("Gather", {shape, b.integers({kept})}, {{CONVOY_TYPE_I64, {1}, extents}},
             {attr("axis", int64_t(0))}))
    return false;
  if (!b.add("Concat", {b.last(), b.integers({-1})}, {{CONVOY_TYPE_I64, {2}, {-1, 1e4, 0, 1}}},
             {attr("axis", int64_t(0))}))
    return false;
  int64_t extent = b[x].dims()[kept];
  return b.add("Reshape", {x, b.last()},
               {{b[x].type(), {extent, elements(b[x].dims()) / extent}, b[x].range}});
}

// A convolution's channels go two ways and come together again.
static bool makeSplitConcat(Builder &b) {
  if (!make(b, "Conv"))
    return false;
  int x = b.last();
  const Dims dims = b[x].dims();
  int64_t channels = dims[1];
  if (channels < 2)
    return true;
  int64_t first = b.choices.oneIn(2) ? b.choices.between(1, channels - 1) : channels / 2;
  auto part = [&](int64_t count) {
    Dims made = dims;
    made[1] = count;
    return Made{b[x].type(), made, b[x].range};
  };
  std::vector<int> inputs = {x};
  std::vector<::onnx::AttributeProto> attributes = {attr("axis", int64_t(1))};
  if (b.opset() < 13)
    attributes.push_back(attr("split", Dims{first, channels - first}));
  else
    inputs.push_back(b.integers({first, channels - first}));
  if (!b.add("Split", inputs, {part(first), part(channels - first)}, attributes))
    return false;
  std::vector<int> parts = b.graph.nodes.back().outputs;
  static const std::vector<const char *> ops = {"Relu", "Sigmoid", "Tanh", "Identity"};
  const char *op = b.choices.pick(ops);
  double slope = 1;
  Range p = b[parts[0]].range, mapped = p;
  if (std::string(op) == "Relu")
    mapped = {std::max(p.lo, 0.0), std::max(p.hi, 0.0), p.error, p.grid};
  else if (std::string(op) != "Identity")
    mapped = rounded(b[x].type(), -1, 1, slope * p.error, 0, 1);
  if (p.magnitude() > 50 || !step(b, op, {parts[0]}, mapped))
    return true;
  std::vector<int> again = {b.last(), parts[1]};
  if (b.choices.oneIn(2))
    std::swap(again[0], again[1]);
  if (b.choices.oneIn(3))
    again.push_back(x);
  Range range{std::min(mapped.lo, p.lo), std::max(mapped.hi, p.hi), std::max(mapped.error, p.error),
              mapped.grid == 0 || p.grid == 0 ? 0 : std::min(mapped.grid, p.grid)};
  Dims joined = dims;
  joined[1] = again.size() == 3 ? 2 * channels : channels;
  return b.add("Concat", again, {{b[x].type(), joined, range}}, {attr("axis", int64_t(1))});
}

void convoy::fuzz::addIdioms(std::vector<OpKind> &kinds) {
  kinds.push_back({"activated-conv", 50, 7, kNewest, makeActivatedConv});
  kinds.push_back({"swish", 10, 7, kNewest, makeSwish});
  kinds.push_back({"hard-swish", 6, 11, kNewest, makeHardSwish});
  kinds.push_back({"shuffle", 10, 7, kNewest, makeShuffle});
  kinds.push_back({"squeeze-excite", 8, 7, kNewest, makeSqueezeExcite});
  kinds.push_back({"channels-last", 10, 7, kNewest, makeChannelsLast});
  kinds.push_back({"view", 6, 7, kNewest, makeView});
  kinds.push_back({"split-concat", 12, 7, kNewest, makeSplitConcat});
  kinds.push_back({"constants", 4, 9, kNewest, makeConstants});
}
