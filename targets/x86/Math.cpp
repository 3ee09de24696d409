// Rewrites the ops that would become calls of a library.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/x86/Math.h"

#include "targets/x86/Functions.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace convoy;

namespace {

using Unary = Num (*)(const Num &);

bool isHalf(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isF16() || element.isBF16();
}

Type widened(Type type) {
  if (!isHalf(type))
    return type;
  Type f32 = Float32Type::get(type.getContext());
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(VectorType::get(vector.getShape(), f32)) : f32;
}

/// f16 and bf16 are for storage: ops on them are done in f32, and each is rounded.
bool needsWidening(Operation *op) {
  bool computes = isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
                  isa<vector::FMAOp>(op);
  if (!computes ||
      isa<arith::ConstantOp, arith::ExtFOp, arith::TruncFOp, arith::BitcastOp, arith::SelectOp>(op))
    return false;
  return llvm::any_of(op->getOperandTypes(), isHalf) || llvm::any_of(op->getResultTypes(), isHalf);
}

void widen(Operation *op) {
  OpBuilder builder(op);
  OperationState state(op->getLoc(), op->getName());
  for (Value operand : op->getOperands())
    state.operands.push_back(
        isHalf(operand.getType()) ? Num(builder, op->getLoc(), operand).toF32().value : operand);
  for (Type type : op->getResultTypes())
    state.types.push_back(widened(type));
  state.attributes = llvm::to_vector(op->getAttrs());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  Operation *wide = builder.create(state);
  for (auto [from, to] : llvm::zip_equal(op->getResults(), wide->getResults())) {
    Value result = to;
    if (to.getType() != from.getType())
      result = arith::TruncFOp::create(builder, op->getLoc(), from.getType(), to);
    from.replaceAllUsesWith(result);
  }
  op->erase();
}

Unary unaryFunction(Operation *op) {
  return llvm::TypeSwitch<Operation *, Unary>(op)
      .Case([](math::ExpOp) { return functions::exp; })
      .Case([](math::Exp2Op) { return functions::exp2; })
      .Case([](math::ExpM1Op) { return functions::expm1; })
      .Case([](math::LogOp) { return functions::log; })
      .Case([](math::Log2Op) { return functions::log2; })
      .Case([](math::Log10Op) { return functions::log10; })
      .Case([](math::Log1pOp) { return functions::log1p; })
      .Case([](math::SinOp) { return functions::sin; })
      .Case([](math::CosOp) { return functions::cos; })
      .Case([](math::TanOp) { return functions::tan; })
      .Case([](math::AsinOp) { return functions::asin; })
      .Case([](math::AcosOp) { return functions::acos; })
      .Case([](math::AtanOp) { return functions::atan; })
      .Case([](math::SinhOp) { return functions::sinh; })
      .Case([](math::CoshOp) { return functions::cosh; })
      .Case([](math::TanhOp) { return functions::tanh; })
      .Case([](math::AsinhOp) { return functions::asinh; })
      .Case([](math::AcoshOp) { return functions::acosh; })
      .Case([](math::AtanhOp) { return functions::atanh; })
      .Case([](math::ErfOp) { return functions::erf; })
      .Case([](math::ErfcOp) { return functions::erfc; })
      .Case([](math::CbrtOp) { return functions::cbrt; })
      .Case([](math::RsqrtOp) { return functions::rsqrt; })
      .Default(nullptr);
}

/// The value of a constant that is one number throughout.
std::optional<double> constantNumber(Value value) {
  Attribute attr;
  if (!matchPattern(value, m_Constant(&attr)))
    return std::nullopt;
  if (auto splat = dyn_cast<SplatElementsAttr>(attr))
    attr = splat.getSplatValue<Attribute>();
  if (auto number = dyn_cast<FloatAttr>(attr))
    return number.getValueAsDouble();
  return std::nullopt;
}

/// Small powers that are multiples of 1/4 take products and square roots.
Num power(const Num &x, const Num &y) {
  std::optional<double> exponent = constantNumber(y.value);
  // Of more negative ones the positive power may be flushed where its reciprocal is a number.
  bool isSmall = exponent && *exponent >= -1;
  double quarters = isSmall ? std::abs(*exponent) * 4 : 0;
  if (quarters != std::floor(quarters) || quarters < 1 || quarters > 16)
    return functions::pow(x, y);
  int whole = static_cast<int>(quarters) / 4, rest = static_cast<int>(quarters) % 4;
  std::optional<Num> result;
  auto multiply = [&](const Num &factor) { result = result ? *result * factor : factor; };
  for (int i = 0; i < whole; ++i)
    multiply(x);
  if (rest != 0) {
    // Of -0 the root shall be 0, and that of -inf infinite.
    Num root = sqrt(x + 0.0);
    double infinity = std::numeric_limits<double>::infinity();
    root = select(x == -infinity, x.constant(infinity), root);
    if (rest != 1)
      multiply(root);
    if (rest != 2)
      multiply(sqrt(root));
    if (whole != 0) // the factor x would bring its sign
      result = select(x == -infinity, x.constant(infinity), *result);
  }
  return *exponent < 0 ? 1.0 / *result : *result;
}

Num divideRounded(const Num &a, const Num &b, bool up) {
  Num quotient = a.create<arith::DivSIOp>(a.value, b.value);
  Num rest = a - quotient * b;
  Num zero = a.integer(0), one = a.integer(1);
  // Truncated towards zero: below the true quotient if the rest has the divisor's sign.
  Num signs = rest.create<arith::XOrIOp>(rest.value, b.value);
  Num corrected = up ? select(signs < zero, quotient, quotient + one)
                     : select(signs < zero, quotient - one, quotient);
  return select(rest == zero, quotient, corrected);
}

/// What replaces an op; nothing if it stays.
std::optional<Num> expand(Operation *op, OpBuilder &builder) {
  auto operand = [&](unsigned i) { return Num(builder, op->getLoc(), op->getOperand(i)); };
  if (Unary function = unaryFunction(op))
    return function(operand(0));
  return llvm::TypeSwitch<Operation *, std::optional<Num>>(op)
      .Case([&](math::PowFOp) { return power(operand(0), operand(1)); })
      .Case([&](math::Atan2Op) { return functions::atan2(operand(0), operand(1)); })
      .Case([&](math::FPowIOp) {
        Num x = operand(0);
        return functions::pow(x, operand(1).toFloat(x.element()));
      })
      .Case([&](math::IPowIOp) { return functions::powerOfInteger(operand(0), operand(1)); })
      .Case([&](math::ClampFOp) {
        Num low = operand(1), high = operand(2), x = operand(0);
        x = x.create<arith::MaximumFOp>(x.value, low.value);
        return x.create<arith::MinimumFOp>(x.value, high.value);
      })
      .Case([&](arith::RemFOp) { return functions::remainder(operand(0), operand(1)); })
      .Case([&](arith::FloorDivSIOp) { return divideRounded(operand(0), operand(1), false); })
      .Case([&](arith::CeilDivSIOp) { return divideRounded(operand(0), operand(1), true); })
      .Case([&](arith::CeilDivUIOp) {
        Num a = operand(0), b = operand(1), one = a.integer(1);
        Num quotient = a.create<arith::DivUIOp>((a - one).value, b.value);
        return select(a == a.integer(0), a, quotient + one);
      })
      .Default(std::nullopt);
}

/// f64 to f32 such that a second rounding to fewer bits gives what one rounding would: truncated,
/// with the last bit set if anything was lost.
Num roundToOdd(const Num &x) {
  Num rounded = x.toF32();
  Num back = rounded.toF64();
  Num bits = rounded.bits();
  Num zero = bits.integer(0), one = bits.integer(1);
  bits = select(abs(back) > abs(x), bits - one, bits);
  Num lost = x.create<arith::CmpFOp>(arith::CmpFPredicate::ONE, back.value, x.value);
  return (bits | select(lost, one, zero)).fromBits(rounded.element());
}

Num bf16ToF32(const Num &x) {
  Type i32 = x.builder->getI32Type();
  Num bits = x.bits().create<arith::ExtUIOp>(x.shaped(i32), x.bits().value);
  return (bits << 16).fromBits(x.builder->getF32Type());
}

Num f32ToBf16(const Num &x) {
  Num bits = x.bits();
  // To nearest even; a NaN could become an infinity and is made a quiet one instead.
  Num rounded = bits + bits.integer(0x7fff) + (bits.shiftRightUnsigned(16) & bits.integer(1));
  rounded = select(x.isNan(), bits | bits.integer(0x400000), rounded);
  Num high = rounded.shiftRightUnsigned(16).truncate(x.builder->getI16Type());
  return high.fromBits(x.builder->getBF16Type());
}

/// Behind a fence: LLVM moves this rounding into the operand of copysign, whose sign may be the f64
/// that the operand was rounded from, and then calls a library to round f64 to f16.
Num f32ToF16(const Num &x) {
  Num fenced = x.make(LLVM::CallIntrinsicOp::create(
                          *x.builder, x.loc, x.type(),
                          x.builder->getStringAttr("llvm.arithmetic.fence"), ValueRange{x.value})
                          .getResult(0));
  return fenced.to(x.builder->getF16Type());
}

/// Conversions in steps that x86 has. F16C converts between f16 and f32.
std::optional<Num> convert(Operation *op, OpBuilder &builder) {
  if (!isa<arith::ExtFOp, arith::TruncFOp>(op))
    return std::nullopt;
  Num x(builder, op->getLoc(), op->getOperand(0));
  Type from = x.element(), to = getElementTypeOrSelf(op->getResult(0).getType());
  if (isa<arith::ExtFOp>(op)) {
    if (from.isBF16())
      return bf16ToF32(x).to(to);
    if (from.isF16() && to.isF64())
      return x.toF32().to(to);
    return std::nullopt;
  }
  if (to.isBF16())
    return f32ToBf16(from.isF64() ? roundToOdd(x) : x.toF32());
  if (to.isF16())
    return f32ToF16(from.isF64() ? roundToOdd(x) : x);
  return std::nullopt;
}

template <typename Rewrite> void rewriteAll(ModuleOp module, Rewrite rewrite) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops)
    rewrite(op);
}

