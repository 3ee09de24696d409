// The order of the passes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/Pipeline.h"

#include "passes/Passes.h"

using namespace mlir;
using namespace convoy;

static constexpr std::pair<Stage, llvm::StringLiteral> kStages[] = {
    {Stage::Import, "import"}, {Stage::Simplify, "simplify"}, {Stage::Fuse, "fuse"},
    {Stage::Layout, "layout"}, {Stage::Select, "select"},     {Stage::Plan, "plan"},
};

llvm::StringRef convoy::stageName(Stage stage) {
  for (auto [candidate, name] : kStages)
    if (candidate == stage)
      return name;
  llvm_unreachable("a stage without a name");
}

std::optional<Stage> convoy::stageFromName(llvm::StringRef name) {
  for (auto [stage, candidate] : kStages)
    if (candidate == name)
      return stage;
  return std::nullopt;
}

llvm::ArrayRef<Stage> convoy::allStages() {
  static constexpr Stage stages[] = {Stage::Import, Stage::Simplify, Stage::Fuse,
                                     Stage::Layout, Stage::Select,   Stage::Plan};
  return stages;
}

static void addLayoutPasses(OpPassManager &manager, const KernelTable &table,
                            const PipelineOptions &options) {
  if (options.optimize) {
    manager.addPass(createAssignLayout(always(table)));
    manager.addPass(createCancelRelayouts());
  }
  manager.addPass(createVerifyStage({"layout"}));
}

void convoy::buildChoices(OpPassManager &manager, const KernelTable &table,
                          const PipelineOptions &options) {
  addLayoutPasses(manager, table, options);
  manager.addPass(createSelectKernels(always(table)));
}

void convoy::buildStage(OpPassManager &manager, Stage stage, const KernelTable &table,
                        const PipelineOptions &options) {
  switch (stage) {
  case Stage::Import:
    manager.addPass(createVerifyStage({"import"}));
    break;
  case Stage::Simplify:
    manager.addPass(createSimplify());
    // Needs folded constants: batch norm's parameters may be computed ones.
    manager.addPass(createFoldBatchNorm());
    manager.addPass(createVerifyStage({"fold"}));
    break;
  case Stage::Fuse:
    // Before fusion: what an op's own region yields is what ONNX has rounded.
    manager.addPass(createAssignPrecision());
    if (options.optimize)
      manager.addPass(createFuseEpilogues());
    break;
  case Stage::Layout:
    addLayoutPasses(manager, table, options);
    break;
  case Stage::Select:
    manager.addPass(createSelectKernels(always(table)));
    // After selection: how weights must lie is the strategy's decision.
    manager.addPass(createPackWeights(always(table), PackWeightsOptions{/*release=*/true}));
    manager.addPass(createVerifyStage({"select"}));
    break;
  case Stage::Plan:
    manager.addPass(createOutlineToPlan());
    // Before memory is planned: buffers live as long as the waves that use them.
    if (options.optimize)
      manager.addPass(createFormWaves());
    manager.addPass(createPlanMemory());
    manager.addPass(createVerifyStage({"plan"}));
    // Shares no code with the planner.
    manager.addPass(createVerifyPlan());
    break;
  }
  if (options.extraPasses)
    options.extraPasses(manager, stage);
}
