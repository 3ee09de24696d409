// BatchNormalization, LRN, Softmax, Dropout.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/Ops.h"
#include "compiler/onnx/ScalarBuilder.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;

// Statistics and parameters in a type of their own (opset 15): a map that computes in the widest.
static LogicalResult importMixedBatchNorm(NodeImport &node, double epsilon) {
  const Tensor &src = node.input(0);
  SmallVector<Tensor> inputs{src};
  SmallVector<Type> types{src.elementType()};
  for (unsigned i = 1; i < 5; ++i) {
    FailureOr<Tensor> parameter = node.alongChannels(node.input(i), src.rank());
    if (failed(parameter))
      return failure();
    inputs.push_back(*parameter);
    types.push_back(parameter->elementType());
  }
  FailureOr<Tensor> result =
      createMap(node, inputs, src.elementType(), [&](ScalarBuilder &, ArrayRef<Value> elements) {
        OpBuilder &b = node.getBuilder();
        bool isDouble = llvm::any_of(types, [](Type t) { return t.isF64(); });
        Type wide = isDouble ? Type(b.getF64Type()) : Type(b.getF32Type());
        ScalarBuilder w(b, node.getLoc(), wide);
        SmallVector<Value> x;
        for (auto [element, type] : llvm::zip(elements, types))
          x.push_back(ScalarBuilder(b, node.getLoc(), type).cast(element, wide));
        Value deviation = w.make<math::SqrtOp>(w.add(x[4], w.number(epsilon)));
        Value normal = w.div(w.sub(x[0], x[3]), deviation);
        return w.cast(w.add(w.mul(normal, x[1]), x[2]), src.elementType());
      });
  if (failed(result))
    return failure();
  node.setResult(0, *result);
  return success();
}

// In the first opsets a node is for training unless it says otherwise.
static LogicalResult checkIsTest(NodeImport &node) {
  if (node.opset() >= 7 || node.intAttr("is_test", 0) != 0)
    return success();
  return node.unsupported() << "attribute 'is_test' is 0, expected 1: it asks for training";
}

LogicalResult convoy::onnx::checkBatchNormalization(NodeImport &node) {
  if (int64_t mode = node.intAttr("training_mode", 0))
    return node.unsupported() << "attribute 'training_mode' is " << mode
                              << ", expected 0: it asks for training";
  if (failed(checkIsTest(node)))
    return failure();
  for (unsigned i = 1; i < node.numOutputs(); ++i)
    if (node.hasOutput(i))
      return node.unsupported() << "has " << node.numOutputs()
                                << " outputs, expected 1: the others exist only in training";
  if (int64_t spatial = node.intAttr("spatial", 1); spatial != 1)
    return node.unsupported() << "attribute 'spatial' is " << spatial
                              << ", expected 1: it asks for statistics of each pixel";
  return success();
}

LogicalResult convoy::onnx::importBatchNormalization(NodeImport &node) {
  node.ignoreAttr("momentum"); // for training
  double epsilon = node.floatAttr("epsilon", 1e-5f);
  if (failed(checkBatchNormalization(node)))
    return failure();
  const Tensor &src = node.input(0);
  if (!isa<FloatType>(src.elementType()))
    return node.error() << "has elements of " << src.elementType();
  int64_t channels = src.rank() < 2 ? 1 : src.shape()[1];
  bool isMixed = false;
  for (unsigned i = 1; i < 5; ++i) {
    const Tensor &parameter = node.input(i);
    if (parameter.rank() != 1 || parameter.shape()[0] != channels ||
        !isa<FloatType>(parameter.elementType()))
      return node.error() << "input " << i << " is " << parameter.type()
                          << ", expected a vector of " << channels;
    isMixed |= parameter.elementType() != src.elementType();
  }
  if (isMixed && src.rank() > 1)
    return importMixedBatchNorm(node, epsilon);
  SmallVector<Value> values;
  for (const Tensor &input : node.allInputs()) {
    FailureOr<Value> value = node.toValue(input);
    if (failed(value))
      return failure();
    values.push_back(*value);
  }
  FailureOr<Tensor> result = node.create<cnn::BatchNormOp>(
      src.type(), values[0], values[1], values[2], values[3], values[4],
      node.getBuilder().getF64FloatAttr(epsilon));
  if (failed(result))
    return failure();
  node.setResult(0, *result);
  return success();
}

