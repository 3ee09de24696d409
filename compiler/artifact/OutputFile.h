// A file that appears under its name only when it is complete.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CONVOY_COMPILER_ARTIFACT_OUTPUTFILE_H
#define CONVOY_COMPILER_ARTIFACT_OUTPUTFILE_H

#include "compiler/artifact/Artifact.h"

namespace convoy::artifact {

/// Its bytes are mapped: a large file is never in memory twice.
class OutputFile {
public:
  explicit OutputFile(std::string path) : path(std::move(path)) {}
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;
  /// Removes the temporary file if it was not committed.
  ~OutputFile();

  /// Makes a temporary file of zeros beside the path. Fails if the disk has no room.
  Problem create(uint64_t size);
  char *data() const { return bytes; }
  /// Gives the file its name, in place of one that was there.
  Problem commit();

private:
  Problem fail(const char *action) const;
  Problem writeToDevice();
  void close();

  std::string path;
  std::string temporary;    // empty if there is none, as when the path is a device or pipe
  std::vector<char> buffer; // for devices and pipes
  char *bytes = nullptr;
  uint64_t size = 0;
  int descriptor = -1;
};

} // namespace convoy::artifact

#endif // CONVOY_COMPILER_ARTIFACT_OUTPUTFILE_H
