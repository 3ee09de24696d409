// Transposing small matrices in vector registers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "targets/KernelBuilder.h"

namespace convoy {

/// Transposes as many vectors as each has lanes, a power of two.
KernelBuilder::Values transposeVectors(KernelBuilder &kb, mlir::ValueRange rows);

/// dst[c * dstStride + r] = src[r * srcStride + c] for r < rows, c < columns, both at most the
/// vector width. Nothing beyond is read or written.
void transposeTile(KernelBuilder &kb, mlir::Type elementType, mlir::Value src,
                   mlir::Value srcOffset, int64_t srcStride, int64_t rows, mlir::Value dst,
                   mlir::Value dstOffset, int64_t dstStride, int64_t columns);

} // namespace convoy
