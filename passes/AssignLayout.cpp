// Chooses the layout of every activation by cost.
//
// Row-major or blocked is a choice of two for each op, and a relayout is the price of a border
// between the two: a minimum cut finds the cheapest assignment for the whole graph at once.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Passes.h"

#include "dialects/Cnn/ConstantData.h"
#include "passes/CostModel.h"
#include "passes/Graph.h"
#include "passes/Relayout.h"
#include "passes/Remarks.h"

#include <map>

namespace convoy {
#define GEN_PASS_DEF_ASSIGNLAYOUT
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;

// Constants are packed at compile time and single elements have no order: neither has a layout to
// choose.
static bool isFree(Value value) {
  auto type = tensorType(value);
  return value.getDefiningOp<cnn::ConstantOp>() ||
         (type.hasStaticShape() && type.getNumElements() == 1);
}

// An op that may compute in the blocked layout. Whether a kernel does so well is up to its cost.
static bool mayBeBlocked(Operation *op) {
  if (!isa<cnn::ConvOp, cnn::ConvTransposeOp, cnn::PoolOp, cnn::ReduceOp, cnn::MapOp, cnn::ResizeOp,
           cnn::ConcatOp, cnn::PadOp, cnn::LrnOp, cnn::SliceOp>(op))
    return false;
  int64_t rank = tensorType(op->getResult(0)).getRank();
  auto isBlockable = [rank](Value value) {
    auto type = tensorType(value);
    // A free batch is never expanded: it must stay in front.
    bool hasRank = type.getRank() == rank || (type.getRank() < rank && !cnn::hasFreeBatch(type));
    return hasRank && isa<FloatType>(type.getElementType()) &&
           type.getElementType().getIntOrFloatBitWidth() <= 32;
  };
  if ((rank != 3 && rank != 4) || !isBlockable(op->getResult(0)))
    return false;
  for (OpOperand &operand : op->getOpOperands()) {
    if (isWeight(operand)) {
      // Weights that are computed keep their layout: nothing packs them.
      if (!cnn::getConstant(operand.get()))
        return false;
      continue;
    }
    if (!isFree(operand.get()) && !isBlockable(operand.get()))
      return false;
  }
  if (auto reduce = dyn_cast<cnn::ReduceOp>(op))
    return reduce.getKeepDims();
  return true;
}

namespace {

// The choice for one graph.
class LayoutAssignment {
public:
  LayoutAssignment(func::FuncOp graph, CostModel &costs, int64_t lanes)
      : graph(graph), costs(costs), lanes(lanes) {}
  void choose();
  void apply();

private:
  // Borders around a value: it is relayouted once for all its users that want the other layout.
  void addBorders(Value value, unsigned producer);
  unsigned nodeOf(Operation *op);
  bool isBlocked(Operation *op) const { return op && blockedOps.contains(op); }
  // `value` in the layout of `tag` and with `rank`, before `op`.
  Value convert(Value value, StringRef tag, int64_t rank, Operation *op);

