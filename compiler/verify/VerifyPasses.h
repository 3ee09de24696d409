// Finds the pass, the kernel and the node at which a compile goes wrong.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "compiler/host/HostCode.h"
#include "compiler/verify/Program.h"
#include "compiler/verify/TestData.h"

#include "mlir/Pass/PassManager.h"

namespace convoy {

struct VerifyPassesOptions {
  /// The folder of the data; inputs by `seed` if it is empty.
  std::string testData;
  uint64_t seed = 0;
  /// Of the largest magnitude of a value.
  double tolerance = 1e-4;
  /// What expected outputs may be off by in any case: those of a sigmoid near zero are inexact.
  double absoluteTolerance = 0;
  /// Gets a line after each pass.
  std::function<void(llvm::StringRef)> progress;
  /// Folder that gets the module before and after the pass at fault; none if empty.
  std::string dumpDir;
  /// Write long constants there too.
  bool fullConstants = false;
};

namespace verify {

/// Runs the reference interpreter on what a module is after each pass, on all test data, and compares
/// with what the nodes computed before.
///
/// A graph is evaluated op by op. A pass is at fault if an output leaves the tolerance, or if of all
/// ops that stand for a node none has its value any more. The node that is named is the first one of
/// those whose operands are right and whose result is not. A program is run the same way over its
/// buffers, so that kernels that do not hold what the graph had, and memory that is given away too
/// early, show. Code is run launch by launch on the operands that the evaluator has.
class PassVerifier {
public:
  explicit PassVerifier(VerifyPassesOptions options) : options(std::move(options)) {}

  /// Reads the data and takes the values of the imported graph, which are compared with the expected
  /// outputs that the data have.
  mlir::LogicalResult start(mlir::ModuleOp module);
  /// Makes the passes of a manager be followed by a check.
  void attach(mlir::PassManager &manager);
  /// Whether all checks were passed so far; an error was emitted otherwise.
  bool isClean() const { return !hasFailed; }
  /// Whether the imported graph gave what the data expect. Where it did not, passes are checked all
  /// the same: what they are compared with is the imported graph.
  bool isAsExpected() const { return !hasOthersThanExpected; }
  /// Compares what the code of a module's kernels computes with the evaluator.
  mlir::LogicalResult checkCode(mlir::ModuleOp module, const GeneratedCode &code);
  /// Checks a module; `what` is the pass that made it.
  mlir::LogicalResult check(mlir::ModuleOp module, llvm::StringRef what);

private:
  friend class Instrumentation;
  struct Set {
    TestData data;
    ValueStore store;
    std::vector<KnownTensor> outputs;
    int64_t batch = 1;
    Set(TestData data, double tolerance) : data(std::move(data)), store(tolerance) {}
  };
  struct Step;

  mlir::LogicalResult checkGraph(mlir::func::FuncOp graph, llvm::StringRef what, Set &set,
                                 bool isFirst);
  mlir::LogicalResult checkProgram(plan::ProgramOp program, llvm::StringRef what, Set &set,
                                   const HostCode *code);
  mlir::LogicalResult checkOutputs(mlir::Location loc, llvm::ArrayRef<KnownTensor> outputs,
                                   llvm::ArrayRef<Step> steps, llvm::StringRef what, Set &set);
  void checkExpected(mlir::func::FuncOp graph, Set &set);
  mlir::LogicalResult checkNodes(llvm::ArrayRef<Step> steps, llvm::StringRef what, Set &set);
  mlir::LogicalResult report(const Step &step, llvm::StringRef what, Set &set);

  VerifyPassesOptions options;
  std::vector<Set> sets;
  bool hasFailed = false, hasOthersThanExpected = false;
};

} // namespace verify
} // namespace convoy
