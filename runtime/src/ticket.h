// What is left of a run, in one word that threads change together.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CONVOY_RUNTIME_TICKET_H
#define CONVOY_RUNTIME_TICKET_H

#include <atomic>
#include <stdint.h>

namespace convoy::rt {

/// A wave, named by its first step, and how many of its tiles nobody has taken yet. Threads that
/// come late take more than there are, so the number has a bias that keeps it from borrowing from
/// the step.
class Ticket {
public:
  Ticket(uint64_t step, int64_t left) : word(step << tileBits | uint64_t(left + bias)) {}
  static Ticket end() { return Ticket(maxStep, 0); }

  uint64_t step() const { return word >> tileBits; }
  int64_t left() const { return static_cast<int64_t>(word & tileMask) - bias; }
  bool isEnd() const { return step() == maxStep; }

private:
  friend class Position;
  explicit Ticket(uint64_t word) : word(word) {}
  static constexpr unsigned tileBits = 44;
  static constexpr uint64_t tileMask = (uint64_t(1) << tileBits) - 1;
  static constexpr int64_t bias = int64_t(1) << (tileBits - 1);
  static constexpr uint64_t maxStep = (uint64_t(1) << (64 - tileBits)) - 1;
  uint64_t word;
};

class Position {
public:
  Ticket load() const { return Ticket(word.load(std::memory_order_acquire)); }
  void store(Ticket ticket) { word.store(ticket.word, std::memory_order_release); }
  /// What was left before.
  Ticket take(int64_t tiles) {
    return Ticket(word.fetch_sub(static_cast<uint64_t>(tiles), std::memory_order_acq_rel));
  }

private:
  std::atomic<uint64_t> word{Ticket::end().word};
};

} // namespace convoy::rt

#endif // CONVOY_RUNTIME_TICKET_H
