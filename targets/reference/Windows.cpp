// Elements of ops that slide a window: convolutions and pools.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/reference/Elements.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace convoy;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

// The k of [0, kernel) for which low <= origin + k * dilation < high.
static Elements::Range windowRange(KernelBuilder &kb, Value origin, int64_t low, int64_t high,
                                   int64_t dilation, int64_t kernel) {
  auto firstAtOrAbove = [&](int64_t bound) {
    Value distance = kb.max(kb.sub(kb.i64(bound), origin), kb.i64(0));
    return kb.div(kb.add(distance, dilation - 1), dilation);
  };
  Value end = kb.min(firstAtOrAbove(high), kb.i64(kernel));
  return {kb.min(firstAtOrAbove(low), end), end};
}

Value convoy::elementOf(cnn::ConvOp op, Elements &in, ValueRange index) {
  KernelBuilder &kb = in.kb;
  RankedTensorType src = typeOf(op.getSrc()), wei = typeOf(op.getWei());
  int64_t channels = wei.getDimSize(1), spatial = src.getRank() - 2;
  Value group = kb.div(index[1], std::max<int64_t>(wei.getDimSize(0) / op.getGroups(), 1));
  Value firstChannel = kb.mul(group, channels);

  SmallVector<Elements::Range> ranges{{kb.i64(0), kb.i64(channels)}};
  Elements::Values origins;
  for (int64_t d = 0; d < spatial; ++d) {
    Value origin = kb.sub(kb.mul(index[d + 2], op.getStrides()[d]), kb.i64(op.getPads()[d]));
    origins.push_back(origin);
    ranges.push_back(windowRange(kb, origin, 0, src.getDimSize(d + 2), op.getDilations()[d],
                                 wei.getDimSize(d + 2)));
  }
  Type sumType = in.sumType(src.getElementType());
  Value sum = in.nest(ranges, kb.constant(sumType, 0), [&](ValueRange k, ValueRange carried) {
    Elements::Values srcIndex{index[0], kb.add(firstChannel, k[0])}, weiIndex{index[1], k[0]};
    for (int64_t d = 0; d < spatial; ++d) {
      srcIndex.push_back(kb.add(origins[d], kb.mul(k[d + 1], op.getDilations()[d])));
      weiIndex.push_back(k[d + 1]);
    }
    return Elements::Values{in.multiplyAdd(in.read(op.getSrc(), srcIndex),
                                           in.read(op.getWei(), weiIndex), carried[0],
                                           src.getElementType())};
  })[0];
  return in.finish(op, in.fromSum(sum, src.getElementType()), index);
}

Value convoy::elementOf(cnn::ConvTransposeOp op, Elements &in, ValueRange index) {
  KernelBuilder &kb = in.kb;
  RankedTensorType src = typeOf(op.getSrc()), wei = typeOf(op.getWei());
  int64_t spatial = src.getRank() - 2, groupOutputs = wei.getDimSize(1);
  int64_t channels = src.getDimSize(1) / op.getGroups();
  Value group = kb.div(index[1], std::max<int64_t>(groupOutputs, 1));
  Value firstChannel = kb.mul(group, channels);
  Value output = kb.rem(index[1], std::max<int64_t>(groupOutputs, 1));

  SmallVector<Elements::Range> ranges{{kb.i64(0), kb.i64(channels)}};
  for (int64_t d = 0; d < spatial; ++d)
    ranges.push_back({kb.i64(0), kb.i64(wei.getDimSize(d + 2))});
  Type sumType = in.sumType(src.getElementType());
  Value sum = in.nest(ranges, kb.constant(sumType, 0), [&](ValueRange k, ValueRange carried) {
    // Which source element reaches here through k, if one does.
    Elements::Values srcIndex{index[0], kb.add(firstChannel, k[0])};
    Elements::Values weiIndex{srcIndex[1], output};
    Value reaches;
    for (int64_t d = 0; d < spatial; ++d) {
      int64_t stride = op.getStrides()[d];
      Value position =
          kb.sub(kb.add(index[d + 2], op.getPads()[d]), kb.mul(k[d + 1], op.getDilations()[d]));
      // The division is of unsigned numbers: a negative position must not pass.
      Value aligned = in.compare(arith::CmpIPredicate::eq, kb.rem(position, stride), kb.i64(0));
      Value ok = arith::AndIOp::create(in.builder, in.loc, aligned,
                                       in.isInside(position, 0, src.getDimSize(d + 2) * stride));
      reaches = reaches ? Value(arith::AndIOp::create(in.builder, in.loc, reaches, ok)) : ok;
      srcIndex.push_back(kb.div(position, stride));
      weiIndex.push_back(k[d + 1]);
    }
    return kb.ifThenElse(
        reaches, sumType,
        [&] {
          return Elements::Values{in.multiplyAdd(in.read(op.getSrc(), srcIndex),
                                                 in.read(op.getWei(), weiIndex), carried[0],
                                                 src.getElementType())};
        },
        [&] { return Elements::Values{carried[0]}; });
  })[0];
  return in.finish(op, in.fromSum(sum, src.getElementType()), index);
}

// The window of a pool at an index of its result.
namespace {
struct PoolWindow {
  Elements::Values origins;
  SmallVector<Elements::Range> ranges;

