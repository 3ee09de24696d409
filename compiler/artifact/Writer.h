// Writes .cvy artifacts. Needs FlatBuffers only.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CONVOY_COMPILER_ARTIFACT_WRITER_H
#define CONVOY_COMPILER_ARTIFACT_WRITER_H

#include "compiler/artifact/Artifact.h"

namespace convoy::artifact {

/// Writes to a temporary file beside `path` and renames it, so that no partial file stays and a
/// file that a runtime has mapped is never changed. Indices and offsets out of bounds are problems.
[[nodiscard]] Problem write(const Artifact &artifact, const std::string &path);

/// The same bytes in memory.
[[nodiscard]] Problem serialize(const Artifact &artifact, std::vector<char> &bytes);

/// The file's checksum: XXH64 with seed 0 of `size` bytes, whose checksum field is zero. The
/// runtime has an implementation of its own; each checks the other.
uint64_t checksum(const char *bytes, size_t size);

} // namespace convoy::artifact

#endif // CONVOY_COMPILER_ARTIFACT_WRITER_H
