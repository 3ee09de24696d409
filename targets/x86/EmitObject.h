// From modules in MLIR's llvm dialect to one position-independent ELF shared object.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "targets/Target.h"

namespace convoy {

/// The machine that code is made for. Instructions come from `features` alone, beyond x86-64's
/// baseline; `tune` only says whose timings to assume.
struct X86Machine {
  std::string tune;
  std::vector<std::string> features;
  int64_t vectorBits;

  static X86Machine of(cnn::TargetAttr target);
};

/// Lowers, optimizes and assembles the modules, on as many threads as the context has, and links
/// them. The result has no dynamic relocation, no writable data and needs no library.
mlir::FailureOr<std::vector<char>> emitSharedObject(llvm::ArrayRef<mlir::ModuleOp> modules,
                                                    const X86Machine &machine, CodeDumps &dumps);

} // namespace convoy
