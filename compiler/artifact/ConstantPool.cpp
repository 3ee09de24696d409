// Deduplicates constants by content.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/artifact/ConstantPool.h"

#include <algorithm>

using namespace convoy::artifact;

uint64_t ConstantPool::add(std::string_view bytes, std::shared_ptr<const void> owner) {
  uint64_t hash = std::hash<std::string_view>()(bytes);
  auto [first, last] = byHash.equal_range(hash);
  for (auto it = first; it != last; ++it)
    if (constants[it->second].bytes == bytes)
      return constants[it->second].offset;
  uint64_t offset = (end + alignment - 1) / alignment * alignment;
  end = offset + bytes.size();
  byHash.emplace(hash, constants.size());
  constants.push_back({offset, bytes, std::move(owner)});
  return offset;
}

uint64_t ConstantPool::add(std::vector<char> bytes) {
  auto owner = std::make_shared<const std::vector<char>>(std::move(bytes));
  return add({owner->data(), owner->size()}, owner);
}

std::optional<std::string_view> ConstantPool::at(uint64_t offset) const {
  auto it = std::lower_bound(
      constants.begin(), constants.end(), offset,
      [](const Constant &constant, uint64_t value) { return constant.offset < value; });
  if (it == constants.end() || it->offset != offset)
    return std::nullopt;
  return it->bytes;
}

void ConstantPool::forEach(
    const std::function<void(uint64_t offset, std::string_view bytes)> &visit) const {
  for (const Constant &constant : constants)
    visit(constant.offset, constant.bytes);
}
