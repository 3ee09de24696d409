// What ONNX's Resize reads along one axis: all of it is known at compile time.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "dialects/Cnn/Cnn.h"

namespace convoy {

/// Element o of the result along an axis is the sum of weights[o * taps + t] times the source's
/// element indices[o * taps + t] over t. A negative index (then all taps of o are) means that the
/// coordinate lies outside and the result's element is the extrapolation value.
struct ResizeAxis {
  int64_t taps = 1;
  std::vector<int32_t> indices;
  std::vector<double> weights;

  /// Whether element o is the source's element o.
  bool isIdentity() const;
};

/// The table of one axis, computed in double. The axis is not a free batch.
ResizeAxis makeResizeAxis(cnn::ResizeOp op, unsigned axis);

} // namespace convoy
