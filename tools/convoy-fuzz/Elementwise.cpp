// Ops that compute each element from those at the same place.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/convoy-fuzz/Builder.h"

#include <algorithm>
#include <cmath>

using namespace convoy;
using namespace convoy::fuzz;

namespace {

/// How a function of one number treats rounding.
enum class Kind {
  Selects, ///< gives its operand, its negative or a constant on the grid: rounds nothing
  Smooth,  ///< rounds, and its slope is bounded on the domain
  Jumps,   ///< has jumps, and rounds nothing
};

struct Unary {
  const char *op;
  int64_t from;
  Kind kind;
  double least, most; ///< domain
  double (*function)(double x, double a, double b);
  /// Attributes for a and b with their values; null where there is none.
  const char *a = nullptr, *b = nullptr;
  double aValue = 0, bValue = 0;
};

} // namespace

static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
static double softplus(double x) { return std::log1p(std::exp(x)); }
static double gelu(double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); }
static constexpr double kFar = 1e6;

#define F(expression)                                                                              \
  [](double x, double a, double b) -> double {                                                     \
    (void)a, (void)b;                                                                              \
    return expression;                                                                             \
  }
static const Unary unaries[] = {
    {"Relu", 6, Kind::Selects, -kFar, kFar, F(std::max(x, 0.0))},
    {"Identity", 1, Kind::Selects, -kFar, kFar, F(x)},
    {"Abs", 6, Kind::Selects, -kFar, kFar, F(std::fabs(x))},
    {"Neg", 6, Kind::Selects, -kFar, kFar, F(-x)},
    {"LeakyRelu", 6, Kind::Smooth, -kFar, kFar, F(x < 0 ? a * x : x), "alpha", nullptr, 0.2, 0},
    {"Elu", 6, Kind::Smooth, -20, kFar, F(x < 0 ? a * std::expm1(x) : x), "alpha", nullptr, 1.5},
    {"Selu", 6, Kind::Smooth, -20, kFar, F(b *(x > 0 ? x : a * std::expm1(x))), "alpha", "gamma",
     1.5, 1.25},
    {"Celu", 12, Kind::Smooth, -20, kFar, F(std::max(0.0, x) + std::min(0.0, a *std::expm1(x / a))),
     "alpha", nullptr, 1.5},
    {"Sigmoid", 6, Kind::Smooth, -50, 50, F(sigmoid(x))},
    {"HardSigmoid", 6, Kind::Smooth, -kFar, kFar, F(std::max(0.0, std::min(1.0, a *x + b))),
     "alpha", "beta", 0.3, 0.4},
    {"HardSwish", 14, Kind::Smooth, -kFar, kFar, F(x *std::max(0.0, std::min(1.0, x / 6 + 0.5)))},
    {"Tanh", 6, Kind::Smooth, -50, 50, F(std::tanh(x))},
    {"Exp", 6, Kind::Smooth, -20, 6, F(std::exp(x))},
    {"Log", 6, Kind::Smooth, 0.02, kFar, F(std::log(x))},
    {"Sqrt", 6, Kind::Smooth, 0.01, kFar, F(std::sqrt(x))},
    {"Reciprocal", 6, Kind::Smooth, 0.1, kFar, F(1 / x)},
    {"Softplus", 1, Kind::Smooth, -50, 50, F(softplus(x))},
    {"Softsign", 1, Kind::Smooth, -kFar, kFar, F(x / (1 + std::fabs(x)))},
    {"Erf", 9, Kind::Smooth, -20, 20, F(std::erf(x))},
    {"Gelu", 20, Kind::Smooth, -20, 20, F(gelu(x))},
    {"Mish", 18, Kind::Smooth, -20, 50, F(x *std::tanh(softplus(x)))},
    {"Swish", 24, Kind::Smooth, -50, 50, F(x *sigmoid(a *x)), "alpha", nullptr, 1.5},
    {"Sin", 7, Kind::Smooth, -10, 10, F(std::sin(x))},
    {"Cos", 7, Kind::Smooth, -10, 10, F(std::cos(x))},
    {"Tan", 7, Kind::Smooth, -1.2, 1.2, F(std::tan(x))},
    {"Asin", 7, Kind::Smooth, -0.95, 0.95, F(std::asin(x))},
    {"Acos", 7, Kind::Smooth, -0.95, 0.95, F(std::acos(x))},
    {"Atan", 7, Kind::Smooth, -kFar, kFar, F(std::atan(x))},
    {"Sinh", 9, Kind::Smooth, -5, 5, F(std::sinh(x))},
    {"Cosh", 9, Kind::Smooth, -5, 5, F(std::cosh(x))},
    {"Asinh", 9, Kind::Smooth, -kFar, kFar, F(std::asinh(x))},
    {"Acosh", 9, Kind::Smooth, 1.1, kFar, F(std::acosh(x))},
    {"Atanh", 9, Kind::Smooth, -0.95, 0.95, F(std::atanh(x))},
    {"Sign", 9, Kind::Jumps, -kFar, kFar, F((x > 0) - (x < 0))},
    {"Floor", 6, Kind::Jumps, -kFar, kFar, F(std::floor(x))},
    {"Ceil", 6, Kind::Jumps, -kFar, kFar, F(std::ceil(x))},
    {"Round", 11, Kind::Jumps, -kFar, kFar, F(std::nearbyint(x))},
    {"ThresholdedRelu", 10, Kind::Jumps, -kFar, kFar, F(x > a ? x : 0), "alpha", nullptr, 1},
    {"Shrink", 9, Kind::Jumps, -kFar, kFar, F(x<-a ? x + b : x> a ? x - b : 0), "lambd", "bias",
     1.5, 0},
};
#undef F

