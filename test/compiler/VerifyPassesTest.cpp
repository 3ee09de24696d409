// --verify-passes: a pass, a plan or code that is wrong is found and named, and a right one is not.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/Compiler.h"

#include "dialects/Cnn/ConstantData.h"
#include "dialects/Plan/Plan.h"
#include "passes/Graph.h"
#include "targets/Target.h"

#include "gtest/gtest.h"

#include <fstream>
#include <unistd.h>

using namespace mlir;
using namespace convoy;

// Nodes without names are called by op and number. Two convolutions, a residual, and an output that
// does not show all that is wrong in Exp_5.
static const char kModel[] = R"(
<ir_version: 8, opset_import: ["" : 13]>
g (float[N, 3, 8, 8] x) => (float[N, 20, 8, 8] y, float[N, 20, 1, 1] z)
<float[20, 3, 3, 3] w1 = {WEIGHTS1}, float[20, 20, 3, 3] w2 = {WEIGHTS2}, float[20] b = {BIAS}>
{
  a = Conv <pads = [1, 1, 1, 1]> (x, w1, b)
  r = Relu (a)
  c = Conv <pads = [1, 1, 1, 1]> (r, w2)
  s = Add (c, r)
  y = Sigmoid (s)
  t = Exp (s)
  z = GlobalMaxPool (t)
}
)";

static std::string numbers(int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += (i ? ", " : "") + std::to_string(((i * 37) % 101 - 50) / 400.0);
  return text;
}

static std::string modelText() {
  std::string text = kModel;
  auto replace = [&](const std::string &what, int count) {
    size_t at = text.find(what);
    text.replace(at, what.size(), numbers(count));
  };
  replace("WEIGHTS1", 20 * 3 * 9);
  replace("WEIGHTS2", 20 * 20 * 9);
  replace("BIAS", 20);
  return text;
}

static bool standsFor(Operation *op, StringRef node) {
  return llvm::is_contained(verify::nodesOf(op->getLoc()), node);
}

// Makes the ops with a scalar region that stand for a node compute something else: all of their
// elements, or for a float only those below a bound.
static void breakRegions(Operation *root, StringRef node, std::optional<double> below) {
  root->walk([&](Operation *op) {
    if (op->getNumRegions() != 1 || !op->getRegion(0).hasOneBlock() || !standsFor(op, node))
      return;
    auto yield = dyn_cast<cnn::YieldOp>(op->getRegion(0).front().back());
    if (!yield || !isa<FloatType>(yield.getValue().getType()))
      return;
    OpBuilder builder(yield);
    Location loc = op->getLoc();
    Value value = yield.getValue();
    Type type = value.getType();
    auto constant = [&](double number) {
      return arith::ConstantOp::create(builder, loc, builder.getFloatAttr(type, number));
    };
    Value other = arith::AddFOp::create(builder, loc, value, constant(0.5));
    if (below)
      other = arith::SelectOp::create(
          builder, loc,
          arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, value, constant(*below)),
          constant(*below), value);
    yield.setOperand(other);
  });
}

namespace {

using Break = std::function<void(ModuleOp)>;

struct BreakPass : PassWrapper<BreakPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BreakPass)
  explicit BreakPass(Break action) : action(std::move(action)) {}
  StringRef getArgument() const override { return "test-break"; }
  void runOnOperation() override { action(getOperation()); }
  Break action;
};

struct Result {
  bool succeeded = false;
  /// "node: text" of each error.
  std::vector<std::string> errors;
  std::vector<std::string> progress;

  std::string all() const {
    std::string text;
    for (const std::string &error : errors)
      text += error + "\n";
    return text;
  }
};

class VerifyPasses : public ::testing::Test {
protected:
  VerifyPasses() {
    folder = ::testing::TempDir() + "/verify" + std::to_string(getpid());
    path = folder + ".onnxtxt";
    std::ofstream(path) << modelText();
    DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
        return;
      auto name = dyn_cast<NameLoc>(diagnostic.getLocation());
      std::string node = getNodeNames(diagnostic.getLocation());
      result.errors.push_back((name || !node.empty() ? node : "file") + ": " + diagnostic.str());
    });
  }
  ~VerifyPasses() override { unlink(path.c_str()); }

  CompileOptions makeOptions(const std::string &target) {
    CompileOptions options;
    options.targets = {target};
    options.verifyPasses.emplace();
    options.verifyPasses->progress = [this](StringRef line) {
      result.progress.push_back(line.str());
    };
    return options;
  }

  Result compile(const CompileOptions &options) {
    result = Result();
    result.succeeded = succeeded(compileModel(path, options, false, &context));
    return result;
  }

  // Breaks the module at the end of a stage.
  Result compileBroken(Stage stage, Break action, const std::string &target = "host",
                       int64_t seed = 0) {
    CompileOptions options = makeOptions(target);
    options.verifyPasses->seed = seed;
    options.pipeline.extraPasses = [=](OpPassManager &manager, Stage at) {
      if (at == stage)
        manager.addPass(std::make_unique<BreakPass>(action));
    };
    return compile(options);
  }

  MLIRContext context;
  std::string folder, path;
  Result result;
};

