// The value of one element of a tensor in a kernel, as scalar code.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/reference/Elements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace convoy;

Elements::Elements(plan::KernelOp kernel, KernelBuilder &kb, Value image)
    : kb(kb), builder(kb.builder), loc(kb.loc), image(image) {
  for (unsigned arg = 0; arg < kernel.getBody().getNumArguments(); ++arg)
    bases.push_back(kb.imageBase(arg, image));
}

Value Elements::read(Value tensor, ValueRange index) {
  auto type = cnn::perImage(cast<RankedTensorType>(tensor.getType()));
  Values own;
  for (auto [extent, position] : llvm::zip_equal(type.getShape(), index.take_back(type.getRank())))
    own.push_back(extent == 1 ? kb.i64(0) : position);
  if (auto argument = dyn_cast<BlockArgument>(tensor))
    return kb.load(type.getElementType(), bases[argument.getArgNumber()], kb.offsetOf(type, own));
  return elementOf(tensor.getDefiningOp(), *this, own);
}

Value Elements::finish(cnn::EpilogueOpInterface op, Value accumulator, ValueRange index) {
  Values arguments;
  if (accumulator)
    arguments.push_back(accumulator);
  for (Value operand : op.getRegionOperands())
    arguments.push_back(read(operand, index));
  return kb.apply(op.getScalarRegion(), arguments);
}

Type Elements::sumType(Type elementType) {
  return isa<FloatType>(elementType) ? Type(builder.getF64Type()) : builder.getI64Type();
}

Value Elements::toSum(Value element, Type elementType) {
  Type type = sumType(elementType);
  if (element.getType() == type)
    return element;
  if (isa<FloatType>(type))
    return arith::ExtFOp::create(builder, loc, type, element);
  if (isUnsigned(elementType))
    return arith::ExtUIOp::create(builder, loc, type, element);
  return arith::ExtSIOp::create(builder, loc, type, element);
}

Value Elements::fromSum(Value sum, Type elementType) {
  Type type = cnn::getScalarType(elementType);
  if (sum.getType() == type)
    return sum;
  if (isa<FloatType>(type))
    return arith::TruncFOp::create(builder, loc, type, sum);
  return arith::TruncIOp::create(builder, loc, type, sum);
}

Value Elements::addUp(Value a, Value b) {
  if (isa<FloatType>(a.getType()))
    return arith::AddFOp::create(builder, loc, a, b);
  return arith::AddIOp::create(builder, loc, a, b);
}

Value Elements::multiply(Value a, Value b) {
  if (isa<FloatType>(a.getType()))
    return arith::MulFOp::create(builder, loc, a, b);
  return arith::MulIOp::create(builder, loc, a, b);
}

Value Elements::multiplyAdd(Value a, Value b, Value sum, Type elementType) {
  a = toSum(a, elementType);
  b = toSum(b, elementType);
  if (isa<FloatType>(elementType))
    return math::FmaOp::create(builder, loc, a, b, sum);
  return addUp(sum, multiply(a, b));
}

Value Elements::divide(Value sum, Value divisor, Type elementType) {
  if (isa<FloatType>(elementType))
    return arith::DivFOp::create(builder, loc, sum, divisor);
  return isUnsigned(elementType) ? Value(arith::DivUIOp::create(builder, loc, sum, divisor))
                                 : Value(arith::DivSIOp::create(builder, loc, sum, divisor));
}

Value Elements::maximum(Type elementType, Value a, Value b) {
  if (isa<FloatType>(elementType))
    return arith::MaximumFOp::create(builder, loc, a, b);
  if (isUnsigned(elementType))
    return arith::MaxUIOp::create(builder, loc, a, b);
  return arith::MaxSIOp::create(builder, loc, a, b);
}

Value Elements::minimum(Type elementType, Value a, Value b) {
  if (isa<FloatType>(elementType))
    return arith::MinimumFOp::create(builder, loc, a, b);
  if (isUnsigned(elementType))
    return arith::MinUIOp::create(builder, loc, a, b);
  return arith::MinSIOp::create(builder, loc, a, b);
}

Value Elements::extreme(Type elementType, bool greatest) {
  TypedAttr value;
  if (auto type = dyn_cast<FloatType>(elementType)) {
    value = builder.getFloatAttr(type, APFloat::getInf(type.getFloatSemantics(), !greatest));
  } else {
    unsigned width = elementType.getIntOrFloatBitWidth();
    APInt number =
        isUnsigned(elementType)
            ? (greatest ? APInt::getMaxValue(width) : APInt::getMinValue(width))
            : (greatest ? APInt::getSignedMaxValue(width) : APInt::getSignedMinValue(width));
    value = builder.getIntegerAttr(cnn::getScalarType(elementType), number);
  }
  return arith::ConstantOp::create(builder, loc, value);
}

