// Elements of ops that sample at computed positions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/reference/Elements.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace convoy;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

namespace {

/// Arithmetic in f64 and between f64 and i64.
struct Reals {
  Elements &in;

  Value constant(double value) { return in.kb.constant(in.builder.getF64Type(), value); }
  Value add(Value a, Value b) { return arith::AddFOp::create(in.builder, in.loc, a, b); }
  Value sub(Value a, Value b) { return arith::SubFOp::create(in.builder, in.loc, a, b); }
  Value mul(Value a, Value b) { return arith::MulFOp::create(in.builder, in.loc, a, b); }
  Value div(Value a, Value b) { return arith::DivFOp::create(in.builder, in.loc, a, b); }
  Value abs(Value a) { return math::AbsFOp::create(in.builder, in.loc, a); }
  Value floor(Value a) { return math::FloorOp::create(in.builder, in.loc, a); }
  Value compare(arith::CmpFPredicate predicate, Value a, Value b) {
    return arith::CmpFOp::create(in.builder, in.loc, predicate, a, b);
  }
  Value both(Value a, Value b) { return arith::AndIOp::create(in.builder, in.loc, a, b); }
  Value either(Value a, Value b) { return arith::OrIOp::create(in.builder, in.loc, a, b); }
  /// Numbers only: a NaN becomes `low`.
  Value clamp(Value a, double low, double high) {
    Value atLeast = arith::MaxNumFOp::create(in.builder, in.loc, a, constant(low));
    return arith::MinNumFOp::create(in.builder, in.loc, atLeast, constant(high));
  }
  Value toInt(Value a) {
    return arith::FPToSIOp::create(in.builder, in.loc, in.builder.getI64Type(), a);
  }
  Value fromInt(Value a) {
    return arith::SIToFPOp::create(in.builder, in.loc, in.builder.getF64Type(), a);
  }
};

/// One spatial dimension of a sample.
struct SampleAxis {
  SampleAxis(cnn::SampleOp op, Reals &reals, int64_t extent) : op(op), reals(reals), extent(extent) {
    low = op.getAlignCorners() ? 0 : -0.5;
    high = op.getAlignCorners() ? extent - 1.0 : extent - 0.5;
  }

  /// Mirrors a number into [low, high].
  Value mirror(Value x) {
    double range = high - low;
    if (!(range > 0))
      return reals.constant(low);
    Value distance = reals.abs(reals.sub(x, reals.constant(low)));
    Value periods = reals.floor(reals.div(distance, reals.constant(2 * range)));
    Value rest = reals.sub(distance, reals.mul(periods, reals.constant(2 * range)));
    Value isNear = reals.compare(arith::CmpFPredicate::OLE, rest, reals.constant(range));
    Value turned = reals.sub(reals.constant(2 * range), rest);
    return reals.add(reals.constant(low), reals.in.select(isNear, rest, turned));
  }

  /// The position as the interpolation takes it: rounded if wanted, and moved inside.
  Value prepare(Value x) {
    Elements &in = reals.in;
    Value isNan = reals.compare(arith::CmpFPredicate::UNO, x, x);
    x = in.select(isNan, reals.constant(-1), x);
    if (op.getMode() == cnn::ResizeMode::Nearest)
      x = math::RoundEvenOp::create(in.builder, in.loc, x);
    if (op.getPadding() != cnn::SamplePadding::Zeros) {
      Value outside =
          reals.either(reals.compare(arith::CmpFPredicate::OLT, x, reals.constant(low)),
                       reals.compare(arith::CmpFPredicate::OGT, x, reals.constant(high)));
      Value moved = op.getPadding() == cnn::SamplePadding::Border
                        ? reals.clamp(x, 0, extent - 1.0)
                        : mirror(x);
      x = in.select(outside, moved, x);
    }
    return reals.clamp(x, -4, extent + 4.0); // only zeros are left out there
  }

