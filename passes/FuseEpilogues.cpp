// Computes elementwise functions in the op that makes their input.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Passes.h"

#include "passes/Graph.h"
#include "passes/Remarks.h"
#include "passes/ScalarRegion.h"

namespace convoy {
#define GEN_PASS_DEF_FUSEEPILOGUES
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;

// Why `map` cannot join the producer of one of its inputs; empty if it can.
static std::string whyNot(cnn::MapOp map, Value input) {
  Operation *producer = input.getDefiningOp();
  if (!isa_and_nonnull<cnn::EpilogueOpInterface>(producer))
    return "its producer has no scalar region";
  if (tensorType(input).getShape() != tensorType(map.getDst()).getShape())
    return "it broadcasts the producer's result, which would be computed again for each element";
  if (Operation *user = getOnlyUser(input); user != map)
    return "the producer's result has other users";
  return {};
}

// Joins `map` with a producer. Returns whether it did; remarks tell why not.
static bool fuse(cnn::MapOp map) {
  Operation *last = nullptr;
  SmallVector<std::pair<Value, std::string>> reasons;
  for (Value input : map.getInputs()) {
    std::string reason = whyNot(map, input);
    Operation *producer = input.getDefiningOp();
    if (!reason.empty())
      reasons.push_back({input, reason});
    else if (!last || last->isBeforeInBlock(producer))
      last = producer;
  }
  if (last) {
    remarkPassed(map.getLoc(), "FuseEpilogues", "fusion",
                 "fused into " + last->getName().getStringRef());
    appendMap(cast<cnn::EpilogueOpInterface>(last), map);
    return true;
  }
  for (auto &[input, reason] : reasons)
    if (Operation *producer = input.getDefiningOp(); producer && !isa<cnn::ConstantOp>(producer))
      remarkMissed(map.getLoc(), "FuseEpilogues", "fusion",
                   "not fused into " + producer->getName().getStringRef() + ": " + reason);
  return false;
}

namespace {
struct FuseEpilogues : public convoy::impl::FuseEpiloguesBase<FuseEpilogues> {
  void runOnOperation() override;
};
} // namespace

void FuseEpilogues::runOnOperation() {
  SmallVector<cnn::EpilogueOpInterface> ops;
  getOperation().walk([&](cnn::EpilogueOpInterface op) { ops.push_back(op); });
  for (cnn::EpilogueOpInterface op : ops) {
    mergeEqualOperands(op);
    inlineScalarConstants(op);
  }
  // Maps join maps first: x * sigmoid(x) is one user of x only once its two maps are one. What is
  // left then joins the other producers, until nothing changes.
  SmallVector<cnn::MapOp> maps;
  getOperation().walk([&](cnn::MapOp map) { maps.push_back(map); });
  DenseSet<Operation *> gone;
  for (cnn::MapOp map : maps) {
    if (gone.contains(map))
      continue;
    while (Operation *user = getOnlyUser(map.getDst())) {
      auto next = dyn_cast<cnn::MapOp>(user);
      if (!next || !whyNot(next, map.getDst()).empty())
        break;
      remarkPassed(next.getLoc(), "FuseEpilogues", "fusion", "fused into cnn.map");
      gone.insert(next);
      appendMap(cast<cnn::EpilogueOpInterface>(map.getOperation()), next);
    }
  }
  for (cnn::MapOp map : maps)
    if (!gone.contains(map))
      fuse(map);
  eraseUnusedConstants(getOperation());
}
