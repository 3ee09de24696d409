// Suppression of boxes: only eligible ones are ordered, and a box is compared with a vector of kept
// ones at a time.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/x86/Num.h"
#include "targets/x86/SortKeys.h"
#include "targets/x86/Strategies.h"
#include "targets/x86/Window.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace convoy;

using Values = KernelBuilder::Values;

namespace {

struct Plan {
  int64_t images, classes, boxes, most;
};

std::optional<Plan> makePlan(Operation *op) {
  auto suppress = dyn_cast<cnn::SuppressOp>(op);
  if (!suppress || !isRowMajor(suppress.getDst().getType()))
    return std::nullopt;
  for (Value operand : suppress->getOperands())
    if (!isRowMajor(operand.getType()))
      return std::nullopt;
  auto order = cnn::perImage(suppress.getOrder().getType());
  Plan plan{order.getDimSize(0), order.getDimSize(1), order.getDimSize(2),
            suppress.getDst().getType().getDimSize(2)};
  if (plan.images * plan.classes * plan.most == 0 || plan.boxes > INT32_MAX)
    return std::nullopt;
  return plan;
}

class Emitter {
public:
  Emitter(KernelBuilder &kb, cnn::SuppressOp op, const Plan &plan)
      : kb(kb), op(op), plan(plan), lanes(kb.lanes()), f32(kb.builder.getF32Type()),
        i64(kb.builder.getI64Type()), sortKeys(kb, /*least=*/false) {}

  void run() {
    constexpr int64_t pieceElements = 1 << 14;
    int64_t rows = plan.images * plan.classes;
    int64_t perPiece = std::clamp<int64_t>(pieceElements / plan.boxes, 1, rows);
    // A key for each box, then y1, x1, y2, x2 and the area of those kept.
    keptStride = llvm::alignTo(plan.most, lanes);
    int64_t keyBytes = llvm::alignTo(plan.boxes * 8, 64);
    keys = kb.scratch(keyBytes + 5 * keptStride * 4);
    keptBoxes = kb.advance(kb.builder.getI8Type(), keys, kb.i64(keyBytes));
    kb.forTiles(llvm::divideCeil(rows, perPiece), [&](Value image, Value number) {
      auto at = [&](Value operand) { return kb.imageBase(kb.argOf(operand), image); };
      boxes = at(op.getBoxes());
      order = at(op.getOrder());
      eligible = at(op.getEligible());
      dst = at(op.getDst());
      threshold = kb.load(f32, at(op.getThreshold()), kb.i64(0));
      limit = kb.i64(plan.most);
      if (op.getLimit())
        limit = kb.min(limit, kb.load(i64, at(op.getLimit()), kb.i64(0)));
      Value begin = kb.mul(number, perPiece);
      Value end = kb.min(kb.add(begin, perPiece), kb.i64(rows));
      kb.loop(begin, end, 1, [&](Value item) { row(item); });
    });
  }

private:
  Num num(Value value) { return Num(kb.builder, kb.loc, value); }
  Num splat(const Num &scalar) { return num(kb.splat(scalar.value, lanes)); }
  Num min(const Num &a, const Num &b) { return select(a > b, b, a); }
  Num max(const Num &a, const Num &b) { return select(b > a, b, a); }

  void row(Value item) {
    Value image = kb.div(item, plan.classes), classNumber = kb.rem(item, plan.classes);
    firstBox = kb.mul(image, plan.boxes * 4);
    firstOrder = kb.mul(item, plan.boxes);
    Value to = kb.mul(item, plan.most);
    Value size = collect(image, classNumber);
    Heap heap(kb, keys, /*greatest=*/false);
    heap.build(size);
    Value kept = loopWhile(
        kb, {size, kb.i64(0)},
        [&](ValueRange state) {
          return (num(isBelow(kb, kb.i64(0), state[0])) & num(isBelow(kb, state[1], limit))).value;
        },
        [&](ValueRange state) -> Values {
          Value box = sortKeys.position(heap.pop(state[0]));
          Box own = load(box);
          Value hit = overlaps(own, state[1]);
          Value next = kb.ifThenElse(
              hit, i64, [&] { return Values{state[1]}; },
              [&] {
                keep(own, state[1]);
                kb.store(i64, box, dst, kb.add(to, state[1]));
                return Values{kb.add(state[1], 1)};
              })[0];
          return {kb.sub(state[0], kb.i64(1)), next};
        })[1];
    kb.loop(kept, kb.i64(plan.most), 1,
            [&](Value i) { kb.store(i64, kb.i64(-1), dst, kb.add(to, i)); });
  }

