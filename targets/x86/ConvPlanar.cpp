// Convolution on row-major tensors: vectors along a row of the result, weights broadcast. For what
// blocked layouts cannot hold well, such as groups of few channels.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/x86/RegisterTile.h"
#include "targets/x86/Strategies.h"
#include "targets/x86/VectorOperands.h"
#include "targets/x86/Vectors.h"
#include "targets/x86/Window.h"

using namespace mlir;
using namespace convoy;

using Values = KernelBuilder::Values;

namespace {

struct Plan {
  WindowShape shape;
  bool flat; ///< rows are joined to one
  /// `pixels` are output channels here, `blocks` vectors of a row.
  RegisterTile tile;
  double ns;

  int64_t vectors(int64_t lanes) const { return (shape.w.out + lanes - 1) / lanes; }
  double steps() const { return double(srcChannels()) * shape.h.kernel * shape.w.kernel; }
  int64_t srcChannels() const { return shape.ic / shape.groups; }
  int64_t dstChannels() const { return shape.oc / shape.groups; }
};

std::optional<Plan> makePlan(Operation *op, cnn::TargetAttr target) {
  auto conv = dyn_cast<cnn::ConvOp>(op);
  if (!conv || !isF32(conv.getSrc().getType()) || !conv.getAccumulatorType().isF32() ||
      !isRowMajor(conv.getSrc().getType()) || !isRowMajor(conv.getWei().getType()) ||
      !isRowMajor(conv.getDst().getType()) || !Epilogue::supports(op) ||
      cnn::getBytes(conv.getDst().getType()) == 0)
    return std::nullopt;
  auto shape = windowShape(op);
  if (!shape || shape->w.stride > 2)
    return std::nullopt;
  Plan plan{*shape, false, {}, 0};
  auto plain = [](const Axis &axis) {
    return axis.kernel == 1 && axis.stride == 1 && axis.pad == 0 && axis.padHigh == 0;
  };
  if (plain(shape->h) && plain(shape->w) && Epilogue::ignoresRows(op)) {
    plan.flat = true;
    int64_t pixels = shape->h.out * shape->w.out;
    plan.shape.h = Axis();
    plan.shape.w = Axis();
    plan.shape.w.in = plan.shape.w.out = pixels;
  }
  auto choice = chooseTile(getConfig(op), plan.dstChannels(), plan.vectors(target.getLanes()),
                           plan.steps(), target.getRegisters());
  if (!choice)
    return std::nullopt;
  plan.tile = choice->tile;
  // A vector of stride 2 takes two loads and a shuffle.
  double cycles = choice->cycles * plan.shape.h.out * shape->groups * shape->n;
  plan.ns = cycles * (shape->w.stride == 2 ? 1.4 : 1.1) / kCyclesPerNs;
  return plan;
}

class Emitter {
public:
  Emitter(KernelBuilder &kb, cnn::ConvOp conv, const Plan &plan)
      : kb(kb), conv(conv), plan(plan), shape(plan.shape), lanes(kb.lanes()),
        f32(kb.builder.getF32Type()), epilogue(kb, conv) {}

