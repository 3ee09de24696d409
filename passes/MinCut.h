// Chooses one of two labels for each node at the least total cost. Knows nothing of graphs of ops.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <cstdint>
#include <vector>

namespace convoy {

/// Costs of labels A and B of nodes, and of neighbours that differ. The cheapest labelling is a
/// minimum cut of a graph whose source stands for A and whose sink for B.
class MinCut {
public:
  static constexpr int64_t kNever = int64_t(1) << 50;

  MinCut();
  unsigned addNode();
  /// What it costs to label `node` with A or B; kNever forbids a label.
  void addCost(unsigned node, int64_t costOfA, int64_t costOfB);
  /// What it costs if `a` is labelled A and `b` is labelled B.
  void addBorder(unsigned a, unsigned b, int64_t cost);

  /// For each node, whether its label is B. Of equal labellings the one with the fewest Bs.
  std::vector<bool> solve();

private:
  struct Edge {
    unsigned to;
    int64_t capacity;
  };
  // Edge i and i ^ 1 are each other's reverse.
  std::vector<Edge> edges;
  std::vector<std::vector<unsigned>> edgesOf;
  std::vector<int> level;
  std::vector<size_t> next;

  bool findLevels();
  int64_t push(unsigned node, int64_t limit);
};

} // namespace convoy
