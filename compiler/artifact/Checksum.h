// The checksum of an artifact: XXH64 with seed 0, of bytes that come in pieces.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CONVOY_COMPILER_ARTIFACT_CHECKSUM_H
#define CONVOY_COMPILER_ARTIFACT_CHECKSUM_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace convoy::artifact {

class Checksum {
public:
  void add(std::string_view bytes);
  /// Of all bytes so far.
  uint64_t result() const;

  static constexpr uint64_t prime1 = 11400714785074694791u, prime2 = 14029467366897019727u;

private:
  static constexpr size_t kStripe = 32;
  /// Takes one byte to the stripe that is not complete.
  void begin(std::string_view &bytes);

  std::array<uint64_t, 4> accumulators{prime1 + prime2, prime2, 0, 0 - prime1};
  std::string pending; // fewer bytes than a stripe has
  uint64_t size = 0;
};

} // namespace convoy::artifact

#endif // CONVOY_COMPILER_ARTIFACT_CHECKSUM_H
