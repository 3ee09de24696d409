// How full a variant's arena is at each launch.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CONVOY_TOOLS_CONVOY_INSPECT_MEMORY_H
#define CONVOY_TOOLS_CONVOY_INSPECT_MEMORY_H

#include "runtime/schema/artifact_generated.h"

#include <cstdint>
#include <vector>

namespace convoy::tools {

/// For each launch the bytes of the arena that hold something live while its wave runs. Buffers that
/// share bytes, such as the parts of a concatenation, count once.
std::vector<uint64_t> liveBytes(const schema::Variant &variant);

} // namespace convoy::tools

#endif // CONVOY_TOOLS_CONVOY_INSPECT_MEMORY_H
