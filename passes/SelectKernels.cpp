// Chooses the strategy of every op that needs a kernel.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Passes.h"

#include "passes/Graph.h"
#include "passes/Parts.h"
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

// Whether a value, under one of its shapes, is an output.
static bool isReturned(Value root) {
  return llvm::any_of(root.getUsers(), [](Operation *user) {
    return isa<func::ReturnOp>(user) || (isAlias(user) && isReturned(user->getResult(0)));
  });
}

namespace {

// Finds the concats and slices that need no kernel, because buffers can be parts of others.
class PartsFinder {
public:
  void find(func::FuncOp graph);
  // Ops that get no strategy, and copies that get one.
  DenseSet<Operation *> parts, copies;

private:
  bool share(cnn::SliceOp slice);
  bool share(cnn::ConcatOp concat);
  bool mayPlace(Value root) const;
  // Buffers that are a part of a concat already.
  DenseSet<Value> placed;
};

} // namespace

bool PartsFinder::share(cnn::SliceOp slice) {
  Value root = getAliasRoot(slice.getSrc());
  Operation *producer = root.getDefiningOp();
  return getPartOffset(slice) && producer && !isa<cnn::ConstantOp>(producer) &&
         !isReturned(slice.getDst());
}

bool PartsFinder::mayPlace(Value root) const {
  Operation *producer = root.getDefiningOp();
  if (!producer || isa<cnn::ConstantOp>(producer) || placed.contains(root))
    return false;
  return !(isa<cnn::SliceOp>(producer) && parts.contains(producer));
}

bool PartsFinder::share(cnn::ConcatOp concat) {
  if (isReturned(concat.getDst()) || !getPartOffsets(concat))
    return false;
  int64_t free = 0, copied = 0;
  DenseSet<Value> roots;
  SmallVector<OpOperand *> toCopy;
  for (OpOperand &input : concat->getOpOperands()) {
    Value root = getAliasRoot(input.get());
    int64_t bytes = cnn::getBytes(tensorType(input.get()));
    if (mayPlace(root) && roots.insert(root).second) {
      free += bytes;
    } else {
      copied += bytes;
      toCopy.push_back(&input);
    }
  }
  // What is copied anyway had better be copied by one kernel.
  if (copied > free)
    return false;
  placed.insert(roots.begin(), roots.end());
  for (OpOperand *input : toCopy) {
    OpBuilder builder(concat);
    auto copy = cnn::RelayoutOp::create(builder, input->get().getLoc(), input->get().getType(),
                                        input->get(), StringAttr());
    input->set(copy.getDst());
    copies.insert(copy);
    placed.insert(copy.getDst());
  }
  return true;
}

void PartsFinder::find(func::FuncOp graph) {
  for (Operation &op : llvm::make_early_inc_range(graph.getBody().front())) {
    bool shares = false;
    if (auto slice = dyn_cast<cnn::SliceOp>(op))
      shares = share(slice);
    else if (auto concat = dyn_cast<cnn::ConcatOp>(op))
      shares = share(concat);
    if (!shares)
      continue;
    parts.insert(&op);
    remarkPassed(op.getLoc(), "SelectKernels", "kernel",
                 op.getName().getStringRef() + " without a copy");
  }
}

// Outputs that cannot have a buffer that a kernel writes become copies. Returns those.
static DenseSet<Operation *> insertCopies(func::FuncOp graph) {
  DenseSet<Operation *> copies;
  auto ret = cast<func::ReturnOp>(graph.getBody().front().getTerminator());
  for (OpOperand &output : ret->getOpOperands()) {
    Value root = getAliasRoot(output.get());
    if (root.getDefiningOp() && !isa<cnn::ConstantOp>(root.getDefiningOp()) && isOnlyReturned(root))
      continue;
    OpBuilder builder(ret);
    Location loc = output.get().getLoc();
    Operation *copy = output.get().getDefiningOp();
    if (!isAlias(copy) || !copy->hasOneUse()) {
      copy =
          cnn::ReshapeOp::create(builder, loc, output.get().getType(), output.get(), StringAttr());
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

// Says which kernel an op has and why.
static void explain(Operation *op, const KernelChoice &choice) {
  std::string text = (op->getName().getStringRef() + " by " + choice.strategy->name()).str();
  if (!choice.config.empty())
    text += " " + choice.config;
  if (choice.isMeasured)
    text += llvm::formatv(", measured {0:F1} us", choice.ns / 1000);
  text += llvm::formatv(", estimated {0:F1} us", choice.estimateNs / 1000);
  if (choice.isMeasured && choice.isChanged()) {
    text += llvm::formatv("; estimates chose {0} at {1:F1} us", choice.estimated->name(),
                          choice.estimatedNs / 1000);
    if (choice.estimatedTook)
      text += llvm::formatv(", which took {0:F1} us", *choice.estimatedTook / 1000);
  }
  remarkPassed(op->getLoc(), "SelectKernels", "kernel", text);
  for (const std::string &name : choice.unknown)
    remarkMissed(op->getLoc(), "SelectKernels", "kernel",
                 "a tuning result for strategy '" + name + "' is left out: there is none");
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
  PartsFinder parts;
  parts.find(*graph);
  DenseSet<Operation *> copies = insertCopies(*graph);
  copies.insert(parts.copies.begin(), parts.copies.end());
  bool complete = true;
  for (Operation &op : graph->getBody().front()) {
    if (!isComputeOp(&op) || (isAlias(&op) && !copies.contains(&op)) || parts.parts.contains(&op))
      continue;
    KernelChoice choice = table->choose(&op, *target);
    if (!choice.strategy) {
      // All ops that have none are listed.
      op.emitOpError() << "has no kernel on target '" << target->getName() << "'";
      complete = false;
      continue;
    }
    op.setAttr("strategy", StringAttr::get(&getContext(), choice.strategy->name()));
    if (!choice.config.empty())
      op.setAttr(kConfigAttrName, StringAttr::get(&getContext(), choice.config));
    explain(&op, choice);
  }
  if (!complete)
    signalPassFailure();
}
