// Memory without exceptions: the allocator interface and an array of fixed length.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CONVOY_RUNTIME_MEMORY_H
#define CONVOY_RUNTIME_MEMORY_H

#include "convoy/convoy.h"
#include "convoy/kernel_abi.h"

#include <new>
#include <utility>

namespace convoy::rt {

/// Aligned memory from the C library; large blocks ask for huge pages.
convoy_allocator systemAllocator();

/// Bytes from an allocator, released by the destructor.
class Block {
public:
  Block() = default;
  Block(const Block &) = delete;
  Block &operator=(const Block &) = delete;
  Block(Block &&other) noexcept { swap(other); }
  Block &operator=(Block &&other) noexcept {
    swap(other);
    return *this;
  }
  ~Block() { reset(); }

  /// Releases what it holds first. False: no memory, and the block is empty.
  bool allocate(const convoy_allocator &from, size_t bytes);
  void reset();

  void *data() const { return memory; }
  size_t size() const { return length; }

private:
  void swap(Block &other) {
    std::swap(allocator, other.allocator);
    std::swap(memory, other.memory);
    std::swap(length, other.length);
  }

  convoy_allocator allocator{};
  void *memory = nullptr;
  size_t length = 0;
};

/// Elements made once, all value-initialised; their number never changes afterwards.
template <typename T> class Array {
public:
  Array() = default;
  Array(const Array &) = delete;
  Array &operator=(const Array &) = delete;
  ~Array() {
    for (size_t i = 0; i < count; ++i)
      begin()[i].~T();
  }

  bool allocate(const convoy_allocator &from, size_t number) {
    static_assert(alignof(T) <= CONVOY_ALIGNMENT, "blocks are not aligned enough");
    size_t bytes;
    if (__builtin_mul_overflow(number, sizeof(T), &bytes) || !block.allocate(from, bytes))
      return false;
    for (size_t i = 0; i < number; ++i)
      new (begin() + i) T();
    count = number;
    return true;
  }

  size_t size() const { return count; }
  T *begin() const { return static_cast<T *>(block.data()); }
  T *end() const { return begin() + count; }
  T &operator[](size_t index) const { return begin()[index]; }

private:
  Block block;
  size_t count = 0;
};

/// Makes an object in memory of the allocator; null when there is none.
template <typename T, typename... Args> T *create(const convoy_allocator &from, Args &&...args) {
  void *memory = from.allocate(from.user, sizeof(T), CONVOY_ALIGNMENT);
  return memory ? new (memory) T(std::forward<Args>(args)...) : nullptr;
}

/// Undoes create(). The allocator is taken by value: the object may hold the caller's copy.
template <typename T> void destroy(convoy_allocator from, T *object) {
  if (!object)
    return;
  object->~T();
  from.release(from.user, object, sizeof(T), CONVOY_ALIGNMENT);
}

} // namespace convoy::rt

#endif // CONVOY_RUNTIME_MEMORY_H
