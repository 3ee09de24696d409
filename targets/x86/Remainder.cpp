// The remainder of floats, and whole powers of integers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/x86/Functions.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <limits>

using namespace mlir;
using namespace convoy;

// scf.for with one carried number.
static Num repeat(int64_t times, const Num &start, llvm::function_ref<Num(const Num &)> step) {
  OpBuilder &b = *start.builder;
  auto i64 = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, start.loc, b.getI64IntegerAttr(value));
  };
  auto loop = scf::ForOp::create(b, start.loc, i64(0), i64(times), i64(1), start.value);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  Num next = step(start.make(loop.getRegionIterArg(0)));
  scf::YieldOp::create(b, start.loc, next.value);
  return start.make(loop.getResult(0));
}

Num functions::remainder(const Num &x, const Num &y) {
  // The sign is set in the type of x: LLVM would move it behind the rounding of a narrower one,
  // and call a library to round f64 to f16.
  if (!x.isF64())
    return copySign(remainder(abs(x).toF64(), y.toF64()).to(x.element()), x);
  // Long division: each step takes off the divisor times the quotient's leading 24 bits, rounded
  // down. Such a difference is exact, and the quotient shrinks by 2^23 a step.
  Num divisor = abs(y);
  Num rest = repeat(2100 / 23 + 1, abs(x), [&](const Num &rest) {
    Num quotient = rest / divisor * (1 - 0x1p-50);
    quotient = select(quotient < 0x1p1000, quotient, quotient.constant(0x1p1000));
    quotient = floor(quotient);
    Num leading = (quotient.bits() & quotient.bits().integer(~((int64_t(1) << 29) - 1)))
                      .fromBits(x.element());
    return fma(-leading, divisor, rest);
  });
  // The quotient was rounded down, so one more may fit.
  rest = select(rest < divisor, rest, rest - divisor);
  double infinity = std::numeric_limits<double>::infinity();
  rest = select(divisor == infinity, abs(x), rest);
  Num nan = x.constant(std::numeric_limits<double>::quiet_NaN());
  rest = select(abs(x) < infinity, rest, nan);
  rest = select(divisor > 0.0, rest, nan);
  return copySign(rest, x);
}

Num functions::powerOfInteger(const Num &x, const Num &y) {
  unsigned width = x.element().getIntOrFloatBitWidth();
  // By squaring.
  Num result = x.integer(1), square = x, rest = y;
  for (unsigned bit = 0; bit + 1 < width; ++bit) {
    Num isSet = (rest & rest.integer(1)) == rest.integer(1);
    result = select(isSet, result * square, result);
    square = square * square;
    rest = rest.shiftRight(1);
  }
  // A negative power is a fraction, truncated to 0, but for 1 and -1.
  Num isOdd = (y & y.integer(1)) == y.integer(1);
  Num ofMinusOne = select(isOdd, x, x.integer(1));
  Num fraction = select(x == x.integer(1), x, select(x == x.integer(-1), ofMinusOne, x.integer(0)));
  return select(y < y.integer(0), fraction, result);
}
