// The multiply-add kernel that convolutions and matrix products share: a tile of accumulators in
// registers, pixels (or rows) by blocks of output channels.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "targets/KernelBuilder.h"

#include <optional>
#include <string>
#include <vector>

namespace convoy {

struct RegisterTile {
  int64_t pixels, blocks;
};

/// Whether accumulators, the weights of a step and a broadcast source element fit the registers.
bool fitsRegisters(RegisterTile tile, int64_t registers);

/// Estimated cycles of `steps` multiply-adds of each accumulator, and of finishing the tile.
double tileCycles(RegisterTile tile, double steps);

/// The tile that makes the sum over a row of `extent` pixels and `blocks` blocks the cheapest, and
/// that sum's cycles.
struct TileChoice {
  RegisterTile tile;
  double cycles;
};
TileChoice chooseTile(int64_t extent, int64_t blocks, double steps, int64_t registers);
/// The same with the tile that a config names, such as "14x2"; nothing if it is no tile that fits.
/// An empty config leaves the choice.
std::optional<TileChoice> chooseTile(llvm::StringRef config, int64_t extent, int64_t blocks,
                                     double steps, int64_t registers);
/// Configs of further tiles that may be as fast, most promising first.
std::vector<std::string> otherTiles(int64_t extent, int64_t blocks, double steps,
                                    int64_t registers);

/// Memory that later tiles read, brought to the second cache while this one is computed: the
/// processor's own prefetch sees a panel of weights only when its first tile stalls on it. Addresses
/// beyond the tensor do no harm.
struct Prefetch {
  mlir::Value pointer;       ///< null for nothing
  int64_t bytesPerStep = 0;

  /// The share of one of `tiles` tiles, each of `steps` steps, in fetching `bytes` from `next` on;
  /// nothing if that is hardly a byte a step.
  static int64_t share(int64_t bytes, int64_t tiles, int64_t steps);
};

/// Source elements and weights of consecutive steps of a tile.
struct Panel {
  mlir::Value src, srcOffset; ///< pointer, and index of the first step's element of pixel `low`
  int64_t pixelStride = 0;    ///< from pixel to pixel
  mlir::Value wei, weiOffset; ///< pointer, and index of the first step's vector of block 0
  int64_t blockStride = 0;    ///< from block to block
  int64_t low = 0, high = 0;  ///< the pixels that take part
  int64_t srcStep = 1;        ///< source elements from step to step
  int64_t weiStep = 0;        ///< weights from step to step; 0 for a vector, aligned
  mlir::Value lastMask;       ///< lanes of the last block that may be read; null for all
  Prefetch prefetch;          ///< what the steps fetch meanwhile
};

/// The accumulators (block-major: `blocks` times `pixels`) of a tile, zero.
KernelBuilder::Values zeroTile(KernelBuilder &kb, RegisterTile tile);

/// Adds `steps` products to the accumulators of pixels [low, high).
KernelBuilder::Values multiplyAdd(KernelBuilder &kb, RegisterTile tile, const Panel &panel,
                                  int64_t steps, mlir::ValueRange accumulators);

} // namespace convoy
