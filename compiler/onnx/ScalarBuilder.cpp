// Scalar arithmetic by ONNX's rules, and cnn.map around it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/ScalarBuilder.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;

Value ScalarBuilder::number(double value) {
  if (!isFloat())
    return integer(static_cast<int64_t>(value));
  return make<arith::ConstantOp>(b.getFloatAttr(type(), value));
}

Value ScalarBuilder::integer(int64_t value) {
  unsigned width = type().getIntOrFloatBitWidth();
  return make<arith::ConstantOp>(
      IntegerAttr::get(type(), APInt(width, value, /*isSigned=*/true, /*implicitTrunc=*/true)));
}

Value ScalarBuilder::add(Value x, Value y) {
  return isFloat() ? make<arith::AddFOp>(x, y) : make<arith::AddIOp>(x, y);
}
Value ScalarBuilder::sub(Value x, Value y) {
  return isFloat() ? make<arith::SubFOp>(x, y) : make<arith::SubIOp>(x, y);
}
Value ScalarBuilder::mul(Value x, Value y) {
  return isFloat() ? make<arith::MulFOp>(x, y) : make<arith::MulIOp>(x, y);
}

Value ScalarBuilder::div(Value x, Value y) {
  if (isFloat())
    return make<arith::DivFOp>(x, y);
  // A processor traps on x / 0 and on least / -1: neither may reach it.
  Value zero = integer(0), one = integer(1);
  Value byZero = equal(y, zero);
  if (isUnsigned()) {
    Value quotient = make<arith::DivUIOp>(x, select(byZero, one, y));
    return select(byZero, zero, quotient);
  }
  Value byMinusOne = equal(y, integer(-1));
  Value special = make<arith::OrIOp>(byZero, byMinusOne);
  Value quotient = make<arith::DivSIOp>(x, select(special, one, y));
  return select(byZero, zero, select(byMinusOne, sub(zero, x), quotient));
}

Value ScalarBuilder::mod(Value x, Value y, bool truncated) {
  if (isFloat())
    return make<arith::RemFOp>(x, y);
  Value rest = sub(x, mul(div(x, y), y));
  if (truncated || isUnsigned())
    return rest;
  Value zero = integer(0);
  Value differs = make<arith::XOrIOp>(less(rest, zero), less(y, zero));
  Value wrong = make<arith::AndIOp>(differs, make<arith::CmpIOp>(arith::CmpIPredicate::ne, rest,
                                                                 zero));
  return select(wrong, add(rest, y), rest);
}

Value ScalarBuilder::max(Value x, Value y) {
  if (isFloat())
    return make<arith::MaximumFOp>(x, y);
  return isUnsigned() ? make<arith::MaxUIOp>(x, y) : make<arith::MaxSIOp>(x, y);
}
Value ScalarBuilder::min(Value x, Value y) {
  if (isFloat())
    return make<arith::MinimumFOp>(x, y);
  return isUnsigned() ? make<arith::MinUIOp>(x, y) : make<arith::MinSIOp>(x, y);
}
Value ScalarBuilder::neg(Value x) {
  return isFloat() ? make<arith::NegFOp>(x) : sub(integer(0), x);
}
Value ScalarBuilder::abs(Value x) {
  if (isFloat())
    return make<math::AbsFOp>(x);
  return isUnsigned() ? x : max(x, neg(x));
}

Value ScalarBuilder::equal(Value x, Value y) {
  if (isFloat())
    return make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, x, y);
  return make<arith::CmpIOp>(arith::CmpIPredicate::eq, x, y);
}
Value ScalarBuilder::less(Value x, Value y) {
  if (isFloat())
    return make<arith::CmpFOp>(arith::CmpFPredicate::OLT, x, y);
  return make<arith::CmpIOp>(isUnsigned() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt,
                             x, y);
}
Value ScalarBuilder::lessOrEqual(Value x, Value y) {
  if (isFloat())
    return make<arith::CmpFOp>(arith::CmpFPredicate::OLE, x, y);
  return make<arith::CmpIOp>(isUnsigned() ? arith::CmpIPredicate::ule : arith::CmpIPredicate::sle,
                             x, y);
}