// Bounds and the largest slope of a function between two numbers, from samples: the functions above
// are smooth or piecewise linear, so that a quarter more bounds what lies between two samples.
static Range mapRange(const Unary &row, const Range &x, double a, double b) {
  constexpr int kSamples = 256;
  Range result{INFINITY, -INFINITY, 0, 0};
  double slope = 0, before = 0, step = (x.hi - x.lo) / kSamples;
  for (int i = 0; i <= kSamples; ++i) {
    double value = row.function(x.lo + i * step, a, b);
    result.lo = std::min(result.lo, value);
    result.hi = std::max(result.hi, value);
    if (i > 0 && step > 0)
      slope = std::max(slope, std::fabs(value - before) / step);
    before = value;
  }
  if (x.lo < 0 && x.hi > 0) {
    double middle = row.function(0, a, b);
    result.lo = std::min(result.lo, middle);
    result.hi = std::max(result.hi, middle);
  }
  if (row.kind == Kind::Smooth) {
    double margin = 0.25 * slope * step;
    result.lo -= margin;
    result.hi += margin;
    result.error = 1.25 * slope * x.error;
  }
  return result;
}

static bool makeUnary(Builder &b, const Unary &row) {
  int x = row.kind == Kind::Jumps ? b.find([&](const Value &value) {
    return tools::isFloat(value.type()) && value.range.exact();
  })
                                  : b.floatValue();
  if (x == kOmitted)
    x = b.floatValue(
        [&](const Value &value) { return row.kind != Kind::Jumps || value.range.exact(); });
  if (x == kOmitted)
    return false;
  Range range = b[x].range;
  if (range.lo < row.least || range.hi > row.most)
    return false;
  std::vector<::onnx::AttributeProto> attributes;
  // A default that is not written would need its value here: all of them are.
  if (row.a)
    attributes.push_back(attr(row.a, row.aValue));
  if (row.b)
    attributes.push_back(attr(row.b, row.bValue));
  Range mapped = mapRange(row, range, row.aValue, row.bValue);
  convoy_type type = b[x].type();
  if (row.kind == Kind::Selects) {
    mapped.error = range.error;
    mapped.grid = range.grid;
  } else if (row.kind == Kind::Jumps) {
    // Rounding has the integers' grid; the others choose.
    bool rounds = std::string(row.op) != "ThresholdedRelu" && std::string(row.op) != "Shrink";
    mapped.grid = rounds ? 1 : range.grid;
  } else {
    mapped = rounded(type, mapped.lo, mapped.hi, mapped.error, 0,
                     std::max(mapped.hi, -mapped.lo) + range.magnitude());
  }
  return b.add(row.op, {x}, {{type, b[x].dims(), mapped}}, attributes);
}

