// Every strategy against the reference loops, on small integers, where f32 is exact.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/numerics/StrategyCase.h"

#include "dialects/Cnn/ConstantData.h"

#include "llvm/Support/FormatVariadic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>
#include <set>

using namespace convoy;
using namespace convoy::test;

namespace {

struct Options {
  /// A strategy that must be among those that compute the op.
  std::string expected;
  int64_t batch = 1;
  /// Largest difference relative to the largest magnitude; 0 for equality.
  double tolerance = 0;
  bool fractions = false;
};

class Strategies : public ::testing::Test {
protected:
  static std::unique_ptr<mlir::MLIRContext> context;
  static std::vector<std::unique_ptr<Target>> targets;
  size_t numChecked = 0; ///< strategies with variants

  static void SetUpTestSuite() {
    context = makeContext();
    targets = hostTargets();
  }
  static void TearDownTestSuite() {
    targets.clear();
    context.reset();
  }

  void check(const std::string &body, const Options &options) {
    // A target of the reference loops alone has nothing to compare.
    for (const auto &target : targets)
      if (target->kernelTable().strategies().size() > 1)
        checkTarget(*target, body, options);
  }

  void checkTarget(const Target &target, const std::string &body, const Options &options) {
    SCOPED_TRACE(target.name().str());
    StrategyCase test(*context, target, body, options.batch);
    test.fractions = options.fractions;
    ASSERT_TRUE(test.op());
    std::vector<const Strategy *> strategies = test.strategies();
    std::vector<Buffer> expected = test.run(*strategies.back());
    ASSERT_FALSE(expected.empty());
    std::set<std::string> names;
    for (const Strategy *strategy : strategies) {
      names.insert(strategy->name().str());
      if (strategy == strategies.back())
        continue;
      SCOPED_TRACE(strategy->name().str());
      // The preferred variant, and one of the others: over all cases, each kind of them.
      std::vector<std::string> configs{""};
      std::vector<std::string> others =
          strategy->configs(test.op(), target.facts(context.get()));
      if (!others.empty())
        configs.push_back(others[numChecked++ % others.size()]);
      for (const std::string &config : configs) {
        SCOPED_TRACE(config);
        if (!config.empty())
          test.op()->setAttr(kConfigAttrName, mlir::StringAttr::get(context.get(), config));
        std::vector<Buffer> actual = test.run(*strategy);
        test.op()->removeAttr(kConfigAttrName);
        ASSERT_FALSE(actual.empty());
        // Winograd sums products of sums, which cancel: a few units in the last place of each.
        bool isWinograd = strategy->name().starts_with("winograd");
        compare(actual.back(), expected.back(), isWinograd ? 3e-6 : options.tolerance);
        for (const Buffer &buffer : actual)
          EXPECT_TRUE(buffer.marginsIntact());
      }
    }
    if (!options.expected.empty()) {
      EXPECT_TRUE(names.count(options.expected)) << options.expected << " refuses the op";
    }
  }

  /// Equality of a strategy with the reference on each variant of the operands that `fill` makes.
  void checkFilled(const std::string &body, llvm::StringRef strategy, int variants,
                   llvm::function_ref<void(std::vector<Buffer> &, int variant)> fill) {
    for (const auto &target : targets) {
      const Strategy *fast = target->kernelTable().find(strategy);
      if (!fast)
        continue;
      SCOPED_TRACE(target->name().str());
      StrategyCase test(*context, *target, body);
      ASSERT_TRUE(test.op());
      std::vector<std::vector<Buffer>> results;
      for (const Strategy *each : {fast, target->kernelTable().strategies().back()}) {
        mlir::OwningOpRef<mlir::ModuleOp> module = test.moduleFor(*each);
        std::unique_ptr<HostKernels> kernels = HostKernels::compile(*target, *module);
        ASSERT_TRUE(kernels);
        std::vector<Buffer> &made = results.emplace_back();
        for (int variant = 0; variant < variants; ++variant) {
          std::vector<Buffer> buffers = test.buffersFor(*module);
          fill(buffers, variant);
          std::vector<void *> args;
          for (Buffer &buffer : buffers)
            args.push_back(buffer.data());
          kernels->run("k", args);
          EXPECT_TRUE(buffers.back().marginsIntact());
          made.push_back(buffers.back());
        }
      }
      for (int variant = 0; variant < variants; ++variant) {
        SCOPED_TRACE(variant);
        compare(results[0][variant], results[1][variant], 0);
      }
    }
  }

  void compare(Buffer actual, Buffer expected, double tolerance) {
    mlir::Type type = actual.type.getElementType();
    double largest = 0;
    auto read = [&](Buffer &buffer, int64_t i) -> double {
      if (mlir::isa<mlir::FloatType>(type))
        return cnn::readFloat(buffer.element(i), type);
      return cnn::readInt(buffer.element(i), type);
    };
    int64_t count = expected.numElements();
    for (int64_t i = 0; i < count; ++i)
      largest = std::max(largest, std::abs(read(expected, i)));
    int wrong = 0;
    for (int64_t i = 0; i < count && wrong < 5; ++i) {
      double a = read(actual, i), b = read(expected, i);
      bool equal = std::isnan(b) ? std::isnan(a) : std::abs(a - b) <= tolerance * largest;
      if (!equal && a != b) {
        ADD_FAILURE() << "element " << i << ": " << a << ", expected " << b;
        ++wrong;
      }
    }
  }
};

std::unique_ptr<mlir::MLIRContext> Strategies::context;
std::vector<std::unique_ptr<Target>> Strategies::targets;

/// A 2-D convolution with bias, residual and relu.
struct Conv {
  int n = 1, ic, oc, h, w, kh = 3, kw = 3, sh = 1, sw = 1, pt = 1, pl = 1, pb = 1, pr = 1, dh = 1,
      dw = 1, groups = 1;
  bool freeBatch = false;
  std::string srcLayout = ", BLOCKED", dstLayout = ", BLOCKED";
  std::string residualShape = "full"; // or none, channel, row, scalar

