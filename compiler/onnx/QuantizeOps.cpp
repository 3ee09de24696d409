// Quantization: QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear, and the ops that compute
// with integers. Sums of products are exact in i32; scales are f32.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/Ops.h"
#include "compiler/onnx/Quantize.h"
#include "compiler/onnx/TensorData.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;

static Type f32Of(NodeImport &node) { return Float32Type::get(node.getContext()); }
static Type i32Of(NodeImport &node) { return IntegerType::get(node.getContext(), 32); }
static Type ui8Of(NodeImport &node) {
  return IntegerType::get(node.getContext(), 8, IntegerType::Unsigned);
}

// Integers of 8 or 16 bits.
static bool isQuantizedType(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return integer && (integer.getWidth() == 8 || integer.getWidth() == 16);
}

//===----------------------------------------------------------------------===//
// What all quantized ops share
//===----------------------------------------------------------------------===//

Value convoy::onnx::quantize(ScalarBuilder &f32, Value ratio, Value zeroPoint, Type to) {
  unsigned width = to.getIntOrFloatBitWidth();
  bool isUnsigned = to.isUnsignedInteger();
  double least = isUnsigned ? 0 : -std::ldexp(1.0, width - 1);
  double greatest = std::ldexp(1.0, isUnsigned ? width : width - 1) - 1;
  // Exact: what is beyond 2^24 saturates whatever is added.
  Value whole = f32.make<math::RoundEvenOp>(ratio);
  if (zeroPoint)
    whole = f32.add(whole, f32.of(to).cast(zeroPoint, f32.type()));
  return f32.cast(f32.max(f32.min(whole, f32.number(greatest)), f32.number(least)), to);
}

Value convoy::onnx::dequantize(ScalarBuilder &f32, Value x, Value zeroPoint, Value scale,
                               Type from) {
  ScalarBuilder own = f32.of(from);
  if (!zeroPoint)
    return f32.mul(own.cast(x, f32.type()), scale);
  // One bit more than the type has, at least.
  unsigned width = from.getIntOrFloatBitWidth() < 32 ? 32 : 64;
  Type wide = IntegerType::get(from.getContext(), width);
  ScalarBuilder integers = f32.of(wide);
  Value difference = integers.sub(own.cast(x, wide), own.cast(zeroPoint, wide));
  return f32.mul(integers.cast(difference, f32.type()), scale);
}

FailureOr<Quantized> convoy::onnx::readScalarQuantization(NodeImport &node, unsigned scale,
                                                          unsigned zeroPoint, Type like) {
  Quantized result;
  for (unsigned index : {scale, zeroPoint}) {
    bool isScale = index == scale;
    if (!node.hasInput(index)) {
      if (isScale)
        return node.error() << "lacks input " << index;
      continue;
    }
    const Tensor &parameter = node.input(index);
    if (!parameter.type().hasStaticShape() || parameter.type().getNumElements() != 1)
      return node.unsupported() << (isScale ? "scale " : "zero point ") << parameter.type()
                                << ", expected one element";
    if (isScale ? !isa<FloatType>(parameter.elementType())
                : like && parameter.elementType() != like)
      return node.error() << (isScale ? "scale" : "zero point") << " has elements of "
                          << parameter.elementType();
    FailureOr<Tensor> scalar = node.reshape(parameter, {});
    if (succeeded(scalar) && isScale)
      scalar = castTensor(node, *scalar, f32Of(node));
    if (failed(scalar))
      return failure();
    (isScale ? result.scale : result.zeroPoint) = *scalar;
  }
  return result;
}

FailureOr<Tensor> convoy::onnx::alongAxis(NodeImport &node, const Tensor &parameter,
                                          int64_t extent, int64_t axis, int64_t rank) {
  if (parameter.type().hasStaticShape() && parameter.type().getNumElements() == 1)
    return node.reshape(parameter, {});
  if (parameter.rank() != 1 || parameter.shape()[0] != extent)
    return node.error() << "has the parameter " << parameter.type() << " for an extent of "
                        << extent;
  SmallVector<int64_t> shape(rank, 1);
  shape[axis] = extent;
  return node.reshape(parameter, shape);
}

FailureOr<Tensor> convoy::onnx::centered(NodeImport &node, const Tensor &tensor,
                                         const Tensor &zeroPoint) {
  Type i32 = i32Of(node);
  if (!zeroPoint)
    return castTensor(node, tensor, i32);
  return createMap(node, {tensor, zeroPoint}, i32, [&](ScalarBuilder &s, ArrayRef<Value> x) {
    Value zero = s.of(zeroPoint.elementType()).cast(x[1], i32);
    return s.of(i32).sub(s.cast(x[0], i32), zero);
  });
}