// The one error is at a node and says what.
void expectNamed(const Result &result, StringRef node, StringRef pass) {
  EXPECT_FALSE(result.succeeded);
  ASSERT_EQ(result.errors.size(), 1u) << result.all();
  StringRef error = result.errors.front();
  StringRef names = error.split(": ").first;
  SmallVector<StringRef> parts;
  names.split(parts, '+');
  EXPECT_TRUE(llvm::is_contained(parts, node)) << error.str();
  EXPECT_TRUE(error.contains(pass)) << error.str();
}

} // namespace

TEST_F(VerifyPasses, CleanModelPasses) {
  for (const char *target : {"host", "x86-reference"}) {
    for (bool optimize : {true, false}) {
      CompileOptions options = makeOptions(target);
      options.pipeline.optimize = optimize;
      Result clean = compile(options);
      EXPECT_TRUE(clean.succeeded) << target << "\n" << clean.all();
      ASSERT_FALSE(clean.progress.empty());
      EXPECT_TRUE(StringRef(clean.progress.front()).starts_with("import: 7 of 7 ops computed"))
          << clean.progress.front();
      EXPECT_TRUE(StringRef(clean.progress.back()).starts_with("code: "))
          << clean.progress.back();
    }
  }
}

TEST_F(VerifyPasses, BrokenOpIsNamedWithPassAndElement) {
  for (Stage stage : {Stage::Simplify, Stage::Fuse, Stage::Layout, Stage::Select})
    for (const char *node : {"Conv_0", "Conv_2", "Sigmoid_4"}) {
      Result broken = compileBroken(stage, [=](ModuleOp module) {
        // Once: all ops of a node are one in the fused form.
        breakRegions(module, node, std::nullopt);
      });
      SCOPED_TRACE(stageName(stage).str() + " " + node);
      expectNamed(broken, node, "after pass 'test-break'");
      EXPECT_NE(broken.all().find("element [0, "), std::string::npos) << broken.all();
      EXPECT_NE(broken.all().find("expected "), std::string::npos) << broken.all();
    }
}

TEST_F(VerifyPasses, FaultThatNoOutputShowsIsNamed) {
  // The maximum is far above the bound.
  Result broken = compileBroken(
      Stage::Simplify, [](ModuleOp module) { breakRegions(module, "Exp_5", 1.0); });
  expectNamed(broken, "Exp_5", "after pass 'test-break'");
}

TEST_F(VerifyPasses, BrokenWeightsAreNamedAtTheirOp) {
  for (Stage stage : {Stage::Simplify, Stage::Select}) {
    Result broken = compileBroken(stage, [](ModuleOp module) {
      module.walk([&](Operation *op) {
        if (!standsFor(op, "Conv_2") || isa<cnn::ConstantOp>(op) || op->getNumOperands() < 2)
          return;
        auto weights = op->getOperand(1).getDefiningOp<cnn::ConstantOp>();
        if (!weights)
          return;
        cnn::ConstantData data(weights.getValue());
        std::vector<char> bytes(data.bytes().begin(), data.bytes().end());
        for (size_t i = 0; i < 16; ++i)
          std::swap(bytes[i], bytes[i + 64]);
        weights.setValueAttr(cnn::makeConstant(
            cast<RankedTensorType>(weights.getValue().getShapedType()), std::move(bytes)));
      });
    });
    SCOPED_TRACE(stageName(stage).str());
    expectNamed(broken, "Conv_2", "after pass 'test-break'");
  }
}

TEST_F(VerifyPasses, WrongOutputIsReported) {
  Result broken = compileBroken(Stage::Simplify, [](ModuleOp module) {
    auto graph = *module.getOps<func::FuncOp>().begin();
    Operation *terminator = graph.getBody().front().getTerminator();
    Value sum;
    graph.walk([&](Operation *op) {
      if (standsFor(op, "Add_3"))
        sum = op->getResult(0);
    });
    terminator->setOperand(0, sum);
  });
  EXPECT_FALSE(broken.succeeded);
  EXPECT_NE(broken.all().find("output 0 has other values than before"), std::string::npos)
      << broken.all();
}

