// Convolutions that oneDNN computes at run time.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "targets/x86/Window.h"

namespace convoy {

/// The name of the strategy.
inline constexpr llvm::StringLiteral kOneDnnStrategy = "onednn";

/// relu(conv(src, wei) + bias + residual), of which bias, residual and relu may be absent.
struct OneDnnConv {
  WindowShape shape;
  int64_t block;   ///< channels of a block of the activations
  bool planarSrc;  ///< whether the source is row-major
  bool batched;    ///< whether it has a free batch
  bool relu = false;
  unsigned bias = 0, residual = 0; ///< the operands that these are; 0 for none
};

/// What oneDNN is to compute for a conv with the layouts that its activations have; nothing if it
/// is no convolution that the runtime has a primitive for.
std::optional<OneDnnConv> oneDnnConv(mlir::Operation *op, cnn::TargetAttr target);

} // namespace convoy
