// What a target offers to the compiler.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "dialects/Plan/Plan.h"
#include "passes/KernelTable.h"

#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <string>
#include <vector>

namespace convoy {

/// Intermediate forms of code generation that a caller wants to keep, as text.
struct CodeDumps {
  bool wanted = false;
  std::string kernels;  ///< MLIR as emitted by the strategies
  std::string llvmIr;   ///< LLVM IR after optimization
  std::string assembly; ///< target assembly
  std::string spills;   ///< where registers did not suffice, one line a loop
};

/// Code for all kernels of a module.
struct GeneratedCode {
  /// x86: a linked ELF shared object without relocations. cuda: PTX text.
  std::vector<char> object;
  /// CPU features that the code needs, by LLVM's names, such as avx512f.
  std::vector<std::string> features;
};

class Target {
public:
  virtual ~Target() = default;

  /// Such as x86-avx512; what --target takes and the artifact records.
  virtual llvm::StringRef name() const = 0;
  /// The facts that passes read.
  virtual cnn::TargetAttr facts(mlir::MLIRContext *context) const = 0;
  virtual const KernelTable &kernelTable() const = 0;
  /// Turns every plan.kernel of `module` into code under the kernel's name and sets its `tiles`,
  /// `batched` and `scratch_bytes`. Errors are emitted at the kernel that causes them.
  virtual mlir::FailureOr<GeneratedCode> generate(mlir::ModuleOp module,
                                                  CodeDumps &dumps) const = 0;
};

/// The target of a name, or null; `host` is the best one for this machine.
std::unique_ptr<Target> createTarget(llvm::StringRef name);
/// The target with oneDNN as one more strategy, or null where that is none.
std::unique_ptr<Target> createOneDnnTarget(const Target &target);
/// The names that createTarget knows, without `host` and those of createOneDnnTarget.
std::vector<std::string> targetNames();

} // namespace convoy
