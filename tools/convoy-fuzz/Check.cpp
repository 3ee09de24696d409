// Compiles and runs one model in all ways that must agree, and compares.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/convoy-fuzz/Check.h"

#include "compiler/Compiler.h"
#include "convoy/convoy.hpp"
#include "dialects/Cnn/Evaluate/Evaluate.h"
#include "tools/support/Error.h"

#include "mlir/IR/Diagnostics.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

#include <sys/mman.h>
#include <unistd.h>

using namespace convoy;
using namespace convoy::fuzz;
using tools::format;

static const char *const kEvaluator = "the evaluator";

Case convoy::fuzz::toCase(const Graph &graph) {
  Case test;
  test.model = toModel(graph);
  for (int input : graph.inputs())
    test.inputs.push_back(graph.values[input].tensor);
  for (int output : graph.outputs)
    test.tolerances.push_back(2 * graph.values[output].range.error);
  return test;
}

std::vector<std::string> convoy::fuzz::runnableTargets(const std::vector<std::string> &targets) {
  std::vector<std::string> runnable;
  for (const std::string &target : targets)
    if ((target != "x86-avx512" || __builtin_cpu_supports("avx512vl")) &&
        (target != "x86-avx2" || __builtin_cpu_supports("avx2")))
      runnable.push_back(target);
  return runnable;
}

namespace {

/// Something that is a failure by itself.
struct Failed {
  std::string failure, details;
};

/// Memory whose end, or begin, is that of a page before one that nobody may touch.
class GuardedMemory {
public:
  GuardedMemory(size_t bytes, size_t alignment, bool atEnd) {
    size_t page = sysconf(_SC_PAGESIZE);
    size = (bytes + page - 1) / page * page + 2 * page;
    mapped = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
      throw tools::Error("out of memory");
    char *begin = static_cast<char *>(mapped) + page;
    size_t middle = size - 2 * page;
    if (middle > 0 && mprotect(begin, middle, PROT_READ | PROT_WRITE) != 0)
      throw tools::Error("out of memory");
    std::memset(begin, 0x5a, middle);
    start = begin + (atEnd ? (middle - bytes) / alignment * alignment : 0);
  }
  GuardedMemory(GuardedMemory &&other) noexcept
      : mapped(std::exchange(other.mapped, MAP_FAILED)), start(other.start), size(other.size) {}
  ~GuardedMemory() {
    if (mapped != MAP_FAILED)
      munmap(mapped, size);
  }
  char *data() const { return start; }

private:
  void *mapped;
  char *start;
  size_t size;
};

/// The compiler's context, its errors as text.
class Compiling {
public:
  Compiling() : context(makeRegistry(), mlir::MLIRContext::Threading::DISABLED) {
    context.printOpOnDiagnostic(false);
    context.loadAllAvailableDialects();
    context.getDiagEngine().registerHandler([this](mlir::Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error) {
        errors += errors.empty() ? "" : "; ";
        llvm::raw_string_ostream stream(errors);
        stream << diagnostic.getLocation() << ": " << diagnostic.str();
      }
      return mlir::success();
    });
  }

  std::vector<char> compile(const std::string &model, const std::string &target) {
    errors.clear();
    CompileOptions options;
    options.targets = {target};
    options.model = model;
    mlir::FailureOr<CompileResult> result =
        compileModel("model.onnx", options, /*wantDumps=*/false, &context);
    if (mlir::failed(result))
      throw Failed{target + " refuses the model", errors};
    return std::move(result->artifact);
  }

  std::vector<Tensor> evaluate(const Case &test, const std::string &model);

private:
  static const mlir::DialectRegistry &makeRegistry() {
    static const mlir::DialectRegistry registry = [] {
      mlir::DialectRegistry made;
      registerDialects(made);
      return made;
    }();
    return registry;
  }

  std::string errors;
  mlir::MLIRContext context;
};

} // namespace

std::vector<Tensor> Compiling::evaluate(const Case &test, const std::string &model) {
  errors.clear();
  auto module = convoy::onnx::importModelFromMemory(model, "model.onnx", "", {}, &context);
  if (mlir::failed(module))
    throw Failed{"the importer refuses the model", errors};
  auto function = (*module)->lookupSymbol<mlir::func::FuncOp>("main");
  std::vector<cnn::Tensor> inputs;
  for (size_t i = 0; i < test.inputs.size(); ++i) {
    const Tensor &input = test.inputs[i];
    auto type = mlir::cast<mlir::RankedTensorType>(function.getArgumentTypes()[i]);
    inputs.push_back(cnn::Tensor::view(
        mlir::RankedTensorType::get(input.dims, type.getElementType()),
        {reinterpret_cast<const char *>(input.bytes.data()), input.bytes.size()}));
  }
  auto results = cnn::evaluate(function, inputs);
  if (mlir::failed(results))
    throw Failed{"the evaluator fails", errors};
  std::vector<Tensor> outputs;
  for (size_t i = 0; i < test.tolerances.size(); ++i) {
    const cnn::Tensor &result = (*results)[i];
    Tensor output;
    output.type =
        static_cast<convoy_type>(test.model.graph().output(i).type().tensor_type().elem_type());
    output.dims.assign(result.shape().begin(), result.shape().end());
    output.bytes.assign(result.bytes().begin(), result.bytes().end());
    outputs.push_back(std::move(output));
  }
  return outputs;
}

