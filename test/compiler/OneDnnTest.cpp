// Convolutions by oneDNN against the reference loops, through artifacts and the runtime, which is
// skipped where oneDNN is not installed; and what happens where it is missing or another.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/compiler/CompiledModel.h"

#include "runtime/src/onednn_library.h"
#include "targets/x86/ConvOneDnn.h"
#include "targets/x86/X86Target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/FormatVariadic.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <dlfcn.h>

using namespace convoy;
using namespace convoy::test;

namespace {

/// Gives to oneDNN all convolutions that it can compute and whose weights lie as it wants them.
struct UseOneDnn : mlir::PassWrapper<UseOneDnn, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(UseOneDnn)
  explicit UseOneDnn(int &given) : given(given) {}
  void runOnOperation() override {
    auto target = getOperation()->getAttrOfType<cnn::TargetAttr>(cnn::kTargetAttrName);
    if (!target.getName().ends_with("-onednn"))
      return;
    getOperation().walk([&](cnn::ConvOp conv) {
      auto strategy = conv->getAttrOfType<mlir::StringAttr>("strategy");
      bool liesSo = strategy && (strategy == "direct" || strategy == "pointwise" ||
                                 strategy == "first-layer" || strategy == kOneDnnStrategy);
      if (!liesSo || !oneDnnConv(conv, target))
        return;
      conv->setAttr("strategy", mlir::StringAttr::get(&getContext(), kOneDnnStrategy));
      ++given;
    });
  }
  int &given;
};

CompiledModel::Adjust giveAllToOneDnn(int &given) {
  return [&given](CompileOptions &options) {
    options.pipeline.extraPasses = [&given](mlir::OpPassManager &manager, Stage stage) {
      if (stage == Stage::Select)
        manager.addPass(std::make_unique<UseOneDnn>(given));
    };
  };
}

class OneDnn : public ::testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    rt::Text missing;
    if (!rt::dnnl::Library::get(missing))
      GTEST_SKIP() << missing.str();
    std::unique_ptr<Target> target = createTarget(GetParam());
    if (!hostRuns(*target))
      GTEST_SKIP() << "this CPU lacks features of " << GetParam();
  }

  /// Compiles with all convolutions that are possible given to oneDNN; they must be `wanted`.
  std::unique_ptr<CompiledModel> compile(const std::string &text, int wanted) {
    int given = 0;
    auto model = CompiledModel::fromText(text, GetParam(), giveAllToOneDnn(given));
    EXPECT_EQ(given, wanted) << text;
    return model;
  }

  /// Results are those of the reference, and the same for each place in a batch and number of
  /// threads.
  void check(const std::string &text, int wanted);
};

/// Small integers: with weights of that kind every sum is exact, in whatever order.
std::vector<Bytes> makeIntegers(const CompiledModel &model, int64_t batch) {
  std::vector<Bytes> inputs = model.makeInputs(batch);
  for (Bytes &bytes : inputs)
    for (size_t i = 0; i < bytes.size(); i += sizeof(float)) {
      float value;
      std::memcpy(&value, &bytes[i], sizeof value);
      value = std::round(3 * value);
      std::memcpy(&bytes[i], &value, sizeof value);
    }
  return inputs;
}

void OneDnn::check(const std::string &text, int wanted) {
  auto model = compile(text, wanted), reference = CompiledModel::fromText(text, "x86-reference");
  ASSERT_TRUE(model && reference);
  constexpr int64_t batch = 3;
  std::vector<Bytes> inputs = makeIntegers(*model, batch);
  Outputs outputs = model->run(inputs, batch, 2);
  EXPECT_EQ(outputs, reference->run(inputs, batch, 1)) << text;
  EXPECT_EQ(model->run(inputs, batch, 1), outputs) << "by one thread";
  for (int64_t image = 0; image < batch; ++image)
    EXPECT_EQ(model->run(model->imageOf(inputs, false, batch, image), 1, 1),
              model->imageOf(outputs, true, batch, image))
        << "image " << image;
}

