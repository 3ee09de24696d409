// Random numbers that are the same everywhere for the same seed.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <cstddef>
#include <cstdint>

namespace convoy::fuzz {

/// SplitMix64.
class Random {
public:
  Random(uint64_t seed, uint64_t stream) : state(seed * 0x9e3779b97f4a7c15ull ^ stream) {
    next();
    state ^= stream * 0xd1342543de82ef95ull;
  }

  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  /// A number below `bound`, which is not 0.
  size_t below(size_t bound) { return next() % bound; }
  bool oneIn(size_t n) { return below(n) == 0; }
  template <typename Container> auto &pick(Container &from) { return from[below(from.size())]; }
  template <typename T, size_t N> const T &pick(const T (&from)[N]) { return from[below(N)]; }

private:
  uint64_t state;
};

} // namespace convoy::fuzz