LogicalResult convoy::onnx::importLrn(NodeImport &node) {
  OpBuilder &b = node.getBuilder();
  if (!node.hasAttr("size"))
    return node.error() << "lacks attribute 'size'";
  FailureOr<Value> src = node.toValue(node.input(0));
  if (failed(src))
    return failure();
  FailureOr<Tensor> result = node.create<cnn::LrnOp>(
      src->getType(), *src, b.getI64IntegerAttr(node.intAttr("size", 1)),
      b.getF64FloatAttr(node.floatAttr("alpha", 1e-4f)),
      b.getF64FloatAttr(node.floatAttr("beta", 0.75)), b.getF64FloatAttr(node.floatAttr("bias", 1)),
      StringAttr());
  if (failed(result))
    return failure();
  node.setResult(0, *result);
  return success();
}

static LogicalResult softmax(NodeImport &node, const Tensor &src, int64_t axis,
                             ArrayRef<int64_t> shape) {
  if (!isa<FloatType>(src.elementType()))
    return node.error() << "has elements of " << src.elementType();
  FailureOr<Value> value = node.toValue(src);
  if (failed(value))
    return failure();
  FailureOr<Tensor> result = node.create<cnn::SoftmaxOp>(
      src.type(), *value, axis, node.opType() == "LogSoftmax", StringAttr());
  if (succeeded(result))
    result = node.reshape(*result, shape);
  if (failed(result))
    return failure();
  node.setResult(0, *result);
  return success();
}

LogicalResult convoy::onnx::importSoftmax(NodeImport &node) {
  const Tensor &src = node.input(0);
  FailureOr<int64_t> axis = node.normalizeAxis(node.intAttr("axis", -1), src.rank());
  return failed(axis) ? failure() : softmax(node, src, *axis, src.shape());
}

// Until opset 12 all dimensions from the axis on count as one.
LogicalResult convoy::onnx::importSoftmaxFlattened(NodeImport &node) {
  const Tensor &src = node.input(0);
  FailureOr<int64_t> axis = node.normalizeAxis(node.intAttr("axis", 1), src.rank());
  if (failed(axis))
    return failure();
  ArrayRef<int64_t> rest = src.shape().drop_front(*axis);
  if (ShapedType::isDynamicShape(rest))
    return node.error() << "axis " << *axis << " is the free batch; fix it with --shape";
  SmallVector<int64_t> shape(src.shape().take_front(*axis));
  shape.push_back(ShapedType::getNumElements(rest));
  FailureOr<Tensor> flat = node.reshape(src, shape);
  return failed(flat) ? failure() : softmax(node, *flat, *axis, src.shape());
}

// At inference Dropout does nothing; its mask keeps everything.
static LogicalResult passThrough(NodeImport &node, Type maskType) {
  node.setResult(0, node.input(0));
  if (!node.hasOutput(1))
    return success();
  auto scalar = RankedTensorType::get({}, maskType);
  HostTensor one{scalar, {}, {}};
  if (one.isFloat())
    one.floats.push_back({0, 1});
  else
    one.ints.push_back({0, 1});
  FailureOr<Tensor> mask =
      node.splat(RankedTensorType::get(node.input(0).shape(), maskType), one.toConstant());
  if (failed(mask))
    return failure();
  node.setResult(1, *mask);
  return success();
}

LogicalResult convoy::onnx::checkDropout(NodeImport &node) {
  if (node.opset() < 12)
    return checkIsTest(node);
  if (!node.hasInput(2))
    return success();
  std::optional<HostTensor> mode = node.toHost(node.input(2));
  if (!mode)
    return node.unsupported() << "training_mode is known only at run time, expected false";
  if (mode->isFloat() || mode->size() != 1 || !(mode->ints[0] == LinearInt{0, 0}))
    return node.unsupported() << "training_mode is true, expected false";
  return success();
}

LogicalResult convoy::onnx::importDropoutRatioAttr(NodeImport &node) {
  node.ignoreAttr("ratio");
  if (failed(checkDropout(node)))
    return failure();
  // The mask is bool since opset 10, of the data's type before.
  return passThrough(node, node.opset() >= 10 ? IntegerType::get(node.getContext(), 1)
                                              : node.input(0).elementType());
}

LogicalResult convoy::onnx::importDropout(NodeImport &node) {
  node.ignoreAttr("seed");
  if (failed(checkDropout(node)))
    return failure();
  return passThrough(node, IntegerType::get(node.getContext(), 1));
}
