// What the importer's fuzzer runs on each file: the importer and the passes that follow it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "mlir/IR/MLIRContext.h"

#include <memory>
#include <string>

namespace convoy::fuzz {

/// How far a file came.
enum class Reached { Refused, Imported, Simplified };

/// Imports files and brings what was imported into the form after the stages simplify and fuse.
class Subject {
public:
  /// `folder` is where external data are looked for; `prints` shows the diagnostics.
  Subject(std::string folder, bool prints);

  /// What is wrong otherwise than by a crash is said in `fault`: a refusal without a reason, or a
  /// module that the importer gives and a pass fails on.
  Reached run(llvm::StringRef bytes, llvm::StringRef name, std::string &fault);

private:
  void renewContext();

  std::string folder;
  bool prints;
  std::unique_ptr<mlir::MLIRContext> context;
  unsigned runs = 0, numErrors = 0;
  std::string lastError;
};

} // namespace convoy::fuzz
