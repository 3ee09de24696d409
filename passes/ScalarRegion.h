// Changes to scalar regions and their operands.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "dialects/Cnn/Cnn.h"

namespace convoy {

/// Number of the region's arguments that are no operand's element (the accumulator).
inline unsigned numAccumulators(cnn::EpilogueOpInterface op) {
  return op.getAccumulatorType() ? 1 : 0;
}

/// The region takes each operand once.
void mergeEqualOperands(cnn::EpilogueOpInterface op);
/// Operands that no one reads go away, if the result's shape does not depend on them.
void dropUnusedOperands(cnn::EpilogueOpInterface op);
/// Operands that are one constant number become constants of the region.
void inlineScalarConstants(cnn::EpilogueOpInterface op);

/// Appends the computation of `map` to the region of `producer`, whose result one or more of the
/// map's inputs are, and erases the map. `producer` moves to the place of `map`.
void appendMap(cnn::EpilogueOpInterface producer, cnn::MapOp map);

/// Number of ops that compute in the region.
int64_t countScalarOps(cnn::EpilogueOpInterface op);

} // namespace convoy
