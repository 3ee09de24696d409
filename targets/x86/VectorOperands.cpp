// Operands that broadcast to a result, loaded as vectors, and the epilogue that consumes them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/x86/VectorOperands.h"

#include "targets/x86/StridedNest.h"

using namespace mlir;
using namespace convoy;

SmallVector<int64_t> convoy::physicalExtents(RankedTensorType type) {
  return cnn::getLayout(type).physicalShape(cnn::perImage(type).getShape());
}

std::optional<SmallVector<int64_t>>
convoy::stridesWithin(RankedTensorType operand, RankedTensorType result, bool allowTails) {
  cnn::Layout operandLayout = cnn::getLayout(operand), resultLayout = cnn::getLayout(result);
  SmallVector<int64_t> operandStrides = rowMajorStrides(physicalExtents(operand));
  RankedTensorType operandImage = cnn::perImage(operand), resultImage = cnn::perImage(result);
  int64_t missing = result.getRank() - operand.getRank();
  if (missing < 0)
    return std::nullopt;

  // Strides of the operand along logical dimension `dim` of the result: of its outer dimension
  // and of its inner block.
  SmallVector<std::pair<int64_t, int64_t>> perDim(result.getRank(), {0, 0});
  for (int64_t dim = missing; dim < result.getRank(); ++dim) {
    unsigned own = dim - missing;
    int64_t extent = operandImage.getDimSize(own);
    if (extent == 1)
      continue;
    if (extent != resultImage.getDimSize(dim))
      return std::nullopt;
    size_t outer = llvm::find(operandLayout.outer(), own) - operandLayout.outer().begin();
    int64_t stride = operandStrides[outer];
    int64_t ownBlock = operandLayout.blockOf(own), block = resultLayout.blockOf(dim);
    if (ownBlock == 1) {
      if (block > 1 && extent % block != 0 && !allowTails)
        return std::nullopt;
      perDim[dim] = {stride * block, stride};
      continue;
    }
    if (ownBlock != block)
      return std::nullopt;
    for (auto [i, inner] : llvm::enumerate(operandLayout.inner()))
      if (inner.first == own && inner.second == block)
        perDim[dim] = {stride, operandStrides[operandLayout.rank() + i]};
  }

  SmallVector<int64_t> strides;
  for (unsigned dim : resultLayout.outer())
    strides.push_back(perDim[dim].first);
  for (auto [dim, size] : resultLayout.inner()) {
    // Blocks within blocks of one dimension do not occur in activations.
    if (resultLayout.blockOf(dim) != size)
      return std::nullopt;
    strides.push_back(perDim[dim].second);
  }
  return strides;
}

bool convoy::canLoadVectors(ValueRange operands, RankedTensorType result) {
  return llvm::all_of(operands, [&](Value operand) {
    auto strides = stridesWithin(cast<RankedTensorType>(operand.getType()), result);
    return strides && (strides->empty() || strides->back() == 0 || strides->back() == 1);
  });
}

VectorOperands::VectorOperands(KernelBuilder &kb, ValueRange values, RankedTensorType result)
    : kb(kb) {
  for (Value value : values) {
    auto type = cast<RankedTensorType>(value.getType());
    operands.push_back(
        {kb.argOf(value), type.getElementType(), *stridesWithin(type, result), Value()});
  }
}

void VectorOperands::setImage(Value image) {
  for (Operand &operand : operands)
    operand.base = kb.imageBase(operand.arg, image);
}

Value VectorOperands::offset(size_t i, ValueRange position) {
  return linearOffset(kb, position, operands[i].strides);
}

Value VectorOperands::load(size_t i, ValueRange position, int64_t count, Value mask) {
  Operand &operand = operands[i];
  Value at = offset(i, position);
  if (operand.strides.empty() || operand.strides.back() == 0)
    return kb.load(operand.elementType, operand.base, at);
  return kb.loadVector(operand.elementType, count, operand.base, at, /*aligned=*/false, mask);
}

// Beyond this number of operations (a function of math counts as many) an epilogue is emitted in
// a loop: unrolled over the accumulators of a tile it would be thousands of instructions.
static constexpr int64_t kLightOperations = 8;

static bool isHeavy(Region &region) {
  int64_t operations = 0;
  for (Operation &op : region.front())
    operations += isa_and_nonnull<math::MathDialect>(op.getDialect()) ? 12 : 1;
  return operations > kLightOperations;
}