// Runs with all tensors in guarded memory. `batch` is that of a model whose batch is free.
static std::vector<Tensor> run(const Model &model, const Case &test, const std::string &target,
                               uint32_t threads, int64_t batch = 1) {
  convoy_context_options options = {};
  options.threads = threads;
  Context context(model, options);
  context.setBatch(batch);
  bool atEnd = threads == 1;
  std::vector<GuardedMemory> memory;
  std::vector<Tensor> outputs;
  for (size_t i = 0; i < test.inputs.size(); ++i) {
    const Tensor &input = test.inputs[i];
    memory.emplace_back(input.bytes.size(), convoy_type_size(input.type), atEnd);
    std::memcpy(memory.back().data(), input.bytes.data(), input.bytes.size());
    convoy_tensor tensor = {memory.back().data(), input.bytes.size(), input.type, input.dims.size(),
                            input.dims.data()};
    convoy::check(convoy_context_set_input(context.get(), i, &tensor));
  }
  for (size_t i = 0; i < model.outputs(); ++i) {
    convoy_value_info info = model.output(i);
    Tensor output;
    output.type = info.type;
    std::vector<int64_t> dims(info.dims, info.dims + info.rank);
    if (!dims.empty() && dims[0] < 0)
      dims[0] = batch;
    output.resize(dims);
    memory.emplace_back(output.bytes.size(), convoy_type_size(info.type), atEnd);
    convoy_tensor tensor = {memory.back().data(), output.bytes.size(), output.type,
                            output.dims.size(), output.dims.data()};
    convoy::check(convoy_context_set_output(context.get(), i, &tensor));
    outputs.push_back(std::move(output));
  }
  context.run();
  for (size_t i = 0; i < test.inputs.size(); ++i)
    if (std::memcmp(memory[i].data(), test.inputs[i].bytes.data(), test.inputs[i].bytes.size()) !=
        0)
      throw Failed{target + " writes to an input", format("input %zu", i)};
  for (size_t i = 0; i < outputs.size(); ++i)
    std::memcpy(outputs[i].bytes.data(), memory[test.inputs.size() + i].data(),
                outputs[i].bytes.size());
  return outputs;
}

// The first element that is too far off.
static std::string difference(const Tensor &found, const Tensor &expected, double tolerance) {
  if (found.type != expected.type || found.dims != expected.dims)
    return "is " + tools::describe(found.type, found.dims) + ", expected " +
           tools::describe(expected.type, expected.dims);
  for (int64_t i = 0; i < found.size(); ++i) {
    double a = found.at(i), e = expected.at(i);
    // Subnormals count as zero in a run.
    if (a == e || (std::isnan(a) && std::isnan(e)) || std::fabs(a - e) <= tolerance + 1e-37)
      continue;
    return format("[%lld] is %.9g, expected %.9g, tolerance %.3g", (long long)i, a, e, tolerance);
  }
  return "";
}

static std::string differs(const Case &test, const std::vector<Tensor> &found,
                           const std::vector<Tensor> &expected) {
  if (found.size() != expected.size())
    return format("%zu outputs, expected %zu", found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i)
    if (std::string text = difference(found[i], expected[i], test.tolerances[i]); !text.empty())
      return test.model.graph().output(i).name() + " " + text;
  return "";
}

static double looseness(const Case &test, const std::vector<Tensor> &expected) {
  double loosest = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    double most = 0;
    for (int64_t j = 0; j < expected[i].size(); ++j)
      most = std::max(most, std::fabs(expected[i].at(j)));
    if (most > 0)
      loosest = std::max(loosest, test.tolerances[i] / most);
  }
  return loosest;
}

// ---- Free batch
// ----------------------------------------------------------------------------------

// The batch that all images among the inputs have, if they have one.
static std::optional<int64_t> batchOf(const Case &test) {
  std::optional<int64_t> batch;
  for (const Tensor &input : test.inputs) {
    if (input.dims.size() < 3)
      continue;
    if (input.dims[0] == 0 || (batch && *batch != input.dims[0]))
      return std::nullopt;
    batch = input.dims[0];
  }
  return batch;
}

