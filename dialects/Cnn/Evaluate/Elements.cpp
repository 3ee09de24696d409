// Elements of any type as numbers that the evaluator computes with.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Cnn/Evaluate/Elements.h"

#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace mlir;
using namespace convoy::cnn;

// Narrow floats: E bits of exponent, M of mantissa.
template <unsigned E, unsigned M>
static double fromBits(uint16_t bits) {
  constexpr int kBias = (1 << (E - 1)) - 1;
  uint64_t sign = uint64_t(bits >> (E + M)) << 63;
  uint64_t exponent = (bits >> M) & ((1u << E) - 1), mantissa = bits & ((1u << M) - 1);
  if (exponent == 0) { // zero or subnormal
    double magnitude = double(mantissa) * llvm::bit_cast<double>(uint64_t(1024 - kBias - M) << 52);
    return sign ? -magnitude : magnitude;
  }
  uint64_t wide = exponent == (1u << E) - 1 ? 0x7ff : exponent - kBias + 1023;
  return llvm::bit_cast<double>(sign | (wide << 52) | (mantissa << (52 - M)));
}

template <unsigned E, unsigned M>
static uint16_t toBits(double value) {
  constexpr int64_t kMinExponent = 2 - (1 << (E - 1));
  constexpr uint64_t kInfinity = ((uint64_t(1) << E) - 1) << M;
  uint64_t bits = llvm::bit_cast<uint64_t>(value);
  uint16_t sign = uint16_t(bits >> 63) << (E + M);
  bits &= ~uint64_t(0) >> 1;
  constexpr uint64_t kWideInfinity = uint64_t(0x7ff) << 52;
  if (bits > kWideInfinity)
    return sign | kInfinity | (1u << (M - 1)) |
           ((bits >> (52 - M)) & ((1u << M) - 1));
  if (bits == kWideInfinity)
    return sign | kInfinity;
  int64_t exponent = int64_t(bits >> 52) - 1023;
  uint64_t mantissa = (bits & ((uint64_t(1) << 52) - 1)) | (uint64_t(1) << 52);
  // A subnormal result gives up one more bit for each step below the least exponent.
  int64_t shift = 52 - M + std::max<int64_t>(0, kMinExponent - exponent);
  if (shift > 54)
    return sign;
  uint64_t result = mantissa >> shift, half = uint64_t(1) << (shift - 1);
  uint64_t rest = mantissa & ((uint64_t(1) << shift) - 1);
  result += rest > half || (rest == half && (result & 1));
  // The leading one of a normal result carries into the exponent.
  if (exponent > kMinExponent)
    result += uint64_t(exponent - kMinExponent) << M;
  return sign | std::min(result, kInfinity);
}

std::optional<Codec> Codec::of(Type elementType) {
  if (elementType.isF32())
    return Codec(Kind::F32, 32, false);
  if (elementType.isF64())
    return Codec(Kind::F64, 64, false);
  if (elementType.isF16())
    return Codec(Kind::F16, 16, false);
  if (elementType.isBF16())
    return Codec(Kind::BF16, 16, false);
  if (elementType.isIndex())
    return Codec(Kind::Int, 64, false);
  if (auto type = dyn_cast<IntegerType>(elementType); type && type.getWidth() <= 64)
    return Codec(Kind::Int, type.getWidth(), type.isUnsigned() || type.getWidth() == 1);
  return std::nullopt;
}

template <typename T>
static void decodeAs(const char *data, int64_t count, Lane *lanes) {
  for (int64_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, data + i * sizeof(T), sizeof(T));
    if constexpr (std::is_floating_point_v<T>)
      lanes[i].f = value;
    else
      lanes[i].i = static_cast<int64_t>(value);
  }
}

template <typename T>
static void encodeAs(const Lane *lanes, int64_t count, char *data) {
  for (int64_t i = 0; i < count; ++i) {
    T value;
    if constexpr (std::is_floating_point_v<T>)
      value = static_cast<T>(lanes[i].f);
    else
      value = static_cast<T>(lanes[i].i);
    std::memcpy(data + i * sizeof(T), &value, sizeof(T));
  }
}

// Calls `function` with a null pointer of the integer type that an element is stored as.
template <typename F>
static void withStorage(unsigned width, bool isUnsigned, F &&function) {
  if (width <= 8)
    return isUnsigned ? function(static_cast<uint8_t *>(nullptr))
                      : function(static_cast<int8_t *>(nullptr));
  if (width <= 16)
    return isUnsigned ? function(static_cast<uint16_t *>(nullptr))
                      : function(static_cast<int16_t *>(nullptr));
  if (width <= 32)
    return isUnsigned ? function(static_cast<uint32_t *>(nullptr))
                      : function(static_cast<int32_t *>(nullptr));
  return function(static_cast<int64_t *>(nullptr));
}

