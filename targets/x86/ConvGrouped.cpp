// Convolution of groups of a few channels on blocked layouts: a vector holds one or more whole
// groups, so a product takes, in each lane, a source channel of that lane's group.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/x86/RowSweep.h"
#include "targets/x86/Strategies.h"
#include "targets/x86/VectorOperands.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace convoy;

using Values = KernelBuilder::Values;

namespace {

struct Plan {
  WindowShape shape;
  int64_t channels; ///< of a group
  int64_t pixels;   ///< outputs of a tile
  double ns;
};

std::optional<Plan> makePlan(Operation *op, cnn::TargetAttr target) {
  auto conv = dyn_cast<cnn::ConvOp>(op);
  if (!conv)
    return std::nullopt;
  int64_t lanes = target.getLanes();
  if (!isF32(conv.getSrc().getType()) || !conv.getAccumulatorType().isF32() ||
      !isBlocked(conv.getSrc().getType(), lanes) || !isBlocked(conv.getDst().getType(), lanes) ||
      !Epilogue::supports(op))
    return std::nullopt;
  auto shape = windowShape(op);
  if (!shape || shape->oc != shape->ic || cnn::getBytes(conv.getDst().getType()) == 0)
    return std::nullopt;
  int64_t channels = shape->ic / shape->groups;
  if (channels == 1 || channels >= lanes || lanes % channels)
    return std::nullopt;
  // Accumulators, a row of weights, a source vector and the order of its lanes.
  int64_t room = target.getRegisters() - std::min<int64_t>(shape->w.kernel, 7) - 3;
  SweepChoice choice =
      chooseSweep(shape->w, std::max<int64_t>(room, 2), shape->h.kernel * channels);
  double cycles = choice.cycles * shape->h.out * llvm::divideCeil(shape->oc, lanes) * shape->n;
  // Shuffles take turns with multiply-adds.
  return Plan{*shape, channels, choice.pixels, 1.15 * cycles / kCyclesPerNs};
}

/// Emits one convolution.
class Emitter {
public:
  Emitter(KernelBuilder &kb, cnn::ConvOp conv, const Plan &plan)
      : kb(kb), conv(conv), plan(plan), shape(plan.shape), lanes(kb.lanes()),
        f32(kb.builder.getF32Type()), type(VectorType::get(lanes, f32)), epilogue(kb, conv),
        sweep(kb, shape, plan.pixels) {}

  void run() {
    int64_t blocks = llvm::divideCeil(shape.oc, lanes);
    sweep.run(blocks, plan.ns, [&](const RowSweep::Place &place) {
      src = kb.imageBase(kb.argOf(conv.getSrc()), place.image);
      wei = kb.base(kb.argOf(conv.getWei()));
      epilogue.setImage(place.image);
      Value plane = kb.add(kb.mul(place.n, blocks), place.block);
      sweep.overRow([&](const Segment &segment, Value ow) {
        Values sums(segment.size, kb.constant(type, 0));
        auto [begin, end] = insideKernel(kb, shape.h, place.oh);
        sums = kb.loop(begin, end, 1, sums, [&](Value kh, ValueRange overRows) {
          return kb.loop(kb.i64(0), kb.i64(plan.channels), 1, overRows,
                         [&](Value channel, ValueRange carried) {
                           return ofChannel(place, plane, segment, kh, ow, channel, carried);
                         });
        });
        epilogue.finishTile(sums, [&](Value pixel) {
          return epilogue.blockedPosition(place.n, place.block, place.oh, kb.add(ow, pixel));
        });
      });
    });
  }

private:
  // A row of the kernel on one channel of each group. Weights lie [block][kh][kw][channel][lane].
  Values ofChannel(const RowSweep::Place &place, Value plane, const Segment &segment, Value kh,
                   Value ow, Value channel, ValueRange carried) {
    Values next(carried), weights;
    Value row = kb.add(kb.mul(place.block, shape.h.kernel), kh);
    for (int64_t kw = 0; kw < shape.w.kernel; ++kw) {
      Value at = kb.add(kb.mul(row, shape.w.kernel), kw);
      at = kb.add(kb.mul(at, plan.channels), channel);
      weights.push_back(kb.loadVector(f32, lanes, wei, kb.mul(at, lanes), /*aligned=*/true));
    }
    Value order = lanesOf(channel);
    sweep.overColumns(segment, [&](int64_t column, ArrayRef<RowSweep::Use> uses) {
      Value element = kb.loadVector(
          f32, lanes, src, sweep.srcOffset(plane, place.oh, kh, ow, column), /*aligned=*/true);
      element = permute(element, order);
      for (auto [pixel, kw] : uses)
        next[pixel] = vector::FMAOp::create(kb.builder, kb.loc, element, weights[kw], next[pixel]);
    });
    return next;
  }

  // The lane that each lane takes to have `channel` of its group.
  Value lanesOf(Value channel) {
    SmallVector<int32_t> first;
    for (int32_t lane = 0; lane < lanes; ++lane)
      first.push_back(lane - lane % static_cast<int32_t>(plan.channels));
    auto indices = VectorType::get(lanes, kb.builder.getI32Type());
    Value firsts = arith::ConstantOp::create(kb.builder, kb.loc,
                                             DenseElementsAttr::get(indices, ArrayRef(first)));
    Value narrow = arith::TruncIOp::create(kb.builder, kb.loc, kb.builder.getI32Type(), channel);
    return arith::AddIOp::create(kb.builder, kb.loc, firsts, kb.splat(narrow, lanes));
  }

  // The lanes of a vector in a run-time order, which MLIR has no op for.
  Value permute(Value vector, Value order) {
    StringRef name = lanes == 16 ? "llvm.x86.avx512.permvar.sf.512" : "llvm.x86.avx2.permps";
    return LLVM::CallIntrinsicOp::create(kb.builder, kb.loc, type, kb.builder.getStringAttr(name),
                                         ValueRange{vector, order})
        .getResult(0);
  }

  KernelBuilder &kb;
  cnn::ConvOp conv;
  const Plan &plan;
  const WindowShape &shape;
  int64_t lanes;
  Type f32;
  VectorType type;
  Epilogue epilogue;
  RowSweep sweep;
  Value src, wei;
};

struct ConvGrouped : X86Strategy {
  StringRef name() const override { return "grouped"; }

  std::optional<double> cost(Operation *op, cnn::TargetAttr target) const override {
    auto plan = makePlan(op, target);
    if (!plan || !isPackable(op->getOperand(1)))
      return std::nullopt;
    return std::max(plan->ns, moveNs(op));
  }

  std::string packedLayout(Operation *op, unsigned index, cnn::TargetAttr target) const override {
    if (index != 1)
      return {};
    bool flat = cast<RankedTensorType>(op->getOperand(0).getType()).getRank() == 3;
    return (flat ? "owi" : "ohwi") + std::to_string(target.getLanes()) + "o";
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

const X86Strategy &convoy::convGrouped() {
  static const ConvGrouped strategy;
  return strategy;
}
