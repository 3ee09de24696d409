// A tensor in memory, as the tools read it from files, fill it and compare it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CONVOY_TOOLS_SUPPORT_TENSOR_H
#define CONVOY_TOOLS_SUPPORT_TENSOR_H

#include "convoy/convoy.h"

#include <cstdint>
#include <string>
#include <vector>

namespace convoy::tools {

struct Tensor {
  convoy_type type = CONVOY_TYPE_F32;
  std::vector<int64_t> dims;
  std::vector<uint8_t> bytes; // Row-major.

  int64_t size() const;
  /// Any element as a double; exact for all types but 64-bit integers.
  double at(int64_t index) const;
  /// Rounds to the type's nearest value; integers saturate.
  void set(int64_t index, double value);
  /// Sets the dims and makes the bytes fit.
  void resize(std::vector<int64_t> newDims);
};

bool isFloat(convoy_type type);

/// Bytes of a tensor; throws Error where a dimension is negative or they are too many to count.
size_t byteSize(convoy_type type, const std::vector<int64_t> &dims);

/// "f32 [1, 3, 224, 224]"; a name instead of -1 where there is one.
std::string describe(convoy_type type, const std::vector<int64_t> &dims,
                     const char *const *dimNames = nullptr);

std::vector<uint8_t> readFile(const std::string &path);
/// Writes to a temporary beside it and renames, so that no part of a file stays behind.
void writeFile(const std::string &path, const void *data, size_t size);

/// numpy's .npy, versions 1 to 3, little-endian, C or Fortran order.
Tensor readNpy(const std::string &path);
/// bf16, which .npy lacks, is written as f32.
void writeNpy(const std::string &path, const Tensor &tensor);

/// A serialized onnx.TensorProto.
Tensor readTensorProto(const std::string &path);

} // namespace convoy::tools

#endif // CONVOY_TOOLS_SUPPORT_TENSOR_H
