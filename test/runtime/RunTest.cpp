// Runs: threads, parallel_for, floating-point state, and what a run must not do.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/runtime/AllocationCount.h"
#include "test/runtime/TestModel.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <optional>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <xmmintrin.h>

using namespace convoy;
using namespace convoy::test;

namespace {

class RunTest : public testing::Test {
protected:
  Context withThreads(uint32_t threads) {
    convoy_context_options options{};
    options.threads = threads;
    return makeContext(model, options);
  }

  Bytes bytes{makeModel()};
  Model model = load(bytes);
};

TEST_F(RunTest, GivesTheSameBitsForEveryNumberOfThreads) {
  for (uint32_t threads = 1; threads <= 4; ++threads) {
    Context context = withThreads(threads);
    EXPECT_EQ(convoy_context_threads(context.get()), threads);
    for (int64_t batch = 1; batch <= 5; ++batch)
      for (unsigned seed = 0; seed < 20; ++seed) {
        std::vector<float> x = makeInput(batch, seed);
        ASSERT_EQ(runOn(context, x), expected(x)) << threads << " threads, batch " << batch;
      }
  }
}

TEST_F(RunTest, GivesTheSameBitsAtEveryPositionOfABatch) {
  Context context = withThreads(2);
  std::vector<float> one = makeInput(1), five;
  for (int n = 0; n < 5; ++n)
    five.insert(five.end(), one.begin(), one.end());
  Outputs alone = runOn(context, one), together = runOn(context, five);
  for (size_t i = 0; i < together.y.size(); ++i)
    ASSERT_EQ(together.y[i], alone.y[i % alone.y.size()]) << i;
  for (size_t i = 0; i < together.z.size(); ++i)
    ASSERT_EQ(together.z[i], alone.z[i % alone.z.size()]) << i;
}

TEST_F(RunTest, EndsWithMoreTilesThanATicketCounts) {
  artifact::Artifact artifact = makeModel();
  artifact.variants[0].launches[2].tiles = 9'000'001; // each computes the whole sum
  Bytes many(artifact);
  Model other = load(many);
  convoy_context_options options{};
  options.threads = 3;
  Context context = makeContext(other, options);
  std::vector<float> x = makeInput(2);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(runOn(context, x), expected(x));
}

class WaveTest : public RunTest {
protected:
  WaveTest() {
    artifact::Artifact artifact = makeModel();
    // "left" reads a and writes z while "sum" reads b and writes y.
    artifact.variants[0].launches[3].joins = true;
    waveBytes.emplace(artifact);
    model = load(*waveBytes);
  }
  std::optional<Bytes> waveBytes;
};

TEST_F(WaveTest, GivesTheSameBits) {
  for (uint32_t threads : {1, 2, 3, 9}) {
    Context context = withThreads(threads);
    for (int i = 0; i < 200; ++i) {
      std::vector<float> x = makeInput(1 + i % 4, static_cast<unsigned>(i));
      ASSERT_EQ(runOn(context, x), expected(x)) << threads << " threads, run " << i;
    }
  }
}

TEST_F(WaveTest, TimesOfLaunchesAddUpToTheRun) {
  for (uint32_t threads : {1, 2}) {
    Context context = withThreads(threads);
    std::vector<float> x = makeInput(500);
    convoy_context_set_profiling(context.get(), 1);
    ASSERT_EQ(runOn(context, x), expected(x));
    InputTensor input(x);
    ASSERT_EQ(convoy_context_set_input(context.get(), 0, &input), CONVOY_OK);
    auto begin = std::chrono::steady_clock::now();
    ASSERT_EQ(convoy_context_run(context.get()), CONVOY_OK);
    std::chrono::nanoseconds run = std::chrono::steady_clock::now() - begin;
    const uint64_t *times = convoy_context_launch_times(context.get());
    ASSERT_TRUE(times);
    uint64_t sum = 0;
    for (size_t i = 0; i < 5; ++i) {
      EXPECT_GT(times[i], 0u) << threads << " threads, launch " << i;
      sum += times[i];
    }
    EXPECT_LE(sum, static_cast<uint64_t>(run.count())) << threads << " threads";
  }
}

TEST_F(RunTest, ManyRunsOfManyThreads) {
  // More threads than CPUs, in runs too short for all to take part: orderings that differ.
  Context context = withThreads(9);
  std::vector<float> x = makeInput(3);
  Outputs right = expected(x);
  for (int i = 0; i < 300; ++i)
    ASSERT_EQ(runOn(context, x), right) << i;
}

TEST_F(RunTest, WakesSleepingWorkers) {
  Context context = withThreads(3);
  std::vector<float> x = makeInput(2);
  Outputs right = expected(x);
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3)); // workers fall asleep
    ASSERT_EQ(runOn(context, x), right) << i;
  }
}

