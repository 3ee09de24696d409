// Chooses the strategy of every op that needs a kernel.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Passes.h"

#include "passes/Graph.h"
#include "passes/Relayout.h"
#include "passes/Remarks.h"


namespace convoy {
#define GEN_PASS_DEF_SELECTKERNELS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;

// Whether all that happens to a value, under any of its shapes, is to be returned once.
static bool isOnlyReturned(Value root) {
  while (true) {
    if (!root.hasOneUse())
      return false;
    Operation *user = *root.user_begin();
    if (isa<func::ReturnOp>(user))
      return true;
    if (!isAlias(user))
      return false;
    root = user->getResult(0);
  }
}

// Outputs that cannot have a buffer that a kernel writes become copies. Returns those.
static DenseSet<Operation *> insertCopies(func::FuncOp graph) {
  DenseSet<Operation *> copies;
  auto ret = cast<func::ReturnOp>(graph.getBody().front().getTerminator());
  for (OpOperand &output : ret->getOpOperands()) {
    Value root = getAliasRoot(output.get());
    if (root.getDefiningOp() && !isa<cnn::ConstantOp>(root.getDefiningOp()) &&
        isOnlyReturned(root))
      continue;
    OpBuilder builder(ret);
    Location loc = output.get().getLoc();
    Operation *copy = output.get().getDefiningOp();
    if (!isAlias(copy) || !copy->hasOneUse()) {
      copy = cnn::ReshapeOp::create(builder, loc, output.get().getType(), output.get(),
                                    StringAttr());
      output.set(copy->getResult(0));
    }
    copies.insert(copy);
  }
  return copies;
}

namespace {
struct SelectKernels : public convoy::impl::SelectKernelsBase<SelectKernels> {
  SelectKernels() = default;
  explicit SelectKernels(KernelTableLookup lookup) : lookup(std::move(lookup)) {}
  void runOnOperation() override;

  KernelTableLookup lookup;
};
} // namespace

std::unique_ptr<Pass> convoy::createSelectKernels(KernelTableLookup lookup) {
  return std::make_unique<SelectKernels>(std::move(lookup));
}

void SelectKernels::runOnOperation() {
  FailureOr<func::FuncOp> graph = getGraph(getOperation());
  FailureOr<cnn::TargetAttr> target = getTarget(getOperation());
  if (failed(graph) || failed(target))
    return signalPassFailure();
  const KernelTable *table = lookup ? lookup(*target) : nullptr;
  if (!table) {
    getOperation().emitError() << "no kernel table for target '" << target->getName() << "'";
    return signalPassFailure();
  }
  DenseSet<Operation *> copies = insertCopies(*graph);
  bool complete = true;
  for (Operation &op : graph->getBody().front()) {
    if (!isComputeOp(&op) || (isAlias(&op) && !copies.contains(&op)))
      continue;
    const Strategy *strategy = table->select(&op, *target);
    if (!strategy) {
      // All ops that have none are listed.
      op.emitOpError() << "has no kernel on target '" << target->getName() << "'";
      complete = false;
      continue;
    }
    op.setAttr("strategy", StringAttr::get(&getContext(), strategy->name()));
    remarkPassed(op.getLoc(), "SelectKernels", "kernel",
                 op.getName().getStringRef() + " by " + strategy->name() +
                     llvm::formatv(", estimated {0:F1} us", *strategy->cost(&op, *target) / 1000));
  }
  if (!complete)
    signalPassFailure();
}
