// Elements of matrix products, reductions and normalizations.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/reference/Elements.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace convoy;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

Value convoy::elementOf(cnn::MatmulOp op, Elements &in, ValueRange index) {
  KernelBuilder &kb = in.kb;
  RankedTensorType lhs = typeOf(op.getLhs());
  int64_t inner = lhs.getDimSize(lhs.getRank() - (op.getTransposeLhs() ? 2 : 1));
  Value row = index[index.size() - 2], column = index.back();
  auto matrixIndex = [&](Value first, Value second, bool transposed) {
    Elements::Values result(index.drop_back(2));
    result.append({transposed ? second : first, transposed ? first : second});
    return result;
  };
  Type sumType = in.sumType(lhs.getElementType());
  Value sum = in.nest(
      {{kb.i64(0), kb.i64(inner)}}, kb.constant(sumType, 0), [&](ValueRange k, ValueRange carried) {
        Value left = in.read(op.getLhs(), matrixIndex(row, k[0], op.getTransposeLhs()));
        Value right = in.read(op.getRhs(), matrixIndex(k[0], column, op.getTransposeRhs()));
        return Elements::Values{in.multiplyAdd(left, right, carried[0], lhs.getElementType())};
      })[0];
  return in.finish(op, in.fromSum(sum, lhs.getElementType()), index);
}

Value convoy::elementOf(cnn::ReduceOp op, Elements &in, ValueRange index) {
  KernelBuilder &kb = in.kb;
  RankedTensorType src = typeOf(op.getSrc());
  Type elementType = src.getElementType(), sumType = in.sumType(elementType);
  ArrayRef<int64_t> axes = op.getAxes();

  // The index of src, with holes for the axes.
  Elements::Values base;
  size_t next = 0;
  for (int64_t dim = 0; dim < src.getRank(); ++dim) {
    bool reduced = llvm::is_contained(axes, dim);
    base.push_back(reduced ? Value() : index[next]);
    if (!reduced || op.getKeepDims())
      ++next;
  }
  SmallVector<Elements::Range> ranges;
  int64_t count = 1;
  for (int64_t axis : axes) {
    ranges.push_back({kb.i64(0), kb.i64(src.getDimSize(axis))});
    count *= src.getDimSize(axis);
  }

  cnn::ReduceKind kind = op.getKind();
  bool isExtreme = kind == cnn::ReduceKind::Max || kind == cnn::ReduceKind::Min;
  Value start = isExtreme ? in.extreme(elementType, /*greatest=*/kind == cnn::ReduceKind::Min)
                          : kb.constant(sumType, kind == cnn::ReduceKind::Prod ? 1 : 0);
  Value result = in.nest(ranges, start, [&](ValueRange k, ValueRange carried) {
    Elements::Values position = base;
    for (auto [i, axis] : llvm::enumerate(axes))
      position[axis] = k[i];
    Value element = in.read(op.getSrc(), position);
    switch (kind) {
    case cnn::ReduceKind::Max:
      return Elements::Values{in.maximum(elementType, carried[0], element)};
    case cnn::ReduceKind::Min:
      return Elements::Values{in.minimum(elementType, carried[0], element)};
    case cnn::ReduceKind::Prod:
      return Elements::Values{in.multiply(carried[0], in.toSum(element, elementType))};
    case cnn::ReduceKind::Sum:
    case cnn::ReduceKind::Mean:
      break;
    }
    return Elements::Values{in.addUp(carried[0], in.toSum(element, elementType))};
  })[0];
  if (isExtreme)
    return in.finish(op, result, index);

  // Of no integers the mean is 0.
  if (kind == cnn::ReduceKind::Mean && (count > 0 || isa<FloatType>(sumType)))
    result = in.divide(result, kb.constant(sumType, count), elementType);
  return in.finish(op, in.fromSum(result, elementType), index);
}

