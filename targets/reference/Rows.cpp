// Rows of softmax, scatter, top_k and cumulative_sum.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/reference/Rows.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace convoy;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static Elements::Values withPosition(ValueRange index, int64_t axis, Value position) {
  Elements::Values result(index);
  result[axis] = position;
  return result;
}

void convoy::emitRowOf(cnn::SoftmaxOp op, Elements &in, ValueRange index, const ResultRow &row) {
  KernelBuilder &kb = in.kb;
  int64_t axis = op.getAxis();
  Elements::Values shared = softmaxRow(op, in, withPosition(index, axis, kb.i64(0)));
  kb.loop(kb.i64(0), kb.i64(typeOf(op.getDst()).getDimSize(axis)), 1, [&](Value i) {
    row.store(i, softmaxElement(op, in, shared, withPosition(index, axis, i)));
  });
}

void convoy::emitRowOf(cnn::CumulativeSumOp op, Elements &in, ValueRange index, const ResultRow &row) {
  KernelBuilder &kb = in.kb;
  int64_t axis = op.getAxis(), extent = typeOf(op.getSrc()).getDimSize(axis);
  Type elementType = typeOf(op.getSrc()).getElementType();
  kb.loop(kb.i64(0), kb.i64(extent), 1, kb.constant(in.sumType(elementType), 0),
          [&](Value i, ValueRange sum) {
            Value position = op.getReverse() ? kb.sub(kb.i64(extent - 1), i) : i;
            Value element = in.read(op.getSrc(), withPosition(index, axis, position));
            Value next = in.addUp(sum[0], in.toSum(element, elementType));
            row.store(position, in.fromSum(op.getExclusive() ? sum[0] : next, elementType));
            return Elements::Values{next};
          });
}

static Value combine(Elements &in, cnn::ScatterKind kind, Type elementType, Value old,
                     Value update) {
  bool isBool = elementType.isInteger(1);
  auto rounded = [&](Value sum) { return in.fromSum(sum, elementType); };
  auto wide = [&](Value element) { return in.toSum(element, elementType); };
  switch (kind) {
  case cnn::ScatterKind::Set:
    break;
  case cnn::ScatterKind::Add:
    if (isBool)
      return arith::OrIOp::create(in.builder, in.loc, old, update);
    return rounded(in.addUp(wide(old), wide(update)));
  case cnn::ScatterKind::Mul:
    if (isBool)
      return arith::AndIOp::create(in.builder, in.loc, old, update);
    return rounded(in.multiply(wide(old), wide(update)));
  case cnn::ScatterKind::Max:
    return in.maximum(elementType, old, update);
  case cnn::ScatterKind::Min:
    return in.minimum(elementType, old, update);
  }
  return update;
}

void convoy::emitRowOf(cnn::ScatterOp op, Elements &in, ValueRange index, const ResultRow &row) {
  KernelBuilder &kb = in.kb;
  int64_t axis = op.getAxis();
  RankedTensorType src = cnn::perImage(typeOf(op.getSrc()));
  RankedTensorType updates = cnn::perImage(typeOf(op.getUpdates()));
  int64_t extent = src.getDimSize(axis);
  kb.loop(kb.i64(0), kb.i64(extent), 1, [&](Value i) {
    row.store(i, in.read(op.getSrc(), withPosition(index, axis, i)));
  });

  // Rows beyond the updates stay as they are.
  Value inside;
  for (int64_t dim = 0; dim < src.getRank(); ++dim) {
    if (dim == axis || updates.getDimSize(dim) == src.getDimSize(dim))
      continue;
    Value here = in.isInside(index[dim], 0, updates.getDimSize(dim));
    inside = inside ? Value(arith::AndIOp::create(in.builder, in.loc, inside, here)) : here;
  }
  if (updates.getNumElements() == 0)
    return;
  auto update = [&] {
    kb.loop(kb.i64(0), kb.i64(updates.getDimSize(axis)), 1, [&](Value i) {
      Elements::Values position = withPosition(index, axis, i);
      Value to = readIndex(
          in, op.getIndices(),
          ValueRange(position).take_back(typeOf(op.getIndices()).getRank()), extent);
      kb.ifThenElse(in.isInside(to, 0, extent), {},
                    [&] {
                      Value element = in.read(op.getUpdates(), position);
                      if (op.getKind() != cnn::ScatterKind::Set)
                        element = combine(in, op.getKind(), src.getElementType(), row.load(to),
                                          element);
                      row.store(to, element);
                      return Elements::Values{};
                    },
                    nullptr);
    });
    return Elements::Values{};
  };
  if (inside)
    kb.ifThenElse(inside, {}, update, nullptr);
  else
    update();
}

