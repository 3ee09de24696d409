// Runs kernels on x86 CPUs: maps code and deals tiles to threads.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cpu.h"
#include "device.h"
#include "float_state.h"
#include "thread_pool.h"

#include <time.h>

using namespace convoy::rt;
namespace schema = convoy::schema;

namespace {

struct X86Program : Program {
  CodePages code;
};

struct X86Queue : Queue {
  convoy_allocator allocator;
  uint32_t threads;
  convoy_parallel_for parallelFor;
  void *parallelForUser;
  Block scratch;
  size_t scratchStride;
  ThreadPool pool; // only without parallelFor

  alignas(CONVOY_ALIGNMENT) std::atomic<int64_t> nextTile{0};
  Barrier barrier;

  void *scratchOf(size_t thread) const {
    return static_cast<char *>(scratch.data()) + thread * scratchStride;
  }
};

/// What the threads of a run share.
struct Run {
  X86Queue &queue;
  const Step *steps;
  size_t count;
  int64_t batch;
  uint64_t *times;
};

uint64_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000 + static_cast<uint64_t>(time.tv_nsec);
}

void call(const Run &run, const Step &step, size_t thread, int64_t begin, int64_t end) {
  convoy_call arguments{step.args, run.batch, run.queue.scratchOf(thread)};
  reinterpret_cast<convoy_kernel_fn>(reinterpret_cast<uintptr_t>(step.kernel))(&arguments, begin,
                                                                               end);
}

/// Takes tiles until none is left. Ranges are long enough to make the shared counter cheap, and
/// short enough that threads end at about the same time.
void dealTiles(const Run &run, const Step &step, size_t thread) {
  constexpr int64_t rangesOfAThread = 8;
  int64_t range = step.tiles / (rangesOfAThread * run.queue.threads);
  if (range < 1)
    range = 1;
  for (;;) {
    int64_t begin = run.queue.nextTile.fetch_add(range, std::memory_order_relaxed);
    if (begin >= step.tiles)
      return;
    call(run, step, thread, begin, begin + range < step.tiles ? begin + range : step.tiles);
  }
}

void runAlone(const Run &run) {
  FloatState state;
  uint64_t begin = run.times ? now() : 0;
  for (size_t i = 0; i < run.count; ++i) {
    if (run.steps[i].tiles)
      call(run, run.steps[i], 0, 0, run.steps[i].tiles);
    if (run.times) {
      uint64_t end = now();
      run.times[i] = end - begin;
      begin = end;
    }
  }
}

/// One thread's way through all steps. A barrier after each step makes its results visible.
void walk(void *data, uint32_t thread) {
  const Run &run = *static_cast<Run *>(data);
  X86Queue &queue = run.queue;
  FloatState state;
  uint64_t begin = run.times ? now() : 0;
  for (size_t i = 0; i < run.count; ++i) {
    dealTiles(run, run.steps[i], thread);
    queue.barrier.arrive(queue.threads, queue.pool.isCrowded(),
                         [&] { queue.nextTile.store(0, std::memory_order_relaxed); });
    if (run.times && thread == 0) {
      uint64_t end = now();
      run.times[i] = end - begin;
      begin = end;
    }
  }
}

/// A step under the caller's parallel_for: pieces may run one after another, and the first of them
/// then does all the work.
struct Piece {
  const Run &run;
  const Step &step;

  static void work(void *data, size_t index) {
    const Piece &piece = *static_cast<Piece *>(data);
    FloatState state;
    dealTiles(piece.run, piece.step, index);
  }
};

void runByCaller(const Run &run) {
  X86Queue &queue = run.queue;
  for (size_t i = 0; i < run.count; ++i) {
    const Step &step = run.steps[i];
    uint64_t begin = run.times ? now() : 0;
    Piece piece{run, step};
    queue.nextTile.store(0, std::memory_order_relaxed);
    auto pieces = static_cast<size_t>(step.tiles < queue.threads ? step.tiles : queue.threads);
    if (pieces == 1)
      Piece::work(&piece, 0);
    else if (pieces > 1)
      queue.parallelFor(queue.parallelForUser, Piece::work, &piece, pieces);
    if (run.times)
      run.times[i] = now() - begin;
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
      !queue->scratch.allocate(options.allocator, bytes))
    status = fail(CONVOY_OUT_OF_MEMORY, "no memory for %zu bytes of scratch for each of %u threads",
                  options.scratchBytes, options.threads);
  if (status == CONVOY_OK && !options.parallelFor)
    status = queue->pool.start(options.allocator, options.threads);
  if (status == CONVOY_OK)
    *result = queue;
  else
    close(queue);
  return status;
}

void run(Queue *queue, const Step *steps, size_t count, int64_t batch, uint64_t *times) {
  Run run{*static_cast<X86Queue *>(queue), steps, count, batch, times};
  if (run.queue.threads == 1)
    runAlone(run);
  else if (run.queue.parallelFor)
    runByCaller(run);
  else
    run.queue.pool.run(walk, &run);
}

} // namespace

const Device convoy::rt::x86Device = {"x86", supports, load, unload, entry, open, close, run};
