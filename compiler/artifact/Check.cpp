// The rules of the artifact schema on plain structs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/artifact/Check.h"

#include <set>

using namespace convoy::artifact;

namespace {

/// FlatBuffers' own limit of 2 GiB, of which this check estimates the use from above.
constexpr uint64_t metadataLimit = uint64_t(1) << 31;
constexpr uint64_t hugeNumber = uint64_t(1) << 60;

/// The object that a message is about, and the failure.
std::string error(const std::string &what, const std::string &problem) {
  return "artifact: " + what + " " + problem;
}

/// Counts what the metadata may take: strings with their length and terminator, tables with room
/// for all fields.
class SizeEstimate {
public:
  void add(const std::string &text) { bytes += text.size() + 16; }
  void addTable() { bytes += 128; }
  void add(const std::vector<Value> &values) {
    for (const Value &value : values) {
      addTable();
      add(value.name);
      bytes += value.dims.size() * 16;
      for (const std::string &name : value.dimNames)
        add(name);
    }
  }
  void add(const Variant &variant) {
    addTable();
    add(variant.target);
    add(variant.profile);
    add(variant.inputs);
    add(variant.outputs);
    for (const std::string &feature : variant.cpuFeatures)
      add(feature);
    for (const Kernel &kernel : variant.kernels)
      addTable(), add(kernel.name), add(kernel.strategy);
    for (const Buffer &buffer : variant.buffers)
      addTable(), add(buffer.name);
    for (const Launch &launch : variant.launches) {
      addTable(), add(launch.name), add(launch.op);
      bytes += launch.args.size() * 128;
    }
  }
  uint64_t bytes = 1024;
};

class VariantCheck {
public:
  VariantCheck(const Variant &variant, uint64_t constantBytes)
      : variant(variant), constantBytes(constantBytes) {}

  Problem check() const {
    if (variant.target.find('-') == std::string::npos)
      return error("target \"" + variant.target + "\"", "names no device (\"x86-...\")");
    if (Problem problem = checkValues(variant.inputs, "input"))
      return problem;
    if (Problem problem = checkValues(variant.outputs, "output"))
      return problem;
    if (Problem problem = checkCounts(variant.outputs))
      return problem;
    if (variant.arenaBytes % ConstantPool::alignment || variant.arenaBytes > hugeNumber ||
        variant.scratchBytes > hugeNumber)
      return error("arena of " + std::to_string(variant.arenaBytes) + " and scratch of " +
                       std::to_string(variant.scratchBytes) + " bytes",
                   "are not multiples of 64 or too large");
    for (const Kernel &kernel : variant.kernels)
      if (kernel.offset >= variant.code.size() ||
          kernel.bytes > variant.code.size() - kernel.offset)
        return error("kernel " + kernel.name, "is outside of the code");
    for (const Buffer &buffer : variant.buffers)
      if (buffer.offset % ConstantPool::alignment || buffer.offset > variant.arenaBytes ||
          buffer.bytes > variant.arenaBytes - buffer.offset)
        return error("buffer " + buffer.name, "is unaligned or outside of the arena");
    for (const Launch &launch : variant.launches)
      if (Problem problem = checkLaunch(launch))
        return problem;
    if (!variant.launches.empty() && variant.launches.front().joins)
      return error("launch " + variant.launches.front().name, "joins a wave, but is the first");
    return std::nullopt;
  }

private:
  static Problem checkValues(const std::vector<Value> &values, const std::string &kind) {
    std::set<std::string> names;
    for (const Value &value : values) {
      if (!value.internal && !names.insert(value.name).second)
        return error(kind + " \"" + value.name + "\"", "exists twice");
      if (!bytesOf(value))
        return error(kind + " \"" + value.name + "\"", "has a wrong type or extent");
      if (!value.dimNames.empty() && value.dimNames.size() != value.dims.size())
        return error(kind + " \"" + value.name + "\"", "has names for some dimensions only");
    }
    return std::nullopt;
  }

