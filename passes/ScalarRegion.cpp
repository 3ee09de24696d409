// Changes to scalar regions and their operands.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/ScalarRegion.h"

#include "dialects/Cnn/ConstantData.h"
#include "passes/Graph.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace convoy;

void convoy::mergeEqualOperands(cnn::EpilogueOpInterface op) {
  unsigned first = numAccumulators(op);
  Block &block = op.getScalarRegion().front();
  for (unsigned i = op.getRegionOperands().size(); i-- > 1;) {
    Value operand = op.getRegionOperands()[i];
    OperandRange earlier = op.getRegionOperands().take_front(i);
    auto same = llvm::find(earlier, operand);
    if (same == earlier.end())
      continue;
    block.getArgument(first + i).replaceAllUsesWith(
        block.getArgument(first + (same - earlier.begin())));
    block.eraseArgument(first + i);
    op.getRegionOperandsMutable().erase(i);
  }
}

// Whether the result's shape stays without operand `index`.
static bool isShapeFreeOf(cnn::EpilogueOpInterface op, unsigned index) {
  if (op.getAccumulatorType())
    return true;
  SmallVector<ArrayRef<int64_t>> shapes;
  for (auto [i, operand] : llvm::enumerate(op.getRegionOperands()))
    if (i != index)
      shapes.push_back(tensorType(operand).getShape());
  if (shapes.empty())
    return false;
  FailureOr<SmallVector<int64_t>> shape = cnn::inferBroadcast(op->getLoc(), shapes);
  return succeeded(shape) && ArrayRef<int64_t>(*shape) == tensorType(op->getResult(0)).getShape();
}

void convoy::dropUnusedOperands(cnn::EpilogueOpInterface op) {
  unsigned first = numAccumulators(op);
  Block &block = op.getScalarRegion().front();
  for (unsigned i = op.getRegionOperands().size(); i-- > 0;) {
    if (!block.getArgument(first + i).use_empty() || !isShapeFreeOf(op, i))
      continue;
    block.eraseArgument(first + i);
    op.getRegionOperandsMutable().erase(i);
  }
}

// The one number that a constant consists of.
static TypedAttr getUniformValue(Value value) {
  ElementsAttr constant = cnn::getConstant(value);
  if (!constant || (constant.getNumElements() != 1 && !constant.isSplat()))
    return {};
  Type elementType = constant.getElementType(), scalar = cnn::getScalarType(elementType);
  cnn::ConstantData data(constant);
  Builder builder(value.getContext());
  if (isa<FloatType>(scalar))
    return builder.getFloatAttr(scalar, cnn::readFloat(data.bytes().data(), elementType));
  return builder.getIntegerAttr(
      scalar, APInt(scalar.getIntOrFloatBitWidth(),
                    static_cast<uint64_t>(cnn::readInt(data.bytes().data(), elementType)),
                    /*isSigned=*/false, /*implicitTrunc=*/true));
}

void convoy::inlineScalarConstants(cnn::EpilogueOpInterface op) {
  unsigned first = numAccumulators(op);
  Block &block = op.getScalarRegion().front();
  for (auto [i, operand] : llvm::enumerate(op.getRegionOperands())) {
    BlockArgument argument = block.getArgument(first + i);
    if (argument.use_empty() || !isShapeFreeOf(op, i))
      continue;
    TypedAttr value = getUniformValue(operand);
    if (!value)
      continue;
    OpBuilder builder = OpBuilder::atBlockBegin(&block);
    argument.replaceAllUsesWith(arith::ConstantOp::create(builder, op->getLoc(), value));
  }
  dropUnusedOperands(op);
}

void convoy::appendMap(cnn::EpilogueOpInterface producer, cnn::MapOp map) {
  Value result = producer->getResult(0);
  Block &block = producer.getScalarRegion().front();
  auto yield = cast<cnn::YieldOp>(block.back());

  IRMapping mapping;
  for (auto [operand, argument] : llvm::zip_equal(map.getInputs(), map.getBody().getArguments())) {
    if (operand == result) {
      mapping.map(argument, yield.getValue());
      continue;
    }
    producer.getRegionOperandsMutable().append(operand);
    mapping.map(argument, block.addArgument(argument.getType(), argument.getLoc()));
  }
  OpBuilder builder(yield);
  for (Operation &op : map.getBody().front().without_terminator())
    builder.clone(op, mapping);
  auto mapYield = cast<cnn::YieldOp>(map.getBody().front().back());
  yield.getValueMutable().assign(mapping.lookupOrDefault(mapYield.getValue()));

  producer->moveBefore(map);
  producer->setLoc(joinLocations(producer->getLoc(), map.getLoc()));
  result.setType(map.getType());
  map.getDst().replaceAllUsesWith(result);
  map.erase();
  mergeEqualOperands(producer);
}

int64_t convoy::countScalarOps(cnn::EpilogueOpInterface op) {
  int64_t count = 0;
  for (Operation &inner : op.getScalarRegion().front().without_terminator())
    count += !inner.hasTrait<OpTrait::ConstantLike>();
  return count;
}
