// The minimum cut against all labellings of small random graphs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/MinCut.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

using namespace convoy;

namespace {

struct Border {
  unsigned a, b;
  int64_t cost;
};

struct Problem {
  std::vector<int64_t> costOfA, costOfB;
  std::vector<Border> borders;

  int64_t costOf(const std::vector<bool> &isB) const {
    int64_t cost = 0;
    for (size_t i = 0; i < costOfA.size(); ++i)
      cost += isB[i] ? costOfB[i] : costOfA[i];
    for (const Border &border : borders)
      if (!isB[border.a] && isB[border.b])
        cost += border.cost;
    return cost;
  }

  // The labelling that MinCut finds.
  std::vector<bool> solve() const {
    MinCut cut;
    std::vector<unsigned> nodes;
    for (size_t i = 0; i < costOfA.size(); ++i) {
      nodes.push_back(cut.addNode());
      cut.addCost(nodes[i], costOfA[i], costOfB[i]);
    }
    for (const Border &border : borders)
      cut.addBorder(nodes[border.a], nodes[border.b], border.cost);
    std::vector<bool> all = cut.solve(), isB;
    for (unsigned node : nodes)
      isB.push_back(all[node]);
    return isB;
  }
};

} // namespace

TEST(MinCut, FindsTheCheapestOfAllLabellings) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    Problem problem;
    unsigned size = 1 + random() % 9;
    for (unsigned i = 0; i < size; ++i) {
      problem.costOfA.push_back(random() % 20);
      problem.costOfB.push_back(random() % 20);
    }
    for (unsigned i = 0; i < 2 * size; ++i)
      problem.borders.push_back(
          {unsigned(random() % size), unsigned(random() % size), int64_t(random() % 15)});
    int64_t cheapest = INT64_MAX;
    int fewest = 0;
    for (unsigned labels = 0; labels < 1u << size; ++labels) {
      std::vector<bool> isB;
      for (unsigned i = 0; i < size; ++i)
        isB.push_back(labels >> i & 1);
      int64_t cost = problem.costOf(isB);
      int count = __builtin_popcount(labels);
      if (cost < cheapest || (cost == cheapest && count < fewest)) {
        cheapest = cost;
        fewest = count;
      }
    }
    std::vector<bool> found = problem.solve();
    EXPECT_EQ(problem.costOf(found), cheapest) << "round " << round;
    EXPECT_EQ(std::count(found.begin(), found.end(), true), fewest) << "round " << round;
  }
}

TEST(MinCut, ForbiddenLabelsPullTheirNeighbours) {
  // The middle prefers B by 5, but each border costs 3 and both ends must be A.
  Problem problem{{0, 5, 0}, {MinCut::kNever, 0, MinCut::kNever}, {}};
  for (unsigned end : {0u, 2u}) {
    problem.borders.push_back({end, 1, 3});
    problem.borders.push_back({1, end, 3});
  }
  EXPECT_EQ(problem.solve(), (std::vector<bool>{false, false, false}));
  problem.costOfA[1] = 7;
  EXPECT_EQ(problem.solve(), (std::vector<bool>{false, true, false}));
}

TEST(MinCut, HoldsALongChain) {
  MinCut cut;
  std::vector<unsigned> nodes;
  for (int i = 0; i < 5000; ++i) {
    nodes.push_back(cut.addNode());
    cut.addCost(nodes[i], 1, 0);
    if (i > 0) {
      cut.addBorder(nodes[i - 1], nodes[i], 100);
      cut.addBorder(nodes[i], nodes[i - 1], 100);
    }
  }
  cut.addCost(nodes.front(), 0, 10);
  std::vector<bool> isB = cut.solve();
  EXPECT_TRUE(isB[nodes.front()]);
  EXPECT_TRUE(isB[nodes.back()]);
}
