// Temporary file, rename.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/artifact/OutputFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace convoy::artifact;

Problem OutputFile::fail(const char *action) const {
  return "cannot " + std::string(action) + " " + path + ": " + std::strerror(errno);
}

Problem OutputFile::create(uint64_t size) {
  struct stat status;
  // Renaming onto a device or a pipe would replace it by a file.
  if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    if (S_ISDIR(status.st_mode))
      return "cannot write " + path + ": it is a directory";
    descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    return descriptor < 0 ? fail("open") : std::nullopt;
  }
  for (int attempt = 0; descriptor < 0; ++attempt) {
    std::string name =
        path + ".tmp" + std::to_string(getpid()) + (attempt ? "-" + std::to_string(attempt) : "");
    descriptor = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0)
      temporary = name;
    else if (errno != EEXIST)
      return fail("create a file beside");
  }
  // A disk without room is found before the long work of writing.
  if (int error = posix_fallocate(descriptor, 0, static_cast<off_t>(size))) {
    errno = error;
    return fail("find room for");
  }
  return std::nullopt;
}

void OutputFile::append(std::string_view bytes) {
  constexpr size_t kWorthACall = 1 << 16;
  if (small.size() + bytes.size() >= kWorthACall)
    flush();
  if (bytes.size() >= kWorthACall)
    write(bytes);
  else
    small += bytes;
}

void OutputFile::flush() {
  write(small);
  small.clear();
}

void OutputFile::write(std::string_view bytes) {
  while (!bytes.empty() && !problem) {
    ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written >= 0)
      bytes.remove_prefix(static_cast<size_t>(written));
    else if (errno != EINTR)
      problem = fail("write");
  }
}

Problem OutputFile::commit() {
  flush();
  // Some file systems tell only now that there is no room.
  if (!problem && ::close(std::exchange(descriptor, -1)) != 0)
    problem = fail("write");
  if (!problem && !temporary.empty()) {
    if (rename(temporary.c_str(), path.c_str()) != 0)
      return fail("rename a file to");
    temporary.clear();
  }
  return problem;
}

OutputFile::~OutputFile() {
  if (descriptor >= 0)
    ::close(descriptor);
  if (!temporary.empty())
    unlink(temporary.c_str());
}
