// Every ONNX op that Convoy imports. What differs between opsets is a row of its own here, or is
// settled in the row's function; nothing after the importer knows opsets.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/OpTable.h"

#include "compiler/onnx/Importer.h"
#include "compiler/onnx/Ops.h"

using namespace convoy;
using namespace convoy::onnx;

// Inputs without a limit in number.
static constexpr unsigned kAny = ~0u;
static constexpr int64_t kNow = kNewestOpset;
// What a row says of folding.
static constexpr bool kFolds = true, kStays = false;

// Name, opsets from and to, function, least and most inputs, inputs whose value decides a shape
// (bit i: input i), whether known inputs are computed here.
static constexpr OpEntry table[] = {
    {"Abs", 6, kNow, importElementwise, 1, 1, 0, kFolds},
    {"Acos", 7, kNow, importElementwise, 1, 1, 0, kStays},
    {"Acosh", 9, kNow, importElementwise, 1, 1, 0, kStays},
    {"Add", 6, 6, importAxisBroadcast, 2, 2, 0, kStays},
    {"Add", 7, kNow, importElementwise, 2, 2, 0, kFolds},
    {"Affine", 1, kNow, importElementwise, 1, 1, 0, kStays},
    {"AffineGrid", 20, kNow, importAffineGrid, 2, 2, 1 << 1, kStays},
    {"And", 1, 6, importAxisBroadcast, 2, 2, 0, kStays},
    {"And", 7, kNow, importElementwise, 2, 2, 0, kFolds},
    {"ArgMax", 1, kNow, importArgExtreme, 1, 1, 0, kFolds},
    {"ArgMin", 1, kNow, importArgExtreme, 1, 1, 0, kFolds},
    {"Asin", 7, kNow, importElementwise, 1, 1, 0, kStays},
    {"Asinh", 9, kNow, importElementwise, 1, 1, 0, kStays},
    {"Atan", 7, kNow, importElementwise, 1, 1, 0, kStays},
    {"Atanh", 9, kNow, importElementwise, 1, 1, 0, kStays},
    {"AveragePool", 1, kNow, importAveragePool, 1, 1, 0, kStays},
    {"BatchNormalization", 6, kNow, importBatchNormalization, 5, 5, 0, kStays},
    {"BitShift", 11, kNow, importElementwise, 2, 2, 0, kStays},
    {"BitwiseAnd", 18, kNow, importElementwise, 2, 2, 0, kStays},
    {"BitwiseNot", 18, kNow, importElementwise, 1, 1, 0, kStays},
    {"BitwiseOr", 18, kNow, importElementwise, 2, 2, 0, kStays},
    {"BitwiseXor", 18, kNow, importElementwise, 2, 2, 0, kStays},
    {"Cast", 6, kNow, importCast, 1, 1, 0, kFolds},
    {"CastLike", 15, kNow, importCastLike, 2, 2, 0, kFolds},
    {"Ceil", 6, kNow, importElementwise, 1, 1, 0, kFolds},
    {"Celu", 12, kNow, importElementwise, 1, 1, 0, kStays},
    {"CenterCropPad", 18, kNow, importCenterCropPad, 2, 2, 1 << 1, kFolds},
    {"Clip", 6, 10, importClipAttrs, 1, 1, 0, kStays},
    {"Clip", 11, kNow, importClip, 1, 3, 0, kStays},
    {"Compress", 9, kNow, importCompress, 2, 2, 0, kFolds},
    {"Concat", 4, kNow, importConcat, 1, kAny, 0, kFolds},
    {"Constant", 1, kNow, importConstant, 0, 0, 0, kFolds},
    {"ConstantFill", 1, kNow, importConstantFill, 0, 1, 1, kFolds},
    {"ConstantOfShape", 9, kNow, importConstantOfShape, 1, 1, 1, kFolds},
    {"Conv", 1, kNow, importConv, 2, 3, 0, kStays},
    {"ConvInteger", 10, kNow, importConvInteger, 2, 4, 0, kStays},
    {"ConvTranspose", 1, kNow, importConvTranspose, 2, 3, 0, kStays},
    {"Crop", 1, kNow, importCrop, 1, 1, 0, kStays},
    {"CumSum", 11, kNow, importCumSum, 2, 2, 1 << 1, kFolds},
    {"Cos", 7, kNow, importElementwise, 1, 1, 0, kStays},
    {"Cosh", 9, kNow, importElementwise, 1, 1, 0, kStays},
    {"DeformConv", 19, kNow, importDeformConv, 3, 5, 0, kStays},
    {"DepthToSpace", 1, kNow, importDepthToSpace, 1, 1, 0, kStays},
    {"DequantizeLinear", 10, kNow, importDequantizeLinear, 2, 3, 0, kStays},
    {"Div", 6, 6, importAxisBroadcast, 2, 2, 0, kStays},
    {"Div", 7, kNow, importElementwise, 2, 2, 0, kFolds},
    {"Dropout", 6, 11, importDropoutRatioAttr, 1, 1, 0, kStays},
    {"Dropout", 12, kNow, importDropout, 1, 3, 1 << 2, kStays},
    {"Einsum", 12, kNow, importEinsum, 1, kAny, 0, kFolds},
    {"DynamicQuantizeLinear", 11, kNow, importDynamicQuantizeLinear, 1, 1, 0, kStays},
    {"DynamicSlice", 1, kNow, importSlice, 3, 4, 1 << 1 | 1 << 2 | 1 << 3, kFolds},
    {"Elu", 6, kNow, importElementwise, 1, 1, 0, kStays},
    {"Equal", 1, 6, importAxisBroadcast, 2, 2, 0, kStays},
    {"Equal", 7, kNow, importElementwise, 2, 2, 0, kFolds},
    {"Erf", 9, kNow, importElementwise, 1, 1, 0, kStays},
    {"Exp", 6, kNow, importElementwise, 1, 1, 0, kStays},
    {"Expand", 8, kNow, importExpand, 2, 2, 1 << 1, kFolds},
    {"EyeLike", 9, kNow, importEyeLike, 1, 1, 0, kFolds},
    {"FC", 1, kNow, importFc, 3, 3, 0, kStays},
    {"Flatten", 1, kNow, importFlatten, 1, 1, 0, kFolds},
    {"Floor", 6, kNow, importElementwise, 1, 1, 0, kFolds},
    {"GRU", 7, kNow, importGru, 3, 6, 0, kStays},
    {"Gather", 1, kNow, importGather, 2, 2, 0, kFolds},
    {"GatherElements", 11, kNow, importGatherElements, 2, 2, 0, kFolds},
    {"GatherND", 11, kNow, importGatherNd, 2, 2, 0, kFolds},
    {"Gelu", 20, kNow, importElementwise, 1, 1, 0, kStays},
    {"Gemm", 6, 10, importGemm, 3, 3, 0, kStays},
    {"Gemm", 11, kNow, importGemm, 2, 3, 0, kStays},
    {"GivenTensorFill", 1, kNow, importGivenTensorFill, 0, 1, 1, kFolds},
    {"GlobalAveragePool", 1, kNow, importGlobalAveragePool, 1, 1, 0, kStays},
    {"GlobalLpPool", 1, kNow, importGlobalLpPool, 1, 1, 0, kStays},
    {"GlobalMaxPool", 1, kNow, importGlobalMaxPool, 1, 1, 0, kStays},
    {"Greater", 1, 6, importAxisBroadcast, 2, 2, 0, kStays},
    {"Greater", 7, kNow, importElementwise, 2, 2, 0, kFolds},
    {"GreaterOrEqual", 12, kNow, importElementwise, 2, 2, 0, kFolds},
    {"GridSample", 16, kNow, importGridSample, 2, 2, 0, kStays},
    {"GroupNormalization", 18, kNow, importGroupNormalization, 3, 3, 0, kStays},
    {"HardSigmoid", 6, kNow, importElementwise, 1, 1, 0, kStays},
    {"HardSwish", 14, kNow, importElementwise, 1, 1, 0, kStays},
    {"Hardmax", 1, kNow, importHardmax, 1, 1, 0, kFolds},
    {"Identity", 1, kNow, importIdentity, 1, 1, 0, kFolds},
    {"If", 1, kNow, importIf, 1, 1, 0, kFolds},
    {"ImageScaler", 1, kNow, importImageScaler, 1, 1, 0, kStays},
    {"InstanceNormalization", 1, kNow, importInstanceNormalization, 3, 3, 0, kStays},
    {"IsInf", 10, kNow, importElementwise, 1, 1, 0, kStays},
    {"IsNaN", 9, kNow, importElementwise, 1, 1, 0, kStays},
    {"LRN", 1, kNow, importLrn, 1, 1, 0, kStays},
    {"LayerNormalization", 17, kNow, importLayerNormalization, 2, 3, 0, kStays},
    {"LSTM", 1, kNow, importLstm, 3, 8, 0, kStays},
    {"LeakyRelu", 6, kNow, importElementwise, 1, 1, 0, kStays},
    {"Less", 1, 6, importAxisBroadcast, 2, 2, 0, kStays},
    {"Less", 7, kNow, importElementwise, 2, 2, 0, kFolds},
    {"LessOrEqual", 12, kNow, importElementwise, 2, 2, 0, kFolds},
    {"Log", 6, kNow, importElementwise, 1, 1, 0, kStays},
    {"LogSoftmax", 1, 12, importSoftmaxFlattened, 1, 1, 0, kStays},
    {"LogSoftmax", 13, kNow, importSoftmax, 1, 1, 0, kStays},
    {"LpNormalization", 1, kNow, importLpNormalization, 1, 1, 0, kStays},
    {"LpPool", 1, kNow, importLpPool, 1, 1, 0, kStays},
    {"MatMul", 1, kNow, importMatMul, 2, 2, 0, kStays},
    {"MatMulInteger", 10, kNow, importMatMulInteger, 2, 4, 0, kStays},
    {"Max", 6, kNow, importElementwise, 1, kAny, 0, kFolds},
    {"MaxPool", 1, kNow, importMaxPool, 1, 1, 0, kStays},
    {"MaxUnpool", 9, kNow, importMaxUnpool, 2, 3, 1 << 2, kStays},
    {"Mean", 6, kNow, importElementwise, 1, kAny, 0, kStays},
    {"MeanVarianceNormalization", 1, 8, importMeanVarianceNormalizationAttrs, 1, 1, 0, kStays},
    {"MeanVarianceNormalization", 9, kNow, importMeanVarianceNormalization, 1, 1, 0, kStays},
    {"Min", 6, kNow, importElementwise, 1, kAny, 0, kFolds},
    {"Mish", 18, kNow, importElementwise, 1, 1, 0, kStays},
    {"Mod", 10, kNow, importElementwise, 2, 2, 0, kFolds},
    {"Mul", 6, 6, importAxisBroadcast, 2, 2, 0, kStays},
    {"Mul", 7, kNow, importElementwise, 2, 2, 0, kFolds},
    {"Neg", 6, kNow, importElementwise, 1, 1, 0, kFolds},
    {"NonMaxSuppression", 10, kNow, importNonMaxSuppression, 2, 5, 0, kStays},
    {"NonZero", 9, kNow, importNonZero, 1, 1, 0, kFolds},
    {"Not", 1, kNow, importElementwise, 1, 1, 0, kFolds},
    {"OneHot", 9, kNow, importOneHot, 3, 3, 1 << 1, kFolds},
    {"Or", 1, 6, importAxisBroadcast, 2, 2, 0, kStays},
    {"Or", 7, kNow, importElementwise, 2, 2, 0, kFolds},
    {"PRelu", 6, 6, importPReluChannels, 2, 2, 0, kStays},
    {"PRelu", 7, kNow, importPRelu, 2, 2, 0, kStays},
    {"Pad", 2, 10, importPadAttrs, 1, 1, 0, kStays},
    {"Pad", 11, 17, importPad, 2, 3, 1 << 1, kStays},
    {"Pad", 18, kNow, importPad, 2, 4, 1 << 1 | 1 << 3, kStays},
    {"ParametricSoftplus", 1, kNow, importElementwise, 1, 1, 0, kStays},
    {"Pow", 1, 6, importAxisBroadcast, 2, 2, 0, kStays},
    {"Pow", 7, kNow, importPow, 2, 2, 0, kStays},
    {"Range", 11, kNow, importRange, 3, 3, 1 | 1 << 1 | 1 << 2, kFolds},
    {"QLinearConv", 10, kNow, importQLinearConv, 8, 9, 0, kStays},
    {"QLinearMatMul", 10, kNow, importQLinearMatMul, 8, 8, 0, kStays},
    {"QuantizeLinear", 10, kNow, importQuantizeLinear, 2, 3, 0, kStays},
    {"RMSNormalization", 23, kNow, importRmsNormalization, 2, 2, 0, kStays},
    {"RNN", 1, kNow, importRnn, 3, 6, 0, kStays},
    {"Reciprocal", 6, kNow, importElementwise, 1, 1, 0, kFolds},
    {"ReduceL1", 1, 17, importReduceAxesAttr, 1, 1, 0, kStays},
    {"ReduceL1", 18, kNow, importReduce, 1, 2, 1 << 1, kStays},
    {"ReduceL2", 1, 17, importReduceAxesAttr, 1, 1, 0, kStays},
    {"ReduceL2", 18, kNow, importReduce, 1, 2, 1 << 1, kStays},
    {"ReduceLogSum", 1, 17, importReduceAxesAttr, 1, 1, 0, kStays},
    {"ReduceLogSum", 18, kNow, importReduce, 1, 2, 1 << 1, kStays},
    {"ReduceLogSumExp", 1, 17, importReduceAxesAttr, 1, 1, 0, kStays},
    {"ReduceLogSumExp", 18, kNow, importReduce, 1, 2, 1 << 1, kStays},
    {"ReduceMax", 1, 17, importReduceAxesAttr, 1, 1, 0, kStays},
    {"ReduceMax", 18, kNow, importReduce, 1, 2, 1 << 1, kStays},
    {"ReduceMean", 1, 17, importReduceAxesAttr, 1, 1, 0, kStays},
    {"ReduceMean", 18, kNow, importReduce, 1, 2, 1 << 1, kStays},
    {"ReduceMin", 1, 17, importReduceAxesAttr, 1, 1, 0, kStays},
    {"ReduceMin", 18, kNow, importReduce, 1, 2, 1 << 1, kStays},
    {"ReduceProd", 1, 17, importReduceAxesAttr, 1, 1, 0, kFolds},
    {"ReduceProd", 18, kNow, importReduce, 1, 2, 1 << 1, kFolds},
    {"ReduceSum", 1, 12, importReduceAxesAttr, 1, 1, 0, kFolds},
    {"ReduceSum", 13, kNow, importReduce, 1, 2, 1 << 1, kFolds},
    {"ReduceSumSquare", 1, 17, importReduceAxesAttr, 1, 1, 0, kStays},
    {"ReduceSumSquare", 18, kNow, importReduce, 1, 2, 1 << 1, kStays},
    {"Relu", 6, kNow, importElementwise, 1, 1, 0, kStays},
    {"Reshape", 5, kNow, importReshape, 2, 2, 1 << 1, kFolds},
    {"Resize", 10, 10, importResize10, 2, 2, 1 << 1, kStays},
    {"Resize", 11, kNow, importResize, 1, 4, 1 << 1 | 1 << 2 | 1 << 3, kStays},
    {"RoiAlign", 10, kNow, importRoiAlign, 3, 3, 0, kStays},
    {"Round", 11, kNow, importElementwise, 1, 1, 0, kFolds},
    {"Scale", 1, kNow, importElementwise, 1, 1, 0, kStays},
    {"ScaledTanh", 1, kNow, importElementwise, 1, 1, 0, kStays},
    {"Scatter", 9, 10, importScatterElements, 3, 3, 0, kFolds},
    {"ScatterElements", 11, kNow, importScatterElements, 3, 3, 0, kFolds},
    {"ScatterND", 11, kNow, importScatterNd, 3, 3, 0, kFolds},
    {"Selu", 6, kNow, importElementwise, 1, 1, 0, kStays},
    {"Shape", 1, kNow, importShape, 1, 1, 0, kFolds},
    {"Shrink", 9, kNow, importElementwise, 1, 1, 0, kStays},
    {"Sigmoid", 6, kNow, importElementwise, 1, 1, 0, kStays},
    {"Sign", 9, kNow, importElementwise, 1, 1, 0, kStays},
    {"Sin", 7, kNow, importElementwise, 1, 1, 0, kStays},
    {"Sinh", 9, kNow, importElementwise, 1, 1, 0, kStays},
    {"Size", 1, kNow, importSize, 1, 1, 0, kFolds},
    {"Slice", 1, 9, importSliceAttrs, 1, 1, 0, kFolds},
    {"Slice", 10, kNow, importSlice, 3, 5, 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4, kFolds},
    {"Softmax", 1, 12, importSoftmaxFlattened, 1, 1, 0, kStays},
    {"Softmax", 13, kNow, importSoftmax, 1, 1, 0, kStays},
    {"Softplus", 1, kNow, importElementwise, 1, 1, 0, kStays},
    {"Softsign", 1, kNow, importElementwise, 1, 1, 0, kStays},
    {"SpaceToDepth", 1, kNow, importSpaceToDepth, 1, 1, 0, kStays},
    {"Split", 2, 12, importSplitAttr, 1, 1, 0, kFolds},
    {"Split", 13, kNow, importSplit, 1, 2, 1 << 1, kFolds},
    {"Sqrt", 6, kNow, importElementwise, 1, 1, 0, kFolds},
    {"Squeeze", 1, 12, importSqueezeAttr, 1, 1, 0, kFolds},
    {"Squeeze", 13, kNow, importSqueeze, 1, 2, 1 << 1, kFolds},
    {"Sub", 6, 6, importAxisBroadcast, 2, 2, 0, kStays},
    {"Sub", 7, kNow, importElementwise, 2, 2, 0, kFolds},
    {"Sum", 6, kNow, importElementwise, 1, kAny, 0, kFolds},
    {"Swish", 24, kNow, importElementwise, 1, 1, 0, kStays},
    {"Tan", 7, kNow, importElementwise, 1, 1, 0, kStays},
    {"Tanh", 6, kNow, importElementwise, 1, 1, 0, kStays},
    {"ThresholdedRelu", 1, kNow, importElementwise, 1, 1, 0, kStays},
    {"Tile", 6, kNow, importTile, 2, 2, 1 << 1, kFolds},
    {"TopK", 1, 9, importTopKAttr, 1, 1, 0, kFolds},
    {"TopK", 10, kNow, importTopK, 2, 2, 1 << 1, kFolds},
    {"Transpose", 1, kNow, importTranspose, 1, 1, 0, kFolds},
    {"Trilu", 14, kNow, importTrilu, 1, 2, 0, kFolds},
    {"Unique", 11, kNow, importUnique, 1, 1, 0, kStays},
    {"Unsqueeze", 1, 12, importUnsqueezeAttr, 1, 1, 0, kFolds},
    {"Unsqueeze", 13, kNow, importUnsqueeze, 2, 2, 1 << 1, kFolds},
    {"Upsample", 1, 6, importUpsampleHeightWidth, 1, 1, 0, kStays},
    {"Upsample", 7, 8, importUpsampleAttr, 1, 1, 0, kStays},
    {"Upsample", 9, 9, importUpsample, 2, 2, 1 << 1, kStays},
    {"Where", 9, kNow, importWhere, 3, 3, 0, kFolds},
    {"Xor", 1, 6, importAxisBroadcast, 2, 2, 0, kStays},
    {"Xor", 7, kNow, importElementwise, 2, 2, 0, kFolds},
};

