// When a value counts as the same as another one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/verify/Compare.h"

#include "dialects/Cnn/Evaluate/Elements.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <cstring>

using namespace mlir;
using namespace convoy;
using namespace convoy::verify;
using cnn::Codec;
using cnn::Lane;
using cnn::Tensor;

static std::string show(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", number);
  return text;
}

std::string Deviation::text() const {
  std::string result;
  llvm::raw_string_ostream stream(result);
  if (isOfType)
    return "is " + found + ", expected " + expected;
  stream << "element [";
  llvm::interleaveComma(index, stream);
  stream << "] is " << found << ", expected " << expected << ": off by " << show(error)
         << ", the tolerance is " << show(tolerance);
  return result;
}

static SmallVector<int64_t> indexOf(ArrayRef<int64_t> shape, int64_t element) {
  SmallVector<int64_t> index(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    index[i] = element % shape[i];
    element /= shape[i];
  }
  return index;
}

static double toleranceOf(Type type, double tolerance) {
  if (type.isF16())
    return std::max(tolerance, 2 * std::ldexp(1.0, -10));
  if (type.isBF16())
    return std::max(tolerance, 2 * std::ldexp(1.0, -7));
  return tolerance;
}

std::optional<Deviation> verify::compare(const Tensor &found, const Tensor &expected,
                                         double tolerance, int64_t units, double absolute) {
  Deviation worst;
  if (found.type() != expected.type()) {
    llvm::raw_string_ostream(worst.found) << found.type();
    llvm::raw_string_ostream(worst.expected) << expected.type();
    worst.error = INFINITY;
    worst.isOfType = true;
    return worst;
  }
  if (found.bytes() == expected.bytes())
    return std::nullopt;
  std::optional<Codec> codec = Codec::of(expected.elementType());
  int64_t count = expected.numElements(), at = -1;
  std::vector<Lane> a(count), b(count);
  codec->decode(found.data(), count, a.data());
  codec->decode(expected.data(), count, b.data());
  if (!codec->isFloat()) {
    worst.tolerance = units;
    for (int64_t i = 0; i < count; ++i) {
      double error = std::fabs(static_cast<double>(a[i].i) - static_cast<double>(b[i].i));
      // Two 64-bit integers may be one double.
      error = a[i].i != b[i].i ? std::max(error, 1.0) : 0;
      if (error > worst.error) {
        worst.error = error;
        at = i;
      }
    }
    if (worst.error <= units)
      return std::nullopt;
    worst.found = std::to_string(a[at].i);
    worst.expected = std::to_string(b[at].i);
    worst.index = indexOf(expected.shape(), at);
    return worst;
  }
  double largest = 0;
  for (int64_t i = 0; i < count; ++i)
    if (std::isfinite(b[i].f))
      largest = std::max(largest, std::fabs(b[i].f));
  // Against zeros alone there is nothing to be relative to.
  double scale = largest > 0 ? largest : 1;
  for (int64_t i = 0; i < count; ++i) {
    if (a[i].f == b[i].f || (std::isnan(a[i].f) && std::isnan(b[i].f)))
      continue;
    double error = std::isfinite(a[i].f) && std::isfinite(b[i].f)
                       ? std::fabs(a[i].f - b[i].f) / scale
                       : INFINITY;
    if (at < 0 || error > worst.error) {
      worst.error = error;
      at = i;
    }
  }
  worst.tolerance = std::max(toleranceOf(expected.elementType(), tolerance), absolute / scale);
  if (worst.error <= worst.tolerance)
    return std::nullopt;
  worst.found = show(a[at].f);
  worst.expected = show(b[at].f);
  worst.index = indexOf(expected.shape(), at);
  return worst;
}