  std::string text() const {
    int oh = (h + pt + pb - (kh - 1) * dh - 1) / sh + 1;
    int ow = (w + pl + pr - (kw - 1) * dw - 1) / sw + 1;
    std::string batch = freeBatch ? "?" : std::to_string(n);
    auto tensor = [&](std::string b, int c, int y, int x, const std::string &layout) {
      return llvm::formatv("tensor<{0}x{1}x{2}x{3}xf32{4}>", b, c, y, x, layout).str();
    };
    std::string src = tensor(batch, ic, h, w, srcLayout);
    std::string wei = llvm::formatv("tensor<{0}x{1}x{2}x{3}xf32>", oc, ic / groups, kh, kw);
    std::string bias = tensor("1", oc, 1, 1, dstLayout);
    std::string dst = tensor(batch, oc, oh, ow, dstLayout);
    std::string residual = dst;
    if (residualShape == "pixel")
      residual = tensor(batch, 1, oh, ow, dstLayout);
    else if (residualShape == "row")
      residual = tensor("1", oc, oh, 1, dstLayout);
    else if (residualShape == "scalar")
      residual = "tensor<1xf32>";
    return llvm::formatv(R"(^bb0(%x: {0}, %w: {1}, %b: {2}, %r: {3}):
      %y = cnn.conv %x, %w extras(%b, %r) {{strides = array<i64: {5}, {6}>,
          pads = array<i64: {7}, {8}, {9}, {10}>, dilations = array<i64: {11}, {12}>,
          groups = {13} : i64} : ({0}, {1}, {2}, {3}) -> {4} {{
      ^bb0(%acc: f32, %bias: f32, %res: f32):
        %zero = arith.constant 0.0 : f32
        %0 = arith.addf %acc, %bias : f32
        %1 = arith.addf %0, %res : f32
        %2 = arith.maximumf %1, %zero : f32
        cnn.yield %2 : f32
      }
      plan.yield %y : {4})",
                         src, wei, bias, residual, dst, sh, sw, pt, pl, pb, pr, dh, dw, groups);
  }
};

Conv pointwise(int ic, int oc, int h, int w) {
  Conv conv{1, ic, oc, h, w, 1, 1};
  conv.pt = conv.pl = conv.pb = conv.pr = 0;
  return conv;
}

std::string matmul(std::string lhs, std::string rhs, std::string bias, std::string dst,
                   const char *flags = "") {
  return llvm::formatv(R"(^bb0(%a: {0}, %b: {1}, %c: {2}):
    %y = cnn.matmul %a, %b extras(%c) {4} : ({0}, {1}, {2}) -> {3} {{
    ^bb0(%acc: f32, %bias: f32):
      %0 = arith.addf %acc, %bias : f32
      cnn.yield %0 : f32
    }
    plan.yield %y : {3})",
                       lhs, rhs, bias, dst, flags);
}

TEST_F(Strategies, Pointwise) {
  for (auto [ic, oc, h, w] : {std::array{32, 48, 7, 7},
                              {16, 16, 1, 1},
                              {19, 37, 5, 3},
                              {64, 100, 14, 14},
                              {3, 5, 13, 11}})
    check(pointwise(ic, oc, h, w).text(), {"pointwise"});
  Conv batched = pointwise(24, 40, 6, 5);
  batched.freeBatch = true;
  check(batched.text(), {"pointwise", 3});
  batched.freeBatch = false;
  batched.n = 3;
  check(batched.text(), {"pointwise"});
}

// Weights beyond the second cache: the images of a batch take turns within each group of channels.
TEST_F(Strategies, HeavyWeights) {
  std::vector<std::pair<Conv, const char *>> cases = {
      {pointwise(512, 600, 5, 3), "pointwise"},
      {{1, 128, 144, 5, 6}, "direct"},
      {{1, 64, 144, 9, 9}, "winograd4"},
  };
  for (auto &[conv, strategy] : cases) {
    SCOPED_TRACE(strategy);
    conv.freeBatch = true;
    check(conv.text(), {strategy, 3});
    conv.freeBatch = false;
    conv.n = 3;
    check(conv.text(), {strategy});
  }
  check(matmul("tensor<?x9x512xf32>", "tensor<512x300xf32>", "tensor<300xf32>",
               "tensor<?x9x300xf32>"),
        {"packed-matmul", 3});
}

TEST_F(Strategies, PointwiseExtras) {
  for (const char *shape : {"pixel", "row", "scalar"}) {
    SCOPED_TRACE(shape);
    Conv conv = pointwise(17, 33, 5, 6);
    conv.residualShape = shape;
    check(conv.text(), {"pointwise"});
  }
}

TEST_F(Strategies, Direct) {
  std::vector<Conv> convs;
  convs.push_back({1, 32, 48, 9, 7});
  convs.push_back({1, 19, 35, 13, 17});                              // channel tails
  convs.push_back({1, 16, 16, 8, 31, 3, 3, 2, 2});                   // stride
  convs.push_back({1, 16, 32, 12, 11, 5, 3, 1, 2, 0, 1, 2, 3});      // asymmetric pads
  convs.push_back({1, 16, 16, 9, 33, 3, 3, 1, 1, 6, 6, 6, 6, 6, 6}); // dilation
  convs.push_back({1, 16, 16, 1, 1});                                // a window of padding
  convs.push_back({1, 8, 8, 3, 2, 7, 7, 1, 1, 3, 3, 3, 3});          // kernel beyond the image
  convs.push_back({1, 64, 64, 8, 8, 1, 1, 2, 2, 0, 0, 0, 0});        // strided pointwise
  convs.push_back({2, 16, 32, 5, 30});
  convs.push_back({1, 64, 96, 6, 29, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 2}); // groups
  convs.push_back({1, 16, 16, 7, 9, 2, 2, 2, 2, 0, 0, 0, 0});
  for (Conv &conv : convs)
    check(conv.text(), {"direct"});
  Conv batched{1, 20, 40, 6, 15};
  batched.freeBatch = true;
  check(batched.text(), {"direct", 3});
}

TEST_F(Strategies, Winograd) {
  std::vector<Conv> convs;
  convs.push_back({1, 32, 48, 9, 7});
  convs.push_back({1, 19, 35, 13, 17});
  convs.push_back({1, 16, 16, 1, 1});
  convs.push_back({2, 40, 130, 28, 25});
  convs.push_back({1, 16, 32, 12, 11, 3, 3, 1, 1, 0, 1, 2, 0});
  convs.push_back({1, 64, 200, 14, 14});
  for (Conv &conv : convs) {
    check(conv.text(), {"winograd4"});
    check(conv.text(), {"winograd2"});
  }
  Conv batched{1, 20, 40, 6, 15};
  batched.freeBatch = true;
  check(batched.text(), {"winograd4", 3});

  std::vector<Conv> strided;
  strided.push_back({1, 32, 48, 9, 7, 3, 3, 2, 2});
  strided.push_back({1, 19, 35, 13, 18, 3, 3, 2, 2});
  strided.push_back({1, 16, 16, 1, 1, 3, 3, 2, 2});
  strided.push_back({2, 40, 130, 28, 25, 3, 3, 2, 2, 0, 0, 1, 1});
  strided.push_back({1, 128, 144, 10, 12, 3, 3, 2, 2, 1, 1, 0, 0}); // heavy weights
  for (Conv &conv : strided)
    check(conv.text(), {"winograd2s2"});
  Conv both{1, 20, 40, 6, 15, 3, 3, 2, 2};
  both.freeBatch = true;
  check(both.text(), {"winograd2s2", 3});
}

TEST_F(Strategies, FirstLayer) {
  std::vector<Conv> convs;
  convs.push_back({1, 3, 40, 23, 31, 7, 7, 2, 2, 3, 3, 3, 3});
  convs.push_back({1, 3, 16, 9, 33});
  convs.push_back({2, 1, 16, 9, 9, 5, 5, 1, 1, 2, 1, 2, 3});
  convs.push_back({1, 4, 32, 12, 12, 11, 11, 4, 4, 2, 2, 2, 2});
  convs.push_back({1, 13, 24, 6, 7, 1, 1, 1, 1, 0, 0, 0, 0});
  for (Conv &conv : convs) {
    conv.srcLayout = "";
    check(conv.text(), {"first-layer"});
  }
  Conv batched{1, 3, 16, 8, 8};
  batched.srcLayout = "";
  batched.freeBatch = true;
  check(batched.text(), {"first-layer", 3});
}

TEST_F(Strategies, AnyConvolution) {
  // Shapes that nobody thought of; CONVOY_FUZZ_SHAPES asks for more of them.
  const char *wanted = std::getenv("CONVOY_FUZZ_SHAPES");
  int count = wanted ? std::atoi(wanted) : 12;
  std::mt19937 random(7);
  auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  for (int i = 0; i < count; ++i) {
    Conv conv{pick(1, 2), pick(1, 40), pick(1, 70), pick(1, 20), pick(1, 50)};
    conv.kh = pick(1, 4), conv.kw = pick(1, 5);
    conv.sh = pick(1, 3), conv.sw = pick(1, 3);
    conv.dh = pick(1, 2), conv.dw = pick(1, 3);
    conv.pt = pick(0, 3), conv.pl = pick(0, 3), conv.pb = pick(0, 3), conv.pr = pick(0, 3);
    if (pick(0, 3) == 0)
      conv.ic = conv.oc = conv.groups = pick(2, 40);
    else if (pick(0, 3) == 0)
      conv.groups = pick(2, 3), conv.ic = conv.groups * pick(1, 20),
      conv.oc = conv.groups * pick(1, 20);
    if (conv.h + conv.pt + conv.pb <= (conv.kh - 1) * conv.dh ||
        conv.w + conv.pl + conv.pr <= (conv.kw - 1) * conv.dw)
      continue;
    conv.freeBatch = pick(0, 3) == 0;
    const char *shapes[] = {"full", "pixel", "row", "scalar"};
    conv.residualShape = shapes[pick(0, 3)];
    int layout = pick(0, 2);
    conv.srcLayout = layout == 0 ? "" : ", BLOCKED";
    conv.dstLayout = layout == 2 || (layout == 0 && pick(0, 1)) ? ", BLOCKED" : conv.srcLayout;
    std::string text = conv.text();
    SCOPED_TRACE(text);
    check(text, {"", conv.freeBatch ? pick(1, 3) : 1});
  }
}

TEST_F(Strategies, Matmul) {
  for (auto [m, k, n] : {std::array{1, 64, 100},
                         {1, 7, 1000},
                         {37, 19, 45},
                         {64, 64, 64},
                         {5, 1, 3},
                         {3, 300, 16}}) {
    SCOPED_TRACE(llvm::formatv("{0} {1} {2}", m, k, n).str());
    auto tensor = [](int a, int b) { return llvm::formatv("tensor<{0}x{1}xf32>", a, b).str(); };
    std::string bias = llvm::formatv("tensor<{0}xf32>", n);
    check(matmul(tensor(m, k), tensor(k, n), bias, tensor(m, n)), {"packed-matmul"});
    check(matmul(tensor(m, k), tensor(k, n), tensor(m, 1), tensor(m, n)), {"row-matmul"});
    check(matmul(tensor(m, k), tensor(n, k), tensor(m, n), tensor(m, n), "{transpose_rhs}"),
          {"packed-matmul"});
    check(matmul(tensor(k, m), tensor(k, n), "tensor<f32>", tensor(m, n), "{transpose_lhs}"),
          {"row-matmul"});
    check(matmul(tensor(k, m), tensor(n, k), bias, tensor(m, n), "{transpose_lhs, transpose_rhs}"),
          {"packed-matmul"});
  }
  check(matmul("tensor<?x20xf32>", "tensor<20x50xf32>", "tensor<50xf32>", "tensor<?x50xf32>"),
        {"packed-matmul", 3});
  // Rows of all images together: each height of a tile.
  for (int batch : {1, 2, 4, 8, 15, 31})
    check(matmul("tensor<?x20xf32>", "tensor<20x150xf32>", "tensor<150xf32>", "tensor<?x150xf32>"),
          {"packed-matmul", batch});
  check(matmul("tensor<?x3x20xf32>", "tensor<20x50xf32>", "tensor<3x1xf32>", "tensor<?x3x50xf32>"),
        {"packed-matmul", 5});
  check(matmul("tensor<?x20xf32>", "tensor<50x20xf32>", "tensor<?x50xf32>", "tensor<?x50xf32>",
               "{transpose_rhs}"),
        {"packed-matmul", 5});
  check(
      matmul("tensor<2x3x5x20xf32>", "tensor<20x50xf32>", "tensor<50xf32>", "tensor<2x3x5x50xf32>"),
      {"packed-matmul"});
  check(matmul("tensor<2x1x5x20xf32>", "tensor<3x20x50xf32>", "tensor<2x3x1x50xf32>",
               "tensor<2x3x5x50xf32>"),
        {"row-matmul"});
}

TEST_F(Strategies, HeavyEpilogue) {
  // Enough operations to be finished in a loop of its own.
  std::string body = R"(^bb0(%x: tensor<1x16x6x9xf32, BLOCKED>, %w: tensor<40x16x3x3xf32>):
    %y = cnn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>,
        dilations = array<i64: 1, 1>, groups = 1 : i64}
        : (tensor<1x16x6x9xf32, BLOCKED>, tensor<40x16x3x3xf32>)
        -> tensor<1x40x6x9xf32, BLOCKED> {
    ^bb0(%acc: f32):
      %one = arith.constant 1.0 : f32
      %n = arith.negf %acc : f32
      %e = math.exp %n : f32
      %d = arith.addf %e, %one : f32
      %r = arith.divf %acc, %d : f32
      cnn.yield %r : f32
    }
    plan.yield %y : tensor<1x40x6x9xf32, BLOCKED>)";
  check(body, {"direct", 1, 1e-6});
}

