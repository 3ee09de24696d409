// Code generation as a pass, for convoy-opt and its tests.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

namespace convoy {

/// Registers convoy-generate-code: generates code for the plan.kernels of a module, sets what code
/// generation decides on them, and prints an intermediate form if asked to.
void registerGenerateCodePass();

} // namespace convoy
