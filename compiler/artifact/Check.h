// Finds mistakes in an artifact before it is written.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CONVOY_COMPILER_ARTIFACT_CHECK_H
#define CONVOY_COMPILER_ARTIFACT_CHECK_H

#include "compiler/artifact/Artifact.h"

#include <optional>

namespace convoy::artifact {

/// Size for a batch of 1; nothing if the type is undefined, an extent is negative (but for the
/// batch) or the product overflows.
std::optional<uint64_t> bytesOf(const Value &value);

/// What the runtime demands of an artifact, so that a mistake is found where it is made. Whether the
/// launches of a wave are independent is for convoy-verify-plan to say.
Problem check(const Artifact &artifact);

} // namespace convoy::artifact

#endif // CONVOY_COMPILER_ARTIFACT_CHECK_H
