// Runs kernels on x86 CPUs: maps code and deals tiles to threads.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cpu.h"
#include "device.h"
#include "float_state.h"
#include "onednn_library.h"
#include "thread_pool.h"

#include <string.h>
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

/// What is left of a run, in one word that threads change together: the step, and how many of its
/// tiles nobody has taken yet. Threads that come late take more than there are, so the number has
/// a bias that keeps it from borrowing from the step.
class Ticket {
public:
  Ticket(uint64_t step, int64_t left) : word(step << tileBits | uint64_t(left + bias)) {}
  static Ticket end() { return Ticket(maxStep, 0); }

  uint64_t step() const { return word >> tileBits; }
  int64_t left() const { return static_cast<int64_t>(word & tileMask) - bias; }
  bool isEnd() const { return step() == maxStep; }

private:
  friend class Position;
  explicit Ticket(uint64_t word) : word(word) {}
  static constexpr unsigned tileBits = 44;
  static constexpr uint64_t tileMask = (uint64_t(1) << tileBits) - 1;
  static constexpr int64_t bias = int64_t(1) << (tileBits - 1);
  static constexpr uint64_t maxStep = (uint64_t(1) << (64 - tileBits)) - 1;
  uint64_t word;
};

class Position {
public:
  Ticket load() const { return Ticket(word.load(std::memory_order_acquire)); }
  void store(Ticket ticket) { word.store(ticket.word, std::memory_order_release); }
  /// What was left before.
  Ticket take(int64_t tiles) {
    return Ticket(word.fetch_sub(static_cast<uint64_t>(tiles), std::memory_order_acq_rel));
  }

private:
  std::atomic<uint64_t> word{Ticket::end().word};
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
  uint64_t begin; // of the current step, if times are taken

  alignas(CONVOY_ALIGNMENT) Position position;
  alignas(CONVOY_ALIGNMENT) std::atomic<int64_t> doneTiles{0}; // of the current step
  alignas(CONVOY_ALIGNMENT) std::atomic<int64_t> nextTile{0};  // under the caller's parallel_for

  ThreadPool pool; // Only without parallelFor. The last member: its threads use the others.

  void *scratchOf(size_t thread) const {
    return static_cast<char *>(scratch.data()) + thread * scratchStride;
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

/// How many tiles to take at once: enough to make the shared counter cheap, and few towards the
/// end so that threads end at about the same time.
int64_t rangeOf(int64_t left, uint32_t threads) {
  constexpr int64_t rangesOfAThread = 4;
  int64_t range = left / (rangesOfAThread * threads);
  return range < 1 ? 1 : range;
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

/// Opens the first step from `step` on that has tiles, or ends the run.
void openFrom(X86Queue &queue, size_t step) {
  const Run &run = queue.run;
  while (step < run.count && run.steps[step].tiles == 0) {
    if (run.times)
      run.times[step] = 0;
    ++step;
  }
  queue.doneTiles.store(0, std::memory_order_relaxed);
  queue.position.store(step < run.count ? Ticket(step, run.steps[step].tiles) : Ticket::end());
}

/// Computes a range of the current step. Whoever completes the step opens the next one: so a thread
/// that the system has stopped is waited for only if it holds tiles.
void compute(X86Queue &queue, Ticket ticket, int64_t range, size_t thread) {
  const Run &run = queue.run;
  const Step &step = run.steps[ticket.step()];
  int64_t count = range < ticket.left() ? range : ticket.left();
  // Once its tiles are done a thread must not look at the run: it may be over and changed.
  int64_t tiles = step.tiles, begin = tiles - ticket.left();
  call(queue, step, thread, begin, begin + count);
  if (queue.doneTiles.fetch_add(count, std::memory_order_acq_rel) + count != tiles)
    return;
  if (run.times) {
    uint64_t end = now();
    run.times[ticket.step()] = end - queue.begin;
    queue.begin = end;
  }
  openFrom(queue, ticket.step() + 1);
}

/// One thread's part of a run, up to its end. A worker that comes late finds that there is nothing
/// to do any more, or helps with the next run.
void walk(void *data, uint32_t thread) {
  X86Queue &queue = *static_cast<X86Queue *>(data);
  FloatState state;
  Spin spin(queue.pool.isCrowded());
  for (Ticket seen = queue.position.load(); !seen.isEnd(); seen = queue.position.load()) {
    if (seen.left() <= 0) {
      spin.wait();
      continue;
    }
    // By now another step may be open: what was taken is what the ticket says.
    int64_t range = rangeOf(seen.left(), queue.threads);
    Ticket ticket = queue.position.take(range);
    if (ticket.left() > 0 && !ticket.isEnd())
      compute(queue, ticket, range, thread);
    spin = Spin(queue.pool.isCrowded());
  }
}

/// A step under the caller's parallel_for: pieces may run one after another, and the first of them
/// then does all the work.
struct Piece {
  X86Queue &queue;
  const Step &step;

  static void work(void *data, size_t index) {
    const Piece &piece = *static_cast<Piece *>(data);
    X86Queue &queue = piece.queue;
    int64_t tiles = piece.step.tiles, range = rangeOf(tiles, queue.threads);
    FloatState state;
    for (;;) {
      int64_t begin = queue.nextTile.fetch_add(range, std::memory_order_relaxed);
      if (begin >= tiles)
        return;
      call(queue, piece.step, index, begin, begin + range < tiles ? begin + range : tiles);
    }
  }
};

void runByCaller(X86Queue &queue) {
  const Run &run = queue.run;
  for (size_t i = 0; i < run.count; ++i) {
    const Step &step = run.steps[i];
    uint64_t begin = run.times ? now() : 0;
    Piece piece{queue, step};
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
  for (uint32_t i = 0; i < sizeOf(variant.libraries()); ++i) {
    const char *name = variant.libraries()->Get(i)->c_str();
    if (!complete)
      missing.add(", ");
    bool isOneDnn = strcmp(name, "oneDNN") == 0;
    if (!isOneDnn)
      missing.add("this runtime knows no library '%s'", name);
    complete = isOneDnn && dnnl::Library::get(missing) && complete;
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
    status = queue->pool.start(options.allocator, options.threads, walk, queue);
  if (status == CONVOY_OK)
    *result = queue;
  else
    close(queue);
  return status;
}

/// Whether a second thread would find something to do.
bool isDivisible(const Run &run) {
  for (size_t i = 0; i < run.count; ++i)
    if (run.steps[i].tiles > 1)
      return true;
  return false;
}

void runInPool(X86Queue &queue) {
  if (queue.run.times)
    queue.begin = now();
  openFrom(queue, 0);
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