bool Epilogue::supports(Operation *op) {
  auto epilogue = cast<cnn::EpilogueOpInterface>(op);
  return canLoadVectors(epilogue.getRegionOperands(),
                        cast<RankedTensorType>(op->getResult(0).getType()));
}

bool Epilogue::ignoresRows(Operation *op) {
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<int64_t> extents = physicalExtents(result);
  for (Value operand : cast<cnn::EpilogueOpInterface>(op).getRegionOperands()) {
    auto strides = stridesWithin(cast<RankedTensorType>(operand.getType()), result);
    if (!strides)
      return false;
    for (size_t dim = 2; dim + 1 < extents.size(); ++dim)
      if ((*strides)[dim] != (*strides)[dim + 1] * extents[dim + 1])
        return false;
  }
  return true;
}

Epilogue::Epilogue(KernelBuilder &kb, Operation *op)
    : kb(kb), region(cast<cnn::EpilogueOpInterface>(op).getScalarRegion()),
      result(cast<RankedTensorType>(op->getResult(0).getType())), extents(physicalExtents(result)),
      strides(rowMajorStrides(extents)), resultArg(kb.argOf(op->getResult(0))),
      extras(kb, cast<cnn::EpilogueOpInterface>(op).getRegionOperands(), result),
      heavy(isHeavy(region)) {}

void Epilogue::setImage(Value image) {
  resultBase = kb.imageBase(resultArg, image);
  extras.setImage(image);
}

void Epilogue::finish(Value accumulator, ValueRange position, Value mask) {
  int64_t count = cast<VectorType>(accumulator.getType()).getNumElements();
  Values arguments{accumulator};
  for (size_t i = 0; i < extras.size(); ++i)
    arguments.push_back(extras.load(i, position, count, mask));
  kb.storeVector(result.getElementType(), kb.apply(region, arguments), resultBase,
                 linearOffset(kb, position, strides), /*aligned=*/false, mask);
}

void Epilogue::finishTile(ValueRange accumulators, function_ref<Values(Value index)> positionOf,
                          std::optional<int64_t> limit) {
  auto finishAt = [&](Value accumulator, Value index) {
    Values position = positionOf(index);
    Value mask;
    if (limit)
      mask = kb.firstLanes(kb.sub(kb.i64(*limit), position.back()),
                           cast<VectorType>(accumulator.getType()).getNumElements());
    finish(accumulator, position, mask);
  };
  if (!heavy || accumulators.size() == 1) {
    for (auto [i, accumulator] : llvm::enumerate(accumulators))
      finishAt(accumulator, kb.i64(i));
    return;
  }
  auto type = cast<VectorType>(accumulators.front().getType());
  int64_t count = type.getNumElements(), number = accumulators.size();
  Type element = type.getElementType();
  Value scratch = kb.scratch(number * count * cnn::getElementBytes(element));
  for (auto [i, accumulator] : llvm::enumerate(accumulators))
    kb.storeVector(element, accumulator, scratch, kb.i64(i * count), /*aligned=*/true);
  kb.loop(kb.i64(0), kb.i64(number), 1, [&](Value i) {
    Value accumulator = kb.loadVector(element, count, scratch, kb.mul(i, count), /*aligned=*/true);
    finishAt(accumulator, i);
  });
}

Epilogue::Values Epilogue::blockedPosition(Value n, Value block, Value pixel) {
  // [n, block, spatial..., lane]: a pixel's number serves as index of the last spatial dimension
  // if every operand's spatial strides are those of one long row.
  size_t rank = extents.size();
  bool flat = true;
  for (size_t i = 0; i < extras.size(); ++i)
    for (size_t dim = 2; dim + 2 < rank; ++dim)
      flat &= extras.strides(i)[dim] == extras.strides(i)[dim + 1] * extents[dim + 1];
  Values position{n, block};
  if (flat) {
    position.append(rank - 4, kb.i64(0));
    position.push_back(pixel);
  } else {
    ArrayRef<int64_t> spatial = ArrayRef(extents).drop_front(2).drop_back();
    llvm::append_range(position, kb.delinearize(pixel, spatial));
  }
  position.push_back(kb.i64(0));
  return position;
}

Epilogue::Values Epilogue::blockedPosition(Value n, Value block, Value row, Value column) {
  if (extents.size() == 4)
    return {n, block, column, kb.i64(0)};
  return {n, block, row, column, kb.i64(0)};
}
