// Takes the place of malloc, or uses the sanitizer's hooks where that has taken it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/runtime/AllocationCount.h"

#include <atomic>
#include <cerrno>
#include <cstddef>

namespace {
std::atomic<bool> counting{false};
std::atomic<long> calls{0};

void count() {
  if (counting.load(std::memory_order_relaxed))
    calls.fetch_add(1, std::memory_order_relaxed);
}
} // namespace

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CONVOY_TEST_HOOKS
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CONVOY_TEST_HOOKS
#endif
#endif

extern "C" {
#ifdef CONVOY_TEST_HOOKS
int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void *, size_t),
                                              void (*)(const volatile void *));
#else
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

void *malloc(size_t size) {
  count();
  return __libc_malloc(size);
}
void *calloc(size_t number, size_t size) {
  count();
  return __libc_calloc(number, size);
}
void *realloc(void *memory, size_t size) {
  count();
  return __libc_realloc(memory, size);
}
void *memalign(size_t alignment, size_t size) {
  count();
  return __libc_memalign(alignment, size);
}
void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void **memory, size_t alignment, size_t size) {
  *memory = memalign(alignment, size);
  return *memory ? 0 : ENOMEM;
}
void free(void *memory) {
  count();
  __libc_free(memory);
}
#endif
}

void convoy::test::startCountingAllocations() {
#ifdef CONVOY_TEST_HOOKS
  static const int installed = __sanitizer_install_malloc_and_free_hooks(
      [](const volatile void *, size_t) { count(); }, [](const volatile void *) { count(); });
  (void)installed;
#endif
  calls = 0;
  counting = true;
}

long convoy::test::stopCountingAllocations() {
  counting = false;
  return calls;
}
