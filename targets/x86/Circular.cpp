// Circular and hyperbolic functions with their inverses, and the error function.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/x86/Functions.h"

#include <cmath>
#include <limits>

using namespace convoy;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Of what is rare in networks, f32 is computed in f64: one version to get right, and the best
// result.
template <typename Function> static Num inF64(const Num &x, Function function) {
  return x.isF64() ? function(x) : function(x.toF64()).to(x.element());
}

//===----------------------------------------------------------------------===//
// sin, cos, tan
//===----------------------------------------------------------------------===//

namespace {
/// x = quadrant * pi / 2 + rest, |rest| <= pi / 4.
struct Angle {
  Num quadrant; // i32, of which the two low bits count
  Num rest;
};
} // namespace

// x mod (pi / 2) in two ways. Up to 2^30 the multiples of pi / 2 are taken off in three parts, each
// product and difference rounded once: the rest keeps a relative error of about 1e-16 unless x is
// within 1e-20 of a multiple. Beyond, x * 2 / pi mod 4 comes from a product with 212 bits of 2 /
// pi, whose parts are reduced before they are added: the rest has an absolute error of 1e-15 up to
// 2^128, which is all of f32. What is beyond that, and no number, has no angle: NaN.
static Angle reduceAngle(const Num &x) {
  constexpr double kNearLimit = 0x1p30, kFarLimit = 0x1p128;
  Num near = clamp(x, -kNearLimit, kNearLimit);
  Num n = nearest(near * M_2_PI);
  Num rest = near;
  for (double part : {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110})
    rest = fma(n, n.constant(-part), rest);

  Num far = clamp(x, -kFarLimit, kFarLimit);
  auto modulo4 = [](const Num &value) { return value - floor(value * 0.25) * 4.0; };
  Num turns = far.constant(0);
  for (double part : {0x1.45f306dc9c883p-1, -0x1.6b01ec5417056p-55, -0x1.6447e493ad4cep-109,
                      0x1.e21c820ff28b2p-163}) {
    Num product = far * part;
    Num error = fma(far, far.constant(part), -product);
    turns = turns + modulo4(product) + modulo4(error);
  }
  turns = modulo4(turns);
  Num farN = nearest(turns);
  Num farRest = (turns - farN) * M_PI_2;

  Num isNear = abs(x) < kNearLimit;
  rest = select(isNear, rest, farRest);
  rest = select(abs(x) < kFarLimit, rest, x.constant(kNan));
  return {select(isNear, n, farN).toI32(), rest};
}

static Num sinSeries(const Num &r) {
  std::vector<double> series;
  double term = -1.0 / 6;
  for (int n = 3; n <= 17; n += 2) {
    series.push_back(term);
    term /= -(n + 1.0) * (n + 2.0);
  }
  Num square = r * r;
  return fma(r * square, polynomial(square, series), r);
}

static Num cosSeries(const Num &r) {
  std::vector<double> series;
  double term = 1;
  for (int n = 0; n <= 18; n += 2) {
    series.push_back(term);
    term /= -(n + 1.0) * (n + 2.0);
  }
  return polynomial(r * r, series);
}

// sin(rest + quadrant * pi / 2).
static Num sinOf(const Num &quadrant, const Num &rest) {
  Num isOdd = (quadrant & quadrant.integer(1)) == quadrant.integer(1);
  Num isNegative = (quadrant & quadrant.integer(2)) == quadrant.integer(2);
  Num result = select(isOdd, cosSeries(rest), sinSeries(rest));
  return select(isNegative, -result, result);
}

Num functions::sin(const Num &x) {
  return inF64(x, [](const Num &x) {
    Angle angle = reduceAngle(x);
    // Where nothing was taken off, -0 stays -0.
    return select(x == 0.0, x, sinOf(angle.quadrant, angle.rest));
  });
}

Num functions::cos(const Num &x) {
  return inF64(x, [](const Num &x) {
    Angle angle = reduceAngle(x);
    return sinOf(angle.quadrant + angle.quadrant.integer(1), angle.rest);
  });
}

Num functions::tan(const Num &x) {
  return inF64(x, [](const Num &x) {
    Angle angle = reduceAngle(x);
    Num sine = sinSeries(angle.rest), cosine = cosSeries(angle.rest);
    Num isOdd = (angle.quadrant & angle.quadrant.integer(1)) == angle.quadrant.integer(1);
    Num result = select(isOdd, -cosine, sine) / select(isOdd, sine, cosine);
    return select(x == 0.0, x, result);
  });
}

