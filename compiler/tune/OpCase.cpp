// An op on its own with the ways to compute it, as kernels that can be compiled and timed.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/tune/OpCase.h"

#include "compiler/tune/Signature.h"
#include "passes/Graph.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::tune;

bool OpCase::isMeasurable(Operation *op) {
  auto isFloat = [](Type type) { return isa<FloatType>(getElementTypeOrSelf(type)); };
  return llvm::all_of(op->getOperandTypes(), isFloat) && llvm::all_of(op->getResultTypes(), isFloat);
}

OpCase::OpCase(Operation *op, const Target &target, double mostTimes)
    : target(target), module(ModuleOp::create(op->getLoc())) {
  cnn::TargetAttr facts = target.facts(op->getContext());
  auto isBetter = [](const Candidate &a, const Candidate &b) {
    return a.estimateNs < b.estimateNs;
  };
  auto consider = [&](const Strategy *strategy, StringRef config) {
    std::optional<double> estimate = strategy->costAs(op, config, facts);
    if (!estimate)
      return false;
    // Of equals the earlier one comes first.
    Candidate candidate{strategy, config.str(), *estimate};
    able.insert(llvm::upper_bound(able, candidate, isBetter), candidate);
    return true;
  };
  for (const Strategy *strategy : target.kernelTable().strategies())
    if (consider(strategy, ""))
      for (const std::string &config : strategy->configs(op, facts))
        consider(strategy, config);
  llvm::erase_if(able, [&, most = able.empty() ? 0 : mostTimes * able.front().estimateNs](
                           const Candidate &candidate) { return candidate.estimateNs > most; });
  for (OpOperand &operand : op->getOpOperands())
    if (isConstantWeight(operand))
      weightOperands.push_back(operand.getOperandNumber());

  // The op as a kernel holds it, weights row-major.
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  auto kernel = plan::KernelOp::create(builder, op->getLoc(), "k", builder.getStringAttr(""),
                                       IntegerAttr(), /*batched=*/false, IntegerAttr());
  Block *body = builder.createBlock(&kernel.getBody());
  Operation *clone = builder.clone(*op);
  for (OpOperand &operand : clone->getOpOperands())
    operand.set(body->addArgument(operand.get().getType(), op->getLoc()));
  clone->removeAttr("strategy");
  clone->removeAttr(kConfigAttrName);
  plan::YieldOp::create(builder, op->getLoc(), clone->getResults());
}

plan::KernelOp OpCase::addKernel(ModuleOp library, StringRef name,
                                 const Candidate &candidate) const {
  auto original = *module.get().getOps<plan::KernelOp>().begin();
  OpBuilder builder = OpBuilder::atBlockEnd(library.getBody());
  auto kernel = cast<plan::KernelOp>(builder.clone(*original));
  kernel.setSymName(name);
  kernel.setStrategy(candidate.strategy->name());
  Operation *op = &kernel.getBody().front().front();
  if (!candidate.config.empty())
    op->setAttr(kConfigAttrName, builder.getStringAttr(candidate.config));
  // All answers first: they may depend on operands that are about to change.
  cnn::TargetAttr facts = target.facts(library.getContext());
  SmallVector<std::string> layouts;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    layouts.push_back(candidate.strategy->packedLayout(op, i, facts));
  for (auto [operand, layout] : llvm::zip_equal(op->getOpOperands(), layouts))
    if (!layout.empty())
      operand.get().setType(cnn::withLayout(tensorType(operand.get()), layout));
  return kernel;
}