/// Ways in which a caller may run pieces.
struct Caller {
  std::vector<size_t> counts;

  static void inOrder(void *user, void (*task)(void *, size_t), void *data, size_t count) {
    static_cast<Caller *>(user)->counts.push_back(count);
    for (size_t i = 0; i < count; ++i)
      task(data, i);
  }
  static void backwards(void *user, void (*task)(void *, size_t), void *data, size_t count) {
    static_cast<Caller *>(user)->counts.push_back(count);
    for (size_t i = count; i-- > 0;)
      task(data, i);
  }
  static void onThreads(void *user, void (*task)(void *, size_t), void *data, size_t count) {
    static_cast<Caller *>(user)->counts.push_back(count);
    std::vector<std::thread> threads;
    for (size_t i = 0; i < count; ++i)
      threads.emplace_back(task, data, i);
    for (std::thread &thread : threads)
      thread.join();
  }
};

TEST_F(RunTest, UsesTheCallersParallelFor) {
  for (convoy_parallel_for function : {Caller::inOrder, Caller::backwards, Caller::onThreads}) {
    Caller caller;
    convoy_context_options options{};
    options.threads = 4;
    options.parallel_for = function;
    options.parallel_for_user = &caller;
    Context context = makeContext(model, options);
    for (int64_t batch = 1; batch <= 3; ++batch) {
      std::vector<float> x = makeInput(batch);
      EXPECT_EQ(runOn(context, x), expected(x)) << batch;
    }
    // A launch of one tile needs no help.
    EXPECT_EQ(caller.counts, std::vector<size_t>(3 * 4, 4));
  }
}

TEST_F(WaveTest, CallsTheCallersParallelForOnceAWave) {
  for (convoy_parallel_for function : {Caller::inOrder, Caller::backwards, Caller::onThreads}) {
    Caller caller;
    convoy_context_options options{};
    options.threads = 4;
    options.parallel_for = function;
    options.parallel_for_user = &caller;
    Context context = makeContext(model, options);
    std::vector<float> x = makeInput(3);
    EXPECT_EQ(runOn(context, x), expected(x));
    EXPECT_EQ(caller.counts, std::vector<size_t>(4, 4));
  }
}

TEST_F(RunTest, FlushesSubnormalsAndRestoresTheCallersState) {
  // x * w is subnormal: 0 with FTZ. x itself is normal. The constants add c - 4, which is 0 at
  // column 4.
  std::vector<float> x(imageSize, 1.5e-38f);
  auto run = [&](const Context &context) {
    InputTensor input(x);
    ASSERT_EQ(convoy_context_set_input(context.get(), 0, &input), CONVOY_OK);
    constexpr unsigned upwards = 0x4000, masks = 0x1F80, inexact = 0x20;
    unsigned before = _mm_getcsr();
    _mm_setcsr(masks | upwards | inexact);
    convoy_status status = convoy_context_run(context.get());
    unsigned after = _mm_getcsr();
    _mm_setcsr(before);
    ASSERT_EQ(status, CONVOY_OK);
    EXPECT_EQ(after, masks | upwards | inexact);
    convoy_tensor z{};
    ASSERT_EQ(convoy_context_output(context.get(), 1, &z), CONVOY_OK);
    const float *data = static_cast<const float *>(z.data);
    for (int64_t r = 0; r < 4; ++r) // weights 0.5, 0.625, 0.75
      EXPECT_EQ(data[r * columns + 4], r < 3 ? 0.f : x[0] * 0.875f) << r;
  };
  // Row 3 gives 1.31e-38, still normal.
  ASSERT_GT(1.5e-38f * 0.875f, 1.17549436e-38f);
  ASSERT_LT(1.5e-38f * 0.75f, 1.17549436e-38f);
  run(withThreads(1));
  run(withThreads(3));
  Caller caller;
  for (convoy_parallel_for function : {Caller::inOrder, Caller::onThreads}) {
    convoy_context_options options{};
    options.threads = 3;
    options.parallel_for = function;
    options.parallel_for_user = &caller;
    run(makeContext(model, options));
  }
}

TEST_F(RunTest, RoundsToNearestWhateverTheCallersMode) {
  std::vector<float> x = makeInput(2);
  for (uint32_t threads : {1, 2}) {
    Context context = withThreads(threads);
    InputTensor input(x);
    ASSERT_EQ(convoy_context_set_input(context.get(), 0, &input), CONVOY_OK);
    unsigned before = _mm_getcsr();
    _MM_SET_ROUNDING_MODE(_MM_ROUND_TOWARD_ZERO);
    convoy_status status = convoy_context_run(context.get());
    _mm_setcsr(before);
    ASSERT_EQ(status, CONVOY_OK);
    EXPECT_EQ(runOn(context, x), expected(x));
  }
}

