// Tensors that lie in memory as one piece of another: concats and slices that need no copy.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "dialects/Cnn/Cnn.h"

#include <optional>

namespace convoy {

/// Where each input begins in the result, in bytes, if the result is its inputs one after another
/// in memory and each begins aligned as a buffer does. Not with a free batch, as then every image
/// has its parts.
std::optional<llvm::SmallVector<int64_t>> getPartOffsets(cnn::ConcatOp op);
/// Where the result begins in src, in bytes, if it is one aligned piece of it.
std::optional<int64_t> getPartOffset(cnn::SliceOp op);

/// A concat or slice without a strategy: its operands are parts of its result's buffer, or its
/// result of its operand's.
bool isPartsOp(mlir::Operation *op);

/// Whether a value has a buffer of the arena to itself, so that it can become a part of another:
/// an op with a kernel, or a concat of parts, makes it.
bool hasOwnBuffer(mlir::Value value);

} // namespace convoy
