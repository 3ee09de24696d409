// Writes .cvy artifacts.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CONVOY_COMPILER_ARTIFACT_WRITER_H
#define CONVOY_COMPILER_ARTIFACT_WRITER_H

#include "compiler/artifact/Artifact.h"

#include "llvm/Support/Error.h"

namespace convoy::artifact {

/// Writes to a temporary file beside `path` and renames it, so that no partial file stays and a
/// file that a runtime has mapped is never changed. Indices and offsets out of bounds are errors.
llvm::Error write(const Artifact &artifact, llvm::StringRef path);

/// The same bytes in memory.
llvm::Expected<std::vector<char>> serialize(const Artifact &artifact);

} // namespace convoy::artifact

#endif // CONVOY_COMPILER_ARTIFACT_WRITER_H