TEST_F(Strategies, Planar) {
  std::vector<Conv> convs;
  convs.push_back({1, 12, 20, 9, 7, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 4});
  convs.push_back({1, 12, 20, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 2});
  convs.push_back({1, 6, 9, 9, 37, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 3});
  convs.push_back({1, 5, 7, 12, 41, 3, 5, 2, 2, 1, 2, 1, 2});
  convs.push_back({2, 4, 4, 9, 70, 3, 3, 1, 1, 3, 3, 3, 3, 3, 3, 4});
  convs.push_back({1, 4, 4, 9, 70, 3, 3, 1, 2, 0, 0, 0, 0, 1, 1, 4});
  for (Conv &conv : convs) {
    conv.srcLayout = conv.dstLayout = "";
    for (const char *shape : {"full", "row"}) {
      conv.residualShape = shape;
      check(conv.text(), {"planar"});
    }
  }
  convs[0].freeBatch = true;
  check(convs[0].text(), {"planar", 3});
}

std::string transposed(int ic, int oc, int h, int w, int kh, int kw, int sh, int sw, int pt, int pl,
                       int pb, int pr, int dh = 1, int dw = 1, int outH = 0, int outW = 0) {
  int oh = (h - 1) * sh + (kh - 1) * dh + 1 + outH - pt - pb;
  int ow = (w - 1) * sw + (kw - 1) * dw + 1 + outW - pl - pr;
  std::string src = llvm::formatv("tensor<2x{0}x{1}x{2}xf32, BLOCKED>", ic, h, w);
  std::string wei = llvm::formatv("tensor<{0}x{1}x{2}x{3}xf32>", ic, oc, kh, kw);
  std::string bias = llvm::formatv("tensor<1x{0}x1x1xf32, BLOCKED>", oc);
  std::string dst = llvm::formatv("tensor<2x{0}x{1}x{2}xf32, BLOCKED>", oc, oh, ow);
  std::string attributes = llvm::formatv(
      "strides = array<i64: {0}, {1}>, pads = array<i64: {2}, {3}, {4}, {5}>, "
      "dilations = array<i64: {6}, {7}>, output_padding = array<i64: {8}, {9}>, groups = 1 : i64",
      sh, sw, pt, pl, pb, pr, dh, dw, outH, outW);
  return llvm::formatv(R"(^bb0(%x: {0}, %w: {1}, %b: {2}):
    %y = cnn.conv_transpose %x, %w extras(%b) {{{4}} : ({0}, {1}, {2}) -> {3} {{
    ^bb0(%acc: f32, %bias: f32):
      %0 = arith.addf %acc, %bias : f32
      cnn.yield %0 : f32
    }
    plan.yield %y : {3})",
                       src, wei, bias, dst, attributes);
}

TEST_F(Strategies, Transposed) {
  check(transposed(16, 24, 5, 7, 2, 2, 2, 2, 0, 0, 0, 0), {"transposed"});
  check(transposed(20, 16, 5, 17, 4, 4, 2, 2, 1, 1, 1, 1), {"transposed"});
  check(transposed(8, 40, 6, 6, 3, 3, 1, 1, 1, 1, 1, 1), {"transposed"});
  check(transposed(8, 8, 4, 20, 3, 5, 3, 2, 0, 2, 1, 1, 1, 1, 1, 1), {"transposed"});
  check(transposed(16, 16, 6, 9, 3, 3, 1, 1, 1, 0, 2, 1, 2, 3), {"transposed"});
  check(transposed(16, 16, 1, 1, 2, 1, 4, 4, 0, 0, 0, 0), {"transposed"});
}

TEST_F(Strategies, Depthwise) {
  std::vector<Conv> convs;
  for (int channels : {16, 40, 3})
    convs.push_back({1, channels, channels, 9, 31, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, channels});
  convs.push_back({1, 32, 32, 8, 31, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1, 32});
  convs.push_back({1, 32, 32, 7, 7, 5, 5, 1, 1, 2, 2, 2, 2, 1, 1, 32});
  convs.push_back({2, 17, 17, 12, 11, 5, 3, 1, 2, 0, 1, 2, 3, 1, 2, 17});
  convs.push_back({1, 16, 16, 9, 33, 3, 3, 1, 1, 6, 6, 6, 6, 6, 6, 16});
  convs.push_back({1, 16, 16, 1, 1, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 16});
  convs.push_back({1, 16, 16, 14, 14, 9, 9, 1, 1, 4, 4, 4, 4, 1, 1, 16});
  for (Conv &conv : convs)
    check(conv.text(), {"depthwise"});
  Conv batched{1, 20, 20, 6, 15};
  batched.groups = 20;
  batched.freeBatch = true;
  check(batched.text(), {"depthwise", 3});
}

TEST_F(Strategies, Grouped) {
  std::vector<Conv> convs;
  for (int channels : {16, 40, 104}) // groups of 4, the last block in part empty
    convs.push_back({1, channels, channels, 9, 31, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, channels / 4});
  convs.push_back({1, 32, 32, 8, 31, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1, 16});
  convs.push_back({1, 32, 32, 7, 7, 5, 5, 1, 1, 2, 2, 2, 2, 1, 1, 8});
  convs.push_back({2, 12, 12, 12, 11, 5, 3, 1, 2, 0, 1, 2, 3, 1, 2, 3});
  convs.push_back({1, 16, 16, 9, 33, 3, 3, 1, 1, 6, 6, 6, 6, 6, 6, 4});
  convs.push_back({1, 16, 16, 1, 1, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 8});
  convs.push_back({1, 64, 64, 6, 5, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 16});
  for (Conv &conv : convs)
    check(conv.text(), {"grouped"});
  Conv batched{1, 20, 20, 6, 15};
  batched.groups = 5;
  batched.freeBatch = true;
  check(batched.text(), {"grouped", 3});
}

std::string pool(const char *kind, int c, int h, int w, int kh, int kw, int sh, int sw, int pt,
                 int pl, int pb, int pr, int oh, int ow, const char *flags = "", int dh = 1,
                 int dw = 1) {
  std::string src = llvm::formatv("tensor<2x{0}x{1}x{2}xf32, BLOCKED>", c, h, w);
  std::string dst = llvm::formatv("tensor<2x{0}x{1}x{2}xf32, BLOCKED>", c, oh, ow);
  std::string first =
      llvm::formatv("kernel = array<i64: {0}, {1}>, strides = array<i64: {2}, {3}>, "
                    "pads = array<i64: {4}, {5}, {6}, {7}>, ",
                    kh, kw, sh, sw, pt, pl, pb, pr);
  return llvm::formatv(R"(^bb0(%x: {0}):
    %y = cnn.pool <{2}> %x {{{3} dilations = array<i64: {4}, {5}> {6}} : ({0}) -> {1} {{
    ^bb0(%acc: f32):
      cnn.yield %acc : f32
    }
    plan.yield %y : {1})",
                       src, dst, kind, first, dh, dw, flags);
}

TEST_F(Strategies, Pool) {
  for (const char *kind : {"max", "average"}) {
    SCOPED_TRACE(kind);
    check(pool(kind, 20, 13, 31, 3, 3, 2, 2, 1, 1, 1, 1, 7, 16), {"vector-pool"});
    check(pool(kind, 16, 8, 8, 2, 2, 2, 2, 0, 0, 0, 0, 4, 4), {"vector-pool"});
    check(pool(kind, 16, 8, 40, 3, 3, 1, 1, 1, 0, 0, 2, 7, 40), {"vector-pool"});
    check(pool(kind, 16, 7, 8, 3, 3, 2, 2, 0, 0, 0, 0, 3, 4, ", ceil_mode"), {"vector-pool"});
    check(pool(kind, 5, 7, 7, 7, 7, 1, 1, 0, 0, 0, 0, 1, 1), {"vector-pool"});
    check(pool(kind, 16, 9, 9, 3, 3, 1, 1, 2, 2, 2, 2, 9, 9, "", 2, 2), {"vector-pool"});
  }
  check(pool("average", 16, 13, 40, 3, 3, 1, 1, 1, 1, 1, 1, 13, 40, ", count_include_pad"),
        {"vector-pool"});
  check(pool("average", 16, 8, 8, 3, 3, 2, 2, 1, 1, 1, 1, 5, 5, ", ceil_mode, count_include_pad"),
        {"vector-pool"});
}

TEST_F(Strategies, Map) {
  auto binary = [](std::string a, std::string b, std::string r) {
    return llvm::formatv(R"(^bb0(%x: {0}, %z: {1}):
      %y = cnn.map(%x, %z) : ({0}, {1}) -> {2} {{
      ^bb0(%e: f32, %f: f32):
        %0 = arith.mulf %e, %f : f32
        %1 = arith.addf %0, %f : f32
        cnn.yield %1 : f32
      }
      plan.yield %y : {2})",
                         a, b, r)
        .str();
  };
  auto same = [&](std::string a, std::string b) { return binary(a, b, a); };
  check(same("tensor<2x20x5x7xf32, BLOCKED>", "tensor<2x20x5x7xf32, BLOCKED>"), {"vector-map"});
  check(same("tensor<2x20x5x7xf32, BLOCKED>", "tensor<1x20x1x1xf32, BLOCKED>"), {"vector-map"});
  check(same("tensor<2x20x5x7xf32, BLOCKED>", "tensor<2x1x5x7xf32, BLOCKED>"), {"vector-map"});
  check(same("tensor<2x20x5x7xf32, BLOCKED>", "tensor<7xf32>"), {"vector-map"});
  check(same("tensor<2x20x5x7xf32, BLOCKED>", "tensor<f32>"), {"vector-map"});
  check(same("tensor<2x32x5x7xf32, BLOCKED>", "tensor<32x1x1xf32>"), {"vector-map"});
  check(same("tensor<3x70001xf32>", "tensor<3x70001xf32>"), {"vector-map"});
  check(same("tensor<3x70001xf32>", "tensor<3x1xf32>"), {"vector-map"});
  check(same("tensor<3x5x6x7xf32>", "tensor<5x1x1xf32>"), {"vector-map"});
  check(same("tensor<3x5x6x7xf32>", "tensor<6x7xf32>"), {"vector-map"});
  check(binary("tensor<3x1x7xf32>", "tensor<5x1xf32>", "tensor<3x5x7xf32>"), {"vector-map"});
  check(same("tensor<?x5x1x1xf32>", "tensor<1x5x1x1xf32>"), {"vector-map", 3});
  check(same("tensor<1xf32>", "tensor<f32>"), {"vector-map"});
}

TEST_F(Strategies, MapOfOtherTypes) {
  check(R"(^bb0(%a: tensor<77xi1>, %b: tensor<77xi8>, %c: tensor<77xui8>):
    %y = cnn.map(%a, %b, %c) : (tensor<77xi1>, tensor<77xi8>, tensor<77xui8>) -> tensor<77xi64> {
    ^bb0(%p: i1, %e: i8, %f: i8):
      %0 = arith.select %p, %e, %f : i8
      %1 = arith.extsi %0 : i8 to i64
      cnn.yield %1 : i64
    }
    plan.yield %y : tensor<77xi64>)",
        {"vector-map"});
  check(R"(^bb0(%a: tensor<40xf16>, %b: tensor<40xf32>):
    %y = cnn.map(%a, %b) : (tensor<40xf16>, tensor<40xf32>) -> tensor<40xi1> {
    ^bb0(%e: f16, %f: f32):
      %0 = arith.extf %e : f16 to f32
      %1 = arith.cmpf olt, %0, %f : f32
      cnn.yield %1 : i1
    }
    plan.yield %y : tensor<40xi1>)",
        {"vector-map"});
}

