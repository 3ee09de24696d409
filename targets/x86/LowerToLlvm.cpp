// From the functions that KernelBuilder makes to MLIR's llvm dialect.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/x86/LowerToLlvm.h"

#include "targets/x86/Math.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Threading.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace convoy;

static void addPasses(OpPassManager &passes) {
  passes.addPass(createCSEPass());
  passes.addPass(createSCFToControlFlowPass());
  // Before arith and func: it needs the vector types as they are.
  passes.addPass(createConvertVectorToLLVMPass());
  passes.addPass(createConvertMathToLLVMPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createUBToLLVMConversionPass());
  passes.addPass(createConvertFuncToLLVMPass());
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
}

void convoy::prepareContextForCodegen(MLIRContext *context) {
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  context->appendDialectRegistry(registry);
  context->loadDialect<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect,
                       LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect, ub::UBDialect,
                       vector::VectorDialect>();
}

// Puts modules into one for as long as it lives.
namespace {
class JoinedModules {
public:
  explicit JoinedModules(ArrayRef<ModuleOp> modules)
      : parent(ModuleOp::create(ModuleOp(modules.front()).getLoc())), modules(modules) {
    for (ModuleOp module : modules)
      parent->push_back(module);
  }
  ~JoinedModules() {
    for (ModuleOp module : modules)
      module->remove();
  }
  ModuleOp get() { return *parent; }

private:
  OwningOpRef<ModuleOp> parent;
  ArrayRef<ModuleOp> modules;
};
} // namespace

// What is left has no translation: better an error here than a crash there.
static LogicalResult checkLowered(ModuleOp module) {
  WalkResult left = module.walk([](Operation *op) {
    if (isa<ModuleOp>(op) || isa_and_nonnull<LLVM::LLVMDialect>(op->getDialect()))
      return WalkResult::advance();
    op->emitError() << "code generation for x86 has no lowering for " << op->getName();
    return WalkResult::interrupt();
  });
  return success(!left.wasInterrupted());
}

LogicalResult convoy::lowerToLlvmDialect(ArrayRef<ModuleOp> modules) {
  MLIRContext *context = ModuleOp(modules.front()).getContext();
  parallelForEach(context, modules, [](ModuleOp module) { expandMath(module); });
  // One pass manager over nested modules: it runs them on all threads, where several managers of
  // one context at a time would race for its dialects.
  JoinedModules joined(modules);
  PassManager passes(context);
  passes.enableVerifier(false);
  addPasses(passes.nest<ModuleOp>());
  if (failed(passes.run(joined.get())))
    return joined.get().emitError("code generation failed to lower a kernel");
  return success(llvm::all_of(modules, [](ModuleOp module) { return succeeded(checkLowered(module)); }));
}
