// The least time of a piece of work.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <algorithm>
#include <chrono>

namespace convoy::test {

/// Runs `work` for `budget` seconds and at least five times; the time of the fastest run.
template <typename Work> double measureSeconds(Work &&work, double budget) {
  using Clock = std::chrono::steady_clock;
  auto since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  constexpr int leastRuns = 5;
  double best = 1e9;
  Clock::time_point start = Clock::now();
  for (int runs = 0; runs < leastRuns || since(start) < budget; ++runs) {
    Clock::time_point begin = Clock::now();
    work();
    best = std::min(best, since(begin));
  }
  return best;
}

} // namespace convoy::test