// ---- Two operands
// --------------------------------------------------------------------------------

// A second operand: a fitting value, or a constant of a shape that broadcasts.
static int partner(Builder &b, int x, const Range &range, const Builder::Filter &filter = nullptr) {
  const Dims dims = b[x].dims();
  convoy_type type = b[x].type();
  if (b.choices.oneIn(2)) {
    int found = b.find([&](const Value &value) {
      Dims result;
      return value.type() == type && broadcast(dims, value.dims(), result) &&
             elements(result) <= 2 * std::max<int64_t>(elements(dims), 64) &&
             (!filter || filter(value));
    });
    if (found != kOmitted)
      return found;
  }
  Dims made = dims;
  switch (b.choices.draw(6)) {
  case 0: // One number.
    made.assign(b.choices.draw(2) ? dims.size() : 0, 1);
    break;
  case 1: // One a channel.
    for (size_t i = 0; i < made.size(); ++i)
      if (i != 1)
        made[i] = 1;
    break;
  case 2: // The same without the batch.
    if (!made.empty())
      made.erase(made.begin());
    break;
  case 3: // Any dimension may be 1, in both.
    for (int64_t &dim : made)
      if (b.choices.oneIn(2))
        dim = 1;
    break;
  case 4: // More dimensions.
    if (made.size() < 5)
      made.insert(made.begin(), b.choices.between(1, 2));
    break;
  default:
    break;
  }
  return b.operand(type, made, range);
}

static int anyNumber(Builder &b) {
  if (b.choices.oneIn(6))
    return b.exactValue();
  return b.floatValue();
}

static double gridOf(double a, double b) { return a == 0 || b == 0 ? 0 : std::min(a, b); }

static bool makeAddSub(Builder &b, bool subtracts) {
  int x = anyNumber(b);
  if (x == kOmitted)
    return false;
  int y = partner(b, x, b.newRange(b[x].type()));
  if (y == kOmitted)
    return false;
  if (b.choices.oneIn(2))
    std::swap(x, y);
  Range p = b[x].range, q = b[y].range;
  if (subtracts)
    q = {-q.hi, -q.lo, q.error, q.grid};
  Dims dims;
  if (!broadcast(b[x].dims(), b[y].dims(), dims))
    return false;
  return b.add(subtracts ? "Sub" : "Add", {x, y},
               {{b[x].type(), dims,
                 rounded(b[x].type(), p.lo + q.lo, p.hi + q.hi, p.error + q.error,
                         gridOf(p.grid, q.grid), p.magnitude() + q.magnitude())}});
}

static Range product(convoy_type type, const Range &p, const Range &q) {
  double corners[] = {p.lo * q.lo, p.lo * q.hi, p.hi * q.lo, p.hi * q.hi};
  double error = p.error * q.magnitude() + q.error * p.magnitude();
  return rounded(type, *std::min_element(corners, corners + 4),
                 *std::max_element(corners, corners + 4), error, p.grid * q.grid,
                 p.magnitude() * q.magnitude());
}

static bool makeMul(Builder &b) {
  int x = anyNumber(b);
  int y = x == kOmitted ? kOmitted : partner(b, x, b.newRange(b[x].type()));
  if (y == kOmitted)
    return false;
  if (b.choices.oneIn(2))
    std::swap(x, y);
  Dims dims;
  if (!broadcast(b[x].dims(), b[y].dims(), dims))
    return false;
  return b.add("Mul", {x, y}, {{b[x].type(), dims, product(b[x].type(), b[x].range, b[y].range)}});
}

