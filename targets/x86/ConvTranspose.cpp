// Transposed convolution on blocked layouts. Outputs whose coordinates agree modulo the stride are
// an ordinary convolution of stride 1 by a part of the kernel.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/x86/RegisterTile.h"
#include "targets/x86/Strategies.h"
#include "targets/x86/VectorOperands.h"
#include "targets/x86/Window.h"

using namespace mlir;
using namespace convoy;

using Values = KernelBuilder::Values;

namespace {

struct Plan {
  int64_t n, ic, oc, srcBlocks, dstBlocks;
  Axis h, w; ///< `in` is the source's extent, `out` the result's
  RegisterTile tile;
  double ns;
};

std::optional<Plan> makePlan(Operation *op, cnn::TargetAttr target) {
  auto conv = dyn_cast<cnn::ConvTransposeOp>(op);
  if (!conv || conv.getGroups() != 1)
    return std::nullopt;
  int64_t lanes = target.getLanes();
  if (!isF32(conv.getSrc().getType()) || !conv.getAccumulatorType().isF32() ||
      !isBlocked(conv.getSrc().getType(), lanes) || !isBlocked(conv.getDst().getType(), lanes) ||
      !Epilogue::supports(op) || cnn::getBytes(conv.getDst().getType()) == 0)
    return std::nullopt;
  auto src = cnn::perImage(conv.getSrc().getType()), dst = cnn::perImage(conv.getDst().getType());
  int64_t spatial = src.getRank() - 2;
  if (spatial > 2)
    return std::nullopt;
  Plan plan{};
  plan.n = dst.getDimSize(0);
  plan.ic = src.getDimSize(1);
  plan.oc = dst.getDimSize(1);
  plan.srcBlocks = (plan.ic + lanes - 1) / lanes;
  plan.dstBlocks = (plan.oc + lanes - 1) / lanes;
  for (int64_t i = 0; i < spatial; ++i) {
    Axis &axis = spatial - i == 1 ? plan.w : plan.h;
    axis.in = src.getDimSize(2 + i);
    axis.out = dst.getDimSize(2 + i);
    axis.kernel = conv.getWei().getType().getDimSize(2 + i);
    axis.stride = conv.getStrides()[i];
    axis.dilation = conv.getDilations()[i];
    axis.pad = conv.getPads()[i];
    // Which kernel elements meet is simple to say only if one of both is 1.
    if ((axis.stride > 1 && axis.dilation > 1) || axis.pad < 0)
      return std::nullopt;
  }
  double steps = double(plan.ic) * plan.h.kernel * plan.w.kernel / (plan.h.stride * plan.w.stride);
  int64_t phase = (plan.w.out + plan.w.stride - 1) / plan.w.stride;
  TileChoice choice = chooseTile(phase, plan.dstBlocks, steps, target.getRegisters());
  plan.tile = choice.tile;
  plan.ns = choice.cycles * plan.w.stride * plan.h.out * plan.n / kCyclesPerNs;
  return plan;
}

/// Outputs phase, phase + stride, ... of a row, cut into tiles.
struct Phase {
  struct Tap {
    int64_t kw, shift; ///< output number j takes source element j + shift
  };
  int64_t phase;
  SmallVector<Tap> taps;
  std::vector<Segment> segments; ///< `reached` counts in taps
};

std::vector<Phase> cutPhases(const Axis &axis, int64_t size) {
  std::vector<Phase> phases;
  for (int64_t phase = 0; phase < std::min(axis.stride, axis.out); ++phase) {
    Phase result{phase, {}, {}};
    for (int64_t kw = 0; kw < axis.kernel; ++kw) {
      int64_t position = phase + axis.pad - kw * axis.dilation;
      if (position % axis.stride == 0)
        result.taps.push_back({kw, position / axis.stride});
    }
    int64_t count = (axis.out - phase + axis.stride - 1) / axis.stride;
    for (int64_t start = 0, number = 0; start < count; start += size, ++number) {
      Segment tile{start, std::min(size, count - start), 1, number, {}, false};
      for (const Phase::Tap &tap : result.taps) {
        int64_t low = std::clamp<int64_t>(-tap.shift - start, 0, tile.size);
        int64_t high = std::clamp<int64_t>(axis.in - tap.shift - start, low, tile.size);
        tile.reached.push_back({low, high});
      }
      if (!result.segments.empty() && result.segments.back().size == tile.size &&
          result.segments.back().reached == tile.reached)
        ++result.segments.back().count;
      else
        result.segments.push_back(tile);
    }
    phases.push_back(result);
  }
  return phases;
}

class Emitter {
public:
  Emitter(KernelBuilder &kb, cnn::ConvTransposeOp conv, const Plan &plan)
      : kb(kb), conv(conv), plan(plan), lanes(kb.lanes()), epilogue(kb, conv) {}

