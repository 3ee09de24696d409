// mlir-opt with Convoy's dialects and passes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Cnn/Cnn.h"
#include "dialects/Plan/Plan.h"
#include "passes/Passes.h"
#include "targets/GenerateCode.h"
#include "targets/Target.h"
#include "tools/convoy-opt/TestTable.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

// The test table, or that of the target that the module names.
static const convoy::KernelTable *findTable(convoy::cnn::TargetAttr target) {
  if (target.getName() == convoy::kTestTargetName)
    return &convoy::getTestTable();
  // Tables live as long as the process, targets need not.
  std::unique_ptr<convoy::Target> known = convoy::createTarget(target.getName());
  return known ? &known->kernelTable() : nullptr;
}

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<convoy::cnn::CnnDialect, convoy::plan::PlanDialect, mlir::func::FuncDialect,
                  mlir::arith::ArithDialect, mlir::math::MathDialect>();
  mlir::registerTransformsPasses();
  convoy::registerPasses(findTable);
  convoy::registerGenerateCodePass();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Convoy's optimizer driver\n", registry));
}