  // Adds the key of a box to `size` keys.
  Value append(Value box, Value size) {
    Value number = kb.load(f32, order, kb.add(firstOrder, box));
    kb.store(i64, sortKeys.key(sortKeys.rank(number), box), keys, size);
    return kb.add(size, 1);
  }

  // The keys of the boxes that are eligible; gives their number.
  Value collect(Value image, Value classNumber) {
    auto type = cnn::perImage(op.getEligible().getType());
    Value first = kb.offsetOf(type, {image, classNumber, kb.i64(0)});
    Type i1 = kb.builder.getI1Type();
    if (type.getRank() == 0 || type.getShape().back() != plan.boxes) {
      // One for all.
      Value count = kb.ifThenElse(
          kb.load(i1, eligible, first), i64, [&] { return Values{kb.i64(plan.boxes)}; },
          [&] { return Values{kb.i64(0)}; })[0];
      return kb.loop(kb.i64(0), count, 1, kb.i64(0), [&](Value box, ValueRange size) {
        return Values{append(box, size[0])};
      })[0];
    }
    // Bools of 64 boxes as the bits of an integer: mostly 0.
    constexpr int64_t group = 64;
    int64_t grouped = plan.boxes / group * group;
    Value size = kb.loop(
        kb.i64(0), kb.i64(grouped), group, kb.i64(0), [&](Value at, ValueRange size) {
          Value flags = kb.loadVector(i1, group, eligible, kb.add(first, at));
          Value mask = LLVM::BitcastOp::create(kb.builder, kb.loc, i64, flags);
          return Values{loopWhile(
              kb, {mask, size[0]},
              [&](ValueRange state) -> Value {
                return arith::CmpIOp::create(kb.builder, kb.loc, arith::CmpIPredicate::ne,
                                             state[0], kb.i64(0));
              },
              [&](ValueRange state) -> Values {
                Value bit = math::CountTrailingZerosOp::create(kb.builder, kb.loc, state[0]);
                // Without the lowest bit; the subtraction may wrap.
                Num bits = num(state[0]);
                Value rest = (bits & (bits - bits.integer(1))).value;
                return {rest, append(kb.add(at, bit), state[1])};
              })[1]};
        })[0];
    return kb.loop(kb.i64(grouped), kb.i64(plan.boxes), 1, size, [&](Value box, ValueRange size) {
      return Values{kb.ifThenElse(
          kb.load(i1, eligible, kb.add(first, box)), i64,
          [&] { return Values{append(box, size[0])}; }, [&] { return Values{size[0]}; })[0]};
    })[0];
  }

  /// Corners y1, x1, y2, x2 and the area; all operations are those of the reference.
  struct Box {
    SmallVector<Num, 5> parts;
    const Num &y1() const { return parts[0]; }
    const Num &x1() const { return parts[1]; }
    const Num &y2() const { return parts[2]; }
    const Num &x2() const { return parts[3]; }
    const Num &area() const { return parts[4]; }
  };

  Box load(Value box) {
    SmallVector<Num, 4> v;
    Value at = kb.add(firstBox, kb.mul(box, 4));
    for (int64_t i = 0; i < 4; ++i)
      v.push_back(num(kb.load(f32, boxes, kb.add(at, i))));
    Box result;
    if (op.getCenter()) {
      Num width = v[2] * 0.5, height = v[3] * 0.5;
      result.parts = {v[1] - height, v[0] - width, v[1] + height, v[0] + width};
    } else {
      result.parts = {min(v[0], v[2]), min(v[1], v[3]), max(v[0], v[2]), max(v[1], v[3])};
    }
    result.parts.push_back((result.y2() - result.y1()) * (result.x2() - result.x1()));
    return result;
  }

