// Files and code in memory.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CONVOY_RUNTIME_FILE_H
#define CONVOY_RUNTIME_FILE_H

#include "convoy/convoy.h"

namespace convoy::rt {

/// The bytes of an artifact, mapped from a file or in the caller's memory.
class File {
public:
  File() = default;
  File(const File &) = delete;
  File &operator=(const File &) = delete;
  ~File();

  convoy_status open(const char *path);
  /// Copies only what is not aligned to CONVOY_ALIGNMENT.
  convoy_status borrow(const void *data, size_t size);

  const unsigned char *data() const { return bytes; }
  size_t size() const { return length; }
  /// The open file, or -1 for memory.
  int descriptor() const { return fd; }

private:
  const unsigned char *bytes = nullptr;
  size_t length = 0;
  int fd = -1;
  bool owned = false; // a copy of borrowed memory
};

/// Code that may be called, in pages of its own.
class CodePages {
public:
  CodePages() = default;
  CodePages(const CodePages &) = delete;
  CodePages &operator=(const CodePages &) = delete;
  ~CodePages();

  /// The range must lie within the file and start at a multiple of 4096.
  convoy_status map(const File &file, size_t offset, size_t size);

  const unsigned char *data() const { return bytes; }

private:
  const unsigned char *bytes = nullptr;
  size_t length = 0;
};

} // namespace convoy::rt

#endif // CONVOY_RUNTIME_FILE_H