  void run() {
    phases = cutPhases(plan.w, plan.tile.pixels);
    int64_t groups = (plan.dstBlocks + plan.tile.blocks - 1) / plan.tile.blocks;
    int64_t pieces = piecesFor(plan.ns / (plan.n * groups), tileNs(plan.ns), plan.h.out);
    int64_t perPiece = (plan.h.out + pieces - 1) / pieces;
    pieces = (plan.h.out + perPiece - 1) / perPiece;
    kb.forTiles(plan.n * groups * pieces, [&](Value image, Value number) {
      Values index = kb.delinearize(number, {plan.n, groups, pieces});
      src = kb.imageBase(kb.argOf(conv.getSrc()), image);
      wei = kb.base(kb.argOf(conv.getWei()));
      epilogue.setImage(image);
      n = index[0];
      dstBlock = kb.mul(index[1], plan.tile.blocks);
      Value first = kb.mul(index[2], perPiece);
      Value last = kb.min(kb.add(first, perPiece), kb.i64(plan.h.out));
      auto rows = [&](int64_t blocks) {
        kb.loop(first, last, 1, [&](Value oh) { row(blocks, oh); });
        return Values();
      };
      int64_t rest = plan.dstBlocks % plan.tile.blocks;
      if (rest == 0) {
        rows(plan.tile.blocks);
        return;
      }
      Value isLast = arith::CmpIOp::create(kb.builder, kb.loc, arith::CmpIPredicate::eq, index[1],
                                           kb.i64(groups - 1));
      kb.ifThenElse(
          isLast, {}, [&] { return rows(rest); }, [&] { return rows(plan.tile.blocks); });
    });
  }

private:
  void row(int64_t blocks, Value oh) {
    for (const Phase &phase : phases)
      for (const Segment &segment : phase.segments)
        kb.loop(kb.i64(0), kb.i64(segment.count), 1, [&](Value number) {
          Value first = kb.add(kb.mul(number, segment.size), segment.start);
          compute({segment.size, blocks}, phase, segment, oh, first);
        });
  }