Elements::Values convoy::softmaxRow(cnn::SoftmaxOp op, Elements &in, ValueRange index) {
  KernelBuilder &kb = in.kb;
  RankedTensorType src = typeOf(op.getSrc());
  int64_t axis = op.getAxis();
  Elements::Range range{kb.i64(0), kb.i64(src.getDimSize(axis))};
  auto elementAt = [&](Value position) {
    Elements::Values own(index);
    own[axis] = position;
    return in.toSum(in.read(op.getSrc(), own), src.getElementType());
  };
  Type f64 = in.builder.getF64Type();
  Value largest =
      in.nest(range, in.extreme(f64, /*greatest=*/false), [&](ValueRange k, ValueRange carried) {
        return Elements::Values{in.maximum(f64, carried[0], elementAt(k[0]))};
      })[0];
  Value sum = in.nest(range, kb.constant(f64, 0), [&](ValueRange k, ValueRange carried) {
    Value shifted = arith::SubFOp::create(in.builder, in.loc, elementAt(k[0]), largest);
    Value term = math::ExpOp::create(in.builder, in.loc, shifted);
    return Elements::Values{in.addUp(carried[0], term)};
  })[0];
  if (op.getLog())
    sum = math::LogOp::create(in.builder, in.loc, sum);
  return {largest, sum};
}

Value convoy::softmaxElement(cnn::SoftmaxOp op, Elements &in, ValueRange row, ValueRange index) {
  Value element = in.toSum(in.read(op.getSrc(), index), typeOf(op.getSrc()).getElementType());
  Value shifted = arith::SubFOp::create(in.builder, in.loc, element, row[0]);
  Value result;
  if (op.getLog())
    result = arith::SubFOp::create(in.builder, in.loc, shifted, row[1]);
  else
    result = arith::DivFOp::create(in.builder, in.loc,
                                   math::ExpOp::create(in.builder, in.loc, shifted), row[1]);
  return in.fromSum(result, typeOf(op.getDst()).getElementType());
}

Value convoy::elementOf(cnn::SoftmaxOp op, Elements &in, ValueRange index) {
  return softmaxElement(op, in, softmaxRow(op, in, index), index);
}

Value convoy::elementOf(cnn::LrnOp op, Elements &in, ValueRange index) {
  KernelBuilder &kb = in.kb;
  RankedTensorType src = typeOf(op.getSrc());
  int64_t size = op.getSize(), channels = src.getDimSize(1);
  Type f64 = in.builder.getF64Type();
  auto constant = [&](const APFloat &value) { return kb.constant(f64, value.convertToDouble()); };
  Value begin = kb.max(kb.sub(index[1], kb.i64((size - 1) / 2)), kb.i64(0));
  Value end = kb.min(kb.add(index[1], size / 2 + 1), kb.i64(channels));
  Value squares =
      in.nest({{begin, end}}, kb.constant(f64, 0), [&](ValueRange k, ValueRange carried) {
        Elements::Values position(index);
        position[1] = k[0];
        Value element = in.read(op.getSrc(), position);
        return Elements::Values{in.multiplyAdd(element, element, carried[0], src.getElementType())};
      })[0];
  Value scale = kb.constant(f64, op.getAlpha().convertToDouble() / static_cast<double>(size));
  Value base = math::FmaOp::create(in.builder, in.loc, squares, scale, constant(op.getBias()));
  Value power = math::PowFOp::create(in.builder, in.loc, base, constant(op.getBeta()));
  Value element = in.toSum(in.read(op.getSrc(), index), typeOf(op.getSrc()).getElementType());
  return in.fromSum(arith::DivFOp::create(in.builder, in.loc, element, power),
                    src.getElementType());
}

Value convoy::elementOf(cnn::BatchNormOp op, Elements &in, ValueRange index) {
  Value channel = index.size() > 1 ? index[1] : in.kb.i64(0);
  auto read = [&](Value tensor, ValueRange index) {
    return in.toSum(in.read(tensor, index), typeOf(tensor).getElementType());
  };
  auto parameter = [&](Value tensor) { return read(tensor, channel); };
  OpBuilder &b = in.builder;
  Value epsilon = in.kb.constant(b.getF64Type(), op.getEpsilon().convertToDouble());
  Value deviation = math::SqrtOp::create(
      b, in.loc, arith::AddFOp::create(b, in.loc, parameter(op.getVariance()), epsilon));
  Value centered =
      arith::SubFOp::create(b, in.loc, read(op.getSrc(), index), parameter(op.getMean()));
  Value normalized = arith::DivFOp::create(b, in.loc, centered, deviation);
  Value result =
      math::FmaOp::create(b, in.loc, normalized, parameter(op.getScale()), parameter(op.getBias()));
  return in.fromSum(result, typeOf(op.getDst()).getElementType());
}
