// Finds the pass, the kernel and the node at which a compile goes wrong.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/verify/VerifyPasses.h"

#include "passes/Graph.h"

#include "mlir/IR/OperationSupport.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <cstring>

using namespace mlir;
using namespace convoy;
using namespace convoy::verify;
using cnn::Tensor;

/// An op of a graph, or a launch, that was computed.
struct PassVerifier::Step {
  Operation *op;
  Location loc;
  Judgement judgement;
  /// Numbers of the steps that made its operands, where they are known.
  SmallVector<size_t> operands;

  bool isKnown() const { return !judgement.isNew && !judgement.deviation; }
};

namespace {

std::string showNodes(Location loc) {
  std::string names = getNodeNames(loc);
  return names.empty() ? "a node without a name" : "'" + names + "'";
}

RankedTensorType withBatch(RankedTensorType type, int64_t batch) {
  SmallVector<int64_t> shape(type.getShape());
  if (cnn::hasFreeBatch(type))
    shape[0] = batch;
  return RankedTensorType::get(shape, type.getElementType(), type.getEncoding());
}

size_t bytesOf(RankedTensorType type, int64_t batch) {
  return cnn::getBytes(type) * (cnn::hasFreeBatch(type) ? batch : 1);
}

} // namespace

namespace convoy::verify {

/// Calls the verifier after each pass that changed the module.
class Instrumentation : public PassInstrumentation {
public:
  explicit Instrumentation(PassVerifier &verifier) : verifier(verifier) {}

  void runBeforePass(Pass *, Operation *op) override {
    auto module = dyn_cast<ModuleOp>(op);
    if (!module || !verifier.isClean())
      return;
    before.emplace(op);
    if (!verifier.options.dumpDir.empty())
      textBefore = print(module);
  }

  void runAfterPass(Pass *pass, Operation *op) override {
    auto module = dyn_cast<ModuleOp>(op);
    if (!module || !verifier.isClean() || !before || *before == OperationFingerPrint(op))
      return;
    StringRef name = pass->getArgument().empty() ? pass->getName() : pass->getArgument();
    if (succeeded(verifier.check(module, name)) || verifier.options.dumpDir.empty())
      return;
    write(module, "verify-before." + name.str() + ".mlir", textBefore);
    write(module, "verify-after." + name.str() + ".mlir", print(module));
  }

private:
  std::string print(ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    OpPrintingFlags flags;
    if (!verifier.options.fullConstants) {
      flags.elideLargeElementsAttrs(16);
      flags.elideLargeResourceString(64);
    }
    module->print(stream, flags);
    return text + "\n";
  }

  void write(ModuleOp module, const std::string &name, const std::string &text) {
    std::string path = verifier.options.dumpDir + "/" + name;
    std::error_code error;
    llvm::raw_fd_ostream stream(path, error);
    if (!error) {
      stream << text;
      stream.close();
      error = stream.error();
      stream.clear_error();
    }
    if (error)
      module.emitError() << "cannot write " << path << ": " << error.message();
    else
      module.emitRemark() << "wrote " << path;
  }

  PassVerifier &verifier;
  std::optional<OperationFingerPrint> before;
  std::string textBefore;
};

} // namespace convoy::verify

void PassVerifier::attach(PassManager &manager) {
  manager.addInstrumentation(std::make_unique<Instrumentation>(*this));
}

LogicalResult PassVerifier::report(const Step &step, StringRef what, Set &set) {
  hasFailed = true;
  InFlightDiagnostic error = mlir::emitError(step.loc);
  error << "after " << what << " this node has other values than before: '" << step.op->getName()
        << "', " << step.judgement.value.tensor.type();
  if (step.judgement.deviation)
    error << ", " << step.judgement.deviation->text();
  else
    error << ", whose values no form of the node had before";
  return error << " (" << set.data.name << ")";
}

