// The stages of a compile and the passes of each: the only place that knows the order.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "passes/KernelTable.h"

#include "mlir/Pass/PassManager.h"

#include <functional>
#include <optional>

namespace convoy {

/// The stages in order, by the form that a module has after them.
enum class Stage {
  Import,   ///< ONNX as cnn ops, row-major
  Simplify, ///< constants folded, dead code gone, batch norm folded
  Fuse,     ///< elementwise ops in epilogues
  Layout,   ///< precision and layout of each tensor chosen, relayouts cancelled
  Select,   ///< a strategy for each op, weights packed
  Plan,     ///< launches over buffers with offsets
};

/// The name of a stage as --emit and --stop-after take it.
llvm::StringRef stageName(Stage stage);
std::optional<Stage> stageFromName(llvm::StringRef name);
/// All stages in order.
llvm::ArrayRef<Stage> allStages();

/// Choices that change what a compile does to the graph.
struct PipelineOptions {
  /// Skip the passes that only make code faster: no fusion, no layouts. For finding a miscompile.
  bool optimize = true;
  /// Adds passes to the end of a stage, for tests.
  std::function<void(mlir::OpPassManager &manager, Stage stage)> extraPasses;
};

/// Adds the passes that take a module from the stage before `stage` to it. Import has none. The
/// module has its TargetAttr by then.
void buildStage(mlir::OpPassManager &manager, Stage stage, const KernelTable &table,
                const PipelineOptions &options);

/// Adds the passes from Fuse on that ask the kernel table, and those between them: all that decides
/// which kernels a graph will have.
void buildChoices(mlir::OpPassManager &manager, const KernelTable &table,
                  const PipelineOptions &options);

} // namespace convoy
