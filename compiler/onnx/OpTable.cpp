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
// (bit i: input i), whether known inputs are computed here, types of the inputs, limits.
// docs/supported-ops.md is written from this table alone.
static constexpr OpEntry table[] = {
    {"Abs", 6, kNow, importElementwise, 1, 1, 0, kFolds, "num"},
    {"Acos", 7, kNow, importElementwise, 1, 1, 0, kStays, "float"},
    {"Acosh", 9, kNow, importElementwise, 1, 1, 0, kStays, "float"},
    {"Add", 6, 6, importAxisBroadcast, 2, 2, 0, kStays, "float|wide =0"},
    {"Add", 7, kNow, importElementwise, 2, 2, 0, kFolds, "num =0"},
    {"Affine", 1, kNow, importElementwise, 1, 1, 0, kStays, "float"},
    {"AffineGrid", 20, kNow, importAffineGrid, 2, 2, 1 << 1, kStays, "float i64"},
    {"And", 1, 6, importAxisBroadcast, 2, 2, 0, kStays, "bool =0"},
    {"And", 7, kNow, importElementwise, 2, 2, 0, kFolds, "bool =0"},
    {"ArgMax", 1, kNow, importArgExtreme, 1, 1, 0, kFolds, "num"},
    {"ArgMin", 1, kNow, importArgExtreme, 1, 1, 0, kFolds, "num"},
    {"Asin", 7, kNow, importElementwise, 1, 1, 0, kStays, "float"},
    {"Asinh", 9, kNow, importElementwise, 1, 1, 0, kStays, "float"},
    {"Atan", 7, kNow, importElementwise, 1, 1, 0, kStays, "float"},
    {"Atanh", 9, kNow, importElementwise, 1, 1, 0, kStays, "float"},
    {"AveragePool", 1, kNow, importAveragePool, 1, 1, 0, kStays, "float"},
    {"BatchNormalization", 6, kNow, importBatchNormalization, 5, 5, 0, kStays,
     "float float =1 float =3",
     "no training; no spatial=0"},
    {"BitShift", 11, kNow, importElementwise, 2, 2, 0, kStays, "uint =0", "no signed types"},
    {"BitwiseAnd", 18, kNow, importElementwise, 2, 2, 0, kStays, "int =0"},
    {"BitwiseNot", 18, kNow, importElementwise, 1, 1, 0, kStays, "int"},
    {"BitwiseOr", 18, kNow, importElementwise, 2, 2, 0, kStays, "int =0"},
    {"BitwiseXor", 18, kNow, importElementwise, 2, 2, 0, kStays, "int =0"},
    {"Cast", 6, kNow, importCast, 1, 1, 0, kFolds, "any",
     "to a type of any"},
    {"CastLike", 15, kNow, importCastLike, 2, 2, 0, kFolds, "any any"},
    {"Ceil", 6, kNow, importElementwise, 1, 1, 0, kFolds, "float"},
    {"Celu", 12, kNow, importElementwise, 1, 1, 0, kStays, "float"},
    {"CenterCropPad", 18, kNow, importCenterCropPad, 2, 2, 1 << 1, kFolds, "any index"},
    {"Clip", 6, 10, importClipAttrs, 1, 1, 0, kStays, "float"},
    {"Clip", 11, kNow, importClip, 1, 3, 0, kStays, "num =0 =0"},
    {"Compress", 9, kNow, importCompress, 2, 2, 0, kFolds, "any bool"},
    {"Concat", 4, kNow, importConcat, 1, kAny, 0, kFolds, "any =0 *1"},
    {"Constant", 1, kNow, importConstant, 0, 0, 0, kFolds, ""},
    {"ConstantFill", 1, kNow, importConstantFill, 0, 1, 1, kFolds, "any"},
    {"ConstantOfShape", 9, kNow, importConstantOfShape, 1, 1, 1, kFolds, "i64"},
    {"Conv", 1, kNow, importConv, 2, 3, 0, kStays, "float =0 =0"},
    {"ConvInteger", 10, kNow, importConvInteger, 2, 4, 0, kStays, "q8 q8 =0 =1"},
    {"ConvTranspose", 1, kNow, importConvTranspose, 2, 3, 0, kStays, "float =0 =0"},
    {"Crop", 1, kNow, importCrop, 1, 1, 0, kStays, "float"},
    {"CumSum", 11, kNow, importCumSum, 2, 2, 1 << 1, kFolds, "float|wide index"},
    {"Cos", 7, kNow, importElementwise, 1, 1, 0, kStays, "float"},
    {"Cosh", 9, kNow, importElementwise, 1, 1, 0, kStays, "float"},
    {"DeformConv", 19, kNow, importDeformConv, 3, 5, 0, kStays, "float =0 =0 =0 =0"},
    {"DepthToSpace", 1, kNow, importDepthToSpace, 1, 1, 0, kStays, "any"},
    {"DequantizeLinear", 10, kNow, importDequantizeLinear, 2, 3, 0, kStays,
     "i8|i16|i32|u8|u16 f16|bf16|f32 =0"},
    {"Div", 6, 6, importAxisBroadcast, 2, 2, 0, kStays, "float|wide =0"},
    {"Div", 7, kNow, importElementwise, 2, 2, 0, kFolds, "num =0"},
    {"Dropout", 6, 11, importDropoutRatioAttr, 1, 1, 0, kStays, "float",
     "no training"},
    {"Dropout", 12, kNow, importDropout, 1, 3, 1 << 2, kStays, "float float bool",
     "no training"},
    {"Einsum", 12, kNow, importEinsum, 1, kAny, 0, kFolds, "num =0 *1"},
    {"DynamicQuantizeLinear", 11, kNow, importDynamicQuantizeLinear, 1, 1, 0, kStays, "f32"},
    {"DynamicSlice", 1, kNow, importSlice, 3, 4, 1 << 1 | 1 << 2 | 1 << 3, kFolds,
     "any index =1 =1"},
    {"Elu", 6, kNow, importElementwise, 1, 1, 0, kStays, "float"},
    {"Equal", 1, 6, importAxisBroadcast, 2, 2, 0, kStays, "index|bool =0"},
    {"Equal", 7, kNow, importElementwise, 2, 2, 0, kFolds, "any =0"},
    {"Erf", 9, kNow, importElementwise, 1, 1, 0, kStays, "float",
     "no integers, as opsets 9 to 12 have"},
    {"Exp", 6, kNow, importElementwise, 1, 1, 0, kStays, "float"},
    {"Expand", 8, kNow, importExpand, 2, 2, 1 << 1, kFolds, "any i64"},
    {"EyeLike", 9, kNow, importEyeLike, 1, 1, 0, kFolds, "any"},
    {"FC", 1, kNow, importFc, 3, 3, 0, kStays, "float =0 =0"},
    {"Flatten", 1, kNow, importFlatten, 1, 1, 0, kFolds, "any"},
    {"Floor", 6, kNow, importElementwise, 1, 1, 0, kFolds, "float"},
    {"GRU", 7, kNow, importGru, 3, 6, 0, kStays, "float =0 =0 =0 i32 =0"},
    {"Gather", 1, kNow, importGather, 2, 2, 0, kFolds, "any index"},
    {"GatherElements", 11, kNow, importGatherElements, 2, 2, 0, kFolds, "any index"},
    {"GatherND", 11, kNow, importGatherNd, 2, 2, 0, kFolds, "any i64"},
    {"Gelu", 20, kNow, importElementwise, 1, 1, 0, kStays, "float"},
    {"Gemm", 6, 10, importGemm, 3, 3, 0, kStays, "float|wide =0 =0"},
    {"Gemm", 11, kNow, importGemm, 2, 3, 0, kStays, "float|wide =0 =0"},
    {"GivenTensorFill", 1, kNow, importGivenTensorFill, 0, 1, 1, kFolds, "any"},
    {"GlobalAveragePool", 1, kNow, importGlobalAveragePool, 1, 1, 0, kStays, "float"},
    {"GlobalLpPool", 1, kNow, importGlobalLpPool, 1, 1, 0, kStays, "float"},
    {"GlobalMaxPool", 1, kNow, importGlobalMaxPool, 1, 1, 0, kStays, "float"},
    {"Greater", 1, 6, importAxisBroadcast, 2, 2, 0, kStays, "float =0"},
    {"Greater", 7, kNow, importElementwise, 2, 2, 0, kFolds, "num =0"},
    {"GreaterOrEqual", 12, kNow, importElementwise, 2, 2, 0, kFolds, "num =0"},
    {"GridSample", 16, kNow, importGridSample, 2, 2, 0, kStays, "any float",
     "only mode nearest takes other than float"},
    {"GroupNormalization", 18, kNow, importGroupNormalization, 3, 3, 0, kStays, "float =0 =0"},
    {"HardSigmoid", 6, kNow, importElementwise, 1, 1, 0, kStays, "float"},
    {"HardSwish", 14, kNow, importElementwise, 1, 1, 0, kStays, "float"},
    {"Hardmax", 1, kNow, importHardmax, 1, 1, 0, kFolds, "float"},
    {"Identity", 1, kNow, importIdentity, 1, 1, 0, kFolds, "any"},
    {"If", 1, kNow, importIf, 1, 1, 0, kFolds, "bool",
     "branches of one type where the condition is of run time; graphs without inputs"},
    {"ImageScaler", 1, kNow, importImageScaler, 1, 1, 0, kStays, "float"},
    {"InstanceNormalization", 1, kNow, importInstanceNormalization, 3, 3, 0, kStays, "float =0 =0"},
    {"IsInf", 10, kNow, importElementwise, 1, 1, 0, kStays, "float"},
    {"IsNaN", 9, kNow, importElementwise, 1, 1, 0, kStays, "float"},
    {"LRN", 1, kNow, importLrn, 1, 1, 0, kStays, "float"},
    {"LayerNormalization", 17, kNow, importLayerNormalization, 2, 3, 0, kStays, "float =0 =0"},
    {"LSTM", 1, kNow, importLstm, 3, 8, 0, kStays, "float =0 =0 =0 i32 =0 =0 =0"},
    {"LeakyRelu", 6, kNow, importElementwise, 1, 1, 0, kStays, "float"},
    {"Less", 1, 6, importAxisBroadcast, 2, 2, 0, kStays, "float =0"},
    {"Less", 7, kNow, importElementwise, 2, 2, 0, kFolds, "num =0"},
    {"LessOrEqual", 12, kNow, importElementwise, 2, 2, 0, kFolds, "num =0"},
    {"Log", 6, kNow, importElementwise, 1, 1, 0, kStays, "float"},
    {"LogSoftmax", 1, 12, importSoftmaxFlattened, 1, 1, 0, kStays, "float"},
    {"LogSoftmax", 13, kNow, importSoftmax, 1, 1, 0, kStays, "float"},
    {"LpNormalization", 1, kNow, importLpNormalization, 1, 1, 0, kStays, "float"},
    {"LpPool", 1, kNow, importLpPool, 1, 1, 0, kStays, "float"},
    {"MatMul", 1, kNow, importMatMul, 2, 2, 0, kStays, "float|wide =0"},
    {"MatMulInteger", 10, kNow, importMatMulInteger, 2, 4, 0, kStays, "q8 q8 =0 =1"},
    {"Max", 6, kNow, importElementwise, 1, kAny, 0, kFolds, "num =0 *1"},
    {"MaxPool", 1, kNow, importMaxPool, 1, 1, 0, kStays, "float|q8"},
    {"MaxUnpool", 9, kNow, importMaxUnpool, 2, 3, 1 << 2, kStays, "float i64 =1",
     "output_shape is known at compile time"},
    {"Mean", 6, kNow, importElementwise, 1, kAny, 0, kStays, "float =0 *1"},
    {"MeanVarianceNormalization", 1, 8, importMeanVarianceNormalizationAttrs, 1, 1, 0, kStays,
     "float"},
    {"MeanVarianceNormalization", 9, kNow, importMeanVarianceNormalization, 1, 1, 0, kStays,
     "float"},
    {"Min", 6, kNow, importElementwise, 1, kAny, 0, kFolds, "num =0 *1"},
    {"Mish", 18, kNow, importElementwise, 1, 1, 0, kStays, "float"},
    {"Mod", 10, kNow, importElementwise, 2, 2, 0, kFolds, "num =0"},
    {"Mul", 6, 6, importAxisBroadcast, 2, 2, 0, kStays, "float|wide =0"},
    {"Mul", 7, kNow, importElementwise, 2, 2, 0, kFolds, "num =0"},
    {"Neg", 6, kNow, importElementwise, 1, 1, 0, kFolds, "float|sint"},
    {"NonMaxSuppression", 10, kNow, importNonMaxSuppression, 2, 5, 0, kStays,
     "f32 f32 i64 f32 f32"},
    {"NonZero", 9, kNow, importNonZero, 1, 1, 0, kFolds, "any"},
    {"Not", 1, kNow, importElementwise, 1, 1, 0, kFolds, "bool"},
    {"OneHot", 9, kNow, importOneHot, 3, 3, 1 << 1, kFolds, "num num any"},
    {"Or", 1, 6, importAxisBroadcast, 2, 2, 0, kStays, "bool =0"},
    {"Or", 7, kNow, importElementwise, 2, 2, 0, kFolds, "bool =0"},
    {"PRelu", 6, 6, importPReluChannels, 2, 2, 0, kStays, "float =0"},
    {"PRelu", 7, kNow, importPRelu, 2, 2, 0, kStays, "float|wide =0"},
    {"Pad", 2, 10, importPadAttrs, 1, 1, 0, kStays, "float"},
    {"Pad", 11, 17, importPad, 2, 3, 1 << 1, kStays, "any i64 =0"},
    {"Pad", 18, kNow, importPad, 2, 4, 1 << 1 | 1 << 3, kStays, "any i64 =0 index"},
    {"ParametricSoftplus", 1, kNow, importElementwise, 1, 1, 0, kStays, "float"},
    {"Pow", 1, 6, importAxisBroadcast, 2, 2, 0, kStays, "float =0"},
    {"Pow", 7, kNow, importPow, 2, 2, 0, kStays, "float|index num"},
    {"Range", 11, kNow, importRange, 3, 3, 1 | 1 << 1 | 1 << 2, kFolds, "float|index|i16 =0 =0",
     "numbers that only a run tells: integers, which something bounds"},
    {"QLinearConv", 10, kNow, importQLinearConv, 8, 9, 0, kStays, "q8 f32 =0 q8 f32 =3 f32 q8 i32"},
    {"QLinearMatMul", 10, kNow, importQLinearMatMul, 8, 8, 0, kStays,
     "q8 f16|bf16|f32 =0 q8 =1 =3 =1 q8"},
    {"QuantizeLinear", 10, kNow, importQuantizeLinear, 2, 3, 0, kStays,
     "f16|bf16|f32|i32 f16|bf16|f32 i8|i16|u8|u16"},
    {"RMSNormalization", 23, kNow, importRmsNormalization, 2, 2, 0, kStays, "float float"},
    {"RNN", 1, kNow, importRnn, 3, 6, 0, kStays, "float =0 =0 =0 i32 =0"},
    {"Reciprocal", 6, kNow, importElementwise, 1, 1, 0, kFolds, "float"},
    {"ReduceL1", 1, 17, importReduceAxesAttr, 1, 1, 0, kStays, "float|wide"},
    {"ReduceL1", 18, kNow, importReduce, 1, 2, 1 << 1, kStays, "float|wide i64"},
    {"ReduceL2", 1, 17, importReduceAxesAttr, 1, 1, 0, kStays, "float|wide"},
    {"ReduceL2", 18, kNow, importReduce, 1, 2, 1 << 1, kStays, "float|wide i64"},
    {"ReduceLogSum", 1, 17, importReduceAxesAttr, 1, 1, 0, kStays, "float|wide"},
    {"ReduceLogSum", 18, kNow, importReduce, 1, 2, 1 << 1, kStays, "float|wide i64"},
    {"ReduceLogSumExp", 1, 17, importReduceAxesAttr, 1, 1, 0, kStays, "float|wide"},
    {"ReduceLogSumExp", 18, kNow, importReduce, 1, 2, 1 << 1, kStays, "float|wide i64"},
    {"ReduceMax", 1, 17, importReduceAxesAttr, 1, 1, 0, kStays, "float|wide|q8"},
    {"ReduceMax", 18, kNow, importReduce, 1, 2, 1 << 1, kStays, "float|wide|bool|q8 i64"},
    {"ReduceMean", 1, 17, importReduceAxesAttr, 1, 1, 0, kStays, "float|wide"},
    {"ReduceMean", 18, kNow, importReduce, 1, 2, 1 << 1, kStays, "float|wide i64"},
    {"ReduceMin", 1, 17, importReduceAxesAttr, 1, 1, 0, kStays, "float|wide|q8"},
    {"ReduceMin", 18, kNow, importReduce, 1, 2, 1 << 1, kStays, "float|wide|bool|q8 i64"},
    {"ReduceProd", 1, 17, importReduceAxesAttr, 1, 1, 0, kFolds, "float|wide"},
    {"ReduceProd", 18, kNow, importReduce, 1, 2, 1 << 1, kFolds, "float|wide i64"},
    {"ReduceSum", 1, 12, importReduceAxesAttr, 1, 1, 0, kFolds, "float|wide"},
    {"ReduceSum", 13, kNow, importReduce, 1, 2, 1 << 1, kFolds, "float|wide i64"},
    {"ReduceSumSquare", 1, 17, importReduceAxesAttr, 1, 1, 0, kStays, "float|wide"},
    {"ReduceSumSquare", 18, kNow, importReduce, 1, 2, 1 << 1, kStays, "float|wide i64"},
    {"Relu", 6, kNow, importElementwise, 1, 1, 0, kStays, "float|sint"},
    {"Reshape", 5, kNow, importReshape, 2, 2, 1 << 1, kFolds, "any i64"},
    {"Resize", 10, 10, importResize10, 2, 2, 1 << 1, kStays, "any f32"},
    {"Resize", 11, kNow, importResize, 1, 4, 1 << 1 | 1 << 2 | 1 << 3, kStays, "any float f32 i64"},
    {"RoiAlign", 10, kNow, importRoiAlign, 3, 3, 0, kStays, "float =0 i64"},
    {"Round", 11, kNow, importElementwise, 1, 1, 0, kFolds, "float"},
    {"Scale", 1, kNow, importElementwise, 1, 1, 0, kStays, "float"},
    {"ScaledTanh", 1, kNow, importElementwise, 1, 1, 0, kStays, "float"},
    {"Scatter", 9, 10, importScatterElements, 3, 3, 0, kFolds, "any index =0"},
    {"ScatterElements", 11, kNow, importScatterElements, 3, 3, 0, kFolds, "any index =0"},
    {"ScatterND", 11, kNow, importScatterNd, 3, 3, 0, kFolds, "any i64 =0"},
    {"Selu", 6, kNow, importElementwise, 1, 1, 0, kStays, "float"},
    {"Shape", 1, kNow, importShape, 1, 1, 0, kFolds, "any"},
    {"Shrink", 9, kNow, importElementwise, 1, 1, 0, kStays, "num"},
    {"Sigmoid", 6, kNow, importElementwise, 1, 1, 0, kStays, "float"},
    {"Sign", 9, kNow, importElementwise, 1, 1, 0, kStays, "num"},
    {"Sin", 7, kNow, importElementwise, 1, 1, 0, kStays, "float"},
    {"Sinh", 9, kNow, importElementwise, 1, 1, 0, kStays, "float"},
    {"Size", 1, kNow, importSize, 1, 1, 0, kFolds, "any"},
    {"Slice", 1, 9, importSliceAttrs, 1, 1, 0, kFolds, "any"},
    {"Slice", 10, kNow, importSlice, 3, 5, 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4, kFolds,
     "any index =1 =1 =1"},
    {"Softmax", 1, 12, importSoftmaxFlattened, 1, 1, 0, kStays, "float"},
    {"Softmax", 13, kNow, importSoftmax, 1, 1, 0, kStays, "float"},
    {"Softplus", 1, kNow, importElementwise, 1, 1, 0, kStays, "float"},
    {"Softsign", 1, kNow, importElementwise, 1, 1, 0, kStays, "float"},
    {"SpaceToDepth", 1, kNow, importSpaceToDepth, 1, 1, 0, kStays, "any"},
    {"Split", 2, 12, importSplitAttr, 1, 1, 0, kFolds, "any"},
    {"Split", 13, kNow, importSplit, 1, 2, 1 << 1, kFolds, "any i64"},
    {"Sqrt", 6, kNow, importElementwise, 1, 1, 0, kFolds, "float"},
    {"Squeeze", 1, 12, importSqueezeAttr, 1, 1, 0, kFolds, "any"},
    {"Squeeze", 13, kNow, importSqueeze, 1, 2, 1 << 1, kFolds, "any i64"},
    {"Sub", 6, 6, importAxisBroadcast, 2, 2, 0, kStays, "float|wide =0"},
    {"Sub", 7, kNow, importElementwise, 2, 2, 0, kFolds, "num =0"},
    {"Sum", 6, kNow, importElementwise, 1, kAny, 0, kFolds, "float =0 *1"},
    {"Swish", 24, kNow, importElementwise, 1, 1, 0, kStays, "float"},
    {"Tan", 7, kNow, importElementwise, 1, 1, 0, kStays, "float"},
    {"Tanh", 6, kNow, importElementwise, 1, 1, 0, kStays, "float"},
    {"ThresholdedRelu", 1, kNow, importElementwise, 1, 1, 0, kStays, "float"},
    {"Tile", 6, kNow, importTile, 2, 2, 1 << 1, kFolds, "any i64"},
    {"TopK", 1, 9, importTopKAttr, 1, 1, 0, kFolds, "float"},
    {"TopK", 10, kNow, importTopK, 2, 2, 1 << 1, kFolds, "num i64"},
    {"Transpose", 1, kNow, importTranspose, 1, 1, 0, kFolds, "any"},
    {"Trilu", 14, kNow, importTrilu, 1, 2, 0, kFolds, "any i64"},
    {"Unique", 11, kNow, importUnique, 1, 1, 0, kStays, "any",
     "along an axis of a higher rank at most 2^22 pairs of elements that are compared"},
    {"Unsqueeze", 1, 12, importUnsqueezeAttr, 1, 1, 0, kFolds, "any"},
    {"Unsqueeze", 13, kNow, importUnsqueeze, 2, 2, 1 << 1, kFolds, "any i64"},
    {"Upsample", 1, 6, importUpsampleHeightWidth, 1, 1, 0, kStays, "any"},
    {"Upsample", 7, 8, importUpsampleAttr, 1, 1, 0, kStays, "any"},
    {"Upsample", 9, 9, importUpsample, 2, 2, 1 << 1, kStays, "any f32"},
    {"Where", 9, kNow, importWhere, 3, 3, 0, kFolds, "bool any =1"},
    {"Xor", 1, 6, importAxisBroadcast, 2, 2, 0, kStays, "bool =0"},
    {"Xor", 7, kNow, importElementwise, 2, 2, 0, kFolds, "bool =0"},
};

