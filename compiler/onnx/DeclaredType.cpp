// What a model declares of a value's type.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/DeclaredType.h"

#include "compiler/onnx/TensorData.h"
#include "dialects/Cnn/Cnn.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;
using ::onnx::ValueInfoProto;

bool convoy::onnx::isStatic(const ::onnx::TensorShapeProto::Dimension &dim) {
  return dim.has_dim_value() && dim.dim_value() >= 0;
}

SmallVector<int64_t> convoy::onnx::extentsOf(const ::onnx::TensorShapeProto &shape) {
  SmallVector<int64_t> extents;
  for (const auto &dim : shape.dim())
    extents.push_back(isStatic(dim) ? dim.dim_value() : ShapedType::kDynamic);
  return extents;
}

// For each dimension its symbolic name or an empty one; null where none has a name or the declared
// rank is another.
static ArrayAttr dimNamesOf(const ValueInfoProto &value, RankedTensorType type) {
  const auto &dims = value.type().tensor_type().shape().dim();
  bool isNamed = llvm::any_of(dims, [](const auto &dim) { return !dim.dim_param().empty(); });
  if (!isNamed || dims.size() != type.getRank())
    return {};
  SmallVector<Attribute> names;
  for (const auto &dim : dims)
    names.push_back(StringAttr::get(type.getContext(), dim.dim_param()));
  return ArrayAttr::get(type.getContext(), names);
}

DictionaryAttr convoy::onnx::nameAttrs(const ValueInfoProto &value, RankedTensorType type) {
  Builder builder(type.getContext());
  SmallVector<NamedAttribute> attrs{
      builder.getNamedAttr(cnn::kNameAttrName, builder.getStringAttr(value.name()))};
  if (ArrayAttr dimNames = dimNamesOf(value, type))
    attrs.push_back(builder.getNamedAttr(cnn::kDimNamesAttrName, dimNames));
  return builder.getDictionaryAttr(attrs);
}

std::string convoy::onnx::showType(const ::onnx::TypeProto &type) {
  auto elements = [](int32_t dataType) { return StringRef(getDataTypeName(dataType)).lower(); };
  // An installed onnx.proto may lack the newest kinds; a crafted file may nest them.
  constexpr int kMostNested = 8;
  std::string open, close;
  const ::onnx::TypeProto *inner = &type;
  for (int depth = 0; depth < kMostNested; ++depth) {
    if (inner->has_sequence_type()) {
      open += "seq(";
      inner = &inner->sequence_type().elem_type();
    } else if (inner->has_optional_type()) {
      open += "optional(";
      inner = &inner->optional_type().elem_type();
    } else if (inner->has_map_type()) {
      open += "map(" + elements(inner->map_type().key_type()) + ", ";
      inner = &inner->map_type().value_type();
    } else {
      break;
    }
    close += ")";
  }
  std::string core =
      inner->has_tensor_type() ? "tensor(" + elements(inner->tensor_type().elem_type()) + ")"
      : inner->has_sparse_tensor_type()
          ? "sparse_tensor(" + elements(inner->sparse_tensor_type().elem_type()) + ")"
          : "a type without a name";
  return open + core + close;
}

LogicalResult convoy::onnx::checkDeclared(Location loc, const ValueInfoProto &value,
                                          RankedTensorType type) {
  if (!value.type().has_tensor_type())
    return success();
  const auto &declared = value.type().tensor_type();
  Type elementType = getElementType(type.getContext(), declared.elem_type());
  if (declared.elem_type() != 0 && elementType != type.getElementType())
    return mlir::emitError(loc) << "'" << value.name() << "' is declared with elements of "
                                << getDataTypeName(declared.elem_type()) << ", but is " << type;
  if (!declared.has_shape())
    return success();
  const auto &dims = declared.shape().dim();
  bool agrees = dims.size() == type.getRank();
  for (int i = 0; agrees && i < dims.size(); ++i)
    agrees =
        !isStatic(dims[i]) || type.isDynamicDim(i) || dims[i].dim_value() == type.getDimSize(i);
  if (agrees)
    return success();
  return mlir::emitError(loc) << "'" << value.name() << "' is declared as ["
                              << showShape(extentsOf(declared.shape())) << "], but is ["
                              << showShape(type.getShape()) << "]";
}
