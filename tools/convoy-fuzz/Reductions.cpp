// Reductions over axes, and what sorts or adds up along one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/convoy-fuzz/Builder.h"

#include <algorithm>
#include <cmath>

using namespace convoy;
using namespace convoy::fuzz;

namespace {

/// Ranges of a reduction over n elements of a range.
struct Reduction {
  const char *op;
  /// Whether axes are an input since opset 13 and not 18.
  bool early;
  bool positive; ///< needs elements above zero
};

const Reduction reductions[] = {
    {"ReduceSum", true, false},        {"ReduceMean", false, false}, {"ReduceMax", false, false},
    {"ReduceMin", false, false},       {"ReduceL1", false, false},   {"ReduceL2", false, false},
    {"ReduceSumSquare", false, false}, {"ReduceProd", false, false}, {"ReduceLogSum", false, true},
    {"ReduceLogSumExp", false, false},
};

} // namespace

static Range reduced(const std::string &op, convoy_type type, const Range &p, double n) {
  double most = p.magnitude();
  if (op == "ReduceMax" || op == "ReduceMin")
    return p;
  if (op == "ReduceSum")
    return rounded(type, n * p.lo, n * p.hi, n * p.error, p.grid, n * most, n);
  if (op == "ReduceMean") {
    bool power = std::fmod(std::log2(n), 1) == 0;
    return rounded(type, p.lo, p.hi, p.error, power ? p.grid / n : 0, n * most, n);
  }
  if (op == "ReduceL1")
    return rounded(type, 0, n * most, n * p.error, p.grid, n * most, n);
  // A norm's error comes from its operands, each at most once, and from rounding its own sum.
  if (op == "ReduceL2")
    return rounded(type, 0, std::sqrt(n) * most, std::sqrt(n) * p.error, 0, std::sqrt(n) * most, n);
  if (op == "ReduceSumSquare")
    return rounded(type, 0, n * most * most, 2 * n * most * p.error, p.grid * p.grid,
                   n * most * most, n);
  if (op == "ReduceProd") {
    double top = std::pow(std::max(most, 1.0), n);
    return rounded(type, -top, top, n * top * p.error, 0, n * top);
  }
  if (op == "ReduceLogSum")
    return rounded(type, std::log(n * p.lo), std::log(n * p.hi), p.error / p.lo, 0,
                   8 + std::fabs(std::log(n * p.hi)) + std::fabs(std::log(n * p.lo)), n);
  return rounded(type, p.lo + std::log(n), p.hi + std::log(n), p.error, 0,
                 2 * most + 8 + std::log(n), n);
}

static bool makeReduce(Builder &b, const Reduction &row) {
  std::string op = row.op;
  int x = b.floatValue([&](const Value &value) {
    return value.rank() >= 1 && elements(value.dims()) > 0 &&
           (!row.positive || value.range.lo > 0.05) &&
           (op != "ReduceLogSumExp" || value.range.magnitude() < 30);
  });
  if (x == kOmitted)
    return false;
  Dims axes, dims;
  int64_t rank = b[x].rank();
  bool keep = b.choices.oneIn(2), all = b.choices.oneIn(6);
  double count = 1;
  uint32_t form = b.choices.draw(4);
  for (int64_t i = 0; i < rank; ++i) {
    bool chosen = all || (form == 0 && rank >= 3   ? i >= 2
                          : form == 1 && rank >= 2 ? i == 1
                                                   : b.choices.oneIn(2));
    if (!chosen) {
      dims.push_back(b[x].dims()[i]);
      continue;
    }
    count *= b[x].dims()[i];
    axes.push_back(b.opset() >= 11 && b.choices.oneIn(4) ? i - rank : i);
    if (keep)
      dims.push_back(1);
  }
  bool asInput = b.opset() >= (row.early ? 13 : 18);
  std::vector<::onnx::AttributeProto> attributes = {attr("keepdims", int64_t(keep))};
  if (axes.empty() && !asInput)
    return false; // An empty list is not the same in all readings.
  std::vector<int> inputs = {x};
  Range range = reduced(op, b[x].type(), b[x].range, count);
  if (axes.empty()) {
    // Nothing to reduce: the operand as it is, by the flag's text.
    if (op != "ReduceSum" && op != "ReduceMax" && op != "ReduceMean")
      return false;
    attributes.push_back(attr("noop_with_empty_axes", int64_t(1)));
    return b.add(op, inputs, {{b[x].type(), b[x].dims(), b[x].range}}, attributes);
  }
  if (all && b.choices.oneIn(2)) {
  } else if (asInput) {
    inputs.push_back(b.integers(axes));
  } else {
    attributes.push_back(attr("axes", axes));
  }
  return b.add(op, inputs, {{b[x].type(), dims, range}}, attributes);
}

