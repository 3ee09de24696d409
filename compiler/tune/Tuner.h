// Chooses kernels by measuring: collects the ops of a graph, times candidates, keeps the results.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "compiler/Pipeline.h"
#include "compiler/tune/TunedTable.h"
#include "targets/Target.h"

#include "mlir/IR/BuiltinOps.h"

#include <chrono>
#include <functional>
#include <string>

namespace convoy {

/// How far measuring is.
struct TuneProgress {
  size_t done, total; ///< candidates
  double secondsLeft; ///< until all are measured, or the budget is spent
  bool isOver;        ///< nothing more will come
};

struct TuneOptions {
  /// Measure what is not known yet.
  bool measure = false;
  /// How long that may take.
  double budgetSeconds = 60;
  /// The file of earlier results; none if empty.
  std::string cacheFile;
  /// Whether the file must be there.
  bool mustExist = false;
  /// Use the results that come with the compiler, where they are for this machine and it is the
  /// machine that code is made for.
  bool shipped = true;
  std::function<void(const TuneProgress &)> progress;
};

namespace tune {

/// What is known of kernels for one target on this machine, for all profiles of a compile.
class Tuner {
public:
  /// `isHost` says that the code is for this very machine.
  Tuner(const TuneOptions &options, const Target &target, bool isHost);
  Tuner(const Tuner &) = delete;
  Tuner &operator=(const Tuner &) = delete;

  /// Reads the results of earlier times; an error if they must exist and do not. What is wrong with
  /// them otherwise is a warning, and they are not written then.
  mlir::LogicalResult start(mlir::Location loc);
  /// The kernel table with all that is known, for passes after fusion.
  const KernelTable &table() const { return tuned; }
  /// Measures what the passes that ask the kernel table would ask about `module`, which does not
  /// change, and keeps it. A module as those passes get it.
  mlir::LogicalResult tune(mlir::ModuleOp module, const PipelineOptions &pipeline);

private:
  struct Asked;
  mlir::LogicalResult collect(mlir::ModuleOp module, const PipelineOptions &pipeline,
                              std::vector<Asked> &asked);
  mlir::LogicalResult measureAll(mlir::Location loc, std::vector<Asked> &asked);
  mlir::LogicalResult measureBatch(mlir::Location loc, llvm::ArrayRef<Asked *> batch);
  double secondsLeft() const;
  void report(bool isOver);

  const TuneOptions &options;
  const Target &target;
  bool isHost;
  Setting setting;
  Results fresh;        ///< measured by this compile
  Results kept;         ///< of the file
  Results shipped;      ///< of the compiler
  TunedTable tuned;
  bool mayWrite = false;
  double spentSeconds = 0;
  std::chrono::steady_clock::time_point begin;
  size_t done = 0, total = 0;
};

} // namespace tune
} // namespace convoy
