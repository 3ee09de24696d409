// An op as text, for finding again what was measured of it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "mlir/IR/Operation.h"

#include <string>

namespace convoy::tune {

/// What decides how long an op takes: kind, attributes, the types of operands and results with
/// layouts, whether weights are constants, and what its scalar region does. Neither names nor
/// locations nor the values of constants, nor the strategy and its config.
std::string signatureOf(mlir::Operation *op);
/// Whether an operand is weights that a strategy may pack: the constants of which a signature tells.
bool isConstantWeight(mlir::OpOperand &operand);
/// The same without layouts: equal for one op in all layouts that compete for it.
std::string shapeSignatureOf(mlir::Operation *op);

} // namespace convoy::tune
