// Failing cases as folders.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "tools/convoy-fuzz/Check.h"

namespace convoy::fuzz {

/// Writes a case as ONNX's backend tests lie, with its tolerances and a report beside.
void keep(const std::string &folder, const Case &test, const std::string &report);
/// Reads what keep() wrote; throws Error if it is not that.
Case readCase(const std::string &folder);

} // namespace convoy::fuzz
