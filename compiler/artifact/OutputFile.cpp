// Temporary file, map, rename.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/artifact/OutputFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace convoy::artifact;

Problem OutputFile::fail(const char *action) const {
  return "cannot " + std::string(action) + " " + path + ": " + std::strerror(errno);
}

Problem OutputFile::create(uint64_t newSize) {
  size = newSize;
  struct stat status;
  if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    if (S_ISDIR(status.st_mode))
      return "cannot write " + path + ": it is a directory";
    buffer.assign(size, 0);
    bytes = buffer.data();
    return std::nullopt;
  }
  for (int attempt = 0; descriptor < 0; ++attempt) {
    std::string name =
        path + ".tmp" + std::to_string(getpid()) + (attempt ? "-" + std::to_string(attempt) : "");
    descriptor = open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0)
      temporary = name;
    else if (errno != EEXIST)
      return fail("create a file beside");
  }
  // Allocates the blocks: on a full disk, writing to a map would kill the process instead.
  if (int error = posix_fallocate(descriptor, 0, static_cast<off_t>(size))) {
    errno = error;
    return fail("find room for");
  }
  void *map = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (map == MAP_FAILED)
    return fail("map");
  bytes = static_cast<char *>(map);
  return std::nullopt;
}

Problem OutputFile::commit() {
  if (temporary.empty())
    return writeToDevice();
  close();
  if (rename(temporary.c_str(), path.c_str()) != 0)
    return fail("rename a file to");
  temporary.clear();
  return std::nullopt;
}

Problem OutputFile::writeToDevice() {
  descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0)
    return fail("open");
  for (uint64_t done = 0; done < size;) {
    ssize_t written = ::write(descriptor, bytes + done, size - done);
    if (written < 0 && errno != EINTR)
      return fail("write");
    done += written > 0 ? static_cast<uint64_t>(written) : 0;
  }
  return std::nullopt;
}

void OutputFile::close() {
  if (bytes && buffer.empty())
    munmap(bytes, size);
  bytes = nullptr;
  if (descriptor >= 0)
    ::close(descriptor);
  descriptor = -1;
}

OutputFile::~OutputFile() {
  close();
  if (!temporary.empty())
    unlink(temporary.c_str());
}