// Replaces ops by what `function` makes of them.
template <typename Function> void replaceAll(ModuleOp module, Function function) {
  rewriteAll(module, [&](Operation *op) {
    OpBuilder builder(op);
    if (std::optional<Num> result = function(op, builder)) {
      op->getResult(0).replaceAllUsesWith(result->value);
      op->erase();
    }
  });
}

Type bitsOfBf16(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (!element.isBF16())
    return type;
  Type i16 = IntegerType::get(type.getContext(), 16);
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(VectorType::get(vector.getShape(), i16)) : i16;
}

/// Makes every bf16 an i16 of the same bits. Nothing computes with them any more, but LLVM would
/// hold bf16 values as f32 between blocks, and call a library to go back.
void holdBf16AsBits(ModuleOp module) {
  auto retype = [](Value value) { value.setType(bitsOfBf16(value.getType())); };
  rewriteAll(module, [&](Operation *op) {
    if (isa<LLVM::CallIntrinsicOp>(op)) { // instructions of bf16 do want them
      OpBuilder builder(op);
      for (OpOperand &operand : op->getOpOperands()) {
        Type type = operand.get().getType();
        if (getElementTypeOrSelf(type).isBF16())
          operand.set(LLVM::BitcastOp::create(builder, op->getLoc(), type, operand.get()));
      }
      builder.setInsertionPointAfter(op);
      for (Value result : op->getResults())
        if (bitsOfBf16(result.getType()) != result.getType()) {
          auto bits =
              LLVM::BitcastOp::create(builder, op->getLoc(), bitsOfBf16(result.getType()), result);
          result.replaceAllUsesExcept(bits, bits);
        }
      return;
    }
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      if (auto number = dyn_cast<FloatAttr>(constant.getValue());
          number && number.getType().isBF16())
        constant.setValueAttr(
            IntegerAttr::get(bitsOfBf16(number.getType()), number.getValue().bitcastToAPInt()));
      else if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
               dense && dense.getElementType().isBF16())
        constant.setValueAttr(dense.bitcast(IntegerType::get(op->getContext(), 16)));
    }
    llvm::for_each(op->getResults(), retype);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), retype);
  });
}

} // namespace

void convoy::expandMath(ModuleOp module) {
  // In this order: what is widened is then expanded, and both leave conversions.
  rewriteAll(module, [](Operation *op) {
    if (needsWidening(op))
      widen(op);
  });
  replaceAll(module, expand);
  replaceAll(module, convert);
  holdBf16AsBits(module);
}
