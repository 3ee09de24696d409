// mlir-opt with Convoy's dialects and passes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Cnn/Cnn.h"
#include "dialects/Plan/Plan.h"
#include "passes/Passes.h"
#include "targets/GenerateCode.h"
#include "targets/Target.h"
#include "tools/convoy-opt/TestTable.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

// The test table, or that of the target that the module names.
static const convoy::KernelTable *findTable(convoy::cnn::TargetAttr target) {
  if (target.getName() == convoy::kTestTargetName)
    return &convoy::getTestTable();
  // Tables live as long as the process, targets need not.
  std::unique_ptr<convoy::Target> known = convoy::createTarget(target.getName());
  return known ? &known->kernelTable() : nullptr;
}

static bool asksForHelp(llvm::ArrayRef<char *> words) {
  for (llvm::StringRef word : words) {
    if (word == "--")
      return false;
    if (word == "-h" || word == "-help" || word == "--help")
      return true;
  }
  return false;
}

// MLIR's own help has the passes among hundreds of options of LLVM's code generators. Call it while
// Convoy's passes are all that is registered.
static void printHelp() {
  llvm::outs() << R"(usage: convoy-opt [FILE] [--PASS]... [options]

Runs passes on an MLIR module, in the order of the command line, and prints the result. FILE may be
what convoy-compile --emit STAGE --full-constants wrote; - is standard input (the default).

Example:
  convoy-opt m.mlir --convoy-fuse-epilogues --convoy-assign-layout -o layout.mlir

Options:
  -o FILE               where the result goes; - is standard output (the default)
  --split-input-file    take what stands between lines of "// -----" as modules of their own
  --verify-diagnostics  check messages against the comments that expect them, and print no module
  --remarks-filter=REGEX
                        print what passes decided and why; .* for all categories
  --mlir-print-ir-after-all
                        print the module after every pass too
  --mlir-print-ir-tree-dir=DIR
                        with it: into files in DIR
  --mlir-timing         print how long each pass took
  --mlir-pass-pipeline-crash-reproducer=FILE
                        if a pass fails, write what it failed on
  --help                print this and exit
  --list-passes         print these passes and MLIR's own, and exit
  --help-list           print all options, those of MLIR and LLVM too, and exit

Convoy's passes; docs/passes.md tells more, in the order in which convoy-compile runs them. A pass
that has options takes them as its value, such as --convoy-plan-memory="in-place=false".
)";
  mlir::printRegisteredPasses();
}

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<convoy::cnn::CnnDialect, convoy::plan::PlanDialect, mlir::func::FuncDialect,
                  mlir::arith::ArithDialect, mlir::math::MathDialect>();
  convoy::registerPasses(findTable);
  convoy::registerGenerateCodePass();
  if (asksForHelp({argv + 1, argv + argc})) {
    printHelp();
    return 0;
  }
  mlir::registerTransformsPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Convoy's optimizer driver\n", registry));
}
