// What one core can do: the yardsticks of layer-bench.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <cstddef>
#include <cstdint>

namespace convoy::test {

/// Measured rates of one thread.
struct MachineRates {
  double gflops = 0;   ///< f32 FMAs on registers
  double l2Gbs = 0;    ///< reads from the second cache
  double memoryGbs = 0; ///< reads from memory, beyond all caches

  /// Takes about 0.3 s. `lanes` is 16 (AVX-512) or 8 (AVX2), which the machine must have.
  static MachineRates measure(int64_t lanes, int64_t l2Bytes);
};

} // namespace convoy::test
