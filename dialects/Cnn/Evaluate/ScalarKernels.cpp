// The ops of arith and math on numbers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Cnn/Evaluate/ScalarProgram.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace convoy::cnn;

static constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

template <typename F>
static ScalarKernel lanes(F f) {
  return [f](Lane *dst, const Lane *const *args, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      dst[i] = f(args, i);
  };
}
static Lane real(double value) {
  Lane lane;
  lane.f = value;
  return lane;
}
static Lane integer(int64_t value) {
  Lane lane;
  lane.i = value;
  return lane;
}

// Of one, two and three floats.
template <typename F>
static ScalarKernel float1(F f) {
  return lanes([f](const Lane *const *a, int64_t i) { return real(f(a[0][i].f)); });
}
template <typename F>
static ScalarKernel float2(F f) {
  return lanes([f](const Lane *const *a, int64_t i) { return real(f(a[0][i].f, a[1][i].f)); });
}
template <typename F>
static ScalarKernel float3(F f) {
  return lanes(
      [f](const Lane *const *a, int64_t i) { return real(f(a[0][i].f, a[1][i].f, a[2][i].f)); });
}
template <typename F>
static ScalarKernel predicate1(F f) {
  return lanes([f](const Lane *const *a, int64_t i) { return integer(f(a[0][i].f)); });
}
template <typename F>
static ScalarKernel predicate2(F f) {
  return lanes([f](const Lane *const *a, int64_t i) { return integer(f(a[0][i].f, a[1][i].f)); });
}

// Of integers of a width as unsigned ones; overflow wraps.
template <typename F>
static ScalarKernel unsigned1(unsigned width, F f) {
  uint64_t mask = llvm::maskTrailingOnes<uint64_t>(width);
  return lanes(
      [=](const Lane *const *a, int64_t i) { return integer(f(uint64_t(a[0][i].i) & mask)); });
}
template <typename F>
static ScalarKernel unsigned2(unsigned width, F f) {
  uint64_t mask = llvm::maskTrailingOnes<uint64_t>(width);
  return lanes([=](const Lane *const *a, int64_t i) {
    return integer(f(uint64_t(a[0][i].i) & mask, uint64_t(a[1][i].i) & mask));
  });
}
// As signed ones. A bool's lane is 0 or 1, which as a signed number is 0 or -1.
template <typename F>
static ScalarKernel signed1(unsigned width, F f) {
  int64_t sign = width == 1 ? -1 : 1;
  return lanes([=](const Lane *const *a, int64_t i) { return integer(f(a[0][i].i * sign)); });
}
template <typename F>
static ScalarKernel signed2(unsigned width, F f) {
  int64_t sign = width == 1 ? -1 : 1;
  return lanes([=](const Lane *const *a, int64_t i) {
    return integer(f(a[0][i].i * sign, a[1][i].i * sign));
  });
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

// NaN wins, and -0 is below 0.
static double maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return kNaN;
  return a == b ? (std::signbit(a) ? b : a) : (a > b ? a : b);
}
static double minimum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return kNaN;
  return a == b ? (std::signbit(a) ? a : b) : (a < b ? a : b);
}

// Division by zero and overflow are undefined in arith: any result that is no trap will do.
static int64_t divideSigned(int64_t a, int64_t b) {
  return b == 0 ? 0 : (b == -1 ? int64_t(-uint64_t(a)) : a / b);
}
static int64_t remainderSigned(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }
static int64_t divideFloor(int64_t a, int64_t b) {
  int64_t quotient = divideSigned(a, b);
  return remainderSigned(a, b) != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}
static int64_t divideCeil(int64_t a, int64_t b) {
  int64_t quotient = divideSigned(a, b);
  return remainderSigned(a, b) != 0 && (a < 0) == (b < 0) ? quotient + 1 : quotient;
}

static int64_t powInt(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 1 || (base == -1 && exponent % 2 == 0))
      return 1;
    return base == -1 ? -1 : 0;
  }
  uint64_t result = 1;
  for (uint64_t square = base; exponent > 0; exponent >>= 1, square *= square)
    if (exponent & 1)
      result *= square;
  return result;
}

