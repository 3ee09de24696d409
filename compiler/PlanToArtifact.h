// Planned modules with their code as variants of an artifact.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "compiler/artifact/Artifact.h"
#include "targets/Target.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"

namespace convoy {

/// The variants of one target, one for each profile. Constants go to the artifact's pool, where
/// equal ones are one; so are equal kernels in the code, which all profiles share.
class TargetVariants {
public:
  TargetVariants(const Target &target, mlir::Location loc, artifact::Artifact &artifact);

  /// Takes what the artifact needs of a planned module, which is not used any more after this.
  mlir::LogicalResult add(mlir::ModuleOp module, llvm::StringRef profile);
  /// Generates the code and appends the variants to the artifact.
  mlir::FailureOr<GeneratedCode> finish(CodeDumps &dumps);

private:
  /// A variant that has no code yet, and the kernel of each launch.
  struct Variant {
    artifact::Variant contents;
    std::vector<plan::KernelOp> launched;
  };

  const Target &target;
  artifact::Artifact &artifact;
  mlir::OwningOpRef<mlir::ModuleOp> library;
  llvm::StringMap<plan::KernelOp> kernels; // of the library, by identity
  std::vector<Variant> variants;
};

} // namespace convoy
