// Reductions along axes that lie side by side in memory.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/x86/Strategies.h"
#include "targets/x86/VectorOperands.h"
#include "targets/x86/Vectors.h"
#include "targets/x86/Window.h"

using namespace mlir;
using namespace convoy;

using Values = KernelBuilder::Values;

namespace {

/// The source as [outer][reduced][inner].
struct Plan {
  int64_t outer = 1, reduced = 1, inner = 1;
  /// The position of a result in memory: indices of `outerShape`, ones, then the inner index, or,
  /// with `splitsInner`, indices of `innerShape`.
  SmallVector<int64_t> outerShape;
  int64_t ones = 0;
  /// The result's channels, if it is row-major although the source is blocked.
  std::optional<int64_t> unblocked;
};

std::optional<Plan> makePlan(Operation *op, cnn::TargetAttr target) {
  auto reduce = dyn_cast<cnn::ReduceOp>(op);
  if (!reduce || !isF32(reduce.getSrc().getType()) || !reduce.getAccumulatorType().isF32() ||
      !Epilogue::supports(op) || reduce.getAxes().empty())
    return std::nullopt;
  auto src = cnn::perImage(reduce.getSrc().getType());
  auto dst = cnn::perImage(reduce.getDst().getType());
  ArrayRef<int64_t> axes = reduce.getAxes();
  int64_t first = axes.front(), last = axes.back(), rank = src.getRank();
  if (last - first + 1 != static_cast<int64_t>(axes.size()) || src.getNumElements() == 0)
    return std::nullopt;

  Plan plan;
  for (int64_t axis : axes)
    plan.reduced *= src.getDimSize(axis);
  if (isBlocked(src, target.getLanes())) {
    // All spatial dimensions, so that a block's pixels are one run.
    if (first != 2 || last != rank - 1)
      return std::nullopt;
    SmallVector<int64_t> extents = physicalExtents(src);
    plan.outerShape = {extents[0], extents[1]};
    plan.outer = extents[0] * extents[1];
    plan.inner = target.getLanes();
    if (isBlocked(dst, target.getLanes()))
      plan.ones = rank - 2;
    else if (isRowMajor(dst) && !reduce.getKeepDims())
      plan.unblocked = src.getDimSize(1);
    else
      return std::nullopt;
    return plan;
  }

  if (!isRowMajor(src) || !isRowMajor(dst))
    return std::nullopt;
  for (int64_t dim = 0; dim < first; ++dim) {
    plan.outerShape.push_back(src.getDimSize(dim));
    plan.outer *= src.getDimSize(dim);
  }
  for (int64_t dim = last + 1; dim < rank; ++dim)
    plan.inner *= src.getDimSize(dim);
  plan.ones = reduce.getKeepDims() ? axes.size() : 0;
  int64_t innerDims = rank - 1 - last;
  if (innerDims > 1) {
    // Vectors cross rows: the extras must not care where.
    for (Value extra : reduce.getExtras())
      if (cast<RankedTensorType>(extra.getType()).getNumElements() != 1)
        return std::nullopt;
    plan.ones += innerDims - 1;
  }
  return plan;
}

class Emitter {
public:
  Emitter(KernelBuilder &kb, cnn::ReduceOp op, const Plan &plan)
      : kb(kb), op(op), plan(plan), lanes(kb.lanes()), f32(kb.builder.getF32Type()),
        vectorType(VectorType::get(lanes, f32)), epilogue(kb, op) {}

