// Gives every allocation its place in the arena.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Passes.h"

#include "passes/Lifetimes.h"
#include "passes/Remarks.h"

namespace convoy {
#define GEN_PASS_DEF_PLANMEMORY
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;

namespace {

struct PlanMemory : public convoy::impl::PlanMemoryBase<PlanMemory> {
  using PlanMemoryBase::PlanMemoryBase;
  void runOnOperation() override;
};

} // namespace

static void eraseUnusedBuffers(plan::ProgramOp program) {
  // From the end: a view goes before what it views.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(program.getBody().front())))
    if (isa<plan::AllocOp, plan::ViewOp>(op) && op.use_empty())
      op.erase();
}

void PlanMemory::runOnOperation() {
  for (auto program : getOperation().getOps<plan::ProgramOp>()) {
    eraseUnusedBuffers(program);
    Lifetimes lifetimes(program);
    int64_t shared = inPlace ? lifetimes.shareInPlace() : 0;
    ArrayRef<packing::Block> blocks = lifetimes.blocks();
    int64_t lowerBound = packing::lowerBound(blocks);
    packing::Packing packed = packing::pack(blocks);
    Builder builder(&getContext());
    for (auto [alloc, block] : lifetimes.blockOf)
      alloc.setOffsetAttr(builder.getI64IntegerAttr(packed.offsets[block]));
    program.setArenaBytes(packed.bytes);
    program.setLowerBoundBytes(lowerBound);
    remarkPassed(program.getLoc(), "PlanMemory", "memory",
                 llvm::formatv("arena of {0} bytes, lower bound {1}, {2} buffers, {3} in place",
                               packed.bytes, lowerBound, lifetimes.blockOf.size(), shared));
  }
}
