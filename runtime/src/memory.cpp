// The default allocator and blocks.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "memory.h"

#include <stdlib.h>
#include <sys/mman.h>

using namespace convoy::rt;

static void *allocateAligned(void *, size_t bytes, size_t alignment) {
  // Arenas of large nets spend much time in TLB misses on 4 KiB pages.
  constexpr size_t hugePage = size_t(2) << 20;
  bool huge = bytes >= 2 * hugePage;
  if (huge)
    alignment = hugePage;
  void *memory = nullptr;
  if (posix_memalign(&memory, alignment, bytes) != 0)
    return nullptr;
  if (huge)
    (void)madvise(memory, bytes & ~(hugePage - 1), MADV_HUGEPAGE); // only advice: may fail
  return memory;
}

static void releaseAligned(void *, void *memory, size_t, size_t) { free(memory); }

convoy_allocator convoy::rt::systemAllocator() {
  return {allocateAligned, releaseAligned, nullptr};
}

bool Block::allocate(const convoy_allocator &from, size_t bytes) {
  reset();
  // A block of no bytes still has an address.
  size_t asked = bytes ? bytes : 1;
  memory = from.allocate(from.user, asked, CONVOY_ALIGNMENT);
  if (!memory)
    return false;
  allocator = from;
  length = asked;
  return true;
}

void Block::reset() {
  if (memory)
    allocator.release(allocator.user, memory, length, CONVOY_ALIGNMENT);
  memory = nullptr;
  length = 0;
}
