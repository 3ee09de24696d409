// Serialized onnx.TensorProto files, as ONNX's test data have them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads protobuf's wire format itself: convoy-run belongs to the runtime, which is installed on
// machines that have neither protobuf nor ONNX. The fields that count (onnx.proto):
//   1 dims   2 data_type   4 float_data   5 int32_data   7 int64_data   9 raw_data
//   10 double_data   11 uint64_data   14 data_location

#include "tools/support/Error.h"
#include "tools/support/Tensor.h"

#include <cstring>

namespace convoy::tools {

namespace {

/// A cursor over a message. Reads past the end set `broken` and return zero.
class Wire {
public:
  Wire(const uint8_t *data, size_t size) : at(data), end(data + size) {}

  bool done() const { return broken || at == end; }

  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at == end)
        break;
      uint8_t byte = *at++;
      value |= uint64_t(byte & 127) << shift;
      if (byte < 128)
        return value;
    }
    broken = true;
    return 0;
  }

  template <typename T> T fixed() {
    T value = 0;
    if (size_t(end - at) < sizeof value) {
      broken = true;
      return 0;
    }
    memcpy(&value, at, sizeof value);
    at += sizeof value;
    return value;
  }

  Wire message() {
    uint64_t size = varint();
    if (size > size_t(end - at)) {
      broken = true;
      size = 0;
    }
    Wire inner(at, size);
    at += size;
    return inner;
  }

  const uint8_t *at, *end;
  bool broken = false;
};

enum WireType { Varint = 0, Fixed64 = 1, Message = 2, Fixed32 = 5 };

/// A repeated field is one element or, packed, a message of elements.
template <typename Read, typename Add>
void repeated(Wire &wire, int wireType, Read read, Add add) {
  if (wireType != Message)
    return add(read(wire));
  Wire packed = wire.message();
  while (!packed.done())
    add(read(packed));
  wire.broken |= packed.broken;
}

convoy_type typeOf(const std::string &path, uint64_t dataType) {
  // The runtime numbers types as ONNX does; it has none for strings, complex and sub-byte types.
  auto type = convoy_type(dataType);
  if (dataType > 255 || convoy_type_size(type) == 0)
    throw Error(path + format(": ONNX element type %llu is not supported",
                              (unsigned long long)dataType));
  return type;
}

} // namespace

Tensor readTensorProto(const std::string &path) {
  std::vector<uint8_t> file = readFile(path);
  std::vector<int64_t> dims;
  std::vector<uint64_t> ints; // int32_data, int64_data and uint64_data, sign-extended.
  std::vector<double> floats; // float_data and double_data.
  uint64_t dataType = 0, location = 0;
  Wire raw(nullptr, 0);
  bool hasRaw = false;

  Wire wire(file.data(), file.size());
  auto readVarint = [](Wire &from) { return from.varint(); };
  auto addInt = [&](uint64_t value) { ints.push_back(value); };
  auto addFloat = [&](double value) { floats.push_back(value); };
  while (!wire.done()) {
    uint64_t tag = wire.varint();
    int wireType = tag & 7;
    switch (tag >> 3) {
    case 1:
      repeated(wire, wireType, readVarint, [&](uint64_t dim) { dims.push_back(int64_t(dim)); });
      break;
    case 2:
      dataType = wire.varint();
      break;
    case 4:
      repeated(wire, wireType, [](Wire &from) { return from.fixed<float>(); }, addFloat);
      break;
    case 5:
    case 7:
    case 11:
      repeated(wire, wireType, readVarint, addInt);
      break;
    case 9:
      raw = wire.message();
      hasRaw = true;
      break;
    case 10:
      repeated(wire, wireType, [](Wire &from) { return from.fixed<double>(); }, addFloat);
      break;
    case 14:
      location = wire.varint();
      break;
    default: // Names, documentation, fields of later versions.
      if (wireType == Varint)
        wire.varint();
      else if (wireType == Fixed64)
        wire.fixed<uint64_t>();
      else if (wireType == Message)
        wire.message();
      else if (wireType == Fixed32)
        wire.fixed<uint32_t>();
      else
        wire.broken = true;
    }
  }
  if (wire.broken || dataType == 0)
    throw Error(path + ": not a serialized onnx.TensorProto");
  if (location != 0)
    throw Error(path + ": tensors with external data are not supported");

  Tensor tensor;
  tensor.type = typeOf(path, dataType);
  size_t needed = byteSize(tensor.type, dims);
  size_t element = convoy_type_size(tensor.type), count = needed / element;
  if (hasRaw) {
    size_t size = raw.end - raw.at;
    if (size != needed)
      throw Error(path + format(": %zu bytes of raw_data where %s needs %zu", size,
                                describe(tensor.type, dims).c_str(), needed));
    tensor.resize(dims);
    if (size)
      memcpy(tensor.bytes.data(), raw.at, size);
    return tensor;
  }
  bool fromFloats = tensor.type == CONVOY_TYPE_F32 || tensor.type == CONVOY_TYPE_F64;
  size_t found = fromFloats ? floats.size() : ints.size();
  if (found != count)
    throw Error(path + format(": %zu elements where %s needs %zu", found,
                              describe(tensor.type, dims).c_str(), count));
  tensor.resize(dims);
  for (size_t i = 0; i < count; ++i) {
    if (fromFloats)
      tensor.set(i, floats[i]);
    else // Little-endian: the low bytes are the element. For f16 and bf16 they are its bits.
      memcpy(&tensor.bytes[i * element], &ints[i], element);
  }
  return tensor;
}

} // namespace convoy::tools
