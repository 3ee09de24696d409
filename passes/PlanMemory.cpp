// Gives every allocation its place in the arena.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Passes.h"

#include "passes/Graph.h"
#include "passes/Packing.h"
#include "passes/Remarks.h"

#include "llvm/ADT/MapVector.h"

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

// The allocations of a program and the launches that use them.
class Lifetimes {
public:
  explicit Lifetimes(plan::ProgramOp program);

  // Lets the results of maps have the place of an input that dies there.
  int64_t shareInPlace();

  // Allocations that have one place, as one block.
  SmallVector<packing::Block> blocks() const;
  // The block of an allocation.
  llvm::MapVector<plan::AllocOp, unsigned> blockOf;

private:
  SmallVector<plan::LaunchOp> launches;
  SmallVector<packing::Block> parts;
};

} // namespace

// The allocation that a buffer is or is a part of; null for inputs, outputs and constants.
static plan::AllocOp getAlloc(Value buffer) {
  while (auto view = buffer.getDefiningOp<plan::ViewOp>())
    buffer = view.getSource();
  return buffer.getDefiningOp<plan::AllocOp>();
}

Lifetimes::Lifetimes(plan::ProgramOp program) {
  for (auto alloc : program.getOps<plan::AllocOp>()) {
    blockOf[alloc] = parts.size();
    int64_t bytes = llvm::alignTo(alloc.getBytes(), plan::kBufferAlignment);
    parts.push_back({bytes, /*first=*/INT64_MAX, /*last=*/-1});
  }
  for (auto launch : program.getOps<plan::LaunchOp>()) {
    int64_t index = launches.size();
    launches.push_back(launch);
    for (Value buffer : launch->getOperands())
      if (plan::AllocOp alloc = getAlloc(buffer)) {
        packing::Block &part = parts[blockOf[alloc]];
        part.first = std::min(part.first, index);
        part.last = std::max(part.last, index);
      }
  }
}

int64_t Lifetimes::shareInPlace() {
  int64_t shared = 0;
  SymbolTableCollection symbols;
  for (auto [index, launch] : llvm::enumerate(launches)) {
    auto kernel = symbols.lookupNearestSymbolFrom<plan::KernelOp>(launch, launch.getKernelAttr());
    Block &body = kernel.getBody().front();
    auto map = dyn_cast<cnn::MapOp>(body.front());
    auto result = launch.getWrites().front().getDefiningOp<plan::AllocOp>();
    if (!map || !result || parts[blockOf[result]].first != int64_t(index))
      continue;
    auto resultType = tensorType(map.getDst());
    for (auto [i, argument] : llvm::enumerate(body.getArguments())) {
      Value read = launch.getReads()[i];
      auto source = read.getDefiningOp<plan::AllocOp>();
      auto type = tensorType(argument);
      if (!source || parts[blockOf[source]].last != int64_t(index) ||
          source.getBytes() != result.getBytes() || type.getShape() != resultType.getShape() ||
          type.getEncoding() != resultType.getEncoding() ||
          cnn::getElementBytes(type.getElementType()) !=
              cnn::getElementBytes(resultType.getElementType()))
        continue;
      // Another part of the same memory, or the same with other extents, would be read at other places
      // than it is written.
      auto isElsewhere = [&, type = type](auto pair) {
        auto [other, otherArgument] = pair;
        auto otherType = tensorType(otherArgument);
        return getAlloc(other) == source &&
               (other != read || otherType.getShape() != type.getShape() ||
                otherType.getEncoding() != type.getEncoding());
      };
      if (llvm::any_of(llvm::zip_equal(launch.getReads(), body.getArguments()), isElsewhere))
        continue;
      unsigned from = blockOf[result], to = blockOf[source];
      parts[to].last = parts[from].last;
      parts[from] = {0, 0, 0};
      blockOf[result] = to;
      ++shared;
      break;
    }
  }
  return shared;
}

SmallVector<packing::Block> Lifetimes::blocks() const { return parts; }

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
    SmallVector<packing::Block> blocks = lifetimes.blocks();
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
