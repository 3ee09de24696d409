// Runs kernels on x86 CPUs: maps code and deals tiles to threads.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cpu.h"
#include "device.h"
#include "float_state.h"
#include "pace.h"
#include "share.h"
#include "thread_pool.h"

#include <time.h>

using namespace convoy::rt;
namespace schema = convoy::schema;

namespace {

struct X86Program : Program {
  CodePages code;
};

/// One call of Device::run.
struct Run {
  const Step *steps = nullptr;
  size_t count = 0;
  int64_t batch = 0;
  uint64_t *times = nullptr;
};

/// Steps that run side by side, and all their tiles: those of the first step come first.
struct Wave {
  size_t begin = 0, end = 0;
  int64_t tiles = 0;

  Wave(const Run &run, size_t step) : begin(step), end(step) {
    do
      tiles += run.steps[end++].tiles;
    while (end < run.count && run.steps[end].joins);
  }
};

/// How long a thread has computed without offering its CPU to others, and where.
struct alignas(CONVOY_ALIGNMENT) Turn {
  uint64_t begin = 0, end = 0; // end: of its part in the last run
  std::atomic<int> cpu{-1};
};

struct X86Queue : Queue {
  convoy_allocator allocator;
  uint32_t threads;
  convoy_parallel_for parallelFor;
  void *parallelForUser;
  Block scratch;
  size_t scratchStride;

  // The run. It is written before its first shares and read by who has taken tiles alone.
  Run run;
  uint64_t begin; // of the current wave, if times are taken

  // Of each thread. It takes the first tiles of its own and then the last ones of others': as tiles
  // that are near each other mostly read and write what is, it finds in its caches what it has
  // computed in the wave before.
  Array<SharedShare> shares;
  // How many tiles a thread takes at once, as far as their time says; beside what it reads before.
  std::atomic<int64_t> leastTiles{1}, mostTiles{1};
  alignas(CONVOY_ALIGNMENT) std::atomic<int64_t> doneTiles{0}; // of the current wave
  alignas(CONVOY_ALIGNMENT) std::atomic<int64_t> nextTile{0};  // under the caller's parallel_for

  // Nanoseconds that a tile of each step took when it was fastest; 0: not known.
  Array<std::atomic<uint32_t>> tileTimes;
  Array<Turn> turns; // of each thread
  Pace pace;

  ThreadPool pool; // Only without parallelFor. The last member: its threads use the others.

  void *scratchOf(size_t thread) const {
    return static_cast<char *>(scratch.data()) + thread * scratchStride;
  }

  /// Some tiles of a step have taken so long.
  void note(size_t step, int64_t tiles, uint64_t time) {
    uint64_t ofTile = time / static_cast<uint64_t>(tiles);
    ofTile = ofTile < 1 ? 1 : ofTile > UINT32_MAX ? UINT32_MAX : ofTile;
    uint32_t known = tileTimes[step].load(std::memory_order_relaxed);
    if (!known || ofTile < known)
      tileTimes[step].store(static_cast<uint32_t>(ofTile), std::memory_order_relaxed);
    if (run.times)
      __atomic_fetch_add(&run.times[step], time, __ATOMIC_RELAXED);
  }
};

uint64_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000 + static_cast<uint64_t>(time.tv_nsec);
}

void call(const X86Queue &queue, const Step &step, size_t thread, int64_t begin, int64_t end) {
  convoy_call arguments{step.args, queue.run.batch, queue.scratchOf(thread)};
  reinterpret_cast<convoy_kernel_fn>(reinterpret_cast<uintptr_t>(step.kernel))(&arguments, begin,
                                                                               end);
}

// Measured on two Zen 5 cores: to share a wave costs 0.3 us and what its data lose by being in two
// caches, a sched_yield() that finds nobody else 0.4 us, to ask for the time 20 ns.

/// A wave that one thread computes in so many nanoseconds is not worth a second one.
constexpr uint64_t smallWave = 1000;
/// About how long a range takes: what a thread holds when the system stops it, others wait for.
constexpr uint64_t rangeTime = 100000;
/// A range that takes less costs more than the threads' waiting for each other at the end.
constexpr uint64_t smallRange = 1000;
/// For so long a thread computes before it offers its CPU to others. It does that between ranges,
/// where nobody waits for it; the system would do it in the midst of one, after a slice of some
/// milliseconds.
constexpr uint64_t turnTime = 1500000;
/// A thread that was away for so long has slept, and begins a turn.
constexpr uint64_t restTime = 200000;

/// How many tiles to take at once of those that are left to a thread: enough to make taking cheap,
/// and few towards the end so that threads end at about the same time.
int64_t rangeOf(int64_t left, int64_t least, int64_t most) {
  constexpr int64_t ranges = 4;
  int64_t range = left / ranges;
  range = range > least ? range : least;
  range = range < most ? range : most;
  return range < 1 ? 1 : range;
}

