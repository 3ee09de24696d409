// From an ONNX model to the bytes of an artifact.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "compiler/Pipeline.h"
#include "compiler/Profiles.h"
#include "compiler/onnx/Importer.h"
#include "compiler/tune/Tuner.h"
#include "compiler/verify/VerifyPasses.h"

#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <string>
#include <vector>

namespace convoy {

struct CompileOptions {
  onnx::ImportOptions import;
  /// The bytes of a model in protobuf form instead of a file; the path only names it then.
  std::string model;
  /// Sets of input shapes, each in the place of `import.shapes`; none: these alone.
  std::vector<ShapeProfile> profiles;
  /// Names that createTarget knows; a variant for each profile of each, best target first.
  std::vector<std::string> targets = {"host"};
  /// No Winograd: every sum is one of the products that ONNX's text names.
  bool strictFp = false;
  PipelineOptions pipeline;
  /// What is measured, and what is known by earlier measurements.
  TuneOptions tune;
  /// Where to stop; everything if not set.
  std::optional<Stage> stopAfter;
  /// Folder for the form after each stage; none if empty.
  std::string dumpDir;
  /// Print full constants in dumps, which then can be read back.
  bool fullConstants = false;
  /// Check the IR after each pass, not only between stages.
  bool verifyEachPass = false;
  /// Where to write the artifact, which then never is in memory as a whole; empty: its bytes are in
  /// the result.
  std::string artifactPath;
  /// Compute what the module means after each pass, and run the code.
  std::optional<VerifyPassesOptions> verifyPasses;
};

/// Forms of a variant that a caller may ask for beside the artifact.
struct CompileResult {
  /// The artifact; empty if the compile stopped before, or if it went to a file.
  std::vector<char> artifact;
  /// The module after the stage where the compile stopped, of the last target and profile.
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// Code of the last target, see CodeDumps.
  std::string kernels, llvmIr, assembly;
  std::vector<char> object;
};

/// The dialects that a compile needs.
void registerDialects(mlir::DialectRegistry &registry);

/// Prints a module; long constants are left out unless `fullConstants` is set.
void printModule(mlir::ModuleOp module, bool fullConstants, llvm::raw_ostream &stream);

/// Compiles a model file. Errors and remarks go to the context's diagnostic handlers.
mlir::FailureOr<CompileResult> compileModel(llvm::StringRef path, const CompileOptions &options,
                                            bool wantDumps, mlir::MLIRContext *context);

} // namespace convoy
