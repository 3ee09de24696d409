// Maps files and code.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "file.h"

#include "convoy/kernel_abi.h"
#include "status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace convoy::rt;

File::~File() {
  if (owned)
    free(const_cast<unsigned char *>(bytes));
  if (fd < 0)
    return;
  if (length)
    munmap(const_cast<unsigned char *>(bytes), length);
  close(fd);
}

convoy_status File::open(const char *path) {
  fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return fail(CONVOY_CANNOT_OPEN, "%s: %s", path, strerror(errno));
  struct stat status;
  if (fstat(fd, &status) != 0)
    return fail(CONVOY_CANNOT_OPEN, "%s: %s", path, strerror(errno));
  if (!S_ISREG(status.st_mode))
    return fail(CONVOY_CANNOT_OPEN, "%s: not a regular file", path);
  if (status.st_size == 0)
    return CONVOY_OK; // an empty file cannot be mapped; the header's check rejects it
  // Populated at once: the checksum reads all of it anyway.
  void *mapped = mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ,
                      MAP_PRIVATE | MAP_POPULATE, fd, 0);
  if (mapped == MAP_FAILED)
    return fail(CONVOY_CANNOT_OPEN, "%s: cannot map %lld bytes: %s", path,
                static_cast<long long>(status.st_size), strerror(errno));
  bytes = static_cast<const unsigned char *>(mapped);
  length = static_cast<size_t>(status.st_size);
  return CONVOY_OK;
}

convoy_status File::borrow(const void *data, size_t size) {
  bytes = static_cast<const unsigned char *>(data);
  length = size;
  if (size == 0 || reinterpret_cast<uintptr_t>(data) % CONVOY_ALIGNMENT == 0)
    return CONVOY_OK;
  void *copy = nullptr;
  if (posix_memalign(&copy, CONVOY_ALIGNMENT, size) != 0)
    return fail(CONVOY_OUT_OF_MEMORY, "no memory to copy an artifact of %zu bytes", size);
  memcpy(copy, data, size);
  bytes = static_cast<const unsigned char *>(copy);
  owned = true;
  return CONVOY_OK;
}

CodePages::~CodePages() {
  if (length)
    munmap(const_cast<unsigned char *>(bytes), length);
}

convoy_status CodePages::map(const File &file, size_t offset, size_t size) {
  // From the file itself if possible: then processes share the pages.
  if (file.descriptor() >= 0) {
    void *mapped = mmap(nullptr, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, file.descriptor(),
                        static_cast<off_t>(offset));
    if (mapped != MAP_FAILED) {
      bytes = static_cast<const unsigned char *>(mapped);
      length = size;
      return CONVOY_OK;
    }
    // E.g. a file system mounted noexec, or pages larger than 4096 bytes: copy instead.
  }
  void *mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    return fail(CONVOY_OUT_OF_MEMORY, "cannot map %zu bytes for code: %s", size, strerror(errno));
  bytes = static_cast<const unsigned char *>(mapped);
  length = size;
  memcpy(mapped, file.data() + offset, size);
  if (mprotect(mapped, size, PROT_READ | PROT_EXEC) != 0)
    return fail(CONVOY_SYSTEM, "cannot make %zu bytes of code executable: %s", size,
                strerror(errno));
  return CONVOY_OK;
}
