// Links objects to a shared object, in process.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "mlir/IR/Location.h"
#include "mlir/Support/LLVM.h"

#include <vector>

namespace convoy {

/// Links relocatable ELF objects. An undefined symbol is an error, at `loc`. Not to be called by
/// two threads at a time, nor while LLVM generates code: lld's state and LLVM's switches are
/// global, and lld resets the latter.
mlir::FailureOr<std::vector<char>> linkSharedObject(llvm::ArrayRef<llvm::ArrayRef<char>> objects,
                                                    mlir::Location loc);

} // namespace convoy