LogicalResult PassVerifier::checkOutputs(Location loc, ArrayRef<KnownTensor> outputs,
                                         ArrayRef<Step> steps, StringRef what, Set &set) {
  for (size_t i = 0; i < set.outputs.size(); ++i) {
    if (i >= outputs.size()) {
      hasFailed = true;
      return mlir::emitError(loc) << "after " << what << " output " << i << " is gone";
    }
    std::optional<Deviation> deviation =
        compare(outputs[i].tensor, set.outputs[i].tensor, set.store.getTolerance());
    if (!deviation)
      continue;
    // The first op that is neither what its node was nor fed by such an op, if one can be told from
    // what its node was; else the first whose values nobody knows.
    auto isWrong = [](const Step &step) { return step.judgement.deviation.has_value(); };
    const Step *guilty = llvm::find_if(steps, isWrong);
    if (guilty == steps.end())
      guilty = llvm::find_if(steps, [](const Step &step) { return !step.isKnown(); });
    if (guilty != steps.end()) {
      (void)report(*guilty, what, set);
      mlir::emitRemark(loc) << "output " << i << ": " << deviation->text();
      return failure();
    }
    hasFailed = true;
    return mlir::emitError(loc) << "after " << what << " output " << i
                                << " has other values than before though all nodes have theirs: "
                                << deviation->text() << " (" << set.data.name << ")";
  }
  return success();
}

LogicalResult PassVerifier::checkNodes(ArrayRef<Step> steps, StringRef what, Set &set) {
  // Of the ops that stand for one node, one has its value.
  llvm::MapVector<StringRef, SmallVector<const Step *>> byNode;
  for (const Step &step : steps)
    if (SmallVector<StringRef> nodes = nodesOf(step.loc); !nodes.empty())
      byNode[nodes.back()].push_back(&step);
  for (auto &[node, own] : byNode) {
    if (llvm::any_of(own, [](const Step *step) { return step->isKnown(); }))
      continue;
    auto wrong = llvm::find_if(own, [](const Step *s) { return s->judgement.deviation; });
    if (wrong != own.end())
      return report(**wrong, what, set);
  }
  return success();
}

LogicalResult PassVerifier::checkGraph(func::FuncOp graph, StringRef what, Set &set,
                                       bool isFirst) {
  Block &block = graph.getBody().front();
  DenseMap<Value, KnownTensor> values;
  DenseMap<Value, size_t> makers;
  DenseMap<Value, int64_t> uses;
  if (block.getNumArguments() != set.data.inputs.size()) {
    hasFailed = true;
    return graph.emitError() << "after " << what << " the graph has "
                             << block.getNumArguments() << " inputs, before it had "
                             << set.data.inputs.size();
  }
  for (auto [argument, input] : llvm::zip_equal(block.getArguments(), set.data.inputs))
    values[argument] = KnownTensor(input);
  std::vector<Step> steps;
  for (Operation &op : block.without_terminator()) {
    if (auto constant = dyn_cast<cnn::ConstantOp>(op)) {
      FailureOr<KnownTensor> value =
          set.store.constant(&op, tensorType(constant), constant.getValue());
      if (failed(value)) {
        hasFailed = true;
        return failure();
      }
      values[constant] = *value;
      continue;
    }
    SmallVector<KnownTensor> operands;
    Step step{&op, op.getLoc(), {}, {}};
    for (Value operand : op.getOperands()) {
      operands.push_back(values.lookup(operand));
      if (auto maker = makers.find(operand); maker != makers.end())
        step.operands.push_back(maker->second);
    }
    FailureOr<Judgement> judgement = set.store.judge(&op, op.getLoc(), operands, set.batch);
    if (failed(judgement)) {
      hasFailed = true;
      return mlir::emitError(op.getLoc()) << "after " << what << " this node cannot be computed";
    }
    if (isFirst)
      *judgement = {judgement->value, std::nullopt, false};
    values[op.getResult(0)] = judgement->value;
    makers[op.getResult(0)] = steps.size();
    step.judgement = std::move(*judgement);
    steps.push_back(std::move(step));
  }
  SmallVector<KnownTensor> outputs;
  for (Value output : block.getTerminator()->getOperands())
    outputs.push_back(values.lookup(output));
  if (isFirst)
    set.outputs.assign(outputs.begin(), outputs.end());
  if (failed(checkOutputs(graph.getLoc(), outputs, steps, what, set)) ||
      failed(checkNodes(steps, what, set)))
    return failure();
  for (const Step &step : steps)
    set.store.accept(step.loc, step.judgement.value);
  return success();
}

