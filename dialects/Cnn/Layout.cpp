// The meaning of a layout tag.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Cnn/Layout.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace convoy::cnn;

// Of all blocks of a dimension together: far above any register tile, far below overflow.
static constexpr int64_t kLargestBlock = 4096;

// Letters in logical order, by the letter that tells the family.
static llvm::StringRef familyOf(llvm::StringRef tag) {
  if (tag.contains('o'))
    return "oidhw";
  if (tag.contains('k'))
    return "kn";
  return "ncdhw";
}

std::optional<Layout> Layout::parse(llvm::StringRef tag) {
  Layout layout;
  if (auto [plain, outputs] = tag.split(".f"); plain.size() != tag.size()) {
    int64_t number = 0, stride = outputs.consume_back("s2") ? 2 : 1;
    if (outputs.getAsInteger(10, number) || number < 2 || number > 8)
      return std::nullopt;
    layout.tile = WinogradTile{number, stride};
    tag = plain;
  }
  llvm::StringRef family = familyOf(tag);
  std::string present;
  for (char letter : family)
    if (tag.contains(letter))
      present += letter;
  auto dimOf = [&](char letter) { return present.find(letter); };

  llvm::StringRef rest = tag;
  while (!rest.empty() && llvm::isAlpha(rest.front())) {
    size_t dim = dimOf(rest.front());
    if (dim == std::string::npos || llvm::is_contained(layout.outerDims, dim))
      return std::nullopt;
    layout.outerDims.push_back(dim);
    rest = rest.drop_front();
  }
  if (layout.outerDims.empty() || layout.outerDims.size() != present.size())
    return std::nullopt;
  while (!rest.empty()) {
    int64_t size = 0;
    if (rest.consumeInteger(10, size) || size < 2 || size > kLargestBlock || rest.empty())
      return std::nullopt;
    size_t dim = dimOf(rest.front());
    if (dim == std::string::npos || layout.blockOf(dim) * size > kLargestBlock)
      return std::nullopt;
    layout.innerBlocks.push_back({static_cast<unsigned>(dim), size});
    rest = rest.drop_front();
  }
  return layout;
}

Layout Layout::rowMajor(unsigned rank) {
  Layout layout;
  llvm::append_range(layout.outerDims, llvm::seq<unsigned>(0, rank));
  return layout;
}

bool Layout::isRowMajor() const {
  return innerBlocks.empty() && llvm::is_sorted(outerDims) && !tile;
}

Layout Layout::withoutWinograd() const {
  Layout layout = *this;
  layout.tile.reset();
  return layout;
}

int64_t Layout::blockOf(unsigned dim) const {
  int64_t block = 1;
  for (auto [blockedDim, size] : innerBlocks)
    if (blockedDim == dim)
      block *= size;
  return block;
}

llvm::SmallVector<int64_t> Layout::physicalShape(llvm::ArrayRef<int64_t> logicalShape) const {
  llvm::SmallVector<int64_t> shape;
  for (unsigned dim : outerDims) {
    int64_t extent = logicalShape[dim];
    if (tile && dim >= 2)
      extent += tile->stride * (tile->outputs - 1);
    bool dynamic = mlir::ShapedType::isDynamic(extent);
    shape.push_back(dynamic ? extent : llvm::divideCeil(extent, blockOf(dim)));
  }
  for (auto [dim, size] : innerBlocks)
    shape.push_back(size);
  return shape;
}

int64_t Layout::numPhysicalElements(llvm::ArrayRef<int64_t> logicalShape) const {
  int64_t count = 1;
  for (int64_t extent : physicalShape(logicalShape))
    count *= extent;
  return count;
}

int64_t Layout::offset(llvm::ArrayRef<int64_t> index, llvm::ArrayRef<int64_t> logicalShape) const {
  llvm::SmallVector<int64_t> shape = physicalShape(logicalShape);
  // What is left of each index once its inner blocks, from the fastest, are taken off.
  llvm::SmallVector<int64_t> rest(index);
  llvm::SmallVector<int64_t> physical(shape.size());
  for (size_t i = innerBlocks.size(); i-- > 0;) {
    auto [dim, size] = innerBlocks[i];
    physical[outerDims.size() + i] = rest[dim] % size;
    rest[dim] /= size;
  }
  for (auto [i, dim] : llvm::enumerate(outerDims))
    physical[i] = rest[dim];
  int64_t linear = 0;
  for (auto [extent, position] : llvm::zip_equal(shape, physical))
    linear = linear * extent + position;
  return linear;
}