FailureOr<Tensor> convoy::onnx::combineScales(NodeImport &node, const Tensor &lhs,
                                              const Tensor &rhs, const Tensor &dst) {
  SmallVector<Tensor> scales;
  for (const Tensor *scale : {&lhs, &rhs, &dst}) {
    FailureOr<Tensor> wide = castTensor(node, *scale, f32Of(node));
    if (failed(wide))
      return failure();
    scales.push_back(*wide);
  }
  return createMap(node, scales, f32Of(node), [](ScalarBuilder &s, ArrayRef<Value> x) {
    return s.div(s.mul(x[0], x[1]), x[2]);
  });
}

//===----------------------------------------------------------------------===//
// QuantizeLinear and DequantizeLinear
//===----------------------------------------------------------------------===//

// A scale or zero point laid out to broadcast over `x`: one number, a vector along the axis, or
// blocks of that axis.
static FailureOr<Tensor> layOut(NodeImport &node, const Tensor &parameter, const Tensor &x,
                                int64_t axis, int64_t blockSize) {
  if (parameter.type().hasStaticShape() && parameter.type().getNumElements() == 1 &&
      parameter.rank() < 2)
    return node.reshape(parameter, {});
  FailureOr<int64_t> dim = node.normalizeAxis(axis, x.rank());
  if (failed(dim))
    return failure();
  if (blockSize == 0)
    return alongAxis(node, parameter, x.shape()[*dim], *dim, x.rank());
  // Each element counts for the next blockSize ones of x; the last block may be cut.
  int64_t extent = x.shape()[*dim];
  // No block is longer than all.
  if (extent > 0)
    blockSize = std::min(blockSize, extent);
  if (blockSize < 0 || parameter.rank() != x.rank() || ShapedType::isDynamic(extent) ||
      !parameter.type().hasStaticShape() ||
      parameter.shape()[*dim] != extent / blockSize + (extent % blockSize != 0))
    return node.error() << "parameter " << parameter.type() << " is not " << x.type()
                        << " in blocks of " << blockSize << " along axis " << *dim;
  SmallVector<int64_t> split(parameter.shape()), repeated, joined(parameter.shape());
  split.insert(split.begin() + *dim + 1, 1);
  repeated = split;
  repeated[*dim + 1] = blockSize;
  joined[*dim] *= blockSize;
  FailureOr<Tensor> result = node.reshape(parameter, split);
  if (succeeded(result))
    result = node.broadcast(*result, repeated);
  if (succeeded(result))
    result = node.reshape(*result, joined);
  if (failed(result))
    return failure();
  joined[*dim] = extent;
  return node.slice(*result, SmallVector<int64_t>(x.rank(), 0), SmallVector<int64_t>(x.rank(), 1),
                    joined);
}

// Scale and zero point, inputs 1 and 2, laid out over input 0.
static FailureOr<SmallVector<Tensor>> layOutParameters(NodeImport &node) {
  int64_t axis = node.intAttr("axis", 1), blockSize = node.intAttr("block_size", 0);
  SmallVector<Tensor> inputs{node.input(0)};
  for (unsigned i = 1; i < 3 && node.hasInput(i); ++i) {
    FailureOr<Tensor> parameter = layOut(node, node.input(i), node.input(0), axis, blockSize);
    if (failed(parameter))
      return failure();
    inputs.push_back(*parameter);
  }
  return inputs;
}

// The type that an attribute names, or the default; an error if the attribute names none.
static FailureOr<Type> typeAttr(NodeImport &node, StringRef name, Type byDefault) {
  int64_t number = node.intAttr(name, 0);
  if (number == 0)
    return byDefault;
  Type type = getElementType(node.getContext(), number);
  if (!type)
    return node.unsupported() << "attribute '" << name << "' is "
                              << getDataTypeName(number) << ", expected " << kElementTypes;
  return type;
}