  /// Where an index is read, always inside; `isThere` becomes whether there is an element.
  Value place(Value i, Value &isThere) {
    Elements &in = reals.in;
    if (op.getPadding() == cnn::SamplePadding::Zeros) {
      Value here = in.isInside(i, 0, extent);
      isThere = isThere ? reals.both(isThere, here) : here;
    } else if (op.getPadding() == cnn::SamplePadding::Reflection) {
      i = reals.toInt(mirror(reals.fromInt(i)));
    }
    return in.clamp(i, 0, extent);
  }

  /// What the element at `distance` from the position counts.
  Value weight(Value distance) {
    Value x = reals.abs(distance), one = reals.constant(1);
    if (op.getMode() == cnn::ResizeMode::Linear)
      return reals.sub(one, x);
    constexpr double a = -0.75;
    auto polynomial = [&](double c3, double c2, double c1, double c0) {
      Value result = reals.add(reals.mul(reals.constant(c3), x), reals.constant(c2));
      result = reals.add(reals.mul(result, x), reals.constant(c1));
      return reals.add(reals.mul(result, x), reals.constant(c0));
    };
    Value isNear = reals.compare(arith::CmpFPredicate::OLE, x, one);
    return reals.in.select(isNear, polynomial(a + 2, -(a + 3), 0, 1),
                           polynomial(a, -5 * a, 8 * a, -4 * a));
  }

  cnn::SampleOp op;
  Reals &reals;
  int64_t extent;
  double low, high;
};

} // namespace

Value convoy::elementOf(cnn::SampleOp op, Elements &in, ValueRange index) {
  KernelBuilder &kb = in.kb;
  Reals reals{in};
  RankedTensorType src = typeOf(op.getSrc());
  Type elementType = src.getElementType();
  int64_t rank = src.getRank() - 2;
  SmallVector<SampleAxis> axes;
  Elements::Values positions;
  for (int64_t d = 0; d < rank; ++d) {
    axes.emplace_back(op, reals, src.getDimSize(d + 2));
    Elements::Values at{index[0]};
    llvm::append_range(at, index.drop_front(2));
    at.push_back(kb.i64(rank - 1 - d)); // the last dimension's coordinate comes first
    Value position = in.toSum(in.read(op.getPositions(), at),
                              typeOf(op.getPositions()).getElementType());
    positions.push_back(axes.back().prepare(position));
  }
  Elements::Values at{index[0], index[1]};
  at.resize(rank + 2);
  if (op.getMode() == cnn::ResizeMode::Nearest) {
    Value isThere;
    for (int64_t d = 0; d < rank; ++d)
      at[d + 2] = axes[d].place(reals.toInt(positions[d]), isThere);
    Value element = in.read(op.getSrc(), at);
    if (!isThere)
      return element;
    return in.select(isThere, element, kb.constant(cnn::getScalarType(elementType), 0));
  }
  bool isCubic = op.getMode() == cnn::ResizeMode::Cubic;
  Elements::Values floors;
  for (Value position : positions)
    floors.push_back(reals.toInt(reals.floor(position)));
  SmallVector<Elements::Range> ranges(
      rank, {kb.i64(isCubic ? -1 : 0), kb.i64(isCubic ? 3 : 2)});
  Value sum = in.nest(ranges, reals.constant(0), [&](ValueRange k, ValueRange carried) {
    Value weight, isThere;
    for (int64_t d = 0; d < rank; ++d) {
      Value tap = kb.add(floors[d], k[d]);
      Value own = axes[d].weight(reals.sub(positions[d], reals.fromInt(tap)));
      weight = weight ? reals.mul(weight, own) : own;
      at[d + 2] = axes[d].place(tap, isThere);
    }
    Value term = reals.mul(in.toSum(in.read(op.getSrc(), at), elementType), weight);
    Value next = reals.add(carried[0], term);
    return Elements::Values{isThere ? in.select(isThere, next, carried[0]) : next};
  })[0];
  return in.fromSum(sum, elementType);
}