  // Outputs phase + stride * [first, first + tile.pixels) of row `oh`.
  void compute(RegisterTile tile, const Phase &phase, const Segment &segment, Value oh,
               Value first) {
    const Axis &h = plan.h;
    // Kernel rows that meet a source row: kh with oh + pad - kh * dilation = ih * stride.
    Value origin = kb.add(oh, h.pad);
    Value skipped = kb.max(kb.sub(origin, kb.i64((h.in - 1) * h.stride)), kb.i64(0));
    Value begin = kb.div(kb.add(skipped, h.dilation - 1), h.dilation);
    if (h.stride > 1)
      begin = kb.add(begin, kb.rem(kb.sub(origin, begin), h.stride));
    Value end = kb.min(kb.add(kb.div(origin, h.dilation), 1), kb.i64(h.kernel));

    auto overRows = [&](Value block, int64_t channels, ValueRange carried) {
      return kb.loop(begin, end, h.stride, carried, [&](Value kh, ValueRange inner) {
        Value ih = kb.div(kb.sub(origin, kb.mul(kh, h.dilation)), h.stride);
        Value srcRow = kb.add(kb.mul(n, plan.srcBlocks), block);
        srcRow = kb.mul(kb.add(kb.mul(srcRow, h.in), ih), plan.w.in);
        Value weiRow = kb.add(kb.mul(dstBlock, plan.srcBlocks), block);
        weiRow = kb.mul(kb.add(kb.mul(weiRow, h.kernel), kh), plan.w.kernel);
        Values sums(inner);
        for (auto [tap, reached] : llvm::zip_equal(phase.taps, segment.reached)) {
          if (reached.first >= reached.second)
            continue;
          Panel panel;
          panel.src = src;
          Value column = kb.add(first, tap.shift + reached.first);
          panel.srcOffset = kb.mul(kb.add(srcRow, column), lanes);
          panel.pixelStride = lanes;
          panel.wei = wei;
          panel.weiOffset = kb.mul(kb.add(weiRow, tap.kw), lanes * lanes);
          panel.blockStride = plan.srcBlocks * h.kernel * plan.w.kernel * lanes * lanes;
          panel.low = reached.first;
          panel.high = reached.second;
          sums = multiplyAdd(kb, tile, panel, channels, sums);
        }
        return sums;
      });
    };
    Values sums = zeroTile(kb, tile);
    // Lanes beyond the channels hold anything, so they are not multiplied at all.
    int64_t full = plan.ic / lanes, rest = plan.ic % lanes;
    if (full)
      sums = kb.loop(kb.i64(0), kb.i64(full), 1, sums, [&](Value block, ValueRange carried) {
        return overRows(block, lanes, carried);
      });
    if (rest)
      sums = overRows(kb.i64(full), rest, sums);
    epilogue.finishTile(sums, [&](Value index) {
      Value block = kb.add(dstBlock, kb.div(index, tile.pixels));
      Value number = kb.add(first, kb.rem(index, tile.pixels));
      Value column = kb.add(kb.mul(number, plan.w.stride), phase.phase);
      return epilogue.blockedPosition(n, block, oh, column);
    });
  }

  KernelBuilder &kb;
  cnn::ConvTransposeOp conv;
  const Plan &plan;
  int64_t lanes;
  Epilogue epilogue;
  std::vector<Phase> phases;
  Value src, wei, n, dstBlock;
};

struct ConvTranspose : X86Strategy {
  StringRef name() const override { return "transposed"; }

  std::optional<double> cost(Operation *op, cnn::TargetAttr target) const override {
    auto plan = makePlan(op, target);
    if (!plan || !isPackable(op->getOperand(1)))
      return std::nullopt;
    return std::max(1.1 * plan->ns, moveNs(op));
  }

  std::string packedLayout(Operation *op, unsigned index, cnn::TargetAttr target) const override {
    if (index != 1)
      return {};
    // The operand is [ic, oc, ...], whose dimensions a tag calls o and i.
    std::string lanes = std::to_string(target.getLanes());
    std::string spatial =
        cast<RankedTensorType>(op->getOperand(0).getType()).getRank() == 3 ? "w" : "hw";
    return "io" + spatial + lanes + "o" + lanes + "i";
  }

  LogicalResult emit(plan::KernelOp kernel, KernelBuilder &kb) const override {
    auto conv = dyn_cast_or_null<cnn::ConvTransposeOp>(onlyOp(kernel));
    auto plan = conv ? makePlan(conv, kb.target) : std::nullopt;
    if (!plan)
      return kernel.emitError() << "is no op that strategy '" << name() << "' computes";
    Emitter(kb, conv, *plan).run();
    return success();
  }
};

} // namespace

const X86Strategy &convoy::convTranspose() {
  static const ConvTranspose strategy;
  return strategy;
}
