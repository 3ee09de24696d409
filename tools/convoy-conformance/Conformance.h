// One ONNX backend test, and running many in processes of their own.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "tools/support/Tensor.h"

#include <functional>
#include <string>
#include <vector>

namespace convoy {

struct ConformanceOptions {
  std::string target = "host";
  int64_t threads = 1;
  double relative = 1e-3, absolute = 1e-7;
  bool noOptimize = false;
};

/// The tests under `root`, by their path relative to it, sorted.
std::vector<std::string> findTests(const std::string &root);

/// Compiles and runs one test; the reason of its failure, or an empty string.
std::string runTest(const std::string &root, const std::string &name,
                    const ConformanceOptions &options);

/// Calls `work(i)` for i < count, each in a process of its own so that a crash or hang is the
/// failure of one test, `jobs` at a time, and `done` with what it returned, in order of completion.
void runInProcesses(size_t count, int64_t jobs, double timeoutSeconds,
                    const std::function<std::string(size_t)> &work,
                    const std::function<void(size_t, const std::string &)> &done);

} // namespace convoy
