// A file that appears under its name only when it is complete.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CONVOY_COMPILER_ARTIFACT_OUTPUTFILE_H
#define CONVOY_COMPILER_ARTIFACT_OUTPUTFILE_H

#include "compiler/artifact/Artifact.h"

#include <string_view>

namespace convoy::artifact {

/// Its bytes come in order and go out at once: a large file is never in memory.
class OutputFile {
public:
  explicit OutputFile(std::string path) : path(std::move(path)) {}
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;
  /// Removes the temporary file if it was not committed.
  ~OutputFile();

  /// Makes a temporary file beside the path. Fails if the disk has no room.
  Problem create(uint64_t size);
  /// What fails here commit() will tell.
  void append(std::string_view bytes);
  /// Gives the file its name, in place of one that was there.
  Problem commit();

private:
  Problem fail(const char *action) const;
  void write(std::string_view bytes);
  void flush();

  std::string path;
  std::string temporary; // empty if there is none, as when the path is a device or pipe
  std::string small;     // bytes that are too few for a system call of their own
  Problem problem;
  int descriptor = -1;
};

} // namespace convoy::artifact

#endif // CONVOY_COMPILER_ARTIFACT_OUTPUTFILE_H
