// XXH64 as specified in https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/artifact/Checksum.h"

#include <cstring>

using convoy::artifact::Checksum;

namespace {

constexpr uint64_t prime1 = Checksum::prime1, prime2 = Checksum::prime2,
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

void Checksum::add(std::string_view bytes) {
  size += bytes.size();
  // A stripe that earlier bytes have begun.
  while (!bytes.empty() && pending.size() % kStripe != 0)
    begin(bytes);
  const char *next = bytes.data(), *end = next + bytes.size();
  for (; end - next >= static_cast<ptrdiff_t>(kStripe);)
    for (uint64_t &accumulator : accumulators)
      accumulator = round(accumulator, take<uint64_t>(next));
  pending.append(next, end);
}

void Checksum::begin(std::string_view &bytes) {
  pending.push_back(bytes.front());
  bytes.remove_prefix(1);
  if (pending.size() < kStripe)
    return;
  const char *stripe = pending.data();
  for (uint64_t &accumulator : accumulators)
    accumulator = round(accumulator, take<uint64_t>(stripe));
  pending.clear();
}

uint64_t Checksum::result() const {
  uint64_t result = prime5;
  if (size >= kStripe) {
    auto [first, second, third, fourth] = accumulators;
    result = rotateLeft(first, 1) + rotateLeft(second, 7) + rotateLeft(third, 12) +
             rotateLeft(fourth, 18);
    for (uint64_t accumulator : accumulators)
      result = (result ^ round(0, accumulator)) * prime1 + prime4;
  }
  result += size;
  const char *bytes = pending.data(), *end = bytes + pending.size();
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
