// The vectorized strategies of the x86 targets.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "targets/x86/KernelTable.h"

namespace convoy {

/// 3 x 3, stride 1 convolution on blocked layouts by tiles of 4 x 4 or 2 x 2 outputs.
const X86Strategy &convWinograd4();
const X86Strategy &convWinograd2();
/// The same with stride 2, by tiles of 2 x 2 outputs.
const X86Strategy &convWinograd2Stride2();
/// 1 x 1, stride 1 convolution on blocked layouts.
const X86Strategy &convPointwise();
/// Any convolution on blocked layouts whose groups are whole blocks.
const X86Strategy &convDirect();

/// Convolution by oneDNN, in the tables of targets that ask for it.
const X86Strategy &convOneDnn();

/// Convolution of a row-major source of few channels to a blocked layout.
const X86Strategy &convFirstLayer();
/// Convolution on row-major tensors, with stride 1 or 2 along rows.
const X86Strategy &convPlanar();
/// Transposed convolution on blocked layouts.
const X86Strategy &convTranspose();
/// Depthwise convolution on blocked layouts.
const X86Strategy &convDepthwise();
/// Convolution on blocked layouts whose groups are equal parts of a block.
const X86Strategy &convGrouped();
/// Maximum and average pooling on blocked layouts.
const X86Strategy &vectorPool();
/// Matrix product with a constant matrix, packed, on the right.
const X86Strategy &packedMatmul();
/// Matrix product, vectorized along rows of the result.
const X86Strategy &rowMatmul();
/// Elementwise functions whose operands are strided views of the result.
const X86Strategy &vectorMap();
/// Data movement by contiguous rows, repeated elements and transposes in registers.
const X86Strategy &stridedCopy();

/// Reductions along neighbouring axes.
const X86Strategy &vectorReduce();
/// Softmax on row-major tensors.
const X86Strategy &vectorSoftmax();
/// Local response normalization.
const X86Strategy &vectorLrn();

/// Resampling of spatial dimensions on blocked layouts.
const X86Strategy &vectorResize();
/// Gathering by indices.
const X86Strategy &runGather();
/// The largest or smallest elements along the last axis.
const X86Strategy &heapTopK();
/// Suppression of overlapping boxes.
const X86Strategy &vectorSuppress();

} // namespace convoy
