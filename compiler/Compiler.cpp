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

/// One variant on its way through the stages.
class VariantCompiler {
public:
  VariantCompiler(const CompileOptions &options, const Target &target, bool severalTargets)
      : options(options), target(target),
        dumpPrefix(severalTargets ? (target.name() + ".").str() : "") {}

  LogicalResult runStages(ModuleOp module);
  FailureOr<GeneratedCode> generate(ModuleOp module, CodeDumps &dumps);

private:
  LogicalResult dump(Location loc, StringRef name, StringRef text);
  LogicalResult dumpModule(Stage stage, ModuleOp module);

  const CompileOptions &options;
  const Target &target;
  std::string dumpPrefix;
  unsigned dumped = 0;
  std::optional<verify::PassVerifier> verifier;
};

} // namespace

LogicalResult VariantCompiler::dump(Location loc, StringRef name, StringRef text) {
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

LogicalResult VariantCompiler::dumpModule(Stage stage, ModuleOp module) {
  if (options.dumpDir.empty())
    return success();
  std::string text;
  llvm::raw_string_ostream stream(text);
  printModule(module, options.fullConstants, stream);
  return dump(module.getLoc(), (stageName(stage) + ".mlir").str(), text);
}

LogicalResult VariantCompiler::runStages(ModuleOp module) {
  module->setAttr(cnn::kTargetAttrName, target.facts(module.getContext()));
  if (options.verifyPasses) {
    verifier.emplace(*options.verifyPasses);
    if (failed(verifier->start(module)))
      return failure();
  }
  for (Stage stage : allStages()) {
    PassManager manager(module.getContext());
    manager.enableVerifier(options.verifyEachPass);
    buildStage(manager, stage, target.kernelTable(), options.pipeline);
    if (verifier)
      verifier->attach(manager);
    if (failed(manager.run(module)) || failed(dumpModule(stage, module)) ||
        (verifier && !verifier->isClean()))
      return failure();
    if (stage == options.stopAfter)
      return success(!verifier || verifier->isAsExpected());
  }
  return success();
}

FailureOr<GeneratedCode> VariantCompiler::generate(ModuleOp module, CodeDumps &dumps) {
  FailureOr<GeneratedCode> code = target.generate(module, dumps);
  if (failed(code))
    return failure();
  if (verifier && !hostRuns(target))
    mlir::emitWarning(module.getLoc()) << "this machine cannot run code for " << target.name()
                                       << ": it is not verified";
  std::pair<StringRef, StringRef> forms[] = {
      {"kernels.mlir", dumps.kernels},
      {"kernels.ll", dumps.llvmIr},
      {"kernels.s", dumps.assembly},
      {"spills.txt", dumps.spills},
      {"kernels.so", StringRef(code->object.data(), code->object.size())},
  };
  for (auto [name, text] : forms)
    if (failed(dump(module.getLoc(), name, text)))
      return failure();
  // After the dumps, which show the code that is at fault.
  if (verifier && hostRuns(target) && failed(verifier->checkCode(module, *code)))
    return failure();
  if (verifier && !verifier->isAsExpected())
    return failure();
  return code;
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

FailureOr<CompileResult> convoy::compileModel(StringRef path, const CompileOptions &options,
                                              bool wantDumps, MLIRContext *context) {
  // A module that holds no op of the dialect still gets its attributes.
  context->loadDialect<cnn::CnnDialect>();
  Location fileLoc = FileLineColLoc::get(context, path, 0, 0);
  // A parser loads the dialects of what it reads, which an empty module does not have.
  context->loadAllAvailableDialects();
  std::vector<std::unique_ptr<Target>> targets;
  for (const std::string &name : options.targets) {
    targets.push_back(createTarget(name));
    if (!targets.back())
      return emitError(fileLoc) << "unknown target '" << name << "', known are host, "
                                << llvm::join(targetNames(), ", ");
    for (const std::unique_ptr<Target> &other : llvm::drop_end(targets))
      if (other->name() == targets.back()->name())
        return emitError(fileLoc) << "target '" << other->name() << "' is given twice";
  }
  if (failed(prepareDumpDir(options.dumpDir, fileLoc)))
    return failure();

  CompileResult result;
  artifact::Artifact artifact;
  artifact.producer = "convoy-compile " CONVOY_VERSION_STRING;
  artifact.modelName = llvm::sys::path::stem(path).str();
  for (const std::unique_ptr<Target> &target : targets) {
    // Each variant imports anew: passes release the data of constants that they replace, and
    // clones of a module would share those.
    FailureOr<OwningOpRef<ModuleOp>> module = readModel(path, options, context);
    if (failed(module))
      return failure();
    VariantCompiler compiler(options, *target, targets.size() > 1);
    if (failed(compiler.runStages(**module)))
      return failure();
    if (!options.stopAfter) {
      CodeDumps dumps;
      dumps.wanted = wantDumps || !options.dumpDir.empty();
      FailureOr<GeneratedCode> code = compiler.generate(**module, dumps);
      if (failed(code) || failed(addVariant(**module, *target, *code, artifact)))
        return failure();
      result.kernels = std::move(dumps.kernels);
      result.llvmIr = std::move(dumps.llvmIr);
      result.assembly = std::move(dumps.assembly);
      result.object = std::move(code->object);
    }
    result.module = std::move(*module);
  }
  if (!options.stopAfter) {
    if (artifact::Problem problem = artifact::serialize(artifact, result.artifact))
      return emitError(fileLoc) << *problem;
  }
  return result;
}
