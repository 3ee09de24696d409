// What nobody has taken yet of the tiles that a thread is meant to compute.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CONVOY_RUNTIME_SHARE_H
#define CONVOY_RUNTIME_SHARE_H

#include "convoy/kernel_abi.h"

#include <atomic>
#include <stdint.h>

namespace convoy::rt {

/// Neighbouring tiles of a wave, which is named by its first step, in one word that threads change
/// together. They are counted in units, of so many tiles that the numbers fit.
class Share {
public:
  Share(uint64_t step, uint64_t begin, uint64_t end)
      : word(step << (2 * unitBits) | begin << unitBits | end) {}
  static Share over() { return Share(maxStep, 0, 0); }

  uint64_t step() const { return word >> (2 * unitBits); }
  uint64_t begin() const { return word >> unitBits & unitMask; }
  uint64_t end() const { return word & unitMask; }
  uint64_t left() const { return end() - begin(); }
  /// Whether the run is over.
  bool isOver() const { return step() == maxStep; }

  Share first(uint64_t units) const { return Share(step(), begin(), begin() + units); }
  Share last(uint64_t units) const { return Share(step(), end() - units, end()); }
  Share withoutFirst(uint64_t units) const { return Share(step(), begin() + units, end()); }
  Share withoutLast(uint64_t units) const { return Share(step(), begin(), end() - units); }

  /// The tiles of a unit in a wave of so many.
  static uint64_t unitOf(uint64_t tiles) { return (tiles >> (unitBits - 1)) + 1; }

private:
  friend class SharedShare;
  explicit Share(uint64_t word) : word(word) {}
  static constexpr unsigned unitBits = 22;
  static constexpr uint64_t unitMask = (uint64_t(1) << unitBits) - 1;
  static constexpr uint64_t maxStep = (uint64_t(1) << (64 - 2 * unitBits)) - 1;
  uint64_t word;
};

/// A share where all threads see it.
class alignas(CONVOY_ALIGNMENT) SharedShare {
public:
  Share load() const { return Share(word.load(std::memory_order_acquire)); }
  void store(Share share) { word.store(share.word, std::memory_order_release); }
  /// Whether it was still what has been seen, and is `next` now.
  bool replace(Share seen, Share next) {
    return word.compare_exchange_strong(seen.word, next.word, std::memory_order_acq_rel,
                                        std::memory_order_relaxed);
  }

private:
  std::atomic<uint64_t> word{Share::over().word};
};

} // namespace convoy::rt

#endif // CONVOY_RUNTIME_SHARE_H