// Truncates towards zero; what does not fit becomes the nearest number that does, NaN zero.
// ONNX leaves that open, but the result must be the same on every machine.
Value ScalarBuilder::floatToInt(Value x, Type to) {
  unsigned width = to.getIntOrFloatBitWidth();
  bool toUnsigned = to.isUnsignedInteger();
  ScalarBuilder result(b, loc, to);
  APInt least = toUnsigned ? APInt::getMinValue(width) : APInt::getSignedMinValue(width);
  APInt greatest = toUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  // The powers of two next to the range, which a float holds exactly; f16 may not reach them.
  if (elementType.isF16()) {
    ScalarBuilder wide(b, loc, b.getF32Type());
    return wide.cast(make<arith::ExtFOp>(b.getF32Type(), x), to);
  }
  double above = std::ldexp(1.0, toUnsigned ? width : width - 1);
  double below = toUnsigned ? 0 : -above;
  Value truncated = toUnsigned ? make<arith::FPToUIOp>(result.type(), x)
                               : make<arith::FPToSIOp>(result.type(), x);
  auto constant = [&](const APInt &value) {
    return make<arith::ConstantOp>(IntegerAttr::get(result.type(), value));
  };
  Value tooLarge = make<arith::CmpFOp>(arith::CmpFPredicate::OGE, x, number(above));
  Value tooSmall = make<arith::CmpFOp>(arith::CmpFPredicate::OLT, x, number(below));
  Value isNan = make<arith::CmpFOp>(arith::CmpFPredicate::UNO, x, x);
  Value clamped = select(tooLarge, constant(greatest), truncated);
  clamped = select(tooSmall, constant(least), clamped);
  return select(isNan, constant(APInt::getZero(width)), clamped);
}

Value ScalarBuilder::cast(Value x, Type to) {
  if (to == elementType)
    return x;
  Type scalar = cnn::getScalarType(to);
  if (to.isInteger(1)) {
    if (isFloat()) // NaN is not zero
      return make<arith::CmpFOp>(arith::CmpFPredicate::UNE, x, number(0));
    return make<arith::CmpIOp>(arith::CmpIPredicate::ne, x, integer(0));
  }
  if (isFloat() && isa<FloatType>(to)) {
    unsigned from = type().getIntOrFloatBitWidth(), width = scalar.getIntOrFloatBitWidth();
    if (from < width)
      return make<arith::ExtFOp>(scalar, x);
    if (from > width)
      return make<arith::TruncFOp>(scalar, x);
    // f16 and bf16: through f32, which holds both exactly.
    return make<arith::TruncFOp>(scalar, make<arith::ExtFOp>(b.getF32Type(), x));
  }
  if (isFloat())
    return floatToInt(x, to);
  if (isa<FloatType>(to))
    return isUnsigned() ? make<arith::UIToFPOp>(scalar, x) : make<arith::SIToFPOp>(scalar, x);
  unsigned from = type().getIntOrFloatBitWidth(), width = scalar.getIntOrFloatBitWidth();
  if (from == width)
    return x;
  if (from > width)
    return make<arith::TruncIOp>(scalar, x);
  return isUnsigned() ? make<arith::ExtUIOp>(scalar, x) : make<arith::ExtSIOp>(scalar, x);
}

Value ScalarBuilder::intPow(Value x, Value exponent, Type exponentType) {
  // By squaring, bit by bit; the powers wrap as products of integers do.
  ScalarBuilder e(b, loc, exponentType);
  unsigned bits = e.type().getIntOrFloatBitWidth();
  Value one = integer(1), result = one, power = x;
  for (unsigned i = 0; i < bits - (e.isUnsigned() ? 0 : 1); ++i) {
    Value bit = e.make<arith::AndIOp>(e.make<arith::ShRUIOp>(exponent, e.integer(i)), e.integer(1));
    Value isSet = e.equal(bit, e.integer(1));
    result = select(isSet, mul(result, power), result);
    power = mul(power, power);
  }
  if (e.isUnsigned())
    return result;
  // 1 / x^n, truncated: only 1 and -1 leave something.
  Value isNegative = e.less(exponent, e.integer(0));
  Value isOdd = e.equal(e.make<arith::AndIOp>(exponent, e.integer(1)), e.integer(1));
  Value inverse = select(equal(x, one), one, integer(0));
  if (!isUnsigned())
    inverse = select(equal(x, integer(-1)), select(isOdd, integer(-1), one), inverse);
  return select(isNegative, inverse, result);
}

