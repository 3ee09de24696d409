// Access to the bytes of constants.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Cnn/ConstantData.h"

#include "mlir/IR/DialectResourceBlobManager.h"

#include <cstddef>
#include <cstring>

using namespace mlir;
using namespace convoy::cnn;

// Up to here a constant is readable text in a dump and cheap to unique.
static constexpr size_t kInlineBytes = 1024;

ConstantData::ConstantData(ElementsAttr value) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
      view = blob->getData();
    return;
  }
  auto dense = cast<DenseElementsAttr>(value);
  Type elementType = dense.getElementType();
  int64_t count = dense.getNumElements();
  if (elementType.isInteger(1)) {
    copy.reserve(count);
    for (bool element : dense.getValues<bool>())
      copy.push_back(element);
    view = copy;
    return;
  }
  ArrayRef<char> raw = dense.getRawData();
  if (!dense.isSplat()) {
    view = raw;
    return;
  }
  copy.resize(count * raw.size());
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(copy.data() + i * raw.size(), raw.data(), raw.size());
  view = copy;
}

ElementsAttr convoy::cnn::makeConstant(RankedTensorType type, std::vector<char> bytes) {
  assert(bytes.size() == size_t(type.getNumElements() * getElementBytes(type.getElementType())));
  type = RankedTensorType::get(type.getShape(), type.getElementType());
  if (bytes.size() <= kInlineBytes) {
    if (type.getElementType().isInteger(1)) {
      SmallVector<bool> bools(bytes.begin(), bytes.end());
      return DenseElementsAttr::get(type, bools);
    }
    return DenseElementsAttr::getFromRawBuffer(type, bytes);
  }
  // The blob owns the vector itself: copies of hundreds of megabytes are mostly page faults.
  ArrayRef<char> data(bytes);
  AsmResourceBlob blob(data, alignof(std::max_align_t),
                       [owner = std::move(bytes)](void *, size_t, size_t) {},
                       /*dataIsMutable=*/false);
  return DenseResourceElementsAttr::get(type, "const", std::move(blob));
}

ElementsAttr convoy::cnn::makeConstantView(RankedTensorType type, ArrayRef<char> bytes) {
  if (bytes.size() <= kInlineBytes)
    return makeConstant(type, std::vector<char>(bytes.begin(), bytes.end()));
  type = RankedTensorType::get(type.getShape(), type.getElementType());
  return DenseResourceElementsAttr::get(
      type, "const", UnmanagedAsmResourceBlob::allocateInferAlign(bytes));
}

ElementsAttr convoy::cnn::getConstant(Value value) {
  auto constant = value ? value.getDefiningOp<ConstantOp>() : ConstantOp();
  return constant ? constant.getValue() : ElementsAttr();
}

std::optional<SmallVector<int64_t>> convoy::cnn::getConstantInts(Value value) {
  ElementsAttr constant = getConstant(value);
  if (!constant || !constant.getElementType().isIntOrIndex())
    return std::nullopt;
  ConstantData data(constant);
  int64_t size = getElementBytes(constant.getElementType());
  SmallVector<int64_t> result;
  for (int64_t i = 0, e = constant.getNumElements(); i < e; ++i)
    result.push_back(readInt(data.bytes().data() + i * size, constant.getElementType()));
  return result;
}

std::optional<SmallVector<double>> convoy::cnn::getConstantFloats(Value value) {
  ElementsAttr constant = getConstant(value);
  if (!constant || !isa<FloatType>(constant.getElementType()))
    return std::nullopt;
  ConstantData data(constant);
  int64_t size = getElementBytes(constant.getElementType());
  SmallVector<double> result;
  for (int64_t i = 0, e = constant.getNumElements(); i < e; ++i)
    result.push_back(readFloat(data.bytes().data() + i * size, constant.getElementType()));
  return result;
}

int64_t convoy::cnn::readInt(const char *data, Type elementType) {
  int64_t size = getElementBytes(elementType);
  uint64_t bits = 0;
  std::memcpy(&bits, data, size); // little-endian host
  if (elementType.isInteger(1))
    return bits != 0;
  if (elementType.isUnsignedInteger() || size == 8)
    return static_cast<int64_t>(bits);
  return llvm::SignExtend64(bits, size * 8);
}

double convoy::cnn::readFloat(const char *data, Type elementType) {
  if (elementType.isF32()) {
    float value;
    std::memcpy(&value, data, sizeof value);
    return value;
  }
  if (elementType.isF64()) {
    double value;
    std::memcpy(&value, data, sizeof value);
    return value;
  }
  uint64_t bits = 0;
  std::memcpy(&bits, data, getElementBytes(elementType));
  auto floatType = cast<FloatType>(elementType);
  APFloat value(floatType.getFloatSemantics(), APInt(floatType.getWidth(), bits));
  bool losesInfo;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
  return value.convertToDouble();
}

void convoy::cnn::writeInt(char *data, Type elementType, int64_t value) {
  if (elementType.isInteger(1))
    value = value != 0;
  std::memcpy(data, &value, getElementBytes(elementType));
}

void convoy::cnn::writeFloat(char *data, Type elementType, double value) {
  if (elementType.isF32()) {
    float narrow = static_cast<float>(value);
    std::memcpy(data, &narrow, sizeof narrow);
    return;
  }
  if (elementType.isF64()) {
    std::memcpy(data, &value, sizeof value);
    return;
  }
  APFloat number(value);
  bool losesInfo;
  number.convert(cast<FloatType>(elementType).getFloatSemantics(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
  uint64_t bits = number.bitcastToAPInt().getZExtValue();
  std::memcpy(data, &bits, getElementBytes(elementType));
}