  static Problem checkCounts(const std::vector<Value> &outputs) {
    bool wasInternal = false;
    for (const Value &value : outputs) {
      std::string what = "output \"" + value.name + "\"";
      if (wasInternal && !value.internal)
        return error(what, "follows an internal one");
      wasInternal = value.internal;
      if (value.countedDim == -1)
        continue;
      if (value.countedDim < 0 || value.countedDim >= static_cast<int64_t>(value.dims.size()) ||
          value.dims[value.countedDim] < 0)
        return error(what, "has no dimension " + std::to_string(value.countedDim));
      if (value.count >= outputs.size() || !outputs[value.count].internal ||
          outputs[value.count].type != ElementType::i64 || bytesOf(outputs[value.count]) != 8)
        return error(what, "has no count");
    }
    return std::nullopt;
  }

  Problem checkLaunch(const Launch &launch) const {
    if (launch.kernel >= variant.kernels.size())
      return error("launch " + launch.name, "has no kernel " + std::to_string(launch.kernel));
    if (launch.tiles > hugeNumber)
      return error("launch " + launch.name, "has too many tiles");
    for (size_t i = 0; i < launch.args.size(); ++i)
      if (const char *problem = findProblem(launch.args[i]))
        return error("argument " + std::to_string(i) + " of launch " + launch.name, problem);
    return std::nullopt;
  }

  const char *findProblem(const Arg &arg) const {
    uint64_t limit = 0;
    bool readOnly = arg.space == Space::input || arg.space == Space::constant;
    if (readOnly && arg.writes)
      return "writes to what is read-only";
    switch (arg.space) {
    case Space::input:
    case Space::output: {
      const auto &values = arg.space == Space::input ? variant.inputs : variant.outputs;
      if (arg.index >= values.size())
        return "has an index out of bounds";
      limit = *bytesOf(values[arg.index]);
      break;
    }
    case Space::constant:
      limit = constantBytes;
      break;
    case Space::arena:
      limit = variant.arenaBytes;
      if (arg.offset % ConstantPool::alignment)
        return "is not aligned";
      break;
    }
    if (arg.offset > hugeNumber || arg.sliceOffset > hugeNumber || arg.bytes > hugeNumber ||
        arg.offset + arg.sliceOffset + arg.bytes > limit)
      return "is out of bounds";
    return nullptr;
  }

  const Variant &variant;
  uint64_t constantBytes;
};

} // namespace

uint64_t convoy::artifact::sizeOf(ElementType type) {
  switch (type) {
  case ElementType::u8:
  case ElementType::i8:
  case ElementType::boolean:
    return 1;
  case ElementType::u16:
  case ElementType::i16:
  case ElementType::f16:
  case ElementType::bf16:
    return 2;
  case ElementType::f32:
  case ElementType::i32:
  case ElementType::u32:
    return 4;
  case ElementType::f64:
  case ElementType::i64:
  case ElementType::u64:
    return 8;
  case ElementType::undefined:
    break;
  }
  return 0;
}

std::optional<uint64_t> convoy::artifact::bytesOf(const Value &value) {
  uint64_t bytes = sizeOf(value.type);
  if (bytes == 0)
    return std::nullopt;
  for (size_t i = 0; i < value.dims.size(); ++i) {
    int64_t extent = i == 0 && value.dims[i] == -1 ? 1 : value.dims[i];
    if (extent < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes) ||
        bytes > hugeNumber)
      return std::nullopt;
  }
  return bytes;
}

Problem convoy::artifact::check(const Artifact &artifact) {
  if (artifact.variants.empty())
    return error("it", "has no variant");
  SizeEstimate estimate;
  estimate.add(artifact.producer);
  estimate.add(artifact.modelName);
  estimate.add(artifact.options);
  for (const Variant &variant : artifact.variants) {
    estimate.add(variant);
    if (Problem problem = VariantCheck(variant, artifact.constants.size()).check())
      return problem;
  }
  if (estimate.bytes >= metadataLimit)
    return error("its metadata of " + std::to_string(estimate.bytes) + " bytes",
                 "exceeds FlatBuffers' 2 GiB");
  return std::nullopt;
}
