// Times kernels on this machine, in the state of caches that a network leaves.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "compiler/host/HostCode.h"

#include <optional>

namespace convoy::tune {

/// Times kernels that compute one op, in turns, so that what slows the machine for a while slows all
/// of them: one thread, one image. Weights come from memory, as in a network that has more of them
/// than the caches hold; activations lie in the caches, as the op before left them.
///
/// Gives the least time of each in nanoseconds. Each runs at least three times, and no more once its
/// runs took `mostNs`. Nothing if there is not enough memory for the operands.
std::optional<std::vector<double>> measure(const HostCode &code,
                                           llvm::ArrayRef<plan::KernelOp> kernels,
                                           llvm::ArrayRef<unsigned> weights, double mostNs);

} // namespace convoy::tune