  template <typename Op> PoolWindow(Op op, Elements &in, ValueRange index, bool withPadding) {
    RankedTensorType src = typeOf(op.getSrc());
    int64_t spatial = src.getRank() - 2;
    for (int64_t d = 0; d < spatial; ++d) {
      int64_t low = op.getPads()[d], high = op.getPads()[d + spatial];
      origins.push_back(in.kb.sub(in.kb.mul(index[d + 2], op.getStrides()[d]), in.kb.i64(low)));
      ranges.push_back(windowRange(in.kb, origins[d], withPadding ? -low : 0,
                                   src.getDimSize(d + 2) + (withPadding ? high : 0),
                                   op.getDilations()[d], op.getKernel()[d]));
    }
  }

  template <typename Op>
  Elements::Values srcIndex(Op op, Elements &in, ValueRange index, ValueRange k) const {
    Elements::Values result{index[0], index[1]};
    for (auto [d, origin] : llvm::enumerate(origins))
      result.push_back(in.kb.add(origin, in.kb.mul(k[d], op.getDilations()[d])));
    return result;
  }
};
} // namespace

static Value countOf(const PoolWindow &window, Elements &in) {
  Value count = in.kb.i64(1);
  for (auto [begin, end] : window.ranges)
    count = in.kb.mul(count, in.kb.sub(end, begin));
  return count;
}

Value convoy::elementOf(cnn::PoolOp op, Elements &in, ValueRange index) {
  Type elementType = typeOf(op.getSrc()).getElementType();
  PoolWindow window(op, in, index, /*withPadding=*/false);
  if (op.getKind() == cnn::PoolKind::Max) {
    Value largest = in.nest(window.ranges, in.extreme(elementType, /*greatest=*/false),
                            [&](ValueRange k, ValueRange carried) {
                              Value element =
                                  in.read(op.getSrc(), window.srcIndex(op, in, index, k));
                              return Elements::Values{in.maximum(elementType, carried[0], element)};
                            })[0];
    return in.finish(op, largest, index);
  }

  Type sumType = in.sumType(elementType);
  Value sum =
      in.nest(window.ranges, in.kb.constant(sumType, 0), [&](ValueRange k, ValueRange carried) {
        Value element = in.read(op.getSrc(), window.srcIndex(op, in, index, k));
        return Elements::Values{in.addUp(carried[0], in.toSum(element, elementType))};
      })[0];
  Value count = op.getCountIncludePad()
                    ? countOf(PoolWindow(op, in, index, /*withPadding=*/true), in)
                    : countOf(window, in);
  Value divisor;
  if (isa<FloatType>(sumType))
    divisor = arith::SIToFPOp::create(in.builder, in.loc, sumType, count);
  else // a window without elements has the sum 0: dividing by 1 keeps it
    divisor = in.kb.max(count, in.kb.i64(1));
  Value average = in.divide(sum, divisor, elementType);
  return in.finish(op, in.fromSum(average, elementType), index);
}

Value convoy::elementOf(cnn::PoolArgmaxOp op, Elements &in, ValueRange index) {
  KernelBuilder &kb = in.kb;
  RankedTensorType src = typeOf(op.getSrc());
  Type elementType = src.getElementType();
  PoolWindow window(op, in, index, /*withPadding=*/false);

  // The index in the flattened src.
  RankedTensorType image = cnn::perImage(src);
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, src.getRank()));
  if (op.getColumnMajor()) // within a plane
    std::reverse(order.begin() + 2, order.end());
  auto flatten = [&](ValueRange position) {
    Value linear = cnn::hasFreeBatch(src) ? in.image : position[0];
    for (int64_t dim : ArrayRef<int64_t>(order).drop_front())
      linear = kb.add(kb.mul(linear, image.getDimSize(dim)), position[dim]);
    return linear;
  };

  // -1 stands for none yet, so that a first element that is the least value counts.
  Elements::Values start{in.extreme(elementType, /*greatest=*/false), kb.i64(-1)};
  Elements::Values found = in.nest(window.ranges, start, [&](ValueRange k, ValueRange carried) {
    Elements::Values position = window.srcIndex(op, in, index, k);
    Value element = in.read(op.getSrc(), position);
    Value larger;
    if (isa<FloatType>(elementType)) {
      // NaN is larger than every number, and the first NaN wins.
      Value above =
          arith::CmpFOp::create(in.builder, in.loc, arith::CmpFPredicate::UGT, element, carried[0]);
      Value ordered = arith::CmpFOp::create(in.builder, in.loc, arith::CmpFPredicate::ORD,
                                            carried[0], carried[0]);
      larger = arith::AndIOp::create(in.builder, in.loc, above, ordered);
    } else {
      larger = in.compare(elementType.isUnsignedInteger() ? arith::CmpIPredicate::ugt
                                                          : arith::CmpIPredicate::sgt,
                          element, carried[0]);
    }
    Value none = in.compare(arith::CmpIPredicate::eq, carried[1], kb.i64(-1));
    Value take = arith::OrIOp::create(in.builder, in.loc, none, larger);
    return Elements::Values{in.select(take, element, carried[0]),
                            in.select(take, flatten(position), carried[1])};
  });
  return found[1];
}