/// What earlier runs tell about a wave.
struct Estimate {
  bool isKnown = true;
  uint64_t whole = 0;   // on one thread
  uint64_t slowest = 1; // tile

  Estimate(const X86Queue &queue, const Wave &wave) {
    for (size_t i = wave.begin; i < wave.end; ++i) {
      int64_t tiles = queue.run.steps[i].tiles;
      uint64_t time = queue.tileTimes[i].load(std::memory_order_relaxed);
      isKnown &= tiles == 0 || time != 0;
      whole += static_cast<uint64_t>(tiles) * time;
      slowest = time > slowest ? time : slowest;
    }
  }
};

/// Computes `count` tiles of a wave from tile `begin` on. `time` is now; to ask for it takes longer
/// than a small launch.
void computeTiles(X86Queue &queue, const Wave &wave, size_t thread, int64_t begin, int64_t count,
                  uint64_t &time) {
  const Run &run = queue.run;
  for (size_t i = wave.begin; count > 0; ++i) {
    const Step &step = run.steps[i];
    if (begin >= step.tiles) {
      begin -= step.tiles;
      continue;
    }
    int64_t part = count < step.tiles - begin ? count : step.tiles - begin;
    call(queue, step, thread, begin, begin + part);
    uint64_t after = now();
    queue.note(i, part, after - time);
    time = after;
    begin = 0;
    count -= part;
  }
}

void beginTimes(const Run &run, const Wave &wave) {
  if (run.times)
    for (size_t i = wave.begin; i < wave.end; ++i)
      __atomic_store_n(&run.times[i], 0, __ATOMIC_RELAXED);
}

/// The time that a wave took is told apart by how long its steps kept threads busy.
void endTimes(const Run &run, const Wave &wave, uint64_t time) {
  uint64_t busy = 0;
  for (size_t i = wave.begin; i < wave.end; ++i)
    busy += run.times[i];
  for (size_t i = wave.begin; i < wave.end; ++i)
    run.times[i] = busy ? static_cast<uint64_t>(static_cast<double>(time) *
                                                static_cast<double>(run.times[i]) /
                                                static_cast<double>(busy))
                        : 0;
}

void endWave(X86Queue &queue, const Wave &wave, uint64_t time) {
  if (!queue.run.times)
    return;
  endTimes(queue.run, wave, time - queue.begin);
  queue.begin = time;
}

void runAlone(X86Queue &queue) {
  FloatState state;
  const Run &run = queue.run;
  uint64_t begin = run.times ? now() : 0;
  for (size_t i = 0; i < run.count; ++i) {
    if (run.steps[i].tiles)
      call(queue, run.steps[i], 0, 0, run.steps[i].tiles);
    if (run.times) {
      uint64_t end = now();
      run.times[i] = end - begin;
      begin = end;
    }
  }
}

/// Gives each thread its share of a wave.
void deal(X86Queue &queue, const Wave &wave) {
  auto tiles = static_cast<uint64_t>(wave.tiles);
  uint64_t unit = Share::unitOf(tiles), units = (tiles + unit - 1) / unit;
  for (uint64_t i = 0, threads = queue.threads; i < threads; ++i)
    queue.shares[i].store(Share(wave.begin, units * i / threads, units * (i + 1) / threads));
}

/// Ends a run. The caller's thread, the first one, learns it last: it may begin the next run then.
void endRun(X86Queue &queue) {
  for (uint32_t i = queue.threads; i-- > 0;)
    queue.shares[i].store(Share::over());
}

/// Goes on with the wave that begins at `step`: computes it here if it is not worth more threads,
/// and then the next; else opens it, or ends the run.
void goOn(X86Queue &queue, size_t step, size_t thread, uint64_t &time) {
  const Run &run = queue.run;
  while (step < run.count) {
    Wave wave(run, step);
    Estimate estimate(queue, wave);
    beginTimes(run, wave);
    if (wave.tiles > 1 && !(estimate.isKnown && estimate.whole < smallWave)) {
      uint64_t most = estimate.isKnown ? rangeTime / estimate.slowest : uint64_t(wave.tiles);
      uint64_t least = estimate.isKnown ? smallRange / estimate.slowest : 1;
      queue.leastTiles.store(static_cast<int64_t>(least), std::memory_order_relaxed);
      queue.mostTiles.store(static_cast<int64_t>(most), std::memory_order_relaxed);
      queue.doneTiles.store(0, std::memory_order_relaxed);
      deal(queue, wave);
      return;
    }
    computeTiles(queue, wave, thread, 0, wave.tiles, time);
    endWave(queue, wave, time);
    step = wave.end;
  }
  endRun(queue);
}

