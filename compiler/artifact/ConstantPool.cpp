// Deduplicates constants by content.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/artifact/ConstantPool.h"

#include <algorithm>
#include <cstring>
#include <string_view>

using namespace convoy::artifact;

uint64_t ConstantPool::add(std::vector<char> bytes) {
  uint64_t hash = std::hash<std::string_view>()({bytes.data(), bytes.size()});
  auto [first, last] = byHash.equal_range(hash);
  for (auto it = first; it != last; ++it)
    if (constants[it->second].bytes == bytes)
      return constants[it->second].offset;
  uint64_t offset = (end + alignment - 1) / alignment * alignment;
  end = offset + bytes.size();
  byHash.emplace(hash, constants.size());
  constants.push_back({offset, std::move(bytes)});
  return offset;
}

const std::vector<char> *ConstantPool::at(uint64_t offset) const {
  auto it = std::lower_bound(
      constants.begin(), constants.end(), offset,
      [](const Constant &constant, uint64_t value) { return constant.offset < value; });
  if (it == constants.end() || it->offset != offset)
    return nullptr;
  return &it->bytes;
}

void ConstantPool::copyTo(char *memory) const {
  uint64_t written = 0;
  for (const Constant &constant : constants) {
    std::memset(memory + written, 0, constant.offset - written);
    if (!constant.bytes.empty())
      std::memcpy(memory + constant.offset, constant.bytes.data(), constant.bytes.size());
    written = constant.offset + constant.bytes.size();
  }
}