// The result itself holds a heap of the best positions so far, the worst of them at its root; each
// further one that is better takes its place. Taking the root again and again then sorts them.
void convoy::emitRowOf(cnn::TopKOp op, Elements &in, ValueRange index, const ResultRow &row) {
  KernelBuilder &kb = in.kb;
  int64_t axis = op.getAxis(), extent = typeOf(op.getSrc()).getDimSize(axis);
  int64_t k = typeOf(op.getDst()).getDimSize(axis);
  Type elementType = typeOf(op.getSrc()).getElementType(), i1 = in.builder.getI1Type();
  auto elementAt = [&](Value position) {
    return in.read(op.getSrc(), withPosition(index, axis, position));
  };
  // Whether position a, with element x, comes before b with y in the result.
  auto isBefore = [&](Value a, Value x, Value b, Value y) -> Value {
    Value ahead = isAhead(in, elementType, x, y, op.getLeast());
    Value behind = isAhead(in, elementType, y, x, op.getLeast());
    Value first = in.compare(arith::CmpIPredicate::slt, a, b);
    return in.select(ahead, kb.constant(i1, 1), in.select(behind, kb.constant(i1, 0), first));
  };
  // Moves a position down from a hole to its place in the heap of `size`.
  auto siftDown = [&](Value position, Value hole, Value size) {
    Value element = elementAt(position);
    int64_t levels = llvm::Log2_64_Ceil(k + 1);
    Value place =
        kb.loop(kb.i64(0), kb.i64(levels), 1, {hole, kb.constant(i1, 1)},
                [&](Value, ValueRange state) -> Elements::Values {
                  Value left = kb.add(kb.mul(state[0], 2), 1), right = kb.add(left, 1);
                  Value goesOn = arith::AndIOp::create(
                      in.builder, in.loc, state[1],
                      in.compare(arith::CmpIPredicate::slt, left, size));
                  return kb.ifThenElse(
                      goesOn, {left.getType(), i1},
                      [&]() -> Elements::Values {
                        // A right child that is not there is the left one.
                        right = in.select(in.compare(arith::CmpIPredicate::slt, right, size),
                                          right, left);
                        Value atLeft = row.load(left), atRight = row.load(right);
                        Value ofLeft = elementAt(atLeft), ofRight = elementAt(atRight);
                        Value isLeft = isBefore(atRight, ofRight, atLeft, ofLeft);
                        Value child = in.select(isLeft, left, right);
                        Value atChild = in.select(isLeft, atLeft, atRight);
                        Value ofChild = in.select(isLeft, ofLeft, ofRight);
                        Value sinks = isBefore(position, element, atChild, ofChild);
                        kb.ifThenElse(sinks, {},
                                      [&] {
                                        row.store(state[0], atChild);
                                        return Elements::Values{};
                                      },
                                      nullptr);
                        return {in.select(sinks, child, state[0]), sinks};
                      },
                      [&]() -> Elements::Values {
                        return {state[0], kb.constant(i1, 0)};
                      });
                })[0];
    row.store(place, position);
  };

  kb.loop(kb.i64(0), kb.i64(k), 1, [&](Value i) { row.store(i, i); });
  kb.loop(kb.i64(0), kb.i64(k / 2), 1, [&](Value i) {
    Value hole = kb.sub(kb.i64(k / 2 - 1), i);
    siftDown(row.load(hole), hole, kb.i64(k));
  });
  kb.loop(kb.i64(k), kb.i64(extent), 1, [&](Value i) {
    Value worst = row.load(kb.i64(0));
    kb.ifThenElse(isBefore(i, elementAt(i), worst, elementAt(worst)), {},
                  [&] {
                    siftDown(i, kb.i64(0), kb.i64(k));
                    return Elements::Values{};
                  },
                  nullptr);
  });
  kb.loop(kb.i64(1), kb.i64(k), 1, [&](Value i) {
    Value last = kb.sub(kb.i64(k), i);
    Value position = row.load(last);
    row.store(last, row.load(kb.i64(0)));
    siftDown(position, kb.i64(0), last);
  });
}

std::optional<unsigned> convoy::rowAxis(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<unsigned>>(op)
      .Case<cnn::SoftmaxOp, cnn::ScatterOp, cnn::TopKOp, cnn::CumulativeSumOp>(
          [](auto known) { return static_cast<unsigned>(known.getAxis()); })
      .Case([](cnn::TruePositionsOp) { return 0u; })
      .Case([](cnn::SuppressOp) { return 2u; })
      .Default(std::optional<unsigned>());
}

void convoy::emitRow(Operation *op, Elements &in, ValueRange index, const ResultRow &row) {
  llvm::TypeSwitch<Operation *>(op)
      .Case<cnn::SoftmaxOp, cnn::ScatterOp, cnn::TopKOp, cnn::CumulativeSumOp,
            cnn::TruePositionsOp, cnn::SuppressOp>(
          [&](auto known) { emitRowOf(known, in, index, row); });
}