static bool makeDiv(Builder &b) {
  int x = anyNumber(b);
  if (x == kOmitted)
    return false;
  bool isFloat = tools::isFloat(b[x].type());
  auto far = [](const Value &value) { return value.range.lo >= 0.2; };
  int y = partner(b, x, isFloat ? Range{0.25, 4, 0, 0} : Range{1, 5, 0, 1}, far);
  Dims dims;
  if (y == kOmitted || !broadcast(b[x].dims(), b[y].dims(), dims))
    return false;
  Range q = b[y].range, inverse{1 / q.hi, 1 / q.lo, q.error / (q.lo * q.lo), 0};
  Range result = product(b[x].type(), b[x].range, inverse);
  if (!isFloat)
    result = {std::trunc(result.lo) - 1, std::trunc(result.hi) + 1, 0, 1};
  if (!isFloat && b[x].range.lo >= 0)
    result.lo = 0;
  return b.add("Div", {x, y}, {{b[x].type(), dims, result}});
}

static bool makePow(Builder &b) {
  int x = b.floatValue(
      [](const Value &value) { return value.range.lo >= 0.1 && value.range.hi <= 20; });
  if (x == kOmitted)
    return false;
  // An exponent that is a constant everywhere is rewritten: 2, 0.5, -1 and 3 among them.
  int y;
  double least = -2, most = 2;
  if (b.choices.oneIn(3)) {
    y = partner(b, x, {-2, 2, 0, 0},
                [](const Value &value) { return value.range.magnitude() <= 2; });
  } else {
    least = most = b.choices.pick<double>({2, 0.5, 1, 0, -1, 3, -0.5, 1.5});
    y = b.scalar(b[x].type(), least);
  }
  Dims dims;
  if (y == kOmitted || !broadcast(b[x].dims(), b[y].dims(), dims))
    return false;
  Range p = b[x].range, q = b[y].range;
  double corners[] = {std::pow(p.lo, least), std::pow(p.lo, most), std::pow(p.hi, least),
                      std::pow(p.hi, most)};
  double lo = *std::min_element(corners, corners + 4), hi = *std::max_element(corners, corners + 4);
  double error = hi * (2 * p.error * 3 / p.lo + q.error * 5);
  return b.add("Pow", {x, y},
               {{b[x].type(), dims, rounded(b[x].type(), lo, hi, error, 0, 4 * hi)}});
}

static bool makeExtreme(Builder &b, bool isMax) {
  int x = anyNumber(b);
  // Integer types came with opset 8 and 12.
  if (x == kOmitted || (!tools::isFloat(b[x].type()) && b.opset() < 12))
    return false;
  std::vector<int> inputs = {x};
  Dims dims = b[x].dims();
  Range range = b[x].range;
  for (int64_t more = b.choices.draw(3); more > 0 && b.opset() >= 8; --more) {
    int y = partner(b, x, b.newRange(b[x].type()));
    if (y == kOmitted || !broadcast(dims, b[y].dims(), dims))
      return false;
    inputs.push_back(y);
    Range q = b[y].range;
    range = {isMax ? std::max(range.lo, q.lo) : std::min(range.lo, q.lo),
             isMax ? std::max(range.hi, q.hi) : std::min(range.hi, q.hi),
             std::max(range.error, q.error), gridOf(range.grid, q.grid)};
  }
  return b.add(isMax ? "Max" : "Min", inputs, {{b[x].type(), dims, range}});
}

static bool makeSum(Builder &b, bool isMean) {
  int x = b.floatValue();
  if (x == kOmitted)
    return false;
  std::vector<int> inputs = {x};
  Dims dims = b[x].dims();
  Range p = b[x].range;
  double sum = p.magnitude();
  for (int64_t more = b.choices.draw(3); more > 0 && b.opset() >= 8; --more) {
    int y = partner(b, x, b.newRange(b[x].type()));
    if (y == kOmitted || !broadcast(dims, b[y].dims(), dims))
      return false;
    inputs.push_back(y);
    Range q = b[y].range;
    sum += q.magnitude();
    p = {p.lo + q.lo, p.hi + q.hi, p.error + q.error, gridOf(p.grid, q.grid)};
  }
  double count = isMean ? inputs.size() : 1;
  bool halves = count == 1 || count == 2;
  return b.add(isMean ? "Mean" : "Sum", inputs,
               {{b[x].type(), dims,
                 rounded(b[x].type(), p.lo / count, p.hi / count, p.error / count,
                         halves ? p.grid / count : 0, sum)}});
}

