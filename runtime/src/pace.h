// Whether threads make runs faster now.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CONVOY_RUNTIME_PACE_H
#define CONVOY_RUNTIME_PACE_H

#include <stdint.h>

namespace convoy::rt {

/// Decides for each run of a queue whether all threads take part. Threads can take longer together
/// than one does alone: where another process wants a CPU of theirs, or where CPUs exchange data
/// slowly, as those of a virtual machine may from one moment to the next. So runs are compared
/// with what their tiles took when they were fastest; where threads seem to gain little, one run is
/// made alone to compare, and if it is faster, others are, for a while.
class Pace {
public:
  bool takesThreads() const { return mode == Mode::Together; }

  /// After a run that took `time`, of which the tiles alone would have taken at least `tiles`; of
  /// the same unit.
  void ran(uint64_t time, uint64_t tiles) {
    switch (mode) {
    case Mode::Together:
      return ranTogether(time, tiles);
    case Mode::Probe:
      return ranProbe(time);
    case Mode::Alone:
      if (--left == 0)
        mode = Mode::Together, doubts = 0;
      return;
    }
  }

private:
  enum class Mode { Together, Probe, Alone };

  void ranTogether(uint64_t time, uint64_t tiles) {
    if (time < tiles - tiles / 8) {
      doubts = 0;
      patience = leastAlone;
      return;
    }
    if (left) {
      --left;
      return;
    }
    together = doubts == 0 || time < together ? time : together;
    if (++doubts == enoughDoubts)
      mode = Mode::Probe;
  }

  void ranProbe(uint64_t time) {
    doubts = 0;
    if (time < together) {
      mode = Mode::Alone;
      left = patience;
      patience = patience < mostAlone ? patience * 2 : patience;
    } else {
      mode = Mode::Together;
      left = mostAlone; // runs without doubts
    }
  }

  static constexpr uint32_t enoughDoubts = 3, leastAlone = 16, mostAlone = 256;
  Mode mode = Mode::Together;
  uint32_t doubts = 0, left = 0, patience = leastAlone;
  uint64_t together = 0; // the fastest of the runs that made doubts
};

} // namespace convoy::rt

#endif // CONVOY_RUNTIME_PACE_H