  // A vector that begins here gets areas of 0 first: what is not there overlaps nothing.
  void keep(const Box &box, Value place) {
    Value first = arith::CmpIOp::create(kb.builder, kb.loc, arith::CmpIPredicate::eq,
                                        kb.rem(place, lanes), kb.i64(0));
    kb.ifThenElse(
        first, {},
        [&] {
          kb.storeVector(f32, kb.constant(VectorType::get(lanes, f32), 0), keptBoxes,
                         kb.add(place, 4 * keptStride), /*aligned=*/true);
          return Values{};
        },
        nullptr);
    for (int64_t i = 0; i < 5; ++i)
      kb.store(f32, box.parts[i].value, keptBoxes, kb.add(place, i * keptStride));
  }

  // Whether a box overlaps one of `kept` ones.
  Value overlaps(const Box &own, Value kept) {
    Box b;
    for (const Num &part : own.parts)
      b.parts.push_back(splat(part));
    Num above = num(kb.splat(threshold, lanes));
    Type mask = kb.builder.getIntegerType(lanes);
    auto isAny = [&](const Num &flags) -> Value {
      Value bits = LLVM::BitcastOp::create(kb.builder, kb.loc, mask, flags.value);
      return arith::CmpIOp::create(kb.builder, kb.loc, arith::CmpIPredicate::ne, bits,
                                   kb.constant(mask, 0));
    };
    Type i1 = kb.builder.getI1Type();
    Value none = kb.constant(i1, 0);
    return loopWhile(
        kb, {kb.i64(0), none},
        [&](ValueRange state) -> Value {
          Value isLeft = isBelow(kb, state[0], kept);
          return arith::SelectOp::create(kb.builder, kb.loc, state[1], none, isLeft);
        },
        [&](ValueRange state) -> Values {
          Box a;
          for (int64_t i = 0; i < 5; ++i)
            a.parts.push_back(num(kb.loadVector(f32, lanes, keptBoxes,
                                                kb.add(state[0], i * keptStride),
                                                /*aligned=*/true)));
          Num height = min(a.y2(), b.y2()) - max(a.y1(), b.y1());
          Num width = min(a.x2(), b.x2()) - max(a.x1(), b.x1());
          Num touches = (height > 0.0) & (width > 0.0) & (a.area() > 0.0) & (b.area() > 0.0);
          // Most boxes lie apart from all others, which saves the division.
          Value hit = kb.ifThenElse(
              isAny(touches), i1,
              [&] {
                Num both = height * width, whole = a.area() + b.area() - both;
                return Values{isAny(touches & (whole > 0.0) & (both / whole > above))};
              },
              [&] { return Values{none}; })[0];
          return {kb.add(state[0], lanes), hit};
        })[1];
  }

  KernelBuilder &kb;
  cnn::SuppressOp op;
  const Plan &plan;
  int64_t lanes, keptStride = 0;
  Type f32, i64;
  SortKeys sortKeys;
  Value keys, keptBoxes, boxes, order, eligible, dst, threshold, limit, firstBox, firstOrder;
};

struct VectorSuppress : X86Strategy {
  StringRef name() const override { return "vector-suppress"; }

  std::optional<double> cost(Operation *op, cnn::TargetAttr) const override {
    auto plan = makePlan(op);
    if (!plan)
      return std::nullopt;
    // How many are eligible the data tell; a few are.
    return 0.5 * plan->images * plan->classes * (plan->boxes + plan->most);
  }

  LogicalResult emit(plan::KernelOp kernel, KernelBuilder &kb) const override {
    auto op = dyn_cast_or_null<cnn::SuppressOp>(onlyOp(kernel));
    auto plan = op ? makePlan(op) : std::nullopt;
    if (!plan)
      return kernel.emitError() << "is no op that strategy '" << name() << "' computes";
    Emitter(kb, op, *plan).run();
    return success();
  }
};

} // namespace

const X86Strategy &convoy::vectorSuppress() {
  static const VectorSuppress strategy;
  return strategy;
}
