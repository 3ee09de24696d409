// Which constants and code a variant uses, and how much of it others use too.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CONVOY_TOOLS_CONVOY_INSPECT_SHARING_H
#define CONVOY_TOOLS_CONVOY_INSPECT_SHARING_H

#include "runtime/schema/artifact_generated.h"

#include <cstdint>
#include <vector>

namespace convoy::tools {

struct Use {
  uint64_t constantBytes = 0, sharedConstantBytes = 0;
  uint64_t kernels = 0, sharedKernels = 0; // shared with variants that lie in the same code
};

/// For each variant of the artifact.
std::vector<Use> usesOf(const schema::Artifact &artifact);

} // namespace convoy::tools

#endif // CONVOY_TOOLS_CONVOY_INSPECT_SHARING_H
