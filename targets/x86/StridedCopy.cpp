// Data movement: every op that puts source elements at other places is a list of strided copies.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/x86/Strategies.h"
#include "targets/x86/StridedNest.h"
#include "targets/x86/Transpose.h"
#include "targets/x86/VectorOperands.h"
#include "targets/x86/Window.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace convoy;

using Values = KernelBuilder::Values;

namespace {

/// dst[dstOffset + i . nest.strides[0]] = src[srcOffset + i . nest.strides[1]]
struct Copy {
  Value src; ///< null for zeros
  int64_t srcOffset = 0, dstOffset = 0;
  StridedNest nest;
};

using Copies = std::vector<Copy>;

RankedTensorType typeOf(Value value) {
  return cnn::perImage(cast<RankedTensorType>(value.getType()));
}

/// A tensor as row-major strides over its dimensions in memory, blocked ones as (outer, inner).
Copy wholeCopy(Value src, ArrayRef<int64_t> extents, ArrayRef<int64_t> srcStrides) {
  Copy copy;
  copy.src = src;
  copy.nest.extents.assign(extents.begin(), extents.end());
  copy.nest.strides.push_back(rowMajorStrides(extents));
  copy.nest.strides.push_back(SmallVector<int64_t>(srcStrides));
  return copy;
}

std::optional<Copies> copiesOf(cnn::TransposeOp op) {
  if (!isRowMajor(op.getSrc().getType()) || !isRowMajor(op.getDst().getType()))
    return std::nullopt;
  SmallVector<int64_t> all = rowMajorStrides(typeOf(op.getSrc()).getShape()), strides;
  for (int64_t dim : op.getPerm())
    strides.push_back(all[dim]);
  return Copies{wholeCopy(op.getSrc(), typeOf(op.getDst()).getShape(), strides)};
}

std::optional<Copies> copiesOf(cnn::ReshapeOp op) {
  int64_t size = typeOf(op.getDst()).getNumElements();
  return Copies{wholeCopy(op.getSrc(), {size}, {1})};
}

std::optional<Copies> copiesOf(cnn::BroadcastOp op) {
  auto strides = stridesWithin(op.getSrc().getType(), op.getDst().getType());
  if (!strides)
    return std::nullopt;
  return Copies{wholeCopy(op.getSrc(), physicalExtents(op.getDst().getType()), *strides)};
}

// Where the channels of a blocked tensor are cut, only whole blocks can be moved.
std::optional<Copies> copiesOf(cnn::SliceOp op) {
  RankedTensorType srcType = typeOf(op.getSrc()), dstType = typeOf(op.getDst());
  cnn::Layout layout = cnn::getLayout(dstType);
  if (cnn::getLayoutTag(srcType) != cnn::getLayoutTag(dstType) || layout.inner().size() > 1)
    return std::nullopt;
  SmallVector<int64_t> srcStrides = rowMajorStrides(physicalExtents(srcType));
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  for (auto [i, dim] : llvm::enumerate(layout.outer())) {
    int64_t start = op.getStarts()[dim], step = op.getSteps()[dim], block = layout.blockOf(dim);
    if (block > 1 && (start % block || step != 1))
      return std::nullopt;
    offset += start / block * srcStrides[i];
    strides.push_back(step * srcStrides[i]);
  }
  if (!layout.inner().empty())
    strides.push_back(1);
  Copy copy = wholeCopy(op.getSrc(), physicalExtents(dstType), strides);
  copy.srcOffset = offset;
  return Copies{copy};
}

std::optional<Copies> copiesOf(cnn::ConcatOp op) {
  RankedTensorType dstType = typeOf(op.getDst());
  cnn::Layout layout = cnn::getLayout(dstType);
  if (layout.inner().size() > 1)
    return std::nullopt;
  SmallVector<int64_t> dstStrides = rowMajorStrides(physicalExtents(dstType));
  unsigned axis = op.getAxis();
  size_t outer = llvm::find(layout.outer(), axis) - layout.outer().begin();
  int64_t block = layout.blockOf(axis), at = 0;
  Copies copies;
  for (Value input : op.getInputs()) {
    RankedTensorType type = typeOf(input);
    if (cnn::getLayoutTag(type) != cnn::getLayoutTag(dstType))
      return std::nullopt;
    SmallVector<int64_t> extents = physicalExtents(type);
    Copy copy = wholeCopy(input, extents, rowMajorStrides(extents));
    copy.nest.strides[0] = dstStrides;
    SmallVector<int64_t> srcStrides = copy.nest.strides[1];
    int64_t channels = type.getDimSize(axis);
    // Where a part begins with a block, its whole blocks are moved as they are; the last part's
    // short one as well, as nothing else lies in it.
    int64_t whole = 0;
    if (at % block == 0) {
      bool isLast = at + channels == dstType.getDimSize(axis);
      whole = isLast ? channels : channels / block * block;
      Copy blocks = copy;
      blocks.nest.extents[outer] = (whole + block - 1) / block;
      blocks.dstOffset = at / block * dstStrides[outer];
      copies.push_back(blocks);
    }
    // What remains goes by runs of lanes, each from one block to one block.
    for (int64_t done = whole; done < channels;) {
      int64_t from = done % block, to = (at + done) % block;
      int64_t run = std::min({channels - done, block - from, block - to});
      Copy lanes = copy;
      lanes.nest.extents[outer] = 1;
      lanes.nest.extents.back() = run;
      lanes.srcOffset = done / block * srcStrides[outer] + from;
      lanes.dstOffset = (at + done) / block * dstStrides[outer] + to;
      copies.push_back(lanes);
      done += run;
    }
    at += type.getDimSize(axis);
  }
  return copies;
}

// The result in pieces, each of which is in front of, inside or behind the source in every
// dimension. Fillings go by slabs: whole in the dimensions after theirs.
std::optional<Copies> copiesOf(cnn::PadOp op) {
  RankedTensorType srcType = typeOf(op.getSrc()), dstType = typeOf(op.getDst());
  cnn::Layout layout = cnn::getLayout(dstType);
  if (cnn::getLayoutTag(srcType) != cnn::getLayoutTag(dstType) || layout.inner().size() > 1)
    return std::nullopt;
  struct Piece {
    int64_t start, extent; ///< in the result
    int64_t from, step;    ///< in the source
    bool filled;
  };
  // The pieces of each dimension in memory.
  std::vector<SmallVector<Piece>> pieces;
  for (unsigned dim : layout.outer()) {
    int64_t low = op.getLow()[dim], high = op.getHigh()[dim], block = layout.blockOf(dim);
    int64_t extent = (srcType.getDimSize(dim) + block - 1) / block;
    if (block > 1 && (low != 0 || high != 0))
      return std::nullopt;
    int64_t first = std::max<int64_t>(-low, 0), cropped = extent - std::max<int64_t>(-high, 0);
    int64_t before = std::max<int64_t>(low, 0), after = std::max<int64_t>(high, 0);
    Piece front{0, before, 0, 0, true}, back{before + cropped - first, after, 0, 0, true};
    switch (op.getMode()) {
    case cnn::PadMode::Constant:
      break;
    case cnn::PadMode::Edge:
      front = {0, before, 0, 0, false};
      back = {back.start, after, extent - 1, 0, false};
      break;
    case cnn::PadMode::Reflect:
      front = {0, before, before, -1, false};
      back = {back.start, after, extent - 2, -1, false};
      // What is cropped at one end would be reflected at the other.
      if (low < 0 || high < 0)
        return std::nullopt;
      break;
    case cnn::PadMode::Wrap:
      if (before > extent || after > extent || low < 0 || high < 0)
        return std::nullopt;
      front = {0, before, extent - before, 1, false};
      back = {back.start, after, 0, 1, false};
      break;
    }
    SmallVector<Piece> ofDim;
    if (cropped > first)
      ofDim.push_back({before, cropped - first, first, 1, false});
    if (front.extent)
      ofDim.push_back(front);
    if (back.extent)
      ofDim.push_back(back);
    pieces.push_back(ofDim);
  }

  SmallVector<int64_t> extents = physicalExtents(dstType);
  SmallVector<int64_t> srcStrides = rowMajorStrides(physicalExtents(srcType));
  Copy whole = wholeCopy(op.getSrc(), extents, srcStrides);
  Copies copies;
  constexpr size_t maxCopies = 27;
  std::function<void(size_t, Copy)> cut = [&](size_t dim, Copy copy) {
    if (dim == pieces.size() || !copy.src || copy.src != op.getSrc()) {
      copies.push_back(copy);
      return;
    }
    for (const Piece &piece : pieces[dim]) {
      Copy part = copy;
      part.nest.extents[dim] = piece.extent;
      part.dstOffset += piece.start * copy.nest.strides[0][dim];
      if (piece.filled) {
        part.src = op.getValue();
        part.srcOffset = 0;
        part.nest.strides[1].assign(part.nest.rank(), 0);
      } else {
        part.srcOffset += piece.from * srcStrides[dim];
        part.nest.strides[1][dim] = piece.step * srcStrides[dim];
      }
      cut(dim + 1, part);
    }
  };
  cut(0, whole);
  if (copies.size() > maxCopies)
    return std::nullopt;
  return copies;
}

// Either side may be blocked. The dimensions are those of the blocked side; its last block may be
// short and is then a copy of its own.
std::optional<Copies> copiesOf(cnn::RelayoutOp op) {
  RankedTensorType srcType = typeOf(op.getSrc()), dstType = typeOf(op.getDst());
  cnn::Layout srcLayout = cnn::getLayout(srcType), dstLayout = cnn::getLayout(dstType);
  if (srcLayout.inner().size() > 1 || dstLayout.inner().size() > 1)
    return std::nullopt;
  bool dstViews = srcLayout.inner().empty();
  RankedTensorType viewer = dstViews ? dstType : srcType, viewed = dstViews ? srcType : dstType;
  auto strides = stridesWithin(viewed, viewer, /*allowTails=*/true);
  // Extents of 1 have no stride there, which is right for a source alone.
  if (!strides)
    return std::nullopt;
  SmallVector<int64_t> extents = physicalExtents(viewer);
  Copy copy = wholeCopy(op.getSrc(), extents, *strides);
  if (!dstViews)
    std::swap(copy.nest.strides[0], copy.nest.strides[1]);
  const cnn::Layout &layout = dstViews ? dstLayout : srcLayout;
  if (layout.inner().empty())
    return Copies{copy};

  auto [dim, block] = layout.inner().front();
  int64_t extent = viewer.getDimSize(dim);
  size_t outer = llvm::find(layout.outer(), dim) - layout.outer().begin();
  Copies copies;
  if (extent >= block) {
    copies.push_back(copy);
    copies.back().nest.extents[outer] = extent / block;
  }
  if (extent % block) {
    Copy rest = copy;
    rest.nest.extents[outer] = 1;
    rest.nest.extents.back() = extent % block;
    rest.dstOffset += extent / block * rest.nest.strides[0][outer];
    rest.srcOffset += extent / block * rest.nest.strides[1][outer];
    copies.push_back(rest);
  }
  return copies;
}

/// The copies that `op` is, in as few dimensions as possible, each in the order of the
/// destination's memory.
std::optional<Copies> copiesOf(Operation *op) {
  std::optional<Copies> copies =
      llvm::TypeSwitch<Operation *, std::optional<Copies>>(op)
          .Case<cnn::TransposeOp, cnn::ReshapeOp, cnn::BroadcastOp, cnn::SliceOp, cnn::ConcatOp,
                cnn::PadOp, cnn::RelayoutOp>([](auto op) { return copiesOf(op); })
          .Default([](Operation *) { return std::nullopt; });
  if (!copies)
    return std::nullopt;
  llvm::erase_if(*copies, [](const Copy &copy) { return copy.nest.size() == 0; });
  if (copies->empty())
    return std::nullopt;
  for (Copy &copy : *copies) {
    StridedNest &nest = copy.nest;
    SmallVector<unsigned> order = llvm::to_vector(llvm::seq<unsigned>(0, nest.rank()));
    // By stride; dimensions of equal strides stay in their order.
    llvm::sort(order, [&](unsigned a, unsigned b) {
      return std::pair(-nest.strides[0][a], a) < std::pair(-nest.strides[0][b], b);
    });
    StridedNest sorted;
    sorted.strides.resize(2);
    for (unsigned dim : order) {
      sorted.extents.push_back(nest.extents[dim]);
      sorted.strides[0].push_back(nest.strides[0][dim]);
      sorted.strides[1].push_back(nest.strides[1][dim]);
    }
    nest = sorted;
    nest.collapse();
  }
  return copies;
}

class Emitter {
public:
  Emitter(KernelBuilder &kb, Operation *op) : kb(kb), op(op) {
    Type type = cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
    bytes = cnn::getElementBytes(type);
    // Bits are moved: what they mean does not matter.
    elementType = kb.builder.getIntegerType(bytes * 8);
    lanes = kb.lanes() * 4 / bytes;
  }

