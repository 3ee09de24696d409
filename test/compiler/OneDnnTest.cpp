// Convolutions by oneDNN against the reference loops, through artifacts and the runtime. Skipped
// where oneDNN is not installed.
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
    auto model =
        CompiledModel::fromText(text, GetParam(), [&](mlir::OpPassManager &manager, Stage stage) {
          if (stage == Stage::Select)
            manager.addPass(std::make_unique<UseOneDnn>(given));
        });
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

INSTANTIATE_TEST_SUITE_P(Targets, OneDnn, ::testing::Values("x86-avx512-onednn", "x86-avx2-onednn"),
                         [](const auto &info) {
                           return info.param == "x86-avx512-onednn" ? "avx512" : "avx2";
                         });

} // namespace
