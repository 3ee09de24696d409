// Models that declare a batch of 1, imported for a batch of any size: what the model says of its one
// image holds for each image, and images do not see each other.
//
// To such a model dimension 0 of its input is 1. While that dimension of 1 stays in front, a tensor's
// free batch takes its place: the model's 1x3x8x8 is ?x3x8x8. Where the model moves or drops it, the
// tensor is lifted: the batch lies in front of the whole shape, so the model's 24x2x64 is ?x24x2x64.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "compiler/onnx/NodeImport.h"

namespace convoy::onnx {

struct OpEntry;

/// Whether image i of each result depends on image i of the inputs only, and is what the op makes of
/// that image alone. Where its import function fails on a free batch, it may also be true.
bool keepsImagesApart(const NodeImport &node);

/// Whether a node with a batched input has to be imported on lifted tensors.
bool needsLifting(NodeImport &node);

} // namespace convoy::onnx
