// How full a variant's arena is at each launch.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/convoy-inspect/Memory.h"

#include <algorithm>

namespace convoy::tools {

/// The first and the last launch of the wave of each launch.
static std::vector<std::pair<uint32_t, uint32_t>> wavesOf(const schema::Variant &variant) {
  std::vector<std::pair<uint32_t, uint32_t>> waves;
  uint32_t first = 0;
  for (uint32_t i = 0; variant.launches() && i < variant.launches()->size(); ++i) {
    if (!variant.launches()->Get(i)->joins())
      first = i;
    waves.push_back({first, i});
    for (uint32_t other = first; other < i; ++other)
      waves[other].second = i;
  }
  return waves;
}

std::vector<uint64_t> liveBytes(const schema::Variant &variant) {
  std::vector<uint64_t> live(variant.launches() ? variant.launches()->size() : 0);
  if (!variant.buffers())
    return live;
  std::vector<const schema::Buffer *> buffers(variant.buffers()->begin(),
                                              variant.buffers()->end());
  std::sort(buffers.begin(), buffers.end(),
            [](auto *a, auto *b) { return a->offset() < b->offset(); });
  std::vector<std::pair<uint32_t, uint32_t>> waves = wavesOf(variant);
  for (size_t launch = 0; launch < live.size(); ++launch) {
    // In order of their offsets: everything before `end` is counted already.
    uint64_t end = 0;
    for (const schema::Buffer *buffer : buffers) {
      if (waves[launch].second < buffer->first_launch() ||
          waves[launch].first > buffer->last_launch())
        continue;
      uint64_t begin = std::max(end, buffer->offset());
      end = std::max(end, buffer->offset() + buffer->bytes());
      live[launch] += end - begin;
    }
  }
  return live;
}

} // namespace convoy::tools
