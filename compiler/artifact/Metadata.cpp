// Structs to FlatBuffers tables.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/artifact/Metadata.h"

#include "compiler/artifact/Check.h"
#include "runtime/schema/artifact_generated.h"

using namespace convoy::artifact;
namespace schema = convoy::schema;

namespace {

static_assert(static_cast<int>(ElementType::bf16) == static_cast<int>(schema::ElementType::MAX) &&
                  static_cast<int>(Space::arena) == static_cast<int>(schema::Space::MAX),
              "Artifact.h and the schema number the same things");

class Builder {
public:
  std::vector<char> build(const Artifact &artifact, const Sections &sections) {
    std::vector<flatbuffers::Offset<schema::Variant>> variants;
    for (size_t i = 0; i < artifact.variants.size(); ++i)
      variants.push_back(add(artifact.variants[i], sections.code[i]));
    schema::Section constants = section(sections.constants);
    auto producer = string(artifact.producer), name = string(artifact.modelName);
    auto options = string(artifact.options);
    schema::FinishArtifactBuffer(buffer,
                                 schema::CreateArtifact(buffer, producer, name, &constants,
                                                        buffer.CreateVector(variants), options));
    const char *bytes = reinterpret_cast<const char *>(buffer.GetBufferPointer());
    return {bytes, bytes + buffer.GetSize()};
  }

private:
  static schema::Section section(const SectionRange &range) { return {range.offset, range.bytes}; }

  flatbuffers::Offset<flatbuffers::String> string(const std::string &text) {
    return buffer.CreateString(text);
  }

  template <typename T> auto list(const std::vector<T> &items) {
    std::vector<decltype(add(items[0]))> offsets;
    for (const T &item : items)
      offsets.push_back(add(item));
    return buffer.CreateVector(offsets);
  }

  flatbuffers::Offset<schema::Value> add(const Value &value) {
    auto name = string(value.name);
    auto dims = buffer.CreateVector(value.dims);
    auto dimNames = buffer.CreateVectorOfStrings(value.dimNames);
    return schema::CreateValue(buffer, name, static_cast<schema::ElementType>(value.type), dims,
                               *bytesOf(value), dimNames, value.countedDim, value.count,
                               value.internal);
  }

  flatbuffers::Offset<schema::Kernel> add(const Kernel &kernel) {
    auto name = string(kernel.name), strategy = string(kernel.strategy);
    return schema::CreateKernel(buffer, name, strategy, kernel.offset, kernel.bytes);
  }

  flatbuffers::Offset<schema::Buffer> add(const Buffer &item) {
    auto name = string(item.name);
    return schema::CreateBuffer(buffer, name, item.offset, item.bytes, item.firstLaunch,
                                item.lastLaunch);
  }

  flatbuffers::Offset<schema::Arg> add(const Arg &arg) {
    return schema::CreateArg(buffer, static_cast<schema::Space>(arg.space), arg.index, arg.offset,
                             arg.sliceOffset, arg.bytes, arg.writes);
  }

  flatbuffers::Offset<schema::Launch> add(const Launch &launch) {
    auto name = string(launch.name), op = string(launch.op);
    auto args = list(launch.args);
    return schema::CreateLaunch(buffer, name, op, launch.kernel, launch.tiles, launch.batched, args,
                                launch.flops, launch.bytes, launch.joins);
  }

  flatbuffers::Offset<schema::Variant> add(const Variant &variant, const SectionRange &range) {
    schema::Section code = section(range);
    auto target = string(variant.target);
    auto features = buffer.CreateVectorOfStrings(variant.cpuFeatures);
    auto inputs = list(variant.inputs), outputs = list(variant.outputs);
    auto kernels = list(variant.kernels);
    auto buffers = list(variant.buffers);
    auto launches = list(variant.launches);
    auto profile = string(variant.profile);
    return schema::CreateVariant(buffer, target, features, &code, inputs, outputs,
                                 variant.arenaBytes, variant.arenaLowerBoundBytes,
                                 variant.scratchBytes, kernels, buffers, launches, profile);
  }

  flatbuffers::FlatBufferBuilder buffer;
};

} // namespace

std::vector<char> convoy::artifact::buildMetadata(const Artifact &artifact,
                                                  const Sections &sections) {
  return Builder().build(artifact, sections);
}
