// Runs kernels on x86 CPUs: maps code and deals tiles to threads.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cpu.h"
#include "device.h"
#include "float_state.h"
#include "thread_pool.h"
#include "ticket.h"

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

struct X86Queue : Queue {
  convoy_allocator allocator;
  uint32_t threads;
  convoy_parallel_for parallelFor;
  void *parallelForUser;
  Block scratch;
  size_t scratchStride;

  // The run. It is written before its first ticket and read by holders of its tickets alone.
  Run run;
  uint64_t begin; // of the current wave, if times are taken

  alignas(CONVOY_ALIGNMENT) Position position;
  alignas(CONVOY_ALIGNMENT) std::atomic<int64_t> doneTiles{0}; // of the current wave
  std::atomic<int64_t> mostTiles{1};                           // that a thread may take of it
  alignas(CONVOY_ALIGNMENT) std::atomic<int64_t> nextTile{0};  // under the caller's parallel_for

  // Nanoseconds that a tile of each step took when it was fastest; 0: not known.
  Array<std::atomic<uint32_t>> tileTimes;

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

// Measured on a Zen 5 core: a wave that changes threads costs about half a microsecond and what its
// data lose by it, a sched_yield() that finds nobody else a third of one.

/// A wave that one thread computes in so many nanoseconds is not worth a second one.
constexpr uint64_t smallWave = 2000;
/// About how long a range takes: what a thread holds when the system stops it, others wait for.
constexpr uint64_t rangeTime = 100000;
/// For so long a thread computes before it offers its CPU to others. It does that between ranges,
/// as the system would do it in the midst of one: slices of some milliseconds are longer.
constexpr uint64_t turnTime = 500000;

/// How many tiles to take at once: enough to make the shared counter cheap, and few towards the
/// end so that threads end at about the same time.
int64_t rangeOf(int64_t left, uint32_t threads, int64_t most) {
  constexpr int64_t rangesOfAThread = 4;
  int64_t range = left / (rangesOfAThread * threads);
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

/// Computes `count` tiles of a wave from tile `begin` on.
void computeTiles(X86Queue &queue, const Wave &wave, size_t thread, int64_t begin, int64_t count) {
  const Run &run = queue.run;
  uint64_t before = now();
  for (size_t i = wave.begin; count > 0; ++i) {
    const Step &step = run.steps[i];
    if (begin >= step.tiles) {
      begin -= step.tiles;
      continue;
    }
    int64_t part = count < step.tiles - begin ? count : step.tiles - begin;
    call(queue, step, thread, begin, begin + part);
    uint64_t after = now();
    queue.note(i, part, after - before);
    before = after;
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

void endWave(X86Queue &queue, const Wave &wave) {
  if (!queue.run.times)
    return;
  uint64_t end = now();
  endTimes(queue.run, wave, end - queue.begin);
  queue.begin = end;
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

/// Goes on with the wave that begins at `step`: computes it here if it is not worth more threads,
/// and then the next; else opens it, or ends the run.
void goOn(X86Queue &queue, size_t step, size_t thread) {
  const Run &run = queue.run;
  while (step < run.count) {
    Wave wave(run, step);
    Estimate estimate(queue, wave);
    beginTimes(run, wave);
    if (wave.tiles > 1 && !(estimate.isKnown && estimate.whole < smallWave)) {
      uint64_t most = estimate.isKnown ? rangeTime / estimate.slowest : uint64_t(wave.tiles);
      queue.mostTiles.store(static_cast<int64_t>(most), std::memory_order_relaxed);
      queue.doneTiles.store(0, std::memory_order_relaxed);
      queue.position.store(Ticket(step, wave.tiles));
      return;
    }
    computeTiles(queue, wave, thread, 0, wave.tiles);
    endWave(queue, wave);
    step = wave.end;
  }
  queue.position.store(Ticket::end());
}

/// Computes a range of the current wave. Whoever completes the wave opens the next one: so a thread
/// that the system has stopped is waited for only if it holds tiles.
void compute(X86Queue &queue, Ticket ticket, int64_t range, size_t thread) {
  Wave wave(queue.run, ticket.step());
  int64_t count = range < ticket.left() ? range : ticket.left();
  computeTiles(queue, wave, thread, wave.tiles - ticket.left(), count);
  // Once its tiles are done a thread must not look at the run: it may be over and changed.
  if (queue.doneTiles.fetch_add(count, std::memory_order_acq_rel) + count != wave.tiles)
    return;
  endWave(queue, wave);
  goOn(queue, wave.end, thread);
}

/// One thread's part of a run, up to its end. A worker that comes late finds that there is nothing
/// to do any more, or helps with the next run.
void walk(void *data, uint32_t thread) {
  X86Queue &queue = *static_cast<X86Queue *>(data);
  FloatState state;
  Spin spin(queue.pool.isCrowded());
  uint64_t turn = now();
  for (Ticket seen = queue.position.load(); !seen.isEnd(); seen = queue.position.load()) {
    if (seen.left() <= 0) {
      spin.wait();
      continue;
    }
    // Who else wants this CPU gets it while nobody waits for this thread.
    if (now() - turn > turnTime) {
      sched_yield();
      turn = now();
      continue;
    }
    // By now another wave may be open: what was taken is what the ticket says.
    int64_t range = rangeOf(seen.left(), queue.threads,
                            queue.mostTiles.load(std::memory_order_relaxed));
    Ticket ticket = queue.position.take(range);
    if (ticket.left() > 0 && !ticket.isEnd())
      compute(queue, ticket, range, thread);
    spin = Spin(queue.pool.isCrowded());
  }
}

/// A wave under the caller's parallel_for: pieces may run one after another, and the first of them
/// then does all the work.
struct Piece {
  X86Queue &queue;
  const Wave &wave;

  static void work(void *data, size_t index) {
    const Piece &piece = *static_cast<Piece *>(data);
    X86Queue &queue = piece.queue;
    int64_t tiles = piece.wave.tiles, range = rangeOf(tiles, queue.threads, tiles);
    FloatState state;
    for (;;) {
      int64_t begin = queue.nextTile.fetch_add(range, std::memory_order_relaxed);
      if (begin >= tiles)
        return;
      computeTiles(queue, piece.wave, index, begin, begin + range < tiles ? range : tiles - begin);
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
      !queue->tileTimes.allocate(options.allocator, options.steps))
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
  if (queue.run.times)
    queue.begin = now();
  {
    FloatState state;
    goOn(queue, 0, 0);
  }
  // What is so small that this thread has done it all needs no other.
  if (queue.position.load().isEnd())
    return;
  queue.pool.wake();
  walk(&queue, 0);
}

void run(Queue *opaque, const Step *steps, size_t count, int64_t batch, uint64_t *times) {
  auto &queue = *static_cast<X86Queue *>(opaque);
  queue.run = {steps, count, batch, times};
  if (queue.threads == 1 || !isDivisible(queue.run))
    runAlone(queue);
  else if (queue.parallelFor)
    runByCaller(queue);
  else
    runInPool(queue);
}

} // namespace

const Device convoy::rt::x86Device = {"x86", supports, load, unload, entry, open, close, run};
