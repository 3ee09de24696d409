// Waiting without system calls, for waits that are as short as a launch.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CONVOY_RUNTIME_SPIN_H
#define CONVOY_RUNTIME_SPIN_H

#include "convoy/kernel_abi.h"

#include <atomic>
#include <sched.h>

namespace convoy::rt {

/// One wait: pauses at first; then, or at once if there are more threads than CPUs, it also offers
/// the CPU, for whoever it is waiting for may want this one.
class Spin {
public:
  explicit Spin(bool crowded) : left(crowded ? 0 : length) {}

  void wait() {
    if (left)
      --left;
    if (hasYielded() && left % 100 == 0)
      sched_yield();
    else
      __builtin_ia32_pause();
  }

  /// Whether others have had a chance to run here.
  bool hasYielded() const { return left < length - 3000; }
  /// Whether it has lasted long enough to sleep instead.
  bool isOver() const { return left == 0; }

private:
  static constexpr unsigned length = 4000; // of some 35 ns on a Zen 5 core
  unsigned left;
};

} // namespace convoy::rt

#endif // CONVOY_RUNTIME_SPIN_H
