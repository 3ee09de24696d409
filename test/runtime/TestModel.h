// The model that the runtime's tests run, and what it should compute.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CONVOY_TEST_RUNTIME_TESTMODEL_H
#define CONVOY_TEST_RUNTIME_TESTMODEL_H

#include "compiler/artifact/Writer.h"
#include "convoy/convoy.h"

#include <memory>
#include <string>
#include <vector>

namespace convoy::test {

constexpr int64_t rows = 24, columns = 10, imageSize = rows * columns;

/// Inputs x f32[N,24,10]; outputs y f32[N,10] and z f32[N,24,10]. Five launches: four batched ones
/// with a tile for each row and one of a single tile.
artifact::Artifact makeModel(float scale = 1);

/// Its bytes, at a multiple of 64 as mapped files have.
class Bytes {
public:
  Bytes() = default;
  explicit Bytes(const artifact::Artifact &artifact);
  char *data() { return reinterpret_cast<char *>(lines.data()); }
  const char *data() const { return reinterpret_cast<const char *>(lines.data()); }
  size_t size() const { return length; }

  template <typename T> void store(size_t offset, T value) {
    memcpyTo(offset, &value, sizeof value);
  }
  template <typename T> T load(size_t offset) const {
    T value;
    memcpyFrom(offset, &value, sizeof value);
    return value;
  }
  /// Makes the checksum right again after a change.
  void sign();

private:
  void memcpyTo(size_t offset, const void *from, size_t bytes);
  void memcpyFrom(size_t offset, void *to, size_t bytes) const;

  struct alignas(64) Line {
    char bytes[64];
  };
  std::vector<Line> lines;
  size_t length = 0;
};

struct Outputs {
  std::vector<float> y, z;
  bool operator==(const Outputs &other) const { return y == other.y && z == other.z; }
};

std::vector<float> makeInput(int64_t batch, unsigned seed = 1);

/// With the operations of the kernels in their order, so that results are equal to the bit.
Outputs expected(const std::vector<float> &x, float scale = 1);

struct ModelDeleter {
  void operator()(convoy_model *model) const { convoy_model_destroy(model); }
};
struct ContextDeleter {
  void operator()(convoy_context *context) const { convoy_context_destroy(context); }
};
using Model = std::unique_ptr<convoy_model, ModelDeleter>;
using Context = std::unique_ptr<convoy_context, ContextDeleter>;

/// Null, and a failed test, if the call fails.
Model load(const Bytes &bytes);
Context makeContext(const Model &model, const convoy_context_options &options = {});

/// x as the model's input.
struct InputTensor : convoy_tensor {
  explicit InputTensor(std::vector<float> &x)
      : convoy_tensor{x.data(), x.size() * sizeof(float), CONVOY_TYPE_F32, 3, extents},
        extents{static_cast<int64_t>(x.size()) / imageSize, rows, columns} {}
  InputTensor(const InputTensor &) = delete;
  int64_t extents[3];
};

/// Binds x, runs, and copies the runtime's outputs.
Outputs runOn(const Context &context, std::vector<float> &x);

/// A code image by the symbols of a linked shared object: a few lines beside
/// compiler/artifact/Image.cpp, which needs LLVM.
struct CodeImage {
  std::vector<char> bytes;
  std::vector<artifact::Kernel> kernels;
  uint32_t kernel(const std::string &name) const;
};
const CodeImage &testCode();

std::vector<char> readFile(const std::string &path);

} // namespace convoy::test

#endif // CONVOY_TEST_RUNTIME_TESTMODEL_H
