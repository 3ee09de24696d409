// Code of kernels, mapped into this process and called.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "dialects/Plan/Plan.h"
#include "targets/Target.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Memory.h"

#include <memory>

namespace convoy {

/// The kernels of one module.
class HostCode {
public:
  /// Maps the code that was generated for `module`; an error if it cannot be.
  static mlir::FailureOr<std::unique_ptr<HostCode>> load(mlir::ModuleOp module,
                                                         const GeneratedCode &code);
  HostCode() = default;
  HostCode(const HostCode &) = delete;
  HostCode &operator=(const HostCode &) = delete;
  ~HostCode();

  bool has(llvm::StringRef kernel) const { return kernels.contains(kernel); }
  int64_t tiles(llvm::StringRef kernel) const { return kernels.lookup(kernel).tiles; }
  int64_t scratchBytes(llvm::StringRef kernel) const { return kernels.lookup(kernel).scratchBytes; }

  /// Runs all tiles of a kernel as the runtime does, in ranges of several lengths and the last ones
  /// first: no range may depend on another.
  void run(llvm::StringRef kernel, llvm::ArrayRef<void *> args, int64_t batch) const;
  /// Runs all tiles in one call; `scratch` has the bytes that the kernel asks for and is aligned.
  void runInOrder(llvm::StringRef kernel, llvm::ArrayRef<void *> args, int64_t batch,
                  void *scratch) const;

private:
  struct Kernel {
    uint64_t offset;
    int64_t tiles;
    bool batched;
    int64_t scratchBytes;
  };
  llvm::sys::MemoryBlock memory;
  llvm::StringMap<Kernel> kernels;
};

/// While it lives, subnormals count as zero, as in the runtime.
class FlushSubnormals {
public:
  FlushSubnormals();
  ~FlushSubnormals();

private:
  unsigned saved = 0;
};

/// Memory with the alignment that buffers of the runtime have; null if there is not enough.
using AlignedBytes = std::unique_ptr<char, void (*)(void *)>;
AlignedBytes allocateAligned(size_t bytes);

} // namespace convoy
