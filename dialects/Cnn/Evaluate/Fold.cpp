// Folds what is known at compile time.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Cnn/Evaluate/Fold.h"

#include "dialects/Cnn/ConstantData.h"
#include "dialects/Cnn/Evaluate/Evaluate.h"
#include "dialects/Cnn/Evaluate/Ops.h"
#include "dialects/Cnn/ResourceUses.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace convoy::cnn;

namespace {
class Folder {
public:
  Folder(func::FuncOp function, const FoldLimits &limits)
      : limits(limits), resources(function->getParentOfType<ModuleOp>()
                                      ? function->getParentOfType<ModuleOp>().getOperation()
                                      : function.getOperation()) {}

  LogicalResult run(Block &block);
  FoldStatistics statistics;

private:
  bool isWorthwhile(Operation *op, ArrayRef<ElementsAttr> operands) const;
  FailureOr<ElementsAttr> fold(Operation *op, ArrayRef<ElementsAttr> operands) const;
  bool forward(Operation *op);
  void erase(Operation *op);

  FoldLimits limits;
  ResourceUses resources;
};
} // namespace

static bool isSplat(ElementsAttr value) {
  auto dense = dyn_cast<DenseElementsAttr>(value);
  return dense && dense.isSplat() && dense.getNumElements() > 0;
}

// Bytes that a constant takes in memory.
static int64_t storedBytes(ElementsAttr value) {
  auto type = cast<ShapedType>(value.getType());
  int64_t bytes = getElementBytes(type.getElementType());
  return isSplat(value) ? bytes : bytes * type.getNumElements();
}

// Ops that make one repeated element of repeated elements.
static bool keepsSplats(Operation *op) {
  return isa<MapOp, ReshapeOp, RelayoutOp, TransposeOp, BroadcastOp, SliceOp>(op);
}

bool Folder::isWorthwhile(Operation *op, ArrayRef<ElementsAttr> operands) const {
  int64_t resultBytes = getBytes(cast<RankedTensorType>(op->getResult(0).getType()));
  if (keepsSplats(op) && llvm::all_of(operands, isSplat))
    return resultBytes <= kMostRepeatedBytes;
  // What is computed reads a repeated element where each copy of it would be.
  int64_t operandBytes = 0, readBytes = 0;
  for (auto [operand, value] : llvm::zip_equal(op->getOperands(), operands)) {
    operandBytes += storedBytes(value);
    readBytes += getBytes(cast<RankedTensorType>(operand.getType()));
  }
  return std::max(resultBytes, readBytes) <= std::max(limits.resultBytes, operandBytes);
}

// The one element of a splat as a tensor of the same rank, which broadcasts like the whole.
static Tensor splatElement(DenseElementsAttr value) {
  int64_t rank = cast<ShapedType>(value.getType()).getRank();
  auto one = RankedTensorType::get(SmallVector<int64_t>(rank, 1), value.getElementType());
  return Tensor::fromConstant(one, value.resizeSplat(one));
}

static FailureOr<ElementsAttr> foldSplats(Operation *op, ArrayRef<ElementsAttr> operands,
                                          RankedTensorType stored) {
  auto first = cast<DenseElementsAttr>(operands.front());
  auto map = dyn_cast<MapOp>(op);
  if (!map)
    return ElementsAttr(first.resizeSplat(stored));
  SmallVector<Tensor> elements;
  for (ElementsAttr operand : operands)
    elements.push_back(splatElement(cast<DenseElementsAttr>(operand)));
  auto one = RankedTensorType::get(SmallVector<int64_t>(stored.getRank(), 1),
                                   stored.getElementType());
  Tensor result = Tensor::allocate(one);
  if (failed(compute(map, elements, result)))
    return failure();
  return ElementsAttr(cast<DenseElementsAttr>(result.toConstant(one)).resizeSplat(stored));
}

