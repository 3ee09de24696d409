// Elements of ops that pick by indices, and comparisons of elements in an order with NaN.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/reference/Rows.h"

using namespace mlir;
using namespace convoy;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

Value convoy::readIndex(Elements &in, Value tensor, ValueRange index, int64_t extent) {
  Value picked = in.read(tensor, index);
  if (!picked.getType().isInteger(64))
    picked = arith::ExtSIOp::create(in.builder, in.loc, in.builder.getI64Type(), picked);
  Value negative = in.compare(arith::CmpIPredicate::slt, picked, in.kb.i64(0));
  // Data may be any number: the sum must be free to wrap.
  Value fromEnd = arith::AddIOp::create(in.builder, in.loc, picked, in.kb.i64(extent));
  return in.select(negative, fromEnd, picked);
}

Value convoy::isAhead(Elements &in, Type elementType, Value a, Value b, bool least) {
  if (!isa<FloatType>(elementType)) {
    bool isUnsigned = Elements::isUnsigned(elementType);
    using P = arith::CmpIPredicate;
    return in.compare(least ? (isUnsigned ? P::ult : P::slt) : (isUnsigned ? P::ugt : P::sgt), a,
                      b);
  }
  auto compare = [&](arith::CmpFPredicate predicate, Value x, Value y) -> Value {
    return arith::CmpFOp::create(in.builder, in.loc, predicate, in.toSum(x, elementType),
                                 in.toSum(y, elementType));
  };
  // Larger or unordered, but of two NaNs none is ahead.
  Value differs = compare(least ? arith::CmpFPredicate::ULT : arith::CmpFPredicate::UGT, a, b);
  Value last = least ? a : b;
  return arith::AndIOp::create(in.builder, in.loc, differs,
                               compare(arith::CmpFPredicate::ORD, last, last));
}

Value convoy::elementOf(cnn::GatherElementsOp op, Elements &in, ValueRange index) {
  RankedTensorType src = typeOf(op.getSrc()), indices = typeOf(op.getIndices());
  int64_t axis = op.getAxis(), extent = src.getDimSize(axis);
  Value picked = readIndex(in, op.getIndices(), index.take_back(indices.getRank()), extent);
  Elements::Values position(index);
  position[axis] = in.clamp(picked, 0, extent);
  return in.read(op.getSrc(), position);
}

Value convoy::elementOf(cnn::ArgExtremeOp op, Elements &in, ValueRange index) {
  KernelBuilder &kb = in.kb;
  RankedTensorType src = typeOf(op.getSrc());
  Type elementType = src.getElementType();
  int64_t axis = op.getAxis();
  bool least = op.getLeast();
  Elements::Values position(index);
  if (op.getKeepDims())
    position[axis] = kb.i64(0);
  else
    position.insert(position.begin() + axis, kb.i64(0));
  Value first = in.read(op.getSrc(), position);
  return in.nest(
      {{kb.i64(1), kb.i64(src.getDimSize(axis))}}, {kb.i64(0), first},
      [&](ValueRange k, ValueRange best) {
        Elements::Values own = position;
        own[axis] = k[0];
        Value element = in.read(op.getSrc(), own);
        // As for the last among equals: the best one so far is not ahead of this one. A NaN is
        // ahead of numbers both ways.
        auto ahead = [&](Value a, Value b) -> Value {
          if (!isa<FloatType>(elementType) || !least)
            return isAhead(in, elementType, a, b, least);
          Value x = in.toSum(a, elementType), y = in.toSum(b, elementType);
          Value lower =
              arith::CmpFOp::create(in.builder, in.loc, arith::CmpFPredicate::ULT, x, y);
          Value isNumber =
              arith::CmpFOp::create(in.builder, in.loc, arith::CmpFPredicate::ORD, y, y);
          return arith::AndIOp::create(in.builder, in.loc, lower, isNumber);
        };
        Value better = op.getLast()
                           ? in.select(ahead(best[1], element), kb.constant(in.builder.getI1Type(), 0),
                                       kb.constant(in.builder.getI1Type(), 1))
                           : ahead(element, best[1]);
        return Elements::Values{in.select(better, k[0], best[0]),
                                in.select(better, element, best[1])};
      })[0];
}
