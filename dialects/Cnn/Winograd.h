// The matrices of Winograd's minimal filtering: a convolution of a tile by few multiplications.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "dialects/Cnn/Layout.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <vector>

namespace convoy::cnn {

/// Along one dimension, F(outputs, kernel): with d the `size` source elements that `outputs`
/// neighbouring results read, and g the kernel,
///     results = fromProducts * ((ofSource * d) . (ofKernel * g))
/// where . multiplies element by element. Two dimensions apply each matrix from both sides.
///
/// The matrices are those of Toom and Cook for the points 0, +-p1, +-p2, ..., infinity. Rows of a
/// pair of points differ only in the signs at odd columns (`ofSource`), so that both come from one
/// even and one odd sum; likewise columns of `fromProducts`.
///
/// With stride 2, the even elements of the source meet the even ones of the kernel and the odd the odd,
/// each with stride 1: the matrices are those of both, the even ones first.
struct Winograd {
  using Matrix = std::vector<std::vector<double>>;

  int64_t outputs, kernel, stride, size;
  Matrix ofSource;     ///< size x size
  Matrix ofKernel;     ///< size x kernel
  Matrix fromProducts; ///< outputs x size

  /// `stride` is 1 or 2.
  Winograd(int64_t outputs, int64_t kernel, int64_t stride = 1);

private:
  void toomCook();
  void interleave();
};

/// f32 weights [o, i, kernel, kernel], row-major, as [o, i, size, size]: `shape` gets the extents.
std::vector<char> transformWeights(llvm::ArrayRef<char> weights, llvm::ArrayRef<int64_t> extents,
                                   WinogradTile tile, llvm::SmallVectorImpl<int64_t> &shape);

} // namespace convoy::cnn