  void run() {
    int64_t channelTiles = (plan.dstChannels() + plan.tile.pixels - 1) / plan.tile.pixels;
    segments = cutRow(shape.w, plan.tile.blocks * lanes);
    int64_t rowTiles = segments.back().first + segments.back().count;
    int64_t extent = plan.flat ? rowTiles : shape.h.out;
    int64_t rest = shape.n * shape.groups * channelTiles;
    int64_t pieces = piecesFor(plan.ns / rest, tileNs(plan.ns), extent);
    int64_t perPiece = (extent + pieces - 1) / pieces;
    pieces = (extent + perPiece - 1) / perPiece;

    kb.forTiles(rest * pieces, [&](Value image, Value number) {
      Values index = kb.delinearize(number, {shape.n, shape.groups, pieces, channelTiles});
      src = kb.imageBase(kb.argOf(conv.getSrc()), image);
      wei = kb.base(kb.argOf(conv.getWei()));
      epilogue.setImage(image);
      n = index[0];
      srcChannel = kb.add(kb.mul(n, shape.ic), kb.mul(index[1], plan.srcChannels()));
      dstChannel = kb.add(kb.mul(index[1], plan.dstChannels()), kb.mul(index[3], plan.tile.pixels));
      Value first = kb.mul(index[2], perPiece);
      Value last = kb.min(kb.add(first, perPiece), kb.i64(extent));
      int64_t tail = plan.dstChannels() % plan.tile.pixels;
      if (tail == 0) {
        piece(plan.tile.pixels, first, last);
        return;
      }
      Value isLast = arith::CmpIOp::create(kb.builder, kb.loc, arith::CmpIPredicate::eq, index[3],
                                           kb.i64(channelTiles - 1));
      auto branch = [&](int64_t channels) {
        piece(channels, first, last);
        return Values();
      };
      kb.ifThenElse(
          isLast, {}, [&] { return branch(tail); }, [&] { return branch(plan.tile.pixels); });
    });
  }

private:
  void piece(int64_t channels, Value first, Value last) {
    if (plan.flat)
      row(channels, kb.i64(0), first, last);
    else
      kb.loop(first, last, 1, [&](Value oh) { row(channels, oh, {}, {}); });
  }

  void row(int64_t channels, Value oh, Value first, Value last) {
    for (const Segment &segment : segments) {
      Value begin = kb.i64(segment.first), end = kb.i64(segment.first + segment.count);
      if (first) {
        begin = kb.max(first, begin);
        end = kb.min(last, end);
      }
      auto tile = [&](Value number) {
        int64_t vectors = (segment.size + lanes - 1) / lanes;
        compute({channels, vectors}, segment, oh, kb.mul(number, plan.tile.blocks * lanes));
      };
      if (!first && segment.count == 1)
        tile(begin);
      else
        kb.loop(begin, end, 1, tile);
    }
  }

  void compute(RegisterTile tile, const Segment &segment, Value oh, Value ow) {
    Values sums = zeroTile(kb, tile);
    int64_t kernelSize = shape.h.kernel * shape.w.kernel;
    if (plan.flat) {
      Panel panel;
      panel.src = wei;
      panel.srcOffset = kb.mul(dstChannel, plan.srcChannels());
      panel.pixelStride = plan.srcChannels();
      panel.low = 0;
      panel.high = tile.pixels;
      panel.wei = src;
      panel.weiOffset = kb.add(kb.mul(srcChannel, shape.w.in), ow);
      panel.blockStride = lanes;
      panel.weiStep = shape.w.in;
      if (segment.size % lanes)
        panel.lastMask = kb.firstLanes(kb.i64(segment.size % lanes), lanes);
      sums = multiplyAdd(kb, tile, panel, plan.srcChannels(), sums);
    } else {
      auto [begin, end] = insideKernel(kb, shape.h, oh);
      sums = kb.loop(
          kb.i64(0), kb.i64(plan.srcChannels()), 1, sums,
          [&, begin = begin, end = end](Value ic, ValueRange carried) {
            return kb.loop(begin, end, 1, carried, [&](Value kh, ValueRange inner) {
              Value ih = kb.add(kb.add(kb.mul(oh, shape.h.stride), kb.mul(kh, shape.h.dilation)),
                                -shape.h.pad);
              Value srcRow =
                  kb.mul(kb.add(kb.mul(kb.add(srcChannel, ic), shape.h.in), ih), shape.w.in);
              Value weiRow =
                  kb.add(kb.mul(kb.add(kb.mul(dstChannel, plan.srcChannels()), ic), kernelSize),
                         kb.mul(kh, shape.w.kernel));
              Values next(inner);
              for (int64_t kw = 0; kw < shape.w.kernel; ++kw)
                kernelElement(tile, segment, srcRow, weiRow, ow, kw, next);
              return next;
            });
          });
    }
    epilogue.finishTile(
        sums,
        [&](Value index) {
          Values position{n, kb.add(dstChannel, kb.rem(index, tile.pixels))};
          position.append(epilogue.rank() - 3, plan.flat ? kb.i64(0) : oh);
          position.push_back(kb.add(ow, kb.mul(kb.div(index, tile.pixels), lanes)));
          return position;
        },
        segment.size % lanes ? std::optional(shape.w.out) : std::nullopt);
  }

