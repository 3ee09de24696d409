// Pools, and the global pools, which are reductions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/Compose.h"
#include "compiler/onnx/Ops.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;

namespace {
struct Pool {
  WindowAttrs window;
  bool ceilMode;
};
} // namespace

static FailureOr<Pool> readPool(NodeImport &node) {
  if (!node.hasAttr("kernel_shape"))
    return node.error() << "lacks attribute 'kernel_shape'";
  SmallVector<int64_t> kernel = node.intsAttr("kernel_shape");
  FailureOr<WindowAttrs> window = readWindowAttrs(node, kernel);
  ArrayRef<int64_t> shape = node.input(0).shape();
  if (failed(window))
    return failure();
  if (shape.size() < 3)
    return node.error() << "needs an input of rank 3 or more, got " << node.input(0).type();
  if (failed(resolveAutoPad(node, *window, shape.drop_front(2))))
    return failure();
  // With auto_pad the extent follows from it alone.
  bool ceilMode = node.intAttr("ceil_mode", 0) != 0 && window->autoPad == AutoPad::NotSet;
  return Pool{*window, ceilMode};
}

static LogicalResult importPool(NodeImport &node, const Pool &pool, cnn::PoolKind kind,
                                bool countIncludePad) {
  const WindowAttrs &window = pool.window;
  FailureOr<RankedTensorType> type =
      cnn::PoolOp::inferType(node.getLoc(), node.input(0).type(), window.kernel, window.strides,
                             window.pads, window.dilations, pool.ceilMode);
  if (failed(type))
    return failure();
  FailureOr<Value> src = node.toValue(node.input(0));
  if (failed(src))
    return failure();
  FailureOr<Tensor> result = node.createWithIdentity<cnn::PoolOp>(
      *type, *src, ValueRange(), kind, window.kernel, window.strides, window.pads,
      window.dilations, pool.ceilMode, countIncludePad, StringAttr());
  if (failed(result))
    return failure();
  node.setResult(0, *result);
  return success();
}

LogicalResult convoy::onnx::importAveragePool(NodeImport &node) {
  FailureOr<Pool> pool = readPool(node);
  if (failed(pool))
    return failure();
  if (!isa<FloatType>(node.input(0).elementType()))
    return node.unsupported() << "elements of " << node.input(0).elementType();
  return importPool(node, *pool, cnn::PoolKind::Average,
                    node.intAttr("count_include_pad", 0) != 0);
}

LogicalResult convoy::onnx::importMaxPool(NodeImport &node) {
  FailureOr<Pool> pool = readPool(node);
  if (failed(pool))
    return failure();
  int64_t columnMajor = node.intAttr("storage_order", 0);
  if (node.hasOutput(0) && failed(importPool(node, *pool, cnn::PoolKind::Max, false)))
    return failure();
  if (!node.hasOutput(1))
    return success();
  const Tensor &src = node.input(0);
  const WindowAttrs &window = pool->window;
  FailureOr<RankedTensorType> type =
      cnn::PoolOp::inferType(node.getLoc(), src.type(), window.kernel, window.strides, window.pads,
                             window.dilations, pool->ceilMode);
  FailureOr<Value> value = node.toValue(src);
  if (failed(type) || failed(value))
    return failure();
  FailureOr<Tensor> indices = node.create<cnn::PoolArgmaxOp>(
      RankedTensorType::get(type->getShape(), IntegerType::get(node.getContext(), 64)), *value,
      window.kernel, window.strides, window.pads, window.dilations, pool->ceilMode,
      columnMajor != 0, StringAttr());
  if (failed(indices))
    return failure();
  node.setResult(1, *indices);
  return success();
}

static LogicalResult importGlobalPool(NodeImport &node, cnn::ReduceKind kind) {
  const Tensor &src = node.input(0);
  if (src.rank() < 3 || !isa<FloatType>(src.elementType()))
    return node.error() << "needs an input of rank 3 or more with floating-point elements, got "
                        << src.type();
  auto axes = llvm::to_vector(llvm::seq<int64_t>(2, src.rank()));
  FailureOr<RankedTensorType> type =
      cnn::ReduceOp::inferType(node.getLoc(), src.type(), axes, /*keepDims=*/true);
  FailureOr<Value> value = node.toValue(src);
  if (failed(type) || failed(value))
    return failure();
  FailureOr<Tensor> result = node.createWithIdentity<cnn::ReduceOp>(
      *type, *value, ValueRange(), kind, axes, /*keep_dims=*/true, StringAttr());
  if (failed(result))
    return failure();
  node.setResult(0, *result);
  return success();
}

