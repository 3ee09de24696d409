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

} // namespace convoy::rt

#endif // CONVOY_RUNTIME_SPIN_H