static bool makeComparison(Builder &b, const char *op) {
  int x = b.exactValue();
  if (x == kOmitted || (b.opset() < 9 && !tools::isFloat(b[x].type())))
    return false;
  // Equal took no floats before opset 11.
  if (std::string(op) == "Equal" && b.opset() < 11 && tools::isFloat(b[x].type()))
    return false;
  int y = partner(b, x, b.newRange(b[x].type()),
                  [](const Value &value) { return value.range.exact(); });
  Dims dims;
  if (y == kOmitted || !broadcast(b[x].dims(), b[y].dims(), dims))
    return false;
  return b.add(op, {x, y}, {{CONVOY_TYPE_BOOL, dims, {0, 1, 0, 1}}});
}

static int mask(Builder &b, const Dims *like = nullptr) {
  int found = b.find([&](const Value &value) {
    Dims result;
    return value.type() == CONVOY_TYPE_BOOL && (!like || broadcast(*like, value.dims(), result));
  });
  return found != kOmitted && !b.choices.oneIn(4)
             ? found
             : b.input(CONVOY_TYPE_BOOL, like ? *like : b.newDims(b.choices.between(1, 4)),
                       {0, 1, 0, 1});
}

static bool makeLogic(Builder &b, const char *op) {
  int x = mask(b);
  Dims like = b[x].dims(), dims;
  int y = partner(b, x, {0, 1, 0, 1});
  if (y == kOmitted || !broadcast(like, b[y].dims(), dims))
    return false;
  return b.add(op, {x, y}, {{CONVOY_TYPE_BOOL, dims, {0, 1, 0, 1}}});
}

static bool makeNot(Builder &b) {
  int x = mask(b);
  return b.add("Not", {x}, {{CONVOY_TYPE_BOOL, b[x].dims(), {0, 1, 0, 1}}});
}

static bool makeWhere(Builder &b) {
  int x = anyNumber(b);
  if (x == kOmitted)
    return false;
  int y = partner(b, x, b.newRange(b[x].type()));
  Dims dims;
  if (y == kOmitted || !broadcast(b[x].dims(), b[y].dims(), dims))
    return false;
  if (b.choices.oneIn(2))
    std::swap(x, y);
  int condition = mask(b, &dims);
  if (!broadcast(dims, b[condition].dims(), dims))
    return false;
  Range p = b[x].range, q = b[y].range;
  return b.add("Where", {condition, x, y},
               {{b[x].type(),
                 dims,
                 {std::min(p.lo, q.lo), std::max(p.hi, q.hi), std::max(p.error, q.error),
                  gridOf(p.grid, q.grid)}}});
}

static bool makePRelu(Builder &b) {
  int x = b.floatValue([](const Value &value) { return value.rank() >= 1; });
  if (x == kOmitted)
    return false;
  Dims slope = b[x].dims();
  if (b.choices.oneIn(3))
    slope.assign(1, 1);
  else if (slope.size() >= 2) {
    slope.erase(slope.begin());
    for (size_t i = 1; i < slope.size(); ++i)
      slope[i] = 1;
  }
  int y = b.operand(b[x].type(), slope, {-0.5, 0.5, 0, 0.25});
  Range p = b[x].range,
        scaled = product(b[x].type(), {std::min(p.lo, 0.0), 0, p.error, p.grid}, b[y].range);
  Range result{std::min({p.lo, scaled.lo, 0.0}), std::max(p.hi, scaled.hi),
               std::max(p.error, scaled.error), gridOf(p.grid, scaled.grid)};
  return b.add("PRelu", {x, y}, {{b[x].type(), b[x].dims(), result}});
}

