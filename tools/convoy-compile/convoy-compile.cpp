// convoy-compile: an ONNX model into an artifact, or into one of the forms on the way.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/Compiler.h"
#include "compiler/onnx/OpTypes.h"
#include "targets/Target.h"
#include "tools/support/Error.h"
#include "tools/support/Options.h"
#include "tools/support/Printable.h"
#include "tools/support/Tensor.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace convoy;
using convoy::tools::Error;
using convoy::tools::UsageError;

namespace {

struct Arguments {
  std::string model, output, emit = "artifact";
  CompileOptions compile;
  bool remarks = false, listOps = false;
};

/// What --emit takes: a stage, or a form of the code.
constexpr llvm::StringLiteral kCodeForms[] = {"kernels", "llvm", "asm", "so", "artifact"};

} // namespace

static std::string stageList() {
  std::vector<std::string> names;
  for (Stage stage : allStages())
    names.push_back(stageName(stage).str());
  return llvm::join(names, ", ");
}

static std::string defaultTuneCache() {
  llvm::SmallString<128> path;
  if (!llvm::sys::path::cache_directory(path))
    throw UsageError("there is no cache folder, as neither XDG_CACHE_HOME nor HOME is set: "
                     "--tune-cache takes a file, or none");
  llvm::sys::path::append(path, "convoy", "tuning.json");
  return path.str().str();
}

// A bar that is drawn over itself on a terminal; a line at each tenth elsewhere.
static void showTuneProgress(const TuneProgress &progress) {
  static size_t linesShown = 0;
  size_t percent = progress.total ? 100 * progress.done / progress.total : 100;
  std::string text = tools::format("tuning %3zu %%, %zu of %zu kernels measured", percent,
                                   progress.done, progress.total);
  text += progress.isOver ? "" : tools::format(", %.0f s left", progress.secondsLeft);
  if (llvm::errs().is_displayed()) {
    constexpr size_t width = 24;
    std::string bar(width * percent / 100, '#');
    bar.resize(width, '.');
    llvm::errs() << "\r\x1b[K[" << bar << "] " << text << (progress.isOver ? "\n" : "");
    llvm::errs().flush();
  } else if (progress.isOver || percent / 10 >= linesShown) {
    linesShown = percent / 10 + 1;
    llvm::errs() << text << "\n";
  }
}