/// Computes tiles of the current wave that were taken. Whoever completes the wave opens the next one: so a thread
/// that the system has stopped is waited for only if it holds tiles.
void compute(X86Queue &queue, Share taken, size_t thread, uint64_t &time) {
  Wave wave(queue.run, taken.step());
  auto unit = static_cast<int64_t>(Share::unitOf(static_cast<uint64_t>(wave.tiles)));
  int64_t begin = static_cast<int64_t>(taken.begin()) * unit;
  int64_t end = static_cast<int64_t>(taken.end()) * unit;
  int64_t count = (end < wave.tiles ? end : wave.tiles) - begin;
  computeTiles(queue, wave, thread, begin, count, time);
  // Once its tiles are done a thread must not look at the run: it may be over and changed.
  if (queue.doneTiles.fetch_add(count, std::memory_order_acq_rel) + count != wave.tiles)
    return;
  endWave(queue, wave, time);
  goOn(queue, wave.end, thread, time);
}

/// Offers the CPU to others, and until the run ends stays away from one that an earlier thread of
/// the run computes on: two threads there would do what one does, and wait for each other.
void beginTurn(X86Queue &queue, uint32_t thread, uint64_t &time) {
  Turn &turn = queue.turns[thread];
  auto isTaken = [&]() {
    int cpu = sched_getcpu();
    turn.cpu.store(cpu, std::memory_order_relaxed);
    for (uint32_t other = 0; other < thread; ++other)
      if (cpu >= 0 && cpu == queue.turns[other].cpu.load(std::memory_order_relaxed))
        return true;
    return false;
  };
  while (isTaken() && !queue.shares[thread].load().isOver())
    sched_yield();
  turn.begin = time = now();
}

/// One thread's part of a run, up to its end. A worker that comes late finds that there is nothing
/// to do any more, or helps with the next run.
void walk(void *data, uint32_t thread) {
  X86Queue &queue = *static_cast<X86Queue *>(data);
  FloatState state;
  Spin spin(queue.pool.isCrowded());
  Turn &turn = queue.turns[thread];
  uint64_t time = now();
  if (time - turn.end > restTime)
    beginTurn(queue, thread, time);
  bool waited = false;
  SharedShare &own = queue.shares[thread];
  for (Share seen = own.load(); !seen.isOver(); seen = own.load()) {
    SharedShare *from = &own;
    for (uint32_t i = 1; seen.left() == 0 && i < queue.threads; ++i) {
      from = &queue.shares[(thread + i) % queue.threads];
      seen = from->load();
    }
    if (seen.left() == 0) {
      spin.wait();
      waited = true;
      continue;
    }
    if (waited)
      time = now();
    if (waited && spin.hasYielded())
      beginTurn(queue, thread, time);
    waited = false;
    // Who else wants this CPU gets it while nobody waits for this thread.
    if (time - turn.begin > turnTime) {
      sched_yield();
      beginTurn(queue, thread, time);
      continue;
    }
    // By now another wave may be open, or the next run: what was seen is there, or nothing is taken.
    auto left = static_cast<int64_t>(seen.left());
    int64_t range = rangeOf(left, queue.leastTiles.load(std::memory_order_relaxed),
                            queue.mostTiles.load(std::memory_order_relaxed));
    auto units = static_cast<uint64_t>(range < left ? range : left);
    if (from == &own ? own.replace(seen, seen.withoutFirst(units))
                     : from->replace(seen, seen.withoutLast(units)))
      compute(queue, from == &own ? seen.first(units) : seen.last(units), thread, time);
    spin = Spin(queue.pool.isCrowded());
  }
  turn.end = now();
}

/// A wave under the caller's parallel_for: pieces may run one after another, and the first of them
/// then does all the work.
struct Piece {
  X86Queue &queue;
  const Wave &wave;

  static void work(void *data, size_t index) {
    const Piece &piece = *static_cast<Piece *>(data);
    X86Queue &queue = piece.queue;
    int64_t tiles = piece.wave.tiles, range = rangeOf(tiles / queue.threads, 1, tiles);
    FloatState state;
    uint64_t time = now();
    for (;;) {
      int64_t begin = queue.nextTile.fetch_add(range, std::memory_order_relaxed);
      if (begin >= tiles)
        return;
      computeTiles(queue, piece.wave, index, begin, begin + range < tiles ? range : tiles - begin,
                   time);
    }
  }
};

void runByCaller(X86Queue &queue) {
  const Run &run = queue.run;
  for (size_t step = 0; step < run.count;) {
    Wave wave(run, step);
    beginTimes(run, wave);
    uint64_t begin = run.times ? now() : 0;
    Piece piece{queue, wave};
    queue.nextTile.store(0, std::memory_order_relaxed);
    auto pieces = static_cast<size_t>(wave.tiles < queue.threads ? wave.tiles : queue.threads);
    if (pieces == 1)
      Piece::work(&piece, 0);
    else if (pieces > 1)
      queue.parallelFor(queue.parallelForUser, Piece::work, &piece, pieces);
    if (run.times)
      endTimes(run, wave, now() - begin);
    step = wave.end;
  }
}

