// Builds the FlatBuffer of an artifact.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CONVOY_COMPILER_ARTIFACT_METADATA_H
#define CONVOY_COMPILER_ARTIFACT_METADATA_H

#include "compiler/artifact/Artifact.h"

namespace convoy::artifact {

struct SectionRange {
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

/// Where the writer puts what is not metadata.
struct Sections {
  std::vector<SectionRange> code; // for each variant
  SectionRange constants;
};

/// The artifact has been checked. The length of the result does not depend on the offsets.
std::vector<char> buildMetadata(const Artifact &artifact, const Sections &sections);

} // namespace convoy::artifact

#endif // CONVOY_COMPILER_ARTIFACT_METADATA_H
