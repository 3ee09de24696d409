// An ONNX model becomes a module: the order in which its parts are imported.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/Importer.h"

#include "compiler/onnx/DeclaredType.h"
#include "compiler/onnx/GraphImporter.h"
#include "compiler/onnx/InlineFunctions.h"
#include "compiler/onnx/OpTable.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;
using ::onnx::ValueInfoProto;

// The newest version of the file format that onnx 1.23 writes.
static constexpr int64_t kNewestIrVersion = 14;

GraphImporter::GraphImporter(ModelFile &file, const ImportOptions &options, bool freesBatch)
    : file(file), graph(*file.proto.mutable_graph()), options(options), freesBatch(freesBatch),
      names(file), context(file.getLoc().getContext()), builder(context) {}

std::vector<std::string> GraphImporter::shapeSources(StringRef name) const {
  return names.valueSources(name);
}

LogicalResult GraphImporter::checkVersions() {
  Location loc = file.getLoc();
  int64_t irVersion = file.proto.ir_version();
  if (irVersion < kOldestIrVersion || irVersion > kNewestIrVersion)
    return mlir::emitError(loc) << "has IR version " << irVersion << "; " << kOldestIrVersion
                                << " to " << kNewestIrVersion << " are supported";
  for (const auto &import : file.proto.opset_import()) {
    StringRef domain = plainDomain(import.domain());
    auto [known, isNew] = opsets.try_emplace(domain, import.version());
    if (!isNew && known->second != import.version()) {
      known->second = std::max<int64_t>(known->second, import.version());
      mlir::emitRemark(loc) << "imports two opsets of domain '" << domain << "'; the newer one, "
                            << known->second << ", counts";
    }
  }
  auto version = opsets.find("");
  if (version == opsets.end())
    return mlir::emitError(loc) << "imports no opset of the default domain";
  if (version->second < kOldestOpset || version->second > kNewestOpset)
    return mlir::emitError(loc) << "needs opset " << version->second << "; " << kOldestOpset
                                << " to " << kNewestOpset << " are supported";
  return success();
}

LogicalResult GraphImporter::checkOptions() {
  auto check = [&](const std::string &name, StringRef what) -> LogicalResult {
    if (llvm::any_of(names.inputs(), [&](const ValueInfoProto *i) { return i->name() == name; }))
      return success();
    InFlightDiagnostic error = mlir::emitError(file.getLoc())
                               << what << " is given for '" << name
                               << "', which is no input; the inputs are";
    for (const ValueInfoProto *input : names.inputs())
      error << " '" << input->name() << "'";
    return error;
  };
  for (const auto &[name, shape] : options.shapes)
    if (failed(check(name, "a shape")))
      return failure();
  for (const auto &[name, bytes] : options.boundInputs)
    if (failed(check(name, "a value")))
      return failure();
  return success();
}

FailureOr<OwningOpRef<ModuleOp>> GraphImporter::run() {
  if (failed(inlineFunctions(file, otherOpsets)))
    return failure();
  knowsOpset = succeeded(checkVersions());
  if (failed(names.analyze()))
    return failure();
  // All that is wrong in one run.
  bool hasFailed = !knowsOpset || failed(checkOptions());
  context
      ->loadDialect<cnn::CnnDialect, func::FuncDialect, arith::ArithDialect, math::MathDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(file.getLoc());
  builder.setInsertionPointToEnd(module->getBody());
  auto function =
      func::FuncOp::create(builder, file.getLoc(), "main", builder.getFunctionType({}, {}));
  builder.setInsertionPointToEnd(function.addEntryBlock());

  hasFailed |= failed(importInputs(function));
  hasFailed |= failed(addInitializers(graph));
  for (int node : names.liveNodes())
    hasFailed |= failed(importNode(names, node));
  if (hasFailed || failed(importOutputs(function)))
    return failure();
  // Shapes that only the importer read.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
    if (isa<cnn::ConstantOp>(op) && op.use_empty())
      op.erase();
  if (failed(mlir::verify(*module)))
    return failure();
  return module;
}

// Whether a model has a batch of 1 that could be free: every batch that inputs have is such a one.
static bool declaresOneImage(const ::onnx::GraphProto &graph, const ImportOptions &options) {
  llvm::StringSet<> initializers;
  for (const auto &tensor : graph.initializer())
    initializers.insert(tensor.name());
  bool hasOne = false;
  for (const ValueInfoProto &input : graph.input()) {
    if (initializers.contains(input.name()) || options.boundInputs.count(input.name()))
      continue;
    const auto &dims = input.type().tensor_type().shape().dim();
    if (auto given = options.shapes.find(input.name()); given != options.shapes.end()) {
      if (!given->second.empty() && ShapedType::isDynamic(given->second[0]))
        return false; // that one is the batch
    } else if (dims.empty() || isOneImage(dims)) {
      hasOne |= isOneImage(dims);
    } else if (!isStatic(dims[0])) {
      return false;
    }
  }
  return hasOne;
}

// Imports with a free batch if the options allow it and all ops do, else as the model says. `read`
// reads the file: an import takes its tensors away.
static FailureOr<OwningOpRef<ModuleOp>>
importFile(llvm::function_ref<LogicalResult(ModelFile &)> read, StringRef name, StringRef folder,
           const ImportOptions &options, MLIRContext *context) {
  ModelFile file(name, folder, context);
  if (failed(read(file)))
    return failure();
  if (!options.freeBatch || !declaresOneImage(file.proto.graph(), options))
    return GraphImporter(file, options, /*freesBatch=*/false).run();
  std::vector<Diagnostic> said;
  FailureOr<OwningOpRef<ModuleOp>> module;
  {
    ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
      said.push_back(std::move(diagnostic));
      return success();
    });
    module = GraphImporter(file, options, /*freesBatch=*/true).run();
  }
  if (succeeded(module)) {
    for (Diagnostic &diagnostic : said)
      context->getDiagEngine().emit(std::move(diagnostic));
    return module;
  }
  ModelFile again(name, folder, context);
  if (failed(read(again)))
    return failure();
  module = GraphImporter(again, options, /*freesBatch=*/false).run();
  auto reason = llvm::find_if(
      said, [](Diagnostic &d) { return d.getSeverity() == DiagnosticSeverity::Error; });
  if (succeeded(module) && reason != said.end())
    mlir::emitRemark(reason->getLocation())
        << "the batch of 1 is not free: " << StringRef(reason->str()).split("; fix").first;
  return module;
}

FailureOr<OwningOpRef<ModuleOp>>
convoy::onnx::importModel(StringRef path, const ImportOptions &options, MLIRContext *context) {
  return importFile([&](ModelFile &file) { return file.read(path); }, path,
                    llvm::sys::path::parent_path(path), options, context);
}

FailureOr<OwningOpRef<ModuleOp>>
convoy::onnx::importModelFromMemory(StringRef bytes, StringRef name, StringRef folder,
                                    const ImportOptions &options, MLIRContext *context) {
  return importFile([&](ModelFile &file) { return file.parse(bytes, name.ends_with(".onnxtxt")); },
                    name, folder, options, context);
}
