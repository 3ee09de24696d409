// Runs the stages of a compile.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/Compiler.h"

#include "compiler/PlanToArtifact.h"
#include "compiler/artifact/Writer.h"
#include "dialects/Plan/Plan.h"
#include "targets/Target.h"
#include "targets/x86/X86Target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace convoy;

void convoy::registerDialects(DialectRegistry &registry) {
  registry.insert<cnn::CnnDialect, plan::PlanDialect, func::FuncDialect, arith::ArithDialect,
                  math::MathDialect>();
}

namespace {

/// The profiles of one target on their way through the stages.
class TargetCompiler {
public:
  TargetCompiler(const CompileOptions &options, const Target &target, bool isHost, StringRef path)
      : options(options), target(target), path(path), tuner(options.tune, target, isHost) {}

  /// Appends the variants to the artifact, if the options do not stop before.
  LogicalResult run(MLIRContext *context, bool wantDumps, artifact::Artifact &artifact,
                    CompileResult &result);

private:
  FailureOr<OwningOpRef<ModuleOp>> compileProfile(const ShapeProfile &profile,
                                                  MLIRContext *context);
  LogicalResult runStages(ModuleOp module);
  LogicalResult dump(Location loc, StringRef name, StringRef text);
  LogicalResult dumpModule(Stage stage, ModuleOp module);
  LogicalResult verifyCode(ModuleOp module, verify::PassVerifier &verifier);
  LogicalResult dumpCode(Location loc, const CodeDumps &dumps, const GeneratedCode &code);

  const CompileOptions &options;
  const Target &target;
  StringRef path;
  tune::Tuner tuner;
  std::string dumpPrefix; // of the files of a profile
  unsigned dumped = 0;
};

} // namespace

LogicalResult TargetCompiler::dump(Location loc, StringRef name, StringRef text) {
  if (options.dumpDir.empty())
    return success();
  // Two digits, so that a folder lists them in order.
  std::string path = llvm::formatv("{0}/{1,0+2}.{2}{3}", options.dumpDir, dumped++, dumpPrefix, name);
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (!error) {
    stream << text;
    stream.close();
    error = stream.error();
    stream.clear_error();
  }
  if (error)
    return emitError(loc) << "cannot write " << path << ": " << error.message();
  return success();
}

LogicalResult TargetCompiler::dumpModule(Stage stage, ModuleOp module) {
  if (options.dumpDir.empty())
    return success();
  std::string text;
  llvm::raw_string_ostream stream(text);
  printModule(module, options.fullConstants, stream);
  return dump(module.getLoc(), (stageName(stage) + ".mlir").str(), text);
}

// The code of this module alone: that of several profiles is generated together. It is a clone that
// code generation leaves its numbers in.
LogicalResult TargetCompiler::verifyCode(ModuleOp module, verify::PassVerifier &verifier) {
  if (!hostRuns(target)) {
    mlir::emitWarning(module.getLoc()) << "this machine cannot run code for " << target.name()
                                       << ": it is not verified";
    return success();
  }
  OwningOpRef<ModuleOp> clone = module.clone();
  CodeDumps dumps;
  FailureOr<GeneratedCode> code = target.generate(*clone, dumps);
  if (failed(code))
    return failure();
  return verifier.checkCode(*clone, *code);
}

LogicalResult TargetCompiler::runStages(ModuleOp module) {
  cnn::TargetAttr facts = target.facts(module.getContext());
  facts = cnn::TargetAttr::get(facts.getContext(), facts.getName(), facts.getLanes(),
                               facts.getRegisters(), facts.getL1Bytes(), facts.getL2Bytes(),
                               facts.getCpu(), facts.getFeatures(), options.strictFp);
  module->setAttr(cnn::kTargetAttrName, facts);
  std::optional<verify::PassVerifier> verifier;
  if (options.verifyPasses) {
    verifier.emplace(*options.verifyPasses);
    if (failed(verifier->start(module)))
      return failure();
  }
  for (Stage stage : allStages()) {
    if (stage == Stage::Layout && options.tune.measure &&
        failed(tuner.tune(module, options.pipeline)))
      return failure();
    PassManager manager(module.getContext());
    manager.enableVerifier(options.verifyEachPass);
    buildStage(manager, stage, tuner.table(), options.pipeline);
    if (verifier)
      verifier->attach(manager);
    if (failed(manager.run(module)) || failed(dumpModule(stage, module)) ||
        (verifier && !verifier->isClean()))
      return failure();
    if (stage == options.stopAfter)
      break;
  }
  if (verifier && !options.stopAfter && failed(verifyCode(module, *verifier)))
    return failure();
  return success(!verifier || verifier->isAsExpected());
}

LogicalResult TargetCompiler::dumpCode(Location loc, const CodeDumps &dumps,
                                       const GeneratedCode &code) {
  std::pair<StringRef, StringRef> forms[] = {
      {"kernels.mlir", dumps.kernels},
      {"kernels.ll", dumps.llvmIr},
      {"kernels.s", dumps.assembly},
      {"spills.txt", dumps.spills},
      {"kernels.so", StringRef(code.object.data(), code.object.size())},
  };
  for (auto [name, text] : forms)
    if (failed(dump(loc, name, text)))
      return failure();
  return success();
}

void convoy::printModule(ModuleOp module, bool fullConstants, llvm::raw_ostream &stream) {
  OpPrintingFlags flags;
  if (!fullConstants) {
    flags.elideLargeElementsAttrs(16);
    flags.elideLargeResourceString(64);
  }
  module->print(stream, flags);
  stream << "\n";
}