  void run() {
    constexpr double pieceElements = 1 << 15;
    // Pieces: results of `outer`, and, where the inner extent is long, runs of vectors.
    int64_t columns = plan.inner > 1 ? llvm::divideCeil(plan.inner, unroll * lanes) : 1;
    double elements = double(plan.reduced) * (plan.inner > 1 ? unroll * lanes : 1);
    int64_t items = plan.outer * columns;
    int64_t perPiece = std::clamp<int64_t>(pieceElements / elements, 1, items);
    kb.forTiles(llvm::divideCeil(items, perPiece), [&](Value image, Value number) {
      src = kb.imageBase(kb.argOf(op.getSrc()), image);
      epilogue.setImage(image);
      forPiece(kb, number, perPiece, items, [&](Value item) {
        outer = kb.div(item, columns);
        if (plan.inner == 1)
          alongRow();
        else if (plan.inner <= lanes)
          oneVector();
        else
          acrossRows(kb.rem(item, columns), columns);
      });
    });
  }

private:
  Value combine(Value a, Value b) { return combineFloats(kb, op.getKind(), a, b); }
  Value neutral() { return kb.constant(vectorType, neutralOf(op.getKind())); }

  void finish(Value sum, Value inner, Value mask) {
    if (op.getKind() == cnn::ReduceKind::Mean)
      sum = arith::DivFOp::create(kb.builder, kb.loc, sum, kb.constant(vectorType, plan.reduced));
    Values position = kb.delinearize(outer, plan.outerShape);
    if (plan.unblocked) {
      Value channel = kb.mul(position.pop_back_val(), lanes);
      position.push_back(channel);
      if (*plan.unblocked % lanes)
        mask = kb.firstLanes(kb.sub(kb.i64(*plan.unblocked), channel), lanes);
    } else {
      position.append(plan.ones, kb.i64(0));
      // With inner dimensions the last index counts along them; without, it is one of those here.
      if (position.size() < rank())
        position.push_back(inner);
    }
    epilogue.finish(sum, position, mask);
  }

  size_t rank() { return physicalExtents(op.getDst().getType()).size(); }

  using Step = function_ref<Values(Value at, int64_t count, ValueRange carried)>;

  // Combines `count` things, `step` at a time, into `width` vectors. Of a long sum, parts are added up
  // first: the error of one running sum grows with its length, and all of it goes one way where the
  // terms have one sign, as squares have.
  Values overParts(int64_t count, int64_t step, size_t width, Step body) {
    constexpr int64_t steps = 64;
    Values sums(width, neutral());
    int64_t part = step * steps, looped = count / step * step, whole = looped / part * part;
    bool isExact = op.getKind() == cnn::ReduceKind::Max || op.getKind() == cnn::ReduceKind::Min;
    if (isExact || whole <= part)
      whole = 0;
    auto run = [&](Value begin, Value end, ValueRange carried) {
      return kb.loop(begin, end, step, carried, [&](Value at, ValueRange inner) {
        return body(at, step, inner);
      });
    };
    if (whole)
      sums = kb.loop(kb.i64(0), kb.i64(whole), part, sums, [&](Value begin, ValueRange carried) {
        Values next = run(begin, kb.add(begin, part), Values(width, neutral()));
        for (auto [sum, other] : llvm::zip(next, carried))
          sum = combine(other, sum);
        return next;
      });
    if (whole < looped)
      sums = run(kb.i64(whole), kb.i64(looped), sums);
    return looped < count ? body(kb.i64(looped), count - looped, sums) : sums;
  }

  // A row is reduced to one element.
  void alongRow() {
    Value row = kb.mul(outer, plan.reduced);
    Values sums = overParts(
        plan.reduced, unroll * lanes, unroll,
        [&](Value at, int64_t elements, ValueRange carried) {
          Values next(carried);
          for (int64_t done = 0, i = 0; done < elements; done += lanes, ++i) {
            Value mask = tailMask(kb, elements - done);
            Value vector =
                kb.loadVector(f32, lanes, src, kb.add(kb.add(row, at), done), false, mask);
            if (mask)
              vector = arith::SelectOp::create(kb.builder, kb.loc, mask, vector, neutral());
            next[i] = combine(next[i], vector);
          }
          return next;
        });
    Value sum = combineLanes(kb, tree(sums), [&](Value a, Value b) { return combine(a, b); });
    finish(sum, kb.i64(0), kb.firstLanes(kb.i64(1), lanes));
  }

