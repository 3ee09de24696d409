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

/// A domain as the table knows it: the default one can be written in two ways.
inline llvm::StringRef plainDomain(llvm::StringRef domain) {
  return domain == "ai.onnx" ? "" : domain;
}

/// The rows of the default domain and of com.microsoft.
llvm::ArrayRef<OpEntry> opTable();
llvm::ArrayRef<OpEntry> microsoftOpTable();
/// The row for an op; null if there is none.
const OpEntry *findOp(llvm::StringRef domain, llvm::StringRef name, int64_t opset);
/// The opsets in which an op is known, as "opsets 6 to 28"; empty if there are none.
std::string knownOpsets(llvm::StringRef domain, llvm::StringRef name);

} // namespace convoy::onnx
