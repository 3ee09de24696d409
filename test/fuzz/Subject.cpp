// What the importer's fuzzer runs on each file.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/fuzz/Subject.h"

#include "compiler/Pipeline.h"
#include "compiler/onnx/Importer.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

using namespace convoy;
using namespace convoy::fuzz;

namespace {
// These stages choose no kernels.
struct NoKernels : KernelTable {
  llvm::ArrayRef<const Strategy *> strategies() const override { return {}; }
};
} // namespace

// A context keeps every type, attribute and constant that it has seen.
static constexpr unsigned kRunsOfAContext = 64;

Subject::Subject(std::string folder, bool prints) : folder(std::move(folder)), prints(prints) {}

void Subject::renewContext() {
  context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  context->getDiagEngine().registerHandler([this](mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error) {
      ++numErrors;
      lastError = diagnostic.str();
    }
    if (prints)
      llvm::errs() << diagnostic.getLocation() << ": " << diagnostic.str() << "\n";
    return mlir::success();
  });
}

Reached Subject::run(llvm::StringRef bytes, llvm::StringRef name, std::string &fault) {
  if (runs++ % kRunsOfAContext == 0)
    renewContext();
  numErrors = 0;
  auto module = onnx::importModelFromMemory(bytes, name, folder, {}, context.get());
  if (failed(module)) {
    if (numErrors == 0)
      fault = "a model is refused without a reason";
    return Reached::Refused;
  }
  if (numErrors > 0) {
    fault = "a model is imported in spite of an error: " + lastError;
    return Reached::Imported;
  }
  mlir::PassManager manager(context.get());
  NoKernels noKernels;
  for (Stage stage : {Stage::Import, Stage::Simplify, Stage::Fuse})
    buildStage(manager, stage, noKernels, {});
  if (failed(manager.run(**module))) {
    fault = "a pass fails on what was imported: " + (numErrors == 0 ? "no reason" : lastError);
    return Reached::Imported;
  }
  return Reached::Simplified;
}