Value convoy::elementOf(cnn::RoiAlignOp op, Elements &in, ValueRange index) {
  KernelBuilder &kb = in.kb;
  Reals reals{in};
  RankedTensorType src = typeOf(op.getSrc());
  Type elementType = src.getElementType();
  bool isMax = op.getKind() == cnn::PoolKind::Max;
  Value scale = reals.constant(op.getSpatialScale().convertToDouble());
  Value offset = reals.constant(op.getHalfPixel() ? 0.5 : 0);
  Value image = in.read(op.getImages(), index[0]);
  if (!image.getType().isInteger(64))
    image = arith::ExtSIOp::create(in.builder, in.loc, in.builder.getI64Type(), image);
  image = in.clamp(image, 0, src.getDimSize(0));

  // Of rows, then of columns: where the bin begins, its size, and the number of samples.
  Value starts[2], sizes[2], counts[2];
  for (int d = 0; d < 2; ++d) {
    auto corner = [&](int64_t column) {
      Value value = in.read(op.getRois(), {index[0], kb.i64(column)});
      return reals.sub(reals.mul(in.toSum(value, elementType), scale), offset);
    };
    Value start = corner(1 - d), extent = reals.sub(corner(3 - d), start);
    if (!op.getHalfPixel())
      extent = arith::MaxNumFOp::create(in.builder, in.loc, extent, reals.constant(1));
    Value bins = reals.constant(static_cast<double>(op.getBins()[d]));
    sizes[d] = reals.div(extent, bins);
    starts[d] = reals.add(start, reals.mul(reals.fromInt(index[2 + d]), sizes[d]));
    int64_t given = std::min<int64_t>(op.getSamplingRatio(), cnn::RoiAlignOp::kMostSamples);
    Value wanted = math::CeilOp::create(in.builder, in.loc, sizes[d]);
    counts[d] = given > 0 ? kb.i64(given)
                          : reals.toInt(reals.clamp(wanted, 0, cnn::RoiAlignOp::kMostSamples));
  }
  Value total = kb.mul(counts[0], counts[1]);
  Value isEmpty = in.compare(arith::CmpIPredicate::eq, total, kb.i64(0));
  Value start = isMax ? in.select(isEmpty, reals.constant(0), reals.constant(-INFINITY))
                      : reals.constant(0);
  Value result = in.nest(
      {{kb.i64(0), counts[0]}, {kb.i64(0), counts[1]}}, start,
      [&](ValueRange k, ValueRange carried) {
        Value isInside, fractions[2], low[2], high[2];
        for (int d = 0; d < 2; ++d) {
          int64_t extent = src.getDimSize(2 + d);
          Value step = reals.div(reals.mul(reals.add(reals.fromInt(k[d]), reals.constant(0.5)),
                                           sizes[d]),
                                 reals.fromInt(counts[d]));
          Value x = reals.add(starts[d], step);
          Value here = reals.both(
              reals.compare(arith::CmpFPredicate::OGE, x, reals.constant(-1)),
              reals.compare(arith::CmpFPredicate::OLE, x, reals.constant(extent)));
          isInside = isInside ? reals.both(isInside, here) : here;
          x = reals.clamp(x, 0, extent - 1.0);
          low[d] = reals.toInt(x);
          high[d] = kb.min(kb.add(low[d], 1), kb.i64(extent - 1));
          fractions[d] = reals.sub(x, reals.fromInt(low[d]));
        }
        auto at = [&](Value row, Value column) {
          return in.toSum(in.read(op.getSrc(), {image, index[1], row, column}), elementType);
        };
        auto mix = [&](Value a, Value b, Value fraction) {
          Value rest = reals.sub(reals.constant(1), fraction);
          return reals.add(reals.mul(rest, a), reals.mul(fraction, b));
        };
        Value sample = mix(mix(at(low[0], low[1]), at(low[0], high[1]), fractions[1]),
                           mix(at(high[0], low[1]), at(high[0], high[1]), fractions[1]),
                           fractions[0]);
        sample = in.select(isInside, sample, reals.constant(0));
        Value next = isMax ? Value(arith::MaximumFOp::create(in.builder, in.loc, carried[0], sample))
                           : reals.add(carried[0], sample);
        return Elements::Values{next};
      })[0];
  if (!isMax)
    result = reals.div(result, reals.fromInt(kb.max(total, kb.i64(1))));
  return in.fromSum(result, elementType);
}