static bool makeClip(Builder &b) {
  int x = b.floatValue();
  if (x == kOmitted)
    return false;
  double least = b.choices.between(-3, 1) / 2.0, most = least + b.choices.between(1, 8) / 2.0;
  bool hasLeast = b.choices.draw(4) != 1, hasMost = b.choices.draw(4) != 1;
  Range p = b[x].range;
  Range result = p;
  result.grid = p.grid == 0 ? 0 : std::min(p.grid, 0.5);
  if (hasLeast) {
    result.lo = std::max(result.lo, least);
    result.hi = std::max(result.hi, least);
  }
  if (hasMost) {
    result.hi = std::min(result.hi, most);
    result.lo = std::min(result.lo, most);
  }
  std::vector<::onnx::AttributeProto> attributes;
  std::vector<int> inputs = {x};
  if (b.opset() < 11) {
    if (hasLeast)
      attributes.push_back(attr("min", least));
    if (hasMost)
      attributes.push_back(attr("max", most));
  } else {
    inputs.push_back(hasLeast ? b.scalar(b[x].type(), least) : kOmitted);
    inputs.push_back(hasMost ? b.scalar(b[x].type(), most) : kOmitted);
  }
  return b.add("Clip", inputs, {{b[x].type(), b[x].dims(), result}}, attributes);
}

static bool makeCast(Builder &b) {
  int x = b.exactValue();
  if (x == kOmitted)
    return false;
  convoy_type to = b.choices.pick<convoy_type>(
      {CONVOY_TYPE_F32, CONVOY_TYPE_F32, CONVOY_TYPE_I32, CONVOY_TYPE_I64, CONVOY_TYPE_F16,
       CONVOY_TYPE_U8, CONVOY_TYPE_I8, CONVOY_TYPE_BOOL, CONVOY_TYPE_BF16, CONVOY_TYPE_F64});
  if (to == CONVOY_TYPE_BF16 && b.opset() < 13)
    return false;
  Range p = b[x].range, result = p;
  if (to == CONVOY_TYPE_BOOL)
    result = {0, 1, 0, 1};
  else if (!tools::isFloat(to))
    result = {std::trunc(p.lo), std::trunc(p.hi), 0, 1};
  else // To another float type: the same unless it is narrower.
    result = rounded(to, p.lo, p.hi, p.error, p.grid, p.magnitude());
  if (to == CONVOY_TYPE_U8 && result.lo < 0)
    return false;
  return b.add("Cast", {x}, {{to, b[x].dims(), result}}, {attr("to", int64_t(to))});
}

static bool makeMod(Builder &b) {
  int x = b.exactValue();
  if (x == kOmitted || b.opset() < 13)
    return false;
  bool isFloat = tools::isFloat(b[x].type());
  // fmod of numbers on a grid rounds nothing.
  if (isFloat && b[x].range.grid == 0)
    return false;
  int y = b.operand(b[x].type(), {}, {2, 5, 0, 1});
  bool fmod = isFloat || b.choices.oneIn(2);
  return b.add(
      "Mod", {x, y},
      {{b[x].type(),
        b[x].dims(),
        {b[x].range.lo < 0 ? -5.0 : 0.0, 5, 0, isFloat ? std::min(1.0, b[x].range.grid) : 1}}},
      {attr("fmod", int64_t(fmod))});
}

