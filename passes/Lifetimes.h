// Which allocations of a plan are alive together.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "passes/Packing.h"

#include "dialects/Plan/Plan.h"
#include "llvm/ADT/MapVector.h"

namespace convoy {

/// The allocation that a buffer is or is a part of; null for inputs, outputs and constants.
plan::AllocOp getAlloc(mlir::Value buffer);

/// The allocations of a program and the waves that use them.
class Lifetimes {
public:
  explicit Lifetimes(plan::ProgramOp program);

  /// Lets the results of maps have the place of an input that dies there; how many did.
  int64_t shareInPlace();

  /// Allocations that have one place, as one block. Its steps are waves.
  llvm::ArrayRef<packing::Block> blocks() const { return parts; }
  /// The block of an allocation.
  llvm::MapVector<plan::AllocOp, unsigned> blockOf;

private:
  /// The wave is the last that uses the block, and only one of its launches does.
  bool diesAt(unsigned block, int64_t wave) const;

  struct Launch {
    plan::LaunchOp op;
    int64_t wave;
  };
  llvm::SmallVector<Launch> launches;
  llvm::SmallVector<packing::Block> parts;
  llvm::SmallVector<int64_t> lastUsers; // launches that use a block in its last wave
};

} // namespace convoy