FailureOr<ElementsAttr> Folder::fold(Operation *op, ArrayRef<ElementsAttr> operands) const {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  auto stored = RankedTensorType::get(getLayout(type).physicalShape(type.getShape()),
                                      type.getElementType());
  // Under another shape the same data need no copy.
  if (isa<ReshapeOp>(op)) {
    if (auto resource = dyn_cast<DenseResourceElementsAttr>(operands[0]))
      return ElementsAttr(DenseResourceElementsAttr::get(stored, resource.getRawHandle()));
    return ElementsAttr(cast<DenseElementsAttr>(operands[0]).reshape(stored));
  }
  if (!operands.empty() && keepsSplats(op) && llvm::all_of(operands, isSplat))
    return foldSplats(op, operands, stored);
  SmallVector<Tensor> tensors;
  for (auto [operand, value] : llvm::zip_equal(op->getOperands(), operands))
    tensors.push_back(Tensor::fromConstant(cast<RankedTensorType>(operand.getType()), value));
  FailureOr<SmallVector<Tensor>> results = evaluate(op, tensors);
  if (failed(results))
    return failure();
  return results->front().toConstant(type);
}

// Lets the op's own folder find a value that stands for the result already.
bool Folder::forward(Operation *op) {
  SmallVector<OpFoldResult> results;
  while (succeeded(op->fold(results)) && results.empty()) // changed in place
    ++statistics.numForwarded;
  if (results.size() != 1)
    return false;
  auto value = dyn_cast<Value>(results.front());
  if (!value || value.getType() != op->getResult(0).getType())
    return false;
  ++statistics.numForwarded;
  op->getResult(0).replaceAllUsesWith(value);
  erase(op);
  return true;
}

// Erases an op without users, and the constants that only it has used.
void Folder::erase(Operation *op) {
  llvm::SmallSetVector<Operation *, 4> constants;
  for (Value operand : op->getOperands())
    if (auto constant = operand.getDefiningOp<ConstantOp>())
      constants.insert(constant);
  if (auto constant = dyn_cast<ConstantOp>(op))
    resources.remove(constant.getValue());
  op->erase();
  for (Operation *constant : constants)
    if (constant->use_empty())
      erase(constant);
}

LogicalResult Folder::run(Block &block) {
  // An op may erase constants, which stand before it: the next op is safe to hold.
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (!isa_and_nonnull<CnnDialect>(op.getDialect()) || op.getNumResults() != 1 ||
        isa<ConstantOp>(op) || !isMemoryEffectFree(&op))
      continue;
    if (op.use_empty() || forward(&op))
      continue; // a dead op falls to the sweep below
    SmallVector<ElementsAttr> operands;
    for (Value operand : op.getOperands())
      operands.push_back(getConstant(operand));
    auto type = cast<RankedTensorType>(op.getResult(0).getType());
    if (!type.hasStaticShape() || !llvm::all_of(operands, [](ElementsAttr a) { return bool(a); }) ||
        !isWorthwhile(&op, operands))
      continue;
    FailureOr<ElementsAttr> value = fold(&op, operands);
    if (failed(value))
      return failure();
    OpBuilder builder(&op);
    auto constant = ConstantOp::create(builder, op.getLoc(), type, *value);
    resources.add(*value);
    op.getResult(0).replaceAllUsesWith(constant.getResult());
    erase(&op);
    ++statistics.numFolded;
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op)) {
      if (!op.hasTrait<OpTrait::ConstantLike>())
        ++statistics.numDead;
      if (auto constant = dyn_cast<ConstantOp>(op))
        resources.remove(constant.getValue());
      op.erase();
    }
  return success();
}

FailureOr<FoldStatistics> convoy::cnn::foldConstants(func::FuncOp function,
                                                     const FoldLimits &limits) {
  Folder folder(function, limits);
  for (Block &block : function.getBody())
    if (failed(folder.run(block)))
      return failure();
  return folder.statistics;
}
