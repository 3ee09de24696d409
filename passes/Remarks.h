// Remarks in one form: what a pass did, or why it did not.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/Twine.h"

namespace convoy {

/// Something that a user may wonder about was done.
inline void remarkPassed(mlir::Location loc, llvm::StringRef pass, llvm::StringRef category,
                         const llvm::Twine &text) {
  if (auto remark =
          mlir::remark::passed(loc, mlir::remark::RemarkOpts::name(pass).category(category)))
    remark << llvm::StringRef(text.str());
}

/// Something was not done, and this is why.
inline void remarkMissed(mlir::Location loc, llvm::StringRef pass, llvm::StringRef category,
                         const llvm::Twine &text) {
  if (auto remark =
          mlir::remark::missed(loc, mlir::remark::RemarkOpts::name(pass).category(category)))
    remark << llvm::StringRef(text.str());
}

} // namespace convoy