std::string unary(std::string op, std::string src, std::string dst) {
  // `op` has %x for the operand and leaves types to this.
  return llvm::formatv("^bb0(%x: {1}):\n %y = {0} : ({1}) -> {2}\n plan.yield %y : {2}", op, src,
                       dst);
}

TEST_F(Strategies, Relayout) {
  for (const char *shape : {"2x32x7x7", "1x20x5x9", "1x3x8x8", "?x24x3x3", "2x64x1x1"}) {
    SCOPED_TRACE(shape);
    std::string plain = llvm::formatv("tensor<{0}xf32>", shape);
    std::string blocked = llvm::formatv("tensor<{0}xf32, BLOCKED>", shape);
    std::string last = llvm::formatv("tensor<{0}xf32, #cnn.layout<\"nhwc\">>", shape);
    for (auto [from, to] : {std::pair(plain, blocked),
                            {blocked, plain},
                            {plain, last},
                            {last, plain},
                            {last, blocked},
                            {blocked, last}})
      check(unary("cnn.relayout %x", from, to), {"strided-copy", 2});
  }
}

TEST_F(Strategies, Movement) {
  check(unary("cnn.transpose %x {perm = array<i64: 0, 2, 3, 1>}", "tensor<2x19x5x7xf32>",
              "tensor<2x5x7x19xf32>"),
        {"strided-copy"});
  check(unary("cnn.transpose %x {perm = array<i64: 0, 2, 1, 3, 4>}", "tensor<1x2x29x5x7xf32>",
              "tensor<1x29x2x5x7xf32>"),
        {"strided-copy"});
  check(unary("cnn.transpose %x {perm = array<i64: 1, 0>}", "tensor<37x50xi8>", "tensor<50x37xi8>"),
        {"strided-copy"});
  check(unary("cnn.transpose %x {perm = array<i64: 2, 1, 0>}", "tensor<5x33x70xi64>",
              "tensor<70x33x5xi64>"),
        {"strided-copy"});
  check(unary("cnn.broadcast %x", "tensor<3x1x5xf32>", "tensor<2x3x40x5xf32>"), {"strided-copy"});
  check(unary("cnn.broadcast %x", "tensor<3x1xf16>", "tensor<2x3x40xf16>"), {"strided-copy"});
  check(unary("cnn.reshape %x", "tensor<3x50xi1>", "tensor<150xi1>"), {"strided-copy"});
  check(unary("cnn.slice %x {starts = array<i64: 0, 2, 4, 1>, steps = array<i64: 1, 1, -2, 1>}",
              "tensor<2x9x5x40xf32>", "tensor<2x3x3x37xf32>"),
        {"strided-copy"});
  check(unary("cnn.slice %x {starts = array<i64: 0, 0, 0, 1>, steps = array<i64: 1, 1, 1, 2>}",
              "tensor<2x9x5x40xf32>", "tensor<2x9x5x20xf32>"),
        {"strided-copy"});
  check(unary("cnn.slice %x {starts = array<i64: 0, LANES, 1, 0>, steps = array<i64: 1, 1, 2, 1>}",
              "tensor<2x40x5x6xf32, BLOCKED>", "tensor<2x18x2x6xf32, BLOCKED>"),
        {"strided-copy"});
}

