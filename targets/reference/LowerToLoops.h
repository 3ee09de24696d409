// The strategy that computes every op on every layout and element type.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "targets/KernelBuilder.h"

namespace convoy {

/// Emits plain loops for the body of `kernel`, one element of the result at a time. Sums of f16,
/// bf16 and f32 are taken in f64, in a fixed order, and rounded once: the result is the oracle of
/// the other strategies.
mlir::LogicalResult lowerToLoops(plan::KernelOp kernel, KernelBuilder &kb);

} // namespace convoy