LogicalResult PassVerifier::checkProgram(plan::ProgramOp program, StringRef what, Set &set,
                                         const HostCode *code) {
  auto fail = [&] {
    hasFailed = true;
    return failure();
  };
  ProgramMemory memory;
  if (failed(memory.prepare(program, set.data.inputs, set.batch)))
    return fail();
  auto module = program->getParentOfType<ModuleOp>();
  std::vector<Step> steps;
  // What lies in a buffer, and since which launch.
  struct Written {
    RankedTensorType type;
    uint64_t hash;
    Location by;
  };
  llvm::DenseMap<Value, Written> written;
  std::vector<char> arenaBefore;
  for (auto launch : program.getOps<plan::LaunchOp>()) {
    auto kernel = dyn_cast_or_null<plan::KernelOp>(module.lookupSymbol(launch.getKernelAttr()));
    if (!kernel) {
      launch.emitOpError() << "has no kernel";
      return fail();
    }
    Block &body = kernel.getBody().front();
    Operation *op = &body.front();
    SmallVector<KnownTensor> operands;
    SmallVector<void *> args;
    for (auto [buffer, argument] : llvm::zip_equal(launch.getReads(), body.getArguments())) {
      auto type = withBatch(tensorType(argument), set.batch);
      char *address = memory.address(buffer);
      args.push_back(address);
      if (auto constant = buffer.getDefiningOp<plan::ConstantOp>()) {
        FailureOr<KnownTensor> value = set.store.constant(constant, type, constant.getValue());
        if (failed(value))
          return fail();
        operands.push_back(*value);
        continue;
      }
      operands.push_back(
          KnownTensor(Tensor::unpack(type, {address, bytesOf(tensorType(argument), set.batch)})));
      auto last = written.find(buffer);
      if (last == written.end() || last->second.type != type ||
          last->second.hash == operands.back().hash)
        continue;
      hasFailed = true;
      return mlir::emitError(launch.getLoc())
             << "after " << what << " the memory of an operand, " << type
             << ", is written again between " << showNodes(last->second.by)
             << ", which makes it, and this node (" << set.data.name << ")";
    }
    FailureOr<Judgement> judgement = set.store.judge(op, launch.getLoc(), operands, set.batch);
    if (failed(judgement))
      return fail();
    auto declared = tensorType(body.getTerminator()->getOperand(0));
    auto type = withBatch(declared, set.batch);
    char *address = memory.address(launch.getWrites()[0]);
    size_t bytes = bytesOf(declared, set.batch);
    if (code) {
      args.push_back(address);
      arenaBefore.assign(memory.arena().begin(), memory.arena().end());
      code->run(kernel.getSymName(), args, set.batch);
      Tensor found = Tensor::unpack(type, {address, bytes});
      std::optional<Deviation> deviation = compare(found, judgement->value.tensor,
                                                   set.store.getTolerance(), unitsOf(op));
      if (deviation) {
        hasFailed = true;
        return mlir::emitError(launch.getLoc())
               << "the code of kernel '" << kernel.getSymName() << "', strategy '"
               << kernel.getStrategy() << "', computes other values than the evaluator: '"
               << op->getName() << "', " << type << ", " << deviation->text() << " ("
               << set.data.name << ")";
      }
      // What a kernel may change is its result.
      const char *arena = memory.arenaData();
      bool inArena = address >= arena && address < arena + arenaBefore.size();
      size_t from = inArena ? address - arena : 0, to = inArena ? from + bytes : 0;
      auto differs = [&](size_t begin, size_t end) {
        return begin < end && std::memcmp(arena + begin, arenaBefore.data() + begin, end - begin);
      };
      if (differs(0, from) || differs(to, arenaBefore.size())) {
        hasFailed = true;
        return mlir::emitError(launch.getLoc())
               << "the code of kernel '" << kernel.getSymName() << "', strategy '"
               << kernel.getStrategy() << "', writes outside of its result (" << set.data.name
               << ")";
      }
    }
    judgement->value.tensor.pack(type, {address, bytes});
    written.insert_or_assign(launch.getWrites()[0],
                             Written{type, judgement->value.hash, launch.getLoc()});
    steps.push_back({op, launch.getLoc(), std::move(*judgement), {}});
  }
  SmallVector<KnownTensor> outputs;
  for (auto output : program.getOps<plan::OutputOp>()) {
    auto type = withBatch(cast<RankedTensorType>(output.getType()), set.batch);
    outputs.push_back(KnownTensor(
        Tensor::unpack(type, {memory.address(output), bytesOf(type, 1)})));
  }
  if (failed(checkOutputs(program.getLoc(), outputs, steps, what, set)) ||
      failed(checkNodes(steps, what, set)))
    return failure();
  return success();
}

