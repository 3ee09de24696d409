// Ops that take or put elements where indices say.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/convoy-fuzz/Builder.h"

#include <algorithm>
#include <numeric>

using namespace convoy;
using namespace convoy::fuzz;

static int data(Builder &b) {
  return b.floatValue(
      [](const Value &value) { return value.rank() >= 1 && elements(value.dims()) > 0; });
}

// Indices below `extent`, negative ones among them where the opset has these; as a constant or as
// an input.
static int indices(Builder &b, const Dims &dims, int64_t extent, bool negative) {
  Range range{negative ? -double(extent) : 0, double(extent - 1), 0, 1};
  convoy_type type = b.choices.oneIn(3) ? CONVOY_TYPE_I32 : CONVOY_TYPE_I64;
  return b.choices.oneIn(2) ? b.input(type, dims, range) : b.constant(type, dims, range);
}

static bool makeGather(Builder &b) {
  int x = data(b);
  if (x == kOmitted)
    return false;
  int64_t axis = b.axisOf(b[x].rank()), at = b.positiveAxis(axis, b[x].rank());
  Dims shape = b.choices.pick<Dims>({{}, {3}, {1}, {2, 2}, {5}});
  int index = indices(b, shape, b[x].dims()[at], b.opset() >= 11);
  Dims dims = b[x].dims();
  dims.erase(dims.begin() + at);
  dims.insert(dims.begin() + at, shape.begin(), shape.end());
  return b.add("Gather", {x, index}, {{b[x].type(), dims, b[x].range}}, {attr("axis", axis)});
}

static bool makeGatherElements(Builder &b) {
  int x = data(b);
  if (x == kOmitted)
    return false;
  int64_t axis = b.axisOf(b[x].rank()), at = b.positiveAxis(axis, b[x].rank());
  Dims dims = b[x].dims();
  for (int64_t i = 0; i < b[x].rank(); ++i)
    dims[i] = b.choices.oneIn(2) ? b.choices.between(1, i == at ? 4 : dims[i]) : dims[i];
  int index = indices(b, dims, b[x].dims()[at], true);
  return b.add("GatherElements", {x, index}, {{b[x].type(), dims, b[x].range}},
               {attr("axis", axis)});
}

static bool makeGatherNd(Builder &b) {
  int x = data(b);
  if (x == kOmitted)
    return false;
  int64_t depth = b.choices.between(1, b[x].rank());
  int64_t least = *std::min_element(b[x].dims().begin(), b[x].dims().begin() + depth);
  Dims shape = b.choices.pick<Dims>({{3}, {}, {2, 2}});
  Dims dims = shape;
  dims.insert(dims.end(), b[x].dims().begin() + depth, b[x].dims().end());
  shape.push_back(depth);
  // Only 64 bits here.
  Range range{-double(least), double(least - 1), 0, 1};
  int index = b.choices.oneIn(2) ? b.input(CONVOY_TYPE_I64, shape, range)
                                 : b.constant(CONVOY_TYPE_I64, shape, range);
  return b.add("GatherND", {x, index}, {{b[x].type(), dims, b[x].range}});
}

static Range both(const Range &p, const Range &q) {
  return {std::min(p.lo, q.lo), std::max(p.hi, q.hi), std::max(p.error, q.error),
          p.grid == 0 || q.grid == 0 ? 0 : std::min(p.grid, q.grid)};
}

static bool makeScatterElements(Builder &b, const char *op) {
  int x = data(b);
  if (x == kOmitted)
    return false;
  // Each index once: which of two updates stays is not defined.
  int64_t axis = b.axisOf(b[x].rank()), at = b.positiveAxis(axis, b[x].rank());
  if (b.opset() < 11)
    axis = at;
  Dims dims = b[x].dims();
  int64_t extent = dims[at];
  dims[at] = b.choices.between(1, extent);
  for (int64_t i = 0; i < b[x].rank(); ++i)
    if (i != at && b.choices.oneIn(3))
      dims[i] = b.choices.between(1, dims[i]);
  Tensor index;
  index.type = CONVOY_TYPE_I64;
  index.resize(dims);
  int64_t shift = b.choices.between(0, extent - 1), inner = 1;
  for (int64_t i = at + 1; i < b[x].rank(); ++i)
    inner *= dims[i];
  for (int64_t i = 0; i < index.size(); ++i)
    index.set(i, double((i / inner % dims[at] + shift) % extent));
  int update = b.operand(b[x].type(), dims, b.newRange(b[x].type()));
  std::vector<::onnx::AttributeProto> attributes = {attr("axis", axis)};
  Range range = both(b[x].range, b[update].range);
  if (b.opset() >= 16 && b.choices.oneIn(2)) {
    attributes.push_back(attr("reduction", "add"));
    Range p = b[x].range, q = b[update].range;
    range = rounded(b[x].type(), p.lo + std::min(q.lo, 0.0), p.hi + std::max(q.hi, 0.0),
                    p.error + q.error, both(p, q).grid, p.magnitude() + q.magnitude());
  }
  return b.add(op, {x, b.constant(index), update}, {{b[x].type(), b[x].dims(), range}}, attributes);
}

static bool makeScatterNd(Builder &b) {
  int x = data(b);
  if (x == kOmitted)
    return false;
  // Rows, each once.
  int64_t extent = b[x].dims()[0], count = b.choices.between(1, extent),
          shift = b.choices.between(0, extent - 1);
  Tensor index;
  index.type = CONVOY_TYPE_I64;
  index.resize({count, 1});
  for (int64_t i = 0; i < count; ++i)
    index.set(i, double((i + shift) % extent));
  Dims dims = b[x].dims();
  dims[0] = count;
  int update = b.operand(b[x].type(), dims, b.newRange(b[x].type()));
  return b.add("ScatterND", {x, b.constant(index), update},
               {{b[x].type(), b[x].dims(), both(b[x].range, b[update].range)}});
}

static bool makeOneHot(Builder &b) {
  int64_t depth = b.choices.between(1, 6);
  Dims dims = b.newDims(b.choices.between(1, 2));
  int index = b.input(CONVOY_TYPE_I64, dims, {-double(depth), double(depth - 1), 0, 1});
  Tensor values;
  values.type = CONVOY_TYPE_F32;
  values.resize({2});
  values.set(0, double(b.choices.between(-1, 1)));
  values.set(1, 2);
  int64_t axis = b.axisOf(int64_t(dims.size()) + 1),
          at = b.positiveAxis(axis, int64_t(dims.size()) + 1);
  dims.insert(dims.begin() + at, depth);
  return b.add("OneHot", {index, b.scalar(CONVOY_TYPE_I64, double(depth)), b.constant(values)},
               {{CONVOY_TYPE_F32, dims, {-1, 2, 0, 1}}}, {attr("axis", axis)});
}

void convoy::fuzz::addIndexing(std::vector<OpKind> &kinds) {
  kinds.push_back({"Gather", 8, 1, kNewest, makeGather});
  kinds.push_back({"GatherElements", 3, 11, kNewest, makeGatherElements});
  kinds.push_back({"GatherND", 3, 12, kNewest, makeGatherNd});
  kinds.push_back(
      {"Scatter", 3, 9, 10, [](Builder &b) { return makeScatterElements(b, "Scatter"); }});
  kinds.push_back({"ScatterElements", 3, 11, kNewest,
                   [](Builder &b) { return makeScatterElements(b, "ScatterElements"); }});
  kinds.push_back({"ScatterND", 3, 11, kNewest, makeScatterNd});
  kinds.push_back({"OneHot", 2, 11, kNewest, makeOneHot});
}
