// Convolution to blocked layouts: pointwise, direct, and from row-major images of few channels.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/x86/RegisterTile.h"
#include "targets/x86/Strategies.h"
#include "targets/x86/VectorOperands.h"
#include "targets/x86/Window.h"

using namespace mlir;
using namespace convoy;

using Values = KernelBuilder::Values;

namespace {

enum class Kind {
  Pointwise, ///< nothing but the pixel itself is read: rows are joined to one
  Direct,
  FirstLayer, ///< the source is row-major
};

/// How a convolution is cut into tiles.
struct Plan {
  WindowShape shape;
  Kind kind;
  int64_t srcBlocks, dstBlocks; ///< blocks of channels of one group
  RegisterTile tile;
  double ns;

  int64_t channels() const { return shape.ic / shape.groups; }
  int64_t blockGroups() const { return llvm::divideCeil(dstBlocks, tile.blocks); }
  double steps() const { return double(channels()) * shape.h.kernel * shape.w.kernel; }
};

bool isPointwise(const WindowShape &shape) {
  auto plain = [](const Axis &axis) {
    return axis.kernel == 1 && axis.stride == 1 && axis.pad == 0 && axis.padHigh == 0;
  };
  return plain(shape.h) && plain(shape.w);
}

// Beyond this number of source channels the planes that a row-major source's pixel lies in would
// compete for the same sets of the first cache.
constexpr int64_t kMaxPlanes = 32;

std::optional<Plan> makePlan(Operation *op, cnn::TargetAttr target) {
  auto conv = dyn_cast<cnn::ConvOp>(op);
  if (!conv)
    return std::nullopt;
  int64_t lanes = target.getLanes();
  RankedTensorType src = conv.getSrc().getType(), dst = conv.getDst().getType();
  auto shape = windowShape(op);
  if (!shape || cnn::getBytes(dst) == 0 || !isF32(src) || !conv.getAccumulatorType().isF32() ||
      !isBlocked(dst, lanes) || !Epilogue::supports(op))
    return std::nullopt;
  Kind kind = isPointwise(*shape) ? Kind::Pointwise : Kind::Direct;
  if (isRowMajor(src) && shape->groups == 1 && shape->ic <= kMaxPlanes)
    kind = Kind::FirstLayer;
  else if (!isBlocked(src, lanes))
    return std::nullopt;
  int64_t ic = shape->ic / shape->groups, oc = shape->oc / shape->groups;
  if (shape->groups > 1 && (ic % lanes || oc % lanes))
    return std::nullopt;

  auto blocks = [&](int64_t channels) { return (channels + lanes - 1) / lanes; };
  Plan plan{*shape, kind, blocks(ic), blocks(oc), {}, 0};
  if (kind == Kind::Pointwise) {
    int64_t pixels = shape->h.out * shape->w.out;
    plan.shape.h = Axis();
    plan.shape.w = Axis();
    plan.shape.w.in = plan.shape.w.out = pixels;
  }
  auto choice = chooseTile(getConfig(op), plan.shape.w.out, plan.dstBlocks, plan.steps(),
                           target.getRegisters());
  if (!choice)
    return std::nullopt;
  plan.tile = choice->tile;
  double cycles = choice->cycles * plan.shape.h.out * plan.shape.groups * shape->n;
  plan.ns = cycles / kCyclesPerNs;
  return plan;
}

/// Emits one convolution.
class Emitter {
public:
  Emitter(KernelBuilder &kb, cnn::ConvOp conv, const Plan &plan)
      : kb(kb), conv(conv), plan(plan), shape(plan.shape), lanes(kb.lanes()), epilogue(kb, conv) {}

