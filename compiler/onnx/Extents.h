// Extents that only a run tells: how each op carries them from its inputs to its results.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "compiler/onnx/NodeImport.h"

namespace convoy::onnx {

/// What an op makes of inputs with counted dimensions. Its import function works on the bounds.
struct ExtentRule {
  /// Before the import function: makes what lies beyond a count harmless. May be null.
  mlir::LogicalResult (*before)(NodeImport &node);
  /// After it: says which dimensions of the results are counted. Null if the import function does.
  mlir::LogicalResult (*after)(NodeImport &node);
  /// Whether an element of a result depends on one element of each input, which broadcast.
  bool isElementwise = false;
};

/// The rule of an op of the default domain; null if it takes no counted dimensions.
const ExtentRule *findExtentRule(llvm::StringRef opType);

/// `tensor` with `fill`, one known element of its type, in the place of what lies beyond its count.
mlir::FailureOr<Tensor> fillBeyondCount(NodeImport &node, const Tensor &tensor,
                                        const HostTensor &fill);
/// The least or greatest number of a type, for floats infinite, as a scalar.
HostTensor extremeOf(mlir::Type elementType, bool greatest);
/// The IR value of a tensor that may have failed.
mlir::FailureOr<mlir::Value> valueOf(NodeImport &node, const mlir::FailureOr<Tensor> &tensor);
/// The concatenation of tensors of which some have a count along the axis.
mlir::FailureOr<Tensor> concatCounted(NodeImport &node, llvm::ArrayRef<Tensor> tensors,
                                      int64_t axis);
/// A slice along one axis of a tensor, by scalars of i64. The tensor may have a count there, and
/// start and end may be known only at run time: the result has a count.
mlir::FailureOr<Tensor> sliceCounted(NodeImport &node, const Tensor &src, int64_t axis,
                                     const Tensor &start, const Tensor &end, int64_t step);
/// The number of true elements of a vector of bools, a scalar.
mlir::FailureOr<mlir::Value> countTrue(NodeImport &node, const Tensor &mask);

} // namespace convoy::onnx
