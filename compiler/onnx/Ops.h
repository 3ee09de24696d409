// The import functions, by family. OpTable.cpp says which op and opset each is for.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "compiler/onnx/NodeImport.h"

namespace convoy::onnx {

// ControlOps.cpp
/// The tensor where a condition has a value.
Tensor restrictTo(const Tensor &tensor, mlir::Value condition, bool isTrue);
/// What `condition`, a scalar, chooses. With `mayStayOpen` values of different shapes, and known
/// ones of which a shape may be made, stay alternatives; without it they are an error.
mlir::FailureOr<Tensor> joinBranches(NodeImport &node, mlir::Value condition, Tensor whenTrue,
                                     Tensor whenFalse, bool mayStayOpen = true);
/// The same for all alternatives in `tensor`.
mlir::FailureOr<Tensor> closeAlternatives(NodeImport &node, const Tensor &tensor);
mlir::LogicalResult importIf(NodeImport &node);

// ConvOps.cpp
mlir::LogicalResult importConv(NodeImport &node);
mlir::LogicalResult importConvTranspose(NodeImport &node);

// PoolOps.cpp
mlir::LogicalResult importAveragePool(NodeImport &node);
mlir::LogicalResult importMaxPool(NodeImport &node);
mlir::LogicalResult importGlobalAveragePool(NodeImport &node);
mlir::LogicalResult importGlobalMaxPool(NodeImport &node);
mlir::LogicalResult importLpPool(NodeImport &node);
mlir::LogicalResult importGlobalLpPool(NodeImport &node);

// MatmulOps.cpp
mlir::LogicalResult importMatMul(NodeImport &node);
mlir::LogicalResult importGemm(NodeImport &node);
mlir::LogicalResult importFc(NodeImport &node);

// NormalizationOps.cpp
mlir::LogicalResult importBatchNormalization(NodeImport &node);
mlir::LogicalResult importLrn(NodeImport &node);
mlir::LogicalResult importSoftmax(NodeImport &node);
mlir::LogicalResult importSoftmaxFlattened(NodeImport &node);
mlir::LogicalResult importDropoutRatioAttr(NodeImport &node);
mlir::LogicalResult importDropout(NodeImport &node);

// LayerNormOps.cpp
mlir::LogicalResult importLayerNormalization(NodeImport &node);
mlir::LogicalResult importRmsNormalization(NodeImport &node);
mlir::LogicalResult importInstanceNormalization(NodeImport &node);
mlir::LogicalResult importGroupNormalization(NodeImport &node);
mlir::LogicalResult importMeanVarianceNormalization(NodeImport &node);
mlir::LogicalResult importMeanVarianceNormalizationAttrs(NodeImport &node);
mlir::LogicalResult importLpNormalization(NodeImport &node);

// QuantizeOps.cpp
mlir::LogicalResult importQuantizeLinear(NodeImport &node);
mlir::LogicalResult importDequantizeLinear(NodeImport &node);
mlir::LogicalResult importDynamicQuantizeLinear(NodeImport &node);
mlir::LogicalResult importConvInteger(NodeImport &node);
mlir::LogicalResult importQLinearConv(NodeImport &node);
mlir::LogicalResult importMatMulInteger(NodeImport &node);
mlir::LogicalResult importQLinearMatMul(NodeImport &node);

// MicrosoftOps.cpp: onnxruntime's own ops
mlir::LogicalResult importQLinearBinary(NodeImport &node);
mlir::LogicalResult importQLinearUnary(NodeImport &node);
mlir::LogicalResult importQLinearGlobalAveragePool(NodeImport &node);
mlir::LogicalResult importQLinearConcat(NodeImport &node);
mlir::LogicalResult importFusedConv(NodeImport &node);
mlir::LogicalResult importFusedMatMul(NodeImport &node);

// RecurrentOps.cpp
mlir::LogicalResult importGru(NodeImport &node);
mlir::LogicalResult importLstm(NodeImport &node);
mlir::LogicalResult importRnn(NodeImport &node);

// ReduceOps.cpp
mlir::LogicalResult importReduceAxesAttr(NodeImport &node);
mlir::LogicalResult importReduce(NodeImport &node);

// ElementwiseOps.cpp
mlir::LogicalResult importElementwise(NodeImport &node);
mlir::LogicalResult importAxisBroadcast(NodeImport &node);
mlir::LogicalResult importCast(NodeImport &node);
mlir::LogicalResult importCastLike(NodeImport &node);
mlir::LogicalResult importClipAttrs(NodeImport &node);
mlir::LogicalResult importClip(NodeImport &node);
mlir::LogicalResult importPRelu(NodeImport &node);
mlir::LogicalResult importPReluChannels(NodeImport &node);
mlir::LogicalResult importPow(NodeImport &node);
mlir::LogicalResult importWhere(NodeImport &node);
mlir::LogicalResult importIdentity(NodeImport &node);
mlir::LogicalResult importImageScaler(NodeImport &node);

// SampleOps.cpp
mlir::LogicalResult importGridSample(NodeImport &node);
mlir::LogicalResult importRoiAlign(NodeImport &node);
mlir::LogicalResult importDeformConv(NodeImport &node);

// ShapeOps.cpp
mlir::LogicalResult importConstant(NodeImport &node);
mlir::LogicalResult importConstantOfShape(NodeImport &node);
mlir::LogicalResult importConstantFill(NodeImport &node);
mlir::LogicalResult importGivenTensorFill(NodeImport &node);
mlir::LogicalResult importShape(NodeImport &node);
mlir::LogicalResult importSize(NodeImport &node);
mlir::LogicalResult importReshape(NodeImport &node);
mlir::LogicalResult importFlatten(NodeImport &node);
mlir::LogicalResult importSqueezeAttr(NodeImport &node);
mlir::LogicalResult importSqueeze(NodeImport &node);
mlir::LogicalResult importUnsqueezeAttr(NodeImport &node);
mlir::LogicalResult importUnsqueeze(NodeImport &node);
mlir::LogicalResult importExpand(NodeImport &node);
mlir::LogicalResult importTile(NodeImport &node);

// MovementOps.cpp
mlir::LogicalResult importTranspose(NodeImport &node);
mlir::LogicalResult importConcat(NodeImport &node);
mlir::LogicalResult importSplitAttr(NodeImport &node);
mlir::LogicalResult importSplit(NodeImport &node);
mlir::LogicalResult importSliceAttrs(NodeImport &node);
mlir::LogicalResult importSlice(NodeImport &node);
mlir::LogicalResult importGather(NodeImport &node);
mlir::LogicalResult importPadAttrs(NodeImport &node);
mlir::LogicalResult importPad(NodeImport &node);
mlir::LogicalResult importCrop(NodeImport &node);
mlir::LogicalResult importDepthToSpace(NodeImport &node);
mlir::LogicalResult importSpaceToDepth(NodeImport &node);

// ResizeOps.cpp
mlir::LogicalResult importUpsampleHeightWidth(NodeImport &node);
mlir::LogicalResult importUpsampleAttr(NodeImport &node);
mlir::LogicalResult importUpsample(NodeImport &node);
mlir::LogicalResult importResize10(NodeImport &node);
mlir::LogicalResult importResize(NodeImport &node);

// IndexOps.cpp
/// cnn.gather_elements with a result of `shape`, to which the indices broadcast.
mlir::FailureOr<Tensor> gatherElements(NodeImport &node, const Tensor &src, const Tensor &indices,
                                       llvm::ArrayRef<int64_t> shape, int64_t axis);
mlir::LogicalResult importGatherElements(NodeImport &node);
mlir::LogicalResult importGatherNd(NodeImport &node);
mlir::LogicalResult importScatterElements(NodeImport &node);
mlir::LogicalResult importScatterNd(NodeImport &node);
mlir::LogicalResult importOneHot(NodeImport &node);
mlir::LogicalResult importMaxUnpool(NodeImport &node);

// OrderOps.cpp
mlir::LogicalResult importArgExtreme(NodeImport &node);
mlir::LogicalResult importHardmax(NodeImport &node);
mlir::LogicalResult importTopKAttr(NodeImport &node);
mlir::LogicalResult importTopK(NodeImport &node);
mlir::LogicalResult importCumSum(NodeImport &node);

// GenerateOps.cpp
mlir::LogicalResult importTrilu(NodeImport &node);
mlir::LogicalResult importEyeLike(NodeImport &node);
mlir::LogicalResult importRange(NodeImport &node);
mlir::LogicalResult importAffineGrid(NodeImport &node);
mlir::LogicalResult importCenterCropPad(NodeImport &node);

// CountedOps.cpp
mlir::LogicalResult importNonZero(NodeImport &node);
mlir::LogicalResult importCompress(NodeImport &node);
mlir::LogicalResult importUnique(NodeImport &node);
mlir::LogicalResult importNonMaxSuppression(NodeImport &node);

// EinsumOps.cpp
mlir::LogicalResult importEinsum(NodeImport &node);

// What the attributes of a node say that is not supported, as the import functions have it: see
// Refusals.h. They stand beside these.
mlir::LogicalResult checkBatchNormalization(NodeImport &node);
mlir::LogicalResult checkCast(NodeImport &node);
mlir::LogicalResult checkDropout(NodeImport &node);
mlir::LogicalResult checkPad(NodeImport &node);
mlir::LogicalResult checkResize(NodeImport &node);
mlir::LogicalResult checkScatter(NodeImport &node);
mlir::LogicalResult checkUpsample(NodeImport &node);

} // namespace convoy::onnx
