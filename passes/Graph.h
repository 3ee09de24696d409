// Small questions that several passes ask of the graph.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "dialects/Cnn/Cnn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace convoy {

/// The type of a value of the graph.
inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

/// The only function of a module, whose inputs and outputs are ranked tensors, or an error.
mlir::FailureOr<mlir::func::FuncOp> getGraph(mlir::ModuleOp module);
/// The module's target, or an error.
mlir::FailureOr<cnn::TargetAttr> getTarget(mlir::ModuleOp module);

/// The op that uses `value`, if it is one op (which may use it more than once); else null.
mlir::Operation *getOnlyUser(mlir::Value value);

/// A cnn op that computes: neither a constant nor a part of a scalar region.
bool isComputeOp(mlir::Operation *op);

/// The names of the nodes that a location stands for, joined by '+'; empty if it has none.
std::string getNodeNames(mlir::Location loc);
/// A location that stands for both.
mlir::Location joinLocations(mlir::Location a, mlir::Location b);

/// A constant of `type` (its layout may be blocked) with these bytes, before `builder`'s position.
mlir::Value createConstant(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::RankedTensorType type, std::vector<char> bytes);
/// A row-major constant from numbers; floats are rounded to nearest even.
mlir::Value createConstant(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::RankedTensorType type, llvm::ArrayRef<double> values);

/// Erases constants without a use.
void eraseUnusedConstants(mlir::ModuleOp module);
/// Frees the memory of resources that no constant of `module` names. Only for the last module of a
/// context: another one may name them.
void releaseUnusedResources(mlir::ModuleOp module);

} // namespace convoy