TEST_F(Strategies, Pad) {
  const char *pads = "{low = array<i64: 0, 0, 1, 2>, high = array<i64: 0, 0, 2, 1>}";
  for (const char *mode : {"constant", "edge", "reflect", "wrap"}) {
    SCOPED_TRACE(mode);
    for (const char *layout : {"", ", BLOCKED"})
      check(unary(std::string("cnn.pad <") + mode + "> %x " + pads,
                  llvm::formatv("tensor<2x20x5x7xf32{0}>", layout),
                  llvm::formatv("tensor<2x20x8x10xf32{0}>", layout)),
            {"strided-copy"});
  }
  check(
      unary("cnn.pad <constant> %x {low = array<i64: 0, 3, -1, 0>, high = array<i64: 0, 1, 2, -3>}",
            "tensor<?x4x5x7xi8>", "tensor<?x8x6x4xi8>"),
      {"strided-copy", 2});
  check(R"(^bb0(%x: tensor<3x40xf32>, %v: tensor<f32>):
    %y = cnn.pad <constant> %x, %v {low = array<i64: 1, 5>, high = array<i64: 0, 2>}
        : (tensor<3x40xf32>, tensor<f32>) -> tensor<4x47xf32>
    plan.yield %y : tensor<4x47xf32>)",
        {"strided-copy"});
}