static LogicalResult prepareDumpDir(const std::string &dir, Location loc) {
  if (dir.empty())
    return success();
  std::error_code error = llvm::sys::fs::create_directories(dir);
  // That of a file which is there already is no error to create_directories.
  if (!error && !llvm::sys::fs::is_directory(dir))
    error = std::make_error_code(std::errc::not_a_directory);
  if (error)
    return emitError(loc) << "cannot make the folder " << dir << ": " << error.message();
  return success();
}

// A model, or a module that an earlier compile wrote with --emit import.
static FailureOr<OwningOpRef<ModuleOp>> readModel(StringRef path, const CompileOptions &options,
                                                  MLIRContext *context) {
  if (!options.model.empty())
    return onnx::importModelFromMemory(options.model, path, "", options.import, context);
  if (!path.ends_with(".mlir"))
    return onnx::importModel(path, options.import, context);
  Location loc = FileLineColLoc::get(context, path, 0, 0);
  if (!options.import.shapes.empty() || !options.import.boundInputs.empty())
    return emitError(loc) << "is a module: shapes and values of inputs are set when ONNX is read";
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> buffer =
      llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return emitError(loc) << "cannot read: " << buffer.getError().message();
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>((*buffer)->getBuffer(), context, path);
  if (!module)
    return failure();
  return module;
}

FailureOr<OwningOpRef<ModuleOp>> TargetCompiler::compileProfile(const ShapeProfile &profile,
                                                                MLIRContext *context) {
  // Each variant imports anew: passes release the data of constants that they replace, and clones of
  // a module would share those.
  CompileOptions ofProfile = options;
  ofProfile.import.shapes = profile.shapes;
  FailureOr<OwningOpRef<ModuleOp>> module = readModel(path, ofProfile, context);
  if (failed(module) || failed(runStages(**module)))
    return failure();
  return module;
}

LogicalResult TargetCompiler::run(MLIRContext *context, bool wantDumps,
                                  artifact::Artifact &artifact, CompileResult &result) {
  Location loc = FileLineColLoc::get(context, path, 0, 0);
  if (failed(tuner.start(loc)))
    return failure();
  std::vector<ShapeProfile> profiles = options.profiles;
  if (profiles.empty())
    profiles.push_back({"", options.import.shapes});
  std::string ofTarget = options.targets.size() > 1 ? (target.name() + ".").str() : "";
  TargetVariants variants(target, loc, artifact);
  for (auto [i, profile] : llvm::enumerate(profiles)) {
    dumped = 0;
    dumpPrefix = ofTarget;
    if (profiles.size() > 1) {
      dumpPrefix += "profile" + std::to_string(i) + ".";
      emitRemark(loc) << "profile '" << profile.name << "' for " << target.name();
    }
    FailureOr<OwningOpRef<ModuleOp>> module = compileProfile(profile, context);
    if (failed(module) || (!options.stopAfter && failed(variants.add(**module, profile.name)))) {
      if (profiles.size() > 1)
        emitError(loc) << "profile '" << profile.name << "' cannot be compiled";
      return failure();
    }
    // A module that is part of the artifact by now would keep its weights in memory twice.
    if (options.stopAfter)
      result.module = std::move(*module);
  }
  if (options.stopAfter)
    return success();
  dumpPrefix = ofTarget;
  CodeDumps dumps;
  dumps.wanted = wantDumps || !options.dumpDir.empty();
  FailureOr<GeneratedCode> code = variants.finish(dumps);
  if (failed(code) || failed(dumpCode(loc, dumps, *code)))
    return failure();
  result.kernels = std::move(dumps.kernels);
  result.llvmIr = std::move(dumps.llvmIr);
  result.assembly = std::move(dumps.assembly);
  result.object = std::move(code->object);
  return success();
}

FailureOr<CompileResult> convoy::compileModel(StringRef path, const CompileOptions &options,
                                              bool wantDumps, MLIRContext *context) {
  // A module that holds no op of the dialect still gets its attributes.
  context->loadDialect<cnn::CnnDialect>();
  Location fileLoc = FileLineColLoc::get(context, path, 0, 0);
  // A parser loads the dialects of what it reads, which an empty module does not have.
  context->loadAllAvailableDialects();
  std::vector<std::unique_ptr<Target>> targets;
  std::unique_ptr<Target> host = createTarget("host");
  for (const std::string &name : options.targets) {
    targets.push_back(createTarget(name));
    if (!targets.back())
      return emitError(fileLoc) << "unknown target '" << name << "', known are host, "
                                << llvm::join(targetNames(), ", ");
    for (const std::unique_ptr<Target> &other : llvm::drop_end(targets))
      if (other->name() == targets.back()->name())
        return emitError(fileLoc) << "target '" << other->name() << "' is given twice";
    if (options.tune.measure && (!host || host->name() != targets.back()->name()))
      return emitError(fileLoc) << "--tune measures on this machine, which is "
                                << (host ? host->name() : "of no known kind")
                                << ": target '" << targets.back()->name()
                                << "' cannot be tuned here";
  }
  if (failed(prepareDumpDir(options.dumpDir, fileLoc)))
    return failure();

  CompileResult result;
  artifact::Artifact artifact;
  artifact.producer = "convoy-compile " CONVOY_VERSION_STRING;
  artifact.modelName = llvm::sys::path::stem(path).str();
  for (auto [target, name] : llvm::zip_equal(targets, options.targets))
    if (failed(TargetCompiler(options, *target, /*isHost=*/name == "host", path)
                   .run(context, wantDumps, artifact, result)))
      return failure();
  if (!options.stopAfter) {
    artifact::Problem problem = options.artifactPath.empty()
                                    ? artifact::serialize(artifact, result.artifact)
                                    : artifact::write(artifact, options.artifactPath);
    if (problem)
      return emitError(fileLoc) << *problem;
  }
  return result;
}
