// Ops of domain com.microsoft, as onnxruntime documents them in ContribOperators.md.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/Ops.h"
#include "compiler/onnx/Quantize.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;

static Type f32Of(NodeImport &node) { return Float32Type::get(node.getContext()); }

//===----------------------------------------------------------------------===//
// Quantized ops: dequantize, compute in f32, quantize
//===----------------------------------------------------------------------===//

// The quantized tensor at `index`, whose scale and zero point follow it.
static FailureOr<Quantized> readQuantized(NodeImport &node, unsigned index) {
  const Tensor &tensor = node.input(index);
  if (!tensor || !isa<IntegerType>(tensor.elementType()) ||
      tensor.elementType().getIntOrFloatBitWidth() != 8)
    return node.error() << "input " << index << " must have integers of 8 bits";
  FailureOr<Quantized> result =
      readScalarQuantization(node, index + 1, index + 2, tensor.elementType());
  if (succeeded(result))
    result->tensor = tensor;
  return result;
}

/// The operands of a map over quantized tensors, and how its region reads them.
struct QuantizedOperands {
  SmallVector<Tensor> tensors;
  SmallVector<Type> types;

  /// Returns the place of what was added.
  unsigned add(const Quantized &quantized) {
    unsigned place = tensors.size();
    if (quantized.tensor)
      tensors.push_back(quantized.tensor);
    tensors.push_back(quantized.scale);
    if (quantized.zeroPoint)
      tensors.push_back(quantized.zeroPoint);
    return place;
  }
};

static Value read(ScalarBuilder &f32, const Quantized &from, ArrayRef<Value> x, unsigned place) {
  return dequantize(f32, x[place], from.zeroPoint ? x[place + 2] : Value(), x[place + 1],
                    from.tensor.elementType());
}

static Value write(ScalarBuilder &f32, Value value, const Quantized &to, ArrayRef<Value> x,
                   unsigned place, Type type) {
  return quantize(f32, f32.div(value, x[place]), to.zeroPoint ? x[place + 1] : Value(), type);
}

// The text gives a formula and no precision. In f32 and in its order, as here, a quotient within an
// ulp or so of a tie may be rounded to the other side, as onnxruntime's own order does for others.
LogicalResult convoy::onnx::importQLinearBinary(NodeImport &node) {
  FailureOr<Quantized> lhs = readQuantized(node, 0), rhs = readQuantized(node, 3);
  if (failed(lhs) || failed(rhs))
    return failure();
  Type type = lhs->tensor.elementType();
  if (rhs->tensor.elementType() != type)
    return node.error() << "has inputs of " << type << " and of " << rhs->tensor.elementType();
  FailureOr<Quantized> dst = readScalarQuantization(node, 6, 7, type);
  if (failed(dst))
    return failure();
  QuantizedOperands operands;
  unsigned lhsAt = operands.add(*lhs), rhsAt = operands.add(*rhs), dstAt = operands.add(*dst);
  bool isSum = node.opType() == "QLinearAdd";
  return setResult(
      node, createMap(node, operands.tensors, type, [&](ScalarBuilder &s, ArrayRef<Value> x) {
        ScalarBuilder f32 = s.of(f32Of(node));
        if (isSum)
          return write(f32, f32.add(read(f32, *lhs, x, lhsAt), read(f32, *rhs, x, rhsAt)), *dst, x,
                       dstAt, type);
        // The product of the integers is exact; the three scales are one factor.
        Value one = f32.number(1);
        auto integer = [&](const Quantized &from, unsigned place) {
          return dequantize(f32, x[place], from.zeroPoint ? x[place + 2] : Value(), one, type);
        };
        Value product = f32.mul(integer(*lhs, lhsAt), integer(*rhs, rhsAt));
        Value factor = f32.div(f32.mul(x[lhsAt + 1], x[rhsAt + 1]), x[dstAt]);
        return quantize(f32, f32.mul(product, factor), dst->zeroPoint ? x[dstAt + 1] : Value(),
                        type);
      }));
}

