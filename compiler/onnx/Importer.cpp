// An ONNX model becomes a module: the order in which its parts are imported.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/Importer.h"

#include "compiler/onnx/GraphImporter.h"
#include "compiler/onnx/InlineFunctions.h"
#include "compiler/onnx/OpTable.h"

#include "mlir/IR/Verifier.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;
using ::onnx::ValueInfoProto;

// The newest version of the file format that onnx 1.23 writes.
static constexpr int64_t kNewestIrVersion = 14;

GraphImporter::GraphImporter(ModelFile &file, const ImportOptions &options)
    : file(file), graph(*file.proto.mutable_graph()), options(options), names(file),
      context(file.getLoc().getContext()), builder(context) {}

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
  if (failed(inlineFunctions(file)) || failed(checkVersions()) || failed(names.analyze()) ||
      failed(checkOptions()))
    return failure();
  context->loadDialect<cnn::CnnDialect, func::FuncDialect, arith::ArithDialect,
                       math::MathDialect>();
  for (auto &tensor : *graph.mutable_initializer())
    initializers[tensor.name()] = &tensor;

  OwningOpRef<ModuleOp> module = ModuleOp::create(file.getLoc());
  builder.setInsertionPointToEnd(module->getBody());
  auto function =
      func::FuncOp::create(builder, file.getLoc(), "main", builder.getFunctionType({}, {}));
  builder.setInsertionPointToEnd(function.addEntryBlock());

  if (failed(importInputs(function)))
    return failure();
  // All that is wrong in one run.
  bool hasFailed = false;
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

FailureOr<OwningOpRef<ModuleOp>>
convoy::onnx::importModel(StringRef path, const ImportOptions &options, MLIRContext *context) {
  ModelFile file(path, llvm::sys::path::parent_path(path), context);
  if (failed(file.read(path)))
    return failure();
  return GraphImporter(file, options).run();
}

FailureOr<OwningOpRef<ModuleOp>>
convoy::onnx::importModelFromMemory(StringRef bytes, StringRef name, StringRef folder,
                                    const ImportOptions &options, MLIRContext *context) {
  ModelFile file(name, folder, context);
  if (failed(file.parse(bytes, name.ends_with(".onnxtxt"))))
    return failure();
  return GraphImporter(file, options).run();
}
