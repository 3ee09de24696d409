// Compares results with expected ones.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CONVOY_TOOLS_CONVOY_RUN_COMPARE_H
#define CONVOY_TOOLS_CONVOY_RUN_COMPARE_H

#include "tools/support/Tensor.h"

#include <string>
#include <vector>

namespace convoy::tools {

struct Comparison {
  bool passed = false;
  double error = 0;   // Largest difference, relative to the largest expected magnitude.
  double largest = 0; // Largest finite expected magnitude.
  std::string text;   // One line: the error, or what is wrong.
};

/// Floating-point elements may differ by `tolerance` times the largest expected magnitude, or by
/// `absolute` if that is more; NaN and infinities must be where they are expected, and all other
/// types equal.
Comparison compare(const Tensor &found, const Tensor &expected, double tolerance,
                   double absolute = 0);

/// The folders test_data_set_N inside `folder`, or `folder` itself if it holds the data.
std::vector<std::string> testDataSets(const std::string &folder);

} // namespace convoy::tools

#endif // CONVOY_TOOLS_CONVOY_RUN_COMPARE_H
