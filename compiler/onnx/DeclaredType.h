// What a model declares of a value's type.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "compiler/onnx/Importer.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/LogicalResult.h"

#include <onnx/onnx_pb.h>

namespace convoy::onnx {

/// Whether an extent is a number. Some writers say -1 for one that they do not know.
bool isStatic(const ::onnx::TensorShapeProto::Dimension &dim);
/// Whether a shape may be that of a batch of one image: of rank 2 or more and 1 in front.
template <typename Dims> bool isOneImage(const Dims &dims) {
  return dims.size() >= 2 && isStatic(dims[0]) && dims[0].dim_value() == 1;
}
/// The extents of a shape, kDynamic for those that are no numbers.
llvm::SmallVector<int64_t> extentsOf(const ::onnx::TensorShapeProto &shape);
/// A type as ONNX writes it: seq(tensor(float)).
std::string showType(const ::onnx::TypeProto &type);
/// A shape as users write it: 1x3x?x224.
std::string showShape(llvm::ArrayRef<int64_t> shape);
/// The attributes by which main's arguments and results carry the names of a value and of its
/// symbolic extents.
mlir::DictionaryAttr nameAttrs(const ::onnx::ValueInfoProto &value, mlir::RankedTensorType type);
/// Reports at `loc` where the type of a value is not as declared.
mlir::LogicalResult checkDeclared(mlir::Location loc, const ::onnx::ValueInfoProto &value,
                                  mlir::RankedTensorType type);

} // namespace convoy::onnx
