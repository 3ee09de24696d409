// Waiting without system calls, for waits that are as short as a launch.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CONVOY_RUNTIME_SPIN_H
#define CONVOY_RUNTIME_SPIN_H

#include "convoy/kernel_abi.h"

#include <atomic>
#include <sched.h>

namespace convoy::rt {

/// One wait: a pause at first; then, or at once if there are more threads than CPUs, it gives the
/// CPU to whoever it is waiting for.
class Spin {
public:
  explicit Spin(bool crowded) : pauses(crowded ? 0 : 4000) {}

  void wait() {
    if (pauses == 0) {
      sched_yield();
      return;
    }
    --pauses;
    __builtin_ia32_pause();
  }

  /// Whether the pauses have been used up.
  bool isOver() const { return pauses == 0; }

private:
  unsigned pauses;
};

/// Lets threads go on when all have come. The last one to come may do something first, which all
/// see afterwards.
class Barrier {
public:
  template <typename Action> void arrive(uint32_t threads, bool crowded, Action last) {
    uint32_t before = generation.load(std::memory_order_relaxed);
    if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == threads) {
      last();
      arrived.store(0, std::memory_order_relaxed);
      generation.store(before + 1, std::memory_order_release);
      return;
    }
    Spin spin(crowded);
    while (generation.load(std::memory_order_acquire) == before)
      spin.wait();
  }

private:
  // Waiting threads read one line while arriving ones write the other.
  alignas(CONVOY_ALIGNMENT) std::atomic<uint32_t> arrived{0};
  alignas(CONVOY_ALIGNMENT) std::atomic<uint32_t> generation{0};
};

} // namespace convoy::rt

#endif // CONVOY_RUNTIME_SPIN_H
