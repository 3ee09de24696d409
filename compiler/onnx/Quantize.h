// Quantization, shared by ONNX's ops and onnxruntime's.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "compiler/onnx/Compose.h"

namespace convoy::onnx {

/// round(x / scale) + zero point, saturated to `to`, of an f32 `ratio` = x / scale. `zeroPoint`
/// has elements of `to`; null stands for 0. Halves round to even.
mlir::Value quantize(ScalarBuilder &f32, mlir::Value ratio, mlir::Value zeroPoint, mlir::Type to);
/// (x - zero point) * scale in f32, of an x and zero point of `from`.
mlir::Value dequantize(ScalarBuilder &f32, mlir::Value x, mlir::Value zeroPoint, mlir::Value scale,
                       mlir::Type from);

/// A quantized tensor among the inputs of a node: the tensor, its scale as f32, its zero point,
/// both laid out to broadcast over the tensor. The zero point may be left out.
struct Quantized {
  Tensor tensor, scale, zeroPoint;
};

/// Scale and zero point of the inputs at `scale` and `zeroPoint`, one element each, as tensors of
/// rank 0. `like` is the element type that the zero point must have, or null.
mlir::FailureOr<Quantized> readScalarQuantization(NodeImport &node, unsigned scale,
                                                  unsigned zeroPoint, mlir::Type like);

/// A parameter of rank 0 or a vector along `axis` of a tensor of `rank`, to broadcast over it.
mlir::FailureOr<Tensor> alongAxis(NodeImport &node, const Tensor &parameter, int64_t extent,
                                  int64_t axis, int64_t rank);

/// The tensor minus its zero point as i32; exact for 8 and 16 bits.
mlir::FailureOr<Tensor> centered(NodeImport &node, const Tensor &tensor, const Tensor &zeroPoint);

/// lhs * rhs / dst of three scales in f32, which broadcast.
mlir::FailureOr<Tensor> combineScales(NodeImport &node, const Tensor &lhs, const Tensor &rhs,
                                      const Tensor &dst);

} // namespace convoy::onnx
