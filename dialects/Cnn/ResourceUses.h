// Frees the memory of constants with their last user.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

namespace convoy::cnn {

/// Counts the ops that hold each resource, and frees its memory with the last one. MLIR itself
/// keeps the data of a resource as long as the context.
class ResourceUses {
public:
  /// Of all ops in `root`.
  explicit ResourceUses(mlir::Operation *root);

  void add(mlir::Attribute value);
  /// An op that held the value is gone.
  void remove(mlir::Attribute value);

private:
  llvm::DenseMap<mlir::DialectResourceBlobManager::BlobEntry *, int64_t> counts;
};

} // namespace convoy::cnn