Value Elements::select(Value condition, Value a, Value b) {
  return builder.createOrFold<arith::SelectOp>(loc, condition, a, b);
}

Value Elements::compare(arith::CmpIPredicate predicate, Value a, Value b) {
  return builder.createOrFold<arith::CmpIOp>(loc, predicate, a, b);
}

Value Elements::isInside(Value index, int64_t low, int64_t high) {
  return arith::AndIOp::create(builder, loc, compare(arith::CmpIPredicate::sge, index, kb.i64(low)),
                               compare(arith::CmpIPredicate::slt, index, kb.i64(high)));
}

Value Elements::clamp(Value index, int64_t low, int64_t high) {
  return kb.min(kb.max(index, kb.i64(low)), kb.i64(high - 1));
}

Elements::Values Elements::nest(ArrayRef<Range> ranges, ValueRange carried,
                                function_ref<Values(ValueRange, ValueRange)> body) {
  Values index;
  auto level = [&](auto &self, size_t depth, ValueRange values) -> Values {
    if (depth == ranges.size())
      return body(index, values);
    return kb.loop(ranges[depth].first, ranges[depth].second, 1, values,
                   [&](Value i, ValueRange inner) {
                     index.push_back(i);
                     Values next = self(self, depth + 1, inner);
                     index.pop_back();
                     return next;
                   });
  };
  return level(level, 0, carried);
}

// Calls `found` with the op as what it is.
template <typename Found> static auto dispatch(Operation *op, Found found) {
  return llvm::TypeSwitch<Operation *, decltype(found(cnn::ConvOp()))>(op)
      .template Case<cnn::ConvOp, cnn::ConvTransposeOp, cnn::PoolOp, cnn::PoolArgmaxOp,
                     cnn::MatmulOp, cnn::ReduceOp, cnn::LrnOp, cnn::BatchNormOp, cnn::SoftmaxOp,
                     cnn::SampleOp, cnn::RoiAlignOp,
                     cnn::ConstantOp, cnn::MapOp, cnn::ReshapeOp, cnn::TransposeOp,
                     cnn::BroadcastOp, cnn::SliceOp, cnn::ConcatOp, cnn::PadOp, cnn::ResizeOp,
                     cnn::GatherOp, cnn::RelayoutOp, cnn::GatherElementsOp,
                     cnn::ArgExtremeOp, cnn::PackOp>(found)
      .Default({});
}

bool convoy::hasElements(Operation *op) {
  return dispatch(op, [](auto) { return true; });
}

Value convoy::elementOf(Operation *op, Elements &in, ValueRange index) {
  return dispatch(op, [&](auto known) { return elementOf(known, in, index); });
}

int64_t convoy::workPerElement(Operation *op) {
  auto typeOf = [](Value value) { return cast<RankedTensorType>(value.getType()); };
  auto product = [](ArrayRef<int64_t> values) {
    int64_t result = 1;
    for (int64_t value : values)
      result *= value;
    return std::max<int64_t>(result, 1);
  };
  return llvm::TypeSwitch<Operation *, int64_t>(op)
      .Case(
          [&](cnn::ConvOp conv) { return product(typeOf(conv.getWei()).getShape().drop_front()); })
      .Case([&](cnn::ConvTransposeOp conv) {
        auto wei = typeOf(conv.getWei());
        return product(wei.getShape()) / std::max<int64_t>(wei.getDimSize(1) * conv.getGroups(), 1);
      })
      .Case([&](cnn::PoolOp pool) { return product(pool.getKernel()); })
      .Case([&](cnn::PoolArgmaxOp pool) { return product(pool.getKernel()); })
      .Case([&](cnn::MatmulOp matmul) {
        auto lhs = typeOf(matmul.getLhs());
        return std::max<int64_t>(lhs.getDimSize(lhs.getRank() - (matmul.getTransposeLhs() ? 2 : 1)),
                                 1);
      })
      .Case([&](cnn::ReduceOp reduce) {
        int64_t work = 1;
        for (int64_t axis : reduce.getAxes())
          work *= typeOf(reduce.getSrc()).getDimSize(axis);
        return std::max<int64_t>(work, 1);
      })
      .Case([&](cnn::LrnOp lrn) { return static_cast<int64_t>(lrn.getSize()); })
      .Case([](cnn::SoftmaxOp) { return 16; })
      .Case([](cnn::SampleOp) { return 16; })
      .Case([](cnn::RoiAlignOp) { return 64; })
      .Case([&](cnn::ArgExtremeOp arg) {
        return std::max<int64_t>(typeOf(arg.getSrc()).getDimSize(arg.getAxis()), 1);
      })
      .Case([](cnn::TopKOp) { return 64; })
      .Default(int64_t(1));
}