  void run() {
    // A thread takes neighbouring tiles: where the weights are large, all pixels and images of the
    // same output channels, so that those weights are read once; else all channels of the same
    // pixels.
    double weightBytes = double(shape.oc) * plan.steps() * 4;
    bool channelsOuter = outgrowsSecondCache(weightBytes, kb.target);
    int64_t channelGroups = shape.groups * plan.blockGroups();
    segments = cutRow(shape.w, plan.tile.pixels);
    tilesPerRow = segments.back().first + segments.back().count;
    // Pieces of whole rows or, of a single row, of tiles.
    int64_t extent = isFlat() ? tilesPerRow : shape.h.out;
    int64_t pieces = piecesFor(plan.ns / (shape.n * channelGroups), tileNs(plan.ns), extent);
    int64_t perPiece = llvm::divideCeil(extent, pieces);
    pieces = llvm::divideCeil(extent, perPiece);

    SmallVector<int64_t> grid{shape.n, pieces, channelGroups};
    if (channelsOuter)
      grid = {channelGroups, pieces, shape.n};
    auto tile = [&](Value image, Value number) {
      Values index = kb.delinearize(number, grid);
      if (channelsOuter)
        std::swap(index[0], index[2]);
      src = kb.imageBase(kb.argOf(conv.getSrc()), image);
      wei = kb.base(kb.argOf(conv.getWei()));
      epilogue.setImage(image);
      n = index[0];
      Value first = kb.mul(index[1], perPiece);
      Value last = kb.min(kb.add(first, perPiece), kb.i64(extent));
      Value group = kb.div(index[2], plan.blockGroups());
      Value part = kb.rem(index[2], plan.blockGroups());
      dstBlock = kb.add(kb.mul(group, plan.dstBlocks), kb.mul(part, plan.tile.blocks));
      srcBlock = kb.mul(group, plan.srcBlocks);

      int64_t rest = plan.dstBlocks % plan.tile.blocks;
      if (rest == 0) {
        piece(plan.tile.blocks, first, last);
        return;
      }
      Value isLast = arith::CmpIOp::create(kb.builder, kb.loc, arith::CmpIPredicate::eq, part,
                                           kb.i64(plan.blockGroups() - 1));
      auto branch = [&](int64_t blocks) {
        piece(blocks, first, last);
        return Values();
      };
      kb.ifThenElse(
          isLast, {}, [&] { return branch(rest); }, [&] { return branch(plan.tile.blocks); });
    };
    kb.forTiles(shape.n * channelGroups * pieces, tile,
                channelsOuter ? ImageOrder::Innermost : ImageOrder::Outermost);
  }

private:
  bool isFlat() const { return plan.kind == Kind::Pointwise; }

  // Rows [first, last), or, of a flat image, tiles [first, last).
  void piece(int64_t blocks, Value first, Value last) {
    if (isFlat()) {
      row(blocks, kb.i64(0), first, last);
      return;
    }
    kb.loop(first, last, 1, [&](Value oh) { row(blocks, oh, {}, {}); });
  }

  // What to fetch in the first step of (block, kh, kw) of this tile: its share of the weights of the
  // output channels after these.
  Prefetch nextWeights(Value block, Value kh, Value kw) {
    int64_t kernel = shape.h.kernel * shape.w.kernel, steps = plan.srcBlocks * lanes * kernel;
    int64_t tiles = tilesPerRow * shape.h.out;
    int64_t bytes = plan.tile.blocks * steps * lanes * 4;
    int64_t share = plan.kind == Kind::FirstLayer ? 0 : Prefetch::share(bytes, tiles, steps);
    if (!share)
      return {};
    Value at = kb.add(kb.mul(kb.add(kb.mul(block, shape.h.kernel), kh), shape.w.kernel), kw);
    at = kb.add(kb.mul(at, lanes), kb.mul(tileNumber, steps));
    Value next = kb.mul(kb.add(dstBlock, plan.tile.blocks), steps * lanes * 4);
    return {kb.advance(kb.builder.getI8Type(), wei, kb.add(next, kb.mul(at, share))), share};
  }

  // Tiles [first, last) of a row, or all.
  void row(int64_t blocks, Value oh, Value first, Value last) {
    for (const Segment &segment : segments) {
      RegisterTile tile{segment.size, blocks};
      Value begin = kb.i64(segment.first), end = kb.i64(segment.first + segment.count);
      Value ofRow = kb.mul(oh, tilesPerRow);
      if (!first && segment.count == 1) {
        tileNumber = kb.add(ofRow, segment.first);
        compute(tile, segment, oh, kb.i64(segment.start));
        continue;
      }
      if (first) {
        begin = kb.max(first, begin);
        end = kb.min(last, end);
      }
      kb.loop(begin, end, 1, [&](Value number) {
        Value start = kb.add(kb.mul(number, plan.tile.pixels),
                             segment.start - segment.first * plan.tile.pixels);
        tileNumber = kb.add(ofRow, number);
        compute(tile, segment, oh, start);
      });
    }
  }

