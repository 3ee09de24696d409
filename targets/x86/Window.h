// Convolutions and pools over at most two spatial dimensions: shapes, rows, borders.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "targets/KernelBuilder.h"

namespace convoy {

/// One spatial dimension of a window op. Without one: extent, kernel and stride 1, no padding.
struct Axis {
  int64_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1, pad = 0, padHigh = 0;

  /// Whether kernel element `k` of output `o` lies inside the source.
  bool inside(int64_t o, int64_t k) const {
    int64_t i = o * stride - pad + k * dilation;
    return i >= 0 && i < in;
  }
  /// Whether some output's window reaches beyond the source.
  bool clips() const;
};

struct WindowShape {
  int64_t n = 1, ic = 0, oc = 0, groups = 1;
  Axis h, w;
};

/// The shape of a conv or pool of rank 3 or 4 (rank 3 has h of extent 1).
std::optional<WindowShape> windowShape(mlir::Operation *op);

/// Consecutive tiles of a row that the same code computes.
struct Segment {
  int64_t start, size; ///< first output of the first tile, outputs of each tile
  int64_t count;       ///< tiles
  int64_t first;       ///< number of the first tile within the row
  /// For each kernel element, the outputs [first, second) of a tile that it reaches.
  llvm::SmallVector<std::pair<int64_t, int64_t>> reached;
  bool interior; ///< whether every output is reached by every kernel element
};

/// Cuts a row into tiles of `size` outputs, the last one shorter.
std::vector<Segment> cutRow(const Axis &axis, int64_t size);

/// The kernel elements [first, second) that lie inside the source at output `o`.
std::pair<mlir::Value, mlir::Value> insideKernel(KernelBuilder &kb, const Axis &axis,
                                                 mlir::Value o);

/// How long a tile of a launch of `launchNs` should take: launches have enough tiles for threads to
/// share them evenly, and none so short that dealing it out shows.
double tileNs(double launchNs);
/// How many pieces to cut `extent` into so that one takes about `wantedNs` of `totalNs`.
int64_t piecesFor(double totalNs, double wantedNs, int64_t extent);

/// Whether a tensor lies in the activations' blocked layout of its rank.
bool isBlocked(mlir::Type type, int64_t lanes);
bool isRowMajor(mlir::Type type);
bool isF32(mlir::Type type);

/// Whether an operand can be packed: a constant, or what was one before its op became a kernel.
bool isPackable(mlir::Value operand);

/// The only op of a kernel, or null.
mlir::Operation *onlyOp(plan::KernelOp kernel);

/// Estimates of time. The clock is that of the machines the constants were measured on: only
/// ratios matter when strategies are compared.
inline constexpr double kCyclesPerNs = 3.5;
/// Whether weights of so many bytes are better read once for all pixels and images that use them
/// than for each, since the second cache does not keep them.
bool outgrowsSecondCache(double weightBytes, cnn::TargetAttr target);
/// Time to move an op's operands and results through the caches.
double moveNs(mlir::Operation *op);

} // namespace convoy
