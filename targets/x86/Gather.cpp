// Gathering runs of elements by indices along an axis.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/x86/Strategies.h"
#include "targets/x86/Vectors.h"
#include "targets/x86/Window.h"

using namespace mlir;
using namespace convoy;

using Values = KernelBuilder::Values;

namespace {

/// src [outer][extent][inner], indices [count], dst [outer][count][inner]
struct Plan {
  int64_t outer = 1, extent = 1, inner = 1, count = 1;
};

std::optional<Plan> makePlan(Operation *op) {
  auto gather = dyn_cast<cnn::GatherOp>(op);
  if (!gather || !isRowMajor(gather.getSrc().getType()) ||
      !isRowMajor(gather.getIndices().getType()) || !isRowMajor(gather.getDst().getType()) ||
      cnn::hasFreeBatch(gather.getIndices().getType()))
    return std::nullopt;
  auto src = cnn::perImage(gather.getSrc().getType());
  Plan plan;
  for (int64_t dim = 0; dim < src.getRank(); ++dim) {
    int64_t axis = gather.getAxis();
    (dim < axis ? plan.outer : dim == axis ? plan.extent : plan.inner) *= src.getDimSize(dim);
  }
  plan.count = gather.getIndices().getType().getNumElements();
  if (src.getNumElements() == 0 || plan.count == 0)
    return std::nullopt;
  return plan;
}

struct VectorGather : X86Strategy {
  StringRef name() const override { return "run-gather"; }

  std::optional<double> cost(Operation *op, cnn::TargetAttr target) const override {
    auto plan = makePlan(op);
    if (!plan)
      return std::nullopt;
    double runs = double(plan->outer) * plan->count;
    return runs * (5 + 2.0 * plan->inner / target.getLanes()) / kCyclesPerNs;
  }

  LogicalResult emit(plan::KernelOp kernel, KernelBuilder &kb) const override {
    auto op = dyn_cast_or_null<cnn::GatherOp>(onlyOp(kernel));
    auto plan = op ? makePlan(op) : std::nullopt;
    if (!plan)
      return kernel.emitError() << "is no op that strategy '" << name() << "' computes";

    int64_t lanes = kb.lanes();
    int64_t bytes = cnn::getElementBytes(op.getSrc().getType().getElementType());
    Type element = kb.builder.getIntegerType(bytes * 8);
    Type indexType = op.getIndices().getType().getElementType(), i64 = kb.builder.getI64Type();
    constexpr int64_t pieceElements = 1 << 14;
    int64_t runs = plan->outer * plan->count;
    int64_t perPiece = std::clamp<int64_t>(pieceElements / plan->inner, 1, runs);
    kb.forTiles(llvm::divideCeil(runs, perPiece), [&](Value image, Value number) {
      Value src = kb.imageBase(kb.argOf(op.getSrc()), image);
      Value indices = kb.imageBase(kb.argOf(op.getIndices()), image);
      Value dst = kb.imageBase(kb.argOf(op.getDst()), image);
      forPiece(kb, number, perPiece, runs, [&](Value run) {
        Value index = kb.load(indexType, indices, kb.rem(run, plan->count));
        if (index.getType() != i64)
          index = arith::ExtSIOp::create(kb.builder, kb.loc, i64, index);
        // Clamped before the extent is added: an index may be any number.
        Value extent = kb.i64(plan->extent);
        index = kb.max(kb.min(index, kb.i64(plan->extent - 1)), kb.i64(-plan->extent));
        Value negative =
            arith::CmpIOp::create(kb.builder, kb.loc, arith::CmpIPredicate::slt, index, kb.i64(0));
        index = arith::SelectOp::create(kb.builder, kb.loc, negative, kb.add(index, extent), index);
        Value from = kb.add(kb.mul(kb.div(run, plan->count), plan->extent), index);
        from = kb.mul(from, plan->inner);
        Value to = kb.mul(run, plan->inner);
        if (plan->inner == 1) {
          kb.store(element, kb.load(element, src, from), dst, to);
          return;
        }
        forVectors(kb, plan->inner, 4, [&](Value at, int64_t elements) {
          for (int64_t done = 0; done < elements; done += lanes) {
            Value mask = tailMask(kb, elements - done), offset = kb.add(at, done);
            Value vector = kb.loadVector(element, lanes, src, kb.add(from, offset), false, mask);
            kb.storeVector(element, vector, dst, kb.add(to, offset), false, mask);
          }
        });
      });
    });
    return success();
  }
};

} // namespace

const X86Strategy &convoy::runGather() {
  static const VectorGather strategy;
  return strategy;
}
