// The memory of a program of the plan dialect that is run launch by launch.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "compiler/verify/ValueStore.h"
#include "dialects/Plan/Plan.h"

#include <functional>
#include <memory>

namespace convoy::verify {

/// The memory of one run: inputs, outputs, constants and the arena, as the runtime has them.
class ProgramMemory {
public:
  /// Buffers without an offset get memory of their own.
  mlir::LogicalResult prepare(plan::ProgramOp program, llvm::ArrayRef<cnn::Tensor> inputs,
                              int64_t batch);
  char *address(mlir::Value buffer) const { return addresses.lookup(buffer); }
  llvm::ArrayRef<char> arena() const { return {blocks.empty() ? nullptr : arenaBegin, arenaBytes}; }
  char *arenaData() const { return arenaBegin; }

private:
  char *allocate(size_t bytes);

  std::vector<std::unique_ptr<char, void (*)(void *)>> blocks;
  llvm::DenseMap<mlir::Value, char *> addresses;
  char *arenaBegin = nullptr;
  size_t arenaBytes = 0;
};

} // namespace convoy::verify
