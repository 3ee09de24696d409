// A tensor in memory, and files as bytes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/support/Tensor.h"

#include "tools/support/Error.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <sys/stat.h>
#include <unistd.h>

namespace convoy::tools {

namespace {

float halfToFloat(uint16_t half) {
  int exponent = (half >> 10) & 31, mantissa = half & 1023;
  float magnitude = exponent == 31  ? (mantissa ? NAN : INFINITY)
                    : exponent == 0 ? std::ldexp(float(mantissa), -24)
                                    : std::ldexp(float(mantissa + 1024), exponent - 25);
  return half & 0x8000 ? -magnitude : magnitude;
}

uint16_t doubleToHalf(double value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  double magnitude = std::fabs(value);
  if (std::isnan(value))
    return sign | 0x7e00;
  if (magnitude >= 65520)
    return sign | 0x7c00;
  int exponent = -14; // Subnormals have the exponent of the smallest normal numbers.
  if (magnitude >= std::ldexp(1.0, -14))
    exponent = std::ilogb(magnitude);
  // In units of the last place, to the nearest even; a carry moves into the exponent by itself.
  auto units = uint32_t(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  return sign | uint16_t(units + ((exponent + 14) << 10));
}

float bfloatToFloat(uint16_t bits) {
  uint32_t wide = uint32_t(bits) << 16;
  float result;
  memcpy(&result, &wide, sizeof result);
  return result;
}

uint16_t doubleToBfloat(double value) {
  auto single = float(value);
  uint32_t bits;
  memcpy(&bits, &single, sizeof bits);
  if (std::isnan(value))
    return uint16_t(bits >> 16 | 0x40);
  return uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

template <typename T> double load(const uint8_t *from) {
  T value;
  memcpy(&value, from, sizeof value);
  return double(value);
}

template <typename T> void storeRounded(uint8_t *to, double value) {
  constexpr double least = double(std::numeric_limits<T>::lowest());
  constexpr double most = double(std::numeric_limits<T>::max());
  double rounded = std::isnan(value) ? 0 : std::nearbyint(value);
  // For 64 bits `most` rounds up to a number outside the type: >= keeps the cast defined.
  T result = rounded <= least  ? std::numeric_limits<T>::lowest()
             : rounded >= most ? std::numeric_limits<T>::max()
                               : T(rounded);
  memcpy(to, &result, sizeof result);
}

} // namespace

int64_t Tensor::size() const {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  return count;
}

void Tensor::resize(std::vector<int64_t> newDims) {
  bytes.resize(byteSize(type, newDims));
  dims = std::move(newDims);
}

double Tensor::at(int64_t index) const {
  const uint8_t *from = bytes.data() + index * convoy_type_size(type);
  switch (type) {
  case CONVOY_TYPE_F32:
    return load<float>(from);
  case CONVOY_TYPE_F64:
    return load<double>(from);
  case CONVOY_TYPE_F16:
    return halfToFloat(uint16_t(load<uint16_t>(from)));
  case CONVOY_TYPE_BF16:
    return bfloatToFloat(uint16_t(load<uint16_t>(from)));
  case CONVOY_TYPE_I8:
    return load<int8_t>(from);
  case CONVOY_TYPE_U8:
  case CONVOY_TYPE_BOOL:
    return load<uint8_t>(from);
  case CONVOY_TYPE_I16:
    return load<int16_t>(from);
  case CONVOY_TYPE_U16:
    return load<uint16_t>(from);
  case CONVOY_TYPE_I32:
    return load<int32_t>(from);
  case CONVOY_TYPE_U32:
    return load<uint32_t>(from);
  case CONVOY_TYPE_I64:
    return load<int64_t>(from);
  case CONVOY_TYPE_U64:
    return load<uint64_t>(from);
  }
  return 0;
}

void Tensor::set(int64_t index, double value) {
  uint8_t *to = bytes.data() + index * convoy_type_size(type);
  auto store = [&](auto typed) { memcpy(to, &typed, sizeof typed); };
  switch (type) {
  case CONVOY_TYPE_F32:
    return store(float(value));
  case CONVOY_TYPE_F64:
    return store(value);
  case CONVOY_TYPE_F16:
    return store(doubleToHalf(value));
  case CONVOY_TYPE_BF16:
    return store(doubleToBfloat(value));
  case CONVOY_TYPE_BOOL:
    return store(uint8_t(value != 0));
  case CONVOY_TYPE_I8:
    return storeRounded<int8_t>(to, value);
  case CONVOY_TYPE_U8:
    return storeRounded<uint8_t>(to, value);
  case CONVOY_TYPE_I16:
    return storeRounded<int16_t>(to, value);
  case CONVOY_TYPE_U16:
    return storeRounded<uint16_t>(to, value);
  case CONVOY_TYPE_I32:
    return storeRounded<int32_t>(to, value);
  case CONVOY_TYPE_U32:
    return storeRounded<uint32_t>(to, value);
  case CONVOY_TYPE_I64:
    return storeRounded<int64_t>(to, value);
  case CONVOY_TYPE_U64:
    return storeRounded<uint64_t>(to, value);
  }
}

size_t byteSize(convoy_type type, const std::vector<int64_t> &dims) {
  auto total = int64_t(convoy_type_size(type));
  for (int64_t dim : dims)
    if (dim < 0 || __builtin_mul_overflow(total, dim, &total))
      throw Error(describe(type, dims) + " is not a possible shape");
  return size_t(total);
}

bool isFloat(convoy_type type) {
  return type == CONVOY_TYPE_F32 || type == CONVOY_TYPE_F16 || type == CONVOY_TYPE_BF16 ||
         type == CONVOY_TYPE_F64;
}

std::string describe(convoy_type type, const std::vector<int64_t> &dims,
                     const char *const *dimNames) {
  std::string text = convoy_type_string(type);
  text += " [";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i)
      text += ", ";
    if (dims[i] >= 0)
      text += std::to_string(dims[i]);
    else
      text += dimNames && *dimNames[i] ? dimNames[i] : "N";
  }
  return text + "]";
}

std::vector<uint8_t> readFile(const std::string &path) {
  FILE *file = fopen(path.c_str(), "rb");
  if (!file)
    throw Error(path + ": " + strerror(errno));
  std::vector<uint8_t> bytes;
  size_t used = 0;
  // Grows as it reads: the size of a pipe is not known beforehand.
  do {
    bytes.resize(std::max<size_t>(65536, used * 2));
    used += fread(bytes.data() + used, 1, bytes.size() - used, file);
  } while (used == bytes.size());
  int error = ferror(file) ? errno : 0;
  fclose(file);
  if (error)
    throw Error(path + ": " + strerror(error));
  bytes.resize(used);
  return bytes;
}

void writeFile(const std::string &path, const void *data, size_t size) {
  if (path == "-") {
    if (fwrite(data, 1, size, stdout) != size)
      throw Error("cannot write to standard output");
    return;
  }
  // Renaming onto a device or a pipe would replace it by a file.
  struct stat status;
  bool inPlace = stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
  std::string temporary = inPlace ? path : path + format(".tmp%d", int(getpid()));
  FILE *file = fopen(temporary.c_str(), "wb");
  bool written = file && fwrite(data, 1, size, file) == size;
  int error = errno;
  if (file && fclose(file) != 0 && written) {
    written = false;
    error = errno;
  }
  if (written && !inPlace && rename(temporary.c_str(), path.c_str()) != 0) {
    written = false;
    error = errno;
  }
  if (!written) {
    if (!inPlace)
      unlink(temporary.c_str());
    throw Error(path + ": " + strerror(error));
  }
}

} // namespace convoy::tools
