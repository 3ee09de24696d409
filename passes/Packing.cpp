// Packs blocks with lifetimes into one arena.
//
// Finding the smallest arena is NP-hard (dynamic storage allocation). Each greedy order below is
// known from the literature on inference runtimes and each loses on some network; together, with a
// few rounds of repair, they mostly reach the lower bound.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Packing.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <algorithm>
#include <numeric>

using namespace convoy::packing;

using Order = llvm::SmallVector<unsigned>;
enum class Fit { Lowest, Tightest };

static llvm::SmallVector<int64_t> liveBytes(llvm::ArrayRef<Block> blocks) {
  int64_t steps = 0;
  for (const Block &block : blocks)
    steps = std::max(steps, block.last + 1);
  llvm::SmallVector<int64_t> change(steps + 1, 0);
  for (const Block &block : blocks) {
    change[block.first] += block.bytes;
    change[block.last + 1] -= block.bytes;
  }
  std::partial_sum(change.begin(), change.end(), change.begin());
  return change;
}

int64_t convoy::packing::lowerBound(llvm::ArrayRef<Block> blocks) {
  llvm::SmallVector<int64_t> live = liveBytes(blocks);
  return *std::max_element(live.begin(), live.end());
}

// Places blocks one after another, each into a gap between those placed that are alive with it.
static Packing place(llvm::ArrayRef<Block> blocks, llvm::ArrayRef<unsigned> order, Fit fit) {
  Packing packing;
  packing.offsets.assign(blocks.size(), 0);
  llvm::SmallVector<unsigned> placed; // by offset
  for (unsigned index : order) {
    const Block &block = blocks[index];
    if (block.bytes == 0)
      continue;
    int64_t end = 0, best = -1, bestGap = INT64_MAX;
    for (unsigned other : placed) {
      if (!block.isAliveWith(blocks[other]))
        continue;
      int64_t gap = packing.offsets[other] - end;
      if (gap >= block.bytes && gap < bestGap) {
        best = end;
        bestGap = gap;
        if (fit == Fit::Lowest)
          break;
      }
      end = std::max(end, packing.offsets[other] + blocks[other].bytes);
    }
    int64_t offset = best < 0 ? end : best;
    packing.offsets[index] = offset;
    packing.bytes = std::max(packing.bytes, offset + block.bytes);
    auto position = llvm::upper_bound(placed, offset, [&](int64_t value, unsigned other) {
      return value < packing.offsets[other];
    });
    placed.insert(position, index);
  }
  return packing;
}

// Orders in which `place` is tried.
static llvm::SmallVector<Order> makeOrders(llvm::ArrayRef<Block> blocks) {
  Order start(llvm::seq<unsigned>(0, blocks.size()).begin(),
              llvm::seq<unsigned>(0, blocks.size()).end());
  llvm::SmallVector<Order> orders;
  auto sorted = [&](auto key) {
    Order order = start;
    llvm::sort(order, [&](unsigned a, unsigned b) {
      return std::pair(key(blocks[b]), a) < std::pair(key(blocks[a]), b);
    });
    orders.push_back(order);
  };
  auto length = [](const Block &block) { return block.last - block.first + 1; };
  sorted([](const Block &block) { return block.bytes; });
  sorted([&](const Block &block) { return std::pair(length(block), block.bytes); });
  sorted([&](const Block &block) { return block.bytes * length(block); });
  sorted([](const Block &block) { return std::pair(-block.first, block.bytes); });

  // By steps, fullest first; at each step by size.
  llvm::SmallVector<int64_t> live = liveBytes(blocks);
  llvm::SmallVector<int64_t> steps(llvm::seq<int64_t>(0, live.size()).begin(),
                                   llvm::seq<int64_t>(0, live.size()).end());
  llvm::sort(steps,
             [&](int64_t a, int64_t b) { return std::pair(live[b], a) < std::pair(live[a], b); });
  Order bySize = orders.front(), order;
  llvm::SmallVector<bool> taken(blocks.size(), false);
  // A network has many steps that add nothing; looking at the fullest is enough.
  for (int64_t step : llvm::ArrayRef(steps).take_front(64))
    for (unsigned index : bySize)
      if (!taken[index] && blocks[index].first <= step && step <= blocks[index].last) {
        taken[index] = true;
        order.push_back(index);
      }
  for (unsigned index : bySize)
    if (!taken[index])
      order.push_back(index);
  orders.push_back(order);
  return orders;
}

Packing convoy::packing::pack(llvm::ArrayRef<Block> blocks) {
  constexpr int kRepairs = 50;
  int64_t bound = lowerBound(blocks);
  Packing best;
  best.bytes = INT64_MAX;
  for (const Order &initial : makeOrders(blocks)) {
    for (Fit fit : {Fit::Lowest, Fit::Tightest}) {
      Order order = initial;
      for (int round = 0; round < kRepairs; ++round) {
        Packing packing = place(blocks, order, fit);
        if (packing.bytes < best.bytes)
          best = packing;
        if (best.bytes <= bound)
          return best;
        // The block that sticks out chooses first the next time.
        auto top = llvm::find_if(order, [&](unsigned index) {
          return packing.offsets[index] + blocks[index].bytes == packing.bytes;
        });
        std::rotate(order.begin(), top, top + 1);
      }
    }
  }
  return best;
}
