// Times kernels on this machine, in the state of caches that a network leaves.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/tune/Measure.h"

#include "dialects/Cnn/ConstantData.h"
#include "passes/Graph.h"

#include "llvm/TargetParser/Host.h"

#include <cstring>
#include <limits>
#include <time.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace mlir;
using namespace convoy;

namespace {

constexpr size_t kLineBytes = 64;

/// Memory of an operand or result, the same for all kernels.
struct Buffer {
  AlignedBytes memory{nullptr, std::free};
  size_t bytes = 0;
};

} // namespace

static double nanoseconds(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return 1e9 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec);
}

// Fractions between -1 and 1, none of them tiny, of a sequence that is the same every time. What a
// layout pads is filled too: no kernel lets it reach a result.
static void fill(Buffer &buffer, Type element) {
  int64_t width = cnn::getElementBytes(element);
  constexpr int64_t period = 4096;
  std::vector<char> pattern(period * width);
  uint32_t state = 12345;
  for (int64_t i = 0; i < period; ++i) {
    state = state * 1664525 + 1013904223;
    double magnitude = (1 + (state >> 25)) / 128.0;
    cnn::writeFloat(pattern.data() + i * width, element, state & 0x10000 ? magnitude : -magnitude);
  }
  for (size_t at = 0; at < buffer.bytes; at += pattern.size())
    std::memcpy(buffer.memory.get() + at, pattern.data(),
                std::min(pattern.size(), buffer.bytes - at));
}

#if defined(__x86_64__)
// Lines leave one by one here, and many at a time there.
static void flushSlowly(const Buffer &buffer) {
  for (size_t at = 0; at < buffer.bytes; at += kLineBytes)
    _mm_clflush(buffer.memory.get() + at);
}

__attribute__((target("clflushopt"))) static void flushQuickly(const Buffer &buffer) {
  for (size_t at = 0; at < buffer.bytes; at += kLineBytes)
    _mm_clflushopt(buffer.memory.get() + at);
}
#endif

// Takes a buffer out of all caches.
static void evict(const Buffer &buffer) {
#if defined(__x86_64__)
  static const bool isQuick = llvm::sys::getHostCPUFeatures().lookup("clflushopt");
  (isQuick ? flushQuickly : flushSlowly)(buffer);
  _mm_mfence();
#else
  (void)buffer;
#endif
}

// Brings a buffer into the caches, as far as it fits.
static void touch(const Buffer &buffer) {
  volatile char sink = 0;
  for (size_t at = 0; at < buffer.bytes; at += kLineBytes)
    sink = buffer.memory.get()[at];
  (void)sink;
}

static size_t bytesOf(Value value) { return cnn::getBytes(tensorType(value)); }

std::optional<std::vector<double>> tune::measure(const HostCode &code,
                                                 ArrayRef<plan::KernelOp> kernels,
                                                 ArrayRef<unsigned> weights, double mostNs) {
  // Packed weights may be larger than plain ones.
  std::vector<Buffer> buffers;
  size_t scratchBytes = 0;
  for (plan::KernelOp kernel : kernels) {
    Block &body = kernel.getBody().front();
    size_t number = 0;
    auto demand = [&](Value value) {
      if (number == buffers.size())
        buffers.emplace_back();
      buffers[number].bytes = std::max(buffers[number].bytes, bytesOf(value));
      ++number;
    };
    llvm::for_each(body.getArguments(), demand);
    llvm::for_each(body.getTerminator()->getOperands(), demand);
    scratchBytes = std::max<size_t>(scratchBytes, code.scratchBytes(kernel.getSymName()));
  }
  Block &first = plan::KernelOp(kernels.front()).getBody().front();
  SmallVector<Value> values(first.getArguments());
  llvm::append_range(values, first.getTerminator()->getOperands());
  std::vector<void *> args;
  for (auto [buffer, value] : llvm::zip_equal(buffers, values)) {
    buffer.memory = allocateAligned(buffer.bytes);
    if (!buffer.memory)
      return std::nullopt;
    fill(buffer, tensorType(value).getElementType());
    args.push_back(buffer.memory.get());
  }
  AlignedBytes scratch = allocateAligned(scratchBytes);
  if (!scratch)
    return std::nullopt;
  std::memset(scratch.get(), 0, scratchBytes);

  auto prepare = [&] {
    for (unsigned weight : weights)
      evict(buffers[weight]);
    // Inputs last: they are what the op before has just written.
    for (size_t i = buffers.size(); i-- > 0;)
      if (!llvm::is_contained(weights, i))
        touch(buffers[i]);
  };
  FlushSubnormals flushed;
  constexpr int leastRuns = 3, mostRuns = 100;
  std::vector<double> least(kernels.size(), std::numeric_limits<double>::infinity());
  std::vector<double> spent(kernels.size(), 0);
  for (int round = 0; round < mostRuns; ++round) {
    bool isDone = true;
    for (auto [i, kernel] : llvm::enumerate(kernels)) {
      if (round >= leastRuns && spent[i] >= mostNs)
        continue;
      isDone = false;
      double begin = nanoseconds(CLOCK_MONOTONIC);
      prepare();
      // While another process has the core, the thread's own time stands still. It takes longer to
      // read, which shows in short runs: the lesser one counts.
      double cpuStart = nanoseconds(CLOCK_THREAD_CPUTIME_ID), start = nanoseconds(CLOCK_MONOTONIC);
      code.runInOrder(plan::KernelOp(kernel).getSymName(), args, /*batch=*/1, scratch.get());
      double end = nanoseconds(CLOCK_MONOTONIC), cpuEnd = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
      least[i] = std::min({least[i], end - start, cpuEnd - cpuStart});
      spent[i] += end - begin;
    }
    if (isDone)
      break;
  }
  return least;
}
