// Registers the passes for command lines such as convoy-opt's.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Passes.h"

#include "mlir/Pass/PassRegistry.h"

namespace convoy {
#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"
} // namespace convoy

void convoy::registerPasses(KernelTableLookup lookup) {
  registerSimplify();
  registerFoldBatchNorm();
  registerFuseEpilogues();
  registerAssignPrecision();
  mlir::registerPass([lookup] { return createAssignLayout(lookup); });
  registerCancelRelayouts();
  mlir::registerPass([lookup] { return createSelectKernels(lookup); });
  mlir::registerPass([lookup] { return createPackWeights(lookup); });
  registerOutlineToPlan();
  registerFormWaves();
  registerPlanMemory();
  registerVerifyPlan();
  registerVerifyStage();
}
