// Lays out the file: header, code sections, constants, metadata.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/artifact/Writer.h"

#include "compiler/artifact/Check.h"
#include "compiler/artifact/Metadata.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/FileOutputBuffer.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"

#include <cstring>

using namespace llvm;
using namespace convoy::artifact;

namespace {

// As runtime/schema/artifact.fbs describes the header.
constexpr char magic[8] = {'C', 'O', 'N', 'V', 'O', 'Y', '\r', '\n'};
constexpr uint32_t formatVersion = 1;
constexpr uint32_t leastRuntime = 0 << 16 | 1 << 8 | 0;
constexpr uint64_t headerBytes = 64;
constexpr uint64_t pageBytes = 4096;

/// Where everything goes, known before the file is made.
class Layout {
public:
  explicit Layout(const Artifact &artifact) : artifact(artifact) {
    for (const Variant &variant : artifact.variants)
      sections.code.push_back(place(variant.code.size()));
    sections.constants = place(artifact.constants.size());
    metadata = buildMetadata(artifact, sections);
    metadataOffset = alignTo(end, ConstantPool::alignment);
    end = metadataOffset + metadata.size();
  }

  uint64_t size() const { return end; }

  /// Fills size() bytes, which are zero.
  void fill(char *file) const {
    std::memcpy(file, magic, sizeof magic);
    support::endian::write32le(file + 8, formatVersion);
    support::endian::write32le(file + 12, leastRuntime);
    support::endian::write64le(file + 16, end);
    support::endian::write64le(file + 24, metadataOffset);
    support::endian::write64le(file + 32, metadata.size());
    for (size_t i = 0; i < artifact.variants.size(); ++i) {
      const std::vector<char> &code = artifact.variants[i].code;
      if (!code.empty())
        std::memcpy(file + sections.code[i].offset, code.data(), code.size());
    }
    artifact.constants.copyTo(file + sections.constants.offset);
    std::memcpy(file + metadataOffset, metadata.data(), metadata.size());
    // The checksum covers its own field as zero, as it still is here.
    support::endian::write64le(file + 40, xxHash64(StringRef(file, end)));
  }

private:
  SectionRange place(uint64_t bytes) {
    SectionRange range{alignTo(end, pageBytes), bytes};
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

Error convoy::artifact::write(const Artifact &artifact, StringRef path) {
  if (Error problem = check(artifact))
    return problem;
  Layout layout(artifact);
  auto buffer = FileOutputBuffer::create(path, layout.size());
  if (!buffer)
    return createFileError(path, buffer.takeError());
  layout.fill(reinterpret_cast<char *>((*buffer)->getBufferStart()));
  if (Error problem = (*buffer)->commit())
    return createFileError(path, std::move(problem));
  return Error::success();
}

Expected<std::vector<char>> convoy::artifact::serialize(const Artifact &artifact) {
  if (Error problem = check(artifact))
    return std::move(problem);
  Layout layout(artifact);
  std::vector<char> bytes(layout.size());
  layout.fill(bytes.data());
  return bytes;
}
