// Wake and sleep.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "thread_pool.h"

#include "cpu.h"
#include "status.h"

#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace convoy::rt;

static long futex(std::atomic<uint32_t> &word, int operation, uint32_t value) {
  static_assert(sizeof word == sizeof(uint32_t), "the kernel compares the word in place");
  return syscall(SYS_futex, &word, operation, value, nullptr, nullptr, 0);
}

convoy_status ThreadPool::start(const convoy_allocator &allocator, uint32_t threads, Body newBody,
                                void *newData) {
  crowded = threads > usableCpus();
  body = newBody;
  data = newData;
  if (!workers.allocate(allocator, threads - 1))
    return fail(CONVOY_OUT_OF_MEMORY, "no memory for %u threads", threads);
  // An application's signal handlers must not run on threads that it does not know.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = 0;
  for (Worker &worker : workers) {
    worker.pool = this;
    worker.index = static_cast<uint32_t>(&worker - workers.begin()) + 1;
    error = pthread_create(&worker.thread, nullptr, enter, &worker);
    if (error)
      break;
    worker.started = true;
    pthread_setname_np(worker.thread, "convoy");
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error)
    return fail(CONVOY_SYSTEM, "cannot start %u threads: %s", threads, strerror(error));
  // What the C library does and allocates in a new thread is over before the first run.
  for (Spin spin(crowded); ready.load(std::memory_order_acquire) != workers.size();)
    spin.wait();
  return CONVOY_OK;
}

ThreadPool::~ThreadPool() {
  stopping.store(true, std::memory_order_relaxed);
  wake();
  for (Worker &worker : workers)
    if (worker.started)
      pthread_join(worker.thread, nullptr);
}

void ThreadPool::wake() {
  // Either the worker sees the new epoch before it sleeps, or it is counted here as a sleeper:
  // both sides write one variable and then read the other, sequentially consistent.
  epoch.fetch_add(1, std::memory_order_seq_cst);
  if (sleepers.load(std::memory_order_seq_cst) != 0)
    futex(epoch, FUTEX_WAKE_PRIVATE, INT_MAX);
}

void ThreadPool::await(uint32_t seen) {
  for (Spin spin(crowded); !spin.isOver(); spin.wait())
    if (epoch.load(std::memory_order_acquire) != seen)
      return;
  sleepers.fetch_add(1, std::memory_order_seq_cst);
  while (epoch.load(std::memory_order_seq_cst) == seen)
    futex(epoch, FUTEX_WAIT_PRIVATE, seen);
  sleepers.fetch_sub(1, std::memory_order_relaxed);
}

void *ThreadPool::enter(void *worker) {
  auto *self = static_cast<Worker *>(worker);
  self->pool->work(self->index);
  return nullptr;
}

void ThreadPool::work(uint32_t index) {
  uint32_t seen = 0; // Nobody wakes before all workers are ready, or the pool is given up.
  ready.fetch_add(1, std::memory_order_release);
  while (true) {
    await(seen);
    // Before the body, so that a wake during it makes for another call.
    seen = epoch.load(std::memory_order_acquire);
    if (stopping.load(std::memory_order_relaxed))
      return;
    body(data, index);
  }
}
