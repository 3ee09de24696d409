// The executable semantics of the cnn dialect: constants are folded with it and code generation,
// with which it shares nothing, is tested against it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "dialects/Cnn/Evaluate/Tensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <functional>

namespace convoy::cnn {

/// Computes the results of a cnn op from its operands, whose types are those of the op with a
/// concrete batch. `batch` stands for a free batch that no operand tells. Sums are in double and
/// rounded once to the accumulator's type.
mlir::FailureOr<llvm::SmallVector<Tensor>> evaluate(mlir::Operation *op,
                                                    llvm::ArrayRef<Tensor> operands,
                                                    std::optional<int64_t> batch = std::nullopt);

using EvaluateObserver = std::function<void(mlir::Operation *op, llvm::ArrayRef<Tensor> results)>;

/// Computes the results of a function. `observer` sees the results of each op; a value that no
/// later op uses is released.
mlir::FailureOr<llvm::SmallVector<Tensor>> evaluate(mlir::func::FuncOp function,
                                                    llvm::ArrayRef<Tensor> inputs,
                                                    const EvaluateObserver &observer = nullptr);

} // namespace convoy::cnn