LogicalResult convoy::onnx::importQuantizeLinear(NodeImport &node) {
  node.ignoreAttr("saturate"); // concerns results of 8-bit floats
  const Tensor &x = node.input(0), &scale = node.input(1);
  if (!isa<FloatType>(scale.elementType()) ||
      !(isa<FloatType>(x.elementType()) || x.elementType().isSignlessInteger(32)))
    return node.unsupported() << "elements of " << x.elementType() << " with a scale of "
                              << scale.elementType();
  FailureOr<Type> to = typeAttr(node, "output_dtype", ui8Of(node));
  FailureOr<Type> precision = typeAttr(node, "precision", scale.elementType());
  FailureOr<SmallVector<Tensor>> inputs = layOutParameters(node);
  if (failed(to) || failed(precision) || failed(inputs))
    return failure();
  if (node.hasInput(2)) {
    if (node.hasAttr("output_dtype") && node.intAttr("output_dtype", 0) != 0 &&
        node.input(2).elementType() != *to)
      return node.error() << "zero point has elements of " << node.input(2).elementType()
                          << ", attribute 'output_dtype' says " << *to;
    to = node.input(2).elementType();
  }
  if (!isQuantizedType(*to) || !isa<FloatType>(*precision))
    return node.unsupported() << "results of " << *to << " with precision " << *precision;
  return setResult(
      node, createMap(node, *inputs, *to, [&](ScalarBuilder &s, ArrayRef<Value> x) {
        Value ratio = s.of(*precision).div(s.cast(x[0], *precision),
                                           s.of(scale.elementType()).cast(x[1], *precision));
        ScalarBuilder f32 = s.of(f32Of(node));
        return quantize(f32, s.of(*precision).cast(ratio, f32.type()),
                        x.size() > 2 ? x[2] : Value(), *to);
      }));
}

LogicalResult convoy::onnx::importDequantizeLinear(NodeImport &node) {
  const Tensor &x = node.input(0), &scale = node.input(1);
  if (!isa<IntegerType>(x.elementType()) || x.elementType().isInteger(1) ||
      x.elementType().getIntOrFloatBitWidth() > 32 || !isa<FloatType>(scale.elementType()))
    return node.unsupported() << "elements of " << x.elementType() << " with a scale of "
                              << scale.elementType();
  if (node.hasInput(2) && node.input(2).elementType() != x.elementType())
    return node.error() << "zero point has elements of " << node.input(2).elementType()
                        << ", the data " << x.elementType();
  FailureOr<Type> to = typeAttr(node, "output_dtype", scale.elementType());
  FailureOr<SmallVector<Tensor>> inputs = layOutParameters(node);
  if (failed(to) || failed(inputs))
    return failure();
  if (!isa<FloatType>(*to))
    return node.error() << "attribute 'output_dtype' is no floating-point type: " << *to;
  Type from = x.elementType();
  return setResult(
      node, createMap(node, *inputs, *to, [&](ScalarBuilder &s, ArrayRef<Value> x) {
        ScalarBuilder f32 = s.of(f32Of(node));
        Value factor = s.of(scale.elementType()).cast(x[1], f32.type());
        return f32.cast(dequantize(f32, x[0], x.size() > 2 ? x[2] : Value(), factor, from), *to);
      }));
}

LogicalResult convoy::onnx::importDynamicQuantizeLinear(NodeImport &node) {
  const Tensor &x = node.input(0);
  Type f32 = f32Of(node), ui8 = ui8Of(node);
  if (x.elementType() != f32)
    return node.error() << "has elements of " << x.elementType() << ", expected f32";
  // The range, widened to hold 0.
  auto axes = llvm::to_vector(llvm::seq<int64_t>(0, x.rank()));
  FailureOr<Tensor> least =
      createReduce(node, x, cnn::ReduceKind::Min, axes, /*keepDims=*/false,
                   {{}, {}, [](ScalarBuilder &s, ArrayRef<Value> x) {
                      return s.min(x[0], s.number(0));
                    }});
  FailureOr<Tensor> greatest =
      createReduce(node, x, cnn::ReduceKind::Max, axes, /*keepDims=*/false,
                   {{}, {}, [](ScalarBuilder &s, ArrayRef<Value> x) {
                      return s.max(x[0], s.number(0));
                    }});
  if (failed(least) || failed(greatest))
    return failure();
  FailureOr<Tensor> scale =
      createMap(node, {*least, *greatest}, f32, [](ScalarBuilder &s, ArrayRef<Value> x) {
        return s.div(s.sub(x[1], x[0]), s.number(255));
      });
  if (failed(scale))
    return failure();
  FailureOr<Tensor> zeroPoint =
      createMap(node, {*least, *scale}, ui8, [&](ScalarBuilder &s, ArrayRef<Value> x) {
        return quantize(s, s.neg(s.div(x[0], x[1])), Value(), ui8);
      });
  if (failed(zeroPoint))
    return failure();
  node.setResult(1, *scale);
  node.setResult(2, *zeroPoint);
  return setResult(node, createMap(node, {x, *scale, *zeroPoint}, ui8,
                                   [&](ScalarBuilder &s, ArrayRef<Value> x) {
                                     return quantize(s, s.div(x[0], x[1]), x[2], ui8);
                                   }));
}

