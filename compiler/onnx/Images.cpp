// Models that declare a batch of 1, imported for a batch of any size.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/Images.h"

#include "llvm/ADT/StringSet.h"

using namespace convoy;
using namespace convoy::onnx;

// Ops that are not here see the whole tensor, or dimension 0 is not the batch to them: NonZero
// lists places in it, DynamicQuantizeLinear has one scale for all of it, a sequence of an LSTM runs
// along it.
static const llvm::StringSet<> &separateOps() {
  static const llvm::StringSet<> ops = {
      "Abs", "Acos", "Acosh", "Add", "Affine", "And", "ArgMax", "ArgMin", "Asin", "Asinh", "Atan", "Atanh",
      "AveragePool", "BatchNormalization", "BitShift", "BitwiseAnd", "BitwiseNot", "BitwiseOr",
      "BitwiseXor", "Cast", "CastLike", "Ceil", "Celu", "CenterCropPad", "Clip", "Concat", "Conv",
      "ConvInteger", "ConvTranspose", "Cos", "Cosh", "Crop", "CumSum", "DeformConv", "DepthToSpace",
      "DequantizeLinear", "Div", "Dropout", "DynamicSlice", "Einsum", "Elu", "Equal", "Erf", "Exp", "Expand", "FC",
      "Flatten", "Floor", "FusedConv", "FusedMatMul", "Gather", "GatherElements", "GatherND", "Gelu",
      "Gemm", "GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool", "Greater", "GreaterOrEqual",
      "GridSample", "GroupNormalization", "HardSigmoid", "HardSwish", "Hardmax", "Identity",
      "ImageScaler", "InstanceNormalization", "IsInf", "IsNaN", "LRN", "LayerNormalization",
      "LeakyRelu", "Less", "LessOrEqual", "Log", "LogSoftmax", "LpNormalization", "LpPool", "MatMul",
      "MatMulInteger", "Max", "MaxPool", "Mean", "MeanVarianceNormalization", "Min", "Mish", "Mod",
      "Mul", "Neg", "Not", "OneHot", "Or", "PRelu", "Pad", "ParametricSoftplus", "Pow", "QLinearAdd", "QLinearConcat",
      "QLinearConv", "QLinearGlobalAveragePool", "QLinearLeakyRelu", "QLinearMatMul", "QLinearMul",
      "QLinearSigmoid", "QuantizeLinear", "RMSNormalization", "Reciprocal", "ReduceL1", "ReduceL2",
      "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
      "ReduceSum", "ReduceSumSquare", "Relu", "Reshape", "Resize", "Round", "Scale", "ScaledTanh",
      "Scatter",
      "ScatterElements", "ScatterND", "Selu", "Shape", "Shrink", "Sigmoid", "Sign", "Sin", "Sinh",
      "Size", "Slice", "Softmax", "Softplus", "Softsign", "SpaceToDepth", "Split", "Sqrt", "Squeeze",
      "Sub", "Sum", "Swish", "Tan", "Tanh", "ThresholdedRelu", "Tile", "TopK", "Transpose",
      "Unsqueeze", "Upsample", "Where", "Xor"};
  return ops;
}

bool convoy::onnx::keepsImagesApart(const NodeImport &node) {
  // Its indices count from the first element of the first image.
  if (node.opType() == "MaxPool")
    return !node.hasOutput(1);
  // Rows of a matrix are counted along dimension 0.
  if (node.opType() == "Trilu")
    return node.input(0).rank() > 2;
  return separateOps().contains(node.opType());
}