TEST_F(RunTest, AllocatesNothing) {
  std::vector<float> x = makeInput(2), other = makeInput(2, 2);
  Caller caller;
  caller.counts.reserve(1000);
  for (uint32_t threads : {1, 2, 4})
    for (bool ownPool : {true, false}) {
      convoy_context_options options{};
      options.threads = threads;
      options.parallel_for = ownPool ? nullptr : Caller::inOrder;
      options.parallel_for_user = &caller;
      Context context = makeContext(model, options);
      InputTensor input(x), otherInput(other);
      ASSERT_EQ(convoy_context_set_input(context.get(), 0, &input), CONVOY_OK);
      startCountingAllocations();
      convoy_status first = convoy_context_run(context.get()); // the very first run too
      convoy_status set = convoy_context_set_input(context.get(), 0, &otherInput);
      convoy_status second = convoy_context_run(context.get());
      long count = stopCountingAllocations();
      EXPECT_EQ(first, CONVOY_OK);
      EXPECT_EQ(set, CONVOY_OK);
      EXPECT_EQ(second, CONVOY_OK);
      EXPECT_EQ(count, 0) << threads << " threads";
    }
  startCountingAllocations();
  std::vector<float> *counted = new std::vector<float>(10);
  EXPECT_EQ(stopCountingAllocations(), 2) << "the counter does not count";
  delete counted;
}

/// From now on the process dies at any system call but those of waiting and leaving.
bool allowOnlyWaiting() {
#define ALLOW(number)                                                                              \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      ALLOW(__NR_futex),       // wakes and ends the sleep of workers
      ALLOW(__NR_sched_yield), // waits for threads that have no CPU
      ALLOW(__NR_exit_group),
      ALLOW(__NR_clock_gettime), // only where the vDSO has no clock
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
#undef ALLOW
  sock_fprog program{sizeof filter / sizeof *filter, filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

TEST_F(RunTest, OpensNoFileAndMapsNoMemory) {
  constexpr int noFilter = 77;
  auto child = [&](bool inherit) {
    pid_t pid = fork();
    if (pid == 0) {
      Context context = withThreads(2);
      std::vector<float> x = makeInput(2);
      InputTensor input(x);
      convoy_context_set_input(context.get(), 0, &input);
      convoy_context_set_profiling(context.get(), 1);
      if (!allowOnlyWaiting())
        syscall(SYS_exit_group, noFilter);
      convoy_status status = CONVOY_OK;
      for (int i = 0; i < 10 && status == CONVOY_OK; ++i)
        status = convoy_context_run(context.get());
      if (inherit) // proves that the filter bites
        syscall(SYS_getpid);
      syscall(SYS_exit_group, static_cast<int>(status));
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return status;
  };
  int status = child(false);
  if (WIFEXITED(status) && WEXITSTATUS(status) == noFilter)
    GTEST_SKIP() << "this machine allows no seccomp filter";
  ASSERT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), CONVOY_OK);
  EXPECT_TRUE(WIFSIGNALED(child(true)));
}

TEST_F(RunTest, ContextsShareAModelAtTheSameTime) {
  std::vector<std::thread> users;
  std::vector<int> right(4);
  for (unsigned user = 0; user < right.size(); ++user)
    users.emplace_back([&, user] {
      Context context = withThreads(1 + user % 3);
      for (unsigned i = 0; i < 100; ++i) {
        std::vector<float> x = makeInput(1 + (user + i) % 3, 100 * user + i);
        right[user] += runOn(context, x) == expected(x);
      }
    });
  for (std::thread &user : users)
    user.join();
  EXPECT_EQ(right, std::vector<int>(right.size(), 100));
}

TEST_F(RunTest, ModelsDoNotDisturbEachOther) {
  Bytes otherBytes(makeModel(-2));
  Model other = load(otherBytes);
  Context first = withThreads(2), second = makeContext(other), third = withThreads(1);
  std::vector<float> x = makeInput(2), z = makeInput(3, 5);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(runOn(first, x), expected(x));
    EXPECT_EQ(runOn(second, z), expected(z, -2));
    EXPECT_EQ(runOn(third, z), expected(z));
  }
  second.reset();
  other.reset();
  EXPECT_EQ(runOn(first, z), expected(z));
}

TEST_F(RunTest, ErrorsBelongToTheirThread) {
  EXPECT_EQ(convoy_context_run(nullptr), CONVOY_INVALID_ARGUMENT);
  std::string here = convoy_last_error(), there;
  std::thread([&] { there = convoy_last_error(); }).join();
  EXPECT_NE(here, "");
  EXPECT_EQ(there, "");
}

} // namespace
