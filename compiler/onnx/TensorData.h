// ONNX's tensors as constants.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "compiler/onnx/ModelFile.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace convoy::onnx {

/// The element type that stands for an ONNX data type; null if Convoy has none.
mlir::Type getElementType(mlir::MLIRContext *context, int64_t dataType);
/// ONNX's name of a data type, such as FLOAT.
std::string getDataTypeName(int64_t dataType);
/// What messages say is expected in the place of another type.
inline constexpr llvm::StringLiteral kElementTypes =
    "floats of 16 to 64 bits, integers of 8 to 64 bits or bools";

/// The constant that a tensor holds, or an error at `loc`. Its data move out of the tensor or
/// stay in the mapped file: large weights are not copied.
mlir::FailureOr<mlir::ElementsAttr> importTensor(mlir::Location loc, ModelFile &file,
                                                 ::onnx::TensorProto &tensor);

} // namespace convoy::onnx
