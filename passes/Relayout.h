// Layout changes: of values, and of constants at compile time.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "dialects/Cnn/Cnn.h"

#include <string>
#include <vector>

namespace convoy {

/// The bytes of a tensor of `shape` in another layout. What a block adds beyond the extent is zero.
std::vector<char> relayoutBytes(llvm::ArrayRef<char> bytes, llvm::ArrayRef<int64_t> shape,
                                const cnn::Layout &from, const cnn::Layout &to,
                                int64_t elementBytes);

/// `value` (a constant) with the layout of a tag, as a new constant at `builder`'s position.
mlir::Value relayoutConstant(mlir::OpBuilder &builder, mlir::Value value, llvm::StringRef tag);

/// `value` with leading dimensions of extent 1 up to `rank`. A constant stays one.
mlir::Value expandRank(mlir::OpBuilder &builder, mlir::Value value, int64_t rank);

/// Tag of the activations' blocked layout for a rank and vector width, such as nchw16c.
std::string blockedTag(int64_t rank, int64_t lanes);

/// Whether both layouts put every element to the same place, as row-major and nchw16c do for
/// [n, 32, 1, 1]: then a relayout needs no kernel.
bool haveSameOrder(mlir::RankedTensorType a, mlir::RankedTensorType b);

/// A reshape or relayout without a strategy whose result has its elements where src has them: both
/// share a buffer.
bool isAlias(mlir::Operation *op);
/// The value whose buffer `value` shares.
mlir::Value getAliasRoot(mlir::Value value);

} // namespace convoy
