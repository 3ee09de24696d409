// When a value counts as the same as another one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "dialects/Cnn/Evaluate/Tensor.h"

#include <optional>
#include <string>

namespace convoy::verify {

/// The element in which a value differs most from what was expected.
struct Deviation {
  llvm::SmallVector<int64_t> index;
  std::string found, expected;
  /// What the two differ by, and may differ by: of the largest expected magnitude, or for integers
  /// in units.
  double error = 0, tolerance = 0;
  /// The types are what differs.
  bool isOfType = false;

  /// "element [0, 3] is 2.5, expected 2, off by 0.25 of the largest magnitude; the tolerance is..."
  std::string text() const;
};

/// Nothing if `found` is `expected` but for the tolerance. Of two types or shapes it never is.
///
/// Floating-point elements may differ by `tolerance` of the largest expected magnitude, those of
/// f16 and bf16 by two of their last places there if that is more: where one way of computing rounds
/// in between and another does not, that is what they differ by. NaN and infinities must be where
/// they are expected. `absolute` is allowed in any case. Integers must be equal, or differ by at
/// most `units`.
std::optional<Deviation> compare(const cnn::Tensor &found, const cnn::Tensor &expected,
                                 double tolerance, int64_t units = 0, double absolute = 0);

} // namespace convoy::verify