TEST_F(Strategies, Resize) {
  auto resize = [](const char *mode, const char *coordinates, int h, int w) {
    return unary(llvm::formatv("cnn.resize <{0}> %x {{coordinates = #cnn.coordinates<{1}>, "
                               "nearest_mode = #cnn.nearest_mode<floor>, "
                               "scales = array<f64: 1.0, 1.0, {2}, {3}>, roi = array<f64>, "
                               "cubic_coeff_a = -0.75 : f64, extrapolation_value = 0.0 : f64}",
                               mode, coordinates, h / 5.0, w / 7.0),
                 "tensor<2x20x5x7xf32, BLOCKED>",
                 llvm::formatv("tensor<2x20x{0}x{1}xf32, BLOCKED>", h, w));
  };
  check(resize("nearest", "asymmetric", 10, 14), {"vector-resize"});
  check(resize("nearest", "half_pixel", 3, 20), {"vector-resize"});
  // Weights rounded to f32.
  check(resize("linear", "half_pixel", 10, 14), {"vector-resize", 1, 5e-7});
  check(resize("linear", "align_corners", 13, 4), {"vector-resize", 1, 5e-7});
  check(resize("cubic", "half_pixel", 10, 21), {"vector-resize", 1, 1e-6});
}

TEST_F(Strategies, Gather) {
  for (auto [src, indices, dst, axis] :
       {std::array{"tensor<9x40xf32>", "tensor<2x3xi64>", "tensor<2x3x40xf32>", "0"},
        {"tensor<4x5x7xi8>", "tensor<6xi32>", "tensor<4x6x7xi8>", "1"},
        {"tensor<4x50xf32>", "tensor<6xi64>", "tensor<4x6xf32>", "1"}})
    check(llvm::formatv(R"(^bb0(%x: {0}, %i: {1}):
      %y = cnn.gather %x, %i {{axis = {3} : i64} : ({0}, {1}) -> {2}
      plan.yield %y : {2})",
                        src, indices, dst, axis),
          {"run-gather"});
}

