// The cnn dialect: the one header for its users.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "dialects/Cnn/Layout.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Cnn/CnnDialect.h.inc"
#include "dialects/Cnn/CnnEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Cnn/CnnAttrs.h.inc"

namespace convoy::cnn {
/// Checks that the region's arguments and result have the element types of the op's.
mlir::LogicalResult verifyScalarRegion(mlir::Operation *op);
} // namespace convoy::cnn

#include "dialects/Cnn/CnnInterfaces.h.inc"
#define GET_OP_CLASSES
#include "dialects/Cnn/CnnOps.h.inc"

namespace convoy::cnn {

/// Name of the module's attribute that holds a TargetAttr.
inline constexpr llvm::StringLiteral kTargetAttrName = "cnn.target";
/// Name of the string attribute of main's arguments and results: the ONNX value's name.
inline constexpr llvm::StringLiteral kNameAttrName = "cnn.name";
/// Beside it, of those with symbolic extents: an array of strings, for each dimension its ONNX name
/// or an empty one.
inline constexpr llvm::StringLiteral kDimNamesAttrName = "cnn.dim_names";
/// On a result of a graph: the ExtentAttr of a dimension whose extent only a run tells.
inline constexpr llvm::StringLiteral kExtentAttrName = "cnn.extent";

/// The layout of a tensor: its encoding, or row-major.
Layout getLayout(mlir::RankedTensorType type);
/// `type` with the layout of a tag; an empty tag is row-major.
mlir::RankedTensorType withLayout(mlir::RankedTensorType type, llvm::StringRef tag);
/// The tag of a tensor's layout; empty for row-major.
llvm::StringRef getLayoutTag(mlir::RankedTensorType type);

/// The type that stands for an element in scalar code: unsigned integers become signless.
mlir::Type getScalarType(mlir::Type elementType);
inline mlir::Type getScalarType(mlir::RankedTensorType type) {
  return getScalarType(type.getElementType());
}
/// Bytes of one element in memory; a bool takes one.
int64_t getElementBytes(mlir::Type elementType);
/// Whether dimension 0 is the free batch.
bool hasFreeBatch(mlir::RankedTensorType type);
/// `type` with a free batch replaced by 1.
mlir::RankedTensorType perImage(mlir::RankedTensorType type);
/// Bytes in memory, padding of blocks included; of one image if the batch is free.
int64_t getBytes(mlir::RankedTensorType type);

/// The shape that shapes broadcast to as numpy has it, or an error at `loc`.
mlir::FailureOr<llvm::SmallVector<int64_t>>
inferBroadcast(mlir::Location loc, llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes);

/// The spatial pads, kernel and so on of a window op along one spatial dimension.
struct Window {
  int64_t kernel, stride, dilation, padLow, padHigh;
  /// Extent of the kernel with its dilation.
  int64_t reach() const { return (kernel - 1) * dilation + 1; }
};

/// Fills an empty region with a block that yields the accumulator.
void buildIdentityEpilogue(mlir::OpBuilder &builder, mlir::Region &region, mlir::Type accumulator,
                           mlir::Location loc);

} // namespace convoy::cnn
