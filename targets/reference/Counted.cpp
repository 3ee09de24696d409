// Ops with dimensions whose extent only the data tell: true_positions, suppress, pack.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/reference/Rows.h"

using namespace mlir;
using namespace convoy;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

// The one element of a tensor.
static Value scalarOf(Elements &in, Value tensor) {
  return in.read(tensor, Elements::Values(typeOf(tensor).getRank(), in.kb.i64(0)));
}

void convoy::emitRowOf(cnn::TruePositionsOp op, Elements &in, ValueRange, const ResultRow &row) {
  KernelBuilder &kb = in.kb;
  int64_t extent = typeOf(op.getSrc()).getDimSize(0);
  Value count = kb.loop(kb.i64(0), kb.i64(extent), 1, kb.i64(0), [&](Value i, ValueRange found) {
    // The place is written in any case, and again by the next one if this one is not true.
    row.store(found[0], i);
    Value isTrue = in.read(op.getSrc(), i);
    return Elements::Values{in.select(isTrue, kb.add(found[0], 1), found[0])};
  })[0];
  kb.loop(count, kb.i64(extent), 1, [&](Value i) { row.store(i, kb.i64(0)); });
}

namespace {

/// Scalar arithmetic in f32 on boxes.
class BoxBuilder {
public:
  BoxBuilder(cnn::SuppressOp op, Elements &in, Value image) : op(op), in(in), image(image) {}

  /// y1, x1, y2, x2.
  Elements::Values corners(Value box) {
    Elements::Values values;
    for (int64_t i = 0; i < 4; ++i)
      values.push_back(in.read(op.getBoxes(), {image, box, in.kb.i64(i)}));
    if (!op.getCenter())
      return {min(values[0], values[2]), min(values[1], values[3]), max(values[0], values[2]),
              max(values[1], values[3])};
    Value half = in.kb.constant(in.builder.getF32Type(), 0.5);
    Value width = mul(values[2], half), height = mul(values[3], half);
    return {sub(values[1], height), sub(values[0], width), add(values[1], height),
            add(values[0], width)};
  }

  Value overlap(ValueRange a, ValueRange b, Value threshold) {
    Value height = sub(min(a[2], b[2]), max(a[0], b[0]));
    Value width = sub(min(a[3], b[3]), max(a[1], b[1]));
    Value both = mul(height, width), ofA = area(a), ofB = area(b);
    Value whole = sub(add(ofA, ofB), both);
    Value ratio = arith::DivFOp::create(in.builder, in.loc, both, whole);
    Value zero = in.kb.constant(in.builder.getF32Type(), 0);
    Value result = isAbove(ratio, threshold);
    for (Value part : {height, width, ofA, ofB, whole})
      result = arith::AndIOp::create(in.builder, in.loc, result, isAbove(part, zero));
    return result;
  }

private:
  Value add(Value a, Value b) { return arith::AddFOp::create(in.builder, in.loc, a, b); }
  Value sub(Value a, Value b) { return arith::SubFOp::create(in.builder, in.loc, a, b); }
  Value mul(Value a, Value b) { return arith::MulFOp::create(in.builder, in.loc, a, b); }
  Value isAbove(Value a, Value b) {
    return arith::CmpFOp::create(in.builder, in.loc, arith::CmpFPredicate::OGT, a, b);
  }
  Value min(Value a, Value b) { return in.select(isAbove(a, b), b, a); }
  Value max(Value a, Value b) { return in.select(isAbove(b, a), b, a); }
  Value area(ValueRange box) { return mul(sub(box[2], box[0]), sub(box[3], box[1])); }

  cnn::SuppressOp op;
  Elements &in;
  Value image;
};

} // namespace

