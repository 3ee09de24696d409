// Exponentials, logarithms and powers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/x86/Functions.h"

#include <cmath>
#include <limits>

using namespace convoy;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

namespace {

/// What differs between f32 and f64.
struct Format {
  int mantissaBits;
  int64_t oneBits, rootHalfBits; // of 1 and of sqrt(1/2)
  double ln2High, ln2Low;        // ln 2 in two parts; the first times an exponent is exact
  double expLow, expHigh;        // beyond them exp is 0 or infinite
  double leastNormal;
  std::vector<double> exp; // (e^r - 1 - r) / r^2 for |r| <= ln 2 / 2
};

} // namespace

static const Format &formatOf(const Num &x) {
  static const Format f32{
      23,
      0x3f800000,
      0x3f3504f3,
      0.693359375,
      -2.12194440e-4,
      -87.33654022216797,
      88.72283935546875,
      0x1p-126,
      // Minimax; the relative error of the exponential is 3e-9.
      {0.4999999343, 0.166665204, 0.04166839078, 0.00836874512, 0.001381454046}};
  static const Format f64 = [] {
    Format format{52,
                  0x3ff0000000000000,
                  0x3fe6a09e667f3bcd,
                  6.93147180369123816490e-01,
                  1.90821492927058770002e-10,
                  -708.3964185322641,
                  709.782712893384,
                  0x1p-1022,
                  {}};
    // Taylor's series: 0.35^15 / 15! is 1e-19.
    double term = 0.5;
    for (int n = 2; n <= 14; ++n) {
      format.exp.push_back(term);
      term /= n + 1;
    }
    return format;
  }();
  return x.isF64() ? f64 : f32;
}

// x = n * ln 2 + rest, |rest| <= ln 2 / 2. `x` must be within exp's range, and no NaN.
static std::pair<Num, Num> reduce(const Num &x) {
  const Format &format = formatOf(x);
  Num n = nearest(x * (1 / M_LN2));
  Num rest = fma(n, n.constant(-format.ln2High), x);
  return {n, fma(n, n.constant(-format.ln2Low), rest)};
}

// e^rest - 1.
static Num expm1Reduced(const Num &rest) {
  return fma(rest * rest, polynomial(rest, formatOf(rest).exp), rest);
}

static Num wholeBits(const Num &n) {
  return n.toI32().extend(n.builder->getIntegerType(n.element().getIntOrFloatBitWidth()));
}

// value * 2^n for a value near 1, where the result is a normal number.
static Num scaleNearOne(const Num &value, const Num &n) {
  return (value.bits() + (wholeBits(n) << formatOf(value).mantissaBits)).fromBits(value.element());
}

Num functions::exp(const Num &x) {
  const Format &format = formatOf(x);
  auto [n, rest] = reduce(clamp(x, format.expLow, format.expHigh));
  Num result = scaleNearOne(expm1Reduced(rest) + 1.0, n);
  result = select(x < format.expLow, x.constant(0), result);
  result = select(x > format.expHigh, x.constant(kInfinity), result);
  return select(x.isNan(), x, result);
}

Num functions::exp2(const Num &x) {
  double low = x.isF64() ? -1022 : -126, high = x.isF64() ? 1024 : 128;
  Num inside = clamp(x, low, std::nextafter(high, 0));
  Num n = nearest(inside);
  Num result = scaleNearOne(expm1Reduced((inside - n) * M_LN2) + 1.0, n);
  result = select(x < low, x.constant(0), result);
  result = select(x < high, result, x.constant(kInfinity));
  return select(x.isNan(), x, result);
}

Num functions::expm1(const Num &x) {
  const Format &format = formatOf(x);
  // Below -40 the result is -1.
  auto [n, rest] = reduce(clamp(x, -40, format.expHigh));
  Num p = expm1Reduced(rest);
  // 2^n p + 2^n - 1, by halves because 2^n may be out of range.
  Num half = scaleNearOne(x.constant(1), n - 1.0);
  Num result = fma(half, p, half - 0.5) * 2.0;
  result = select(x > format.expHigh, x.constant(kInfinity), result);
  // -0 stays -0.
  result = select(x == 0.0, x, result);
  return select(x.isNan(), x, result);
}

