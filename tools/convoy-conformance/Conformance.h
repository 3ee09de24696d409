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
  /// Tests of ops that the importer does not know are skipped, not failed.
  bool skipUnknownOps = false;
};

struct Outcome {
  enum Kind : char { Passed = 'p', Failed = 'f', Skipped = 's' } kind = Passed;
  /// Why it failed or was skipped.
  std::string reason;
};

/// The tests under `root`, by their path relative to it, sorted.
std::vector<std::string> findTests(const std::string &root);

/// Compiles and runs one test.
Outcome runTest(const std::string &root, const std::string &name,
                    const ConformanceOptions &options);

/// Calls `work(i)` for i < count, each in a process of its own so that a crash or hang is the
/// failure of one test, `jobs` at a time, and `done` with what it returned, in order of completion.
void runInProcesses(size_t count, int64_t jobs, double timeoutSeconds,
                    const std::function<Outcome(size_t)> &work,
                    const std::function<void(size_t, const Outcome &)> &done);

} // namespace convoy
