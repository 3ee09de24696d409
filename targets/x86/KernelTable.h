// The strategies of the x86 targets.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "passes/KernelTable.h"
#include "targets/KernelBuilder.h"

namespace convoy {

/// A strategy with the function that emits its code.
struct X86Strategy : Strategy {
  /// Emits what `kernel` computes. The function is begun and is ended by the caller; an error is
  /// emitted at the op that causes it.
  virtual mlir::LogicalResult emit(plan::KernelOp kernel, KernelBuilder &kb) const = 0;
};

/// All strategies, best first. They serve every vector width: what a width cannot do, `cost`
/// refuses.
const KernelTable &x86KernelTable();
/// The same and oneDNN.
const KernelTable &x86OneDnnTable();
/// The reference loops alone.
const KernelTable &x86ReferenceTable();

} // namespace convoy
