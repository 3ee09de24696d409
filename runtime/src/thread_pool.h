// A fixed team of threads that one context wakes once for a whole run.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CONVOY_RUNTIME_THREAD_POOL_H
#define CONVOY_RUNTIME_THREAD_POOL_H

#include "memory.h"
#include "spin.h"

#include <pthread.h>

namespace convoy::rt {

/// Workers do one thing whenever they are woken. They stay awake for some microseconds after it,
/// then sleep until they are woken again.
class ThreadPool {
public:
  using Body = void (*)(void *data, uint32_t thread);

  ThreadPool() = default;
  ~ThreadPool();

  /// `threads` counts the calling one, number 0, which is not of the pool: with 1 nothing is
  /// started. Workers call body(data, i) when they are woken; both outlive the pool.
  convoy_status start(const convoy_allocator &allocator, uint32_t threads, Body body, void *data);

  /// Every worker will call the body after this. Waits for none.
  void wake();

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

  Array<Worker> workers;
  bool crowded = false;
  Body body = nullptr;
  void *data = nullptr;
  std::atomic<bool> stopping{false};
  std::atomic<uint32_t> ready{0}; // workers that have begun

  alignas(CONVOY_ALIGNMENT) std::atomic<uint32_t> epoch{0}; // counts wakes; workers sleep on it
  std::atomic<uint32_t> sleepers{0};
};

} // namespace convoy::rt

#endif // CONVOY_RUNTIME_THREAD_POOL_H