  void run(const Copies &copies) {
    struct Part {
      const Copy *copy;
      std::optional<size_t> transposed; ///< the source's fastest dimension
      StridedNest blocks;               ///< of a transpose: numbers of tiles instead of elements
      NestTiles tiles;
      int64_t first;
    };
    std::vector<Part> parts;
    int64_t count = 0;
    for (const Copy &copy : copies) {
      std::optional<size_t> transposed = transposedDim(copy.nest);
      StridedNest blocks = copy.nest;
      if (transposed) {
        blocks.extents[*transposed] = llvm::divideCeil(blocks.extents[*transposed], kb.lanes());
        blocks.extents.back() = llvm::divideCeil(blocks.extents.back(), kb.lanes());
      }
      constexpr int64_t pieceBytes = 1 << 17;
      int64_t elements = pieceBytes / bytes;
      NestTiles tiles(blocks, transposed ? elements / (kb.lanes() * kb.lanes()) : elements);
      parts.push_back({&copy, transposed, blocks, tiles, count});
      count += tiles.count();
    }
    kb.forTiles(count, [&](Value image, Value number) {
      dst = kb.imageBase(kb.argOf(op->getResult(0)), image);
      // A chain of comparisons finds the part that a tile belongs to.
      std::function<void(size_t)> dispatch = [&](size_t i) {
        const Part &part = parts[i];
        auto emit = [&] {
          if (part.copy->src)
            src = kb.imageBase(kb.argOf(part.copy->src), image);
          copy = part.copy;
          part.tiles.emit(kb, kb.sub(number, kb.i64(part.first)),
                          [&](ValueRange outer, Value begin, int64_t rowCount) {
                            if (part.transposed)
                              transposeRow(*part.transposed, outer, begin, rowCount);
                            else
                              copyRow(outer, begin, rowCount);
                          });
          return Values();
        };
        if (i + 1 == parts.size()) {
          emit();
          return;
        }
        Value mine = arith::CmpIOp::create(kb.builder, kb.loc, arith::CmpIPredicate::slt, number,
                                           kb.i64(parts[i + 1].first));
        kb.ifThenElse(mine, {}, emit, [&] {
          dispatch(i + 1);
          return Values();
        });
      };
      dispatch(0);
    });
  }

private:
  // The source's fastest dimension, if it is not the destination's and both are long enough for
  // transposing in registers.
  std::optional<size_t> transposedDim(const StridedNest &nest) const {
    if (nest.strides[0].back() != 1 || nest.strides[1].back() <= 1 || nest.extents.back() < 3)
      return std::nullopt;
    for (size_t dim = 0; dim + 1 < nest.rank(); ++dim)
      if (nest.strides[1][dim] == 1 && nest.extents[dim] >= 3)
        return dim;
    return std::nullopt;
  }

