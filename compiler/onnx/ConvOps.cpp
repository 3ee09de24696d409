// Conv and ConvTranspose.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/Ops.h"
#include "compiler/onnx/WindowAttrs.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;

// Gives the op the epilogue that adds the bias, or the identity, and sets the node's result.
template <typename OpTy> static LogicalResult finish(NodeImport &node, OpTy op) {
  OpBuilder &builder = node.getBuilder();
  Location loc = node.getLoc();
  if (op.getExtras().empty()) {
    cnn::buildIdentityEpilogue(builder, op.getEpilogue(), op.getAccumulatorType(), loc);
  } else {
    OpBuilder::InsertionGuard guard(builder);
    Type scalar = op.getAccumulatorType();
    Block *block = builder.createBlock(&op.getEpilogue(), {}, {scalar, scalar}, {loc, loc});
    Value sum =
        arith::AddFOp::create(builder, loc, block->getArgument(0), block->getArgument(1));
    cnn::YieldOp::create(builder, loc, sum);
  }
  FailureOr<Tensor> result = node.keep(op);
  if (failed(result))
    return failure();
  node.setResult(0, *result);
  return success();
}

// The bias as an operand of the epilogue; none if the node has none.
static FailureOr<SmallVector<Value>> importBias(NodeImport &node, int64_t channels) {
  SmallVector<Value> extras;
  if (!node.hasInput(2))
    return extras;
  const Tensor &bias = node.input(2);
  if (bias.rank() != 1 || bias.shape()[0] != channels ||
      bias.elementType() != node.input(0).elementType())
    return node.error() << "bias is " << bias.type() << ", expected a vector of " << channels
                        << " elements of " << node.input(0).elementType();
  FailureOr<Tensor> aligned = node.alongChannels(bias, node.input(0).rank());
  if (failed(aligned))
    return failure();
  FailureOr<Value> value = node.toValue(*aligned);
  if (failed(value))
    return failure();
  extras.push_back(*value);
  return extras;
}

// Checks what both ops have in common and returns the spatial extents of the kernel.
static FailureOr<SmallVector<int64_t>> kernelOf(NodeImport &node) {
  const Tensor &src = node.input(0), &wei = node.input(1);
  if (!isa<FloatType>(src.elementType()))
    return node.unsupported() << "elements of " << src.elementType();
  if (src.rank() < 3 || wei.rank() != src.rank())
    return node.error() << "has an input of rank " << src.rank() << " and weights of rank "
                        << wei.rank() << ", expected the same, at least 3";
  SmallVector<int64_t> kernel(wei.shape().drop_front(2));
  SmallVector<int64_t> given = node.intsAttr("kernel_shape", kernel);
  if (given != kernel)
    return node.error() << "attribute 'kernel_shape' is [" << given
                        << "], but the weights are " << wei.type();
  return kernel;
}

LogicalResult convoy::onnx::importConv(NodeImport &node) {
  FailureOr<SmallVector<int64_t>> kernel = kernelOf(node);
  if (failed(kernel))
    return failure();
  const Tensor &src = node.input(0), &wei = node.input(1);
  FailureOr<WindowAttrs> attrs = readWindowAttrs(node, *kernel);
  if (failed(attrs) || failed(resolveAutoPad(node, *attrs, src.shape().drop_front(2))))
    return failure();
  int64_t groups = node.intAttr("group", 1);
  FailureOr<RankedTensorType> type =
      cnn::ConvOp::inferType(node.getLoc(), src.type(), wei.type(), attrs->strides, attrs->pads,
                             attrs->dilations, groups);
  if (failed(type))
    return failure();
  FailureOr<SmallVector<Value>> extras = importBias(node, type->getDimSize(1));
  FailureOr<Value> srcValue = node.toValue(src), weiValue = node.toValue(wei);
  if (failed(extras) || failed(srcValue) || failed(weiValue))
    return failure();
  return finish(node, cnn::ConvOp::create(node.getBuilder(), node.getLoc(), *type, *srcValue,
                                          *weiValue, *extras, attrs->strides, attrs->pads,
                                          attrs->dilations, groups, StringAttr()));
}

