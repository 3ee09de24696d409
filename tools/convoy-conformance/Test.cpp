// Finds, compiles and runs one ONNX backend test.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/Compiler.h"
#include "convoy/convoy.h"
#include "tools/convoy-conformance/Conformance.h"
#include "tools/support/Error.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

using namespace convoy;
using tools::Tensor;
namespace fs = std::filesystem;

namespace {

/// Input files in the order of the graph's inputs, output files in that of its outputs.
struct DataSet {
  std::vector<std::string> inputs, outputs;
};

struct TestFiles {
  std::string model;
  std::vector<DataSet> dataSets;
  /// A light network: its inputs are arange(n) / n, there are no files of them.
  bool light = false;
};

} // namespace

static std::vector<std::string> numberedFiles(const fs::path &folder, const std::string &prefix) {
  std::vector<std::string> files;
  for (size_t i = 0;; ++i) {
    fs::path file = folder / (prefix + std::to_string(i) + ".pb");
    if (!fs::exists(file))
      return files;
    files.push_back(file);
  }
}

std::vector<std::string> convoy::findTests(const std::string &root) {
  if (!fs::is_directory(root))
    throw tools::Error("no folder " + root);
  std::vector<std::string> names;
  for (const fs::directory_entry &entry : fs::recursive_directory_iterator(root)) {
    fs::path path = entry.path();
    if (path.filename() == "model.onnx") {
      if (fs::is_directory(path.parent_path() / "test_data_set_0"))
        names.push_back(fs::relative(path.parent_path(), root));
    } else if (path.extension() == ".onnx") {
      fs::path stem = path.parent_path() / path.stem();
      if (fs::exists(stem.string() + "_output_0.pb"))
        names.push_back(fs::relative(stem, root));
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

static TestFiles locate(const std::string &root, const std::string &name) {
  TestFiles files;
  fs::path folder = fs::path(root) / name;
  if (fs::is_regular_file(folder.string() + ".onnx")) {
    files.model = folder.string() + ".onnx";
    files.light = true;
    DataSet set;
    set.outputs = numberedFiles(folder.parent_path(), folder.filename().string() + "_output_");
    files.dataSets.push_back(set);
    return files;
  }
  files.model = folder / "model.onnx";
  if (!fs::exists(files.model))
    throw tools::Error("no such test: " + files.model + " is missing");
  for (size_t i = 0;; ++i) {
    fs::path set = folder / ("test_data_set_" + std::to_string(i));
    if (!fs::is_directory(set))
      break;
    files.dataSets.push_back({numberedFiles(set, "input_"), numberedFiles(set, "output_")});
  }
  if (files.dataSets.empty())
    throw tools::Error("has no test_data_set_0");
  return files;
}

static std::string toString(const std::vector<uint8_t> &bytes) {
  return std::string(bytes.begin(), bytes.end());
}

// The artifact, compiled in this process.
static std::vector<char> compileTest(const TestFiles &files, const onnx::ModelInputs &inputs,
                                     const ConformanceOptions &options) {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  std::string errors;
  context.printOpOnDiagnostic(false);
  context.getDiagEngine().registerHandler([&](mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error) {
      errors += errors.empty() ? "" : "; ";
      llvm::raw_string_ostream stream(errors);
      stream << diagnostic.getLocation() << ": " << diagnostic.str();
    }
    return mlir::success();
  });
  CompileOptions compile;
  compile.targets = {options.target};
  compile.pipeline.optimize = !options.noOptimize;
  for (size_t i : inputs.shapeInputs)
    if (i < files.dataSets[0].inputs.size())
      compile.import.boundInputs[inputs.names[i]] =
          toString(tools::readFile(files.dataSets[0].inputs[i]));
  for (size_t i : inputs.openInputs)
    if (i < files.dataSets[0].inputs.size())
      compile.import.shapes[inputs.names[i]] =
          tools::readTensorProto(files.dataSets[0].inputs[i]).dims;
  mlir::FailureOr<CompileResult> result =
      compileModel(files.model, compile, /*wantDumps=*/false, &context);
  if (mlir::failed(result))
    throw tools::Error("compile: " + errors);
  return std::move(result->artifact);
}

// The first element that differs too much, or an empty string.
static std::string compare(const Tensor &actual, const Tensor &expected,
                           const ConformanceOptions &options) {
  if (actual.type != expected.type || actual.dims != expected.dims)
    return "is " + tools::describe(actual.type, actual.dims) + ", expected " +
           tools::describe(expected.type, expected.dims);
  if (!tools::isFloat(actual.type)) {
    if (actual.bytes == expected.bytes)
      return "";
    for (int64_t i = 0; i < actual.size(); ++i)
      if (actual.at(i) != expected.at(i))
        return tools::format("[%lld] is %.0f, expected %.0f", (long long)i, actual.at(i),
                             expected.at(i));
    return "differs in bits that its values do not show";
  }
  for (int64_t i = 0; i < actual.size(); ++i) {
    double a = actual.at(i), e = expected.at(i);
    bool same = a == e || (std::isnan(a) && std::isnan(e)) ||
                std::fabs(a - e) <= options.absolute + options.relative * std::fabs(e);
    if (!same)
      return tools::format("[%lld] is %.9g, expected %.9g", (long long)i, a, e);
  }
  return "";
}

static Tensor lightInput(const convoy_value_info &info) {
  Tensor tensor;
  tensor.type = info.type;
  std::vector<int64_t> dims(info.dims, info.dims + info.rank);
  if (!dims.empty() && dims[0] < 0)
    dims[0] = 1;
  tensor.resize(dims);
  // float32 arithmetic, as the expected outputs were made with.
  float count = static_cast<float>(tensor.size());
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.set(i, static_cast<float>(i) / count);
  return tensor;
}

static void check(convoy_status status, const std::string &what) {
  if (status != CONVOY_OK)
    throw tools::Error(what + ": " + convoy_last_error());
}

namespace {

struct ModelDeleter {
  void operator()(convoy_model *model) const { convoy_model_destroy(model); }
};
struct ContextDeleter {
  void operator()(convoy_context *context) const { convoy_context_destroy(context); }
};

} // namespace

static std::string runDataSet(const convoy_model *model, const TestFiles &files,
                              const DataSet &set, const std::vector<std::string> &inputNames,
                              const ConformanceOptions &options) {
  convoy_context_options contextOptions = {};
  contextOptions.threads = options.threads;
  convoy_context *raw = nullptr;
  check(convoy_context_create(model, &contextOptions, &raw), "context");
  std::unique_ptr<convoy_context, ContextDeleter> context(raw);

  std::vector<Tensor> inputs(convoy_model_num_inputs(model));
  for (size_t i = 0; i < inputs.size(); ++i) {
    convoy_value_info info;
    check(convoy_model_input(model, i, &info), "input");
    if (files.light) {
      inputs[i] = lightInput(info);
    } else {
      size_t file = std::find(inputNames.begin(), inputNames.end(), info.name) - inputNames.begin();
      if (file >= set.inputs.size())
        return std::string("no file for input '") + info.name + "'";
      inputs[i] = tools::readTensorProto(set.inputs[file]);
    }
    convoy_tensor tensor = {inputs[i].bytes.data(), inputs[i].bytes.size(), inputs[i].type,
                            inputs[i].dims.size(), inputs[i].dims.data()};
    check(convoy_context_set_input(context.get(), i, &tensor), "input");
  }
  check(convoy_context_run(context.get()), "run");
  for (size_t i = 0; i < set.outputs.size(); ++i) {
    convoy_tensor tensor;
    check(convoy_context_output(context.get(), i, &tensor), "output");
    Tensor actual;
    actual.type = tensor.type;
    actual.resize(std::vector<int64_t>(tensor.dims, tensor.dims + tensor.rank));
    std::copy_n(static_cast<const uint8_t *>(tensor.data), actual.bytes.size(),
                actual.bytes.begin());
    std::string difference = compare(actual, tools::readTensorProto(set.outputs[i]), options);
    if (!difference.empty())
      return "output " + std::to_string(i) + " " + difference;
  }
  return "";
}

Outcome convoy::runTest(const std::string &root, const std::string &name,
                        const ConformanceOptions &options) {
  TestFiles files = locate(root, name);
  onnx::ModelInputs inputs;
  {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    context.getDiagEngine().registerHandler([](mlir::Diagnostic &) { return mlir::success(); });
    if (mlir::failed(onnx::readInputs(files.model, &context, inputs)))
      inputs = {}; // What is wrong with the file is for the compile to say.
  }
  if (options.skipUnknownOps && !inputs.unknownOps.empty())
    return {Outcome::Skipped, "no import of " + llvm::join(inputs.unknownOps, ", ")};
  std::vector<char> artifact = compileTest(files, inputs, options);
  convoy_model *raw = nullptr;
  check(convoy_model_load_memory(artifact.data(), artifact.size(), nullptr, &raw), "load");
  std::unique_ptr<convoy_model, ModelDeleter> model(raw);
  for (size_t i = 0; i < files.dataSets.size(); ++i) {
    std::string failure = runDataSet(model.get(), files, files.dataSets[i], inputs.names, options);
    if (!failure.empty())
      return {Outcome::Failed, "data set " + std::to_string(i) + ": " + failure};
  }
  return {};
}
