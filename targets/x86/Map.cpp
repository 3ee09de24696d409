// Elementwise functions, vectorized along the result's fastest dimension.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/x86/Strategies.h"
#include "targets/x86/StridedNest.h"
#include "targets/x86/VectorOperands.h"
#include "targets/x86/Window.h"

using namespace mlir;
using namespace convoy;

using Values = KernelBuilder::Values;

namespace {

/// The nest of a map: operand 0 is the result, then the inputs.
std::optional<StridedNest> makeNest(cnn::MapOp op) {
  RankedTensorType result = op.getDst().getType();
  StridedNest nest;
  nest.extents = physicalExtents(result);
  nest.strides.push_back(rowMajorStrides(nest.extents));
  for (Value input : op.getInputs()) {
    auto strides = stridesWithin(cast<RankedTensorType>(input.getType()), result);
    if (!strides)
      return std::nullopt;
    nest.strides.push_back(*strides);
  }
  nest.collapse();
  for (const SmallVector<int64_t> &strides : nest.strides)
    if (strides.back() != 0 && strides.back() != 1)
      return std::nullopt;
  if (nest.size() == 0)
    return std::nullopt;
  return nest;
}

int64_t regionWeight(Region &region) {
  int64_t weight = 1;
  for (Operation &op : region.front())
    weight += isa_and_nonnull<math::MathDialect>(op.getDialect()) ? 12 : 1;
  return weight;
}

class Emitter {
public:
  Emitter(KernelBuilder &kb, cnn::MapOp op, const StridedNest &nest)
      : kb(kb), op(op), nest(nest), lanes(kb.lanes()) {
    Values values{op.getDst()};
    llvm::append_range(values, op.getInputs());
    for (Value value : values)
      operands.push_back(
          {kb.argOf(value), cast<RankedTensorType>(value.getType()).getElementType(), {}, {}});
  }

  void run() {
    int64_t weight = regionWeight(op.getBody());
    unroll = weight > 8 ? 1 : 4;
    NestTiles tiles(nest, (1 << 15) / std::max<int64_t>(weight / 4, 1));
    kb.forTiles(tiles.count(), [&](Value image, Value number) {
      for (Operand &operand : operands)
        operand.base = kb.imageBase(operand.arg, image);
      tiles.emit(
          kb, number,
          [&](ValueRange outer, Value begin, int64_t count) { row(outer, begin, count); },
          [&](ValueRange outer) { hoist(outer); });
    });
  }

private:
  struct Operand {
    unsigned arg;
    Type elementType;
    Value base;
    Value hoisted; ///< what rows that share their outer indices have in common
  };

  // Loads what does not vary from row to row, if a row is at most one vector of it.
  void hoist(ValueRange outer) {
    Values index(outer);
    index.append({kb.i64(0), kb.i64(0)});
    index.truncate(nest.rank());
    for (size_t i = 1; i < operands.size(); ++i) {
      ArrayRef<int64_t> strides = nest.strides[i];
      operands[i].hoisted = {};
      bool varies = nest.rank() > 1 && strides[nest.rank() - 2] != 0;
      if (!varies && (strides.back() == 0 || nest.extents.back() <= lanes))
        operands[i].hoisted = loadAt(i, linearOffset(kb, index, strides), nest.extents.back());
    }
  }

  Value maskFor(int64_t count) {
    return count < lanes ? kb.firstLanes(kb.i64(count), lanes) : Value();
  }

  Value loadAt(size_t i, Value offset, int64_t count) {
    Operand &operand = operands[i];
    if (nest.strides[i].back() == 0)
      return kb.load(operand.elementType, operand.base, offset);
    return kb.loadVector(operand.elementType, lanes, operand.base, offset, false, maskFor(count));
  }

  void row(ValueRange outer, Value begin, int64_t count) {
    Values starts;
    for (size_t i = 0; i < operands.size(); ++i) {
      Value start = linearOffset(kb, outer, ArrayRef(nest.strides[i]).drop_back());
      starts.push_back(nest.strides[i].back() ? kb.add(start, begin) : start);
    }
    int64_t step = unroll * lanes, looped = count / step * step;
    if (looped == step)
      vectors(starts, kb.i64(0), step);
    else if (looped)
      kb.loop(kb.i64(0), kb.i64(looped), step, [&](Value at) { vectors(starts, at, step); });
    if (looped < count)
      vectors(starts, kb.i64(looped), count - looped);
  }

  // `count` elements from `at` on; the last vector may be short.
  void vectors(ValueRange starts, Value at, int64_t count) {
    // All loads come first: the result may lie in an input's memory, so that the compiler could not
    // move a load above a store.
    SmallVector<Values> arguments;
    for (int64_t done = 0; done < count; done += lanes) {
      Values &vector = arguments.emplace_back();
      for (size_t i = 1; i < operands.size(); ++i) {
        Value offset = nest.strides[i].back() ? kb.add(starts[i], kb.add(at, done)) : starts[i];
        vector.push_back(operands[i].hoisted ? operands[i].hoisted
                                             : loadAt(i, offset, count - done));
      }
    }
    for (auto [number, vector] : llvm::enumerate(arguments)) {
      Value result = kb.apply(op.getBody(), vector);
      if (!isa<VectorType>(result.getType()))
        result = kb.splat(result, lanes);
      int64_t done = number * lanes;
      kb.storeVector(operands[0].elementType, result, operands[0].base,
                     kb.add(starts[0], kb.add(at, done)), false, maskFor(count - done));
    }
  }

  KernelBuilder &kb;
  cnn::MapOp op;
  const StridedNest &nest;
  int64_t lanes, unroll = 1;
  SmallVector<Operand> operands;
};

struct VectorMap : X86Strategy {
  StringRef name() const override { return "vector-map"; }

  std::optional<double> cost(Operation *op, cnn::TargetAttr target) const override {
    auto map = dyn_cast<cnn::MapOp>(op);
    auto nest = map ? makeNest(map) : std::nullopt;
    if (!nest)
      return std::nullopt;
    // A short row takes a vector however few elements it has.
    int64_t inner = nest->extents.back();
    double vectors = double(nest->size()) / inner * llvm::divideCeil(inner, target.getLanes());
    double cycles = vectors * (1.0 + 0.5 * regionWeight(map.getBody()));
    return std::max(cycles / kCyclesPerNs, moveNs(op));
  }

  LogicalResult emit(plan::KernelOp kernel, KernelBuilder &kb) const override {
    auto map = dyn_cast_or_null<cnn::MapOp>(onlyOp(kernel));
    auto nest = map ? makeNest(map) : std::nullopt;
    if (!nest)
      return kernel.emitError() << "is no map that strategy '" << name() << "' computes";
    Emitter(kb, map, *nest).run();
    return success();
  }
};

} // namespace

const X86Strategy &convoy::vectorMap() {
  static const VectorMap strategy;
  return strategy;
}
