// Elements of resize.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/reference/Elements.h"
#include "targets/reference/ResizeTable.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace convoy;

// A weighted sum as an integer: to the nearest, ties to even, and held inside the type.
static Value toInteger(Elements &in, Value sum, Type elementType) {
  OpBuilder &b = in.builder;
  unsigned width = elementType.getIntOrFloatBitWidth();
  bool isUnsigned = Elements::isUnsigned(elementType);
  Type type = cnn::getScalarType(elementType), f64 = sum.getType();
  double low = isUnsigned ? 0 : -std::ldexp(1.0, width - 1);
  double high = std::ldexp(1.0, isUnsigned ? width : width - 1); // the first that is too large
  Value rounded = math::RoundEvenOp::create(b, in.loc, sum);
  Value tooLarge = arith::CmpFOp::create(b, in.loc, arith::CmpFPredicate::OGE, rounded,
                                         in.kb.constant(f64, high));
  Value held = arith::MaxNumFOp::create(b, in.loc, rounded, in.kb.constant(f64, low));
  held = arith::MinNumFOp::create(b, in.loc, held, in.kb.constant(f64, std::nextafter(high, 0.0)));
  Value number = isUnsigned ? Value(arith::FPToUIOp::create(b, in.loc, type, held))
                            : Value(arith::FPToSIOp::create(b, in.loc, type, held));
  return in.select(tooLarge, in.extreme(elementType, /*greatest=*/true), number);
}

Value convoy::elementOf(cnn::ResizeOp op, Elements &in, ValueRange index) {
  KernelBuilder &kb = in.kb;
  auto src = cast<RankedTensorType>(op.getSrc().getType());
  Type elementType = src.getElementType(), scalar = cnn::getScalarType(elementType);
  Type i32 = in.builder.getI32Type(), f64 = in.builder.getF64Type();
  auto load = [&](Type type, Value table, Value offset) -> Value {
    Value value = kb.load(type, table, offset);
    if (type != i32)
      return value;
    return arith::ExtSIOp::create(in.builder, in.loc, in.builder.getI64Type(), value);
  };

  // The axes that are resized, with their tables.
  struct Resized {
    unsigned dim;
    int64_t taps;
    Value indices, weights, firstTap;
  };
  SmallVector<Resized> axes;
  Value outside;
  for (unsigned dim = 0; dim < src.getRank(); ++dim) {
    if (src.isDynamicDim(dim))
      continue;
    ResizeAxis axis = makeResizeAxis(op, dim);
    if (axis.isIdentity())
      continue;
    Resized resized{dim, axis.taps, in.table(ArrayRef<int32_t>(axis.indices)),
                    in.table(ArrayRef<double>(axis.weights)), kb.mul(index[dim], axis.taps)};
    if (llvm::is_contained(axis.indices, -1)) {
      Value here = in.compare(arith::CmpIPredicate::slt,
                              load(i32, resized.indices, resized.firstTap), kb.i64(0));
      outside = outside ? Value(arith::OrIOp::create(in.builder, in.loc, outside, here)) : here;
    }
    axes.push_back(resized);
  }

  auto inside = [&]() -> Value {
    Elements::Values position(index);
    // Nothing to weigh: the element itself, whatever its type is.
    if (llvm::all_of(axes, [](const Resized &axis) { return axis.taps == 1; })) {
      for (const Resized &axis : axes)
        position[axis.dim] = load(i32, axis.indices, axis.firstTap);
      return in.read(op.getSrc(), position);
    }
    SmallVector<Elements::Range> ranges;
    for (const Resized &axis : axes)
      ranges.push_back({kb.i64(0), kb.i64(axis.taps)});
    Value sum = in.nest(ranges, kb.constant(f64, 0), [&](ValueRange taps, ValueRange carried) {
      Value weight;
      for (auto [axis, tap] : llvm::zip_equal(axes, taps)) {
        Value offset = kb.add(axis.firstTap, tap);
        position[axis.dim] = load(i32, axis.indices, offset);
        Value own = load(f64, axis.weights, offset);
        weight = weight ? in.multiply(weight, own) : own;
      }
      Value element = in.read(op.getSrc(), position);
      if (isa<IntegerType>(scalar) && Elements::isUnsigned(elementType))
        element = arith::UIToFPOp::create(in.builder, in.loc, f64, element);
      else if (isa<IntegerType>(scalar))
        element = arith::SIToFPOp::create(in.builder, in.loc, f64, element);
      return Elements::Values{in.multiplyAdd(element, weight, carried[0], element.getType())};
    })[0];
    return isa<FloatType>(scalar) ? in.fromSum(sum, elementType) : toInteger(in, sum, elementType);
  };
  if (!outside)
    return inside();
  return kb.ifThenElse(
      outside, scalar,
      [&] {
        double value = op.getExtrapolationValue().convertToDouble();
        return Elements::Values{kb.constant(scalar, value)};
      },
      [&] { return Elements::Values{inside()}; })[0];
}
