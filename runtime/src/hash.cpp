// XXH64 as specified in https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hash.h"

#include <string.h>

using namespace convoy::rt;

namespace {
constexpr uint64_t p1 = 0x9E3779B185EBCA87, p2 = 0xC2B2AE3D27D4EB4F, p3 = 0x165667B19E3779F9,
                   p4 = 0x85EBCA77C2B2AE63, p5 = 0x27D4EB2F165667C5;

uint64_t rotate(uint64_t x, int by) { return x << by | x >> (64 - by); }

template <typename T> T read(const unsigned char *bytes) {
  T value;
  memcpy(&value, bytes, sizeof value);
  return value;
}

uint64_t step(uint64_t lane, uint64_t word) { return rotate(lane + word * p2, 31) * p1; }
} // namespace

/// Whole stripes; the lanes live in registers meanwhile.
const unsigned char *Hash::stripes(const unsigned char *bytes, size_t number) {
  uint64_t a = lanes[0], b = lanes[1], c = lanes[2], d = lanes[3];
  for (; number; --number, bytes += stripe) {
    a = step(a, read<uint64_t>(bytes));
    b = step(b, read<uint64_t>(bytes + 8));
    c = step(c, read<uint64_t>(bytes + 16));
    d = step(d, read<uint64_t>(bytes + 24));
  }
  lanes[0] = a, lanes[1] = b, lanes[2] = c, lanes[3] = d;
  return bytes;
}

void Hash::add(const void *data, size_t size) {
  if (size == 0)
    return;
  const auto *bytes = static_cast<const unsigned char *>(data);
  total += size;
  if (restSize) {
    size_t taken = size < stripe - restSize ? size : stripe - restSize;
    memcpy(rest + restSize, bytes, taken);
    restSize += taken;
    bytes += taken;
    size -= taken;
    if (restSize < stripe)
      return;
    stripes(rest, 1);
  }
  bytes = stripes(bytes, size / stripe);
  restSize = size % stripe;
  memcpy(rest, bytes, restSize);
}

uint64_t Hash::finish() const {
  uint64_t h = p5;
  if (total >= stripe) {
    h = rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) + rotate(lanes[3], 18);
    for (uint64_t lane : lanes)
      h = (h ^ step(0, lane)) * p1 + p4;
  }
  h += total;
  const unsigned char *bytes = rest, *end = rest + restSize;
  for (; end - bytes >= 8; bytes += 8)
    h = rotate(h ^ step(0, read<uint64_t>(bytes)), 27) * p1 + p4;
  if (end - bytes >= 4) {
    h = rotate(h ^ read<uint32_t>(bytes) * p1, 23) * p2 + p3;
    bytes += 4;
  }
  for (; bytes < end; ++bytes)
    h = rotate(h ^ *bytes * p5, 11) * p1;
  h = (h ^ h >> 33) * p2;
  h = (h ^ h >> 29) * p3;
  return h ^ h >> 32;
}
