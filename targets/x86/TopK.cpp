// The largest or smallest floats along the last axis: a heap of keys, fed by a scan that skips
// vectors of which no element can get in.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/x86/Num.h"
#include "targets/x86/SortKeys.h"
#include "targets/x86/Strategies.h"
#include "targets/x86/Vectors.h"
#include "targets/x86/Window.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace convoy;

using Values = KernelBuilder::Values;

namespace {

struct Plan {
  int64_t rows, extent, count;
  /// Whether so few are wanted that most elements are but compared with the worst of them.
  bool isScan() const { return count <= extent / 4; }
};

std::optional<Plan> makePlan(Operation *op) {
  auto top = dyn_cast<cnn::TopKOp>(op);
  if (!top || !isF32(top.getSrc().getType()) || !isRowMajor(top.getSrc().getType()) ||
      !isRowMajor(top.getDst().getType()))
    return std::nullopt;
  auto src = cnn::perImage(top.getSrc().getType()), dst = cnn::perImage(top.getDst().getType());
  int64_t axis = top.getAxis(), extent = src.getDimSize(axis);
  if (dst.getNumElements() == 0 || extent > INT32_MAX)
    return std::nullopt;
  for (int64_t inner : src.getShape().drop_front(axis + 1))
    if (inner != 1)
      return std::nullopt;
  return Plan{src.getNumElements() / extent, extent, dst.getDimSize(axis)};
}

class Emitter {
public:
  Emitter(KernelBuilder &kb, cnn::TopKOp op, const Plan &plan)
      : kb(kb), op(op), plan(plan), f32(kb.builder.getF32Type()), i64(kb.builder.getI64Type()),
        sortKeys(kb, op.getLeast()) {}

  void run() {
    constexpr int64_t pieceElements = 1 << 14;
    int64_t perPiece = std::clamp<int64_t>(pieceElements / plan.extent, 1, plan.rows);
    keys = kb.scratch((plan.isScan() ? plan.count : plan.extent) * 8);
    kb.forTiles(llvm::divideCeil(plan.rows, perPiece), [&](Value image, Value number) {
      src = kb.imageBase(kb.argOf(op.getSrc()), image);
      dst = kb.imageBase(kb.argOf(op.getDst()), image);
      forPiece(kb, number, perPiece, plan.rows, [&](Value row) {
        first = kb.mul(row, plan.extent);
        to = kb.mul(row, plan.count);
        if (plan.isScan())
          scan();
        else
          takeInOrder();
      });
    });
  }

private:
  Value keyAt(Value i) {
    return sortKeys.key(sortKeys.rank(kb.load(f32, src, kb.add(first, i))), i);
  }
  // Keys of the first `count` elements.
  void fill(int64_t count) {
    kb.loop(kb.i64(0), kb.i64(count), 1, [&](Value i) { kb.store(i64, keyAt(i), keys, i); });
  }
  void put(Value key, Value place) {
    kb.store(i64, sortKeys.position(key), dst, kb.add(to, place));
  }

  // All keys are a heap, the best at its root.
  void takeInOrder() {
    Heap heap(kb, keys, /*greatest=*/false);
    fill(plan.extent);
    heap.build(kb.i64(plan.extent));
    kb.loop(kb.i64(0), kb.i64(plan.count), 1,
            [&](Value i) { put(heap.pop(kb.sub(kb.i64(plan.extent), i)), i); });
  }

  // The best so far are a heap, the worst at its root.
  void scan() {
    Heap heap(kb, keys, /*greatest=*/true);
    Value count = kb.i64(plan.count);
    fill(plan.count);
    heap.build(count);
    auto offer = [&](Value i) {
      Value key = keyAt(i);
      kb.ifThenElse(
          isBelow(kb, key, heap.root()), {},
          [&] {
            heap.replaceRoot(key, count);
            return Values{};
          },
          nullptr);
    };
    int64_t lanes = kb.lanes(), vectors = (plan.extent - plan.count) / lanes;
    int64_t tail = plan.count + vectors * lanes;
    Type bits = kb.builder.getIntegerType(lanes);
    kb.loop(count, kb.i64(tail), lanes, [&](Value at) {
      Value rank = sortKeys.rank(kb.loadVector(f32, lanes, src, kb.add(first, at)));
      // Of equals those that are in the heap came first.
      Value better = isBelow(kb, rank, kb.splat(sortKeys.rankOf(heap.root()), lanes));
      Value mask = LLVM::BitcastOp::create(kb.builder, kb.loc, bits, better);
      Value any = arith::CmpIOp::create(kb.builder, kb.loc, arith::CmpIPredicate::ne, mask,
                                        kb.constant(bits, 0));
      kb.ifThenElse(
          any, {},
          [&] {
            kb.loop(at, kb.add(at, lanes), 1, offer);
            return Values{};
          },
          nullptr);
    });
    kb.loop(kb.i64(tail), kb.i64(plan.extent), 1, offer);
    kb.loop(kb.i64(0), count, 1, [&](Value i) {
      Value size = kb.sub(count, i);
      put(heap.pop(size), kb.sub(size, kb.i64(1)));
    });
  }

  KernelBuilder &kb;
  cnn::TopKOp op;
  const Plan &plan;
  Type f32, i64;
  SortKeys sortKeys;
  Value keys, src, dst, first, to;
};

struct HeapTopK : X86Strategy {
  StringRef name() const override { return "heap-top-k"; }

  std::optional<double> cost(Operation *op, cnn::TargetAttr target) const override {
    auto plan = makePlan(op);
    if (!plan)
      return std::nullopt;
    double levels = llvm::Log2_64_Ceil(plan->count + 1);
    double perElement = plan->isScan() ? 4.0 / target.getLanes() : 2;
    return plan->rows * (plan->extent * perElement + plan->count * levels * 2);
  }

  LogicalResult emit(plan::KernelOp kernel, KernelBuilder &kb) const override {
    auto op = dyn_cast_or_null<cnn::TopKOp>(onlyOp(kernel));
    auto plan = op ? makePlan(op) : std::nullopt;
    if (!plan)
      return kernel.emitError() << "is no op that strategy '" << name() << "' computes";
    Emitter(kb, op, *plan).run();
    return success();
  }
};

} // namespace

const X86Strategy &convoy::heapTopK() {
  static const HeapTopK strategy;
  return strategy;
}