// The first elements of a result whose real extent only the run tells.
static Tensor realPart(func::FuncOp graph, ArrayRef<KnownTensor> outputs, size_t index) {
  Tensor tensor = outputs[index].tensor;
  DictionaryAttr attributes = graph.getResultAttrDict(index);
  auto extent =
      attributes ? attributes.getAs<cnn::ExtentAttr>(cnn::kExtentAttrName) : cnn::ExtentAttr();
  if (!extent)
    return tensor;
  SmallVector<int64_t> shape(tensor.shape());
  int64_t count = outputs[extent.getCount()].tensor.as<int64_t>()[0];
  shape[extent.getDim()] = std::clamp<int64_t>(count, 0, shape[extent.getDim()]);
  auto type = RankedTensorType::get(shape, tensor.elementType());
  return Tensor::unpack(type, tensor.bytes());
}

void PassVerifier::checkExpected(func::FuncOp graph, Set &set) {
  Block &block = graph.getBody().front();
  for (auto [i, expected] : llvm::enumerate(set.data.outputs)) {
    if (!expected)
      continue;
    std::optional<Deviation> deviation = compare(realPart(graph, set.outputs, i), expected,
                                                 set.store.getTolerance(), /*units=*/0,
                                                 options.absoluteTolerance);
    if (!deviation)
      continue;
    hasOthersThanExpected = true;
    mlir::emitError(block.getTerminator()->getOperand(i).getLoc())
        << "as imported, output " << i << " has other values than expected: "
        << deviation->text() << " (" << set.data.name << ")";
  }
}

LogicalResult PassVerifier::start(ModuleOp module) {
  FailureOr<func::FuncOp> graph = getGraph(module);
  if (failed(graph))
    return failure();
  FailureOr<std::vector<TestData>> data = options.testData.empty()
                                              ? makeTestData(options.seed, *graph)
                                              : readTestData(options.testData, *graph);
  if (failed(data))
    return failure();
  sets.clear();
  for (TestData &one : *data) {
    Set &set = sets.emplace_back(std::move(one), options.tolerance);
    for (auto [type, input] : llvm::zip_equal(graph->getArgumentTypes(), set.data.inputs))
      if (cnn::hasFreeBatch(cast<RankedTensorType>(type)))
        set.batch = input.shape()[0];
  }
  if (failed(check(module, "import")))
    return failure();
  for (Set &set : sets)
    checkExpected(*graph, set);
  return success();
}

LogicalResult PassVerifier::check(ModuleOp module, StringRef what) {
  auto begin = std::chrono::steady_clock::now();
  int64_t computed = 0, asked = 0;
  bool isFirst = what == "import";
  std::string where = isFirst ? "import" : ("pass '" + what + "'").str();
  for (Set &set : sets) {
    set.store.computed = set.store.asked = 0;
    auto programs = llvm::to_vector(module.getOps<plan::ProgramOp>());
    if (!programs.empty()) {
      for (plan::ProgramOp program : programs)
        if (failed(checkProgram(program, where, set, nullptr)))
          return failure();
    } else {
      FailureOr<func::FuncOp> graph = getGraph(module);
      if (failed(graph)) {
        hasFailed = true;
        return failure();
      }
      if (failed(checkGraph(*graph, where, set, isFirst)))
        return failure();
    }
    computed += set.store.computed;
    asked += set.store.asked;
  }
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  if (options.progress)
    options.progress(llvm::formatv("{0}: {1} of {2} ops computed, {3:f1} s", what, computed, asked,
                                   seconds.count())
                         .str());
  return success();
}

LogicalResult PassVerifier::checkCode(ModuleOp module, const GeneratedCode &code) {
  auto begin = std::chrono::steady_clock::now();
  FailureOr<std::unique_ptr<HostCode>> loaded = HostCode::load(module, code);
  if (failed(loaded))
    return failure();
  int64_t launches = 0;
  for (plan::ProgramOp program : module.getOps<plan::ProgramOp>())
    for (Set &set : sets) {
      if (failed(checkProgram(program, "code generation", set, loaded->get())))
        return failure();
      launches += llvm::range_size(program.getOps<plan::LaunchOp>());
    }
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  if (options.progress)
    options.progress(llvm::formatv("code: {0} launches run and compared, {1:f1} s", launches,
                                   seconds.count())
                         .str());
  return success();
}
