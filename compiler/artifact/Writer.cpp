// Lays out the file: header, code sections, constants, metadata.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/artifact/Writer.h"

#include "compiler/artifact/Check.h"
#include "compiler/artifact/Checksum.h"
#include "compiler/artifact/Metadata.h"
#include "compiler/artifact/OutputFile.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string_view>

using namespace convoy::artifact;

namespace {

// As runtime/schema/artifact.fbs describes the header.
constexpr char magic[8] = {'C', 'O', 'N', 'V', 'O', 'Y', '\r', '\n'};
constexpr uint32_t formatVersion = 1;
constexpr uint32_t leastRuntime = 0 << 16 | 1 << 8 | 0;
constexpr uint64_t headerBytes = 64;
constexpr uint64_t pageBytes = 4096;

template <typename T> void store(char *memory, T value) {
  std::memcpy(memory, &value, sizeof value);
}

/// A file as a stream: gaps are filled with zeros.
class Stream {
public:
  using Sink = std::function<void(std::string_view)>;
  explicit Stream(Sink sink) : sink(std::move(sink)) {}

  void put(uint64_t offset, std::string_view bytes) {
    static constexpr char zeros[pageBytes] = {};
    while (position < offset)
      append({zeros, std::min<uint64_t>(offset - position, sizeof zeros)});
    append(bytes);
  }

private:
  void append(std::string_view bytes) {
    sink(bytes);
    position += bytes.size();
  }

  Sink sink;
  uint64_t position = 0;
};

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

  /// Hands out the bytes of the file from first to last.
  void emit(const Stream::Sink &sink) const {
    // The checksum covers its own field as zero.
    Checksum checksum;
    emit([&](std::string_view bytes) { checksum.add(bytes); }, 0);
    emit(sink, checksum.result());
  }

private:
  void emit(const Stream::Sink &sink, uint64_t checksum) const {
    char header[headerBytes] = {};
    std::memcpy(header, magic, sizeof magic);
    store(header + 8, formatVersion);
    store(header + 12, leastRuntime);
    store(header + 16, end);
    store(header + 24, metadataOffset);
    store(header + 32, uint64_t(metadata.size()));
    store(header + 40, checksum);
    Stream stream(sink);
    stream.put(0, {header, sizeof header});
    uint64_t written = 0;
    for (size_t i = 0; i < artifact.variants.size(); ++i) {
      const std::vector<char> &code = artifact.variants[i].code;
      if (code.empty() || sections.code[i].offset <= written)
        continue; // nothing, or that of an earlier variant
      written = sections.code[i].offset;
      stream.put(written, {code.data(), code.size()});
    }
    artifact.constants.forEach([&](uint64_t offset, std::string_view bytes) {
      stream.put(sections.constants.offset + offset, bytes);
    });
    stream.put(metadataOffset, {metadata.data(), metadata.size()});
  }

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
  layout.emit([&](std::string_view bytes) { file.append(bytes); });
  return file.commit();
}

Problem convoy::artifact::serialize(const Artifact &artifact, std::vector<char> &bytes) {
  if (Problem problem = check(artifact))
    return problem;
  Layout layout(artifact);
  bytes.clear();
  bytes.reserve(layout.size());
  layout.emit([&](std::string_view part) { bytes.insert(bytes.end(), part.begin(), part.end()); });
  return std::nullopt;
}

uint64_t convoy::artifact::checksum(const char *bytes, size_t size) {
  Checksum checksum;
  checksum.add({bytes, size});
  return checksum.result();
}
