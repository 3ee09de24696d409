// The fixed header, the checksum and the outer form of the metadata.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "artifact.h"

#include "hash.h"
#include "status.h"

#include <string.h>

using namespace convoy::rt;

namespace {

constexpr char magic[8] = {'C', 'O', 'N', 'V', 'O', 'Y', '\r', '\n'};
constexpr size_t checksumOffset = 40;

struct Header {
  char magic[8];
  uint32_t format;
  uint32_t leastRuntime;
  uint64_t fileSize;
  uint64_t metadataOffset;
  uint64_t metadataSize;
  uint64_t checksum;
  uint64_t reserved[2];
};
static_assert(sizeof(Header) == CONVOY_HEADER_BYTES, "the header is 64 bytes on disk");
static_assert(offsetof(Header, checksum) == checksumOffset, "the checksum skips its own field");

unsigned majorOf(uint32_t version) { return version >> 16; }
unsigned minorOf(uint32_t version) { return version >> 8 & 0xFF; }
unsigned patchOf(uint32_t version) { return version & 0xFF; }

/// Magic and versions. `size` may be less than that of the file.
convoy_status checkHeader(const void *data, size_t size, Header &header) {
  size_t seen = size < sizeof magic ? size : sizeof magic;
  if (seen && memcmp(data, magic, seen) != 0)
    return fail(CONVOY_NOT_AN_ARTIFACT, "the file does not start with Convoy's magic bytes; "
                                        "convoy-compile makes an artifact from an ONNX model");
  if (size < sizeof header)
    return fail(CONVOY_TRUNCATED, "the file has %zu bytes, its header alone %zu", size,
                sizeof header);
  memcpy(&header, data, sizeof header);
  if (header.format > formatVersion)
    return fail(CONVOY_FORMAT_TOO_NEW,
                "the artifact has format version %u, this runtime (%u.%u.%u) reads up to %u",
                header.format, CONVOY_VERSION_MAJOR, CONVOY_VERSION_MINOR, CONVOY_VERSION_PATCH,
                formatVersion);
  if (header.format == 0)
    return fail(CONVOY_CORRUPT, "the artifact has format version 0, which does not exist");
  if (header.leastRuntime > CONVOY_VERSION)
    return fail(CONVOY_RUNTIME_TOO_OLD,
                "the artifact needs runtime %u.%u.%u or newer, this one is %u.%u.%u",
                majorOf(header.leastRuntime), minorOf(header.leastRuntime),
                patchOf(header.leastRuntime), CONVOY_VERSION_MAJOR, CONVOY_VERSION_MINOR,
                CONVOY_VERSION_PATCH);
  return CONVOY_OK;
}

uint64_t checksumOf(const unsigned char *data, size_t size) {
  constexpr uint64_t zero = 0;
  constexpr size_t after = checksumOffset + sizeof zero;
  Hash hash;
  hash.add(data, checksumOffset);
  hash.add(&zero, sizeof zero);
  hash.add(data + after, size - after);
  return hash.finish();
}

} // namespace

extern "C" convoy_status convoy_artifact_check(const void *data, size_t size,
                                               convoy_artifact_info *info) {
  if (!data && size)
    return fail(CONVOY_INVALID_ARGUMENT, "convoy_artifact_check: data is NULL");
  Header header{};
  convoy_status status = checkHeader(data, size, header);
  bool known =
      status == CONVOY_OK || status == CONVOY_FORMAT_TOO_NEW || status == CONVOY_RUNTIME_TOO_OLD;
  if (info && known)
    *info = {header.format, header.leastRuntime, header.fileSize};
  return status;
}

convoy_status convoy::rt::verifyArtifact(const unsigned char *data, size_t size,
                                         const schema::Artifact **artifact) {
  Header header;
  if (convoy_status status = checkHeader(data, size, header))
    return status;
  auto fileSize = static_cast<unsigned long long>(header.fileSize);
  if (size < header.fileSize)
    return fail(CONVOY_TRUNCATED, "the file has %zu bytes, its header says %llu", size, fileSize);
  if (size > header.fileSize)
    return fail(CONVOY_CORRUPT, "the file has %zu bytes, its header says %llu", size, fileSize);
  uint64_t checksum = checksumOf(data, size);
  if (checksum != header.checksum)
    return fail(CONVOY_CORRUPT, "the file's checksum is %016llx, its header says %016llx",
                static_cast<unsigned long long>(checksum),
                static_cast<unsigned long long>(header.checksum));

  // From here on only a faulty or hostile writer can be the cause, never a damaged file.
  uint64_t offset = header.metadataOffset, length = header.metadataSize;
  if (offset % CONVOY_ALIGNMENT != 0 || offset > size || length > size - offset || length < 16 ||
      length >= FLATBUFFERS_MAX_BUFFER_SIZE)
    return fail(CONVOY_CORRUPT, "the metadata at offset %llu with %llu bytes is out of bounds",
                static_cast<unsigned long long>(offset), static_cast<unsigned long long>(length));
  flatbuffers::Verifier verifier(data + offset, length);
  if (!schema::VerifyArtifactBuffer(verifier))
    return fail(CONVOY_CORRUPT, "the metadata is not a valid FlatBuffer of an artifact");
  *artifact = schema::GetArtifact(data + offset);
  return verifyMetadata(**artifact, size);
}
