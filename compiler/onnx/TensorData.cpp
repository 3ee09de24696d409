// Tensors of the model file: raw bytes, typed fields, external data.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/TensorData.h"

#include "dialects/Cnn/ConstantData.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;
using ::onnx::TensorProto;

Type convoy::onnx::getElementType(MLIRContext *context, int64_t dataType) {
  auto integer = [&](unsigned width) { return IntegerType::get(context, width); };
  auto natural = [&](unsigned width) {
    return IntegerType::get(context, width, IntegerType::Unsigned);
  };
  switch (dataType) {
  case TensorProto::FLOAT:
    return Float32Type::get(context);
  case TensorProto::DOUBLE:
    return Float64Type::get(context);
  case TensorProto::FLOAT16:
    return Float16Type::get(context);
  case TensorProto::BFLOAT16:
    return BFloat16Type::get(context);
  case TensorProto::INT8:
    return integer(8);
  case TensorProto::INT16:
    return integer(16);
  case TensorProto::INT32:
    return integer(32);
  case TensorProto::INT64:
    return integer(64);
  case TensorProto::UINT8:
    return natural(8);
  case TensorProto::UINT16:
    return natural(16);
  case TensorProto::UINT32:
    return natural(32);
  case TensorProto::UINT64:
    return natural(64);
  case TensorProto::BOOL:
    return integer(1);
  default:
    return {};
  }
}

std::string convoy::onnx::getDataTypeName(int64_t dataType) {
  // The types that came after the installed onnx.proto.
  static constexpr StringLiteral newer[] = {
      "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ", "UINT4",
      "INT4",         "FLOAT4E2M1",     "FLOAT8E8M0", "UINT2",          "INT2"};
  auto number = static_cast<int>(dataType);
  if (number == dataType && TensorProto::DataType_IsValid(number))
    return TensorProto::DataType_Name(static_cast<TensorProto::DataType>(number));
  if (dataType >= 17 && dataType < 17 + static_cast<int64_t>(std::size(newer)))
    return newer[dataType - 17].str();
  return "number " + std::to_string(dataType);
}

namespace {

// Reads one tensor. `owner` keeps alive what `data` points to.
class TensorReader {
public:
  TensorReader(Location loc, ModelFile &file, TensorProto &tensor)
      : loc(loc), file(file), tensor(tensor) {}

  FailureOr<ElementsAttr> read();

private:
  LogicalResult readType();
  LogicalResult readExternal();
  LogicalResult readRaw();
  LogicalResult readTyped();
  LogicalResult expectCount(int64_t count, StringRef field);
  template <typename Field> LogicalResult viewField(Field *field, StringRef name);
  template <typename Field> LogicalResult narrowField(const Field &field, StringRef name);
  InFlightDiagnostic error() {
    return mlir::emitError(loc) << "tensor '" << tensor.name() << "' ";
  }
  InFlightDiagnostic unsupported() {
    return mlir::emitError(loc) << "unsupported: tensor '" << tensor.name() << "' ";
  }

  Location loc;
  ModelFile &file;
  TensorProto &tensor;
  RankedTensorType type;
  int64_t bytes = 0;
  ArrayRef<char> data;
  std::shared_ptr<void> owner;
};

} // namespace

LogicalResult TensorReader::readType() {
  Type elementType = getElementType(loc.getContext(), tensor.data_type());
  if (!elementType)
    return unsupported() << "has elements of " << getDataTypeName(tensor.data_type())
                         << ", expected " << kElementTypes;
  if (tensor.has_segment())
    return unsupported() << "is stored in segments, expected one piece";
  std::optional<int64_t> count = 1;
  SmallVector<int64_t> shape;
  for (int64_t extent : tensor.dims()) {
    if (extent < 0)
      return error() << "has the negative extent " << extent;
    shape.push_back(extent);
    if (count)
      count = llvm::checkedMul(*count, extent);
  }
  if (count)
    count = llvm::checkedMul(*count, cnn::getElementBytes(elementType));
  if (!count)
    return error() << "has extents whose product overflows";
  bytes = *count;
  type = RankedTensorType::get(shape, elementType);
  return success();
}