LogicalResult convoy::onnx::importGlobalAveragePool(NodeImport &node) {
  return importGlobalPool(node, cnn::ReduceKind::Mean);
}

LogicalResult convoy::onnx::importGlobalMaxPool(NodeImport &node) {
  return importGlobalPool(node, cnn::ReduceKind::Max);
}

// |x|^p
static Value power(ScalarBuilder &s, Value x, double p) {
  if (p == 1)
    return s.abs(x);
  return p == 2 ? s.mul(x, x) : s.make<math::PowFOp>(s.abs(x), s.number(p));
}

static Value root(ScalarBuilder &s, Value x, double p) {
  if (p == 1)
    return x;
  return p == 2 ? s.make<math::SqrtOp>(x) : s.make<math::PowFOp>(x, s.number(1 / p));
}

// The attribute p, and |x|^p in a type wide enough for sums of it.
static FailureOr<Tensor> readPowers(NodeImport &node, double &p) {
  const Tensor &src = node.input(0);
  p = node.opset() < 2 ? node.floatAttr("p", 2) : static_cast<double>(node.intAttr("p", 2));
  if (src.rank() < 3 || !isa<FloatType>(src.elementType()))
    return node.error() << "needs an input of rank 3 or more with floating-point elements, got "
                        << src.type();
  if (!(p > 0))
    return node.error() << "attribute 'p' is " << p << ", expected a positive number";
  bool isHalf = src.elementType().getIntOrFloatBitWidth() < 32;
  Type wide = isHalf ? Type(Float32Type::get(node.getContext())) : src.elementType();
  return createMap(node, {src}, wide, [&](ScalarBuilder &s, ArrayRef<Value> x) {
    ScalarBuilder work = s.of(wide);
    return power(work, s.cast(x[0], wide), p);
  });
}

// The sum over a window is a convolution of each channel by ones.
LogicalResult convoy::onnx::importLpPool(NodeImport &node) {
  double p;
  FailureOr<Tensor> powers = readPowers(node, p);
  if (failed(powers))
    return failure();
  FailureOr<Pool> pool = readPool(node);
  if (failed(pool))
    return failure();
  WindowAttrs &window = pool->window;
  FailureOr<RankedTensorType> type =
      cnn::PoolOp::inferType(node.getLoc(), powers->type(), window.kernel, window.strides,
                             window.pads, window.dilations, pool->ceilMode);
  if (failed(type))
    return failure();
  // Rounding the extent up reaches beyond the end padding, where there is nothing to add.
  size_t rank = window.kernel.size();
  for (size_t i = 0; i < rank; ++i) {
    int64_t reach = (type->getDimSize(i + 2) - 1) * window.strides[i] +
                    (window.kernel[i] - 1) * window.dilations[i] + 1;
    int64_t needed = reach - window.pads[i] - powers->shape()[i + 2];
    window.pads[i + rank] = std::max(window.pads[i + rank], needed);
  }
  // Without channels there is one group of none.
  int64_t channels = powers->shape()[1], groups = std::max<int64_t>(channels, 1);
  SmallVector<int64_t> shape{channels, channels / groups};
  llvm::append_range(shape, window.kernel);
  Type wide = powers->elementType(), elementType = node.input(0).elementType();
  auto one = DenseElementsAttr::get(RankedTensorType::get({}, wide),
                                    node.getBuilder().getFloatAttr(wide, 1));
  FailureOr<Tensor> ones = node.splat(RankedTensorType::get(shape, wide), one);
  if (failed(ones))
    return failure();
  return setResult(node, createConv(node, *powers, *ones, window, groups,
                                    {{}, elementType, [&](ScalarBuilder &s, ArrayRef<Value> x) {
                                       return s.cast(root(s, x[0], p), elementType);
                                     }}));
}

LogicalResult convoy::onnx::importGlobalLpPool(NodeImport &node) {
  double p;
  FailureOr<Tensor> powers = readPowers(node, p);
  if (failed(powers))
    return failure();
  Type elementType = node.input(0).elementType();
  auto axes = llvm::to_vector(llvm::seq<int64_t>(2, powers->rank()));
  return setResult(node, createReduce(node, *powers, cnn::ReduceKind::Sum, axes, /*keepDims=*/true,
                                      {{}, elementType, [&](ScalarBuilder &s, ArrayRef<Value> x) {
                                         return s.cast(root(s, x[0], p), elementType);
                                       }}));
}
