// The tuning results that come with the compiler: targets/x86/tuned/*.json, embedded.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/tune/Shipped.h"

#include "compiler/tune/ShippedFiles.h"

using namespace convoy;
using namespace convoy::tune;

Results tune::shippedResults(llvm::StringRef machineClass, llvm::StringRef target) {
  Results results;
  for (llvm::StringRef text : kShippedFiles) {
    llvm::Expected<ResultsFile> file = ResultsFile::parse(text);
    if (!file) {
      // A test reads all of them.
      llvm::consumeError(file.takeError());
      continue;
    }
    for (const auto &[setting, section] : file->all())
      if (setting.cpu == machineClass && setting.target == target)
        results.add(section);
  }
  return results;
}
