// Speed of every strategy on layers, one thread: layer-bench [--target=T] [--dump=asm|llvm|mlir]
// FILE or - with one layer a line, or a name of a built-in list. A line of a file is
//   conv IC OC H W KH KW STRIDE PAD [DILATION [GROUPS]] or a path of a kernel's body in MLIR.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/numerics/StrategyCase.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <sstream>

using namespace convoy;
using namespace convoy::test;
using namespace llvm;

static cl::opt<std::string> targetName("target", cl::desc("target"), cl::init("host"));
static cl::opt<std::string> dump("dump", cl::desc("print asm, llvm or mlir of each kernel"));
static cl::opt<std::string> only("strategy", cl::desc("run this strategy alone"));
static cl::list<std::string> inputs(cl::Positional, cl::desc("files of layers, or -"));

namespace {

struct Layer {
  std::string name, body;
  double flops = 0;
};

Layer convLayer(const std::string &line) {
  std::istringstream stream(line);
  std::string word, layout = ", BLOCKED";
  int64_t ic, oc, h, w, kh, kw, stride, pad, dilation = 1, groups = 1;
  stream >> word >> ic >> oc >> h >> w >> kh >> kw >> stride >> pad;
  if (!(stream >> dilation))
    dilation = 1;
  else if (!(stream >> groups))
    groups = 1;
  std::string srcLayout = word == "first" || word == "planar" ? "" : layout;
  std::string dstLayout = word == "planar" ? "" : layout;
  int64_t oh = (h + 2 * pad - (kh - 1) * dilation - 1) / stride + 1;
  int64_t ow = (w + 2 * pad - (kw - 1) * dilation - 1) / stride + 1;
  std::string src = formatv("tensor<1x{0}x{1}x{2}xf32{3}>", ic, h, w, srcLayout);
  std::string wei = formatv("tensor<{0}x{1}x{2}x{3}xf32>", oc, ic / groups, kh, kw);
  std::string bias = formatv("tensor<1x{0}x1x1xf32{1}>", oc, dstLayout);
  std::string dst = formatv("tensor<1x{0}x{1}x{2}xf32{3}>", oc, oh, ow, dstLayout);
  Layer layer;
  layer.name = line;
  layer.flops = 2.0 * oc * oh * ow * (ic / groups) * kh * kw;
  layer.body = formatv(R"(^bb0(%x: {0}, %w: {1}, %b: {2}):
    %y = cnn.conv %x, %w extras(%b) {{strides = array<i64: {4}, {4}>,
        pads = array<i64: {5}, {5}, {5}, {5}>, dilations = array<i64: {6}, {6}>,
        groups = {7} : i64} : ({0}, {1}, {2}) -> {3} {{
    ^bb0(%acc: f32, %bias: f32):
      %zero = arith.constant 0.0 : f32
      %0 = arith.addf %acc, %bias : f32
      %1 = arith.maximumf %0, %zero : f32
      cnn.yield %1 : f32
    }
    plan.yield %y : {3})",
                       src, wei, bias, dst, stride, pad, dilation, groups);
  return layer;
}

double measure(HostKernels &kernels, ArrayRef<void *> args) {
  using Clock = std::chrono::steady_clock;
  auto seconds = [](auto span) { return std::chrono::duration<double>(span).count(); };
  double best = 1e9;
  auto start = Clock::now();
  int runs = 0;
  do {
    auto begin = Clock::now();
    kernels.runInOrder("k", args);
    best = std::min(best, seconds(Clock::now() - begin));
  } while (++runs < 5 || seconds(Clock::now() - start) < 0.15);
  return best;
}

/// The options, copied: linking resets those of the process.
struct Wanted {
  std::string dump, strategy;
};

void bench(mlir::MLIRContext &context, const Target &target, const Layer &layer,
           const Wanted &wanted) {
  StrategyCase test(context, target, layer.body);
  if (!test.op())
    return;
  for (const Strategy *strategy : test.strategies()) {
    if (wanted.strategy.empty() ? strategy->name() == "reference"
                                : strategy->name() != wanted.strategy)
      continue;
    mlir::OwningOpRef<mlir::ModuleOp> module = test.moduleFor(*strategy);
    std::vector<Buffer> buffers = test.buffersFor(*module);
    auto compileStart = std::chrono::steady_clock::now();
    std::unique_ptr<HostKernels> kernels = HostKernels::compile(target, *module);
    if (!kernels)
      continue;
    double compileMs =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - compileStart)
            .count();
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
    double time = measure(*kernels, args);
    double estimate = *strategy->cost(test.op(), target.facts(&context));
    double bytes = 0;
    for (Buffer &buffer : buffers)
      bytes += buffer.size();
    outs() << formatv("{0,-40} {1,-14} {2,10:F1} us  est {3,10:F1} us {4,8:F1} GFLOP/s "
                      "{5,6:F1} GB/s {6,4} tiles {7,6:F0} ms compile {8} B code\n",
                      layer.name, strategy->name(), time * 1e6, estimate * 1e-3,
                      layer.flops / time * 1e-9, bytes / time * 1e-9, kernels->tiles("k"),
                      compileMs, kernels->code().object.size());
    outs().flush();
  }
}

} // namespace

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "Speed of strategies on layers\n");
  std::string wantedTarget = targetName;
  std::vector<std::string> files(inputs.begin(), inputs.end());
  Wanted wanted{dump, only};
  auto context = makeContext();
  std::unique_ptr<Target> target = createTarget(wantedTarget);
  if (!target) {
    errs() << "no target '" << wantedTarget << "'\n";
    return 1;
  }
  std::vector<Layer> layers;
  for (const std::string &file : files) {
    auto text = MemoryBuffer::getFileOrSTDIN(file);
    if (!text) {
      errs() << file << ": " << text.getError().message() << "\n";
      return 1;
    }
    std::istringstream stream((*text)->getBuffer().str());
    for (std::string line; std::getline(stream, line);) {
      if (line.empty() || line[0] == '#')
        continue;
      if (auto body = MemoryBuffer::getFile(line))
        layers.push_back({line, (*body)->getBuffer().str()});
      else
        layers.push_back(convLayer(line));
    }
  }
  for (const Layer &layer : layers)
    bench(*context, *target, layer, wanted);
  return 0;
}