  // One tile: outputs [ow, ow + tile.pixels) of row `oh`.
  void compute(RegisterTile tile, const Segment &segment, Value oh, Value ow) {
    Values sums = zeroTile(kb, tile);
    auto inside = insideKernel(kb, shape.h, oh);
    auto overRows = [&](Value block, int64_t channels, ValueRange carried) {
      if (shape.h.kernel == 1 && !shape.h.clips())
        return overColumns(tile, segment, oh, ow, block, kb.i64(0), channels, carried);
      return kb.loop(inside.first, inside.second, 1, carried, [&](Value kh, ValueRange inner) {
        return overColumns(tile, segment, oh, ow, block, kh, channels, inner);
      });
    };
    // Lanes beyond the channels hold anything, so they are not multiplied at all.
    int64_t full = plan.channels() / lanes, rest = plan.channels() % lanes;
    if (plan.kind == Kind::FirstLayer)
      full = 0, rest = plan.channels();
    if (full == 1)
      sums = overRows(kb.i64(0), lanes, sums);
    else if (full > 1)
      sums = kb.loop(kb.i64(0), kb.i64(full), 1, sums, [&](Value block, ValueRange carried) {
        return overRows(block, lanes, carried);
      });
    if (rest)
      sums = overRows(kb.i64(full), rest, sums);

    epilogue.finishTile(sums, [&](Value index) {
      Value block = kb.add(dstBlock, kb.div(index, tile.pixels));
      Value column = kb.add(ow, kb.rem(index, tile.pixels));
      if (isFlat())
        return epilogue.blockedPosition(n, block, column);
      return epilogue.blockedPosition(n, block, oh, column);
    });
  }

  Values overColumns(RegisterTile tile, const Segment &segment, Value oh, Value ow, Value block,
                     Value kh, int64_t channels, ValueRange carried) {
    Value ih =
        kb.add(kb.add(kb.mul(oh, shape.h.stride), kb.mul(kh, shape.h.dilation)), -shape.h.pad);
    Value iw = kb.add(kb.mul(ow, shape.w.stride), -shape.w.pad);
    auto at = [&](Value kw, int64_t low, int64_t high, ValueRange sums) {
      Value column = kb.add(kb.add(iw, kb.mul(kw, shape.w.dilation)), low * shape.w.stride);
      Panel panel = plan.kind == Kind::FirstLayer ? planarPanel(ih, column, kh, kw)
                                                  : blockedPanel(block, ih, column, kh, kw);
      panel.low = low;
      panel.high = high;
      panel.prefetch = nextWeights(block, kh, kw);
      return multiplyAdd(kb, tile, panel, channels, sums);
    };
    // Columns of the kernel that reach the same outputs share code. Unrolled, they would also share
    // source elements, which the compiler would then keep on the stack.
    Values sums(carried);
    for (int64_t first = 0, end = 0; first < shape.w.kernel; first = end) {
      auto [low, high] = segment.reached[first];
      while (end < shape.w.kernel && segment.reached[end] == segment.reached[first])
        ++end;
      if (low >= high)
        continue;
      if (end == first + 1)
        sums = at(kb.i64(first), low, high, sums);
      else
        sums = kb.loop(kb.i64(first), kb.i64(end), 1, sums,
                       [&, low = low, high = high](Value kw, ValueRange inner) {
                         return at(kw, low, high, inner);
                       });
    }
    return sums;
  }