LogicalResult convoy::onnx::importQLinearUnary(NodeImport &node) {
  FailureOr<Quantized> src = readQuantized(node, 0);
  if (failed(src))
    return failure();
  Type type = src->tensor.elementType();
  FailureOr<Quantized> dst = readScalarQuantization(node, 3, 4, type);
  if (failed(dst))
    return failure();
  QuantizedOperands operands;
  unsigned srcAt = operands.add(*src), dstAt = operands.add(*dst);
  bool isSigmoid = node.opType() == "QLinearSigmoid";
  double alpha = isSigmoid ? 0 : node.floatAttr("alpha", 0.01f);
  return setResult(
      node, createMap(node, operands.tensors, type, [&](ScalarBuilder &s, ArrayRef<Value> x) {
        ScalarBuilder f32 = s.of(f32Of(node));
        Value value = read(f32, *src, x, srcAt), zero = f32.number(0), one = f32.number(1);
        Value result =
            isSigmoid
                ? f32.div(one, f32.add(one, f32.make<math::ExpOp>(f32.neg(value))))
                : f32.select(f32.less(value, zero), f32.mul(value, f32.number(alpha)), value);
        return write(f32, result, *dst, x, dstAt, type);
      }));
}

LogicalResult convoy::onnx::importQLinearGlobalAveragePool(NodeImport &node) {
  FailureOr<Quantized> src = readQuantized(node, 0);
  if (failed(src))
    return failure();
  Type type = src->tensor.elementType();
  FailureOr<Quantized> dst = readScalarQuantization(node, 3, 4, type);
  if (failed(dst))
    return failure();
  int64_t rank = src->tensor.rank();
  bool channelsLast = node.intAttr("channels_last", 0) != 0;
  if (rank < 3)
    return node.error() << "needs an input of rank 3 or more, got " << src->tensor.type();
  auto axes = llvm::to_vector(channelsLast ? llvm::seq<int64_t>(1, rank - 1)
                                           : llvm::seq<int64_t>(2, rank));
  int64_t count = 1;
  for (int64_t axis : axes)
    count *= src->tensor.shape()[axis];
  // The sum is exact.
  FailureOr<Tensor> ints = centered(node, src->tensor, src->zeroPoint);
  if (failed(ints))
    return failure();
  SmallVector<Tensor> extras{src->scale, dst->scale};
  if (dst->zeroPoint)
    extras.push_back(dst->zeroPoint);
  return setResult(
      node, createReduce(node, *ints, cnn::ReduceKind::Sum, axes, /*keepDims=*/true,
                         {extras, type, [&](ScalarBuilder &s, ArrayRef<Value> x) {
                            ScalarBuilder f32 = s.of(f32Of(node));
                            Value sum = f32.mul(s.cast(x[0], f32.type()), x[1]);
                            Value ratio = f32.div(sum, f32.mul(x[2], f32.number(count)));
                            return quantize(f32, ratio, x.size() > 3 ? x[3] : Value(), type);
                          }}));
}

// Scale and zero point of the result, then for each part the tensor, its scale and zero point.
LogicalResult convoy::onnx::importQLinearConcat(NodeImport &node) {
  if ((node.numInputs() - 2) % 3 != 0)
    return node.error() << "has " << node.numInputs()
                        << " inputs, expected two and three for each part";
  if (!node.hasInput(1))
    return node.error() << "lacks input 1";
  Type type = node.input(1).elementType();
  FailureOr<Quantized> dst = readScalarQuantization(node, 0, 1, {});
  if (failed(dst))
    return failure();
  SmallVector<Tensor> parts;
  for (unsigned i = 2; i < node.numInputs(); i += 3) {
    FailureOr<Quantized> src = readQuantized(node, i);
    if (failed(src))
      return failure();
    QuantizedOperands operands;
    unsigned srcAt = operands.add(*src), dstAt = operands.add(*dst);
    FailureOr<Tensor> part =
        createMap(node, operands.tensors, type, [&](ScalarBuilder &s, ArrayRef<Value> x) {
          ScalarBuilder f32 = s.of(f32Of(node));
          return write(f32, read(f32, *src, x, srcAt), *dst, x, dstAt, type);
        });
    if (failed(part))
      return failure();
    parts.push_back(*part);
  }
  if (!node.hasAttr("axis"))
    return node.error() << "lacks attribute 'axis'";
  FailureOr<int64_t> axis = node.normalizeAxis(node.intAttr("axis", 0), parts[0].rank());
  return failed(axis) ? failure() : setResult(node, node.concat(parts, *axis));
}