//===----------------------------------------------------------------------===//
// Integer convolutions and matrix products
//===----------------------------------------------------------------------===//

static LogicalResult expectBytes(NodeImport &node, unsigned index) {
  Type type = node.input(index).elementType();
  if (isa<IntegerType>(type) && type.getIntOrFloatBitWidth() == 8)
    return success();
  return node.error() << "input " << index << " has elements of " << type
                      << ", expected integers of 8 bits";
}

// The i32 sums of a convolution. Zero points are subtracted first, so padding is zeros.
static FailureOr<Tensor> convolveIntegers(NodeImport &node, unsigned srcIndex, unsigned srcZero,
                                          unsigned weiIndex, unsigned weiZero,
                                          const Epilogue &epilogue) {
  const Tensor &src = node.input(srcIndex), &wei = node.input(weiIndex);
  if (failed(expectBytes(node, srcIndex)) || failed(expectBytes(node, weiIndex)))
    return failure();
  FailureOr<WindowAttrs> window = readConvWindow(node, src, wei);
  if (failed(window))
    return failure();
  Tensor srcZeroPoint, weiZeroPoint;
  if (node.hasInput(srcZero)) {
    FailureOr<Tensor> scalar = alongAxis(node, node.input(srcZero), 1, 0, 1);
    if (failed(scalar))
      return failure();
    srcZeroPoint = *scalar;
  }
  if (node.hasInput(weiZero)) {
    FailureOr<Tensor> aligned =
        alongAxis(node, node.input(weiZero), wei.shape()[0], 0, wei.rank());
    if (failed(aligned))
      return failure();
    weiZeroPoint = *aligned;
  }
  FailureOr<Tensor> srcInts = centered(node, src, srcZeroPoint);
  FailureOr<Tensor> weiInts = centered(node, wei, weiZeroPoint);
  if (failed(srcInts) || failed(weiInts))
    return failure();
  return createConv(node, *srcInts, *weiInts, *window, node.intAttr("group", 1), epilogue);
}

LogicalResult convoy::onnx::importConvInteger(NodeImport &node) {
  return setResult(node, convolveIntegers(node, 0, 2, 1, 3, {}));
}

LogicalResult convoy::onnx::importQLinearConv(NodeImport &node) {
  const Tensor &src = node.input(0), &wei = node.input(3);
  if (src.rank() < 3 || wei.rank() != src.rank())
    return node.error() << "has an input of rank " << src.rank() << " and weights of rank "
                        << wei.rank() << ", expected the same, at least 3";
  Type to = node.input(7).elementType();
  FailureOr<Quantized> dst = readScalarQuantization(node, 6, 7, {});
  FailureOr<Quantized> srcScale = readScalarQuantization(node, 1, 2, src.elementType());
  FailureOr<Tensor> weiScale = alongAxis(node, node.input(4), wei.shape()[0], 1, src.rank());
  if (failed(dst) || failed(srcScale) || failed(weiScale))
    return failure();
  if (!isQuantizedType(to))
    return node.unsupported() << "results of " << to;
  FailureOr<Tensor> multiplier = combineScales(node, srcScale->scale, *weiScale, dst->scale);
  if (failed(multiplier))
    return failure();
  SmallVector<Tensor> extras{*multiplier, dst->zeroPoint};
  if (node.hasInput(8)) {
    if (!node.input(8).elementType().isSignlessInteger(32))
      return node.error() << "bias has elements of " << node.input(8).elementType()
                          << ", expected i32";
    FailureOr<Tensor> bias = alongAxis(node, node.input(8), wei.shape()[0], 1, src.rank());
    if (failed(bias))
      return failure();
    extras.push_back(*bias);
  }
  auto requantize = [&](ScalarBuilder &s, ArrayRef<Value> x) {
    Value sum = x.size() > 3 ? s.add(x[0], x[3]) : x[0];
    ScalarBuilder f32 = s.of(f32Of(node));
    return quantize(f32, f32.mul(s.cast(sum, f32.type()), x[1]), x[2], to);
  };
  return setResult(node, convolveIntegers(node, 0, 2, 3, 5, {extras, to, requantize}));
}

