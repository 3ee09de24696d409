// Runs a program of the plan dialect launch by launch, with the evaluator or with its code.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "compiler/verify/ValueStore.h"
#include "dialects/Plan/Plan.h"
#include "targets/Target.h"

#include "llvm/Support/Memory.h"

#include <functional>
#include <memory>

namespace convoy::verify {

/// Code of a module's kernels, mapped into this process.
class LoadedCode {
public:
  /// An error if it is no code that can be mapped.
  static mlir::FailureOr<std::unique_ptr<LoadedCode>> load(mlir::ModuleOp module,
                                                           const GeneratedCode &code);
  ~LoadedCode();

  /// Runs all tiles of a kernel as the runtime does, in ranges of several lengths and the last ones
  /// first: no range may depend on another.
  void run(plan::KernelOp kernel, llvm::ArrayRef<void *> args, int64_t batch) const;

private:
  llvm::sys::MemoryBlock memory;
  llvm::StringMap<uint64_t> offsets;
};

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