static Arguments parseArguments(int argc, char **argv) {
  Arguments arguments;
  CompileOptions &compile = arguments.compile;
  tools::Options options(
      "convoy-compile MODEL [-o FILE] [options]",
      "Compiles an ONNX model (.onnx, or .onnxtxt in ONNX's text form; .mlir with a module that\n"
      "--emit import --full-constants wrote) into one file that convoy-run and libconvoy_rt load.",
      "Examples:\n"
      "  convoy-compile model.onnx -o model.cvy\n"
      "  convoy-compile model.onnx -o model.cvy --target x86-avx512 --target x86-avx2\n"
      "  convoy-compile model.onnx --shape images=1x3x320x320 -o model.cvy\n"
      "  convoy-compile model.onnx --shape images=1x3x224:320:32x224,320 -o model.cvy\n"
      "  convoy-compile model.onnx --profile small --shape images=?x3x224x224\n"
      "    --profile large --shape images=?x3x640x640 -o model.cvy\n"
      "  convoy-compile model.onnx --emit plan -o -");
  options.section("Output");
  options.value("o", "FILE", "what to write; - is standard output. Default: MODEL with .cvy",
                [&](const std::string &text) {
                  if (text.empty())
                    throw UsageError("-o needs the name of a file");
                  arguments.output = text;
                });
  options.value("emit", "FORM",
                "what FILE holds. artifact (the default), the module after a stage\n"
                "(" + stageList() + "),\n"
                "or code: kernels (MLIR), llvm, asm, so",
                [&](const std::string &text) { arguments.emit = text; });
  options.value("stop-after", "STAGE", "run up to this stage and write no artifact",
                [&](const std::string &text) {
                  compile.stopAfter = stageFromName(text);
                  if (!compile.stopAfter)
                    throw UsageError("--stop-after takes " + stageList() + ", not '" + text + "'");
                });
  options.value("dump-dir", "DIR", "also write the form after each stage into DIR",
                [&](const std::string &text) { compile.dumpDir = text; });
  options.flag("full-constants", "print long constants too, so that a form can be read back",
               compile.fullConstants);
  options.flag("remarks", "say why: what was fused or not, layouts, kernels, memory",
               arguments.remarks);
  options.section("Input");
  ProfileList profiles;
  options.value("shape", "NAME=DIMS",
                "extents of an input, such as x=1x3x224x224; ? in the first place leaves the\n"
                "batch free until run time. May be repeated. An extent may be a list 224,320 or\n"
                "a range FIRST:LAST:STEP, and an input may have several shapes: then each\n"
                "combination is a profile, and the artifact holds up to " +
                    std::to_string(ProfileList::kMostProfiles) + " that share weights",
                [&](const std::string &text) {
                  if (std::string error = profiles.addShape(text); !error.empty())
                    throw UsageError("--shape " + text + ": " + error);
                });
  options.value("profile", "NAME",
                "begins a profile: the --shape options that follow are its own. Those before the\n"
                "first one are of all profiles",
                [&](const std::string &name) {
                  if (std::string error = profiles.addProfile(name); !error.empty())
                    throw UsageError("--profile " + name + ": " + error);
                });
  bool fixedBatch = false;
  options.flag("fixed-batch",
               "keep a batch of 1 that the model declares. Otherwise it is made free where every\n"
               "op treats an image by itself; --remarks says where not",
               fixedBatch);
  options.value("bind", "NAME=FILE.pb",
                "the value of an input that is known now, as an ONNX TensorProto; it is no input\n"
                "of the artifact. For inputs that shapes depend on. May be repeated",
                [&](const std::string &text) {
                  size_t equals = text.find('=');
                  if (equals == std::string::npos)
                    throw UsageError("--bind takes NAME=FILE.pb, not '" + text + "'");
                  std::vector<uint8_t> bytes = tools::readFile(text.substr(equals + 1));
                  compile.import.boundInputs[text.substr(0, equals)] =
                      std::string(bytes.begin(), bytes.end());
                });
  options.section("Target");
  bool given = false;
  options.value("target", "NAME",
                "machine to compile for: host (the default), " + llvm::join(targetNames(), ", ") +
                    ".\nRepeated, the artifact holds a variant for each, best first",
                [&](const std::string &text) {
                  if (!given)
                    compile.targets.clear();
                  given = true;
                  compile.targets.push_back(text);
                });
  options.flag("strict-fp",
               "leave out strategies that sum other products than ONNX's text does, such as\n"
               "Winograd's: convolutions take up to three times as long",
               compile.strictFp);
  options.section("Tuning");
  TuneOptions &tune = compile.tune;
  std::string tuneOnly, cacheFile;
  options.flag("tune",
               "measure the kernels that an op may have on this machine, and take the fastest",
               tune.measure);
  options.value("tune-budget", "SECONDS",
                "how long that may take; what takes longest is measured first. Default 60",
                [&](const std::string &text) {
                  tune.budgetSeconds = tools::Options::number("tune-budget", text);
                  if (!(tune.budgetSeconds > 0))
                    throw UsageError("--tune-budget takes a number above 0, not '" + text + "'");
                  tuneOnly = "--tune-budget";
                });
  options.value("tune-cache", "FILE",
                "where results are kept; none: nowhere. Default with --tune: convoy/tuning.json in\n"
                "$XDG_CACHE_HOME or ~/.cache. Without --tune, FILE is used as it is",
                [&](const std::string &text) {
                  if (text.empty())
                    throw UsageError("--tune-cache needs the name of a file, or none");
                  cacheFile = text;
                });
  bool noTuned = false;
  options.flag("no-tuned",
               "leave out the results that come with the compiler, which are used where this machine\n"
               "is of their class and the target",
               noTuned);
  options.section("Help");
  options.flag("list-ops", "print the ops that a model may use, with opsets, types and limits",
               arguments.listOps);
  options.section("Finding faults");
  bool noOptimize = false;
  options.flag("no-optimize", "leave out the passes that only make code faster", noOptimize);
  options.flag("verify-each-pass", "check the module after every pass", compile.verifyEachPass);
  bool verifyPasses = false;
  VerifyPassesOptions verify;
  std::string verifyOnly;
  options.flag("verify-passes",
               "compute the model after every pass, run the code, and name the first pass and\n"
               "node whose values leave the tolerance. --dump-dir gets the module before and after",
               verifyPasses);
  options.value("test-data", "DIR",
                "data for it: input_N.pb and output_N.pb as ONNX's tests have them. Default: inputs\n"
                "by a seed",
                [&](const std::string &text) {
                  if (text.empty())
                    throw UsageError("--test-data needs a folder");
                  verify.testData = text;
                  verifyOnly = "--test-data";
                });
  options.value("seed", "N", "of the generated inputs. Default 0", [&](const std::string &text) {
    verify.seed = tools::Options::integer("seed", text, 0, INT64_MAX);
    verifyOnly = "--seed";
  });
  options.value("tolerance", "X", "of the largest magnitude of a value. Default 1e-4",
                [&](const std::string &text) {
                  verify.tolerance = tools::Options::number("tolerance", text);
                  if (!(verify.tolerance >= 0))
                    throw UsageError("--tolerance takes a number from 0, not '" + text + "'");
                  verifyOnly = "--tolerance";
                });
  options.value("absolute-tolerance", "X",
                "also allow expected outputs to be off by this much. Default 0",
                [&](const std::string &text) {
                  verify.absoluteTolerance = tools::Options::number("absolute-tolerance", text);
                  if (!(verify.absoluteTolerance >= 0))
                    throw UsageError("--absolute-tolerance takes a number from 0, not '" + text +
                                     "'");
                  verifyOnly = "--absolute-tolerance";
                });
  options.positional([&](const std::string &word) {
    if (!arguments.model.empty())
      throw UsageError("one model at a time: '" + arguments.model + "' and '" + word + "'");
    arguments.model = word;
  });
  options.parse(argc, argv);

  if (arguments.listOps && !arguments.model.empty())
    throw UsageError("--list-ops prints all ops and takes no model, such as '" + arguments.model +
                     "'");
  if (arguments.listOps)
    return arguments;
  if (arguments.model.empty())
    throw UsageError("needs a model");
  if (std::string error = profiles.list(compile.profiles); !error.empty())
    throw UsageError("--shape: " + error);
  if (compile.profiles.size() > 1 && !verify.testData.empty())
    throw UsageError("--test-data is of one profile; --verify-passes takes inputs by a seed too");
  if (!tuneOnly.empty() && !tune.measure)
    throw UsageError(tuneOnly + " is for --tune");
  tune.shipped = !noTuned;
  tune.mustExist = !tune.measure;
  if (cacheFile.empty() && tune.measure)
    tune.cacheFile = defaultTuneCache();
  else if (cacheFile != "none")
    tune.cacheFile = cacheFile;
  if (tune.measure)
    tune.progress = showTuneProgress;
  compile.import.freeBatch = !fixedBatch;
  compile.pipeline.optimize = !noOptimize;
  if (!verifyOnly.empty() && !verifyPasses)
    throw UsageError(verifyOnly + " is for --verify-passes");
  if (verifyPasses) {
    verify.progress = [](llvm::StringRef line) { llvm::errs() << "verified " << line << "\n"; };
    verify.dumpDir = compile.dumpDir;
    verify.fullConstants = compile.fullConstants;
    compile.verifyPasses = verify;
  }
  if (std::optional<Stage> stage = stageFromName(arguments.emit)) {
    if (compile.stopAfter)
      throw UsageError("--emit of a stage and --stop-after exclude each other");
    compile.stopAfter = stage;
  } else if (!llvm::is_contained(kCodeForms, arguments.emit)) {
    throw UsageError("--emit takes artifact, " + stageList() +
                     ", kernels, llvm, asm or so, not '" + arguments.emit + "'");
  } else if (compile.stopAfter && arguments.emit != "artifact") {
    throw UsageError("--emit of code and --stop-after exclude each other");
  }
  if ((compile.targets.size() > 1 || compile.profiles.size() > 1) && arguments.emit != "artifact")
    throw UsageError("--emit " + arguments.emit + " is of one " +
                     (compile.targets.size() > 1 ? "target" : "profile") +
                     "; --dump-dir writes all");
  if (arguments.output.empty()) {
    llvm::SmallString<128> path(arguments.model);
    llvm::sys::path::replace_extension(path, arguments.emit == "artifact" ? "cvy" : arguments.emit);
    arguments.output = path.str().str();
  }
  return arguments;
}