// A parameter of the rows (of the left matrix) or columns (of the right one), to broadcast over
// that matrix: one number, a vector, or a tensor that has the other extent 1.
static FailureOr<Tensor> alongMatrix(NodeImport &node, const Tensor &parameter,
                                     const Tensor &matrix, bool isLhs) {
  if (parameter.type().hasStaticShape() && parameter.type().getNumElements() == 1)
    return node.reshape(parameter, {});
  if (parameter.rank() == 1 && isLhs)
    return node.reshape(parameter, {parameter.shape()[0], 1});
  if (parameter.rank() > matrix.rank())
    return node.error() << "has the parameter " << parameter.type() << " for " << matrix.type();
  return parameter;
}

// A vector counts as a matrix of one row or one column.
static FailureOr<Tensor> asMatrix(NodeImport &node, const Tensor &tensor, bool isLhs) {
  if (tensor.rank() == 0)
    return node.error() << "has a scalar input";
  if (tensor.rank() > 1)
    return tensor;
  int64_t extent = tensor.shape()[0];
  return node.reshape(tensor, isLhs ? ArrayRef<int64_t>{1, extent} : ArrayRef<int64_t>{extent, 1});
}

// The i32 sums of a matrix product; the result has the rank that MatMul gives it.
static FailureOr<Tensor> multiplyIntegers(NodeImport &node, unsigned lhsIndex, unsigned lhsZero,
                                          unsigned rhsIndex, unsigned rhsZero,
                                          const Epilogue &epilogue) {
  if (failed(expectBytes(node, lhsIndex)) || failed(expectBytes(node, rhsIndex)))
    return failure();
  SmallVector<Tensor> ints;
  for (auto [index, zero] : {std::pair(lhsIndex, lhsZero), std::pair(rhsIndex, rhsZero)}) {
    bool isLhs = index == lhsIndex;
    FailureOr<Tensor> matrix = asMatrix(node, node.input(index), isLhs);
    if (failed(matrix))
      return failure();
    Tensor zeroPoint;
    if (node.hasInput(zero)) {
      FailureOr<Tensor> aligned = alongMatrix(node, node.input(zero), *matrix, isLhs);
      if (failed(aligned))
        return failure();
      zeroPoint = *aligned;
    }
    FailureOr<Tensor> difference = centered(node, *matrix, zeroPoint);
    if (failed(difference))
      return failure();
    ints.push_back(*difference);
  }
  FailureOr<Tensor> product = createMatmul(node, ints[0], ints[1], false, false, epilogue);
  if (failed(product))
    return failure();
  SmallVector<int64_t> shape(product->shape());
  if (node.input(rhsIndex).rank() == 1)
    shape.pop_back();
  if (node.input(lhsIndex).rank() == 1)
    shape.erase(shape.end() - (node.input(rhsIndex).rank() == 1 ? 1 : 2));
  return node.reshape(*product, shape);
}

LogicalResult convoy::onnx::importMatMulInteger(NodeImport &node) {
  return setResult(node, multiplyIntegers(node, 0, 2, 1, 3, {}));
}

LogicalResult convoy::onnx::importQLinearMatMul(NodeImport &node) {
  Type to = node.input(7).elementType();
  if (!isQuantizedType(to))
    return node.unsupported() << "results of " << to;
  FailureOr<Tensor> lhs = asMatrix(node, node.input(0), true);
  FailureOr<Tensor> rhs = asMatrix(node, node.input(3), false);
  if (failed(lhs) || failed(rhs))
    return failure();
  FailureOr<Tensor> lhsScale = alongMatrix(node, node.input(1), *lhs, true);
  FailureOr<Tensor> rhsScale = alongMatrix(node, node.input(4), *rhs, false);
  FailureOr<Tensor> dstScale = alongMatrix(node, node.input(6), *lhs, true);
  FailureOr<Tensor> dstZero = alongMatrix(node, node.input(7), *lhs, true);
  if (failed(lhsScale) || failed(rhsScale) || failed(dstScale) || failed(dstZero))
    return failure();
  FailureOr<Tensor> multiplier = combineScales(node, *lhsScale, *rhsScale, *dstScale);
  if (failed(multiplier))
    return failure();
  auto requantize = [&](ScalarBuilder &s, ArrayRef<Value> x) {
    ScalarBuilder f32 = s.of(f32Of(node));
    return quantize(f32, f32.mul(s.cast(x[0], f32.type()), x[1]), x[2], to);
  };
  Tensor extras[] = {*multiplier, *dstZero};
  return setResult(node, multiplyIntegers(node, 0, 2, 3, 5, {extras, to, requantize}));
}
