// XXH64 as specified in https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/artifact/Writer.h"

#include <cstring>

namespace {

constexpr uint64_t prime1 = 11400714785074694791u, prime2 = 14029467366897019727u,
                   prime3 = 1609587929392839161u, prime4 = 9650029242287828579u,
                   prime5 = 2870177450012600261u;

uint64_t rotateLeft(uint64_t value, int bits) { return value << bits | value >> (64 - bits); }

template <typename T> uint64_t take(const char *&bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  bytes += sizeof value;
  return value;
}

uint64_t round(uint64_t accumulator, uint64_t input) {
  return rotateLeft(accumulator + input * prime2, 31) * prime1;
}

} // namespace

uint64_t convoy::artifact::checksum(const char *bytes, size_t size) {
  const char *end = bytes + size;
  uint64_t result = prime5;
  if (size >= 32) {
    uint64_t first = prime1 + prime2, second = prime2, third = 0, fourth = 0 - prime1;
    while (end - bytes >= 32) {
      first = round(first, take<uint64_t>(bytes));
      second = round(second, take<uint64_t>(bytes));
      third = round(third, take<uint64_t>(bytes));
      fourth = round(fourth, take<uint64_t>(bytes));
    }
    result = rotateLeft(first, 1) + rotateLeft(second, 7) + rotateLeft(third, 12) +
             rotateLeft(fourth, 18);
    for (uint64_t accumulator : {first, second, third, fourth})
      result = (result ^ round(0, accumulator)) * prime1 + prime4;
  }
  result += size;
  while (end - bytes >= 8)
    result = rotateLeft(result ^ round(0, take<uint64_t>(bytes)), 27) * prime1 + prime4;
  if (end - bytes >= 4)
    result = rotateLeft(result ^ take<uint32_t>(bytes) * prime1, 23) * prime2 + prime3;
  while (bytes != end)
    result = rotateLeft(result ^ take<uint8_t>(bytes) * prime5, 11) * prime1;
  result = (result ^ result >> 33) * prime2;
  result = (result ^ result >> 29) * prime3;
  return result ^ result >> 32;
}
