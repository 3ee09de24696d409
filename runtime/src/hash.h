// The checksum of artifacts: XXH64 with seed 0.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CONVOY_RUNTIME_HASH_H
#define CONVOY_RUNTIME_HASH_H

#include <stddef.h>
#include <stdint.h>

namespace convoy::rt {

/// Hashes bytes that come in several pieces.
class Hash {
public:
  void add(const void *data, size_t size);
  uint64_t finish() const;

private:
  const unsigned char *stripes(const unsigned char *bytes, size_t number);

  static constexpr size_t stripe = 32;
  static constexpr uint64_t p1 = 0x9E3779B185EBCA87, p2 = 0xC2B2AE3D27D4EB4F;
  uint64_t lanes[4] = {p1 + p2, p2, 0, 0 - p1};
  unsigned char rest[stripe];
  size_t restSize = 0;
  uint64_t total = 0;
};

} // namespace convoy::rt

#endif // CONVOY_RUNTIME_HASH_H