LogicalResult TensorReader::readExternal() {
  std::string location;
  uint64_t offset = 0, length = bytes;
  for (const auto &entry : tensor.external_data()) {
    if (entry.key() == "location")
      location = entry.value();
    uint64_t *number = entry.key() == "offset"   ? &offset
                       : entry.key() == "length" ? &length
                                                 : nullptr;
    if (number && StringRef(entry.value()).getAsInteger(10, *number))
      return error() << "has external data with " << entry.key() << " '" << entry.value() << "'";
  }
  FailureOr<std::shared_ptr<llvm::MemoryBuffer>> buffer = file.openExternal(loc, tensor.name(), location);
  if (failed(buffer))
    return failure();
  uint64_t available = (*buffer)->getBufferSize();
  if (length != static_cast<uint64_t>(bytes))
    return error() << "needs " << bytes << " bytes for " << type << ", its external data have "
                   << length;
  if (offset > available || length > available - offset)
    return error() << "needs bytes " << offset << " to " << offset + length << " of '" << location
                   << "', which has " << available;
  data = ArrayRef<char>((*buffer)->getBufferStart() + offset, length);
  owner = *buffer;
  // Any offset is allowed; readers of constants want whole elements at their own alignment.
  if (reinterpret_cast<uintptr_t>(data.data()) % cnn::getElementBytes(type.getElementType())) {
    auto aligned = std::make_shared<std::vector<char>>(data.begin(), data.end());
    data = *aligned;
    owner = std::move(aligned);
  }
  return success();
}

LogicalResult TensorReader::readRaw() {
  if (static_cast<int64_t>(tensor.raw_data().size()) != bytes)
    return error() << "needs " << bytes << " bytes for " << type << ", got "
                   << tensor.raw_data().size();
  auto text = std::make_shared<std::string>(std::move(*tensor.mutable_raw_data()));
  data = ArrayRef<char>(text->data(), text->size());
  owner = std::move(text);
  return success();
}

LogicalResult TensorReader::expectCount(int64_t count, StringRef field) {
  if (count == type.getNumElements())
    return success();
  return error() << "needs " << type.getNumElements() << " elements for " << type << ", got "
                 << count << " in " << field;
}

// A field that has the elements as they are in memory.
template <typename Field> LogicalResult TensorReader::viewField(Field *field, StringRef name) {
  if (failed(expectCount(field->size(), name)))
    return failure();
  auto holder = std::make_shared<Field>();
  holder->Swap(field);
  data = ArrayRef<char>(reinterpret_cast<const char *>(holder->data()), bytes);
  owner = std::move(holder);
  return success();
}

// A field whose elements are wider than those of the type; floats of 16 bits are in it as bits.
template <typename Field>
LogicalResult TensorReader::narrowField(const Field &field, StringRef name) {
  if (failed(expectCount(field.size(), name)))
    return failure();
  auto holder = std::make_shared<std::vector<char>>(bytes);
  int64_t size = cnn::getElementBytes(type.getElementType());
  bool isBool = type.getElementType().isInteger(1);
  for (int i = 0; i < field.size(); ++i) {
    auto value = isBool ? field.Get(i) != 0 : field.Get(i);
    std::memcpy(holder->data() + i * size, &value, size); // little-endian host
  }
  data = *holder;
  owner = std::move(holder);
  return success();
}

LogicalResult TensorReader::readTyped() {
  switch (tensor.data_type()) {
  case TensorProto::FLOAT:
    return viewField(tensor.mutable_float_data(), "float_data");
  case TensorProto::DOUBLE:
    return viewField(tensor.mutable_double_data(), "double_data");
  case TensorProto::INT64:
    return viewField(tensor.mutable_int64_data(), "int64_data");
  case TensorProto::INT32:
    return viewField(tensor.mutable_int32_data(), "int32_data");
  case TensorProto::UINT64:
    return viewField(tensor.mutable_uint64_data(), "uint64_data");
  case TensorProto::UINT32:
    return narrowField(tensor.uint64_data(), "uint64_data");
  default:
    return narrowField(tensor.int32_data(), "int32_data");
  }
}

FailureOr<ElementsAttr> TensorReader::read() {
  if (failed(readType()))
    return failure();
  LogicalResult result = tensor.data_location() == TensorProto::EXTERNAL ? readExternal()
                         : tensor.has_raw_data()                         ? readRaw()
                                                                         : readTyped();
  if (failed(result))
    return failure();
  // Few bytes become a readable attribute of their own.
  constexpr size_t kInlineBytes = 1024;
  if (data.size() <= kInlineBytes)
    return cnn::makeConstant(type, std::vector<char>(data.begin(), data.end()));
  AsmResourceBlob blob(data, /*dataAlignment=*/1,
                       [owner = std::move(owner)](void *, size_t, size_t) mutable {
                         owner.reset();
                       },
                       /*dataIsMutable=*/false);
  return ElementsAttr(DenseResourceElementsAttr::get(type, "weights", std::move(blob)));
}

FailureOr<ElementsAttr> convoy::onnx::importTensor(Location loc, ModelFile &file, TensorProto &tensor) {
  return TensorReader(loc, file, tensor).read();
}
