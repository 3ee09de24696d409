// Plain loops for any kernel: tiles, loops over the result, one element at a time.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/reference/LowerToLoops.h"

#include "targets/reference/Rows.h"

using namespace mlir;
using namespace convoy;

namespace {

/// How the elements of a result are divided into tiles: the dimensions before `split` in `order`
/// are taken apart, the one at `split` into chunks, the rest is inside a tile.
struct Tiling {
  SmallVector<unsigned> order;
  SmallVector<int64_t> extents; // in that order, for one image
  unsigned split = 0;
  int64_t chunk = 1, tiles = 1;

  /// Shape of the grid.
  SmallVector<int64_t> grid() const {
    SmallVector<int64_t> shape(ArrayRef(extents).take_front(split));
    if (split < extents.size())
      shape.push_back(llvm::divideCeil(extents[split], chunk));
    return shape;
  }
};

// Enough for many threads, but no tile so small that handing it out is dearer than its work.
constexpr int64_t kMostTiles = 64, kLeastWork = 4096;

} // namespace

// Elements are visited in the order of memory. The `innermost` dimension, if there is one, stays
// whole.
static Tiling makeTiling(RankedTensorType type, int64_t workPerElement,
                         std::optional<unsigned> innermost) {
  type = cnn::perImage(type);
  Tiling tiling;
  cnn::Layout layout = cnn::getLayout(type);
  for (unsigned dim : layout.outer())
    if (dim != innermost)
      tiling.order.push_back(dim);
  size_t numSplit = tiling.order.size();
  if (innermost)
    tiling.order.push_back(*innermost);
  for (unsigned dim : tiling.order)
    tiling.extents.push_back(type.getDimSize(dim));

  double work = static_cast<double>(type.getNumElements()) * static_cast<double>(workPerElement);
  int64_t wanted = std::clamp<int64_t>(static_cast<int64_t>(work / kLeastWork), 1, kMostTiles);
  int64_t outer = 1;
  while (tiling.split < numSplit && outer * tiling.extents[tiling.split] <= wanted)
    outer *= std::max<int64_t>(tiling.extents[tiling.split++], 1);
  if (tiling.split < tiling.extents.size()) {
    int64_t extent = std::max<int64_t>(tiling.extents[tiling.split], 1);
    int64_t pieces = tiling.split < numSplit ? std::clamp<int64_t>(wanted / outer, 1, extent) : 1;
    tiling.chunk = llvm::divideCeil(extent, pieces);
  }
  for (int64_t extent : tiling.grid())
    tiling.tiles *= extent;
  // A result without elements still has a tile: one that does nothing.
  tiling.tiles = std::max<int64_t>(tiling.tiles, 1);
  return tiling;
}

namespace {

/// A tensor that the kernel writes.
struct Output {
  Value value;
  unsigned arg;
  Tiling tiling;

  /// What makes it if that works on rows, else null.
  Operation *rowOp() const {
    Operation *op = value.getDefiningOp();
    return op && rowAxis(op) ? op : nullptr;
  }
};

} // namespace

static void emitTile(const Output &output, Elements &in, Value image, Value tile) {
  KernelBuilder &kb = in.kb;
  auto type = cast<RankedTensorType>(output.value.getType());
  const Tiling &tiling = output.tiling;
  if (llvm::is_contained(tiling.extents, 0))
    return; // nothing to write, though there is a tile
  Value base = kb.imageBase(output.arg, image);
  Elements::Values outer = kb.delinearize(tile, tiling.grid());
  Elements::Values index(tiling.order.size());
  auto write = [&](Value element) {
    kb.store(type.getElementType(), element, base, kb.offsetOf(type, index));
  };

  auto level = [&](auto &self, size_t depth) -> void {
    if (depth == tiling.order.size()) {
      write(in.read(output.value, index));
      return;
    }
    unsigned dim = tiling.order[depth];
    if (depth < tiling.split) {
      index[dim] = outer[depth];
      self(self, depth + 1);
      return;
    }
    Value begin = kb.i64(0), end = kb.i64(tiling.extents[depth]);
    if (depth == tiling.split) {
      begin = kb.mul(outer[depth], tiling.chunk);
      end = kb.min(kb.add(begin, tiling.chunk), end);
    }
    if (Operation *op = output.rowOp(); op && depth + 1 == tiling.order.size()) {
      auto offsetAt = [&](Value position) {
        index[dim] = position;
        return kb.offsetOf(type, index);
      };
      auto store = [&](Value position, Value element) {
        kb.store(type.getElementType(), element, base, offsetAt(position));
      };
      auto load = [&](Value position) {
        return kb.load(type.getElementType(), base, offsetAt(position));
      };
      index[dim] = begin;
      Elements::Values row = index;
      emitRow(op, in, row, {store, load});
      return;
    }
    kb.loop(begin, end, 1, [&](Value i) {
      index[dim] = i;
      self(self, depth + 1);
    });
  };
  level(level, 0);
}

static bool isOnlyYielded(Operation *op) {
  return llvm::all_of(op->getUsers(), [](Operation *user) { return isa<plan::YieldOp>(user); });
}

LogicalResult convoy::lowerToLoops(plan::KernelOp kernel, KernelBuilder &kb) {
  Block &body = kernel.getBody().front();
  for (Operation &op : body.without_terminator())
    if (!hasElements(&op) && !(rowAxis(&op) && isOnlyYielded(&op)))
      return op.emitOpError() << "has no reference loops";

  SmallVector<Output> outputs;
  int64_t tiles = 0;
  for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
    Operation *op = value.getDefiningOp();
    std::optional<unsigned> innermost = op ? rowAxis(op) : std::nullopt;
    Tiling tiling =
        makeTiling(cast<RankedTensorType>(value.getType()), op ? workPerElement(op) : 1, innermost);
    tiles += tiling.tiles;
    outputs.push_back({value, static_cast<unsigned>(body.getNumArguments() + i), tiling});
  }

  kb.forTiles(std::max<int64_t>(tiles, 1), [&](Value image, Value tile) {
    Elements in(kernel, kb, image);
    // The tiles of each output follow those of the one before it.
    auto emit = [&](auto &self, ArrayRef<Output> rest, int64_t begin) -> void {
      if (rest.empty())
        return;
      auto own = [&] { emitTile(rest.front(), in, image, kb.sub(tile, kb.i64(begin))); };
      if (rest.size() == 1)
        return own();
      int64_t end = begin + rest.front().tiling.tiles;
      kb.ifThenElse(
          in.compare(arith::CmpIPredicate::slt, tile, kb.i64(end)), {},
          [&] {
            own();
            return Elements::Values{};
          },
          [&] {
            self(self, rest.drop_front(), end);
            return Elements::Values{};
          });
    };
    emit(emit, outputs, 0);
  });
  return success();
}
