// When a queue's runs take threads.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/pace.h"

#include <gtest/gtest.h>

using convoy::rt::Pace;

namespace {

constexpr uint64_t tiles = 1000; // on one thread

/// Makes `runs` runs; returns how many of them were alone.
int run(Pace &pace, int runs, uint64_t together, uint64_t alone) {
  int count = 0;
  for (int i = 0; i < runs; ++i) {
    count += !pace.takesThreads();
    pace.ran(pace.takesThreads() ? together : alone, tiles);
  }
  return count;
}

TEST(PaceTest, ThreadsThatHelpAlwaysTakePart) {
  Pace pace;
  EXPECT_EQ(run(pace, 10000, 520, 1000), 0);
  EXPECT_EQ(run(pace, 10000, 800, 1000), 0);
}

TEST(PaceTest, ThreadsThatHinderAreLeftOut) {
  Pace pace;
  EXPECT_EQ(run(pace, 3, 1500, 1000), 0) << "three runs may be chance";
  EXPECT_GE(run(pace, 10000, 1500, 1000), 9800);
}

TEST(PaceTest, ThreadsThatHelpLittleStay) {
  Pace pace;
  // Tiles are slower than they once were, on one thread as on more.
  EXPECT_LE(run(pace, 10000, 950, 1900), 40);
  EXPECT_TRUE(pace.takesThreads());
}

TEST(PaceTest, ThreadsComeBack) {
  Pace pace;
  run(pace, 1000, 1500, 1000);
  run(pace, 300, 520, 1000);
  EXPECT_TRUE(pace.takesThreads());
  EXPECT_EQ(run(pace, 1000, 520, 1000), 0);
}

TEST(PaceTest, OneSlowRunIsNoReason) {
  Pace pace;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(pace.takesThreads());
    pace.ran(i % 3 == 0 ? 5000 : 520, tiles);
  }
}

} // namespace