//===----------------------------------------------------------------------===//
// asin, acos, atan
//===----------------------------------------------------------------------===//

// atan of a number that is not negative.
static Num atanPositive(const Num &x) {
  // atan x = pi/2 - atan 1/x, and atan x = pi/4 + atan (x - 1)/(x + 1): then |t| <= tan(pi/8).
  Num isLarge = x > 2.414213562373095, isMiddle = x > 0.4142135623730951;
  Num numerator = select(isLarge, x.constant(-1), select(isMiddle, x - 1.0, x));
  Num denominator = select(isLarge, x, select(isMiddle, x + 1.0, x.constant(1)));
  Num t = numerator / denominator;
  // The series, whose first term left out is 0.414^46 / 47 = 5e-20.
  std::vector<double> series;
  for (int n = 3; n <= 45; n += 2)
    series.push_back((n % 4 == 1 ? 1.0 : -1.0) / n);
  Num square = t * t;
  Num result = fma(t * square, polynomial(square, series), t);
  Num start =
      select(isLarge, x.constant(M_PI_2), select(isMiddle, x.constant(M_PI_4), x.constant(0)));
  return start + result;
}

Num functions::atan(const Num &x) {
  return inF64(x, [](const Num &x) {
    // NaN keeps its way through: copySign changes its sign alone.
    return copySign(atanPositive(abs(x)), x);
  });
}

Num functions::atan2(const Num &y, const Num &x) {
  if (!x.isF64())
    return atan2(y.toF64(), x.toF64()).to(x.element());
  Num ratio = abs(y) / abs(x);
  // 0 / 0 and infinity / infinity stand for these angles.
  ratio = select(y == 0.0, y.constant(0), ratio);
  Num bothInfinite = select(abs(y) == kInfinity, abs(x), x.constant(0)) == kInfinity;
  ratio = select(bothInfinite, x.constant(1), ratio);
  Num angle = atanPositive(ratio);
  // To the left of the y axis, where a zero's sign counts.
  Num isLeft = copySign(x.constant(1), x) < 0.0;
  Num result = copySign(select(isLeft, M_PI - angle, angle), y);
  return select(x.isNan(), x, select(y.isNan(), y, result));
}

Num functions::asin(const Num &x) {
  return inF64(x, [](const Num &x) {
    Num a = abs(x);
    return copySign(atanPositive(a / sqrt((1.0 - a) * (1.0 + a))), x);
  });
}

Num functions::acos(const Num &x) {
  return inF64(x, [](const Num &x) { return atanPositive(sqrt((1.0 - x) / (1.0 + x))) * 2.0; });
}

//===----------------------------------------------------------------------===//
// Hyperbolic functions
//===----------------------------------------------------------------------===//

Num functions::sinh(const Num &x) {
  return inF64(x, [](const Num &x) {
    Num a = abs(x);
    Num e = expm1(a);
    Num small = (e + e / (e + 1.0)) * 0.5;
    // By halves, because e^a may be out of range where the result is not.
    Num root = exp(a * 0.5);
    return copySign(select(a < 20.0, small, root * 0.5 * root), x);
  });
}

Num functions::cosh(const Num &x) {
  return inF64(x, [](const Num &x) {
    Num root = exp(abs(x) * 0.5);
    Num e = root * root;
    return select(abs(x) < 20.0, (e + 1.0 / e) * 0.5, root * 0.5 * root);
  });
}

Num functions::tanh(const Num &x) {
  Num e = expm1(abs(x) * -2.0);
  return copySign(-e / (e + 2.0), x);
}

Num functions::asinh(const Num &x) {
  return inF64(x, [](const Num &x) {
    Num a = abs(x);
    Num small = log1p(a + a * a / (sqrt(fma(a, a, a.constant(1))) + 1.0));
    return copySign(select(a < 1e8, small, log(a) + M_LN2), x);
  });
}

Num functions::acosh(const Num &x) {
  return inF64(x, [](const Num &x) {
    Num t = x - 1.0;
    Num small = log1p(t + sqrt(t * (t + 2.0)));
    Num result = select(x < 1e8, small, log(x) + M_LN2);
    return select(x < 1.0, x.constant(kNan), result);
  });
}