//===----------------------------------------------------------------------===//
// Fused ops
//===----------------------------------------------------------------------===//

// The activation of a fused op; an error at the node if it is unknown.
static Value activate(NodeImport &node, ScalarBuilder &s, Value x, StringRef name,
                      ArrayRef<double> parameters) {
  auto parameter = [&](size_t i, double byDefault) {
    return s.number(i < parameters.size() ? parameters[i] : byDefault);
  };
  if (name.empty())
    return x;
  if (name == "Relu")
    return s.max(x, s.number(0));
  if (name == "Tanh")
    return s.make<math::TanhOp>(x);
  if (name == "Sigmoid")
    return s.div(s.number(1), s.add(s.number(1), s.make<math::ExpOp>(s.neg(x))));
  if (name == "LeakyRelu")
    return s.select(s.less(x, s.number(0)), s.mul(x, parameter(0, 0.01f)), x);
  if (name == "HardSigmoid")
    return s.max(s.min(s.add(s.mul(x, parameter(0, 0.2f)), parameter(1, 0.5)), s.number(1)),
                 s.number(0));
  if (name == "Clip") {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return s.min(s.max(x, parameter(0, -kInfinity)), parameter(1, kInfinity));
  }
  node.unsupported() << "attribute 'activation' is '" << name << "'";
  return x;
}

// act(conv(X, W) + B + Z)
LogicalResult convoy::onnx::importFusedConv(NodeImport &node) {
  const Tensor &src = node.input(0), &wei = node.input(1);
  if (!isa<FloatType>(src.elementType()))
    return node.unsupported() << "elements of " << src.elementType();
  FailureOr<WindowAttrs> window = readConvWindow(node, src, wei);
  if (failed(window))
    return failure();
  SmallVector<Tensor> extras;
  if (node.hasInput(2)) {
    FailureOr<Tensor> bias = alongAxis(node, node.input(2), wei.shape()[0], 1, src.rank());
    if (failed(bias))
      return failure();
    extras.push_back(*bias);
  }
  if (node.hasInput(3))
    extras.push_back(node.input(3));
  for (const Tensor &extra : extras)
    if (extra.elementType() != src.elementType())
      return node.error() << "has elements of " << src.elementType() << " and of "
                          << extra.elementType();
  std::string name = node.stringAttr("activation", "");
  SmallVector<double> parameters = node.floatsAttr("activation_params");
  return setResult(node, createConv(node, src, wei, *window, node.intAttr("group", 1),
                                    {extras, {}, [&](ScalarBuilder &s, ArrayRef<Value> x) {
                                       Value sum = x[0];
                                       for (Value extra : x.drop_front())
                                         sum = s.add(sum, extra);
                                       return activate(node, s, sum, name, parameters);
                                     }}));
}

// alpha * A * B, each transposed or not.
LogicalResult convoy::onnx::importFusedMatMul(NodeImport &node) {
  const Tensor &lhs = node.input(0), &rhs = node.input(1);
  if (node.intAttr("transBatchA", 0) != 0 || node.intAttr("transBatchB", 0) != 0)
    return node.unsupported() << "transposed batches";
  if (lhs.rank() < 2 || rhs.rank() < 2 || !isa<FloatType>(lhs.elementType()))
    return node.unsupported() << "a product of " << lhs.type() << " and " << rhs.type();
  double alpha = node.floatAttr("alpha", 1);
  return setResult(node, createMatmul(node, lhs, rhs, node.intAttr("transA", 0) != 0,
                                      node.intAttr("transB", 0) != 0,
                                      {{}, {}, [&](ScalarBuilder &s, ArrayRef<Value> x) {
                                         return alpha == 1 ? x[0] : s.mul(x[0], s.number(alpha));
                                       }}));
}
