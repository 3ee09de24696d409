// Compiles kernels through the real code generator and runs them in this process.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "compiler/host/HostCode.h"
#include "targets/KernelBuilder.h"

namespace convoy::test {

/// The kernels of one module.
class HostKernels {
public:
  /// Compiles every plan.kernel of `module`; null on errors, which are emitted.
  static std::unique_ptr<HostKernels> compile(const Target &target, mlir::ModuleOp module);
  /// The same with code that `emit` makes instead of the kernels' strategies.
  using Emit = llvm::function_ref<void(plan::KernelOp, KernelBuilder &)>;
  static std::unique_ptr<HostKernels> compile(const Target &target, mlir::ModuleOp module,
                                              Emit emit);

  /// Runs all tiles of a kernel, the way the runtime does but in an awkward order: ranges of
  /// several lengths, the last ones first. Subnormals are flushed.
  void run(llvm::StringRef name, llvm::ArrayRef<void *> args, int64_t batch = 1) const;

  /// Runs all tiles in one call.
  void runInOrder(llvm::StringRef name, llvm::ArrayRef<void *> args, int64_t batch = 1);
  int64_t tiles(llvm::StringRef name) const { return mapped->tiles(name); }

  const GeneratedCode &code() const { return generated; }

private:
  static std::unique_ptr<HostKernels> load(mlir::ModuleOp module, GeneratedCode code);

  GeneratedCode generated;
  std::unique_ptr<HostCode> mapped;
  llvm::StringMap<AlignedBytes> scratch; ///< of runInOrder
};

/// A context with all dialects that tests parse.
std::unique_ptr<mlir::MLIRContext> makeContext();
/// Parses a module; a failure of the test if it is malformed.
mlir::OwningOpRef<mlir::ModuleOp> parse(mlir::MLIRContext &context, llvm::StringRef text);
/// The targets that this machine can run; says on stderr which ones it cannot, and why.
std::vector<std::unique_ptr<Target>> hostTargets();

} // namespace convoy::test
