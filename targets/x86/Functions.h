// Elementary functions in arithmetic, on f32 and f64, scalars and vectors.
//
// All keep what ONNX (numpy) has for infinities, zeros and NaN. Subnormal arguments and results
// count as zero, as the CPU is set while a kernel runs. Largest errors, in units of the last place
// of f32 and relative in f64, which test/numerics/MathTest.cpp checks:
//
//   function                     f32    f64      how f32 is computed
//   exp, exp2                    1.1    4e-16    polynomial of degree 6 after reduction by ln 2
//   expm1                        1.6    4e-16    the same
//   log                          0.9    4e-16    polynomial of degree 11
//   log2, log1p                  1.8    5e-16    log's
//   log10                        0.51   5e-16    in f64
//   tanh                         2.6    6e-16    expm1
//   erf                          1.3    6e-16    two polynomials, one in an exponent
//   erfc                         0.51   2e-13    in f64
//   pow                          0.51   4e-13    in f64; a constant multiple of 1/4 from -1 to 4:
//                                2.5    6e-16    by products and square roots
//   sin, cos, tan                0.51   6e-16    in f64; f64 itself up to |x| = 2^30
//   asin acos atan sinh cosh     0.51   6e-16    in f64
//   atan2                        0.51   6e-16    in f64
//   asinh acosh atanh            0.51   6e-16    in f64
//   cbrt                         0.51   1e-13    in f64
//   rsqrt                        1.6    3e-16    one over the square root
//   remainder                    exact  1e-15    in f64
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "targets/x86/Num.h"

namespace convoy::functions {

Num exp(const Num &x);
Num exp2(const Num &x);
Num expm1(const Num &x);
Num log(const Num &x);
Num log2(const Num &x);
Num log10(const Num &x);
Num log1p(const Num &x);
Num pow(const Num &x, const Num &y);
Num sin(const Num &x);
Num cos(const Num &x);
Num tan(const Num &x);
Num asin(const Num &x);
Num acos(const Num &x);
Num atan(const Num &x);
Num atan2(const Num &y, const Num &x);
Num sinh(const Num &x);
Num cosh(const Num &x);
Num tanh(const Num &x);
Num asinh(const Num &x);
Num acosh(const Num &x);
Num atanh(const Num &x);
Num erf(const Num &x);
Num erfc(const Num &x);
Num cbrt(const Num &x);
Num rsqrt(const Num &x);
/// x - y * (x / y rounded towards zero): exact, as C's fmod.
Num remainder(const Num &x, const Num &y);
/// A whole power of a signed integer, wrapping.
Num powerOfInteger(const Num &x, const Num &y);

} // namespace convoy::functions
