// Shows results to people.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CONVOY_TOOLS_CONVOY_RUN_PRINT_H
#define CONVOY_TOOLS_CONVOY_RUN_PRINT_H

#include "tools/support/Tensor.h"

#include <string>
#include <vector>

namespace convoy::tools {

/// A line about an output: type, shape, range, mean and first elements.
void printSummary(const std::string &name, const Tensor &tensor);

/// The `top` largest elements of each image, with their labels (or indices).
void printTop(const Tensor &tensor, const std::vector<std::string> &labels, int64_t top,
              const std::vector<std::string> &images);

/// The lines of a file.
std::vector<std::string> readLabels(const std::string &path);

} // namespace convoy::tools

#endif // CONVOY_TOOLS_CONVOY_RUN_PRINT_H