void convoy::emitRowOf(cnn::SuppressOp op, Elements &in, ValueRange index, const ResultRow &row) {
  KernelBuilder &kb = in.kb;
  int64_t boxes = typeOf(op.getOrder()).getDimSize(2), most = typeOf(op.getDst()).getDimSize(2);
  Value image = index[0], classNumber = index[1], limit = kb.i64(most);
  if (op.getLimit())
    limit = kb.min(limit, scalarOf(in, op.getLimit()));
  Value threshold = scalarOf(in, op.getThreshold());
  Type i1 = in.builder.getI1Type(), f32 = in.builder.getF32Type();
  BoxBuilder b(op, in, image);
  auto both = [&](Value x, Value y) -> Value {
    return arith::AndIOp::create(in.builder, in.loc, x, y);
  };
  auto either = [&](Value x, Value y) -> Value {
    return arith::OrIOp::create(in.builder, in.loc, x, y);
  };
  auto scoreOf = [&](Value box) { return in.read(op.getOrder(), {image, classNumber, box}); };
  // Whether box a, with score x, comes before box b with score y.
  auto isBefore = [&](Value a, Value x, Value b, Value y) {
    Value ahead = isAhead(in, f32, x, y, false), behind = isAhead(in, f32, y, x, false);
    Value first = in.compare(arith::CmpIPredicate::slt, a, b);
    return either(ahead, both(in.compare(arith::CmpIPredicate::eq, ahead, behind), first));
  };
  // The best eligible box that comes after `last`, which is -1 in front of all; -1 if there is none.
  auto nextAfter = [&](Value last) {
    Value none = kb.i64(-1);
    Value isFirst = in.compare(arith::CmpIPredicate::slt, last, kb.i64(0));
    Value ofLast = scoreOf(kb.max(last, kb.i64(0)));
    return kb.loop(kb.i64(0), kb.i64(boxes), 1, {none, kb.constant(f32, 0)},
                   [&](Value box, ValueRange best) {
                     Value score = scoreOf(box);
                     int64_t rank = typeOf(op.getEligible()).getRank();
                     Elements::Values place{image, classNumber, box};
                     Value may = in.read(op.getEligible(), ValueRange(place).take_back(rank));
                     may = both(may, either(isFirst, isBefore(last, ofLast, box, score)));
                     Value isOnly = in.compare(arith::CmpIPredicate::slt, best[0], kb.i64(0));
                     may = both(may, either(isOnly, isBefore(box, score, best[0], best[1])));
                     return Elements::Values{in.select(may, box, best[0]),
                                             in.select(may, score, best[1])};
                   })[0];
  };

  // How many are kept, and the last box that was looked at; past the last one, none is left.
  Value count = kb.loop(
      kb.i64(0), kb.i64(boxes), 1, {kb.i64(0), kb.i64(-1), kb.constant(i1, 1)},
      [&](Value, ValueRange state) -> Elements::Values {
        Value kept = state[0];
        Value goesOn = both(state[2], in.compare(arith::CmpIPredicate::slt, kept, limit));
        Value box = kb.ifThenElse(
            goesOn, kept.getType(), [&] { return Elements::Values{nextAfter(state[1])}; },
            [&] { return Elements::Values{kb.i64(-1)}; })[0];
        Value isThere = in.compare(arith::CmpIPredicate::sge, box, kb.i64(0));
        Value next = kb.ifThenElse(
            isThere, kept.getType(),
            [&] {
              Elements::Values own = b.corners(box);
              Value isNew = kb.loop(
                  kb.i64(0), kept, 1, kb.constant(i1, 1), [&](Value i, ValueRange carried) {
                    Value overlaps = b.overlap(b.corners(row.load(i)), own, threshold);
                    return Elements::Values{
                        in.select(overlaps, kb.constant(i1, 0), carried[0])};
                  })[0];
              // Below the limit there is a place for it, whether it is kept or not.
              row.store(kept, box);
              return Elements::Values{in.select(isNew, kb.add(kept, 1), kept)};
            },
            [&] { return Elements::Values{kept}; })[0];
        return {next, box, isThere};
      })[0];
  kb.loop(count, kb.i64(most), 1, [&](Value i) { row.store(i, kb.i64(-1)); });
}

Value convoy::elementOf(cnn::PackOp op, Elements &in, ValueRange index) {
  KernelBuilder &kb = in.kb;
  RankedTensorType src = typeOf(op.getSrc());
  int64_t axis = op.getAxis(), outer = 1, inner = 1;
  for (int64_t extent : src.getShape().take_front(axis))
    outer *= extent;
  for (int64_t extent : src.getShape().drop_front(axis + 1))
    inner *= extent;
  Value linear = kb.i64(0);
  for (auto [extent, position] : llvm::zip_equal(src.getShape(), index))
    linear = kb.add(kb.mul(linear, extent), position);
  Value count = kb.min(kb.max(scalarOf(in, op.getCount()), kb.i64(0)),
                       kb.i64(src.getDimSize(axis)));
  Value run = kb.mul(count, inner);
  Value isInside = in.compare(arith::CmpIPredicate::slt, linear, kb.mul(run, outer));
  Type type = cnn::getScalarType(src.getElementType());
  return kb.ifThenElse(
      isInside, type,
      [&] {
        // There is an element, so the run is not empty.
        Value row = arith::DivUIOp::create(in.builder, in.loc, linear, run);
        Value rest = kb.sub(linear, kb.mul(row, run));
        Elements::Values position = kb.delinearize(row, src.getShape().take_front(axis));
        position.push_back(kb.div(rest, std::max<int64_t>(inner, 1)));
        position.append(kb.delinearize(kb.rem(rest, std::max<int64_t>(inner, 1)),
                                       src.getShape().drop_front(axis + 1)));
        return Elements::Values{in.read(op.getSrc(), position)};
      },
      [&] { return Elements::Values{kb.constant(type, 0)}; })[0];
}