// Ops of domain com.microsoft that onnxruntime's quantizers and optimizers leave in a model. The
// domain's only opset is 1.
static constexpr OpEntry microsoftTable[] = {
    {"FusedConv", 1, 1, importFusedConv, 2, 4, 0, kStays},
    {"FusedMatMul", 1, 1, importFusedMatMul, 2, 2, 0, kStays},
    {"Gelu", 1, 1, importElementwise, 1, 1, 0, kStays},
    {"QLinearAdd", 1, 1, importQLinearBinary, 7, 8, 0, kStays},
    {"QLinearConcat", 1, 1, importQLinearConcat, 5, kAny, 0, kStays},
    {"QLinearGlobalAveragePool", 1, 1, importQLinearGlobalAveragePool, 4, 5, 0, kStays},
    {"QLinearLeakyRelu", 1, 1, importQLinearUnary, 4, 5, 0, kStays},
    {"QLinearMul", 1, 1, importQLinearBinary, 7, 8, 0, kStays},
    {"QLinearSigmoid", 1, 1, importQLinearUnary, 4, 5, 0, kStays},
};

llvm::ArrayRef<OpEntry> convoy::onnx::opTable() { return table; }
llvm::ArrayRef<OpEntry> convoy::onnx::microsoftOpTable() { return microsoftTable; }

static llvm::ArrayRef<OpEntry> tableOf(llvm::StringRef domain) {
  return domain.empty()               ? opTable()
         : domain == kMicrosoftDomain ? microsoftOpTable()
                                      : llvm::ArrayRef<OpEntry>();
}

const OpEntry *convoy::onnx::findOp(llvm::StringRef domain, llvm::StringRef name, int64_t opset) {
  for (const OpEntry &entry : tableOf(domain))
    if (entry.name == name && entry.from <= opset && opset <= entry.to)
      return &entry;
  return nullptr;
}

std::string convoy::onnx::knownOpsets(llvm::StringRef domain, llvm::StringRef name) {
  std::optional<int64_t> from, to;
  for (const OpEntry &entry : tableOf(domain)) {
    if (entry.name != name)
      continue;
    from = std::min(from.value_or(entry.from), entry.from);
    to = std::max(to.value_or(entry.to), entry.to);
  }
  if (!from)
    return "";
  return from == to ? "opset " + std::to_string(*from)
                    : "opsets " + std::to_string(*from) + " to " + std::to_string(*to);
}
