// Tensor arithmetic from which import functions compose ops that the dialect has no op for.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "compiler/onnx/ScalarBuilder.h"
#include "compiler/onnx/WindowAttrs.h"

namespace convoy::onnx {

/// The tensor with elements of another type, converted as ONNX's Cast has it.
mlir::FailureOr<Tensor> castTensor(NodeImport &node, const Tensor &tensor, mlir::Type elementType);

/// A tensor of rank 0 and a vector, both known.
Tensor scalarTensor(mlir::Type elementType, double value);
Tensor vectorTensor(mlir::Type elementType, llvm::ArrayRef<double> values);

/// What becomes of an accumulator. `function` gets the accumulator, then an element of each of
/// `extras`; its ScalarBuilder works on the accumulator's type. Without a function the
/// accumulator is the result. A null `elementType` is the accumulator's.
struct Epilogue {
  llvm::ArrayRef<Tensor> extras;
  mlir::Type elementType;
  ScalarFunction function;
};

mlir::FailureOr<Tensor> createReduce(NodeImport &node, const Tensor &src, cnn::ReduceKind kind,
                                     llvm::ArrayRef<int64_t> axes, bool keepDims,
                                     const Epilogue &epilogue = {});
mlir::FailureOr<Tensor> createConv(NodeImport &node, const Tensor &src, const Tensor &wei,
                                   const WindowAttrs &window, int64_t groups,
                                   const Epilogue &epilogue = {});
mlir::FailureOr<Tensor> createMatmul(NodeImport &node, const Tensor &lhs, const Tensor &rhs,
                                     bool transposeLhs, bool transposeRhs,
                                     const Epilogue &epilogue = {});

/// The window of kernel_shape, by default the spatial extents of `wei`, and its pads over `src`.
mlir::FailureOr<WindowAttrs> readConvWindow(NodeImport &node, const Tensor &src,
                                            const Tensor &wei);

/// Sets result 0 if there is one to set.
mlir::LogicalResult setResult(NodeImport &node, mlir::FailureOr<Tensor> tensor);

} // namespace convoy::onnx
