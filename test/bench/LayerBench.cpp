// Speed of every strategy on layers, one thread, beside what the core can do and oneDNN.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Work.h"
#include "targets/x86/X86Target.h"
#include "test/bench/OneDnnLayer.h"
#include "test/bench/Report.h"
#include "test/bench/Timing.h"
#include "test/numerics/StrategyCase.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace convoy;
using namespace convoy::test;
using namespace llvm;

// Not of a function: LLVM keeps their addresses.
static cl::OptionCategory category("Options");
static cl::opt<std::string> target("target",
                                   cl::desc("target; host is the best one for this machine"),
                                   cl::init("host"), cl::cat(category));
static cl::opt<std::string> dump("dump", cl::desc("print asm, llvm or mlir of each kernel"),
                                 cl::cat(category));
static cl::opt<std::string>
    strategy("strategy", cl::desc("this strategy alone; otherwise all but the reference loops"),
             cl::cat(category));
static cl::opt<std::string> jsonFile("json", cl::desc("also write the results to FILE"),
                                 cl::value_desc("FILE"), cl::cat(category));
static cl::opt<bool>
    cold("cold",
         cl::desc("take turns with copies of the weights, which together are larger "
                  "than the second cache, as a network does"),
         cl::cat(category));
static cl::opt<bool> noOneDnn("no-onednn", cl::desc("do not time oneDNN"), cl::cat(category));
static cl::opt<double> milliseconds("time", cl::desc("for each strategy of a layer; default 100"),
                                    cl::value_desc("MS"), cl::init(100), cl::cat(category));
static cl::list<std::string> files(cl::Positional, cl::OneOrMore, cl::desc("FILE... (- is stdin)"),
                                   cl::cat(category));

namespace {

/// The options, copied: linking resets those of the process.
struct Wanted {
  std::string target, dump, strategy, json;
  bool cold = false, oneDnn = true;
  double seconds = 0; ///< for each strategy of a layer
  std::vector<std::string> files;
};

Wanted parseOptions(int argc, char **argv) {
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv,
      "Times every strategy on layers, one thread. A line of a FILE is\n"
      "  (conv | first | planar) IC OC H W KH KW STRIDE PAD [DILATION [GROUPS]]\n"
      "(first: from a row-major source; planar: row-major on both sides) or the path of a "
      "kernel's\n"
      "body in MLIR. A * marks what the compiler chooses by its estimates.\n");
  return {target,
          dump,
          strategy,
          jsonFile,
          cold,
          !noOneDnn,
          milliseconds * 1e-3,
          std::vector<std::string>(files.begin(), files.end())};
}

class Bench {
public:
  Bench(mlir::MLIRContext &context, const Target &target, const Wanted &wanted)
      : context(context), target(target), facts(target.facts(&context)), wanted(wanted) {}

  /// False if the layer's text is wrong, which has been said.
  bool run(const Layer &layer, LayerTimes &times);

private:
  bool time(StrategyCase &test, const Strategy &strategy, StrategyTime &result);
  /// How many copies of weights of this size to take turns with.
  size_t copiesOf(size_t bytes) const;

  mlir::MLIRContext &context;
  const Target &target;
  cnn::TargetAttr facts;
  const Wanted &wanted;
};

} // namespace

size_t Bench::copiesOf(size_t bytes) const {
  size_t least = 4 * facts.getL2Bytes();
  return wanted.cold ? std::max<size_t>(2, divideCeil(least, std::max<size_t>(bytes, 1))) : 1;
}

bool Bench::time(StrategyCase &test, const Strategy &strategy, StrategyTime &result) {
  mlir::OwningOpRef<mlir::ModuleOp> module = test.moduleFor(strategy);
  std::vector<Buffer> buffers = test.buffersFor(*module);
  std::unique_ptr<HostKernels> kernels;
  auto compile = [&] { kernels = HostKernels::compile(target, *module); };
  auto start = std::chrono::steady_clock::now();
  compile();
  if (!kernels)
    return false;
  result.compileSeconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!wanted.dump.empty()) {
    CodeDumps dumps;
    dumps.wanted = true;
    (void)target.generate(*module, dumps);
    outs() << (wanted.dump == "asm"    ? dumps.assembly
               : wanted.dump == "llvm" ? dumps.llvmIr
                                       : dumps.kernels);
  }
  std::vector<void *> args;
  for (Buffer &buffer : buffers)
    args.push_back(buffer.data());

  // The second operand is what a layer has of its own.
  constexpr size_t weights = 1;
  std::vector<Buffer> copies;
  if (wanted.cold && test.op()->getNumOperands() > weights)
    for (size_t i = copiesOf(buffers[weights].size()); i-- > 0;) {
      Buffer &copy = copies.emplace_back(buffers[weights].type, buffers[weights].batch);
      std::memcpy(copy.data(), buffers[weights].data(), copy.size());
    }
  size_t next = 0;
  result.seconds = measureSeconds(
      [&] {
        if (!copies.empty())
          args[weights] = copies[next++ % copies.size()].data();
        kernels->runInOrder("k", args);
      },
      wanted.seconds);
  result.strategy = strategy.name().str();
  result.estimatedSeconds = *strategy.cost(test.op(), facts) * 1e-9;
  result.tiles = kernels->tiles("k");
  result.codeBytes = kernels->code().object.size();
  return true;
}