static bool isNormal(double value, const llvm::fltSemantics &semantics) {
  return std::isfinite(value) &&
         std::fabs(value) >= std::ldexp(1.0, llvm::APFloat::semanticsMinExponent(semantics));
}

// Saturates where arith has no defined result.
static int64_t toSigned(double value, unsigned width) {
  double limit = std::ldexp(1.0, width - 1);
  if (std::isnan(value))
    return 0;
  if (value >= limit)
    return llvm::maxIntN(width);
  return value <= -limit ? llvm::minIntN(width) : static_cast<int64_t>(value);
}
static int64_t toUnsigned(double value, unsigned width) {
  if (!(value > 0))
    return 0;
  if (value >= std::ldexp(1.0, width))
    return static_cast<int64_t>(llvm::maskTrailingOnes<uint64_t>(width));
  return static_cast<int64_t>(static_cast<uint64_t>(value));
}

// To double such that a later rounding to a narrower type is the only one: what does not fit into
// 53 bits leaves its last bit set.
static double toDoubleOdd(uint64_t magnitude) {
  if (magnitude >> 53) {
    constexpr uint64_t kLost = (1 << 11) - 1;
    magnitude = (magnitude & ~kLost) | ((magnitude & kLost) ? kLost + 1 : 0);
  }
  return static_cast<double>(magnitude);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static const llvm::StringMap<ScalarKernel> &floatKernels() {
  static const auto *table = new llvm::StringMap<ScalarKernel>{
      {"arith.addf", float2([](double a, double b) { return a + b; })},
      {"arith.subf", float2([](double a, double b) { return a - b; })},
      {"arith.mulf", float2([](double a, double b) { return a * b; })},
      {"arith.divf", float2([](double a, double b) { return a / b; })},
      {"arith.remf", float2([](double a, double b) { return std::fmod(a, b); })},
      {"arith.negf", float1([](double a) { return -a; })},
      {"arith.maximumf", float2(maximum)},
      {"arith.minimumf", float2(minimum)},
      {"arith.maxnumf", float2([](double a, double b) {
         return std::isnan(a) ? b : std::isnan(b) ? a : maximum(a, b);
       })},
      {"arith.minnumf", float2([](double a, double b) {
         return std::isnan(a) ? b : std::isnan(b) ? a : minimum(a, b);
       })},
      {"arith.extf", float1([](double a) { return a; })},
      {"arith.truncf", float1([](double a) { return a; })},
      {"math.absf", float1([](double a) { return std::fabs(a); })},
      {"math.acos", float1([](double a) { return std::acos(a); })},
      {"math.acosh", float1([](double a) { return std::acosh(a); })},
      {"math.asin", float1([](double a) { return std::asin(a); })},
      {"math.asinh", float1([](double a) { return std::asinh(a); })},
      {"math.atan", float1([](double a) { return std::atan(a); })},
      {"math.atan2", float2([](double a, double b) { return std::atan2(a, b); })},
      {"math.atanh", float1([](double a) { return std::atanh(a); })},
      {"math.cbrt", float1([](double a) { return std::cbrt(a); })},
      {"math.ceil", float1([](double a) { return std::ceil(a); })},
      {"math.clampf", float3([](double a, double low, double high) {
         return minimum(maximum(a, low), high);
       })},
      {"math.copysign", float2([](double a, double b) { return std::copysign(a, b); })},
      {"math.cos", float1([](double a) { return std::cos(a); })},
      {"math.cosh", float1([](double a) { return std::cosh(a); })},
      {"math.erf", float1([](double a) { return std::erf(a); })},
      {"math.erfc", float1([](double a) { return std::erfc(a); })},
      {"math.exp", float1([](double a) { return std::exp(a); })},
      {"math.exp2", float1([](double a) { return std::exp2(a); })},
      {"math.expm1", float1([](double a) { return std::expm1(a); })},
      {"math.floor", float1([](double a) { return std::floor(a); })},
      {"math.isfinite", predicate1([](double a) { return std::isfinite(a); })},
      {"math.isinf", predicate1([](double a) { return std::isinf(a); })},
      {"math.isnan", predicate1([](double a) { return std::isnan(a); })},
      {"math.log", float1([](double a) { return std::log(a); })},
      {"math.log10", float1([](double a) { return std::log10(a); })},
      {"math.log1p", float1([](double a) { return std::log1p(a); })},
      {"math.log2", float1([](double a) { return std::log2(a); })},
      {"math.powf", float2([](double a, double b) { return std::pow(a, b); })},
      {"math.round", float1([](double a) { return std::round(a); })},
      {"math.roundeven", float1([](double a) {
         double down = std::floor(a), rest = a - down;
         if (rest == 0.5)
           return std::copysign(2 * std::round(a / 2), a);
         return std::copysign(rest < 0.5 ? down : down + 1, a);
       })},
      {"math.rsqrt", float1([](double a) { return 1 / std::sqrt(a); })},
      {"math.sin", float1([](double a) { return std::sin(a); })},
      {"math.sinh", float1([](double a) { return std::sinh(a); })},
      {"math.sqrt", float1([](double a) { return std::sqrt(a); })},
      {"math.tan", float1([](double a) { return std::tan(a); })},
      {"math.tanh", float1([](double a) { return std::tanh(a); })},
      {"math.trunc", float1([](double a) { return std::trunc(a); })},
  };
  return *table;
}

// `w` is the width of the operands.
static std::optional<ScalarKernel> integerKernel(StringRef name, unsigned w) {
  using MakeKernel = ScalarKernel (*)(unsigned w);
  using S = int64_t;
  using U = uint64_t;
  static const auto *table = new llvm::StringMap<MakeKernel>{
      {"arith.addi", [](unsigned w) { return unsigned2(w, [](U a, U b) { return a + b; }); }},
      {"arith.subi", [](unsigned w) { return unsigned2(w, [](U a, U b) { return a - b; }); }},
      {"arith.muli", [](unsigned w) { return unsigned2(w, [](U a, U b) { return a * b; }); }},
      {"arith.andi", [](unsigned w) { return unsigned2(w, [](U a, U b) { return a & b; }); }},
      {"arith.ori", [](unsigned w) { return unsigned2(w, [](U a, U b) { return a | b; }); }},
      {"arith.xori", [](unsigned w) { return unsigned2(w, [](U a, U b) { return a ^ b; }); }},
      {"arith.divui",
       [](unsigned w) { return unsigned2(w, [](U a, U b) { return b ? a / b : 0; }); }},
      {"arith.remui",
       [](unsigned w) { return unsigned2(w, [](U a, U b) { return b ? a % b : 0; }); }},
      {"arith.ceildivui",
       [](unsigned w) {
         return unsigned2(w, [](U a, U b) { return b ? a / b + (a % b != 0) : 0; });
       }},
      {"arith.maxui",
       [](unsigned w) { return unsigned2(w, [](U a, U b) { return std::max(a, b); }); }},
      {"arith.minui",
       [](unsigned w) { return unsigned2(w, [](U a, U b) { return std::min(a, b); }); }},
      {"arith.shli",
       [](unsigned w) { return unsigned2(w, [w](U a, U b) { return b < w ? a << b : 0; }); }},
      {"arith.shrui",
       [](unsigned w) { return unsigned2(w, [w](U a, U b) { return b < w ? a >> b : 0; }); }},
      {"arith.shrsi",
       [](unsigned w) {
         return signed2(w, [w](S a, S b) { return a >> (b >= 0 && b < w ? b : w - 1); });
       }},
      {"arith.divsi", [](unsigned w) { return signed2(w, divideSigned); }},
      {"arith.remsi", [](unsigned w) { return signed2(w, remainderSigned); }},
      {"arith.floordivsi", [](unsigned w) { return signed2(w, divideFloor); }},
      {"arith.ceildivsi", [](unsigned w) { return signed2(w, divideCeil); }},
      {"arith.maxsi",
       [](unsigned w) { return signed2(w, [](S a, S b) { return std::max(a, b); }); }},
      {"arith.minsi",
       [](unsigned w) { return signed2(w, [](S a, S b) { return std::min(a, b); }); }},
      {"arith.extsi", [](unsigned w) { return signed1(w, [](S a) { return a; }); }},
      {"arith.extui", [](unsigned w) { return unsigned1(w, [](U a) { return a; }); }},
      {"arith.trunci", [](unsigned w) { return unsigned1(w, [](U a) { return a; }); }},
      {"arith.index_cast", [](unsigned w) { return signed1(w, [](S a) { return a; }); }},
      {"arith.index_castui", [](unsigned w) { return unsigned1(w, [](U a) { return a; }); }},
      {"math.absi",
       [](unsigned w) { return signed1(w, [](S a) { return a < 0 ? S(-U(a)) : a; }); }},
      {"math.ctlz",
       [](unsigned w) { return unsigned1(w, [w](U a) { return llvm::countl_zero(a) - (64 - w); }); }},
      {"math.cttz",
       [](unsigned w) {
         return unsigned1(w, [w](U a) { return std::min<U>(llvm::countr_zero(a), w); });
       }},
      {"math.ctpop", [](unsigned w) { return unsigned1(w, [](U a) { return llvm::popcount(a); }); }},
      {"math.ipowi", [](unsigned w) { return signed2(w, powInt); }},
  };
  auto entry = table->find(name);
  if (entry == table->end())
    return std::nullopt;
  return entry->second(w);
}

static ScalarKernel compareFloats(arith::CmpFPredicate predicate) {
  using P = arith::CmpFPredicate;
  auto unordered = [](double a, double b) { return std::isnan(a) || std::isnan(b); };
  switch (predicate) {
  case P::AlwaysFalse:
    return predicate2([](double, double) { return false; });
  case P::OEQ:
    return predicate2([](double a, double b) { return a == b; });
  case P::OGT:
    return predicate2([](double a, double b) { return a > b; });
  case P::OGE:
    return predicate2([](double a, double b) { return a >= b; });
  case P::OLT:
    return predicate2([](double a, double b) { return a < b; });
  case P::OLE:
    return predicate2([](double a, double b) { return a <= b; });
  case P::ONE:
    return predicate2([](double a, double b) { return a < b || a > b; });
  case P::ORD:
    return predicate2([=](double a, double b) { return !unordered(a, b); });
  case P::UEQ:
    return predicate2([](double a, double b) { return !(a < b || a > b); });
  case P::UGT:
    return predicate2([](double a, double b) { return !(a <= b); });
  case P::UGE:
    return predicate2([](double a, double b) { return !(a < b); });
  case P::ULT:
    return predicate2([](double a, double b) { return !(a >= b); });
  case P::ULE:
    return predicate2([](double a, double b) { return !(a > b); });
  case P::UNE:
    return predicate2([](double a, double b) { return a != b; });
  case P::UNO:
    return predicate2(unordered);
  case P::AlwaysTrue:
    break;
  }
  return predicate2([](double, double) { return true; });
}

static ScalarKernel compareInts(arith::CmpIPredicate predicate, unsigned w) {
  using P = arith::CmpIPredicate;
  using S = int64_t;
  using U = uint64_t;
  switch (predicate) {
  case P::eq:
    return unsigned2(w, [](U a, U b) { return a == b; });
  case P::ne:
    return unsigned2(w, [](U a, U b) { return a != b; });
  case P::slt:
    return signed2(w, [](S a, S b) { return a < b; });
  case P::sle:
    return signed2(w, [](S a, S b) { return a <= b; });
  case P::sgt:
    return signed2(w, [](S a, S b) { return a > b; });
  case P::sge:
    return signed2(w, [](S a, S b) { return a >= b; });
  case P::ult:
    return unsigned2(w, [](U a, U b) { return a < b; });
  case P::ule:
    return unsigned2(w, [](U a, U b) { return a <= b; });
  case P::ugt:
    return unsigned2(w, [](U a, U b) { return a > b; });
  case P::uge:
    break;
  }
  return unsigned2(w, [](U a, U b) { return a >= b; });
}

// Between floats and integers; `w` is the width of the integer.
static std::optional<ScalarKernel> convertKernel(Operation *op, unsigned w, Type dst) {
  bool isDouble = dst.isF64();
  if (isa<arith::SIToFPOp>(op))
    return lanes([=](const Lane *const *a, int64_t i) {
      int64_t value = w == 1 ? -a[0][i].i : a[0][i].i;
      if (isDouble)
        return real(static_cast<double>(value));
      double magnitude = toDoubleOdd(value < 0 ? -uint64_t(value) : value);
      return real(value < 0 ? -magnitude : magnitude);
    });
  if (isa<arith::UIToFPOp>(op)) {
    uint64_t mask = llvm::maskTrailingOnes<uint64_t>(w);
    return lanes([=](const Lane *const *a, int64_t i) {
      uint64_t value = uint64_t(a[0][i].i) & mask;
      return real(isDouble ? static_cast<double>(value) : toDoubleOdd(value));
    });
  }
  if (isa<arith::FPToSIOp>(op))
    return lanes([=](const Lane *const *a, int64_t i) { return integer(toSigned(a[0][i].f, w)); });
  if (isa<arith::FPToUIOp>(op))
    return lanes(
        [=](const Lane *const *a, int64_t i) { return integer(toUnsigned(a[0][i].f, w)); });
  return std::nullopt;
}

FailureOr<ScalarKernel> convoy::cnn::getScalarKernel(Operation *op) {
  auto unknown = [&] {
    return op->emitError() << "the evaluator knows no op '" << op->getName() << "' "
                           << op->getOperandTypes() << " -> " << op->getResultTypes();
  };
  if (op->getNumResults() != 1 || op->getNumOperands() < 1 || op->getNumOperands() > 3)
    return unknown();
  Type srcType = op->getOperand(0).getType(), dstType = op->getResult(0).getType();
  std::optional<Codec> src = Codec::of(srcType), dst = Codec::of(dstType);
  if (!src || !dst)
    return unknown();
  StringRef name = op->getName().getStringRef();

  if (isa<arith::SelectOp>(op))
    return lanes([](const Lane *const *a, int64_t i) { return a[0][i].i ? a[1][i] : a[2][i]; });
  if (isa<arith::BitcastOp>(op)) {
    if (src->bitWidth() < 8 || src->bitWidth() % 8 != 0)
      return unknown();
    return ScalarKernel([src = *src, dst = *dst](Lane *result, const Lane *const *args,
                                                 int64_t count) {
      for (int64_t i = 0; i < count; ++i) {
        char bytes[8];
        src.encode(args[0] + i, 1, bytes);
        dst.decode(bytes, 1, result + i);
      }
    });
  }
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return compareFloats(compare.getPredicate());
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return compareInts(compare.getPredicate(), src->bitWidth());
  if (isa<math::FmaOp>(op) && srcType.isF32()) // double would round twice
    return float3([](double a, double b, double c) {
      return std::fma(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c));
    });
  if (isa<math::FmaOp>(op))
    return float3([](double a, double b, double c) { return std::fma(a, b, c); });
  if (isa<math::FPowIOp>(op))
    return lanes([](const Lane *const *a, int64_t i) {
      return real(std::pow(a[0][i].f, static_cast<double>(a[1][i].i)));
    });
  if (isa<math::IsNormalOp>(op)) {
    const llvm::fltSemantics *semantics = &cast<FloatType>(srcType).getFloatSemantics();
    return predicate1([semantics](double a) { return isNormal(a, *semantics); });
  }
  if (std::optional<ScalarKernel> kernel =
          convertKernel(op, src->isFloat() ? dst->bitWidth() : src->bitWidth(), dstType))
    return *kernel;
  auto known = floatKernels().find(name);
  if (known != floatKernels().end())
    return known->second;
  if (!src->isFloat())
    if (std::optional<ScalarKernel> kernel = integerKernel(name, src->bitWidth()))
      return *kernel;
  return unknown();
}
