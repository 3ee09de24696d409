// Checks a memory plan by replaying its launches.
//
// The planner reasons about lifetimes; this does not. It models the arena's bytes and who wrote
// them, so that a mistake in how lifetimes are found cannot hide here too.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Passes.h"

#include "mlir/IR/SymbolTable.h"

#include <map>
#include <set>

namespace convoy {
#define GEN_PASS_DEF_VERIFYPLAN
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;

namespace {

// Bytes [begin, end) of the arena.
struct ByteRange {
  int64_t begin, end;
  bool isEmpty() const { return begin >= end; }
  bool overlaps(const ByteRange &other) const { return begin < other.end && other.begin < end; }
  bool operator==(const ByteRange &other) const { return begin == other.begin && end == other.end; }
};

// Who wrote each byte of the arena last.
class Owners {
public:
  void write(ByteRange range, Operation *owner) {
    if (range.isEmpty())
      return;
    split(range.begin);
    split(range.end);
    owners.erase(owners.lower_bound(range.begin), owners.lower_bound(range.end));
    owners[range.begin] = {range.end, owner};
  }
  // The first byte of the range that `owner` did not write last, and who did; nothing if all are
  // its own.
  std::optional<std::pair<int64_t, Operation *>> findForeign(ByteRange range,
                                                             Operation *owner) const {
    int64_t position = range.begin;
    while (position < range.end) {
      auto next = owners.upper_bound(position);
      if (next == owners.begin())
        return std::pair(position, nullptr);
      const auto &[begin, part] = *std::prev(next);
      if (part.end <= position)
        return std::pair(position, nullptr);
      if (part.owner != owner)
        return std::pair(position, part.owner);
      position = part.end;
    }
    return std::nullopt;
  }

private:
  struct Part {
    int64_t end;
    Operation *owner;
  };
  void split(int64_t position) {
    auto next = owners.upper_bound(position);
    if (next == owners.begin())
      return;
    auto part = std::prev(next);
    if (part->first >= position || part->second.end <= position)
      return;
    owners[position] = part->second;
    part->second.end = position;
  }
  std::map<int64_t, Part> owners; // by first byte
};

class Checker {
public:
  explicit Checker(plan::ProgramOp program) : program(program) {}
  LogicalResult run();

private:
  LogicalResult checkAlloc(plan::AllocOp alloc);
  LogicalResult checkView(plan::ViewOp view);
  LogicalResult checkWave(ArrayRef<plan::LaunchOp> wave);
  LogicalResult checkLaunch(plan::LaunchOp launch);
  LogicalResult checkNeighbours(plan::LaunchOp launch, plan::LaunchOp other);
  void replay(plan::LaunchOp launch);
  LogicalResult checkFits(plan::LaunchOp launch, Value buffer, Type type);
  LogicalResult checkRead(plan::LaunchOp launch, Value buffer);
  LogicalResult checkOverlaps(plan::LaunchOp launch, plan::KernelOp kernel);

  // The allocation that a buffer belongs to (null if it is no part of the arena) and its bytes.
  plan::AllocOp allocOf(Value buffer) const;
  ByteRange rangeOf(Value buffer) const;