static bool makeBitwise(Builder &b, const char *op) {
  convoy_type type = b.choices.pick<convoy_type>(
      {CONVOY_TYPE_I32, CONVOY_TYPE_U8, CONVOY_TYPE_I64, CONVOY_TYPE_U32});
  int x = b.find([&](const Value &value) { return value.type() == type; });
  if (x == kOmitted)
    x = b.input(type, b.newDims(b.choices.between(1, 4)), b.newRange(type));
  bool isUnsigned = type == CONVOY_TYPE_U8 || type == CONVOY_TYPE_U32;
  if (std::string(op) == "BitwiseNot")
    return !isUnsigned &&
           b.add(op, {x}, {{type, b[x].dims(), {-b[x].range.hi - 1, -b[x].range.lo - 1, 0, 1}}});
  int y = partner(b, x, b.newRange(type));
  Dims dims;
  if (y == kOmitted || !broadcast(b[x].dims(), b[y].dims(), dims))
    return false;
  // Bits up to the highest of both, and all of them in two's complement.
  double most =
      std::exp2(std::ceil(std::log2(std::max(b[x].range.magnitude(), b[y].range.magnitude()) + 1)));
  return b.add(op, {x, y}, {{type, dims, {isUnsigned ? 0 : -most, most - 1, 0, 1}}});
}

static bool makeDropout(Builder &b) {
  int x = b.floatValue();
  if (x == kOmitted)
    return false;
  return b.add("Dropout", {x}, {{b[x].type(), b[x].dims(), b[x].range}});
}

static bool makeIsNan(Builder &b) {
  int x = b.floatValue();
  if (x == kOmitted || b[x].type() == CONVOY_TYPE_BF16)
    return false;
  return b.add("IsNaN", {x}, {{CONVOY_TYPE_BOOL, b[x].dims(), {0, 1, 0, 1}}});
}

void convoy::fuzz::addElementwise(std::vector<OpKind> &kinds) {
  for (const Unary &row : unaries) {
    // Activations of networks come more often.
    bool common = &row - unaries < 14;
    kinds.push_back({row.op, common ? 6u : 2u, row.from, kNewest,
                     [&row](Builder &b) { return makeUnary(b, row); }});
  }
  kinds.push_back({"Add", 30, 7, kNewest, [](Builder &b) { return makeAddSub(b, false); }});
  kinds.push_back({"Sub", 10, 7, kNewest, [](Builder &b) { return makeAddSub(b, true); }});
  kinds.push_back({"Mul", 20, 7, kNewest, makeMul});
  kinds.push_back({"Div", 6, 7, kNewest, makeDiv});
  kinds.push_back({"Pow", 5, 7, kNewest, makePow});
  kinds.push_back({"Max", 5, 6, kNewest, [](Builder &b) { return makeExtreme(b, true); }});
  kinds.push_back({"Min", 5, 6, kNewest, [](Builder &b) { return makeExtreme(b, false); }});
  kinds.push_back({"Sum", 5, 6, kNewest, [](Builder &b) { return makeSum(b, false); }});
  kinds.push_back({"Mean", 3, 6, kNewest, [](Builder &b) { return makeSum(b, true); }});
  for (const char *op : {"Equal", "Greater", "Less"})
    kinds.push_back({op, 2, 7, kNewest, [op](Builder &b) { return makeComparison(b, op); }});
  for (const char *op : {"GreaterOrEqual", "LessOrEqual"})
    kinds.push_back({op, 2, 12, kNewest, [op](Builder &b) { return makeComparison(b, op); }});
  for (const char *op : {"And", "Or", "Xor"})
    kinds.push_back({op, 2, 7, kNewest, [op](Builder &b) { return makeLogic(b, op); }});
  kinds.push_back({"Not", 2, 1, kNewest, makeNot});
  kinds.push_back({"Where", 5, 9, kNewest, makeWhere});
  kinds.push_back({"PRelu", 5, 9, kNewest, makePRelu});
  kinds.push_back({"Clip", 10, 6, kNewest, makeClip});
  kinds.push_back({"Cast", 5, 9, kNewest, makeCast});
  kinds.push_back({"Mod", 2, 13, kNewest, makeMod});
  for (const char *op : {"BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot"})
    kinds.push_back({op, 1, 18, kNewest, [op](Builder &b) { return makeBitwise(b, op); }});
  kinds.push_back({"Dropout", 2, 7, kNewest, makeDropout});
  kinds.push_back({"IsNaN", 1, 9, kNewest, makeIsNan});
}