  // src [n][block][h][w][channel], wei [block][block][kh][kw][channel][output channel]
  Panel blockedPanel(Value block, Value ih, Value iw, Value kh, Value kw) {
    int64_t allSrcBlocks = plan.srcBlocks * shape.groups;
    Value row = kb.add(kb.mul(n, allSrcBlocks), kb.add(srcBlock, block));
    row = kb.mul(kb.add(kb.mul(row, shape.h.in), ih), shape.w.in);
    Value weiRow = kb.add(kb.mul(dstBlock, plan.srcBlocks), block);
    weiRow = kb.mul(kb.add(kb.mul(weiRow, shape.h.kernel), kh), shape.w.kernel);
    Panel panel;
    panel.src = src;
    panel.srcOffset = kb.mul(kb.add(row, iw), lanes);
    panel.pixelStride = shape.w.stride * lanes;
    panel.wei = wei;
    panel.weiOffset = kb.mul(kb.add(weiRow, kw), lanes * lanes);
    panel.blockStride = plan.srcBlocks * shape.h.kernel * shape.w.kernel * lanes * lanes;
    return panel;
  }

  // src [n][channel][h][w], wei [block][kh][kw][channel][output channel]
  Panel planarPanel(Value ih, Value iw, Value kh, Value kw) {
    int64_t plane = shape.h.in * shape.w.in;
    Value row = kb.add(kb.mul(n, shape.ic * plane), kb.mul(ih, shape.w.in));
    Value weiRow = kb.add(kb.mul(dstBlock, shape.h.kernel), kh);
    weiRow = kb.add(kb.mul(weiRow, shape.w.kernel), kw);
    Panel panel;
    panel.src = src;
    panel.srcOffset = kb.add(row, iw);
    panel.pixelStride = shape.w.stride;
    panel.srcStep = plane;
    panel.wei = wei;
    panel.weiOffset = kb.mul(weiRow, shape.ic * lanes);
    panel.blockStride = shape.h.kernel * shape.w.kernel * shape.ic * lanes;
    return panel;
  }

  KernelBuilder &kb;
  cnn::ConvOp conv;
  const Plan &plan;
  const WindowShape &shape;
  int64_t lanes;
  Epilogue epilogue;
  std::vector<Segment> segments;
  int64_t tilesPerRow = 0;
  Value src, wei, n, dstBlock, srcBlock, tileNumber;
};

struct BlockedConv : X86Strategy {
  explicit BlockedConv(Kind kind) : kind(kind) {}
  StringRef name() const override {
    return kind == Kind::Pointwise ? "pointwise" : kind == Kind::Direct ? "direct" : "first-layer";
  }

  std::optional<double> cost(Operation *op, cnn::TargetAttr target) const override {
    auto plan = makePlan(op, target);
    if (!plan || plan->kind != kind || !isPackable(op->getOperand(1)))
      return std::nullopt;
    return std::max(plan->ns, moveNs(op));
  }

  std::string packedLayout(Operation *op, unsigned index, cnn::TargetAttr target) const override {
    if (index != 1)
      return {};
    std::string lanes = std::to_string(target.getLanes());
    std::string spatial =
        cast<RankedTensorType>(op->getOperand(0).getType()).getRank() == 3 ? "w" : "hw";
    if (kind == Kind::FirstLayer)
      return "o" + spatial + "i" + lanes + "o";
    return "oi" + spatial + lanes + "i" + lanes + "o";
  }

  std::vector<std::string> configs(Operation *op, cnn::TargetAttr target) const override {
    auto plan = makePlan(op, target);
    if (!plan)
      return {};
    return otherTiles(plan->shape.w.out, plan->dstBlocks, plan->steps(), target.getRegisters());
  }

  LogicalResult emit(plan::KernelOp kernel, KernelBuilder &kb) const override {
    Operation *op = onlyOp(kernel);
    auto plan = op ? makePlan(op, kb.target) : std::nullopt;
    if (!plan || plan->kind != kind)
      return kernel.emitError() << "is no convolution that strategy '" << name() << "' computes";
    Emitter(kb, cast<cnn::ConvOp>(op), *plan).run();
    return success();
  }

  Kind kind;
};

} // namespace

const X86Strategy &convoy::convPointwise() {
  static const BlockedConv strategy(Kind::Pointwise);
  return strategy;
}

const X86Strategy &convoy::convDirect() {
  static const BlockedConv strategy(Kind::Direct);
  return strategy;
}

const X86Strategy &convoy::convFirstLayer() {
  static const BlockedConv strategy(Kind::FirstLayer);
  return strategy;
}
