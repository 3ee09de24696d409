// A model compiled and loaded in this process, and memory whose ends are guarded.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "compiler/Compiler.h"
#include "convoy/convoy.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace convoy::test {

/// Where a tensor lies in its pages.
enum class Place {
  Begin, ///< right behind an unmapped page
  Odd,   ///< one element further, so aligned to nothing but that
  End,   ///< right before an unmapped page
};

/// Memory between two unmapped pages: whoever reads or writes outside of it is killed.
class GuardedMemory {
public:
  GuardedMemory(size_t bytes, size_t elementBytes, Place place);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory &) = delete;
  GuardedMemory &operator=(const GuardedMemory &) = delete;
  char *data() const { return begin; }
  /// Whether the mapped bytes around the tensor are still as the constructor left them.
  bool marginsIntact() const;

private:
  char *pages, *begin;
  size_t mapped, bytes;
};

using Bytes = std::vector<char>;

/// The values of the outputs of a run, in order.
using Outputs = std::vector<Bytes>;

class CompiledModel {
public:
  using Adjust = std::function<void(CompileOptions &)>;
  /// Compiles a model file for a target; null, with a failed expectation, if that fails.
  static std::unique_ptr<CompiledModel> fromFile(const std::string &path, const std::string &target,
                                                 const Adjust &adjust = {});
  /// The same for ONNX text.
  static std::unique_ptr<CompiledModel> fromText(const std::string &text, const std::string &target,
                                                 const Adjust &adjust = {});
  ~CompiledModel() { convoy_model_destroy(model); }

  const convoy_model *get() const { return model; }
  const std::vector<char> &bytes() const { return artifact; }

  /// Inputs for a batch, the same for every model with these inputs: small numbers.
  std::vector<Bytes> makeInputs(int64_t batch) const;
  /// Runs in the caller's memory.
  Outputs run(const std::vector<Bytes> &inputs, int64_t batch, unsigned threads, Place place) const;
  /// Runs in the runtime's own memory.
  Outputs run(const std::vector<Bytes> &inputs, int64_t batch, unsigned threads) const;
  /// Whether an input has the batch, and all outputs do.
  bool hasFreeBatch() const;
  /// The inputs, or the outputs, of image `index` of a batch.
  std::vector<Bytes> imageOf(const std::vector<Bytes> &values, bool outputs, int64_t batch,
                             int64_t index) const;

private:
  CompiledModel() = default;
  std::vector<convoy_value_info> values(bool outputs) const;

  std::vector<char> artifact;
  convoy_model *model = nullptr;
};

} // namespace convoy::test