  func::FuncOp graph;
  CostModel &costs;
  int64_t lanes;
  MinCut cut;
  unsigned rowMajorNode = 0;
  DenseMap<Operation *, unsigned> nodes;
  DenseSet<Operation *> blockedOps;
  // What a conv saves by reading row-major input itself: cost with it, and with blocked input.
  DenseMap<Operation *, std::pair<int64_t, int64_t>> directReads;
  std::map<std::pair<void *, std::string>, Value> converted;
};

struct AssignLayout : public convoy::impl::AssignLayoutBase<AssignLayout> {
  AssignLayout() = default;
  explicit AssignLayout(KernelTableLookup lookup) : lookup(std::move(lookup)) {}
  void runOnOperation() override;
  KernelTableLookup lookup;
};

} // namespace

std::unique_ptr<Pass> convoy::createAssignLayout(KernelTableLookup lookup) {
  return std::make_unique<AssignLayout>(std::move(lookup));
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

unsigned LayoutAssignment::nodeOf(Operation *op) {
  auto found = nodes.find(op);
  return found == nodes.end() ? rowMajorNode : found->second;
}

void LayoutAssignment::addBorders(Value value, unsigned producer) {
  bool concernsBlocks =
      producer != rowMajorNode ||
      llvm::any_of(value.getUsers(), [&](Operation *user) { return nodes.contains(user); });
  if (isFree(value) || !concernsBlocks)
    return;
  int64_t rank = tensorType(value).getRank();
  for (Operation *user : value.getUsers())
    if (nodes.contains(user))
      rank = std::max(rank, tensorType(user->getResult(0)).getRank());
  RankedTensorType type = withRank(tensorType(value), rank);
  std::string blocked = blockedTag(rank, lanes);
  int64_t toBlocked = costs.ofRelayout(type, "", blocked);
  int64_t toRowMajor = costs.ofRelayout(type, blocked, "");
  // One relayout serves all users that want it: its node is paid for once.
  unsigned blockedCopy = cut.addNode(), rowMajorCopy = cut.addNode();
  cut.addBorder(producer, blockedCopy, toBlocked);
  cut.addBorder(rowMajorCopy, producer, toRowMajor);
  for (Operation *user : llvm::SmallPtrSet<Operation *, 8>(value.user_begin(), value.user_end())) {
    unsigned node = nodeOf(user);
    auto direct = directReads.find(user);
    bool readsDirectly = direct != directReads.end() && user->getOperand(0) == value &&
                         llvm::count(user->getOperands(), value) == 1;
    if (readsDirectly) {
      int64_t extra = std::max<int64_t>(0, direct->second.first - direct->second.second);
      cut.addBorder(producer, node, std::min(extra, toBlocked));
    } else {
      cut.addBorder(blockedCopy, node, CostModel::kNever);
    }
    cut.addBorder(node, rowMajorCopy, CostModel::kNever);
  }
}

void LayoutAssignment::choose() {
  rowMajorNode = cut.addNode();
  cut.addCost(rowMajorNode, 0, CostModel::kNever);
  for (Operation &op : graph.getBody().front()) {
    if (!isComputeOp(&op) || !mayBeBlocked(&op))
      continue;
    unsigned node = nodes[&op] = cut.addNode();
    std::string blocked = blockedTag(tensorType(op.getResult(0)).getRank(), lanes);
    int64_t rowMajorCost = costs.ofOp(&op, "", "");
    int64_t blockedCost = costs.ofOp(&op, blocked, blocked);
    if (isa<cnn::ConvOp>(op)) {
      int64_t direct = costs.ofOp(&op, "", blocked);
      if (direct < CostModel::kNever)
        directReads[&op] = {direct, std::min(blockedCost, direct)};
      blockedCost = std::min(blockedCost, direct);
    }
    cut.addCost(node, rowMajorCost, blockedCost);
  }
  for (BlockArgument argument : graph.getArguments())
    addBorders(argument, rowMajorNode);
  for (Operation &op : graph.getBody().front())
    if (isComputeOp(&op))
      addBorders(op.getResult(0), nodeOf(&op));
  std::vector<bool> isBlockedNode = cut.solve();
  for (auto [op, node] : nodes)
    if (isBlockedNode[node])
      blockedOps.insert(op);
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

Value LayoutAssignment::convert(Value value, StringRef tag, int64_t rank, Operation *op) {
  auto type = tensorType(value);
  if (cnn::getLayoutTag(type) == tag && (tag.empty() || type.getRank() == rank))
    return value;
  Value &result = converted[{value.getAsOpaquePointer(), tag.str()}];
  if (result)
    return result;
  // Blocks of one rank are none of another.
  if (!tag.empty() && !cnn::getLayoutTag(type).empty())
    value = convert(value, "", type.getRank(), op);
  // Where the value is made, so that every later user finds it.
  OpBuilder builder(op);
  builder.setInsertionPointAfterValue(value);
  if (!tag.empty())
    value = expandRank(builder, value, rank);
  if (cnn::getConstant(value))
    result = relayoutConstant(builder, value, tag);
  else
    result = cnn::RelayoutOp::create(builder, value.getLoc(),
                                     cnn::withLayout(tensorType(value), tag), value, StringAttr());
  return result;
}

void LayoutAssignment::apply() {
  SmallVector<Operation *> ops;
  for (Operation &op : graph.getBody().front())
    if (isComputeOp(&op) || isa<func::ReturnOp>(op))
      ops.push_back(&op);
  for (Operation *op : ops) {
    bool inBlocks = isBlocked(op);
    int64_t rank = op->getNumResults() ? tensorType(op->getResult(0)).getRank() : 0;
    std::string blocked = inBlocks ? blockedTag(rank, lanes) : std::string();
    auto direct = directReads.find(op);
    for (OpOperand &operand : op->getOpOperands()) {
      Value value = operand.get();
      bool inRegion = isRegionOperand(operand);
      auto type = tensorType(value);
      bool isSingle = type.hasStaticShape() && type.getNumElements() == 1;
      // A scalar region reads a single element wherever it lies.
      if (isWeight(operand) || (inRegion && isSingle))
        continue;
      StringRef tag = blocked;
      if (inBlocks && !inRegion && direct != directReads.end() &&
          cnn::getLayoutTag(tensorType(value)).empty() &&
          direct->second.first - direct->second.second <=
              costs.ofRelayout(type, "", blocked))
        tag = "";
      operand.set(convert(value, tag, rank, op));
    }
    if (inBlocks)
      op->getResult(0).setType(cnn::withLayout(tensorType(op->getResult(0)), blocked));
    if (nodes.contains(op))
      remarkPassed(op->getLoc(), "AssignLayout", "layout",
                   op->getName().getStringRef() + " in " +
                       (inBlocks ? blocked : "row-major"));
  }
}

void AssignLayout::runOnOperation() {
  FailureOr<func::FuncOp> graph = getGraph(getOperation());
  FailureOr<cnn::TargetAttr> target = getTarget(getOperation());
  if (failed(graph) || failed(target))
    return signalPassFailure();
  const KernelTable *table = lookup ? lookup(*target) : nullptr;
  if (!table) {
    getOperation().emitError() << "no kernel table for target '" << target->getName() << "'";
    return signalPassFailure();
  }
  if (target->getLanes() < 2)
    return;
  CostModel costs(*table, *target);
  LayoutAssignment assignment(*graph, costs, target->getLanes());
  assignment.choose();
  assignment.apply();
  eraseUnusedConstants(getOperation());
}