  Value at(ValueRange index, unsigned operand, int64_t offset) {
    return kb.add(linearOffset(kb, index, copy->nest.strides[operand]), offset);
  }

  void copyRow(ValueRange outer, Value begin, int64_t count) {
    Values index(outer);
    index.push_back(begin);
    Value from = at(index, 1, copy->srcOffset), to = at(index, 0, copy->dstOffset);
    int64_t fromStep = copy->nest.strides[1].back(), toStep = copy->nest.strides[0].back();
    if (toStep != 1 || (fromStep != 1 && fromStep != 0)) {
      kb.loop(kb.i64(0), kb.i64(count), 1, [&](Value i) {
        Value element = copy->src ? kb.load(elementType, src, kb.add(from, kb.mul(i, fromStep)))
                                  : kb.constant(elementType, 0);
        kb.store(elementType, element, dst, kb.add(to, kb.mul(i, toStep)));
      });
      return;
    }
    Value repeated;
    if (!copy->src)
      repeated = kb.constant(VectorType::get(lanes, elementType), 0);
    else if (fromStep == 0)
      repeated = kb.splat(kb.load(elementType, src, from), lanes);
    auto vectors = [&](Value i, int64_t number) {
      for (int64_t done = 0; done < number; done += lanes) {
        Value mask;
        if (number - done < lanes)
          mask = kb.firstLanes(kb.i64(number - done), lanes);
        Value j = kb.add(i, done);
        Value vector = repeated
                           ? repeated
                           : kb.loadVector(elementType, lanes, src, kb.add(from, j), false, mask);
        kb.storeVector(elementType, vector, dst, kb.add(to, j), false, mask);
      }
    };
    int64_t step = 4 * lanes, looped = count / step * step;
    if (looped)
      kb.loop(kb.i64(0), kb.i64(looped), step, [&](Value i) { vectors(i, step); });
    if (looped < count)
      vectors(kb.i64(looped), count - looped);
  }

