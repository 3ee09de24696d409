// The constants of an artifact: equal ones are stored once.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CONVOY_COMPILER_ARTIFACT_CONSTANTPOOL_H
#define CONVOY_COMPILER_ARTIFACT_CONSTANTPOOL_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace convoy::artifact {

class ConstantPool {
public:
  /// Every constant starts at a multiple of this.
  static constexpr uint64_t alignment = 64;

  /// Returns the offset of these bytes in the pool. They are not copied: `owner` keeps them in
  /// memory, or, if it is null, the caller, as long as the pool lives.
  uint64_t add(std::string_view bytes, std::shared_ptr<const void> owner);
  uint64_t add(std::vector<char> bytes);
  uint64_t add(const void *data, size_t size) {
    const char *bytes = static_cast<const char *>(data);
    return add(std::vector<char>(bytes, bytes + size));
  }

  /// Bytes from the first constant's start to the last one's end.
  uint64_t size() const { return end; }
  size_t count() const { return constants.size(); }

  /// The bytes of the constant that starts at `offset` if one does.
  std::optional<std::string_view> at(uint64_t offset) const;

  /// Visits the constants in the order of their offsets. There are gaps between them.
  void forEach(const std::function<void(uint64_t offset, std::string_view bytes)> &visit) const;

private:
  struct Constant {
    uint64_t offset;
    std::string_view bytes;
    std::shared_ptr<const void> owner;
  };
  std::vector<Constant> constants; // by offset
  std::unordered_multimap<uint64_t, size_t> byHash;
  uint64_t end = 0;
};

} // namespace convoy::artifact

#endif // CONVOY_COMPILER_ARTIFACT_CONSTANTPOOL_H
