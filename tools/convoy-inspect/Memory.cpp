// How full a variant's arena is at each launch.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/convoy-inspect/Memory.h"

#include <algorithm>

namespace convoy::tools {

std::vector<uint64_t> liveBytes(const schema::Variant &variant) {
  std::vector<uint64_t> live(variant.launches() ? variant.launches()->size() : 0);
  if (!variant.buffers())
    return live;
  std::vector<const schema::Buffer *> buffers(variant.buffers()->begin(),
                                              variant.buffers()->end());
  std::sort(buffers.begin(), buffers.end(),
            [](auto *a, auto *b) { return a->offset() < b->offset(); });
  for (size_t launch = 0; launch < live.size(); ++launch) {
    // In order of their offsets: everything before `end` is counted already.
    uint64_t end = 0;
    for (const schema::Buffer *buffer : buffers) {
      if (launch < buffer->first_launch() || launch > buffer->last_launch())
        continue;
      uint64_t begin = std::max(end, buffer->offset());
      end = std::max(end, buffer->offset() + buffer->bytes());
      live[launch] += end - begin;
    }
  }
  return live;
}

} // namespace convoy::tools
