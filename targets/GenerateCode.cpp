// Code generation as a pass, for convoy-opt and its tests.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/GenerateCode.h"

#include "targets/Target.h"

#include "mlir/Pass/Pass.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace convoy;

namespace {

struct GenerateCode : PassWrapper<GenerateCode, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(GenerateCode)

  GenerateCode() = default;
  GenerateCode(const GenerateCode &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "convoy-generate-code"; }
  StringRef getDescription() const override { return "Generate code for the kernels of a plan"; }

  void runOnOperation() override {
    std::string name = targetName;
    auto facts = getOperation()->getAttrOfType<cnn::TargetAttr>(cnn::kTargetAttrName);
    if (name.empty() && facts)
      name = facts.getName().str();
    std::unique_ptr<Target> target = createTarget(name);
    if (!target) {
      getOperation().emitError() << "unknown target '" << name << "'";
      return signalPassFailure();
    }
    CodeDumps dumps;
    dumps.wanted = !print.empty();
    if (failed(target->generate(getOperation(), dumps)))
      return signalPassFailure();
    if (print == "mlir")
      llvm::outs() << dumps.kernels;
    else if (print == "llvm")
      llvm::outs() << dumps.llvmIr;
    else if (print == "asm")
      llvm::outs() << dumps.assembly;
    else if (print == "spills")
      llvm::outs() << dumps.spills;
    llvm::outs().flush();
  }

  Option<std::string> targetName{*this, "target",
                                 llvm::cl::desc("Target, if not the module's cnn.target")};
  Option<std::string> print{*this, "print", llvm::cl::desc("Print mlir, llvm, asm or spills")};
};

} // namespace

void convoy::registerGenerateCodePass() { PassRegistration<GenerateCode>(); }