// The value of an arith.constant of a float.
static std::optional<double> floatConstant(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  auto attr = constant ? dyn_cast<FloatAttr>(constant.getValue()) : FloatAttr();
  return attr ? std::optional(attr.getValueAsDouble()) : std::nullopt;
}

Value ScalarBuilder::pow(Value x, Value exponent, Type exponentType) {
  ScalarBuilder e(b, loc, exponentType);
  if (isFloat()) {
    Value y = e.cast(exponent, elementType);
    if (std::optional<double> constant = floatConstant(y)) {
      if (*constant == 1)
        return x;
      if (*constant == 2)
        return mul(x, x);
      if (*constant == 3)
        return mul(mul(x, x), x);
    }
    return make<math::PowFOp>(x, y);
  }
  if (!e.isFloat())
    return intPow(x, exponent, exponentType);
  // An integer to a power that is not one: f64 holds what the integer's type can. An approximate
  // power just below a whole number stands for it, and truncation must not lose one.
  Type wide = b.getF64Type();
  ScalarBuilder f(b, loc, wide);
  Value power = f.make<math::PowFOp>(cast(x, wide), e.cast(exponent, wide));
  Value whole = f.make<math::RoundEvenOp>(power);
  Value distance = f.abs(f.sub(power, whole));
  Value isClose = f.lessOrEqual(distance, f.mul(f.abs(whole), f.number(1e-6)));
  return f.cast(select(isClose, whole, power), elementType);
}

FailureOr<Tensor> convoy::onnx::createMap(NodeImport &node, ArrayRef<Tensor> inputs, Type elementType,
                                  ScalarFunction function) {
  OpBuilder &builder = node.getBuilder();
  Location loc = node.getLoc();
  auto scalarOf = [&](const Tensor &tensor) -> std::optional<HostTensor> {
    if (tensor.type().getRank() > 0 && !tensor.type().hasStaticShape())
      return std::nullopt;
    if (tensor.type().getNumElements() != 1)
      return std::nullopt;
    std::optional<HostTensor> host = node.toHost(tensor);
    return host && host->isConstant() ? host : std::nullopt;
  };
  // One element that is known goes into the region, unless its rank makes the result's.
  int64_t rank = 0;
  for (const Tensor &input : inputs)
    if (!scalarOf(input))
      rank = std::max(rank, input.rank());
  SmallVector<Value> operands;
  SmallVector<RankedTensorType> types;
  SmallVector<std::optional<HostTensor>> known;
  for (const Tensor &input : inputs) {
    known.push_back(scalarOf(input));
    if (known.back() && (input.rank() > rank || inputs.size() == 1))
      known.back().reset();
    if (known.back())
      continue;
    FailureOr<Value> value = node.toValue(input);
    if (failed(value))
      return failure();
    operands.push_back(*value);
    types.push_back(input.type());
  }
  if (operands.empty()) { // all are known scalars: the first stays an operand
    FailureOr<Value> value = node.toValue(inputs.front());
    if (failed(value))
      return failure();
    known.front().reset();
    operands.push_back(*value);
    types.push_back(inputs.front().type());
  }
  FailureOr<RankedTensorType> type = cnn::MapOp::inferType(loc, types, elementType);
  if (failed(type))
    return failure();

  auto map = cnn::MapOp::create(builder, loc, *type, operands, StringAttr());
  {
    OpBuilder::InsertionGuard guard(builder);
    SmallVector<Type> argumentTypes = llvm::map_to_vector(
        types, [](RankedTensorType t) { return cnn::getScalarType(t); });
    SmallVector<Location> locations(argumentTypes.size(), loc);
    Block *block = builder.createBlock(&map.getBody(), {}, argumentTypes, locations);
    SmallVector<Value> elements;
    unsigned next = 0;
    for (auto [input, host] : llvm::zip(inputs, known)) {
      if (!host) {
        elements.push_back(block->getArgument(next++));
        continue;
      }
      ScalarBuilder constant(builder, loc, input.elementType());
      elements.push_back(host->isFloat() ? constant.number(host->floats[0].constant)
                                         : constant.integer(host->ints[0].constant));
    }
    ScalarBuilder scalar(builder, loc, inputs.front().elementType());
    cnn::YieldOp::create(builder, loc, function(scalar, elements));
  }
  return node.keep(map);
}
