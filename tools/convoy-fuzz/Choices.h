// The random choices that a graph is made from, recorded so that a shrinker can change them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace convoy::fuzz {

/// Everything random comes from here as a number below a bound. A graph is a function of these
/// numbers: the same ones give the same graph, smaller ones and fewer of them a simpler one. That
/// is why 0 stands for the simplest choice everywhere, and why a shrunk list is always a valid
/// graph, with correct shapes and tolerances.
class Choices {
public:
  /// New random numbers.
  explicit Choices(uint64_t seed);
  /// Those of a list; zeros after its end.
  explicit Choices(std::vector<uint32_t> recorded) : replayed(std::move(recorded)), replays(true) {}

  /// A number below `bound`.
  uint32_t draw(uint32_t bound);
  /// A number from `least` to `most`.
  int64_t between(int64_t least, int64_t most) {
    return least + draw(static_cast<uint32_t>(most - least + 1));
  }
  /// True once in n times.
  bool oneIn(uint32_t n) { return draw(n) == n - 1; }
  template <typename T> T pick(const std::vector<T> &options) {
    return options[draw(static_cast<uint32_t>(options.size()))];
  }

  /// Numbers drawn so far.
  const std::vector<uint32_t> &record() const { return drawn; }
  /// Parts of the record that can be left out as a whole: one a node.
  struct Span {
    size_t begin, end;
  };
  const std::vector<Span> &spans() const { return spanList; }
  void endSpan(size_t begin) { spanList.push_back({begin, drawn.size()}); }

private:
  std::vector<uint32_t> replayed, drawn;
  std::vector<Span> spanList;
  bool replays = false;
  uint64_t state = 0;
};

} // namespace convoy::fuzz