// Series of log(1 + f) - f + f^2 / 2.
static Num logTail(const Num &f) {
  if (!f.isF64())
    return f * f * f *
           polynomial(f, {0.3333331049, -0.2499998628, 0.2000222389, -0.1666926557, 0.1421871053,
                          -0.1238413761, 0.1187246666, -0.1179078929, 0.06917494617});
  // With s = f / (2 + f): log(1 + f) = f - f^2 / 2 + s * (f^2 / 2 + R(s^2)).
  Num s = f / (f + 2.0), z = s * s;
  std::vector<double> series;
  for (int k = 1; k <= 11; ++k)
    series.push_back(2.0 / (2 * k + 1));
  Num r = z * polynomial(z, series);
  return s * fma(f * f, f.constant(0.5), r);
}

// log(m * 2^k) in parts, where x = m * 2^k and m is within [sqrt(1/2), sqrt(2)). Of what is no
// positive number it is anything.
static std::pair<Num, Num> splitLog(const Num &x) {
  const Format &format = formatOf(x);
  Num offset = x.bits() - x.bits().integer(format.rootHalfBits);
  Num k = offset.shiftRight(format.mantissaBits);
  Num m = (x.bits() - (k << format.mantissaBits)).fromBits(x.element());
  return {k.truncate(x.builder->getI32Type()).toFloat(x.element()), m - 1.0};
}

// Puts in what log is at and below 0, at infinity and of NaN.
static Num logSpecials(const Num &x, Num result) {
  const Format &format = formatOf(x);
  result = select(x < format.leastNormal, x.constant(-kInfinity), result);
  result = select(x > -format.leastNormal, result, x.constant(kNan));
  result = select(x == kInfinity, x, result);
  return select(x.isNan(), x, result);
}

Num functions::log(const Num &x) {
  const Format &format = formatOf(x);
  auto [k, f] = splitLog(x);
  Num small = fma(f * f, f.constant(-0.5), fma(k, k.constant(format.ln2Low), logTail(f)));
  return logSpecials(x, fma(k, k.constant(format.ln2High), f + small));
}

// The logarithm to another base: whole powers of two give whole log2.
static Num logOfBase(const Num &x, double scale, double ln2) {
  auto [k, f] = splitLog(x);
  Num natural = f + fma(f * f, f.constant(-0.5), logTail(f));
  // The scale in two parts, so that its own rounding does not count.
  Num high = natural * scale;
  double low = x.isF64() ? 0 : scale - static_cast<double>(static_cast<float>(scale));
  Num fraction = fma(natural, natural.constant(low), high);
  return logSpecials(x, fma(k, k.constant(ln2), fraction));
}

Num functions::log2(const Num &x) { return logOfBase(x, 1 / M_LN2, 1); }

Num functions::log10(const Num &x) {
  if (!x.isF64())
    return log10(x.toF64()).toF32();
  return logOfBase(x, 1 / M_LN10, M_LN2 / M_LN10);
}

Num functions::log1p(const Num &x) {
  Num u = x + 1.0;
  // What the sum lost.
  Num lost = x - (u - 1.0);
  Num result = log(u) + lost / u;
  // Where x vanished in the sum it is its own logarithm; -1 and infinity have nothing lost.
  result = select(u == 1.0, x, result);
  result = select(u == 0.0, x.constant(-kInfinity), result);
  return select(x == kInfinity, x, result);
}

Num functions::pow(const Num &x, const Num &y) {
  if (!x.isF64())
    return pow(x.toF64(), y.toF64()).to(x.element());
  Num magnitude = exp(y * log(abs(x)));
  // A negative base has a power where y is whole; it is negative where y is odd.
  Num isWhole = floor(y) == y;
  Num half = y * 0.5;
  Num isEven = floor(half) == half;
  Num whole = select(isEven, magnitude, copySign(magnitude, x));
  Num result = select(isWhole, whole, select(x < 0.0, x.constant(kNan), magnitude));
  // -inf to a fraction is inf or 0.
  result = select(x == -kInfinity, select(isWhole, result, magnitude), result);
  // |x| = 1 to an infinite power, x = 1 or y = 0 to or of NaN.
  result = select(abs(x) == 1.0, select(abs(y) == kInfinity, x.constant(1), result), result);
  result = select(x == 1.0, x, result);
  return select(y == 0.0, x.constant(1), result);
}

Num functions::cbrt(const Num &x) {
  if (!x.isF64())
    return cbrt(x.toF64()).to(x.element());
  Num a = abs(x);
  Num root = exp(log(a) * (1.0 / 3));
  // One step of Newton's method.
  root = root - (root * root * root - a) / (root * root * 3.0);
  root = copySign(root, x);
  return select(x == 0.0, x, select(a == kInfinity, x, root));
}

Num functions::rsqrt(const Num &x) { return 1.0 / sqrt(x); }
