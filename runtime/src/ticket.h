// What is left of a run, in one word that threads change together.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CONVOY_RUNTIME_TICKET_H
#define CONVOY_RUNTIME_TICKET_H

#include <atomic>
#include <stdint.h>

namespace convoy::rt {

/// A wave, named by its first step, and its units (of one or more tiles) that nobody has taken yet:
/// those from `begin` to `end`. Threads take from both ends, so that each mostly gets what it got of
/// the wave before, and reads what it has written.
class Ticket {
public:
  Ticket(uint64_t step, uint64_t begin, uint64_t end)
      : word(step << (2 * bits) | begin << bits | end) {}
  static Ticket end() { return Ticket(maxStep, 0, 0); }

  uint64_t step() const { return word >> (2 * bits); }
  int64_t first() const { return static_cast<int64_t>(word >> bits & mask); }
  int64_t last() const { return static_cast<int64_t>(word & mask); } // excluded
  int64_t left() const { return last() - first(); }
  bool isEnd() const { return step() == maxStep; }

  static constexpr int64_t maxUnits = (int64_t(1) << 22) - 1;

private:
  friend class Position;
  explicit Ticket(uint64_t word) : word(word) {}
  static constexpr unsigned bits = 22;
  static constexpr uint64_t mask = (uint64_t(1) << bits) - 1;
  static constexpr uint64_t maxStep = (uint64_t(1) << (64 - 2 * bits)) - 1;
  uint64_t word;
};

class Position {
public:
  Ticket load() const { return Ticket(word.load(std::memory_order_acquire)); }
  void store(Ticket ticket) { word.store(ticket.word, std::memory_order_release); }

  /// Takes `count` of the units that `seen` has left, which the ticket then names; false if others
  /// were faster.
  bool take(Ticket &seen, int64_t count, bool fromEnd) {
    uint64_t step = seen.step(), first = static_cast<uint64_t>(seen.first()),
             last = static_cast<uint64_t>(seen.last()), units = static_cast<uint64_t>(count);
    uint64_t middle = fromEnd ? last - units : first + units;
    Ticket rest = fromEnd ? Ticket(step, first, middle) : Ticket(step, middle, last);
    uint64_t expected = seen.word;
    if (!word.compare_exchange_strong(expected, rest.word, std::memory_order_acq_rel))
      return false;
    seen = fromEnd ? Ticket(step, middle, last) : Ticket(step, first, middle);
    return true;
  }

private:
  std::atomic<uint64_t> word{Ticket::end().word};
};

} // namespace convoy::rt

#endif // CONVOY_RUNTIME_TICKET_H
