// The list of targets.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/Target.h"

#include "targets/x86/X86Target.h"

using namespace convoy;

namespace {
struct Entry {
  const char *name;
  std::unique_ptr<Target> (*create)();
};
// Those that `host` may become come first, best first.
constexpr Entry kTargets[] = {
    {"x86-avx512", createX86Avx512Target},
    {"x86-avx2", createX86Avx2Target},
    {"x86-reference", createReferenceTarget},
};
// Those that need a library at run time: only by their names.
constexpr Entry kLibraryTargets[] = {
    {"x86-avx512-onednn", createX86Avx512OneDnnTarget},
    {"x86-avx2-onednn", createX86Avx2OneDnnTarget},
};
} // namespace

std::unique_ptr<Target> convoy::createTarget(llvm::StringRef name) {
  for (const Entry &entry : kTargets) {
    if (name != entry.name && name != "host")
      continue;
    std::unique_ptr<Target> target = entry.create();
    if (name != "host" || hostRuns(*target))
      return target;
  }
  for (const Entry &entry : kLibraryTargets)
    if (name == entry.name)
      return entry.create();
  return nullptr;
}

std::unique_ptr<Target> convoy::createOneDnnTarget(const Target &target) {
  return createTarget((target.name() + "-onednn").str());
}

std::vector<std::string> convoy::targetNames() {
  std::vector<std::string> names;
  for (const Entry &entry : kTargets)
    names.push_back(entry.name);
  return names;
}
