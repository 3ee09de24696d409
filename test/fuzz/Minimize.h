// Makes a file that fails smaller.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <functional>
#include <string>

namespace convoy::fuzz {

/// The smallest file found that still `fails`, by leaving out nodes, values, attributes and bytes.
/// `fails` is asked at most `mostTries` times.
std::string minimize(const std::string &bytes, unsigned mostTries,
                     const std::function<bool(const std::string &)> &fails);

} // namespace convoy::fuzz