TEST_F(Strategies, TopK) {
  // Whole numbers from -3 to 3, and then some with fractions: many ties, and few. Rows of less than
  // a vector, tails, few and many wanted.
  for (bool fractions : {false, true})
    for (const char *flags : {"", ", least"})
      for (auto [extent, count] : {std::pair(1, 1), {3, 2}, {64, 1}, {203, 1}, {203, 7}, {203, 50},
                                   {203, 51}, {203, 203}, {1000, 100}}) {
        std::string op = llvm::formatv("cnn.top_k %x {{axis = 2 : i64{0}}", flags);
        check(unary(op, llvm::formatv("tensor<?x3x{0}xf32>", extent),
                    llvm::formatv("tensor<?x3x{0}xi64>", count)),
              {"heap-top-k", 2, 0, fractions});
      }
  check(unary("cnn.top_k %x {axis = 1 : i64}", "tensor<300x40x1xf32>", "tensor<300x3x1xi64>"),
        {"heap-top-k"});
}

TEST_F(Strategies, Suppress) {
  // Corners and sizes are small numbers, so that many boxes touch, contain or equal each other, or
  // have no area; scores have ties. Extents around groups of 64 bools and vectors of boxes.
  for (const char *flags : {"", " {center}"})
    for (const char *limit : {"", "limit %l"})
      for (int boxes : {1, 9, 64, 150})
        for (std::string eligible : {"1x1x1", "2x3xB", "3xB"}) {
          std::string extent = std::to_string(boxes);
          if (eligible.back() == 'B')
            eligible.replace(eligible.size() - 1, 1, extent);
          check(llvm::formatv(R"(^bb0(%b: tensor<2x{0}x4xf32>, %o: tensor<2x3x{0}xf32>,
              %e: tensor<{1}xi1>, %t: tensor<f32>{2}):
            %y = cnn.suppress %b, %o, %e, %t {3}{4}
              : (tensor<2x{0}x4xf32>, tensor<2x3x{0}xf32>, tensor<{1}xi1>, tensor<f32>{5})
              -> tensor<2x3x{0}xi64>
            plan.yield %y : tensor<2x3x{0}xi64>)",
                              extent, eligible, *limit ? ", %l: tensor<i64>" : "", limit, flags,
                              *limit ? ", tensor<i64>" : ""),
                {"vector-suppress", 1, 0, /*fractions=*/*flags != 0});
        }
}

// Numbers that an order may get wrong: both zeros, subnormals, infinities, NaNs of both signs.
void fillAwkward(Buffer &buffer, unsigned seed) {
  const float awkward[] = {0.0f,  -0.0f,  1e-40f,    -1e-40f,   INFINITY, -INFINITY, NAN,
                           -NAN,  1.0f,   -1.0f,     1.0000001f, 3e38f,   -3e38f,    0.5f};
  std::mt19937 random(seed);
  auto *data = reinterpret_cast<float *>(buffer.data());
  for (int64_t i = 0; i < buffer.numElements(); ++i)
    data[i] = awkward[random() % std::size(awkward)];
}

TEST_F(Strategies, OrdersAwkwardNumbers) {
  for (const char *flags : {"", ", least"})
    for (int count : {1, 40, 60, 203}) {
      std::string op = llvm::formatv("cnn.top_k %x {{axis = 1 : i64{0}}", flags);
      checkFilled(unary(op, "tensor<4x203xf32>", llvm::formatv("tensor<4x{0}xi64>", count)),
                  "heap-top-k", 3, [](std::vector<Buffer> &buffers, int variant) {
                    fillAwkward(buffers[0], variant);
                  });
    }
}

TEST_F(Strategies, SuppressesAwkwardBoxes) {
  const std::string body = R"(^bb0(%b: tensor<1x150x4xf32>, %o: tensor<1x4x150xf32>,
      %e: tensor<1x4x150xi1>, %t: tensor<f32>, %l: tensor<i64>):
    %y = cnn.suppress %b, %o, %e, %t limit %l
      : (tensor<1x150x4xf32>, tensor<1x4x150xf32>, tensor<1x4x150xi1>, tensor<f32>, tensor<i64>)
      -> tensor<1x4x100xi64>
    plan.yield %y : tensor<1x4x100xi64>)";
  enum Boxes { Identical, Small, Awkward, Close };
  enum Eligible { None, All, Few };
  struct Variant {
    Boxes boxes;
    Eligible eligible;
    float threshold;
    int64_t limit;
  };
  std::vector<Variant> variants;
  for (Boxes boxes : {Identical, Small, Awkward, Close})
    for (Eligible eligible : {None, All, Few})
      for (float threshold : {0.0f, 0.5f, NAN})
        for (int64_t limit : {int64_t(-1), int64_t(0), int64_t(3), int64_t(1) << 40})
          variants.push_back({boxes, eligible, threshold, limit});
  checkFilled(body, "vector-suppress", variants.size(), [&](std::vector<Buffer> &buffers,
                                                            int number) {
    Variant v = variants[number];
    std::mt19937 random(5);
    auto *corners = reinterpret_cast<float *>(buffers[0].data());
    if (v.boxes == Awkward)
      fillAwkward(buffers[0], 3);
    if (v.boxes == Identical || v.boxes == Close)
      for (int64_t i = 0; i < buffers[0].numElements(); ++i)
        corners[i] = (i % 4 < 2 ? 0.1f : 0.7f) + (v.boxes == Close ? random() % 100 / 250.f : 0);
    if (v.boxes != Close)
      fillAwkward(buffers[1], 11);
    for (int64_t i = 0; i < buffers[2].numElements(); ++i)
      buffers[2].data()[i] = v.eligible == All || (v.eligible == Few && random() % 40 == 0);
    *reinterpret_cast<float *>(buffers[3].data()) = v.threshold;
    *reinterpret_cast<int64_t *>(buffers[4].data()) = v.limit;
  });
}

