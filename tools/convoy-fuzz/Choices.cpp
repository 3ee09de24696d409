// Random numbers, new or replayed.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/convoy-fuzz/Choices.h"

using namespace convoy::fuzz;

uint32_t Choices::draw(uint32_t bound) {
  uint32_t value = 0;
  if (replays) {
    if (drawn.size() < replayed.size())
      value = replayed[drawn.size()];
  } else {
    // SplitMix64.
    uint64_t z = state += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    value = static_cast<uint32_t>((z ^ z >> 31) >> 32);
  }
  value = bound > 1 ? value % bound : 0;
  drawn.push_back(value);
  return value;
}