/// ONNX text of a network of two convolutions: the first makes blocks of channels, the second is
/// the one that is looked at, with the lines `after` from its result c to y.
struct Network {
  int64_t channels = 64, h = 13, w = 17;
  std::string conv; ///< attributes of the second
  int64_t oc = 64, group = 1, kh = 1, kw = 1;
  bool bias = true;
  std::string after = "y = Relu (c)";

  std::string text() const {
    int64_t wei = oc * (channels / group) * kh * kw;
    return llvm::formatv(
        "<ir_version: 8, opset_import: [\"\" : 17]>\n"
        "g (float[N,3,{0},{1}] x) => (float[N,{2},oh,ow] y)\n"
        "<float zero = {{0.0}, float one = {{1.0}, float three = {{3.0}, float n1 = {{{3}.0}, "
        "float n2 = {{{4}.0},\n"
        " float n3 = {{{2}.0}, int64[4] s1 = {{{5},3,3,3}, int64[4] s2 = {{{2},{6},{7},{8}}> {{\n"
        " r1 = Range (zero, n1, one) t1 = Sin (r1) u1 = Mul (t1, three) v1 = Round (u1)\n"
        " w1 = Reshape (v1, s1)\n"
        " r2 = Range (zero, n2, one) t2 = Cos (r2) u2 = Mul (t2, three) v2 = Round (u2)\n"
        " w2 = Reshape (v2, s2)\n"
        " r3 = Range (zero, n3, one) t3 = Sin (r3) u3 = Mul (t3, three) b = Round (u3)\n"
        " a = Conv <pads = [1,1,1,1]> (x, w1)\n"
        " c = Conv <{9}{10}group = {11}> (a, w2{12})\n"
        " {13} }",
        h, w, oc, channels * 27, wei, channels, channels / group, kh, kw, conv,
        conv.empty() ? "" : ", ", group, bias ? ", b" : "", after);
  }
};

TEST_P(OneDnn, Pointwise) {
  Network network;
  check(network.text(), 2);
  network.bias = false;
  check(network.text(), 2);
  network.oc = 96;
  check(network.text(), 2);
}

TEST_P(OneDnn, Windows) {
  Network network;
  network.kh = network.kw = 5;
  network.conv = "pads = [2,2,2,2]";
  check(network.text(), 2);
  network.conv = "pads = [0,1,2,1], strides = [2,2]";
  check(network.text(), 2);
  network.kh = 1, network.kw = 7, network.conv = "pads = [0,3,0,3]";
  check(network.text(), 2);
  network.kh = network.kw = 3, network.conv = "pads = [2,2,2,2], dilations = [2,2]";
  check(network.text(), 2);
  network.conv = "pads = [0,0,0,0], strides = [1,2]";
  check(network.text(), 2);
  network.after = "y = Identity (c)";
  check(network.text(), 2);
}

TEST_P(OneDnn, Groups) {
  Network network;
  network.oc = 96, network.group = 2;
  network.kh = network.kw = 3, network.conv = "pads = [1,1,1,1], strides = [2,2]";
  check(network.text(), 2);
}

TEST_P(OneDnn, Epilogues) {
  Network network;
  for (const char *after :
       {"d = Add (c, a) y = Relu (d)", "d = Add (a, c) y = Relu (d)", "y = Add (c, a)"})
    for (bool bias : {true, false}) {
      network.after = after;
      network.bias = bias;
      check(network.text(), 2);
    }
}

// What is another function than oneDNN's: the second convolution stays Convoy's.
TEST_P(OneDnn, Refused) {
  Network network;
  for (const char *after : {"y = Sigmoid (c)", "y = LeakyRelu (c)", "y = Mul (c, a)",
                            "d = Relu (c) y = Add (d, a)", "d = Sub (c, a) y = Relu (d)"}) {
    network.after = after;
    check(network.text(), 1);
  }
  // Lanes without a channel.
  network.after = "y = Relu (c)";
  network.oc = 68;
  check(network.text(), 1);
}

