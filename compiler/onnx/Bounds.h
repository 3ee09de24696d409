// What integers in the IR can be at most and at least, whatever a run brings.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "mlir/IR/Value.h"

#include <cstdint>
#include <optional>

namespace convoy::onnx {

/// An interval, both ends included.
struct Bounds {
  int64_t least, most;
};

/// Bounds of all elements of an integer tensor: of constants, of counts of what has an extent, of
/// narrow types, and of sums, products, minima and choices of those. Nothing where one would be
/// beyond i64 or nothing bounds it, as with an input of i32 or i64.
std::optional<Bounds> boundsOf(mlir::Value tensor);

} // namespace convoy::onnx
