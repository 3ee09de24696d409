// The cnn dialect: attributes, types of elements, layouts.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Cnn/Cnn.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::cnn;

#include "dialects/Cnn/CnnDialect.cpp.inc"
#include "dialects/Cnn/CnnEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Cnn/CnnAttrs.cpp.inc"

void CnnDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Cnn/CnnAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Cnn/CnnOps.cpp.inc"
      >();
}

Operation *CnnDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                           Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || !isa<RankedTensorType>(type))
    return nullptr;
  return ConstantOp::create(builder, loc, type, elements);
}

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef tag) {
  if (!Layout::parse(tag))
    return emitError() << "'" << tag << "' is not a layout tag such as nchw, nhwc or nchw16c";
  return success();
}

LogicalResult LayoutAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                         function_ref<InFlightDiagnostic()> emitError) const {
  unsigned rank = Layout::parse(getTag())->rank();
  if (rank != shape.size())
    return emitError() << "layout '" << getTag() << "' is for rank " << rank
                       << ", the tensor has rank " << shape.size();
  return success();
}

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef,
                                 int64_t lanes, int64_t registers, int64_t l1Bytes,
                                 int64_t l2Bytes, StringRef, ArrayRef<StringAttr>, bool) {
  if (lanes < 1 || !llvm::isPowerOf2_64(lanes))
    return emitError() << "lanes must be a power of two, got " << lanes;
  for (auto [name, value] :
       {std::pair<StringRef, int64_t>{"registers", registers}, {"l1Bytes", l1Bytes},
        {"l2Bytes", l2Bytes}})
    if (value < 1)
      return emitError() << name << " must be positive, got " << value;
  return success();
}

Layout cnn::getLayout(RankedTensorType type) {
  if (auto layout = dyn_cast_or_null<LayoutAttr>(type.getEncoding()))
    return *Layout::parse(layout.getTag());
  return Layout::rowMajor(type.getRank());
}

RankedTensorType cnn::withLayout(RankedTensorType type, StringRef tag) {
  Attribute encoding;
  if (!tag.empty())
    encoding = LayoutAttr::get(type.getContext(), tag);
  return RankedTensorType::get(type.getShape(), type.getElementType(), encoding);
}

StringRef cnn::getLayoutTag(RankedTensorType type) {
  auto layout = dyn_cast_or_null<LayoutAttr>(type.getEncoding());
  return layout ? layout.getTag() : StringRef();
}

Type cnn::getScalarType(Type elementType) {
  if (elementType.isUnsignedInteger())
    return IntegerType::get(elementType.getContext(), elementType.getIntOrFloatBitWidth());
  return elementType;
}

int64_t cnn::getElementBytes(Type elementType) {
  return llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8u);
}

bool cnn::hasFreeBatch(RankedTensorType type) {
  return type.getRank() > 0 && type.isDynamicDim(0);
}

RankedTensorType cnn::perImage(RankedTensorType type) {
  if (!hasFreeBatch(type))
    return type;
  SmallVector<int64_t> shape(type.getShape());
  shape[0] = 1;
  return RankedTensorType::get(shape, type.getElementType(), type.getEncoding());
}

int64_t cnn::getBytes(RankedTensorType type) {
  return getLayout(type).numPhysicalElements(perImage(type).getShape()) *
         getElementBytes(type.getElementType());
}

void cnn::buildIdentityEpilogue(OpBuilder &builder, Region &region, Type accumulator,
                                Location loc) {
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&region, {}, accumulator, loc);
  YieldOp::create(builder, loc, block->getArgument(0));
}
