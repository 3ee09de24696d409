// Runs many steps in child processes: one that crashes or hangs is one failure, and the rest goes
// on. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace convoy::fuzz {

struct Limits {
  /// Processor time that one step may take, and time on the clock.
  double cpuSeconds = 10, seconds = 300;
};

/// The kind of failures of the first limit.
inline constexpr char kTakesTooLong[] = "takes too long";

/// A step that did not come to its end, or returned a text.
struct Failure {
  int64_t step;
  /// The same for failures that look alike: the sanitizer's summary, or how the process ended.
  std::string kind;
  /// All that the process wrote.
  std::string log;
};

/// A step; what it returns is a failure unless it is empty.
using Step = std::function<std::string(int64_t step)>;

/// Runs the steps of [first, first + count) in `jobs` processes. `report` is called in this
/// process.
void runSteps(int64_t first, int64_t count, unsigned jobs, const std::string &scratch,
              const Limits &limits, const Step &step,
              const std::function<void(const Failure &)> &report);

} // namespace convoy::fuzz
