// Packs blocks with lifetimes into one arena. Knows nothing of plans.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace convoy::packing {

/// `bytes` of memory that are in use from step `first` to step `last`, both included.
struct Block {
  int64_t bytes, first, last;
  bool isAliveWith(const Block &other) const { return first <= other.last && other.first <= last; }
};

struct Packing {
  llvm::SmallVector<int64_t> offsets; ///< one for each block
  int64_t bytes = 0;                  ///< the end of the last block
};

/// The largest sum of blocks alive at one step, which no packing can go below.
int64_t lowerBound(llvm::ArrayRef<Block> blocks);
/// The smallest of several greedy packings. Offsets are multiples of what all sizes are.
Packing pack(llvm::ArrayRef<Block> blocks);

} // namespace convoy::packing
