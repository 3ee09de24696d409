// Turns a linked shared object into the flat image that an artifact carries.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CONVOY_COMPILER_ARTIFACT_IMAGE_H
#define CONVOY_COMPILER_ARTIFACT_IMAGE_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <vector>

namespace convoy::artifact {

/// Code and read-only data that run wherever they are mapped, without a loader.
struct Image {
  struct Symbol {
    uint64_t offset;
    uint64_t bytes; // 0 if the linker did not say
  };
  std::vector<char> bytes;
  llvm::StringMap<Symbol> symbols; // the functions that it exports
};

/// `elf` is an x86-64 shared object that needs nothing from a loader: an error names the dynamic
/// relocation, the writable data or the undefined symbol that says otherwise.
llvm::Expected<Image> flattenImage(llvm::StringRef elf);

} // namespace convoy::artifact

#endif // CONVOY_COMPILER_ARTIFACT_IMAGE_H