Num functions::atanh(const Num &x) {
  return inF64(x, [](const Num &x) {
    Num a = abs(x);
    return copySign(log1p(a * 2.0 / (1.0 - a)) * 0.5, x);
  });
}

//===----------------------------------------------------------------------===//
// erf
//===----------------------------------------------------------------------===//

// erfc of a number that is not negative: t * exp(-x^2 + P(t)) with t = 2 / (2 + x), where P is a
// sum of Chebyshev polynomials in 2t - 1.
static Num erfcPositive(const Num &x) {
  static const double series[] = {
      -1.30265371978170943,     0.64196979235649026,       0.0194764732041858363,
      -0.00956151478680863164,  -0.000946595344482036866,  0.000366839497852761452,
      0.0000425233248069077716, -0.0000202785781125342432, -1.62429000464702551e-6,
      1.3036558355805232e-6,    1.56264417220661432e-8,    -8.52380959149265425e-8,
      6.5290544390988515e-9,    5.05934349555146894e-9,    -9.91364156493033087e-10,
      -2.27365122293183586e-10, 9.6467911020155268e-11,    2.39403808303911474e-12,
      -6.8860275264975534e-12,  8.94487927309072572e-13,   3.13092139934295808e-13,
      -1.12708223613672524e-13, 3.81090525518923206e-16,   7.10609761360923699e-15,
      -1.5230282014571043e-15,  -9.457494571291234e-17,    1.21023718922427899e-16,
      -2.81666308774717697e-17};
  Num bounded = clamp(x, 0, 30); // erfc(30) is 0
  Num t = 2.0 / (bounded + 2.0);
  Num twice = t * 4.0 - 2.0;
  Num b1 = x.constant(0), b2 = x.constant(0);
  for (double coefficient : llvm::reverse(llvm::ArrayRef(series).drop_front())) {
    Num next = fma(twice, b1, x.constant(coefficient) - b2);
    b2 = b1;
    b1 = next;
  }
  Num p = fma(twice * 0.5, b1, x.constant(series[0] * 0.5) - b2);
  // The square in two parts: its error would be multiplied by e.
  Num square = bounded * bounded;
  Num error = fma(bounded, bounded, -square);
  Num result = t * functions::exp(-square + (p - error));
  return select(x.isNan(), x, result);
}

static Num erfF64(const Num &x) {
  // erf x = 2 / sqrt(pi) * exp(-x^2) * x * (sum of (2 x^2)^n / (1 * 3 * ... * (2n + 1))).
  std::vector<double> series;
  double term = 1;
  for (int n = 1; n <= 18; ++n) {
    series.push_back(term);
    term *= 2.0 / (2 * n + 1);
  }
  Num a = abs(x), square = x * x;
  Num small = a * M_2_SQRTPI * functions::exp(-square) * polynomial(square, series);
  return copySign(select(a < 0.75, small, 1.0 - erfcPositive(a)), x);
}

Num functions::erf(const Num &x) {
  if (x.isF64())
    return erfF64(x);
  if (!x.element().isF32())
    return erf(x.toF32()).to(x.element());
  Num a = clamp(abs(x), 0, 4); // erf(4) rounds to 1
  // Minimax: 0.3 and 0.05 units of the last place.
  Num square = a * a;
  Num small = fma(a,
                  polynomial(square, {0.12837915, -0.3761249436, 0.1128180303, -0.02676557177,
                                      0.004990982998, -0.0005976893768}),
                  a);
  Num exponent = a * polynomial(a, {1.12851436, 0.6357183168, 0.1052618412, -0.02288996299,
                                    0.003214955223, -0.0002139849001});
  Num large = 1.0 - exp(-exponent);
  Num result = copySign(select(a < 0.925, small, large), x);
  return select(x.isNan(), x, result);
}

Num functions::erfc(const Num &x) {
  return inF64(x, [](const Num &x) {
    Num a = abs(x);
    // Near zero 1 - erf is exact enough, and elsewhere erfc(-x) = 2 - erfc(x).
    Num far = erfcPositive(a);
    return select(a < 0.5, 1.0 - erfF64(x), select(x < 0.0, 2.0 - far, far));
  });
}
