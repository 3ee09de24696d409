// Arithmetic on scalars and vectors, written as formulas.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

namespace convoy {

/// A float, integer or bool, or a vector of them, with the place where ops on it are built.
class Num {
public:
  Num(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value)
      : builder(&builder), loc(loc), value(value) {}

  mlir::OpBuilder *builder;
  mlir::Location loc;
  mlir::Value value;

  mlir::Type type() const { return value.getType(); }
  mlir::Type element() const { return mlir::getElementTypeOrSelf(type()); }
  bool isFloat() const { return mlir::isa<mlir::FloatType>(element()); }
  bool isF64() const { return element().isF64(); }
  /// This type's shape with another element.
  mlir::Type shaped(mlir::Type element) const {
    auto vector = mlir::dyn_cast<mlir::VectorType>(type());
    return vector ? mlir::Type(mlir::VectorType::get(vector.getShape(), element)) : element;
  }

  Num make(mlir::Value result) const { return Num(*builder, loc, result); }
  template <typename Op, typename... Args> Num create(Args &&...args) const {
    return make(Op::create(*builder, loc, std::forward<Args>(args)...));
  }

  /// A number of this type. `constant` rounds to it.
  Num constant(double number) const {
    if (!isFloat())
      return integer(static_cast<int64_t>(number));
    return attribute(builder->getFloatAttr(element(), number));
  }
  Num integer(int64_t number) const {
    return attribute(builder->getIntegerAttr(element(), number));
  }

  // Conversions.
  Num to(mlir::Type floatType) const {
    if (floatType == element())
      return *this;
    bool wider = floatType.getIntOrFloatBitWidth() > element().getIntOrFloatBitWidth();
    return wider ? create<mlir::arith::ExtFOp>(shaped(floatType), value)
                 : create<mlir::arith::TruncFOp>(shaped(floatType), value);
  }
  Num toF64() const { return to(builder->getF64Type()); }
  Num toF32() const { return to(builder->getF32Type()); }
  /// A float that holds a whole number of 32 bits, as i32.
  Num toI32() const { return create<mlir::arith::FPToSIOp>(shaped(builder->getI32Type()), value); }
  /// A signed integer as a float.
  Num toFloat(mlir::Type floatType) const {
    return create<mlir::arith::SIToFPOp>(shaped(floatType), value);
  }
  Num bits() const {
    return create<mlir::arith::BitcastOp>(
        shaped(builder->getIntegerType(element().getIntOrFloatBitWidth())), value);
  }
  Num fromBits(mlir::Type floatType) const {
    return create<mlir::arith::BitcastOp>(shaped(floatType), value);
  }

  // Of integers.
  Num extend(mlir::Type intType) const {
    return intType == element() ? *this : create<mlir::arith::ExtSIOp>(shaped(intType), value);
  }
  Num truncate(mlir::Type intType) const {
    return intType == element() ? *this : create<mlir::arith::TruncIOp>(shaped(intType), value);
  }
  Num operator<<(int64_t n) const { return create<mlir::arith::ShLIOp>(value, integer(n).value); }
  Num shiftRight(int64_t n) const { return create<mlir::arith::ShRSIOp>(value, integer(n).value); }
  Num shiftRightUnsigned(int64_t n) const {
    return create<mlir::arith::ShRUIOp>(value, integer(n).value);
  }
  Num operator&(const Num &b) const { return create<mlir::arith::AndIOp>(value, b.value); }
  Num operator|(const Num &b) const { return create<mlir::arith::OrIOp>(value, b.value); }

  Num operator+(const Num &b) const {
    return isFloat() ? create<mlir::arith::AddFOp>(value, b.value)
                     : create<mlir::arith::AddIOp>(value, b.value);
  }
  Num operator-(const Num &b) const {
    return isFloat() ? create<mlir::arith::SubFOp>(value, b.value)
                     : create<mlir::arith::SubIOp>(value, b.value);
  }
  Num operator*(const Num &b) const {
    return isFloat() ? create<mlir::arith::MulFOp>(value, b.value)
                     : create<mlir::arith::MulIOp>(value, b.value);
  }
  Num operator/(const Num &b) const { return create<mlir::arith::DivFOp>(value, b.value); }
  Num operator-() const { return create<mlir::arith::NegFOp>(value); }
  Num operator+(double b) const { return *this + constant(b); }
  Num operator-(double b) const { return *this - constant(b); }
  Num operator*(double b) const { return *this * constant(b); }
  Num operator/(double b) const { return *this / constant(b); }

  // Comparisons of floats are false for NaN, those of integers are signed.
  Num operator<(const Num &b) const { return compare(Less, b); }
  Num operator>(const Num &b) const { return b < *this; }
  Num operator==(const Num &b) const { return compare(Equal, b); }
  Num operator<(double b) const { return *this < constant(b); }
  Num operator>(double b) const { return *this > constant(b); }
  Num operator==(double b) const { return *this == constant(b); }
  Num isNan() const {
    return create<mlir::arith::CmpFOp>(mlir::arith::CmpFPredicate::UNO, value, value);
  }

private:
  enum Comparison { Less, Equal };
  Num compare(Comparison comparison, const Num &b) const {
    using mlir::arith::CmpFPredicate;
    using mlir::arith::CmpIPredicate;
    if (isFloat())
      return create<mlir::arith::CmpFOp>(
          comparison == Less ? CmpFPredicate::OLT : CmpFPredicate::OEQ, value, b.value);
    return create<mlir::arith::CmpIOp>(comparison == Less ? CmpIPredicate::slt : CmpIPredicate::eq,
                                       value, b.value);
  }
  Num attribute(mlir::TypedAttr number) const {
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(type()))
      number = mlir::DenseElementsAttr::get(vector, mlir::Attribute(number));
    return create<mlir::arith::ConstantOp>(number);
  }
};

inline Num operator+(double a, const Num &b) { return b.constant(a) + b; }
inline Num operator-(double a, const Num &b) { return b.constant(a) - b; }
inline Num operator*(double a, const Num &b) { return b.constant(a) * b; }
inline Num operator/(double a, const Num &b) { return b.constant(a) / b; }

/// a * b + c, rounded once.
inline Num fma(const Num &a, const Num &b, const Num &c) {
  return a.create<mlir::math::FmaOp>(a.value, b.value, c.value);
}
inline Num select(const Num &condition, const Num &a, const Num &b) {
  return a.create<mlir::arith::SelectOp>(condition.value, a.value, b.value);
}
inline Num abs(const Num &x) { return x.create<mlir::math::AbsFOp>(x.value); }
inline Num sqrt(const Num &x) { return x.create<mlir::math::SqrtOp>(x.value); }
inline Num floor(const Num &x) { return x.create<mlir::math::FloorOp>(x.value); }
/// To the nearest whole number, ties to even.
inline Num nearest(const Num &x) { return x.create<mlir::math::RoundEvenOp>(x.value); }
/// The magnitude of the first with the sign of the second.
inline Num copySign(const Num &magnitude, const Num &sign) {
  return magnitude.create<mlir::math::CopySignOp>(magnitude.value, sign.value);
}
/// Into [low, high]; NaN becomes `low`.
inline Num clamp(const Num &x, double low, double high) {
  Num above = select(x > low, x, x.constant(low));
  return select(above < high, above, x.constant(high));
}
/// coefficients[0] + coefficients[1] * x + ...
inline Num polynomial(const Num &x, llvm::ArrayRef<double> coefficients) {
  Num result = x.constant(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    result = fma(result, x, x.constant(coefficient));
  return result;
}

} // namespace convoy
