// The tuning results that come with the compiler.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "compiler/tune/Results.h"

namespace convoy::tune {

/// Those for a class of machines and a target, whatever compiler measured them; empty if there are
/// none.
Results shippedResults(llvm::StringRef machineClass, llvm::StringRef target);

} // namespace convoy::tune
