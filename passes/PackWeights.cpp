// Packs constants to the layouts that the chosen kernels read.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Passes.h"

#include "passes/Graph.h"
#include "passes/Relayout.h"

#include "dialects/Cnn/ConstantData.h"
#include "dialects/Cnn/ResourceUses.h"

#include <map>

namespace convoy {
#define GEN_PASS_DEF_PACKWEIGHTS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;

namespace {
struct PackWeights : public convoy::impl::PackWeightsBase<PackWeights> {
  PackWeights() = default;
  explicit PackWeights(KernelTableLookup lookup, PackWeightsOptions options)
      : PackWeightsBase(std::move(options)), lookup(std::move(lookup)) {}
  void runOnOperation() override;
  LogicalResult pack(OpOperand &operand, StringRef tag);
  // Takes away a constant that has been packed for its last user, so that the weights of a network
  // are never in memory twice.
  void drop(cnn::ConstantOp constant);

  KernelTableLookup lookup;
  // Packed constants by what they were made of: one serves all ops that want the same.
  std::map<std::pair<const void *, std::string>, Value> packed;
  DenseSet<Operation *> made; // the ops of those
  std::optional<cnn::ResourceUses> resources;
};
} // namespace

std::unique_ptr<Pass> convoy::createPackWeights(KernelTableLookup lookup,
                                                PackWeightsOptions options) {
  return std::make_unique<PackWeights>(std::move(lookup), std::move(options));
}

LogicalResult PackWeights::pack(OpOperand &operand, StringRef tag) {
  Operation *op = operand.getOwner();
  auto type = tensorType(operand.get());
  std::optional<cnn::Layout> layout = cnn::Layout::parse(tag);
  if (!layout || layout->rank() != type.getRank())
    return op->emitOpError() << "cannot pack " << type << " to layout '" << tag << "'";
  auto constant = operand.get().getDefiningOp<cnn::ConstantOp>();
  if (!constant)
    return op->emitOpError() << "needs operand " << operand.getOperandNumber() << " in layout '"
                             << tag << "', but it is not constant";
  const void *key = Attribute(constant.getValue()).getAsOpaquePointer();
  Value &result = packed[{key, tag.str()}];
  if (!result) {
    OpBuilder builder(constant);
    result = relayoutConstant(builder, constant, tag);
    made.insert(result.getDefiningOp());
  }
  operand.set(result);
  drop(constant);
  return success();
}

void PackWeights::drop(cnn::ConstantOp constant) {
  // What this pass has made may yet serve another op.
  if (!release || !constant->use_empty() || made.contains(constant))
    return;
  resources->remove(constant.getValue());
  constant.erase();
}

void PackWeights::runOnOperation() {
  FailureOr<func::FuncOp> graph = getGraph(getOperation());
  FailureOr<cnn::TargetAttr> target = getTarget(getOperation());
  if (failed(graph) || failed(target))
    return signalPassFailure();
  const KernelTable *table = lookup ? lookup(*target) : nullptr;
  if (!table) {
    getOperation().emitError() << "no kernel table for target '" << target->getName() << "'";
    return signalPassFailure();
  }
  packed.clear();
  made.clear();
  resources.emplace(getOperation());
  for (Operation &op : graph->getBody().front()) {
    auto name = op.getAttrOfType<StringAttr>("strategy");
    if (!name)
      continue;
    const Strategy *strategy = table->find(name);
    if (!strategy) {
      op.emitOpError() << "has unknown strategy '" << name.getValue() << "'";
      return signalPassFailure();
    }
    // All answers first: they may depend on operands that are about to change.
    SmallVector<std::string> tags;
    for (unsigned i = 0; i < op.getNumOperands(); ++i)
      tags.push_back(strategy->packedLayout(&op, i, *target));
    for (auto [operand, tag] : llvm::zip_equal(op.getOpOperands(), tags))
      if (!tag.empty() && tag != cnn::getLayoutTag(tensorType(operand.get())) &&
          failed(pack(operand, tag)))
        return signalPassFailure();
  }
  packed.clear();
  made.clear();
  resources.reset();
  eraseUnusedConstants(getOperation());
  if (release)
    releaseUnusedResources(getOperation());
}
