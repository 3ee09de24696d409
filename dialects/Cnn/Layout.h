// How a tensor lies in memory: the meaning of a layout tag.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace convoy::cnn {

/// Along each spatial dimension, the outputs of a tile of Winograd's convolution, and its stride.
struct WinogradTile {
  int64_t outputs, stride;
};

/// A parsed layout tag, see LayoutAttr. Dimensions are numbered in logical order.
///
/// A tag may end with `.f4` or another number: weights transformed for Winograd's convolution with
/// tiles of 4 x 4 outputs, see Winograd.h; `s2` after it for one of stride 2. Their spatial extents in memory are those of the source
/// tile, and no element of the tensor is found in it.
class Layout {
public:
  /// Parses a tag such as `nchw16c`; nothing if it is malformed.
  static std::optional<Layout> parse(llvm::StringRef tag);
  static Layout rowMajor(unsigned rank);

  unsigned rank() const { return outerDims.size(); }
  /// Logical dimensions from slowest to fastest, as if there were no blocks.
  llvm::ArrayRef<unsigned> outer() const & { return outerDims; }
  /// Inner blocks (logical dimension, size) from slowest to fastest.
  llvm::ArrayRef<std::pair<unsigned, int64_t>> inner() const & { return innerBlocks; }
  /// A layout that is about to go gives its parts away: a loop over them may outlive it.
  llvm::SmallVector<unsigned> outer() && { return std::move(outerDims); }
  llvm::SmallVector<std::pair<unsigned, int64_t>> inner() && { return std::move(innerBlocks); }
  bool isRowMajor() const;
  /// The product of the block sizes of a dimension; 1 if it has none.
  int64_t blockOf(unsigned dim) const;

  /// The tile if this layout is of transformed weights.
  std::optional<WinogradTile> winograd() const { return tile; }
  /// The same layout without the transform.
  Layout withoutWinograd() const;

  /// Extents in memory: outer dimensions (blocked ones divided, rounded up), then blocks. A
  /// dynamic extent stays dynamic.
  llvm::SmallVector<int64_t> physicalShape(llvm::ArrayRef<int64_t> logicalShape) const;
  /// Elements in memory, padding of blocks included. The shape must be static.
  int64_t numPhysicalElements(llvm::ArrayRef<int64_t> logicalShape) const;
  /// Index in memory, in elements, of a logical index.
  int64_t offset(llvm::ArrayRef<int64_t> index, llvm::ArrayRef<int64_t> logicalShape) const;

private:
  llvm::SmallVector<unsigned> outerDims;
  llvm::SmallVector<std::pair<unsigned, int64_t>> innerBlocks;
  std::optional<WinogradTile> tile;
};

} // namespace convoy::cnn
