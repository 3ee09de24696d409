// Lays out the file: header, code sections, constants, metadata.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/artifact/Writer.h"

#include "compiler/artifact/Check.h"
#include "compiler/artifact/Metadata.h"
#include "compiler/artifact/OutputFile.h"

#include <algorithm>
#include <cstring>

using namespace convoy::artifact;

namespace {

// As runtime/schema/artifact.fbs describes the header.
constexpr char magic[8] = {'C', 'O', 'N', 'V', 'O', 'Y', '\r', '\n'};
constexpr uint32_t formatVersion = 1;
// The first runtime, and the first that knows libraries.
constexpr uint32_t leastRuntime = 0 << 16 | 1 << 8 | 0;
constexpr uint32_t leastRuntimeForLibraries = 0 << 16 | 1 << 8 | 1;
constexpr uint64_t headerBytes = 64;
constexpr uint64_t pageBytes = 4096;

template <typename T> void store(char *memory, T value) {
  std::memcpy(memory, &value, sizeof value);
}

/// Where everything goes, known before the file is made.
class Layout {
public:
  explicit Layout(const Artifact &artifact) : artifact(artifact) {
    for (size_t i = 0; i < artifact.variants.size(); ++i)
      sections.code.push_back(placeCode(i));
    sections.constants = place(artifact.constants.size());
    metadata = buildMetadata(artifact, sections);
    metadataOffset = align(end, ConstantPool::alignment);
    end = metadataOffset + metadata.size();
  }

  uint64_t size() const { return end; }

  /// Fills size() bytes, which are zero.
  void fill(char *file) const {
    std::memcpy(file, magic, sizeof magic);
    store(file + 8, formatVersion);
    bool hasLibraries = std::any_of(artifact.variants.begin(), artifact.variants.end(),
                                    [](const Variant &v) { return !v.libraries.empty(); });
    store(file + 12, hasLibraries ? leastRuntimeForLibraries : leastRuntime);
    store(file + 16, end);
    store(file + 24, metadataOffset);
    store(file + 32, uint64_t(metadata.size()));
    for (size_t i = 0; i < artifact.variants.size(); ++i) {
      const std::vector<char> &code = artifact.variants[i].code;
      if (!code.empty())
        std::memcpy(file + sections.code[i].offset, code.data(), code.size());
    }
    artifact.constants.copyTo(file + sections.constants.offset);
    std::memcpy(file + metadataOffset, metadata.data(), metadata.size());
    // The checksum covers its own field as zero, as it still is here.
    store(file + 40, checksum(file, end));
  }

private:
  static uint64_t align(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

  /// Variants with equal code, as the profiles of a target are, share it.
  SectionRange placeCode(size_t index) {
    const std::vector<char> &code = artifact.variants[index].code;
    for (size_t i = 0; i < index; ++i)
      if (artifact.variants[i].code == code)
        return sections.code[i];
    return place(code.size());
  }

  SectionRange place(uint64_t bytes) {
    SectionRange range{align(end, pageBytes), bytes};
    end = range.offset + bytes;
    return range;
  }

  const Artifact &artifact;
  Sections sections;
  std::vector<char> metadata;
  uint64_t metadataOffset = 0;
  uint64_t end = headerBytes;
};

} // namespace

Problem convoy::artifact::write(const Artifact &artifact, const std::string &path) {
  if (Problem problem = check(artifact))
    return problem;
  Layout layout(artifact);
  OutputFile file(path);
  if (Problem problem = file.create(layout.size()))
    return problem;
  layout.fill(file.data());
  return file.commit();
}

Problem convoy::artifact::serialize(const Artifact &artifact, std::vector<char> &bytes) {
  if (Problem problem = check(artifact))
    return problem;
  Layout layout(artifact);
  bytes.assign(layout.size(), 0);
  layout.fill(bytes.data());
  return std::nullopt;
}