  // Square tiles [begin, begin + count) along the destination's fastest dimension.
  void transposeRow(size_t dim, ValueRange outer, Value begin, int64_t count) {
    const StridedNest &nest = copy->nest;
    int64_t square = kb.lanes();
    int64_t columns = nest.extents[dim], rows = nest.extents.back();
    // The full and the short tile of a dimension; a dimension may have only one kind.
    auto split = [&](Value number, int64_t extent, function_ref<void(int64_t)> body) {
      int64_t full = extent / square, rest = extent % square;
      if (rest == 0 || full == 0) {
        body(full ? square : rest);
        return;
      }
      Value isFull = arith::CmpIOp::create(kb.builder, kb.loc, arith::CmpIPredicate::slt, number,
                                           kb.i64(full));
      auto branch = [&](int64_t size) {
        body(size);
        return Values();
      };
      kb.ifThenElse(
          isFull, {}, [&] { return branch(square); }, [&] { return branch(rest); });
    };
    auto one = [&](Value number) {
      Values index(outer);
      index[dim] = kb.mul(index[dim], square);
      index.push_back(kb.mul(number, square));
      Value from = at(index, 1, copy->srcOffset), to = at(index, 0, copy->dstOffset);
      split(outer[dim], columns, [&](int64_t width) {
        split(number, rows, [&](int64_t height) {
          transposeTile(kb, elementType, src, from, nest.strides[1].back(), height, dst, to,
                        nest.strides[0][dim], width);
        });
      });
    };
    if (count == 1)
      one(begin);
    else
      kb.loop(begin, kb.add(begin, count), 1, one);
  }