static int exactFloats(Builder &b) {
  return b.floatValue([](const Value &value) {
    return value.rank() >= 1 && value.range.exact() && elements(value.dims()) > 0 &&
           value.type() != CONVOY_TYPE_BF16;
  });
}

static bool makeArg(Builder &b, const char *op) {
  int x = exactFloats(b);
  if (x == kOmitted || (b.opset() < 13 && b[x].type() != CONVOY_TYPE_F32))
    return false;
  int64_t axis = b.axisOf(b[x].rank());
  if (b.opset() < 11 && axis < 0)
    axis += b[x].rank();
  int64_t at = b.positiveAxis(axis, b[x].rank());
  bool keep = b.choices.oneIn(2);
  Dims dims = b[x].dims();
  double last = dims[at] - 1;
  if (keep)
    dims[at] = 1;
  else
    dims.erase(dims.begin() + at);
  std::vector<::onnx::AttributeProto> attributes = {attr("axis", axis),
                                                    attr("keepdims", int64_t(keep))};
  if (b.opset() >= 12 && b.choices.oneIn(3))
    attributes.push_back(attr("select_last_index", int64_t(1)));
  return b.add(op, {x}, {{CONVOY_TYPE_I64, dims, {0, last, 0, 1}}}, attributes);
}

static bool makeTopK(Builder &b) {
  int x = exactFloats(b);
  if (x == kOmitted)
    return false;
  int64_t axis = b.axisOf(b[x].rank());
  if (b.opset() < 11 && axis < 0)
    axis += b[x].rank();
  int64_t at = b.positiveAxis(axis, b[x].rank());
  Dims dims = b[x].dims();
  double last = dims[at] - 1;
  dims[at] = b.choices.between(1, dims[at]);
  std::vector<int> inputs = {x};
  std::vector<::onnx::AttributeProto> attributes = {attr("axis", axis)};
  if (b.opset() < 10)
    attributes.push_back(attr("k", dims[at]));
  else
    inputs.push_back(b.integers({dims[at]}));
  if (b.opset() >= 11 && b.choices.oneIn(2))
    attributes.push_back(attr("largest", int64_t(0)));
  return b.add("TopK", inputs,
               {{b[x].type(), dims, b[x].range}, {CONVOY_TYPE_I64, dims, {0, last, 0, 1}}},
               attributes);
}

static bool makeCumSum(Builder &b) {
  int x = b.floatValue(
      [](const Value &value) { return value.rank() >= 1 && value.type() == CONVOY_TYPE_F32; });
  if (x == kOmitted)
    return false;
  int64_t axis = b.axisOf(b[x].rank());
  double n = std::max<int64_t>(1, b[x].dims()[b.positiveAxis(axis, b[x].rank())]);
  Range p = b[x].range;
  Range range = rounded(b[x].type(), n * std::min(p.lo, 0.0), n * std::max(p.hi, 0.0), n * p.error,
                        p.grid, n * p.magnitude(), n);
  std::vector<::onnx::AttributeProto> attributes;
  if (b.choices.oneIn(2))
    attributes.push_back(attr("exclusive", int64_t(1)));
  if (b.choices.oneIn(2))
    attributes.push_back(attr("reverse", int64_t(1)));
  return b.add("CumSum", {x, b.scalar(CONVOY_TYPE_I64, double(axis))},
               {{b[x].type(), b[x].dims(), range}}, attributes);
}

void convoy::fuzz::addReductions(std::vector<OpKind> &kinds) {
  for (const Reduction &row : reductions)
    kinds.push_back({row.op, &row - reductions < 4 ? 5u : 2u, 1, kNewest,
                     [&row](Builder &b) { return makeReduce(b, row); }});
  for (const char *op : {"ArgMax", "ArgMin"})
    kinds.push_back({op, 3, 1, kNewest, [op](Builder &b) { return makeArg(b, op); }});
  kinds.push_back({"TopK", 3, 1, kNewest, makeTopK});
  kinds.push_back({"CumSum", 2, 11, kNewest, makeCumSum});
}
