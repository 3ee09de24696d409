// Small pieces of vector code that strategies share.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "targets/KernelBuilder.h"

namespace convoy {

using CombineVectors = llvm::function_ref<mlir::Value(mlir::Value a, mlir::Value b)>;

/// All lanes of a vector combined, in a fixed tree; every lane of the result holds it.
mlir::Value combineLanes(KernelBuilder &kb, mlir::Value vector, CombineVectors combine);

/// Sum, maximum with NaN (which zero wins is open) and so on of two vectors of floats.
mlir::Value combineFloats(KernelBuilder &kb, cnn::ReduceKind kind, mlir::Value a, mlir::Value b);
/// What combines with anything to that.
double neutralOf(cnn::ReduceKind kind);

/// The mask of a vector of which `count` elements are wanted; null for all.
mlir::Value tailMask(KernelBuilder &kb, int64_t count);

/// Element positions `lane * stride - shift` of lanes [first, last) that are lanes themselves; null
/// if all are.
mlir::Value laneMask(KernelBuilder &kb, int64_t first, int64_t last, int64_t stride = 1,
                     int64_t shift = 0);

/// Runs vectors of a row of `count` floats: `body` gets where a group of vectors begins and how
/// many elements it has. Groups are of `unroll` vectors, the last one may be short.
void forVectors(KernelBuilder &kb, int64_t count, int64_t unroll,
                llvm::function_ref<void(mlir::Value at, int64_t elements)> body);

/// The same with carried values.
KernelBuilder::Values
forVectors(KernelBuilder &kb, int64_t count, int64_t unroll, mlir::ValueRange carried,
           llvm::function_ref<KernelBuilder::Values(mlir::Value at, int64_t elements,
                                                    mlir::ValueRange carried)>
               body);

/// Loops over items [0, extent) that a tile of a grid has: those of piece `number`.
void forPiece(KernelBuilder &kb, mlir::Value number, int64_t perPiece, int64_t extent,
              llvm::function_ref<void(mlir::Value item)> body);

} // namespace convoy