// "conv1" rather than loc("conv1"); the file where the location names no node.
static std::string showLocation(mlir::Location loc) {
  if (auto name = mlir::dyn_cast<mlir::NameLoc>(loc))
    return "node '" + name.getName().str() + "'";
  if (auto file = mlir::dyn_cast<mlir::FileLineColLoc>(loc)) {
    std::string text = file.getFilename().str();
    if (file.getLine())
      text += ":" + std::to_string(file.getLine()) + ":" + std::to_string(file.getColumn());
    return text;
  }
  if (auto fused = mlir::dyn_cast<mlir::FusedLoc>(loc)) {
    std::string text;
    for (mlir::Location part : fused.getLocations()) {
      std::string shown = showLocation(part);
      if (!shown.empty())
        text += (text.empty() ? "" : " + ") + shown;
    }
    return text;
  }
  return "";
}

// Names come from the model as they are; a message is one line all the same, and leaves the
// terminal alone.
static void printDiagnostic(const std::string &model, mlir::Diagnostic &diagnostic) {
  using mlir::DiagnosticSeverity;
  llvm::StringRef kind = diagnostic.getSeverity() == DiagnosticSeverity::Error     ? "error"
                         : diagnostic.getSeverity() == DiagnosticSeverity::Warning ? "warning"
                         : diagnostic.getSeverity() == DiagnosticSeverity::Remark  ? "remark"
                                                                                   : "note";
  std::string where = showLocation(diagnostic.getLocation());
  if (where.empty() || llvm::StringRef(where).starts_with("node"))
    where = model + (where.empty() ? "" : ": " + where);
  llvm::errs() << tools::printable(where + ": " + kind.str() + ": " + diagnostic.str()) << "\n";
  for (mlir::Diagnostic &note : diagnostic.getNotes())
    printDiagnostic(model, note);
}

