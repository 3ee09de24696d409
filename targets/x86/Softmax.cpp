// Softmax along any axis of a row-major tensor.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/x86/Strategies.h"
#include "targets/x86/Vectors.h"
#include "targets/x86/Window.h"

using namespace mlir;
using namespace convoy;

using Values = KernelBuilder::Values;

namespace {

/// The tensor as [outer][along][inner].
struct Plan {
  int64_t outer = 1, along = 1, inner = 1;
};

std::optional<Plan> makePlan(Operation *op) {
  auto softmax = dyn_cast<cnn::SoftmaxOp>(op);
  if (!softmax || !isF32(softmax.getSrc().getType()) || !isRowMajor(softmax.getSrc().getType()) ||
      !isRowMajor(softmax.getDst().getType()))
    return std::nullopt;
  auto type = cnn::perImage(softmax.getSrc().getType());
  if (type.getNumElements() == 0)
    return std::nullopt;
  Plan plan;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    int64_t axis = softmax.getAxis();
    (dim < axis ? plan.outer : dim == axis ? plan.along : plan.inner) *= type.getDimSize(dim);
  }
  return plan;
}

class Emitter {
public:
  Emitter(KernelBuilder &kb, cnn::SoftmaxOp op, const Plan &plan)
      : kb(kb), op(op), plan(plan), lanes(kb.lanes()), f32(kb.builder.getF32Type()),
        type(VectorType::get(lanes, f32)) {}

  void run() {
    constexpr int64_t pieceElements = 1 << 13;
    int64_t columns = plan.inner > 1 ? llvm::divideCeil(plan.inner, lanes) : 1;
    int64_t items = plan.outer * columns;
    int64_t perItem = plan.along * (plan.inner > 1 ? lanes : 1);
    int64_t perPiece = std::clamp<int64_t>(pieceElements / perItem, 1, items);
    kb.forTiles(llvm::divideCeil(items, perPiece), [&](Value image, Value number) {
      src = kb.imageBase(kb.argOf(op.getSrc()), image);
      dst = kb.imageBase(kb.argOf(op.getDst()), image);
      forPiece(kb, number, perPiece, items, [&](Value item) {
        start = kb.mul(kb.div(item, columns), plan.along * plan.inner);
        if (plan.inner == 1)
          row();
        else
          column(kb.mul(kb.rem(item, columns), lanes));
      });
    });
  }

private:
  Value maximum(Value a, Value b) { return combineFloats(kb, cnn::ReduceKind::Max, a, b); }
  Value plus(Value a, Value b) { return arith::AddFOp::create(kb.builder, kb.loc, a, b); }
  Value minus(Value a, Value b) { return arith::SubFOp::create(kb.builder, kb.loc, a, b); }
  Value exp(Value a) { return math::ExpOp::create(kb.builder, kb.loc, a); }
  Value least() { return kb.constant(type, -std::numeric_limits<double>::infinity()); }
  Value zero() { return kb.constant(type, 0); }
  Value select(Value mask, Value a, Value b) {
    return mask ? Value(arith::SelectOp::create(kb.builder, kb.loc, mask, a, b)) : a;
  }
  Value load(Value pointer, Value offset, Value mask) {
    return kb.loadVector(f32, lanes, pointer, offset, false, mask);
  }

  // The element of a finished max and sum, from x - max or from exp(x - max).
  Value result(Value shifted, Value exponential, Value sum) {
    if (op.getLog())
      return minus(shifted, sum);
    return arith::DivFOp::create(kb.builder, kb.loc, exponential, sum);
  }
  Value finishSum(Value sum) {
    return op.getLog() ? Value(math::LogOp::create(kb.builder, kb.loc, sum)) : sum;
  }

  void row() {
    Value largest =
        forVectors(kb, plan.along, 1, least(), [&](Value at, int64_t count, ValueRange carried) {
          Value mask = tailMask(kb, count);
          Value x = select(mask, load(src, kb.add(start, at), mask), least());
          return Values{maximum(carried[0], x)};
        })[0];
    largest = combineLanes(kb, largest, [&](Value a, Value b) { return maximum(a, b); });
    // The exponentials are kept in the result; a logarithm needs but x - max.
    Value sum =
        forVectors(kb, plan.along, 1, zero(), [&](Value at, int64_t count, ValueRange carried) {
          Value mask = tailMask(kb, count), offset = kb.add(start, at);
          Value shifted = minus(load(src, offset, mask), largest);
          Value exponential = exp(shifted);
          kb.storeVector(f32, op.getLog() ? shifted : exponential, dst, offset, false, mask);
          return Values{plus(carried[0], select(mask, exponential, zero()))};
        })[0];
    sum = finishSum(combineLanes(kb, sum, [&](Value a, Value b) { return plus(a, b); }));
    forVectors(kb, plan.along, 1, [&](Value at, int64_t count) {
      Value mask = tailMask(kb, count), offset = kb.add(start, at);
      Value kept = load(dst, offset, mask);
      kb.storeVector(f32, result(kept, kept, sum), dst, offset, false, mask);
    });
  }

  void column(Value first) {
    Value mask;
    if (plan.inner % lanes)
      mask = kb.firstLanes(kb.sub(kb.i64(plan.inner), first), lanes);
    Value begin = kb.i64(0), end = kb.i64(plan.along);
    auto offsetOf = [&](Value i) { return kb.add(kb.add(start, kb.mul(i, plan.inner)), first); };
    Value largest = kb.loop(begin, end, 1, least(), [&](Value i, ValueRange carried) {
      return Values{maximum(carried[0], load(src, offsetOf(i), mask))};
    })[0];
    Value sum = kb.loop(begin, end, 1, zero(), [&](Value i, ValueRange carried) {
      Value shifted = minus(load(src, offsetOf(i), mask), largest);
      Value exponential = exp(shifted);
      kb.storeVector(f32, op.getLog() ? shifted : exponential, dst, offsetOf(i), false, mask);
      return Values{plus(carried[0], exponential)};
    })[0];
    sum = finishSum(sum);
    kb.loop(begin, end, 1, [&](Value i) {
      Value kept = load(dst, offsetOf(i), mask);
      kb.storeVector(f32, result(kept, kept, sum), dst, offsetOf(i), false, mask);
    });
  }

  KernelBuilder &kb;
  cnn::SoftmaxOp op;
  const Plan &plan;
  int64_t lanes;
  Type f32;
  VectorType type;
  Value src, dst, start;
};

struct VectorSoftmax : X86Strategy {
  StringRef name() const override { return "vector-softmax"; }

  std::optional<double> cost(Operation *op, cnn::TargetAttr target) const override {
    auto plan = makePlan(op);
    if (!plan)
      return std::nullopt;
    double elements = double(plan->outer) * plan->along * plan->inner;
    return std::max(elements * 0.03 * 16 / target.getLanes(), 2 * moveNs(op));
  }

  LogicalResult emit(plan::KernelOp kernel, KernelBuilder &kb) const override {
    auto softmax = dyn_cast_or_null<cnn::SoftmaxOp>(onlyOp(kernel));
    auto plan = softmax ? makePlan(softmax) : std::nullopt;
    if (!plan)
      return kernel.emitError() << "is no softmax that strategy '" << name() << "' computes";
    Emitter(kb, softmax, *plan).run();
    return success();
  }
};

} // namespace

const X86Strategy &convoy::vectorSoftmax() {
  static const VectorSoftmax strategy;
  return strategy;
}
