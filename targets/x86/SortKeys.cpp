// Ordering of floats with their positions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/x86/SortKeys.h"

#include "targets/x86/Num.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace convoy;

using Values = KernelBuilder::Values;

Value SortKeys::rank(Value number) {
  Num x(kb.builder, kb.loc, number);
  // Adding zero makes both zeros one, and what counts as zero where subnormals do.
  Num bits = (x + 0.0).bits();
  // Negative numbers grow with their bits' magnitude.
  Num up = bits.create<arith::XOrIOp>(bits.value, (bits.shiftRight(31) & bits.integer(0x7fffffff)).value);
  up = select(x.isNan(), up.integer(0x7fffffff), up);
  return least ? up.value : up.create<arith::XOrIOp>(up.value, up.integer(-1).value).value;
}

Value SortKeys::key(Value rank, Value position) {
  Num high(kb.builder, kb.loc, rank);
  Num wide = high.extend(kb.builder.getI64Type()) << 32;
  return (wide | Num(kb.builder, kb.loc, position)).value;
}

Value SortKeys::position(Value key) {
  Num wide(kb.builder, kb.loc, key);
  return (wide & wide.integer(0xffffffff)).value;
}

Value SortKeys::rankOf(Value key) {
  Num wide(kb.builder, kb.loc, key);
  return wide.shiftRight(32).truncate(kb.builder.getI32Type()).value;
}

Value convoy::isBelow(KernelBuilder &kb, Value a, Value b) {
  return arith::CmpIOp::create(kb.builder, kb.loc, arith::CmpIPredicate::slt, a, b);
}

Values convoy::loopWhile(KernelBuilder &kb, ValueRange carried,
                         function_ref<Value(ValueRange)> condition,
                         function_ref<Values(ValueRange)> body) {
  auto within = [&](OpBuilder &nested, function_ref<void()> emit) {
    OpBuilder::InsertionGuard guard(kb.builder);
    kb.builder.setInsertionPoint(nested.getInsertionBlock(), nested.getInsertionPoint());
    emit();
  };
  auto op = scf::WhileOp::create(
      kb.builder, kb.loc, TypeRange(carried), carried,
      [&](OpBuilder &nested, Location loc, ValueRange values) {
        within(nested, [&] {
          scf::ConditionOp::create(kb.builder, loc, condition(values), values);
        });
      },
      [&](OpBuilder &nested, Location loc, ValueRange values) {
        within(nested, [&] { scf::YieldOp::create(kb.builder, loc, body(values)); });
      });
  return Values(op.getResults());
}

void Heap::sift(Value key, Value hole, Value size) {
  auto pick = [&](Value condition, Value a, Value b) -> Value {
    return arith::SelectOp::create(kb.builder, kb.loc, condition, a, b);
  };
  auto leftOf = [&](Value at) { return kb.add(kb.mul(at, 2), 1); };
  // The second value is where the search for a place goes on: beyond the heap when it is found.
  Value place = loopWhile(
      kb, {hole, leftOf(hole)}, [&](ValueRange at) { return isBelow(kb, at[1], size); },
      [&](ValueRange at) -> Values {
        // A right child that is not there is the left one.
        Value left = at[1], right = kb.add(left, 1);
        right = pick(isBelow(kb, right, size), right, left);
        Value ofLeft = load(left), ofRight = load(right);
        Value isRight = isAbove(ofRight, ofLeft);
        Value child = pick(isRight, right, left), ofChild = pick(isRight, ofRight, ofLeft);
        Value sinks = isAbove(ofChild, key);
        // Where it does not sink, this is overwritten by the key below.
        store(ofChild, at[0]);
        Value next = pick(sinks, child, at[0]);
        return {next, pick(sinks, leftOf(child), size)};
      })[0];
  store(key, place);
}

void Heap::build(Value size) {
  Value inner = kb.div(size, 2);
  kb.loop(kb.i64(0), inner, 1, [&](Value i) {
    Value hole = kb.sub(kb.sub(inner, i), kb.i64(1));
    sift(load(hole), hole, size);
  });
}

Value Heap::pop(Value size) {
  Value top = root(), rest = kb.sub(size, kb.i64(1));
  replaceRoot(load(rest), rest);
  return top;
}
