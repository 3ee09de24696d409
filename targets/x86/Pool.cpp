// Pooling on blocked layouts.
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
  int64_t pixels;
  double ns;
};

std::optional<Plan> makePlan(Operation *op, cnn::TargetAttr target) {
  auto pool = dyn_cast<cnn::PoolOp>(op);
  if (!pool)
    return std::nullopt;
  int64_t lanes = target.getLanes();
  if (!isF32(pool.getSrc().getType()) || !pool.getAccumulatorType().isF32() ||
      !isBlocked(pool.getSrc().getType(), lanes) || !isBlocked(pool.getDst().getType(), lanes) ||
      !Epilogue::supports(op))
    return std::nullopt;
  auto shape = windowShape(op);
  if (!shape || cnn::getBytes(pool.getDst().getType()) == 0)
    return std::nullopt;
  double weight = pool.getKind() == cnn::PoolKind::Max ? 3 : 1;
  SweepChoice choice = chooseSweep(shape->w, std::max<int64_t>(target.getRegisters() / 2, 2),
                                   shape->h.kernel, weight);
  double cycles = choice.cycles * shape->h.out * llvm::divideCeil(shape->oc, lanes) * shape->n;
  return Plan{*shape, choice.pixels, cycles / kCyclesPerNs};
}

/// Elements of an axis that count for the average of output `o`: [begin, end) of the kernel's
/// reach in the source, or, with padding, up to the end of the padding.
int64_t countedKernel(const Axis &axis, int64_t o, bool includePad) {
  int64_t count = 0;
  for (int64_t k = 0; k < axis.kernel; ++k) {
    int64_t i = o * axis.stride - axis.pad + k * axis.dilation;
    count += includePad ? i < axis.in + axis.padHigh : axis.inside(o, k);
  }
  return count;
}

class Emitter {
public:
  Emitter(KernelBuilder &kb, cnn::PoolOp pool, const Plan &plan)
      : kb(kb), pool(pool), shape(plan.shape), lanes(kb.lanes()),
        vectorType(VectorType::get(lanes, kb.builder.getF32Type())), plan(plan),
        sweep(kb, plan.shape, plan.pixels), epilogue(kb, pool),
        isMax(pool.getKind() == cnn::PoolKind::Max) {}

  void run() {
    int64_t blocks = llvm::divideCeil(shape.oc, lanes);
    sweep.run(blocks, plan.ns, [&](const RowSweep::Place &place) {
      src = kb.imageBase(kb.argOf(pool.getSrc()), place.image);
      epilogue.setImage(place.image);
      plane = kb.add(kb.mul(place.n, blocks), place.block);
      auto [begin, end] = insideKernel(kb, shape.h, place.oh);
      Value rows = isMax ? Value() : countedRows(place.oh, begin, end);
      sweep.overRow([&, begin = begin, end = end](const Segment &segment, Value ow) {
        Values sums = reduce(segment, place, ow, begin, end);
        if (!isMax)
          divide(segment, ow, rows, sums);
        epilogue.finishTile(sums, [&](Value pixel) {
          return epilogue.blockedPosition(place.n, place.block, place.oh, kb.add(ow, pixel));
        });
      });
    });
  }

private:
  Values reduce(const Segment &segment, const RowSweep::Place &place, Value ow, Value begin,
                Value end) {
    double start = isMax ? -std::numeric_limits<double>::infinity() : 0;
    Values sums(segment.size, kb.constant(vectorType, start));
    return kb.loop(begin, end, 1, sums, [&](Value kh, ValueRange carried) {
      Values next(carried);
      sweep.overColumns(segment, [&](int64_t column, ArrayRef<RowSweep::Use> uses) {
        Value element = kb.loadVector(kb.builder.getF32Type(), lanes, src,
                                      sweep.srcOffset(plane, place.oh, kh, ow, column),
                                      /*aligned=*/true);
        for (auto use : uses)
          next[use.pixel] = combine(next[use.pixel], element);
      });
      return next;
    });
  }

  Value combine(Value sum, Value element) {
    if (!isMax)
      return arith::AddFOp::create(kb.builder, kb.loc, sum, element);
    // NaN wins; which zero wins is left open.
    return arith::MaximumFOp::create(kb.builder, kb.loc, sum, element, arith::FastMathFlags::nsz);
  }

  // Rows of the window that count, as a float.
  Value countedRows(Value oh, Value begin, Value end) {
    Value count = kb.sub(end, begin);
    if (pool.getCountIncludePad()) {
      // Elements before the end of the padding: all but those that ceil_mode adds.
      Value origin = kb.add(kb.mul(oh, shape.h.stride), -shape.h.pad);
      Value room = kb.sub(kb.i64(shape.h.in + shape.h.padHigh), origin);
      count = kb.min(kb.div(kb.add(room, shape.h.dilation - 1), shape.h.dilation),
                     kb.i64(shape.h.kernel));
    }
    return arith::SIToFPOp::create(kb.builder, kb.loc, kb.builder.getF32Type(), count);
  }

  void divide(const Segment &segment, Value ow, Value rows, Values &sums) {
    bool includePad = pool.getCountIncludePad();
    for (auto [pixel, sum] : llvm::enumerate(sums)) {
      // The tiles of a segment are alike but for windows that reach into added padding only.
      int64_t first = countedKernel(shape.w, segment.start + pixel, includePad);
      Value columns = kb.constant(kb.builder.getF32Type(), first);
      bool alike = true;
      for (int64_t tile = 1; tile < segment.count; ++tile)
        alike &= countedKernel(shape.w, segment.start + tile * segment.size + pixel, includePad) ==
                 first;
      if (!alike) {
        Value origin = kb.add(kb.mul(kb.add(ow, pixel), shape.w.stride), -shape.w.pad);
        Value room = kb.sub(kb.i64(shape.w.in + shape.w.padHigh), origin);
        Value count = kb.min(kb.div(kb.add(room, shape.w.dilation - 1), shape.w.dilation),
                             kb.i64(shape.w.kernel));
        columns = arith::SIToFPOp::create(kb.builder, kb.loc, kb.builder.getF32Type(), count);
      }
      Value divisor = arith::MulFOp::create(kb.builder, kb.loc, rows, columns);
      sum = arith::DivFOp::create(kb.builder, kb.loc, sum, kb.splat(divisor, lanes));
    }
  }

  KernelBuilder &kb;
  cnn::PoolOp pool;
  const WindowShape &shape;
  int64_t lanes;
  VectorType vectorType;
  const Plan &plan;
  RowSweep sweep;
  Epilogue epilogue;
  bool isMax;
  Value src, plane;
};

struct VectorPool : X86Strategy {
  StringRef name() const override { return "vector-pool"; }

  std::optional<double> cost(Operation *op, cnn::TargetAttr target) const override {
    auto plan = makePlan(op, target);
    if (!plan)
      return std::nullopt;
    return std::max(plan->ns, moveNs(op));
  }

  LogicalResult emit(plan::KernelOp kernel, KernelBuilder &kb) const override {
    auto pool = dyn_cast_or_null<cnn::PoolOp>(onlyOp(kernel));
    auto plan = pool ? makePlan(pool, kb.target) : std::nullopt;
    if (!plan)
      return kernel.emitError() << "is no pool that strategy '" << name() << "' computes";
    Emitter(kb, pool, *plan).run();
    return success();
  }
};

} // namespace

const X86Strategy &convoy::vectorPool() {
  static const VectorPool strategy;
  return strategy;
}
