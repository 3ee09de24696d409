// The rewrites of convoy-simplify.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "mlir/IR/PatternMatch.h"

namespace convoy {

/// Two transposes are one; a transpose that moves nothing but extents of 1 is a reshape; transposes
/// move behind maps, concats, pads and reductions, where they meet others.
void populateTransposePatterns(mlir::RewritePatternSet &patterns);
/// Padding joins the convolution or pool that reads it, where that computes the same.
void populatePadPatterns(mlir::RewritePatternSet &patterns);
/// A convolution of every n-th element, as space-to-depth makes them, is one of the whole tensor.
void populateFocusPatterns(mlir::RewritePatternSet &patterns);
/// Broadcasts that the reading map does itself, maps that change nothing, reductions that keep
/// their dimensions, slices of slices, concats that begin as another one does.
void populateShapePatterns(mlir::RewritePatternSet &patterns);

} // namespace convoy