  KernelBuilder &kb;
  Operation *op;
  const Copy *copy = nullptr;
  Type elementType;
  int64_t bytes, lanes;
  Value src, dst;
};

struct StridedCopy : X86Strategy {
  StringRef name() const override { return "strided-copy"; }

  std::optional<double> cost(Operation *op, cnn::TargetAttr target) const override {
    auto copies = copiesOf(op);
    if (!copies)
      return std::nullopt;
    double cycles = 0;
    for (const Copy &copy : *copies) {
      const StridedNest &nest = copy.nest;
      int64_t inner = nest.extents.back();
      double rows = double(nest.size()) / inner;
      int64_t step = nest.strides[1].back();
      bool contiguous = nest.strides[0].back() == 1 && (step == 0 || step == 1);
      cycles +=
          rows * (contiguous ? 2 + 1.5 * llvm::divideCeil(inner, target.getLanes()) : inner * 0.7);
    }
    return std::max(cycles / kCyclesPerNs, moveNs(op));
  }

  LogicalResult emit(plan::KernelOp kernel, KernelBuilder &kb) const override {
    Operation *op = onlyOp(kernel);
    auto copies = op ? copiesOf(op) : std::nullopt;
    if (!copies)
      return kernel.emitError() << "is no op that strategy '" << name() << "' computes";
    Emitter(kb, op).run(*copies);
    return success();
  }
};

} // namespace

const X86Strategy &convoy::stridedCopy() {
  static const StridedCopy strategy;
  return strategy;
}
