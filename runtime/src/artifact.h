// Checks a .cvy file before anything of it is used.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CONVOY_RUNTIME_ARTIFACT_H
#define CONVOY_RUNTIME_ARTIFACT_H

#include "convoy/convoy.h"
#include "convoy/kernel_abi.h"
#include "runtime/schema/artifact_generated.h"

namespace convoy::rt {

/// The newest format that this runtime reads.
constexpr uint32_t formatVersion = 1;

/// Sections and constants; also the granularity of code mappings.
constexpr uint64_t pageBytes = 4096;

/// Checks the header, the checksum and the whole metadata: afterwards every offset, index and size
/// in it is within its bounds. `data` is aligned to CONVOY_ALIGNMENT.
convoy_status verifyArtifact(const unsigned char *data, size_t size,
                             const schema::Artifact **artifact);

/// The second half of it: metadata that is a well-formed FlatBuffer, in a file of `fileSize` bytes.
convoy_status verifyMetadata(const schema::Artifact &artifact, uint64_t fileSize);

/// Number of elements of a vector that may be absent.
template <typename T> uint32_t sizeOf(const flatbuffers::Vector<T> *vector) {
  return vector ? vector->size() : 0;
}

/// A string that may be absent.
inline const char *text(const flatbuffers::String *string) { return string ? string->c_str() : ""; }

} // namespace convoy::rt

#endif // CONVOY_RUNTIME_ARTIFACT_H