  // Few columns: several rows at a time keep the sums apart.
  void oneVector() {
    constexpr int64_t rows = 8;
    Value mask = tailMask(kb, plan.inner);
    Value start = kb.mul(outer, plan.reduced * plan.inner);
    auto add = [&](Value row, int64_t count, ValueRange carried) {
      Values next(carried);
      for (int64_t i = 0; i < count; ++i) {
        Value offset = kb.add(start, kb.mul(kb.add(row, i), plan.inner));
        next[i] = combine(next[i], kb.loadVector(f32, lanes, src, offset, false, mask));
      }
      return next;
    };
    Values sums = overParts(plan.reduced, rows, std::min(rows, plan.reduced), add);
    finish(tree(sums), kb.i64(0), mask);
  }

  // Vectors of columns, one row after the other.
  void acrossRows(Value number, int64_t columns) {
    int64_t width = unroll * lanes, rest = plan.inner - (columns - 1) * width;
    auto group = [&](int64_t elements) {
      Value column = kb.mul(number, width);
      Value start = kb.add(kb.mul(outer, plan.reduced * plan.inner), column);
      int64_t vectors = llvm::divideCeil(elements, lanes);
      Values sums =
          overParts(plan.reduced, 1, vectors, [&](Value row, int64_t, ValueRange carried) {
            Values next(carried);
            for (int64_t i = 0; i < vectors; ++i) {
              Value offset = kb.add(kb.add(start, kb.mul(row, plan.inner)), i * lanes);
              next[i] = combine(next[i], kb.loadVector(f32, lanes, src, offset, false,
                                                       tailMask(kb, elements - i * lanes)));
            }
            return next;
          });
      for (int64_t i = 0; i < vectors; ++i)
        finish(sums[i], kb.add(column, i * lanes), tailMask(kb, elements - i * lanes));
      return Values();
    };
    if (columns == 1 || rest == width) {
      group(columns == 1 ? plan.inner : width);
      return;
    }
    Value isLast = arith::CmpIOp::create(kb.builder, kb.loc, arith::CmpIPredicate::eq, number,
                                         kb.i64(columns - 1));
    kb.ifThenElse(
        isLast, {}, [&] { return group(rest); }, [&] { return group(width); });
  }

  Value tree(ValueRange vectors) {
    Values sums(vectors);
    while (sums.size() > 1) {
      Values next;
      for (size_t i = 0; i < sums.size(); i += 2)
        next.push_back(i + 1 < sums.size() ? combine(sums[i], sums[i + 1]) : sums[i]);
      sums = next;
    }
    return sums.front();
  }

  KernelBuilder &kb;
  cnn::ReduceOp op;
  const Plan &plan;
  int64_t lanes;
  Type f32;
  VectorType vectorType;
  Epilogue epilogue;
  Value src, outer;
  static constexpr int64_t unroll = 4;
};

struct VectorReduce : X86Strategy {
  StringRef name() const override { return "vector-reduce"; }

  std::optional<double> cost(Operation *op, cnn::TargetAttr target) const override {
    if (!makePlan(op, target))
      return std::nullopt;
    return 2 * moveNs(op);
  }

  LogicalResult emit(plan::KernelOp kernel, KernelBuilder &kb) const override {
    auto reduce = dyn_cast_or_null<cnn::ReduceOp>(onlyOp(kernel));
    auto plan = reduce ? makePlan(reduce, kb.target) : std::nullopt;
    if (!plan)
      return kernel.emitError() << "is no reduction that strategy '" << name() << "' computes";
    Emitter(kb, reduce, *plan).run();
    return success();
  }
};

} // namespace

const X86Strategy &convoy::vectorReduce() {
  static const VectorReduce strategy;
  return strategy;
}
