// Minimum cut by Dinic's algorithm.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/MinCut.h"

#include <algorithm>

using namespace convoy;

static constexpr unsigned kSource = 0, kSink = 1;

MinCut::MinCut() : edgesOf(2) {}

unsigned MinCut::addNode() {
  edgesOf.emplace_back();
  return edgesOf.size() - 1;
}

void MinCut::addBorder(unsigned a, unsigned b, int64_t cost) {
  if (cost <= 0)
    return;
  edgesOf[a].push_back(edges.size());
  edges.push_back({b, std::min(cost, kNever)});
  edgesOf[b].push_back(edges.size());
  edges.push_back({a, 0});
}

void MinCut::addCost(unsigned node, int64_t costOfA, int64_t costOfB) {
  // Only the difference matters.
  int64_t common = std::min(costOfA, costOfB);
  addBorder(kSource, node, costOfB - common);
  addBorder(node, kSink, costOfA - common);
}

bool MinCut::findLevels() {
  level.assign(edgesOf.size(), -1);
  level[kSource] = 0;
  std::vector<unsigned> queue{kSource};
  for (size_t i = 0; i < queue.size(); ++i)
    for (unsigned index : edgesOf[queue[i]])
      if (const Edge &edge = edges[index]; edge.capacity > 0 && level[edge.to] < 0) {
        level[edge.to] = level[queue[i]] + 1;
        queue.push_back(edge.to);
      }
  return level[kSink] >= 0;
}

// Recursion is as deep as the shortest path is long, which is bounded by the network's depth.
int64_t MinCut::push(unsigned node, int64_t limit) {
  if (node == kSink)
    return limit;
  for (size_t &i = next[node]; i < edgesOf[node].size(); ++i) {
    unsigned index = edgesOf[node][i];
    if (edges[index].capacity <= 0 || level[edges[index].to] != level[node] + 1)
      continue;
    int64_t pushed = push(edges[index].to, std::min(limit, edges[index].capacity));
    if (pushed > 0) {
      edges[index].capacity -= pushed;
      edges[index ^ 1].capacity += pushed;
      return pushed;
    }
  }
  return 0;
}

std::vector<bool> MinCut::solve() {
  while (findLevels()) {
    next.assign(edgesOf.size(), 0);
    while (push(kSource, kNever * 2) > 0) {
    }
  }
  // B is what can still reach the sink: walk back from it along edges with capacity left.
  std::vector<bool> isB(edgesOf.size(), false);
  isB[kSink] = true;
  std::vector<unsigned> queue{kSink};
  for (size_t i = 0; i < queue.size(); ++i)
    for (unsigned index : edgesOf[queue[i]]) {
      unsigned from = edges[index].to;
      if (edges[index ^ 1].capacity > 0 && !isB[from]) {
        isB[from] = true;
        queue.push_back(from);
      }
    }
  return isB;
}
