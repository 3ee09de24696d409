// The floating-point state in which kernels run.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CONVOY_RUNTIME_FLOAT_STATE_H
#define CONVOY_RUNTIME_FLOAT_STATE_H

#include <xmmintrin.h>

namespace convoy::rt {

/// While it lives the thread rounds to nearest, masks all exceptions and flushes subnormals to zero
/// (FTZ and DAZ), whatever the caller's state: results do not depend on that. The caller's state,
/// its sticky exception flags too, is back afterwards.
class FloatState {
public:
  FloatState() : before(_mm_getcsr()) {
    constexpr unsigned masks = 0x1F80, ftz = 0x8000, daz = 0x0040;
    _mm_setcsr(masks | ftz | daz);
  }
  ~FloatState() { _mm_setcsr(before); }
  FloatState(const FloatState &) = delete;
  FloatState &operator=(const FloatState &) = delete;

private:
  unsigned before;
};

} // namespace convoy::rt

#endif // CONVOY_RUNTIME_FLOAT_STATE_H
