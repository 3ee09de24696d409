// Models that declare a batch of 1, imported for a batch of any size: what one image means stays the
// same, and images do not see each other.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "compiler/onnx/NodeImport.h"

namespace convoy::onnx {

/// Whether image i of each result depends on image i of the inputs only, and is what the op makes of
/// that image alone. Where its import function fails on a free batch, it may also be true.
bool keepsImagesApart(const NodeImport &node);

} // namespace convoy::onnx