TEST_F(VerifyPasses, BrokenKernelIsNamed) {
  // Kernels are shared by text, the node's location is that of the launch.
  Result broken = compileBroken(Stage::Plan, [](ModuleOp module) {
    for (auto kernel : module.getOps<plan::KernelOp>())
      breakRegions(kernel, "Conv_2", std::nullopt);
  });
  expectNamed(broken, "Conv_2", "after pass 'test-break'");
}

TEST_F(VerifyPasses, MemoryGivenAwayTooEarlyIsNamed) {
  CompileOptions options = makeOptions("x86-reference");
  options.pipeline.optimize = false;
  options.pipeline.extraPasses = [](OpPassManager &manager, Stage at) {
    if (at != Stage::Plan)
      return;
    manager.addPass(std::make_unique<BreakPass>([](ModuleOp module) {
      for (auto program : module.getOps<plan::ProgramOp>())
        for (auto alloc : program.getOps<plan::AllocOp>())
          alloc.setOffset(0);
    }));
  };
  // relu's result is read by the second convolution and again by Add, after that has written.
  Result broken = compile(options);
  expectNamed(broken, "Add_3", "is written again between 'Relu_1'");
}

TEST_F(VerifyPasses, BrokenCodeIsNamedWithKernelAndNode) {
  CompileOptions options;
  options.targets = {"host"};
  options.stopAfter = Stage::Import;
  std::unique_ptr<Target> target = createTarget("host");
  for (const char *node : {"", "Conv_0", "Conv_2", "Sigmoid_4"}) {
    SCOPED_TRACE(node);
    FailureOr<CompileResult> imported = compileModel(path, options, false, &context);
    ASSERT_TRUE(succeeded(imported));
    ModuleOp module = *imported->module;
    verify::PassVerifier verifier((VerifyPassesOptions()));
    result = Result();
    ASSERT_TRUE(succeeded(verifier.start(module))) << result.all();
    PassManager manager(&context);
    for (Stage stage : llvm::drop_begin(allStages()))
      buildStage(manager, stage, target->kernelTable(), {});
    verifier.attach(manager);
    ASSERT_TRUE(succeeded(manager.run(module)) && verifier.isClean()) << result.all();
    // Code of another program under the same names.
    OwningOpRef<ModuleOp> other = module.clone();
    for (auto kernel : other->getOps<plan::KernelOp>())
      breakRegions(kernel, node, std::nullopt);
    CodeDumps dumps;
    FailureOr<GeneratedCode> code = target->generate(*other, dumps);
    ASSERT_TRUE(succeeded(code)) << result.all();
    for (auto [mine, its] :
         llvm::zip_equal(module.getOps<plan::KernelOp>(), other->getOps<plan::KernelOp>())) {
      mine.setTilesAttr(its.getTilesAttr());
      mine.setBatched(its.getBatched());
      mine.setScratchBytesAttr(its.getScratchBytesAttr());
    }
    result.succeeded = succeeded(verifier.checkCode(module, *code));
    if (StringRef(node).empty())
      EXPECT_TRUE(result.succeeded) << result.all();
    else
      expectNamed(result, node, "the code of kernel '");
  }
}

TEST_F(VerifyPasses, DataThatDoNotFitAreRefused) {
  CompileOptions options = makeOptions("x86-reference");
  options.verifyPasses->testData = folder + "-missing";
  EXPECT_FALSE(compile(options).succeeded);
  EXPECT_NE(result.all().find("cannot read the folder"), std::string::npos) << result.all();
}

TEST_F(VerifyPasses, ToleranceIsKept) {
  // An error of 1e-5 of the value is below the usual tolerance and above a small one.
  auto scale = [](ModuleOp module) {
    module.walk([&](cnn::YieldOp yield) {
      Operation *op = yield->getParentOp();
      if (!standsFor(op, "Sigmoid_4") || op->getNumResults() == 0)
        return;
      OpBuilder builder(yield);
      Value value = yield.getValue();
      Value factor = arith::ConstantOp::create(
          builder, op->getLoc(), builder.getFloatAttr(value.getType(), 1 + 1e-5));
      yield.setOperand(arith::MulFOp::create(builder, op->getLoc(), value, factor));
    });
  };
  EXPECT_TRUE(compileBroken(Stage::Simplify, scale).succeeded) << result.all();
  CompileOptions options = makeOptions("x86-reference");
  options.verifyPasses->tolerance = 2e-6;
  options.pipeline.extraPasses = [=](OpPassManager &manager, Stage at) {
    if (at == Stage::Simplify)
      manager.addPass(std::make_unique<BreakPass>(scale));
  };
  expectNamed(compile(options), "Sigmoid_4", "after pass 'test-break'");
}