std::string reduce(std::string kind, std::string src, std::string extra, std::string dst,
                   std::string axes, std::string flags = "") {
  return llvm::formatv(R"(^bb0(%x: {0}, %e: {1}):
    %y = cnn.reduce <{3}> %x extras(%e) {{axes = array<i64: {4}> {5}} : ({0}, {1}) -> {2} {{
    ^bb0(%acc: f32, %extra: f32):
      %0 = arith.addf %acc, %extra : f32
      cnn.yield %0 : f32
    }
    plan.yield %y : {2})",
                       src, extra, dst, kind, axes, flags);
}

TEST_F(Strategies, Reduce) {
  for (const char *kind : {"sum", "mean", "max", "min"}) {
    SCOPED_TRACE(kind);
    Options options{"vector-reduce"};
    // The reference sums in double, and a quotient of either is rounded once.
    options.tolerance = std::string(kind) == "mean" ? 1e-7 : 0;
    check(reduce(kind, "tensor<2x20x7x7xf32, BLOCKED>", "tensor<1x20x1x1xf32, BLOCKED>",
                 "tensor<2x20x1x1xf32, BLOCKED>", "2, 3", ", keep_dims"),
          options);
    check(
        reduce(kind, "tensor<2x20x3x1xf32, BLOCKED>", "tensor<20xf32>", "tensor<2x20xf32>", "2, 3"),
        options);
    check(reduce(kind, "tensor<3x5x6x7xf32>", "tensor<5xf32>", "tensor<3x5xf32>", "2, 3"), options);
    check(reduce(kind, "tensor<3x5x6x7xf32>", "tensor<5x1x1xf32>", "tensor<3x5x1x1xf32>", "2, 3",
                 ", keep_dims"),
          options);
    check(reduce(kind, "tensor<3x200xf32>", "tensor<f32>", "tensor<3xf32>", "1"), options);
    check(reduce(kind, "tensor<3x7x200xf32>", "tensor<200xf32>", "tensor<3x200xf32>", "1"),
          options);
    check(reduce(kind, "tensor<3x7x5x40xf32>", "tensor<f32>", "tensor<3x1x5x40xf32>", "1",
                 ", keep_dims"),
          options);
    check(reduce(kind, "tensor<3x19x5xf32>", "tensor<3x5xf32>", "tensor<3x5xf32>", "1"), options);
    check(reduce(kind, "tensor<40x3xf32>", "tensor<3xf32>", "tensor<3xf32>", "0"), options);
    check(reduce(kind, "tensor<4x6xf32>", "tensor<f32>", "tensor<f32>", "0, 1"), options);
    options.batch = 3;
    check(reduce(kind, "tensor<?x20x5x7xf32, BLOCKED>", "tensor<?x20xf32>", "tensor<?x20xf32>",
                 "2, 3"),
          options);
  }
}

TEST_F(Strategies, Softmax) {
  // Exponentials of 1 ulp and a sum of at most 1000 terms.
  Options options{"vector-softmax", 1, 2e-6};
  options.fractions = true;
  for (const char *flags : {"", ", log"}) {
    auto softmax = [&](std::string type, int axis) {
      std::string op = llvm::formatv("cnn.softmax %x {{axis = {0} : i64 {1}}", axis, flags);
      check(unary(op, type, type), options);
    };
    softmax("tensor<2x1000xf32>", 1);
    softmax("tensor<5x7xf32>", 1);
    softmax("tensor<2x21x5x7xf32>", 1);
    softmax("tensor<2x3x33x2xf32>", 2);
    softmax("tensor<4x5x1x1xf32>", 1);
  }
}

TEST_F(Strategies, Lrn) {
  Options options{"vector-lrn", 1, 3e-7};
  options.fractions = true;
  for (const char *type :
       {"tensor<2x20x5x7xf32, BLOCKED>", "tensor<1x64x3x3xf32, BLOCKED>", "tensor<2x20x5x7xf32>"})
    for (const char *numbers :
         {"size = 5 : i64, alpha = 0.1 : f64, beta = 0.75 : f64, bias = 1.0 : f64",
          "size = 4 : i64, alpha = 0.5 : f64, beta = 0.5 : f64, bias = 2.0 : f64",
          "size = 1 : i64, alpha = 0.5 : f64, beta = 1.0 : f64, bias = 2.0 : f64"})
      check(unary(std::string("cnn.lrn %x {") + numbers + "}", type, type), options);
}

std::string concat(std::vector<std::string> types, std::string result, int axis) {
  std::string arguments, names, list;
  for (auto [i, type] : llvm::enumerate(types)) {
    std::string comma = i ? ", " : "";
    arguments += llvm::formatv("{0}%a{1}: {2}", comma, i, type);
    names += llvm::formatv("{0}%a{1}", comma, i);
    list += comma + type;
  }
  return llvm::formatv("^bb0({0}):\n %y = cnn.concat({1}) {{axis = {2} : i64} : ({3}) -> {4}\n"
                       "plan.yield %y : {4}",
                       arguments, names, axis, list, result);
}

TEST_F(Strategies, Concat) {
  check(concat({"tensor<2x3x4x5xf32>", "tensor<2x7x4x5xf32>", "tensor<2x1x4x5xf32>"},
               "tensor<2x11x4x5xf32>", 1),
        {"strided-copy"});
  check(concat({"tensor<3x5xf32>", "tensor<3x40xf32>"}, "tensor<3x45xf32>", 1), {"strided-copy"});
  check(concat({"tensor<2x32x4x5xf32, BLOCKED>", "tensor<2x20x4x5xf32, BLOCKED>"},
               "tensor<2x52x4x5xf32, BLOCKED>", 1),
        {"strided-copy"});
  check(concat({"tensor<2x19x4x5xf32, BLOCKED>", "tensor<2x39x4x5xf32, BLOCKED>",
                "tensor<2x2x4x5xf32, BLOCKED>"},
               "tensor<2x60x4x5xf32, BLOCKED>", 1),
        {"strided-copy"});
  check(concat({"tensor<?x20x4x5xf32, BLOCKED>", "tensor<?x20x3x5xf32, BLOCKED>"},
               "tensor<?x20x7x5xf32, BLOCKED>", 2),
        {"strided-copy", 2});
}

} // namespace