// The pads that give a wanted output shape, or that auto_pad means. Where even no pad at all
// leaves the result too small, output_padding makes up for it.
static LogicalResult resolveTransposedPads(NodeImport &node, WindowAttrs &attrs,
                                           ArrayRef<int64_t> extents,
                                           MutableArrayRef<int64_t> outputPadding) {
  size_t rank = extents.size();
  SmallVector<int64_t> wanted = node.intsAttr("output_shape");
  // Some writers give the batch and the channels as well.
  if (wanted.size() == rank + 2)
    wanted.erase(wanted.begin(), wanted.begin() + 2);
  bool isSame = attrs.autoPad == AutoPad::SameUpper || attrs.autoPad == AutoPad::SameLower;
  bool isGiven = !wanted.empty();
  if (!isGiven && !isSame)
    return success();
  if (!isGiven)
    for (size_t i = 0; i < rank; ++i)
      wanted.push_back(extents[i] * attrs.strides[i]);
  if (wanted.size() != rank)
    return node.error() << "attribute 'output_shape' has " << wanted.size()
                        << " values, expected " << rank;
  for (size_t i = 0; i < rank; ++i) {
    int64_t reach = (attrs.kernel[i] - 1) * attrs.dilations[i] + 1;
    int64_t total =
        attrs.strides[i] * (extents[i] - 1) + outputPadding[i] + reach - wanted[i];
    if (total < 0)
      outputPadding[i] -= total;
    total = std::max<int64_t>(total, 0);
    int64_t smaller = total / 2, larger = total - smaller;
    // Before opset 11 the text has it the other way round for a given output_shape.
    bool isUpper = (attrs.autoPad == AutoPad::SameUpper) != (isGiven && node.opset() < 11);
    attrs.pads[i] = isUpper ? smaller : larger;
    attrs.pads[i + rank] = isUpper ? larger : smaller;
  }
  return success();
}

LogicalResult convoy::onnx::importConvTranspose(NodeImport &node) {
  FailureOr<SmallVector<int64_t>> kernel = kernelOf(node);
  if (failed(kernel))
    return failure();
  const Tensor &src = node.input(0), &wei = node.input(1);
  FailureOr<WindowAttrs> attrs = readWindowAttrs(node, *kernel);
  if (failed(attrs))
    return failure();
  SmallVector<int64_t> outputPadding =
      node.intsAttr("output_padding", SmallVector<int64_t>(kernel->size(), 0));
  if (outputPadding.size() != kernel->size())
    return node.error() << "attribute 'output_padding' has " << outputPadding.size()
                        << " values, expected " << kernel->size();
  ArrayRef<int64_t> extents = src.shape().drop_front(2);
  if (failed(checkPixels(node, "output_padding", outputPadding)) ||
      failed(checkPixels(node, "output_shape", node.intsAttr("output_shape"))) ||
      failed(checkExtents(node, extents)) ||
      failed(resolveTransposedPads(node, *attrs, extents, outputPadding)))
    return failure();
  int64_t groups = node.intAttr("group", 1);
  FailureOr<RankedTensorType> type = cnn::ConvTransposeOp::inferType(
      node.getLoc(), src.type(), wei.type(), attrs->strides, attrs->pads, attrs->dilations,
      outputPadding, groups);
  if (failed(type))
    return failure();
  FailureOr<SmallVector<Value>> extras = importBias(node, type->getDimSize(1));
  FailureOr<Value> srcValue = node.toValue(src), weiValue = node.toValue(wei);
  if (failed(extras) || failed(srcValue) || failed(weiValue))
    return failure();
  return finish(node, cnn::ConvTransposeOp::create(
                          node.getBuilder(), node.getLoc(), *type, *srcValue, *weiValue, *extras,
                          attrs->strides, attrs->pads, attrs->dilations, outputPadding, groups,
                          StringAttr()));
}
