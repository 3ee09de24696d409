// The rewrites of convoy-simplify.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "mlir/IR/PatternMatch.h"

namespace convoy {

/// Two transposes are one; a transpose that moves nothing but extents of 1 is a reshape.
void populateTransposePatterns(mlir::RewritePatternSet &patterns);
/// Padding joins the convolution or pool that reads it, where that computes the same.
void populatePadPatterns(mlir::RewritePatternSet &patterns);
/// Broadcasts that the reading map does itself, maps that change nothing, reductions that keep
/// their dimensions, concats that begin as another one does.
void populateShapePatterns(mlir::RewritePatternSet &patterns);

} // namespace convoy
