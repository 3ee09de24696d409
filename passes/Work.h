// How much an op computes and how much memory it touches, for one image.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "mlir/IR/Operation.h"

#include <cstdint>

namespace convoy {

/// Arithmetic of the direct algorithm; a multiply and an add are two. Data movement is none.
int64_t countFlops(mlir::Operation *op);
/// Bytes of all operands and results, each once.
int64_t countBytes(mlir::Operation *op);

} // namespace convoy