// The same graph with the batch left free, where Convoy can leave it free: it gives the same, and
// the double of a batch gives each image's result twice, to the bit.
static void checkFreeBatch(Compiling &compiling, const Case &test, const std::string &target,
                           const std::vector<Tensor> &expected) {
  std::optional<int64_t> batch = batchOf(test);
  if (!batch)
    return;
  Case freed = test, doubled = test;
  for (size_t i = 0; i < test.inputs.size(); ++i) {
    auto *shape = freed.model.mutable_graph()
                      ->mutable_input(i)
                      ->mutable_type()
                      ->mutable_tensor_type()
                      ->mutable_shape();
    if (shape->dim_size() < 3)
      continue;
    shape->mutable_dim(0)->set_dim_param("N");
    Tensor &twice = doubled.inputs[i];
    twice.dims[0] *= 2;
    twice.bytes.insert(twice.bytes.end(), test.inputs[i].bytes.begin(), test.inputs[i].bytes.end());
  }
  for (::onnx::ValueInfoProto &output : *freed.model.mutable_graph()->mutable_output())
    output.mutable_type()->mutable_tensor_type()->clear_shape();
  std::vector<char> artifact;
  try {
    artifact = compiling.compile(freed.model.SerializeAsString(), target);
  } catch (const Failed &) {
    return; // An op mixes images, or has a constant for this batch alone.
  }
  std::string name = target + " with a free batch";
  Model loaded(artifact.data(), artifact.size());
  std::vector<Tensor> found = run(loaded, test, name, 1, *batch);
  if (std::string text = differs(test, found, expected); !text.empty())
    throw Failed{name + " differs", text};
  std::vector<Tensor> both = run(loaded, doubled, name, 2, 2 * *batch);
  for (size_t i = 0; i < found.size(); ++i) {
    std::vector<uint8_t> wanted = found[i].bytes;
    if (loaded.output(i).rank > 0 && loaded.output(i).dims[0] < 0)
      wanted.insert(wanted.end(), found[i].bytes.begin(), found[i].bytes.end());
    if (both[i].bytes != wanted)
      throw Failed{name + ": an image's result depends on the batch",
                   test.model.graph().output(i).name()};
  }
}

// ---- Faults on purpose
// ---------------------------------------------------------------------------

static std::string withFault(const Case &test, Fault fault) {
  ::onnx::ModelProto model = test.model;
  for (::onnx::NodeProto &node : *model.mutable_graph()->mutable_node()) {
    if (node.op_type() == "Concat" && fault == Fault::Crash)
      abort();
    while (node.op_type() == "Concat" && fault == Fault::Hang)
      sleep(1);
    if (node.op_type() != "Relu" || fault != Fault::LostRelu)
      continue;
    for (const ::onnx::NodeProto &other : model.graph().node())
      if (other.op_type() == "Conv" && other.output(0) == node.input(0))
        node.set_op_type("Identity");
  }
  return model.SerializeAsString();
}

// -------------------------------------------------------------------------------------------------

static void checkAll(const Case &test, const CheckOptions &options, Oracle *oracle,
                     Verdict &verdict) {
  // One for all models of this process: making it takes as long as a small compile.
  static Compiling compiling;
  std::string model = test.model.SerializeAsString();
  std::vector<Tensor> expected;
  for (const std::string &target : options.targets) {
    bool isFirst = &target == &options.targets.front();
    std::vector<char> artifact =
        compiling.compile(isFirst ? model : withFault(test, options.fault), target);
    std::vector<Tensor> found;
    try {
      Model loaded(artifact.data(), artifact.size());
      found = run(loaded, test, target, 1);
      std::vector<Tensor> again = run(loaded, test, target, 2);
      for (size_t i = 0; i < found.size(); ++i)
        if (found[i].bytes != again[i].bytes)
          throw Failed{target + " depends on the number of threads",
                       test.model.graph().output(i).name()};
    } catch (const convoy::Error &error) {
      throw Failed{target + " does not run", error.what()};
    }
    if (isFirst) {
      expected = std::move(found);
      verdict.looseness = looseness(test, expected);
      std::vector<Tensor> evaluated = compiling.evaluate(test, model);
      if (std::string text = differs(test, expected, evaluated); !text.empty())
        throw Failed{target + " differs from " + kEvaluator, text};
    } else if (std::string text = differs(test, found, expected); !text.empty()) {
      throw Failed{target + " differs from " + options.targets.front(), text};
    }
  }
  // One graph in four: it costs one more compile.
  if (test.model.graph().node_size() % 4 == 1)
    checkFreeBatch(compiling, test, options.targets.back(), expected);
  if (!oracle)
    return;
  Answer answer = oracle->ask(model, test.inputs);
  verdict.oracleText = answer.text;
  verdict.oracleAnswered = answer.kind == Answer::Values;
  if (answer.kind == Answer::Error)
    throw Failed{"the oracle refuses the model", answer.text};
  if (answer.kind == Answer::Values)
    if (std::string text = differs(test, expected, answer.outputs); !text.empty())
      throw Failed{options.targets.front() + " differs from the oracle", text};
}

Verdict convoy::fuzz::check(const Case &test, const CheckOptions &options, Oracle *oracle) {
  Verdict verdict;
  try {
    checkAll(test, options, oracle, verdict);
  } catch (const Failed &failed) {
    verdict.failure = failed.failure;
    verdict.details = failed.details;
  } catch (const std::exception &error) {
    verdict.failure = "the fuzzer fails";
    verdict.details = error.what();
  }
  return verdict;
}