static int body(int argc, char **argv) {
  Arguments arguments = parseArguments(argc, argv);
  if (arguments.listOps) {
    std::string text = onnx::describeOps();
    tools::writeFile("-", text.data(), text.size());
    return 0;
  }
  // Before the long work: a folder that is missing would lose its result.
  llvm::StringRef folder = llvm::sys::path::parent_path(arguments.output);
  bool isModels = folder == llvm::sys::path::parent_path(arguments.model);
  if (arguments.output != "-" && !folder.empty() && !isModels &&
      !llvm::sys::fs::is_directory(folder))
    throw Error("cannot write " + arguments.output + ": no folder " + folder.str());
  if (arguments.output != "-" && llvm::sys::fs::equivalent(arguments.output, arguments.model))
    throw Error("cannot write " + arguments.output + ": it is the model");

  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  context.getDiagEngine().registerHandler([&](mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Remark || arguments.remarks)
      printDiagnostic(arguments.model, diagnostic);
    return mlir::success();
  });
  if (arguments.remarks) {
    mlir::remark::RemarkCategories categories;
    categories.all = categories.passed = categories.missed = ".*";
    if (mlir::failed(mlir::remark::enableOptimizationRemarks(
            context, nullptr, std::make_unique<mlir::remark::RemarkEmittingPolicyAll>(), categories,
            /*printAsEmitRemarks=*/true)))
      throw Error("cannot enable remarks");
  }

  // Standard output is the tool's to write, for it knows how to say what went wrong there.
  if (arguments.emit == "artifact" && arguments.output != "-")
    arguments.compile.artifactPath = arguments.output;
  bool wantDumps = arguments.emit != "artifact";
  mlir::FailureOr<CompileResult> result =
      compileModel(arguments.model, arguments.compile, wantDumps, &context);
  if (mlir::failed(result))
    return 1;

  std::string text;
  if (stageFromName(arguments.emit)) {
    llvm::raw_string_ostream stream(text);
    printModule(*result->module, arguments.compile.fullConstants, stream);
  } else if (arguments.compile.stopAfter) {
    return 0;
  } else if (arguments.emit == "kernels") {
    text = std::move(result->kernels);
  } else if (arguments.emit == "llvm") {
    text = std::move(result->llvmIr);
  } else if (arguments.emit == "asm") {
    text = std::move(result->assembly);
  } else if (!arguments.compile.artifactPath.empty()) {
    return 0;
  } else {
    const std::vector<char> &bytes =
        arguments.emit == "so" ? result->object : result->artifact;
    tools::writeFile(arguments.output, bytes.data(), bytes.size());
    return 0;
  }
  tools::writeFile(arguments.output, text.data(), text.size());
  return 0;
}

int main(int argc, char **argv) { return tools::runTool("convoy-compile", body, argc, argv); }
