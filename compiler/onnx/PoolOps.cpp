// Pools, and the global pools, which are reductions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/Ops.h"
#include "compiler/onnx/WindowAttrs.h"

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
