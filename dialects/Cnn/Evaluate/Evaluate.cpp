// The executable semantics of the cnn dialect: which op computes how, and functions of ops.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Cnn/Evaluate/Evaluate.h"

#include "dialects/Cnn/Evaluate/Ops.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace convoy::cnn;

// `type` with a concrete batch, row-major.
static RankedTensorType withBatch(RankedTensorType type, int64_t batch) {
  SmallVector<int64_t> shape(type.getShape());
  if (hasFreeBatch(type))
    shape[0] = batch;
  return RankedTensorType::get(shape, type.getElementType());
}

// Checks that `tensor` is a value of `type`, and notes what stands for its free batch.
static LogicalResult matchType(Operation *op, StringRef what, size_t index, Type type,
                               const Tensor &tensor, std::optional<int64_t> &batch) {
  auto expected = dyn_cast<RankedTensorType>(type);
  if (!expected || !tensor)
    return op->emitError() << what << " " << index << " is evaluated as a tensor only, got "
                           << type;
  if (hasFreeBatch(expected) && tensor.rank() > 0 && !batch)
    batch = tensor.shape()[0];
  RankedTensorType concrete = withBatch(expected, batch.value_or(1));
  if (tensor.type() != concrete)
    return op->emitError() << what << " " << index << " has type " << tensor.type()
                           << ", expected " << concrete;
  size_t bytes = tensor.numElements() * tensor.elementBytes();
  if (tensor.bytes().size() != bytes)
    return op->emitError() << what << " " << index << " has " << tensor.bytes().size()
                           << " bytes, expected " << bytes;
  return success();
}

static LogicalResult checkElements(Operation *op, Type type) {
  Type element = cast<RankedTensorType>(type).getElementType();
  auto integer = dyn_cast<IntegerType>(element);
  bool isStored = !integer || integer.getWidth() == 1 || integer.getWidth() == 8 ||
                  integer.getWidth() == 16 || integer.getWidth() == 32 || integer.getWidth() == 64;
  if (Codec::of(element) && !element.isIndex() && isStored)
    return success();
  return op->emitError() << "the evaluator knows no elements of " << element;
}

FailureOr<SmallVector<Tensor>> convoy::cnn::evaluate(Operation *op, ArrayRef<Tensor> operands,
                                                     std::optional<int64_t> batch) {
  auto unknown = [&] {
    return op->emitError() << "the evaluator knows no op '" << op->getName() << "'";
  };
  if (!isa_and_nonnull<CnnDialect>(op->getDialect()) || op->getNumResults() != 1)
    return unknown();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (operands.size() != op->getNumOperands())
    return op->emitError() << "has " << op->getNumOperands() << " operands, but "
                           << operands.size() << " values were given";
  for (auto [i, operand] : llvm::enumerate(operands))
    if (failed(matchType(op, "operand", i, op->getOperand(i).getType(), operand, batch)) ||
        failed(checkElements(op, operand.type())))
      return failure();
  if (failed(checkElements(op, type)))
    return failure();
  if (hasFreeBatch(type) && !batch)
    return op->emitError() << "has a free batch that no operand tells";
  RankedTensorType dstType = withBatch(type, batch.value_or(1));

  if (auto constant = dyn_cast<ConstantOp>(op)) {
    Tensor tensor = Tensor::fromConstant(type, constant.getValue());
    if (failed(matchType(op, "result", 0, type, tensor, batch)))
      return failure();
    return SmallVector<Tensor>{tensor};
  }
  if (isa<ReshapeOp, RelayoutOp>(op))
    return SmallVector<Tensor>{operands[0].withShape(dstType.getShape())};

  Tensor dst = Tensor::allocate(dstType);
  if (!dst.data())
    return op->emitError() << "no memory for the result " << dstType;
  LogicalResult result =
      llvm::TypeSwitch<Operation *, LogicalResult>(op)
          .Case<ConvOp, ConvTransposeOp, PoolOp, PoolArgmaxOp, MatmulOp, ReduceOp, MapOp,
                SoftmaxOp, LrnOp, BatchNormOp, SampleOp, RoiAlignOp, TransposeOp, BroadcastOp,
                SliceOp, ConcatOp, PadOp, ResizeOp, GatherOp, GatherElementsOp, ScatterOp,
                ArgExtremeOp, TopKOp, CumulativeSumOp, TruePositionsOp, SuppressOp, PackOp>(
              [&](auto known) {
                return dst.numElements() == 0 ? success() : compute(known, operands, dst);
              })
          .Default([&](Operation *) { return LogicalResult(unknown()); });
  if (failed(result))
    return failure();
  return SmallVector<Tensor>{dst};
}

FailureOr<SmallVector<Tensor>> convoy::cnn::evaluate(func::FuncOp function,
                                                     ArrayRef<Tensor> inputs,
                                                     const EvaluateObserver &observer) {
  if (!function.getBody().hasOneBlock())
    return function.emitError() << "is evaluated with one block only";
  Block &block = function.getBody().front();
  if (inputs.size() != block.getNumArguments())
    return function.emitError() << "has " << block.getNumArguments() << " arguments, but "
                                << inputs.size() << " values were given";
  std::optional<int64_t> batch;
  DenseMap<Value, Tensor> values;
  DenseMap<Value, int64_t> uses; // that are still to come
  for (auto [i, argument] : llvm::enumerate(block.getArguments())) {
    if (failed(matchType(function, "argument", i, argument.getType(), inputs[i], batch)))
      return failure();
    values[argument] = inputs[i];
  }
  for (Operation &op : block)
    for (Value operand : op.getOperands())
      ++uses[operand];

  for (Operation &op : block) {
    SmallVector<Tensor> operands;
    for (Value operand : op.getOperands())
      operands.push_back(values.lookup(operand));
    if (op.hasTrait<OpTrait::IsTerminator>())
      return operands;
    FailureOr<SmallVector<Tensor>> results = evaluate(&op, operands, batch);
    if (failed(results))
      return failure();
    if (observer)
      observer(&op, *results);
    for (auto [value, tensor] : llvm::zip_equal(op.getResults(), *results))
      if (uses.lookup(value) > 0)
        values[value] = tensor;
    for (Value operand : op.getOperands())
      if (--uses[operand] == 0)
        values.erase(operand);
  }
  return function.emitError() << "has no terminator";
}
