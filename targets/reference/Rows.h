// Ops whose elements along one axis are made together: a sum or an order is shared by all of them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "targets/reference/Elements.h"

namespace convoy {

/// Access to one row of a kernel's result, by the position along the axis.
struct ResultRow {
  llvm::function_ref<void(mlir::Value position, mlir::Value element)> store;
  llvm::function_ref<mlir::Value(mlir::Value position)> load;
};

/// The axis along which emitRow computes an op; nothing for ops that it does not know.
std::optional<unsigned> rowAxis(mlir::Operation *op);
/// Emits the row of an op's result at `index`, whose element of the axis is of no account.
void emitRow(mlir::Operation *op, Elements &in, mlir::ValueRange index, const ResultRow &row);
// One function for each op.
void emitRowOf(cnn::SoftmaxOp op, Elements &in, mlir::ValueRange index, const ResultRow &row);
void emitRowOf(cnn::ScatterOp op, Elements &in, mlir::ValueRange index, const ResultRow &row);
void emitRowOf(cnn::TopKOp op, Elements &in, mlir::ValueRange index, const ResultRow &row);
void emitRowOf(cnn::CumulativeSumOp op, Elements &in, mlir::ValueRange index,
               const ResultRow &row);
void emitRowOf(cnn::TruePositionsOp op, Elements &in, mlir::ValueRange index, const ResultRow &row);
void emitRowOf(cnn::SuppressOp op, Elements &in, mlir::ValueRange index, const ResultRow &row);

/// An element of a tensor of indices, counted from the front; it may be outside [0, extent).
mlir::Value readIndex(Elements &in, mlir::Value tensor, mlir::ValueRange index, int64_t extent);
/// Whether element `a` is larger than `b`, with `least` smaller. A NaN is larger than any number.
mlir::Value isAhead(Elements &in, mlir::Type elementType, mlir::Value a, mlir::Value b,
                    bool least);

} // namespace convoy