  plan::ProgramOp program;
  Owners owners;
  std::set<Operation *> writtenOutputs;
  SymbolTableCollection symbols;
};

struct VerifyPlan : public convoy::impl::VerifyPlanBase<VerifyPlan> {
  void runOnOperation() override {
    auto programs = llvm::to_vector(getOperation().getOps<plan::ProgramOp>());
    if (programs.empty()) {
      getOperation().emitError() << "has no plan.program";
      return signalPassFailure();
    }
    for (plan::ProgramOp program : programs)
      if (failed(Checker(program).run()))
        signalPassFailure();
  }
};

} // namespace

plan::AllocOp Checker::allocOf(Value buffer) const {
  while (auto view = buffer.getDefiningOp<plan::ViewOp>())
    buffer = view.getSource();
  return buffer.getDefiningOp<plan::AllocOp>();
}

ByteRange Checker::rangeOf(Value buffer) const {
  if (auto view = buffer.getDefiningOp<plan::ViewOp>()) {
    int64_t begin = rangeOf(view.getSource()).begin + static_cast<int64_t>(view.getOffset());
    return {begin, begin + static_cast<int64_t>(view.getBytes())};
  }
  auto alloc = buffer.getDefiningOp<plan::AllocOp>();
  int64_t begin = *alloc.getOffset();
  return {begin, begin + static_cast<int64_t>(alloc.getBytes())};
}

LogicalResult Checker::checkAlloc(plan::AllocOp alloc) {
  if (!alloc.getOffset())
    return alloc.emitOpError() << "has no offset";
  int64_t offset = *alloc.getOffset(), bytes = alloc.getBytes();
  if (offset < 0 || offset % plan::kBufferAlignment != 0)
    return alloc.emitOpError() << "offset " << offset << " is no multiple of "
                               << plan::kBufferAlignment;
  int64_t arena = *program.getArenaBytes();
  if (offset > arena || bytes > arena - offset)
    return alloc.emitOpError() << "bytes " << offset << " to " << offset + bytes
                               << " leave the arena of " << arena;
  return success();
}

LogicalResult Checker::checkView(plan::ViewOp view) {
  if (!allocOf(view.getBuffer()))
    return view.emitOpError() << "is no part of the arena";
  ByteRange source = rangeOf(view.getSource());
  int64_t size = source.end - source.begin, offset = view.getOffset(), bytes = view.getBytes();
  if (offset > size || bytes > size - offset)
    return view.emitOpError() << "bytes " << offset << " to " << offset + bytes
                              << " leave the buffer of " << size;
  if (offset % plan::kBufferAlignment != 0)
    return view.emitOpError() << "offset " << offset << " is no multiple of "
                              << plan::kBufferAlignment;
  return success();
}

// The tensor of a kernel's argument has room in the buffer.
LogicalResult Checker::checkFits(plan::LaunchOp launch, Value buffer, Type type) {
  int64_t needed = cnn::getBytes(cast<RankedTensorType>(type)), size = 0;
  Operation *op = buffer.getDefiningOp();
  if (auto input = dyn_cast<plan::InputOp>(op)) {
    size = cnn::getBytes(cast<RankedTensorType>(input.getType()));
  } else if (auto output = dyn_cast<plan::OutputOp>(op)) {
    size = cnn::getBytes(cast<RankedTensorType>(output.getType()));
  } else if (auto constant = dyn_cast<plan::ConstantOp>(op)) {
    ElementsAttr value = constant.getValue();
    size = value.getNumElements() * cnn::getElementBytes(value.getElementType());
  } else {
    ByteRange range = rangeOf(buffer);
    size = range.end - range.begin;
  }
  if (needed > size)
    return launch.emitOpError() << "needs " << needed << " bytes for " << type
                                << ", the buffer has " << size;
  return success();
}

LogicalResult Checker::checkRead(plan::LaunchOp launch, Value buffer) {
  Operation *op = buffer.getDefiningOp();
  if (isa<plan::OutputOp>(op))
    return launch.emitOpError() << "reads an output";
  plan::AllocOp alloc = allocOf(buffer);
  if (!alloc)
    return success();
  ByteRange range = rangeOf(buffer);
  auto foreign = owners.findForeign(range, alloc);
  if (!foreign)
    return success();
  if (!foreign->second)
    return launch.emitOpError() << "reads byte " << foreign->first
                                << " of the arena, which nothing has written";
  InFlightDiagnostic error = launch.emitOpError()
                             << "reads byte " << foreign->first
                             << " of the arena, which another buffer has overwritten";
  error.attachNote(foreign->second->getLoc()) << "by this buffer";
  error.attachNote(alloc.getLoc()) << "while this one is alive";
  return error;
}

// What a launch writes must not lie in what it reads, nor in what else it writes: tiles run in any
// order. The exception is a map that reads an element and then writes it, in one place.
LogicalResult Checker::checkOverlaps(plan::LaunchOp launch, plan::KernelOp kernel) {
  Block &body = kernel.getBody().front();
  bool isMap = isa<cnn::MapOp>(body.front()) && body.getOperations().size() == 2;
  Operation *yield = body.getTerminator();
  for (auto [i, write] : llvm::enumerate(launch.getWrites())) {
    if (!allocOf(write))
      continue;
    ByteRange written = rangeOf(write);
    for (Value other : launch.getWrites().drop_front(i + 1))
      if (allocOf(other) && written.overlaps(rangeOf(other)))
        return launch.emitOpError() << "writes two results to one place";
    for (auto [read, argument] : llvm::zip_equal(launch.getReads(), body.getArguments())) {
      if (!allocOf(read) || !written.overlaps(rangeOf(read)))
        continue;
      auto from = cast<RankedTensorType>(argument.getType());
      auto to = cast<RankedTensorType>(yield->getOperand(i).getType());
      bool sameElements =
          from.getShape() == to.getShape() && from.getEncoding() == to.getEncoding() &&
          cnn::getElementBytes(from.getElementType()) == cnn::getElementBytes(to.getElementType());
      if (!isMap || !sameElements || !(written == rangeOf(read)))
        return launch.emitOpError() << "writes bytes " << written.begin << " to " << written.end
                                    << " of the arena over what it reads";
    }
  }
  return success();
}

LogicalResult Checker::checkLaunch(plan::LaunchOp launch) {
  auto kernel = symbols.lookupNearestSymbolFrom<plan::KernelOp>(launch, launch.getKernelAttr());
  Block &body = kernel.getBody().front();
  for (auto [buffer, type] : llvm::zip_equal(launch.getReads(), body.getArgumentTypes()))
    if (failed(checkFits(launch, buffer, type)) || failed(checkRead(launch, buffer)))
      return failure();
  for (auto [buffer, type] :
       llvm::zip_equal(launch.getWrites(), body.getTerminator()->getOperandTypes())) {
    if (isa<plan::InputOp, plan::ConstantOp>(buffer.getDefiningOp()))
      return launch.emitOpError() << "writes an input or a constant";
    if (failed(checkFits(launch, buffer, type)))
      return failure();
  }
  return checkOverlaps(launch, kernel);
}

// Launches of one wave run at the same time: what one writes the other must not touch.
LogicalResult Checker::checkNeighbours(plan::LaunchOp launch, plan::LaunchOp other) {
  for (auto [writer, user] : {std::pair(launch, other), std::pair(other, launch)})
    for (Value written : writer.getWrites())
      for (Value used : user->getOperands()) {
        bool inArena = allocOf(written) && allocOf(used);
        bool meet = inArena ? rangeOf(written).overlaps(rangeOf(used))
                            : written.getDefiningOp() == used.getDefiningOp();
        if (!meet)
          continue;
        InFlightDiagnostic error = launch.emitOpError()
                                   << "joins a wave with a launch that uses the same memory";
        error.attachNote(other.getLoc()) << "this launch";
        return error;
      }
  return success();
}

void Checker::replay(plan::LaunchOp launch) {
  for (Value buffer : launch.getWrites()) {
    if (plan::AllocOp alloc = allocOf(buffer))
      owners.write(rangeOf(buffer), alloc);
    else
      writtenOutputs.insert(buffer.getDefiningOp());
  }
}

// All launches of a wave read what is there before any of them has written.
LogicalResult Checker::checkWave(ArrayRef<plan::LaunchOp> wave) {
  for (auto [i, launch] : llvm::enumerate(wave)) {
    if (failed(checkLaunch(launch)))
      return failure();
    for (plan::LaunchOp other : wave.take_front(i))
      if (failed(checkNeighbours(launch, other)))
        return failure();
  }
  for (plan::LaunchOp launch : wave)
    replay(launch);
  return success();
}

LogicalResult Checker::run() {
  if (!program.getArenaBytes())
    return program.emitOpError() << "has no arena_bytes";
  SmallVector<plan::LaunchOp> wave;
  for (Operation &op : program.getBody().front()) {
    LogicalResult result = success();
    if (auto alloc = dyn_cast<plan::AllocOp>(op))
      result = checkAlloc(alloc);
    else if (auto view = dyn_cast<plan::ViewOp>(op))
      result = checkView(view);
    else if (auto launch = dyn_cast<plan::LaunchOp>(op)) {
      if (launch.getJoins() && wave.empty())
        return launch.emitOpError() << "joins a wave, but is the first launch";
      if (!launch.getJoins()) {
        result = checkWave(wave);
        wave.clear();
      }
      wave.push_back(launch);
    }
    if (failed(result))
      return failure();
  }
  if (failed(checkWave(wave)))
    return failure();
  for (auto output : program.getOps<plan::OutputOp>())
    if (!writtenOutputs.count(output))
      return output.emitOpError() << "is never written";
  return success();
}
