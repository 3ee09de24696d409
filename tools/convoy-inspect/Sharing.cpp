// Which constants and code a variant uses, and how much of it others use too.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/convoy-inspect/Sharing.h"

#include <algorithm>
#include <map>
#include <set>

namespace convoy::tools {

namespace {

using Range = std::pair<uint64_t, uint64_t>; // offset, bytes

/// Constants by their offset in the pool.
std::set<Range> constantsOf(const schema::Variant &variant) {
  std::map<uint64_t, uint64_t> ranges;
  if (variant.launches())
    for (const schema::Launch *launch : *variant.launches())
      if (launch->args())
        for (const schema::Arg *arg : *launch->args())
          if (arg->space() == schema::Space::constant)
            ranges[arg->offset()] =
                std::max(ranges[arg->offset()], arg->slice_offset() + arg->bytes());
  return {ranges.begin(), ranges.end()};
}

/// Kernels by where they lie in the file.
std::set<uint64_t> kernelsOf(const schema::Variant &variant) {
  std::set<uint64_t> result;
  if (variant.kernels() && variant.code())
    for (const schema::Kernel *kernel : *variant.kernels())
      result.insert(variant.code()->offset() + kernel->offset());
  return result;
}

template <typename T>
std::set<T> sharedOf(const std::vector<std::set<T>> &all, size_t index) {
  std::set<T> result;
  for (const T &item : all[index])
    for (size_t other = 0; other < all.size(); ++other)
      if (other != index && all[other].count(item))
        result.insert(item);
  return result;
}

uint64_t bytesOf(const std::set<Range> &ranges) {
  uint64_t bytes = 0;
  for (const Range &range : ranges)
    bytes += range.second;
  return bytes;
}

} // namespace

std::vector<Use> usesOf(const schema::Artifact &artifact) {
  std::vector<std::set<Range>> constants;
  std::vector<std::set<uint64_t>> kernels;
  if (artifact.variants())
    for (const schema::Variant *variant : *artifact.variants()) {
      constants.push_back(constantsOf(*variant));
      kernels.push_back(kernelsOf(*variant));
    }
  std::vector<Use> uses(constants.size());
  for (size_t i = 0; i < uses.size(); ++i)
    uses[i] = {bytesOf(constants[i]), bytesOf(sharedOf(constants, i)), kernels[i].size(),
               sharedOf(kernels, i).size()};
  return uses;
}

} // namespace convoy::tools
