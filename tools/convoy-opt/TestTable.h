// A small kernel table with fixed costs, so tests of passes do not depend on a target's cost model.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "passes/KernelTable.h"

namespace convoy {

/// The target name that selects it.
inline constexpr llvm::StringLiteral kTestTargetName = "test";

const KernelTable &getTestTable();

} // namespace convoy
