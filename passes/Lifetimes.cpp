// Which allocations of a plan are alive together.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Lifetimes.h"

#include "passes/Graph.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace convoy;

plan::AllocOp convoy::getAlloc(Value buffer) {
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
  lastUsers.assign(parts.size(), 0);
  int64_t wave = -1;
  for (auto launch : program.getOps<plan::LaunchOp>()) {
    wave += !launch.getJoins() || wave < 0;
    launches.push_back({launch, wave});
    llvm::SmallSet<unsigned, 8> used;
    for (Value buffer : launch->getOperands())
      if (plan::AllocOp alloc = getAlloc(buffer))
        used.insert(blockOf[alloc]);
    for (unsigned block : used) {
      packing::Block &part = parts[block];
      part.first = std::min(part.first, wave);
      lastUsers[block] = part.last == wave ? lastUsers[block] + 1 : 1;
      part.last = wave;
    }
  }
  for (packing::Block &part : parts)
    if (part.last < 0)
      part = {0, 0, 0}; // no launch uses it
}

bool Lifetimes::diesAt(unsigned block, int64_t wave) const {
  return parts[block].last == wave && lastUsers[block] == 1;
}

int64_t Lifetimes::shareInPlace() {
  int64_t shared = 0;
  SymbolTableCollection symbols;
  for (auto [launch, wave] : launches) {
    auto kernel = symbols.lookupNearestSymbolFrom<plan::KernelOp>(launch, launch.getKernelAttr());
    Block &body = kernel.getBody().front();
    auto map = dyn_cast<cnn::MapOp>(body.front());
    auto result = launch.getWrites().front().getDefiningOp<plan::AllocOp>();
    if (!map || !result || parts[blockOf[result]].first != wave)
      continue;
    auto resultType = tensorType(map.getDst());
    for (auto [i, argument] : llvm::enumerate(body.getArguments())) {
      Value read = launch.getReads()[i];
      auto source = read.getDefiningOp<plan::AllocOp>();
      auto type = tensorType(argument);
      if (!source || !diesAt(blockOf[source], wave) || source.getBytes() != result.getBytes() ||
          type.getShape() != resultType.getShape() ||
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
      lastUsers[to] = lastUsers[from];
      parts[from] = {0, 0, 0};
      blockOf[result] = to;
      ++shared;
      break;
    }
  }
  return shared;
}
