// What the CPU and the operating system offer to compiled code.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CONVOY_RUNTIME_CPU_H
#define CONVOY_RUNTIME_CPU_H

#include <stdint.h>

namespace convoy::rt {

/// Whether code that uses the feature may run: the CPU has it and the operating system saves its
/// registers. Features have LLVM's names; one that is not known here counts as missing.
bool hasCpuFeature(const char *name);

/// CPUs that this process may use at once: affinity and the container's quota, at least 1.
uint32_t usableCpus();

} // namespace convoy::rt

#endif // CONVOY_RUNTIME_CPU_H
