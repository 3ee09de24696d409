// The contents of a .cvy file as plain structs: what the compiler hands to the writer.
// runtime/schema/artifact.fbs says what each field means.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CONVOY_COMPILER_ARTIFACT_ARTIFACT_H
#define CONVOY_COMPILER_ARTIFACT_ARTIFACT_H

#include "compiler/artifact/ConstantPool.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace convoy::artifact {

/// What is wrong; nothing if all is well.
using Problem = std::optional<std::string>;

/// Numbered as onnx.TensorProto.DataType.
enum class ElementType : uint8_t {
  undefined = 0,
  f32 = 1,
  u8 = 2,
  i8 = 3,
  u16 = 4,
  i16 = 5,
  i32 = 6,
  i64 = 7,
  boolean = 9,
  f16 = 10,
  f64 = 11,
  u32 = 12,
  u64 = 13,
  bf16 = 16
};

/// Bytes of one element; 0 if undefined.
uint64_t sizeOf(ElementType type);

enum class Space : uint8_t { input = 0, output = 1, constant = 2, arena = 3 };

/// An input or output of the model. The writer computes its size.
struct Value {
  std::string name;
  ElementType type = ElementType::undefined;
  std::vector<int64_t> dims;         // -1 in dimension 0: the batch
  std::vector<std::string> dimNames; // one for each dimension, or none at all
  int32_t countedDim = -1;           // of an output: the dimension that only a run tells
  uint32_t count = 0;                // the output that holds its extent then
  bool internal = false;             // of an output: it is only there to be a count
};

struct Kernel {
  std::string name;
  std::string strategy;
  uint64_t offset = 0; // in Variant::code
  uint64_t bytes = 0;
};

struct Buffer {
  std::string name;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint32_t firstLaunch = 0;
  uint32_t lastLaunch = 0;
};

/// With a batch of N the address is base + N * offset + sliceOffset in the arena, and
/// base + offset + sliceOffset in the other spaces.
struct Arg {
  Space space = Space::arena;
  uint32_t index = 0;
  uint64_t offset = 0;
  uint64_t sliceOffset = 0;
  uint64_t bytes = 0; // 0: not known
  bool writes = false;
};

struct Launch {
  std::string name;
  std::string op;
  uint32_t kernel = 0;
  uint64_t tiles = 1; // of one image if batched
  bool batched = true;
  std::vector<Arg> args;
  uint64_t flops = 0;
  uint64_t bytes = 0;
  bool joins = false; // the wave of the launch before
};

struct Variant {
  std::string target;
  std::vector<std::string> cpuFeatures;
  std::vector<char> code; // a flat image: see Image.h
  std::vector<Value> inputs;
  std::vector<Value> outputs;
  uint64_t arenaBytes = 0;
  uint64_t arenaLowerBoundBytes = 0;
  uint64_t scratchBytes = 0;
  std::vector<Kernel> kernels;
  std::vector<Buffer> buffers;
  std::vector<Launch> launches;
  std::string profile;
};

struct Artifact {
  std::string producer;
  std::string modelName;
  std::string options;
  ConstantPool constants;
  std::vector<Variant> variants;
};

} // namespace convoy::artifact

#endif // CONVOY_COMPILER_ARTIFACT_ARTIFACT_H
