// Random numbers, new or replayed.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/convoy-fuzz/Choices.h"

using namespace convoy::fuzz;

// SplitMix64.
static uint64_t mixed(uint64_t z) {
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ z >> 27) * 0x94d049bb133111ebull;
  return z ^ z >> 31;
}

static constexpr uint64_t kStep = 0x9e3779b97f4a7c15ull;

// Mixed, for seeds that follow each other must not begin at following places of one sequence.
Choices::Choices(uint64_t seed) : state(mixed(seed * kStep + 0x2545f4914f6cdd1dull)) {}

uint32_t Choices::draw(uint32_t bound) {
  uint32_t value = 0;
  if (replays) {
    if (drawn.size() < replayed.size())
      value = replayed[drawn.size()];
  } else {
    state += kStep;
    value = static_cast<uint32_t>(mixed(state) >> 32);
  }
  value = bound > 1 ? value % bound : 0;
  drawn.push_back(value);
  return value;
}