template <unsigned E, unsigned M>
static void decodeNarrow(const char *data, int64_t count, Lane *lanes) {
  for (int64_t i = 0; i < count; ++i) {
    uint16_t bits;
    std::memcpy(&bits, data + i * 2, 2);
    lanes[i].f = fromBits<E, M>(bits);
  }
}

template <unsigned E, unsigned M>
static void encodeNarrow(const Lane *lanes, int64_t count, char *data) {
  for (int64_t i = 0; i < count; ++i) {
    uint16_t bits = toBits<E, M>(lanes[i].f);
    std::memcpy(data + i * 2, &bits, 2);
  }
}

void Codec::decode(const char *data, int64_t count, Lane *lanes) const {
  switch (kind) {
  case Kind::F16:
    return decodeNarrow<5, 10>(data, count, lanes);
  case Kind::BF16:
    return decodeNarrow<8, 7>(data, count, lanes);
  case Kind::F32:
    return decodeAs<float>(data, count, lanes);
  case Kind::F64:
    return decodeAs<double>(data, count, lanes);
  case Kind::Int:
    withStorage(width, isUnsigned, [&](auto *type) {
      decodeAs<std::remove_pointer_t<decltype(type)>>(data, count, lanes);
    });
    if (width == 1) // any byte but 0 is true
      for (int64_t i = 0; i < count; ++i)
        lanes[i].i = lanes[i].i != 0;
  }
}

void Codec::encode(const Lane *lanes, int64_t count, char *data) const {
  switch (kind) {
  case Kind::F16:
    return encodeNarrow<5, 10>(lanes, count, data);
  case Kind::BF16:
    return encodeNarrow<8, 7>(lanes, count, data);
  case Kind::F32:
    return encodeAs<float>(lanes, count, data);
  case Kind::F64:
    return encodeAs<double>(lanes, count, data);
  case Kind::Int:
    withStorage(width, isUnsigned, [&](auto *type) {
      encodeAs<std::remove_pointer_t<decltype(type)>>(lanes, count, data);
    });
  }
}

void Codec::normalize(Lane *lanes, int64_t count) const {
  switch (kind) {
  case Kind::F16:
    for (int64_t i = 0; i < count; ++i)
      lanes[i].f = fromBits<5, 10>(toBits<5, 10>(lanes[i].f));
    return;
  case Kind::BF16:
    for (int64_t i = 0; i < count; ++i)
      lanes[i].f = fromBits<8, 7>(toBits<8, 7>(lanes[i].f));
    return;
  case Kind::F32:
    for (int64_t i = 0; i < count; ++i)
      lanes[i].f = static_cast<float>(lanes[i].f);
    return;
  case Kind::F64:
    return;
  case Kind::Int:
    if (width == 64)
      return;
    for (int64_t i = 0; i < count; ++i) {
      uint64_t high = uint64_t(lanes[i].i) << (64 - width);
      lanes[i].i = isUnsigned ? int64_t(high >> (64 - width)) : int64_t(high) >> (64 - width);
    }
  }
}

template <typename T>
Decoded<T>::Decoded(const Tensor &tensor) {
  Type type = tensor.elementType();
  bool isStored = type.isF32() || type.isF64() || type.isInteger(64);
  if (isStored) {
    view = reinterpret_cast<const T *>(tensor.data());
    return;
  }
  Codec codec = *Codec::of(type);
  int64_t count = tensor.numElements(), size = tensor.elementBytes();
  copy.resize(count);
  constexpr int64_t kChunk = 256;
  Lane lanes[kChunk];
  for (int64_t start = 0; start < count; start += kChunk) {
    int64_t length = std::min(kChunk, count - start);
    codec.decode(tensor.data() + start * size, length, lanes);
    for (int64_t i = 0; i < length; ++i) {
      if constexpr (std::is_floating_point_v<T>)
        copy[start + i] = static_cast<T>(lanes[i].f);
      else
        copy[start + i] = static_cast<T>(lanes[i].i);
    }
  }
  view = copy.data();
}

template class convoy::cnn::Decoded<float>;
template class convoy::cnn::Decoded<double>;
template class convoy::cnn::Decoded<int64_t>;
template class convoy::cnn::Decoded<uint64_t>;