// Ops of domain com.microsoft that onnxruntime's quantizers and optimizers leave in a model. The
// domain's only opset is 1.
static constexpr OpEntry microsoftTable[] = {
    {"FusedConv", 1, 1, importFusedConv, 2, 4, 0, kStays, "float =0 =0 =0",
     "activations Relu, Tanh, Sigmoid, LeakyRelu, Clip, HardSigmoid"},
    {"FusedMatMul", 1, 1, importFusedMatMul, 2, 2, 0, kStays, "float =0",
     "no transposed batches"},
    {"Gelu", 1, 1, importElementwise, 1, 1, 0, kStays, "float"},
    {"QLinearAdd", 1, 1, importQLinearBinary, 7, 8, 0, kStays, "q8 f32 =0 =0 f32 =0 f32 =0"},
    {"QLinearConcat", 1, 1, importQLinearConcat, 5, kAny, 0, kStays, "f32 q8 =1 f32 =1 *3"},
    {"QLinearGlobalAveragePool", 1, 1, importQLinearGlobalAveragePool, 4, 5, 0, kStays,
     "q8 f32 =0 f32 =0"},
    {"QLinearLeakyRelu", 1, 1, importQLinearUnary, 4, 5, 0, kStays, "q8 f32 =0 f32 =0"},
    {"QLinearMul", 1, 1, importQLinearBinary, 7, 8, 0, kStays, "q8 f32 =0 =0 f32 =0 f32 =0"},
    {"QLinearSigmoid", 1, 1, importQLinearUnary, 4, 5, 0, kStays, "q8 f32 =0 f32 =0"},
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
