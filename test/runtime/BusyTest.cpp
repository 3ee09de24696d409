// A run beside another process that wants a CPU.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/runtime/TestModel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <sched.h>
#include <thread>

using namespace convoy;
using namespace convoy::test;

namespace {

/// Keeps one CPU busy.
class BusyCpu {
public:
  explicit BusyCpu(int cpu) : thread([this, cpu] { spin(cpu); }) {
    while (!started)
      std::this_thread::yield();
  }
  ~BusyCpu() {
    stopping = true;
    thread.join();
  }
  std::atomic<bool> isPinned{false};

private:
  void spin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    isPinned = sched_setaffinity(0, sizeof set, &set) == 0;
    started = true;
    while (!stopping)
      ;
  }

  std::atomic<bool> started{false}, stopping{false};
  std::thread thread; // the last member: it uses the others
};

double secondsOf(const Context &context, int runs) {
  auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < runs; ++i)
    EXPECT_EQ(convoy_context_run(context.get()), CONVOY_OK);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

TEST(Busy, TwoThreadsAreNoSlowerThanOneWhereOneCpuIsBusy) {
  cpu_set_t usable;
  ASSERT_EQ(sched_getaffinity(0, sizeof usable, &usable), 0);
  if (CPU_COUNT(&usable) < 2)
    GTEST_SKIP() << "needs two CPUs";
  int last = CPU_SETSIZE - 1;
  while (!CPU_ISSET(last, &usable))
    --last;

  // Many launches of some ten microseconds, as networks have.
  artifact::Artifact artifact = makeModel();
  std::vector<artifact::Launch> &launches = artifact.variants[0].launches;
  launches.insert(launches.begin() + 2, 60, artifact::Launch(launches[1]));
  Bytes bytes(artifact);
  Model model = load(bytes);
  std::vector<float> x = makeInput(40);
  InputTensor input(x);
  Context contexts[2];
  for (uint32_t threads : {1, 2}) {
    convoy_context_options options{};
    options.threads = threads;
    contexts[threads - 1] = makeContext(model, options);
    ASSERT_EQ(convoy_context_set_input(contexts[threads - 1].get(), 0, &input), CONVOY_OK);
    secondsOf(contexts[threads - 1], 20);
  }
  BusyCpu busy(last);
  ASSERT_TRUE(busy.isPinned);
  // Half of a CPU is left beside the whole one. A thread that is stopped with tiles in its hands keeps
  // the other waiting for a slice, though, and were tiles dealt in advance two threads would take twice
  // as long as one. Other processes disturb both sides, so the best of some tries counts, and the
  // margin is wide.
  double ratio = 1e9;
  for (int attempt = 0; attempt < 6 && ratio > 1.3; ++attempt) {
    double one = 0, two = 0;
    for (int i = 0; i < 5; ++i) {
      one += secondsOf(contexts[0], 20);
      two += secondsOf(contexts[1], 20);
    }
    ratio = std::min(ratio, two / one);
  }
  EXPECT_LE(ratio, 1.3) << "two threads took so many times as long as one";
}

} // namespace
