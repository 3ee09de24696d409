// Loop nests over tensors in memory: extents and every operand's strides, collapsed to as few
// dimensions as possible and cut into tiles.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "targets/KernelBuilder.h"

namespace convoy {

struct StridedNest {
  llvm::SmallVector<int64_t> extents;
  /// Strides of each operand, in elements.
  llvm::SmallVector<llvm::SmallVector<int64_t>> strides;

  size_t rank() const { return extents.size(); }
  int64_t size() const;
  /// Drops dimensions of extent 1 and joins neighbours that every operand walks as one. At least
  /// one dimension remains.
  void collapse();
};

/// A piece of a nest: indices of all dimensions but the last one, where the last one begins and
/// how many of its elements (known at compile time) the piece has.
using NestRow = llvm::function_ref<void(mlir::ValueRange outer, mlir::Value begin, int64_t count)>;

/// Tiles of about `elements` elements.
class NestTiles {
public:
  NestTiles(const StridedNest &nest, int64_t elements);
  int64_t count() const { return outerPieces * middlePieces * innerPieces; }
  /// Runs the rows of tile `number`. `enter` is called with the indices of all but the last two
  /// dimensions before the rows that share them.
  void emit(KernelBuilder &kb, mlir::Value number, NestRow row,
            llvm::function_ref<void(mlir::ValueRange outer)> enter = {}) const;

private:
  llvm::SmallVector<int64_t> outer; ///< all dimensions but the last two
  int64_t middle = 1, inner = 1;
  bool hasMiddle = false;
  int64_t outerSize = 1;
  int64_t outerPieces = 1, middlePieces = 1, innerPieces = 1;
  int64_t perOuter = 1, perMiddle = 1, perInner = 1;
};

/// Sum of index * stride; what is 0 leaves no code.
mlir::Value linearOffset(KernelBuilder &kb, mlir::ValueRange index,
                         llvm::ArrayRef<int64_t> strides);
/// Row-major strides of extents.
llvm::SmallVector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> extents);

} // namespace convoy
