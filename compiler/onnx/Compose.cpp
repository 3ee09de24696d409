// Tensor arithmetic from which import functions compose ops that the dialect has no op for.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/Compose.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;

FailureOr<Tensor> convoy::onnx::castTensor(NodeImport &node, const Tensor &tensor,
                                           Type elementType) {
  if (tensor.elementType() == elementType)
    return tensor;
  if (std::optional<HostTensor> host = node.toHost(tensor))
    if (std::optional<HostTensor> result = foldCast(*host, elementType))
      return Tensor(std::move(*result));
  return createMap(node, {tensor}, elementType, [&](ScalarBuilder &s, ArrayRef<Value> x) {
    return s.cast(x[0], elementType);
  });
}

Tensor convoy::onnx::scalarTensor(Type elementType, double value) {
  HostTensor host{RankedTensorType::get({}, elementType), {}, {}};
  if (host.isFloat())
    host.floats.push_back({0, value});
  else
    host.ints.push_back({0, static_cast<int64_t>(value)});
  return Tensor(std::move(host));
}

Tensor convoy::onnx::vectorTensor(Type elementType, ArrayRef<double> values) {
  HostTensor host{RankedTensorType::get({static_cast<int64_t>(values.size())}, elementType), {}, {}};
  for (double value : values) {
    if (host.isFloat())
      host.floats.push_back({0, value});
    else
      host.ints.push_back({0, static_cast<int64_t>(value)});
  }
  return Tensor(std::move(host));
}

// The operands of an op with an epilogue.
static LogicalResult toValues(NodeImport &node, ArrayRef<Tensor> tensors,
                              SmallVectorImpl<Value> &values) {
  for (const Tensor &tensor : tensors) {
    FailureOr<Value> value = node.toValue(tensor);
    if (failed(value))
      return failure();
    values.push_back(*value);
  }
  return success();
}

static RankedTensorType resultType(RankedTensorType inferred, const Epilogue &epilogue) {
  return epilogue.elementType ? RankedTensorType::get(inferred.getShape(), epilogue.elementType)
                              : inferred;
}

// Fills the epilogue region of an op that was just made; `elementType` is the accumulator's.
template <typename OpTy>
static FailureOr<Tensor> finish(NodeImport &node, OpTy op, Type elementType,
                                const Epilogue &epilogue) {
  OpBuilder &builder = node.getBuilder();
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> types{op.getAccumulatorType()};
  for (const Tensor &extra : epilogue.extras)
    types.push_back(cnn::getScalarType(extra.elementType()));
  SmallVector<Location> locations(types.size(), node.getLoc());
  Block *block = builder.createBlock(&op.getEpilogue(), {}, types, locations);
  SmallVector<Value> elements(block->getArguments().begin(), block->getArguments().end());
  ScalarBuilder scalar(builder, node.getLoc(), elementType);
  cnn::YieldOp::create(builder, node.getLoc(),
                       epilogue.function ? epilogue.function(scalar, elements) : elements[0]);
  return node.keep(op);
}

FailureOr<Tensor> convoy::onnx::createReduce(NodeImport &node, const Tensor &src,
                                             cnn::ReduceKind kind, ArrayRef<int64_t> axes,
                                             bool keepDims, const Epilogue &epilogue) {
  FailureOr<RankedTensorType> type =
      cnn::ReduceOp::inferType(node.getLoc(), src.type(), axes, keepDims);
  FailureOr<Value> value = node.toValue(src);
  SmallVector<Value> extras;
  if (failed(type) || failed(value) || failed(toValues(node, epilogue.extras, extras)))
    return failure();
  auto op = cnn::ReduceOp::create(node.getBuilder(), node.getLoc(), resultType(*type, epilogue),
                                  *value, extras, kind, axes, keepDims, StringAttr());
  return finish(node, op, src.elementType(), epilogue);
}

FailureOr<Tensor> convoy::onnx::createConv(NodeImport &node, const Tensor &src, const Tensor &wei,
                                           const WindowAttrs &window, int64_t groups,
                                           const Epilogue &epilogue) {
  FailureOr<RankedTensorType> type =
      cnn::ConvOp::inferType(node.getLoc(), src.type(), wei.type(), window.strides, window.pads,
                             window.dilations, groups);
  FailureOr<Value> srcValue = node.toValue(src), weiValue = node.toValue(wei);
  SmallVector<Value> extras;
  if (failed(type) || failed(srcValue) || failed(weiValue) ||
      failed(toValues(node, epilogue.extras, extras)))
    return failure();
  auto op = cnn::ConvOp::create(node.getBuilder(), node.getLoc(), resultType(*type, epilogue),
                                *srcValue, *weiValue, extras, window.strides, window.pads,
                                window.dilations, groups, StringAttr());
  return finish(node, op, src.elementType(), epilogue);
}

FailureOr<Tensor> convoy::onnx::createMatmul(NodeImport &node, const Tensor &lhs,
                                             const Tensor &rhs, bool transposeLhs,
                                             bool transposeRhs, const Epilogue &epilogue) {
  FailureOr<RankedTensorType> type = cnn::MatmulOp::inferType(
      node.getLoc(), lhs.type(), rhs.type(), transposeLhs, transposeRhs);
  FailureOr<Value> lhsValue = node.toValue(lhs), rhsValue = node.toValue(rhs);
  SmallVector<Value> extras;
  if (failed(type) || failed(lhsValue) || failed(rhsValue) ||
      failed(toValues(node, epilogue.extras, extras)))
    return failure();
  auto op =
      cnn::MatmulOp::create(node.getBuilder(), node.getLoc(), resultType(*type, epilogue),
                            *lhsValue, *rhsValue, extras, transposeLhs, transposeRhs, StringAttr());
  return finish(node, op, lhs.elementType(), epilogue);
}

FailureOr<WindowAttrs> convoy::onnx::readConvWindow(NodeImport &node, const Tensor &src,
                                                    const Tensor &wei) {
  if (src.rank() < 3 || wei.rank() != src.rank())
    return node.error() << "has an input of rank " << src.rank() << " and weights of rank "
                        << wei.rank() << ", expected the same, at least 3";
  SmallVector<int64_t> kernel(wei.shape().drop_front(2));
  SmallVector<int64_t> given = node.intsAttr("kernel_shape", kernel);
  if (given != kernel)
    return node.error() << "attribute 'kernel_shape' is [" << given
                        << "], but the weights are " << wei.type();
  FailureOr<WindowAttrs> attrs = readWindowAttrs(node, kernel);
  if (failed(attrs) || failed(resolveAutoPad(node, *attrs, src.shape().drop_front(2))))
    return failure();
  return attrs;
}

LogicalResult convoy::onnx::setResult(NodeImport &node, FailureOr<Tensor> tensor) {
  if (failed(tensor))
    return failure();
  node.setResult(0, *tensor);
  return success();
}