// The device's functions.

bool supports(const schema::Variant &variant, Text &missing) {
  bool complete = true;
  for (uint32_t i = 0; i < sizeOf(variant.cpu_features()); ++i) {
    const char *feature = variant.cpu_features()->Get(i)->c_str();
    if (hasCpuFeature(feature))
      continue;
    missing.add("%s%s", complete ? "this CPU lacks " : ", ", feature);
    complete = false;
  }
  return complete;
}

convoy_status load(const File &file, const schema::Variant &variant, Program **result) {
  auto *program = create<X86Program>(systemAllocator());
  if (!program)
    return fail(CONVOY_OUT_OF_MEMORY, "no memory for a program");
  convoy_status status = CONVOY_OK;
  if (variant.code() && variant.code()->size())
    status = program->code.map(file, variant.code()->offset(), variant.code()->size());
  if (status == CONVOY_OK)
    *result = program;
  else
    destroy(systemAllocator(), program);
  return status;
}

void unload(Program *program) { destroy(systemAllocator(), static_cast<X86Program *>(program)); }

const void *entry(const Program *program, const schema::Kernel &kernel) {
  return static_cast<const X86Program *>(program)->code.data() + kernel.offset();
}

void close(Queue *queue) {
  auto *self = static_cast<X86Queue *>(queue);
  if (self)
    destroy(self->allocator, self);
}

convoy_status open(const QueueOptions &options, Queue **result) {
  auto *queue = create<X86Queue>(options.allocator);
  if (!queue)
    return fail(CONVOY_OUT_OF_MEMORY, "no memory for a queue");
  queue->allocator = options.allocator;
  queue->threads = options.threads;
  queue->parallelFor = options.parallelFor;
  queue->parallelForUser = options.parallelForUser;
  // The verifier bounds scratchBytes by 2^60 and the context the threads by 2^10.
  constexpr size_t unit = CONVOY_ALIGNMENT;
  queue->scratchStride = (options.scratchBytes / unit + 1) * unit;
  size_t bytes;
  convoy_status status = CONVOY_OK;
  if (__builtin_mul_overflow(queue->scratchStride, size_t(options.threads), &bytes) ||
      !queue->scratch.allocate(options.allocator, bytes) ||
      !queue->tileTimes.allocate(options.allocator, options.steps) ||
      !queue->turns.allocate(options.allocator, options.threads) ||
      !queue->shares.allocate(options.allocator, options.threads))
    status = fail(CONVOY_OUT_OF_MEMORY, "no memory for %zu bytes of scratch for each of %u threads",
                  options.scratchBytes, options.threads);
  if (status == CONVOY_OK && !options.parallelFor)
    status = queue->pool.start(options.allocator, options.threads, walk, queue);
  if (status == CONVOY_OK)
    *result = queue;
  else
    close(queue);
  return status;
}

/// Whether a second thread would find something to do.
bool isDivisible(const Run &run) {
  for (size_t step = 0; step < run.count;) {
    Wave wave(run, step);
    if (wave.tiles > 1)
      return true;
    step = wave.end;
  }
  return false;
}

void runInPool(X86Queue &queue) {
  {
    FloatState state;
    uint64_t time = queue.begin = now();
    goOn(queue, 0, 0, time);
  }
  // What is so small that this thread has done it all needs no other.
  if (queue.shares[0].load().isOver())
    return;
  queue.pool.wake();
  walk(&queue, 0);
}

/// What the tiles of a run take on one thread, at least.
uint64_t timeOfTiles(const X86Queue &queue) {
  uint64_t time = 0;
  for (size_t i = 0; i < queue.run.count; ++i)
    time += static_cast<uint64_t>(queue.run.steps[i].tiles) *
            queue.tileTimes[i].load(std::memory_order_relaxed);
  return time;
}

void run(Queue *opaque, const Step *steps, size_t count, int64_t batch, uint64_t *times) {
  auto &queue = *static_cast<X86Queue *>(opaque);
  queue.run = {steps, count, batch, times};
  if (queue.threads == 1 || !isDivisible(queue.run))
    return runAlone(queue);
  if (queue.parallelFor)
    return runByCaller(queue);
  uint64_t begin = now();
  if (queue.pace.takesThreads())
    runInPool(queue);
  else
    runAlone(queue);
  queue.pace.ran(now() - begin, timeOfTiles(queue));
}

} // namespace

const Device convoy::rt::x86Device = {"x86", supports, load, unload, entry, open, close, run};
