// Builds the scalar regions of elementwise ops.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "compiler/onnx/NodeImport.h"

namespace convoy::onnx {

/// Arithmetic on elements of one ONNX type: picks float, signed, unsigned or bool forms.
class ScalarBuilder {
public:
  /// `elementType` is the tensors' type, which knows about signs.
  ScalarBuilder(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type elementType)
      : b(builder), loc(loc), elementType(elementType) {}

  /// The same place with elements of another type.
  ScalarBuilder of(mlir::Type other) const { return ScalarBuilder(b, loc, other); }

  mlir::Type type() const { return cnn::getScalarType(elementType); }
  bool isFloat() const { return mlir::isa<mlir::FloatType>(elementType); }
  bool isUnsigned() const { return elementType.isUnsignedInteger() || elementType.isInteger(1); }

  mlir::Value number(double value);
  mlir::Value integer(int64_t value);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  /// Truncates integers; 0 where one is divided by zero.
  mlir::Value div(mlir::Value x, mlir::Value y);
  /// The rest of a division: of the divisor's sign, or with `truncated` of the dividend's. The
  /// rest of floats is always truncated, and so exact.
  mlir::Value mod(mlir::Value x, mlir::Value y, bool truncated);
  /// NaN if one is NaN.
  mlir::Value max(mlir::Value x, mlir::Value y);
  mlir::Value min(mlir::Value x, mlir::Value y);
  mlir::Value neg(mlir::Value x);
  mlir::Value abs(mlir::Value x);
  mlir::Value equal(mlir::Value x, mlir::Value y);
  mlir::Value less(mlir::Value x, mlir::Value y);
  mlir::Value lessOrEqual(mlir::Value x, mlir::Value y);
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y) {
    return make<mlir::arith::SelectOp>(condition, x, y);
  }
  /// ONNX's Cast of an element to `to`.
  mlir::Value cast(mlir::Value x, mlir::Type to);
  /// x to the power of `exponent`, which has the element type `exponentType`.
  mlir::Value pow(mlir::Value x, mlir::Value exponent, mlir::Type exponentType);

  template <typename OpTy, typename... Args> mlir::Value make(Args &&...args) {
    return OpTy::create(b, loc, std::forward<Args>(args)...);
  }

private:
  mlir::Value floatToInt(mlir::Value x, mlir::Type to);
  mlir::Value intPow(mlir::Value x, mlir::Value exponent, mlir::Type exponentType);

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Type elementType;
};

/// The element of a result from the elements of the inputs.
using ScalarFunction =
    llvm::function_ref<mlir::Value(ScalarBuilder &scalar, llvm::ArrayRef<mlir::Value> elements)>;

/// A cnn.map over `inputs`, with elements of `elementType`. Single known elements become
/// constants of the region. The ScalarBuilder works on the type of the first input.
mlir::FailureOr<Tensor> createMap(NodeImport &node, llvm::ArrayRef<Tensor> inputs,
                                  mlir::Type elementType, ScalarFunction function);

} // namespace convoy::onnx
