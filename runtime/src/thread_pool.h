// A fixed team of threads that one context forks once for a whole run.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CONVOY_RUNTIME_THREAD_POOL_H
#define CONVOY_RUNTIME_THREAD_POOL_H

#include "memory.h"
#include "spin.h"

#include <pthread.h>

namespace convoy::rt {

/// Workers stay awake for some microseconds after a run, then sleep until the next.
class ThreadPool {
public:
  ThreadPool() = default;
  ~ThreadPool();

  /// `threads` counts the calling one: with 1 nothing is started.
  convoy_status start(const convoy_allocator &allocator, uint32_t threads);

  /// Calls body(data, i) once on each thread i, on the calling one for i = 0, and returns when all
  /// calls have returned. All of them run at once: they may wait for each other.
  void run(void (*body)(void *data, uint32_t thread), void *data);

  uint32_t threads() const { return static_cast<uint32_t>(workers.size()) + 1; }

  /// Whether there are more threads than CPUs for them.
  bool isCrowded() const { return crowded; }

private:
  struct Worker {
    ThreadPool *pool = nullptr;
    uint32_t index = 0;
    pthread_t thread{};
    bool started = false;
  };

  static void *enter(void *worker);
  void work(uint32_t index);
  void await(uint32_t seen);
  void announce();

  Array<Worker> workers;
  bool crowded = false;
  bool stopping = false;
  void (*body)(void *data, uint32_t thread) = nullptr;
  void *data = nullptr;

  alignas(CONVOY_ALIGNMENT) std::atomic<uint32_t> epoch{0}; // counts runs; workers sleep on it
  std::atomic<uint32_t> sleepers{0};
  alignas(CONVOY_ALIGNMENT) std::atomic<uint32_t> running{0};
};

} // namespace convoy::rt

#endif // CONVOY_RUNTIME_THREAD_POOL_H
