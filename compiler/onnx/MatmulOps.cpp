// MatMul, Gemm and FC.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/Compose.h"
#include "compiler/onnx/Ops.h"
#include "compiler/onnx/ScalarBuilder.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;

LogicalResult convoy::onnx::importMatMul(NodeImport &node) {
  Tensor lhs = node.input(0), rhs = node.input(1);
  if (lhs.elementType().isInteger(1))
    return node.unsupported() << "elements of " << lhs.elementType();
  if (lhs.rank() == 0 || rhs.rank() == 0)
    return node.error() << "has a scalar input";
  // A vector on the left is a row, on the right a column; the result loses the added dimension.
  bool isRow = lhs.rank() == 1, isColumn = rhs.rank() == 1;
  if (isRow) {
    FailureOr<Tensor> row = node.reshape(lhs, {1, lhs.shape()[0]});
    if (failed(row))
      return failure();
    lhs = *row;
  }
  if (isColumn) {
    FailureOr<Tensor> column = node.reshape(rhs, {rhs.shape()[0], 1});
    if (failed(column))
      return failure();
    rhs = *column;
  }
  FailureOr<RankedTensorType> type =
      cnn::MatmulOp::inferType(node.getLoc(), lhs.type(), rhs.type(), false, false);
  if (failed(type))
    return failure();
  FailureOr<Value> lhsValue = node.toValue(lhs), rhsValue = node.toValue(rhs);
  if (failed(lhsValue) || failed(rhsValue))
    return failure();
  FailureOr<Tensor> result = node.createWithIdentity<cnn::MatmulOp>(
      *type, *lhsValue, *rhsValue, ValueRange(), false, false, StringAttr());
  if (failed(result))
    return failure();
  SmallVector<int64_t> shape(type->getShape());
  if (isColumn)
    shape.pop_back();
  if (isRow)
    shape.erase(shape.end() - (isColumn ? 1 : 2));
  result = node.reshape(*result, shape);
  if (failed(result))
    return failure();
  node.setResult(0, *result);
  return success();
}

LogicalResult convoy::onnx::importGemm(NodeImport &node) {
  const Tensor &lhs = node.input(0), &rhs = node.input(1);
  if (lhs.rank() != 2 || rhs.rank() != 2)
    return node.error() << "needs matrices, got " << lhs.type() << " and " << rhs.type();
  node.ignoreAttr("broadcast"); // opset 6: C may broadcast, which it always may
  double alpha = node.floatAttr("alpha", 1), beta = node.floatAttr("beta", 1);
  bool transposeLhs = node.intAttr("transA", 0), transposeRhs = node.intAttr("transB", 0);
  bool isFloat = isa<FloatType>(lhs.elementType());
  if (!isFloat && (alpha != std::floor(alpha) || beta != std::floor(beta)))
    return node.unsupported() << "alpha=" << alpha << " and beta=" << beta << " for elements of "
                              << lhs.elementType();
  FailureOr<RankedTensorType> type =
      cnn::MatmulOp::inferType(node.getLoc(), lhs.type(), rhs.type(), transposeLhs, transposeRhs);
  if (failed(type))
    return failure();
  SmallVector<Value> extras;
  bool hasAddend = node.hasInput(2) && beta != 0;
  if (hasAddend) {
    const Tensor &addend = node.input(2);
    FailureOr<SmallVector<int64_t>> shape =
        cnn::inferBroadcast(node.getLoc(), {type->getShape(), addend.shape()});
    if (failed(shape))
      return failure();
    if (ArrayRef<int64_t>(*shape) != type->getShape() ||
        addend.elementType() != lhs.elementType())
      return node.error() << "C is " << addend.type() << ", which does not broadcast to " << *type;
    FailureOr<Value> value = node.toValue(addend);
    if (failed(value))
      return failure();
    extras.push_back(*value);
  }
  FailureOr<Value> lhsValue = node.toValue(lhs), rhsValue = node.toValue(rhs);
  if (failed(lhsValue) || failed(rhsValue))
    return failure();
  OpBuilder &builder = node.getBuilder();
  Location loc = node.getLoc();
  auto op = cnn::MatmulOp::create(builder, loc, *type, *lhsValue, *rhsValue, extras, transposeLhs,
                                  transposeRhs, StringAttr());
  {
    OpBuilder::InsertionGuard guard(builder);
    SmallVector<Type> types(1 + extras.size(), op.getAccumulatorType());
    SmallVector<Location> locations(types.size(), loc);
    Block *block = builder.createBlock(&op.getEpilogue(), {}, types, locations);
    ScalarBuilder s(builder, loc, lhs.elementType());
    Value result = block->getArgument(0);
    if (alpha != 1)
      result = s.mul(result, s.number(alpha));
    if (hasAddend) {
      Value addend = block->getArgument(1);
      result = s.add(result, beta == 1 ? addend : s.mul(addend, s.number(beta)));
    }
    cnn::YieldOp::create(builder, loc, result);
  }
  FailureOr<Tensor> result = node.keep(op);
  if (failed(result))
    return failure();
  node.setResult(0, *result);
  return success();
}

// The tensor as a matrix: dimensions before `axis` make the rows.
static FailureOr<Tensor> asMatrix(NodeImport &node, const Tensor &tensor, StringRef axisAttr) {
  FailureOr<int64_t> axis = node.normalizeAxis(node.intAttr(axisAttr, 1), tensor.rank(), axisAttr);
  if (failed(axis))
    return failure();
  int64_t rows = 1, columns = 1;
  for (auto [i, extent] : llvm::enumerate(tensor.shape())) {
    if (static_cast<int64_t>(i) >= *axis)
      columns *= extent;
    else
      rows = ShapedType::isDynamic(extent) && *axis == 1 ? extent : rows * extent;
  }
  if (tensor.type().isDynamicDim(0) && *axis != 1)
    return node.error() << "joins the free batch with other dimensions; fix it with --shape";
  return node.reshape(tensor, {rows, columns});
}

// An op of ONNX's first years: x w' + b of matrices.
LogicalResult convoy::onnx::importFc(NodeImport &node) {
  if (node.input(0).rank() == 0 || node.input(1).rank() == 0)
    return node.error() << "has a scalar input";
  FailureOr<Tensor> x = asMatrix(node, node.input(0), "axis");
  FailureOr<Tensor> w = asMatrix(node, node.input(1), "axis_w");
  if (failed(x) || failed(w))
    return failure();
  const Tensor &bias = node.input(2);
  if (bias.rank() != 1 || bias.shape()[0] != w->shape()[0])
    return node.error() << "bias is " << bias.type() << ", expected a vector of " << w->shape()[0];
  return setResult(node, createMatmul(node, *x, *w, false, true,
                                      {bias, Type(), [](ScalarBuilder &s, ArrayRef<Value> e) {
                                         return s.add(e[0], e[1]);
                                       }}));
}
