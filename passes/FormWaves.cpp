// Lets independent launches run side by side.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Passes.h"

#include "passes/Lifetimes.h"
#include "passes/Remarks.h"

namespace convoy {
#define GEN_PASS_DEF_FORMWAVES
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;

namespace {

// More launches are never needed to keep threads busy; runtimes check the arguments of each pair.
constexpr size_t kMostLaunches = 16;
constexpr size_t kMostArguments = 256;

// Bytes [begin, end) of an allocation, or all of an output.
struct Place {
  Operation *owner;
  int64_t begin, end;
  bool overlaps(const Place &other) const {
    return owner == other.owner && begin < other.end && other.begin < end;
  }
};

// A launch and what it touches of the memory that launches write.
struct Launch {
  explicit Launch(plan::LaunchOp op);
  bool isIndependentOf(const Launch &other) const;

  plan::LaunchOp op;
  SmallVector<Place> reads, writes;
  int64_t ns;
};

// Launches [begin, end) of a program.
struct Wave {
  size_t begin, end;
  size_t size() const { return end - begin; }
};

class WaveFormer {
public:
  WaveFormer(plan::ProgramOp program, int64_t maxUs);
  void run();
  int64_t numJoined = 0;

private:
  bool mayJoin(const Wave &wave, Launch &launch);
  // The largest sum of buffers alive in a wave, and the waves that have more than `limit`.
  int64_t findFull(int64_t limit, SmallVectorImpl<size_t> &full);
  void write();

  plan::ProgramOp program;
  int64_t maxNs;
  SmallVector<Launch> launches;
  SmallVector<Wave> waves;
};

struct FormWaves : public convoy::impl::FormWavesBase<FormWaves> {
  using FormWavesBase::FormWavesBase;
  void runOnOperation() override {
    for (auto program : getOperation().getOps<plan::ProgramOp>()) {
      WaveFormer former(program, maxUs);
      former.run();
      numJoined += former.numJoined;
    }
  }
};

} // namespace

static std::optional<Place> placeOf(Value buffer) {
  if (auto view = buffer.getDefiningOp<plan::ViewOp>()) {
    std::optional<Place> source = placeOf(view.getSource());
    if (!source)
      return source;
    int64_t begin = source->begin + static_cast<int64_t>(view.getOffset());
    return Place{source->owner, begin, begin + static_cast<int64_t>(view.getBytes())};
  }
  if (auto alloc = buffer.getDefiningOp<plan::AllocOp>())
    return Place{alloc, 0, static_cast<int64_t>(alloc.getBytes())};
  if (auto output = buffer.getDefiningOp<plan::OutputOp>())
    return Place{output, 0, INT64_MAX};
  return std::nullopt; // nothing writes it
}

Launch::Launch(plan::LaunchOp op) : op(op) {
  auto add = [](ValueRange buffers, SmallVectorImpl<Place> &places) {
    for (Value buffer : buffers)
      if (std::optional<Place> place = placeOf(buffer))
        places.push_back(*place);
  };
  add(op.getReads(), reads);
  add(op.getWrites(), writes);
  ns = std::max<int64_t>(op.getFlops() / 100, op.getBytes() / 16);
}

bool Launch::isIndependentOf(const Launch &other) const {
  auto meet = [](ArrayRef<Place> some, ArrayRef<Place> others) {
    return llvm::any_of(some, [&](const Place &place) {
      return llvm::any_of(others, [&](const Place &theirs) { return place.overlaps(theirs); });
    });
  };
  return !meet(writes, other.writes) && !meet(writes, other.reads) && !meet(reads, other.writes);
}

WaveFormer::WaveFormer(plan::ProgramOp program, int64_t maxUs)
    : program(program), maxNs(maxUs * 1000) {
  for (auto launch : program.getOps<plan::LaunchOp>())
    launches.push_back(Launch(launch));
}

bool WaveFormer::mayJoin(const Wave &wave, Launch &launch) {
  size_t arguments = launch.op->getNumOperands();
  int64_t ns = 0;
  for (size_t i = wave.begin; i < wave.end; ++i) {
    if (!launch.isIndependentOf(launches[i]))
      return false;
    arguments += launches[i].op->getNumOperands();
    ns += launches[i].ns;
  }
  if (wave.size() >= kMostLaunches || arguments > kMostArguments)
    return false;
  if (std::min(ns, launch.ns) > maxNs) {
    remarkMissed(launch.op.getLoc(), "FormWaves", "waves",
                 "is independent of the launch before, but both are long");
    return false;
  }
  return true;
}

void WaveFormer::write() {
  for (Wave wave : waves)
    for (size_t i = wave.begin; i < wave.end; ++i)
      launches[i].op.setJoins(i != wave.begin);
}

int64_t WaveFormer::findFull(int64_t limit, SmallVectorImpl<size_t> &full) {
  write();
  Lifetimes lifetimes(program);
  lifetimes.shareInPlace();
  SmallVector<int64_t> live(waves.size() + 1, 0);
  for (const packing::Block &block : lifetimes.blocks()) {
    live[block.first] += block.bytes;
    live[block.last + 1] -= block.bytes;
  }
  int64_t sum = 0, most = 0;
  for (size_t i = 0; i < waves.size(); ++i) {
    sum += live[i];
    most = std::max(most, sum);
    if (sum > limit)
      full.push_back(i);
  }
  return most;
}

void WaveFormer::run() {
  for (size_t i = 0; i < launches.size(); ++i)
    waves.push_back({i, i + 1});
  SmallVector<size_t> full;
  int64_t limit = findFull(INT64_MAX, full);

  waves.clear();
  for (size_t i = 0; i < launches.size(); ++i) {
    if (!waves.empty() && mayJoin(waves.back(), launches[i]))
      ++waves.back().end;
    else
      waves.push_back({i, i + 1});
  }

  // A wave may be too full only because of what another one keeps a map from doing in place; then
  // no wave remains in the end.
  int64_t parted = 0;
  for (findFull(limit, full); !full.empty(); full.clear(), findFull(limit, full)) {
    bool none = llvm::all_of(full, [&](size_t i) { return waves[i].size() == 1; });
    SmallVector<Wave> halves;
    for (auto [i, wave] : llvm::enumerate(waves)) {
      bool isFull = none || llvm::is_contained(full, i);
      size_t middle = wave.begin + wave.size() / 2;
      if (isFull && wave.size() > 1) {
        remarkMissed(launches[middle].op.getLoc(), "FormWaves", "waves",
                     "would need more memory beside the launch before");
        halves.push_back({wave.begin, middle});
        halves.push_back({middle, wave.end});
        ++parted;
      } else {
        halves.push_back(wave);
      }
    }
    waves = std::move(halves);
  }
  numJoined = launches.size() - waves.size();
  remarkPassed(program.getLoc(), "FormWaves", "waves",
               llvm::formatv("{0} launches in {1} waves, {2} parted for memory", launches.size(),
                             waves.size(), parted));
}