  void kernelElement(RegisterTile tile, const Segment &segment, Value srcRow, Value weiRow,
                     Value ow, int64_t kw, Values &sums) {
    auto [low, high] = segment.reached[kw];
    if (low >= high)
      return;
    Values elements;
    for (int64_t block = 0; block < tile.blocks; ++block) {
      // Lanes [low, high) of this vector lie inside the source.
      int64_t first = std::clamp<int64_t>(low - block * lanes, 0, lanes);
      int64_t last = std::clamp<int64_t>(high - block * lanes, 0, lanes);
      Value column = kb.add(kb.mul(kb.add(ow, block * lanes), shape.w.stride),
                            kw * shape.w.dilation - shape.w.pad);
      elements.push_back(first < last ? loadColumns(kb.add(srcRow, column), first, last) : Value());
    }
    int64_t stride = plan.srcChannels() * shape.h.kernel * shape.w.kernel;
    for (int64_t channel = 0; channel < tile.pixels; ++channel) {
      Value weight = kb.splat(kb.load(f32, wei, kb.add(weiRow, channel * stride + kw)), lanes);
      for (int64_t block = 0; block < tile.blocks; ++block) {
        Value &sum = sums[block * tile.pixels + channel];
        if (elements[block])
          sum = vector::FMAOp::create(kb.builder, kb.loc, weight, elements[block], sum);
      }
    }
  }

  // Elements of lanes [first, last), stride 1 or 2 apart; 0 elsewhere.
  Value loadColumns(Value offset, int64_t first, int64_t last) {
    if (shape.w.stride == 1)
      return kb.loadVector(f32, lanes, src, offset, false, laneMask(kb, first, last, 1, 0));
    Value halves[2];
    for (int64_t half = 0; half < 2; ++half)
      halves[half] = kb.loadVector(f32, lanes, src, kb.add(offset, half * lanes), false,
                                   laneMask(kb, first, last, 2, half * lanes));
    SmallVector<int64_t> even;
    for (int64_t lane = 0; lane < lanes; ++lane)
      even.push_back(2 * lane);
    return vector::ShuffleOp::create(kb.builder, kb.loc, halves[0], halves[1], even);
  }

  KernelBuilder &kb;
  cnn::ConvOp conv;
  const Plan &plan;
  const WindowShape &shape;
  int64_t lanes;
  Type f32;
  Epilogue epilogue;
  std::vector<Segment> segments;
  Value src, wei, n, srcChannel, dstChannel;
};

struct ConvPlanar : X86Strategy {
  StringRef name() const override { return "planar"; }

  std::optional<double> cost(Operation *op, cnn::TargetAttr target) const override {
    auto plan = makePlan(op, target);
    if (!plan)
      return std::nullopt;
    return std::max(plan->ns, moveNs(op));
  }

  std::vector<std::string> configs(Operation *op, cnn::TargetAttr target) const override {
    auto plan = makePlan(op, target);
    if (!plan)
      return {};
    return otherTiles(plan->dstChannels(), plan->vectors(target.getLanes()), plan->steps(),
                      target.getRegisters());
  }

  LogicalResult emit(plan::KernelOp kernel, KernelBuilder &kb) const override {
    auto conv = dyn_cast_or_null<cnn::ConvOp>(onlyOp(kernel));
    auto plan = conv ? makePlan(conv, kb.target) : std::nullopt;
    if (!plan)
      return kernel.emitError() << "is no convolution that strategy '" << name() << "' computes";
    Emitter(kb, conv, *plan).run();
    return success();
  }
};

} // namespace

const X86Strategy &convoy::convPlanar() {
  static const ConvPlanar strategy;
  return strategy;
}