// oneDNN's ReLU makes 0 of NaN: --strict-fp leaves it the convolution without one.
TEST_P(OneDnn, StrictFp) {
  int given = 0;
  auto model = CompiledModel::fromText(Network().text(), GetParam(), [&](CompileOptions &options) {
    giveAllToOneDnn(given)(options);
    options.strictFp = true;
  });
  EXPECT_TRUE(model);
  EXPECT_EQ(given, 1);
}

// The caller's OpenMP finds the number of threads that it has set.
TEST_P(OneDnn, LeavesOpenMpAlone) {
  void *openMp = dlopen("libgomp.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (!openMp)
    GTEST_SKIP() << "oneDNN is built without OpenMP";
  auto get = reinterpret_cast<int (*)()>(dlsym(openMp, "omp_get_max_threads"));
  auto set = reinterpret_cast<void (*)(int)>(dlsym(openMp, "omp_set_num_threads"));
  ASSERT_TRUE(get && set);
  set(3);
  check(Network().text(), 2);
  EXPECT_EQ(get(), 3);
  dlclose(openMp);
}

// Loads a model of two variants where CONVOY_ONEDNN names `library`, and exits. The runtime looks
// for oneDNN once, so this is for a process of its own.
[[noreturn]] void runWith(const char *library) {
  setenv("CONVOY_ONEDNN", library, /*overwrite=*/1);
  int given = 0;
  auto model = CompiledModel::fromText(Network().text(), "host", [&](CompileOptions &options) {
    giveAllToOneDnn(given)(options);
    options.oneDnn = true;
  });
  if (!model || given == 0)
    exit(1);
  std::string target = convoy_model_target(model->get());
  Outputs outputs = model->run(makeIntegers(*model, 1), 1, 1);
  auto reference = CompiledModel::fromText(Network().text(), "x86-reference");
  bool isRight = reference && outputs == reference->run(makeIntegers(*reference, 1), 1, 1);
  convoy_load_options options = {};
  std::string asked = target + "-onednn";
  options.target = asked.c_str();
  convoy_model *other = nullptr;
  convoy_status status =
      convoy_model_load_memory(model->bytes().data(), model->bytes().size(), &options, &other);
  fprintf(stderr, "%s by %s; status %d: %s\n", isRight ? "right" : "wrong", target.c_str(), status,
          status == CONVOY_OK ? "" : convoy_last_error());
  exit(status == CONVOY_UNSUPPORTED_MACHINE ? 0 : 2);
}

// The variant without oneDNN runs; whoever asks for the other is told what was looked for.
TEST(OneDnnMissing, OtherVariantRuns) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  std::unique_ptr<Target> host = createTarget("host");
  if (!host || !createOneDnnTarget(*host))
    GTEST_SKIP() << "there is no target with oneDNN for this machine";
  auto expect = [](const char *library, const std::string &why) {
    EXPECT_EXIT(runWith(library), ::testing::ExitedWithCode(0),
                "right by x86-avx(512|2); status 10: no variant for target x86-avx(512|2)-onednn "
                "that can run here: .*x86-avx(512|2)-onednn: " +
                    why);
  };
  expect("/nonexistent/libdnnl.so", "oneDNN is needed, and CONVOY_ONEDNN names one that cannot be "
                                    "loaded: /nonexistent/libdnnl.so: cannot open");
  expect("libm.so.6", "libm.so.6 is no oneDNN: it lacks dnnl_version");
  expect(CONVOY_OLD_ONEDNN, ".* is oneDNN 1.9.4, expected 2.6 or newer, or 3");
  expect(CONVOY_TBB_ONEDNN,
         ".* is built for a thread library \\(number 4\\) that cannot be held to "
         "one thread, expected OpenMP or none");
  expect(CONVOY_EMPTY_ONEDNN, ".* is no oneDNN that can be used: it lacks dnnl_engine_create");
}

INSTANTIATE_TEST_SUITE_P(Targets, OneDnn, ::testing::Values("x86-avx512-onednn", "x86-avx2-onednn"),
                         [](const auto &info) {
                           return info.param == "x86-avx512-onednn" ? "avx512" : "avx2";
                         });

} // namespace
