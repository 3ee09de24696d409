// The x86 targets.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "targets/Target.h"

namespace convoy {

/// 16 lanes and 32 registers; needs x86-64-v4.
std::unique_ptr<Target> createX86Avx512Target();
/// 8 lanes and 16 registers; needs x86-64-v3.
std::unique_ptr<Target> createX86Avx2Target();
/// The same with oneDNN as one more strategy; what uses it needs the library at run time.
std::unique_ptr<Target> createX86Avx512OneDnnTarget();
std::unique_ptr<Target> createX86Avx2OneDnnTarget();
/// As x86-avx2, with the reference loops alone: slow, and right.
std::unique_ptr<Target> createReferenceTarget();

/// Whether this machine has all features of an x86 target.
bool hostRuns(const Target &target);

} // namespace convoy
