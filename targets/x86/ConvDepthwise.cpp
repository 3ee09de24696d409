// Depthwise convolution on blocked layouts: a vector holds the same pixel of as many channels.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/x86/RowSweep.h"
#include "targets/x86/Strategies.h"
#include "targets/x86/VectorOperands.h"

using namespace mlir;
using namespace convoy;

using Values = KernelBuilder::Values;

namespace {

struct Plan {
  WindowShape shape;
  int64_t pixels; ///< outputs of a tile
  double ns;
};

// The registers left for accumulators by a row of weights and a few source vectors.
int64_t roomFor(const WindowShape &shape, cnn::TargetAttr target) {
  int64_t room = target.getRegisters() - std::min<int64_t>(shape.w.kernel, 7) - 3;
  return std::max<int64_t>(room, 2);
}

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
  if (!shape || shape->groups != shape->ic || shape->oc != shape->ic || shape->groups == 1 ||
      cnn::getBytes(conv.getDst().getType()) == 0)
    return std::nullopt;
  auto choice = chooseSweep(getConfig(op), shape->w, roomFor(*shape, target), shape->h.kernel);
  if (!choice)
    return std::nullopt;
  double cycles = choice->cycles * shape->h.out * llvm::divideCeil(shape->oc, lanes) * shape->n;
  return Plan{*shape, choice->pixels, cycles / kCyclesPerNs};
}

struct ConvDepthwise : X86Strategy {
  StringRef name() const override { return "depthwise"; }

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
    return (flat ? "oiw" : "oihw") + std::to_string(target.getLanes()) + "o";
  }

  std::vector<std::string> configs(Operation *op, cnn::TargetAttr target) const override {
    auto plan = makePlan(op, target);
    if (!plan)
      return {};
    return otherSweeps(plan->shape.w, roomFor(plan->shape, target), plan->shape.h.kernel);
  }

  LogicalResult emit(plan::KernelOp kernel, KernelBuilder &kb) const override {
    auto conv = dyn_cast_or_null<cnn::ConvOp>(onlyOp(kernel));
    auto plan = conv ? makePlan(conv, kb.target) : std::nullopt;
    if (!plan)
      return kernel.emitError() << "is no convolution that strategy '" << name() << "' computes";

    const WindowShape &shape = plan->shape;
    int64_t lanes = kb.lanes();
    Type f32 = kb.builder.getF32Type();
    auto vectorType = VectorType::get(lanes, f32);
    int64_t blocks = llvm::divideCeil(shape.oc, lanes);
    int64_t kernelSize = shape.h.kernel * shape.w.kernel;
    Epilogue epilogue(kb, conv);
    RowSweep sweep(kb, shape, plan->pixels);
    sweep.run(blocks, plan->ns, [&](const RowSweep::Place &place) {
      Value src = kb.imageBase(kb.argOf(conv.getSrc()), place.image);
      Value wei = kb.base(kb.argOf(conv.getWei()));
      epilogue.setImage(place.image);
      Value plane = kb.add(kb.mul(place.n, blocks), place.block);
      sweep.overRow([&](const Segment &segment, Value ow) {
        Values sums(segment.size, kb.constant(vectorType, 0));
        auto [begin, end] = insideKernel(kb, shape.h, place.oh);
        sums = kb.loop(begin, end, 1, sums, [&](Value kh, ValueRange carried) {
          Values next(carried), weights;
          Value weiRow = kb.add(kb.mul(place.block, kernelSize), kb.mul(kh, shape.w.kernel));
          for (int64_t kw = 0; kw < shape.w.kernel; ++kw)
            weights.push_back(kb.loadVector(f32, lanes, wei, kb.mul(kb.add(weiRow, kw), lanes),
                                            /*aligned=*/true));
          sweep.overColumns(segment, [&](int64_t column, ArrayRef<RowSweep::Use> uses) {
            Value element =
                kb.loadVector(f32, lanes, src, sweep.srcOffset(plane, place.oh, kh, ow, column),
                              /*aligned=*/true);
            for (auto [pixel, kw] : uses)
              next[pixel] =
                  vector::FMAOp::create(kb.builder, kb.loc, element, weights[kw], next[pixel]);
          });
          return next;
        });
        epilogue.finishTile(sums, [&](Value pixel) {
          return epilogue.blockedPosition(place.n, place.block, place.oh, kb.add(ow, pixel));
        });
      });
    });
    return success();
  }
};

} // namespace

const X86Strategy &convoy::convDepthwise() {
  static const ConvDepthwise strategy;
  return strategy;
}