bool Bench::run(const Layer &layer, LayerTimes &times) {
  times.layer = layer;
  StrategyCase test(context, target, layer.body);
  if (!test.op()) {
    errs() << layer.name << ": holds no op\n";
    return false;
  }
  times.flops = layer.conv ? layer.conv->flops() : double(countFlops(test.op()));
  times.bytes = double(countBytes(test.op()));
  const Strategy *chosen = target.kernelTable().choose(test.op(), facts).strategy;
  for (const Strategy *strategy : test.strategies()) {
    if (wanted.strategy.empty() ? strategy->name() == "reference"
                                : strategy->name() != wanted.strategy)
      continue;
    StrategyTime result;
    if (!time(test, *strategy, result))
      return false;
    result.isChosen = strategy == chosen;
    times.strategies.push_back(std::move(result));
  }
  if (wanted.oneDnn && layer.conv) {
    const ConvShape &s = *layer.conv;
    size_t bytes = sizeof(float) * s.oc * (s.ic / s.groups) * s.kh * s.kw;
    if (std::function<void()> runOnce = oneDnnConv(s, copiesOf(bytes)))
      times.oneDnnSeconds = measureSeconds(runOnce, wanted.seconds);
  }
  return true;
}

static bool readLayers(const std::vector<std::string> &files, std::vector<Layer> &layers) {
  for (const std::string &file : files) {
    auto text = MemoryBuffer::getFileOrSTDIN(file);
    std::string error =
        text ? addLayers((*text)->getBuffer().str(), layers) : text.getError().message();
    if (!error.empty()) {
      errs() << file << ": " << error << "\n";
      return false;
    }
  }
  return true;
}

int main(int argc, char **argv) {
  const Wanted wanted = parseOptions(argc, argv);
  std::unique_ptr<Target> target = createTarget(wanted.target);
  if (!target || !hostRuns(*target)) {
    errs() << (target ? "this CPU lacks features of target '" : "no target '") << wanted.target
           << "'\n";
    return 1;
  }
  std::vector<Layer> layers;
  if (!readLayers(wanted.files, layers))
    return 1;
  // Before the long work.
  std::unique_ptr<raw_fd_ostream> json;
  if (!wanted.json.empty()) {
    std::error_code error;
    json = std::make_unique<raw_fd_ostream>(wanted.json, error);
    if (error) {
      errs() << "cannot write " << wanted.json << ": " << error.message() << "\n";
      return 1;
    }
  }
  auto context = makeContext();
  cnn::TargetAttr facts = target->facts(context.get());

  Report report;
  report.target = target->name().str();
  report.lanes = facts.getLanes();
  report.cold = wanted.cold;
  report.oneDnnVersion = wanted.oneDnn ? oneDnnVersion() : "";
  report.atStart = MachineRates::measure(report.lanes, facts.getL2Bytes());
  report.printStart(outs());
  Bench bench(*context, *target, wanted);
  for (const Layer &layer : layers) {
    LayerTimes times;
    if (!bench.run(layer, times))
      return 1;
    report.printLayer(times, outs());
    outs().flush();
    report.layers.push_back(std::move(times));
  }
  report.atEnd = MachineRates::measure(report.lanes, facts.getL2Bytes());
  report.printSummary(outs());
  if (!json)
    return 0;
  report.writeJson(*json);
  json->close();
  if (json->has_error()) {
    errs() << "cannot write " << wanted.json << ": " << json->error().message() << "\n";
    json->clear_error();
    return 1;
  }
  return 0;
}
