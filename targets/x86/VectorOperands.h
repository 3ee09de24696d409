// Operands that broadcast to a result, loaded as vectors along the result's fastest dimension, and
// the epilogue that consumes them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "targets/KernelBuilder.h"

namespace convoy {

/// Extents of a tensor's dimensions in memory, slowest first; a free batch counts as 1.
llvm::SmallVector<int64_t> physicalExtents(mlir::RankedTensorType type);

/// Strides of `operand`, in elements, along the dimensions in memory of `result`, to which it
/// broadcasts: 0 where it has extent 1. Nothing if its layout is not a strided view of the
/// result's. With `allowTails`, a row-major operand may be viewed by a blocked result whose last
/// block it does not fill: lanes beyond the operand must not be loaded then.
std::optional<llvm::SmallVector<int64_t>> stridesWithin(mlir::RankedTensorType operand,
                                                        mlir::RankedTensorType result,
                                                        bool allowTails = false);

/// Whether a row of vectors along the result's fastest dimension can be loaded from every operand.
bool canLoadVectors(mlir::ValueRange operands, mlir::RankedTensorType result);

/// Loads vectors of operands at positions of the result in memory.
class VectorOperands {
public:
  using Values = KernelBuilder::Values;

  VectorOperands(KernelBuilder &kb, mlir::ValueRange operands, mlir::RankedTensorType result);

  /// Takes the operands of this image from here on.
  void setImage(mlir::Value image);
  size_t size() const { return operands.size(); }
  llvm::ArrayRef<int64_t> strides(size_t i) const { return operands[i].strides; }
  mlir::Type elementType(size_t i) const { return operands[i].elementType; }
  /// `count` elements of operand `i` from a position (indices of the result's dimensions in
  /// memory); a scalar if the operand does not vary along the fastest dimension.
  mlir::Value load(size_t i, mlir::ValueRange position, int64_t count, mlir::Value mask = {});
  /// Offset of a position in operand `i`.
  mlir::Value offset(size_t i, mlir::ValueRange position);
  mlir::Value base(size_t i) const { return operands[i].base; }

private:
  struct Operand {
    unsigned arg;
    mlir::Type elementType;
    llvm::SmallVector<int64_t> strides;
    mlir::Value base;
  };
  KernelBuilder &kb;
  llvm::SmallVector<Operand> operands;
};

/// Applies an op's epilogue to accumulator vectors and stores the results.
class Epilogue {
public:
  using Values = KernelBuilder::Values;

  /// Whether the extras of `op` can be loaded as vectors.
  static bool supports(mlir::Operation *op);

  /// Whether a row-major result's spatial dimensions are one long row to all extras.
  static bool ignoresRows(mlir::Operation *op);

  Epilogue(KernelBuilder &kb, mlir::Operation *op);
  /// Dimensions of the result in memory.
  size_t rank() const { return extents.size(); }

  void setImage(mlir::Value image);
  /// Finishes one accumulator, a vector that starts at a position of the result in memory.
  void finish(mlir::Value accumulator, mlir::ValueRange position, mlir::Value mask = {});
  /// Finishes the accumulators of a tile: `positionOf` gives the position of each. An epilogue with
  /// many operations is emitted once, in a loop over the accumulators, which `positionOf` must
  /// then be able to index by a run-time value. With `limit`, elements whose index along the
  /// fastest dimension is not below it are left out.
  void finishTile(mlir::ValueRange accumulators,
                  llvm::function_ref<Values(mlir::Value index)> positionOf,
                  std::optional<int64_t> limit = std::nullopt);
  /// A position of a blocked result, from the pixel's number within the image, or from row (0 for
  /// rank 3) and column.
  Values blockedPosition(mlir::Value n, mlir::Value block, mlir::Value pixel);
  Values blockedPosition(mlir::Value n, mlir::Value block, mlir::Value row, mlir::Value column);

private:
  KernelBuilder &kb;
  mlir::Region &region;
  mlir::RankedTensorType result;
  llvm::SmallVector<int64_t> extents, strides;
  unsigned resultArg;
  mlir::Value resultBase;
  VectorOperands extras;
  bool heavy = false;
};

} // namespace convoy
