// The table of ONNX ops: which are known, in which opsets, and what imports them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "compiler/onnx/NodeImport.h"

namespace convoy::onnx {

/// Emits what a node means and sets its results; errors go to the node.
using ImportFunction = mlir::LogicalResult (*)(NodeImport &node);

struct OpEntry {
  llvm::StringLiteral name;
  /// First and last opset that the row is for.
  int64_t from, to;
  ImportFunction import;
  /// How many inputs must be given, and how many there may be.
  unsigned minInputs, maxInputs;
  /// Bit i: the shape of a result depends on the value of input i.
  unsigned shapeInputs;
  /// Whether the importer computes the op itself where the inputs are known.
  bool folds;
  /// Element types of the inputs, see OpTypes.
  llvm::StringLiteral types;
  /// What Convoy leaves out of what ONNX says, in words; for the page.
  llvm::StringLiteral limits = "";
};

/// The domain of onnxruntime's own ops, and the one of those that only it can run: their tensors
/// lie in its layout.
inline constexpr llvm::StringLiteral kMicrosoftDomain = "com.microsoft";
inline constexpr llvm::StringLiteral kMicrosoftLayoutDomain = "com.microsoft.nchwc";

/// The rows of the default domain and of com.microsoft.
llvm::ArrayRef<OpEntry> opTable();
llvm::ArrayRef<OpEntry> microsoftOpTable();
/// The row for an op; null if there is none. `isKnown` tells whether another opset has it.
const OpEntry *findOp(llvm::StringRef domain, llvm::StringRef name, int64_t opset, bool &isKnown);

} // namespace convoy::onnx
