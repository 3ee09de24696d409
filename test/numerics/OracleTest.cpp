// Every op, on many element types and layouts, in every strategy that computes it, against the
// evaluator of the cnn dialect, which shares no code with code generation.
//
// Inputs are small integers, so sums are exact in every type and results must be equal. Where an
// op divides or calls a function, both sides round once to the result's type and may differ by the
// last place: such cases say so.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/numerics/StrategyCase.h"

#include "dialects/Cnn/ConstantData.h"
#include "dialects/Cnn/Evaluate/Evaluate.h"

#include "llvm/Support/FormatVariadic.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace convoy;
using namespace convoy::test;
using llvm::formatv;

namespace {

struct Close {
  double relative = 0; // to the largest magnitude
  int64_t batch = 1;
  bool fractions = false;
  int64_t magnitude = 3;
  bool allTargets = true; // or only the best one
};

double readNumber(const char *data, mlir::Type type) {
  return mlir::isa<mlir::FloatType>(type) ? cnn::readFloat(data, type)
                                          : static_cast<double>(cnn::readInt(data, type));
}

class Oracle : public ::testing::Test {
protected:
  static std::unique_ptr<mlir::MLIRContext> context;
  static std::vector<std::unique_ptr<Target>> targets;

  static void SetUpTestSuite() {
    context = makeContext();
    targets = hostTargets();
  }
  static void TearDownTestSuite() {
    targets.clear();
    context.reset();
  }

  void check(const std::string &body, const Close &close = {}) {
    SCOPED_TRACE(body);
    for (const auto &target : llvm::ArrayRef(targets).take_front(close.allTargets ? targets.size() : 1)) {
      SCOPED_TRACE(target->name().str());
      StrategyCase test(*context, *target, body, close.batch);
      test.fractions = close.fractions;
      test.magnitude = close.magnitude;
      ASSERT_TRUE(test.op());
      std::vector<const Strategy *> strategies = test.strategies();
      ASSERT_FALSE(strategies.empty());
      for (const Strategy *strategy : strategies) {
        SCOPED_TRACE(strategy->name().str());
        std::vector<Buffer> buffers = test.run(*strategy);
        ASSERT_FALSE(buffers.empty());
        compare(test, buffers, close);
      }
    }
  }

  // The logical elements of an operand, row-major.
  cnn::Tensor tensorOf(Buffer &buffer) {
    auto full = buffer.fullType();
    auto type = mlir::RankedTensorType::get(full.getShape(), full.getElementType());
    cnn::Tensor tensor = cnn::Tensor::allocate(type);
    int64_t width = cnn::getElementBytes(full.getElementType());
    for (int64_t i = 0; i < buffer.numElements(); ++i)
      std::memcpy(tensor.mutableData() + i * width, buffer.element(i), width);
    return tensor;
  }

  void compare(StrategyCase &test, std::vector<Buffer> &buffers, const Close &close) {
    std::vector<cnn::Tensor> operands;
    for (mlir::Value operand : test.op()->getOperands())
      operands.push_back(
          tensorOf(buffers[mlir::cast<mlir::BlockArgument>(operand).getArgNumber()]));
    auto expected = cnn::evaluate(test.op(), operands, close.batch);
    ASSERT_TRUE(mlir::succeeded(expected));
    Buffer &actual = buffers.back();
    for (Buffer &buffer : buffers)
      EXPECT_TRUE(buffer.marginsIntact());
    mlir::Type type = actual.type.getElementType();
    const cnn::Tensor &result = expected->front();
    ASSERT_EQ(result.numElements(), actual.numElements());
    double largest = 0;
    for (int64_t i = 0; i < result.numElements(); ++i) {
      double value = readNumber(result.data() + i * result.elementBytes(), type);
      if (std::isfinite(value))
        largest = std::max(largest, std::abs(value));
    }
    int wrong = 0;
    for (int64_t i = 0; i < result.numElements() && wrong < 4; ++i) {
      double want = readNumber(result.data() + i * result.elementBytes(), type);
      double got = readNumber(actual.element(i), type);
      bool equal = std::isnan(want) ? std::isnan(got) : got == want;
      if (!equal && !(std::abs(got - want) <= close.relative * largest)) {
        ADD_FAILURE() << "element " << i << ": " << got << ", expected " << want;
        ++wrong;
      }
    }
  }

  /// One unary op; an epilogue may follow `dst`.
  void unary(const std::string &op, const std::string &src, const std::string &dst,
             const Close &close = {}) {
    std::string type = dst.substr(0, dst.find(" {"));
    check(formatv("^bb0(%x: {1}):\n  %y = {0} : ({1}) -> {2}\n  plan.yield %y : {3}", op, src, dst,
                  type),
          close);
  }
};

std::unique_ptr<mlir::MLIRContext> Oracle::context;
std::vector<std::unique_ptr<Target>> Oracle::targets;

std::string tensor(const std::string &shape, const std::string &type,
                   const std::string &layout = "") {
  std::string encoding = layout.empty() ? ""
                         : layout == "BLOCKED" || layout == "BLOCK1D"
                             ? ", " + layout
                             : ", #cnn.layout<\"" + layout + "\">";
  return "tensor<" + shape + "x" + type + encoding + ">";
}

const char *const kFloats[] = {"f32", "f64", "f16", "bf16"};
const char *const kNumbers[] = {"f32", "f64", "f16", "bf16", "i8",
                                "ui8", "i16", "i32", "i64",  "ui64"};

std::string identity(const std::string &type) {
  std::string scalar = type[0] == 'u' ? type.substr(1) : type;
  return " {\n  ^bb0(%acc: " + scalar + "):\n    cnn.yield %acc : " + scalar + "\n  }";
}

// An op with src and wei and an epilogue that adds a bias.
std::string convolution(const std::string &op, const std::string &attributes,
                        const std::string &src, const std::string &wei, const std::string &bias,
                        const std::string &dst, const std::string &type) {
  std::string scalar = type[0] == 'u' ? type.substr(1) : type;
  std::string add = type[0] == 'f' || type[0] == 'b' ? "arith.addf" : "arith.addi";
  return formatv(R"(^bb0(%x: {2}, %w: {3}, %b: {4}):
    %y = cnn.{0} %x, %w extras(%b) {{{1}} : ({2}, {3}, {4}) -> {5} {{
    ^bb0(%acc: {6}, %bias: {6}):
      %0 = {7} %acc, %bias : {6}
      cnn.yield %0 : {6}
    }
    plan.yield %y : {5})",
                 op, attributes, src, wei, bias, dst, scalar, add);
}

TEST_F(Oracle, ConvTypesAndLayouts) {
  std::string attributes = "strides = array<i64: 2, 1>, pads = array<i64: 1, 0, 2, 1>, "
                           "dilations = array<i64: 1, 2>, groups = 2 : i64";
  for (const char *type : kNumbers)
    check(convolution("conv", attributes, tensor("2x4x7x6", type), tensor("6x2x3x2", type),
                      tensor("1x6x1x1", type), tensor("2x6x4x5", type), type));
  for (const char *layout : {"nhwc", "BLOCKED"})
    check(convolution("conv", attributes, tensor("?x4x7x6", "f32", layout),
                      tensor("6x2x3x2", "f32", "ohwi"), tensor("1x6x1x1", "f32"),
                      tensor("?x6x4x5", "f32", layout), "f32"),
          {0, 3});
}

TEST_F(Oracle, ConvRanks) {
  check(convolution("conv",
                    "strides = array<i64: 3>, pads = array<i64: 2, 1>, dilations = array<i64: 2>, "
                    "groups = 1 : i64",
                    tensor("?x3x17", "f32"), tensor("5x3x4", "f32"), tensor("5x1", "f32"),
                    tensor("?x5x5", "f32"), "f32"),
        {0, 2});
  check(convolution("conv",
                    "strides = array<i64: 1, 2, 1>, pads = array<i64: 1, 0, 1, 1, 0, 1>, "
                    "dilations = array<i64: 1, 1, 2>, groups = 1 : i64",
                    tensor("1x2x4x5x7", "f32"), tensor("3x2x3x2x2", "f32"),
                    tensor("3x1x1x1", "f32"), tensor("1x3x4x2x7", "f32"), "f32"));
}

TEST_F(Oracle, ConvTranspose) {
  for (const char *type : {"f32", "f64", "bf16", "i32"})
    check(convolution("conv_transpose",
                      "strides = array<i64: 2, 3>, pads = array<i64: 1, 0, 0, 2>, dilations = "
                      "array<i64: 1, 2>, output_padding = array<i64: 1, 0>, groups = 2 : i64",
                      tensor("2x4x3x4", type), tensor("4x3x3x2", type), tensor("1x6x1x1", type),
                      tensor("2x6x7x10", type), type));
  check(convolution("conv_transpose",
                    "strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = "
                    "array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 1 : i64",
                    tensor("?x18x3x4", "f32", "BLOCKED"), tensor("18x20x2x2", "f32"),
                    tensor("1x20x1x1", "f32", "BLOCKED"), tensor("?x20x6x8", "f32", "BLOCKED"),
                    "f32"),
        {0, 2});
  check(convolution("conv_transpose",
                    "strides = array<i64: 3>, pads = array<i64: 1, 1>, dilations = array<i64: 1>, "
                    "output_padding = array<i64: 2>, groups = 1 : i64",
                    tensor("1x2x5", "f32"), tensor("2x3x2", "f32"), tensor("1x3x1", "f32"),
                    tensor("1x3x14", "f32"), "f32"));
}

TEST_F(Oracle, Pools) {
  struct Window {
    const char *attributes, *src, *dst;
  };
  const Window windows[] = {
      {"kernel = array<i64: 3, 2>, strides = array<i64: 2, 2>, pads = array<i64: 1, 0, 1, 1>, "
       "dilations = array<i64: 1, 1>",
       "2x19x8x7", "2x19x4x4"},
      {"kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 1, 0, 1>, "
       "dilations = array<i64: 1, 1>, ceil_mode",
       "2x19x8x7", "2x19x4x4"},
      {"kernel = array<i64: 2, 3>, strides = array<i64: 1, 1>, pads = array<i64: 2, 2, 2, 2>, "
       "dilations = array<i64: 2, 3>",
       "2x19x6x7", "2x19x8x5"},
      {"kernel = array<i64: 3>, strides = array<i64: 2>, pads = array<i64: 1, 1>, dilations = "
       "array<i64: 1>, ceil_mode",
       "2x5x10", "2x5x6"},
      {"kernel = array<i64: 2, 2, 2>, strides = array<i64: 1, 2, 1>, pads = array<i64: 0, 1, 0, 0, "
       "0, 0>, dilations = array<i64: 1, 1, 1>",
       "1x3x4x5x3", "1x3x3x3x2"},
  };
  for (const Window &window : windows)
    for (const char *type : {"f32", "f64", "f16", "bf16", "i8", "ui8"}) {
      unary(std::string("cnn.pool <max> %x {") + window.attributes + "}", tensor(window.src, type),
            tensor(window.dst, type) + identity(type));
      bool isFloat = type[0] == 'f' || type[0] == 'b';
      for (const char *pad : {"", ", count_include_pad"})
        if (isFloat)
          unary(std::string("cnn.pool <average> %x {") + window.attributes + pad + "}",
                tensor(window.src, type), tensor(window.dst, type) + identity(type), {1.2e-7});
      if (isFloat || type[0] == 'i')
        for (const char *order : {"", ", column_major"})
          unary(std::string("cnn.pool_argmax %x {") + window.attributes + order + "}",
                tensor(window.src, type), tensor(window.dst, "i64"));
    }
  for (const char *layout : {"nhwc", "BLOCKED"})
    for (const char *kind : {"max", "average"})
      unary(formatv("cnn.pool <{0}> %x {{{1}}", kind, windows[1].attributes),
            tensor("?x19x8x7", "f32", layout), tensor("?x19x4x4", "f32", layout) + identity("f32"),
            {1.2e-7, 2});
}

TEST_F(Oracle, Matmul) {
  auto text = [](const char *attributes, const char *lhs, const char *rhs, const char *dst,
                 const std::string &type) {
    std::string scalar = type[0] == 'u' ? type.substr(1) : type;
    return formatv("^bb0(%a: {1}, %b: {2}):\n  %y = cnn.matmul %a, %b {0} : ({1}, {2}) -> {3}{4}\n"
                   "  plan.yield %y : {3}",
                   attributes, tensor(lhs, type), tensor(rhs, type), tensor(dst, type),
                   identity(type))
        .str();
  };
  for (const char *type : kNumbers)
    check(text("", "5x7", "7x9", "5x9", type));
  check(text("{transpose_lhs}", "7x5", "7x9", "5x9", "f32"));
  check(text("{transpose_rhs}", "5x7", "9x7", "5x9", "f32"));
  check(text("{transpose_lhs, transpose_rhs}", "7x5", "9x7", "5x9", "f32"));
  check(text("", "?x7", "7x9", "?x9", "f32"), {0, 4});
  check(text("", "?x3x5x7", "3x7x4", "?x3x5x4", "f32"), {0, 2});
  check(text("{transpose_rhs}", "2x1x5x33", "3x20x33", "2x3x5x20", "f32"));
  check(text("", "4x0", "0x3", "4x3", "f32"));
}

TEST_F(Oracle, Reductions) {
  for (const char *kind : {"sum", "mean", "max", "min", "prod"})
    for (const char *type : kNumbers) {
      Close close{std::string(kind) == "mean" ? 1.2e-7 : 0};
      std::string op = std::string("cnn.reduce <") + kind + "> %x ";
      unary(op + "{axes = array<i64: 1, 2>, keep_dims}", tensor("3x4x2x3", type),
            tensor("3x1x1x3", type) + identity(type), close);
      unary(op + "{axes = array<i64: 0, 3>}", tensor("2x5x3x3", type),
            tensor("5x3", type) + identity(type), close);
    }
  for (const char *layout : {"nhwc", "BLOCKED"}) {
    unary("cnn.reduce <mean> %x {axes = array<i64: 2, 3>, keep_dims}",
          tensor("?x19x5x6", "f32", layout), tensor("?x19x1x1", "f32", layout) + identity("f32"),
          {1.2e-7, 3});
    unary("cnn.reduce <sum> %x {axes = array<i64: 1>, keep_dims}",
          tensor("?x19x5x6", "f32", layout), tensor("?x1x5x6", "f32", layout) + identity("f32"),
          {0, 2});
  }
  unary("cnn.reduce <sum> %x {axes = array<i64>}", tensor("3x4", "f32"),
        tensor("3x4", "f32") + identity("f32"));
  for (const char *kind : {"sum", "max", "min", "prod"})
    unary(formatv("cnn.reduce <{0}> %x {{axes = array<i64: 1>}", kind), tensor("3x0x2", "f32"),
          tensor("3x2", "f32") + identity("f32"));
  unary("cnn.reduce <max> %x {axes = array<i64: 0>}", tensor("5x3", "i1"),
        tensor("3", "i1") + identity("i1"));
}

TEST_F(Oracle, Normalizations) {
  for (const char *type : kFloats) {
    double close = type[0] == 'b' ? 0.008 : std::string(type) == "f16" ? 0.001 : 1e-6;
    for (const char *log : {"", ", log"})
      for (int axis = 0; axis < 4; ++axis)
        unary(formatv("cnn.softmax %x {{axis = {0} : i64{1}}", axis, log), tensor("3x5x2x7", type),
              tensor("3x5x2x7", type), {close, 1, true});
    unary("cnn.lrn %x {size = 5 : i64, alpha = 0.01 : f64, beta = 0.75 : f64, bias = 1.0 : f64}",
          tensor("2x9x3x3", type), tensor("2x9x3x3", type), {close, 1, true});
    unary("cnn.lrn %x {size = 4 : i64, alpha = 2.0 : f64, beta = 0.6 : f64, bias = 1.5 : f64}",
          tensor("?x9x5", type), tensor("?x9x5", type), {close, 2, true});
    check(formatv(R"(^bb0(%x: {0}, %s: {1}, %b: {1}, %m: {1}):
      %y = cnn.batch_norm %x, %s, %b, %m, %s {{epsilon = 4.0 : f64}
          : ({0}, {1}, {1}, {1}, {1}) -> {0}
      plan.yield %y : {0})",
                  tensor("2x3x4", type), tensor("3", type)),
          {close});
  }
  for (const char *layout : {"nhwc", "BLOCKED"}) {
    unary("cnn.softmax %x {axis = 1 : i64}", tensor("?x19x3x2", "f32", layout),
          tensor("?x19x3x2", "f32", layout), {1e-6, 2, true});
    unary("cnn.lrn %x {size = 5 : i64, alpha = 0.01 : f64, beta = 0.75 : f64, bias = 1.0 : f64}",
          tensor("?x19x3x2", "f32", layout), tensor("?x19x3x2", "f32", layout), {1e-6, 2, true});
  }
}

TEST_F(Oracle, Movement) {
  for (const char *type : {"f32", "f64", "f16", "bf16", "i8", "ui16", "i64", "i1"}) {
    unary("cnn.reshape %x", tensor("2x3x4", type), tensor("6x2x2", type));
    unary("cnn.transpose %x {perm = array<i64: 2, 0, 3, 1>}", tensor("2x3x4x5", type),
          tensor("4x2x5x3", type));
    unary("cnn.broadcast %x", tensor("3x1", type), tensor("2x3x4", type));
    unary("cnn.slice %x {starts = array<i64: 1, 6, 0>, steps = array<i64: 1, -3, 2>}",
          tensor("3x7x5", type), tensor("2x3x3", type));
    unary("cnn.relayout %x", tensor("2x19x3x4", type), tensor("2x19x3x4", type, "BLOCKED"));
    unary("cnn.relayout %x", tensor("2x19x3x4", type, "BLOCKED"), tensor("2x19x3x4", type, "nhwc"));
    unary("cnn.relayout %x", tensor("2x19x3x4", type, "nhwc"), tensor("2x19x3x4", type));
    check(formatv(R"(^bb0(%a: {0}, %b: {1}, %c: {0}):
      %y = cnn.concat(%a, %b, %c) {{axis = 1 : i64} : ({0}, {1}, {0}) -> {2}
      plan.yield %y : {2})",
                  tensor("2x3x4", type), tensor("2x1x4", type), tensor("2x7x4", type)));
    for (const char *index : {"i32", "i64"})
      check(formatv(R"(^bb0(%x: {0}, %i: {1}):
        %y = cnn.gather %x, %i {{axis = 1 : i64} : ({0}, {1}) -> {2}
        plan.yield %y : {2})",
                    tensor("2x3x4", type), tensor("5x2", index), tensor("2x5x2x4", type)),
            {0, 1, false, 5}); // some indices are outside
  }
  unary("cnn.reshape %x", tensor("?x3x4", "f32"), tensor("?x2x6", "f32"), {0, 3});
  unary("cnn.reshape %x", tensor("0x3", "f32"), tensor("3x0", "f32"));
  unary("cnn.transpose %x {perm = array<i64: 0, 2, 1>}", tensor("?x3x4", "f32"),
        tensor("?x4x3", "f32"), {0, 3});
  check(formatv(R"(^bb0(%a: {0}, %b: {1}):
    %y = cnn.concat(%a, %b) {{axis = 1 : i64} : ({0}, {1}) -> {2}
    plan.yield %y : {2})",
                tensor("?x19x3x2", "f32", "BLOCKED"), tensor("?x5x3x2", "f32", "BLOCKED"),
                tensor("?x24x3x2", "f32", "BLOCKED")),
        {0, 2});
  check(formatv(R"(^bb0(%x: {0}, %i: {1}):
    %y = cnn.gather %x, %i {{axis = 0 : i64} : ({0}, {1}) -> {2}
    plan.yield %y : {2})",
                tensor("4x3", "f32"), tensor("?x2", "i64"), tensor("?x2x3", "f32")),
        {0, 3});
}

TEST_F(Oracle, Pad) {
  struct Amounts {
    const char *low, *high, *dst;
  };
  for (const char *type : {"f32", "bf16", "i64", "ui8"}) {
    for (auto [low, high, dst] :
         {Amounts{"1, 0, 2", "2, 1, 0", "7x6x5"}, Amounts{"-1, 2, -2", "2, -1, 2", "5x6x3"}})
      for (const char *mode : {"constant", "reflect", "edge", "wrap"})
        unary(formatv("cnn.pad <{0}> %x {{low = array<i64: {1}>, high = array<i64: {2}>}", mode,
                      low, high),
              tensor("4x5x3", type), tensor(dst, type));
    check(formatv(R"(^bb0(%x: {0}, %v: {1}):
      %y = cnn.pad <constant> %x, %v {{low = array<i64: 0, 2>, high = array<i64: 0, 3>}
          : ({0}, {1}) -> {2}
      plan.yield %y : {2})",
                  tensor("?x3", type), tensor("1", type), tensor("?x8", type)),
          {0, 2});
  }
  unary("cnn.pad <wrap> %x {low = array<i64: 7>, high = array<i64: 8>}", tensor("3", "f32"),
        tensor("18", "f32"));
}

TEST_F(Oracle, Resize) {
  struct Scale {
    const char *src, *dst, *scales;
  };
  const Scale scales[] = {
      {"2x3x4x5", "2x3x8x10", "1.0, 1.0, 2.0, 2.0"}, {"2x3x7x9", "2x3x4x5", "1.0, 1.0, 0.6, 0.6"},
      {"2x3x5x4", "2x3x7x4", "1.0, 1.0, 1.5, 1.0"},  {"1x2x6x6", "1x2x2x3", "1.0, 1.0, 0.34, 0.5"},
      {"1x2x3x3", "1x2x1x1", "1.0, 1.0, 0.4, 0.34"},
  };
  auto op = [](const std::string &mode, const std::string &coordinates, const std::string &nearest,
               const std::string &scales, const std::string &rest) {
    return formatv("cnn.resize <{0}> %x {{coordinates = #cnn.coordinates<{1}>, nearest_mode = "
                   "#cnn.nearest_mode<{2}>, scales = array<f64: {3}>, roi = array<f64: 0.0, 0.0, "
                   "0.1, -0.2, 1.0, 1.0, 0.9, 1.1>, cubic_coeff_a = -0.75 : f64, "
                   "extrapolation_value = 7.0 : f64{4}}",
                   mode, coordinates, nearest, scales, rest)
        .str();
  };
  // Weights are products in another order than the evaluator's: the last place of a sum may differ.
  Close close{1e-6};
  // What differs between targets is not in these tables.
  close.allTargets = false;
  for (const char *coordinates :
       {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
        "tf_half_pixel_for_nn", "tf_crop_and_resize"})
    for (auto [src, dst, factors] : scales) {
      for (const char *nearest : {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})
        unary(op("nearest", coordinates, nearest, factors, ""), tensor(src, "i32"),
              tensor(dst, "i32"), {0, 1, false, 3, false});
      for (const char *rest :
           {"", ", exclude_outside", ", antialias", ", exclude_outside, antialias"})
        for (const char *mode : {"linear", "cubic"})
          unary(op(mode, coordinates, "floor", factors, rest), tensor(src, "f32"),
                tensor(dst, "f32"), close);
    }
  for (const char *type : {"ui8", "i8", "i32", "f64", "f16", "bf16"})
    for (const char *mode : {"linear", "cubic"})
      unary(op(mode, "asymmetric", "floor", scales[0].scales, ""), tensor(scales[0].src, type),
            tensor(scales[0].dst, type),
            {type[0] == 'f' || type[0] == 'b' ? 1e-2 : 0, 1, false, 100});
  for (const char *layout : {"nhwc", "BLOCKED"})
    for (const char *mode : {"nearest", "linear"})
      unary(op(mode, "half_pixel", "floor", "1.0, 1.0, 2.0, 2.0", ""),
            tensor("?x19x3x4", "f32", layout), tensor("?x19x6x8", "f32", layout), {1e-6, 2});
}

TEST_F(Oracle, MapTypes) {
  // What conversions, comparisons and arithmetic make of each type.
  for (const char *type : kFloats)
    check(formatv(R"(^bb0(%x: {0}, %y: {1}):
      %z = cnn.map(%x, %y) : ({0}, {1}) -> {0} {{
      ^bb0(%a: {2}, %b: {2}):
        %0 = arith.mulf %a, %b : {2}
        %1 = arith.cmpf olt, %0, %a : {2}
        %2 = arith.select %1, %b, %0 : {2}
        %3 = math.absf %2 : {2}
        %4 = arith.maximumf %3, %a : {2}
        %5 = arith.fptosi %4 : {2} to i32
        %6 = arith.sitofp %5 : i32 to {2}
        %7 = math.floor %6 : {2}
        cnn.yield %7 : {2}
      }
      plan.yield %z : {0})",
                  tensor("5x7", type), tensor("7", type), type),
          {0, 1, true});
  for (auto [from, to] :
       {std::pair{"f64", "f16"}, {"f64", "bf16"}, {"f32", "bf16"}, {"f32", "f16"}, {"f64", "f32"}})
    check(formatv(R"(^bb0(%x: {0}):
      %z = cnn.map(%x) : ({0}) -> {1} {{
      ^bb0(%a: {2}):
        %c = arith.constant 0.3330001 : {2}
        %0 = arith.mulf %a, %c : {2}
        %1 = arith.truncf %0 : {2} to {3}
        cnn.yield %1 : {3}
      }
      plan.yield %z : {1})",
                  tensor("333", from), tensor("333", to), from, to),
          {0, 1, true, 1000});
  for (auto [from, to] :
       {std::pair{"f16", "f64"}, {"bf16", "f64"}, {"bf16", "f32"}, {"f16", "f32"}})
    check(formatv(R"(^bb0(%x: {0}):
      %z = cnn.map(%x) : ({0}) -> {1} {{
      ^bb0(%a: {2}):
        %1 = arith.extf %a : {2} to {3}
        cnn.yield %1 : {3}
      }
      plan.yield %z : {1})",
                  tensor("333", from), tensor("333", to), from, to),
          {0, 1, true, 1000});
}

TEST_F(Oracle, NoElements) {
  for (const char *shape : {"0", "3x0", "0x3", "?x0x2"})
    check(formatv(R"(^bb0(%x: {0}):
      %z = cnn.map(%x) : ({0}) -> {0} {{
      ^bb0(%a: f32):
        %c = arith.constant 1.0 : f32
        %0 = arith.addf %a, %c : f32
        cnn.yield %0 : f32
      }
      plan.yield %z : {0})",
                  tensor(shape, "f32")),
          {0, 2});
}

TEST_F(Oracle, IntegerDivision) {
  // Divisors of 0 and -1 are among the data: nothing may trap. What division by zero gives is
  // open, so it is replaced.
  for (const char *op : {"divsi", "remsi", "floordivsi", "ceildivsi", "divui", "remui"})
    for (const char *type : {"i8", "i32", "i64"})
      check(formatv(R"(^bb0(%x: {0}, %y: {0}):
        %z = cnn.map(%x, %y) : ({0}, {0}) -> {0} {{
        ^bb0(%a: {1}, %b: {1}):
          %zero = arith.constant 0 : {1}
          %0 = arith.{2} %a, %b : {1}
          %1 = arith.cmpi eq, %b, %zero : {1}
          %2 = arith.select %1, %zero, %0 : {1}
          cnn.yield %2 : {1}
        }
        plan.yield %z : {0})",
                    tensor("200", type), type, op),
            {0, 1, false, 9});
}

TEST_F(Oracle, Powers) {
  check(formatv(R"(^bb0(%x: {0}, %y: {0}):
    %z = cnn.map(%x, %y) : ({0}, {0}) -> {0} {{
    ^bb0(%a: f32, %b: f32):
      %0 = math.powf %a, %b : f32
      %1 = arith.remf %a, %b : f32
      %2 = arith.addf %0, %1 : f32
      cnn.yield %2 : f32
    }
    plan.yield %z : {0})",
                tensor("500", "f32")),
        {1e-7, 1, false, 6});
  for (const char *type : {"i8", "i32", "i64"})
    check(formatv(R"(^bb0(%x: {0}, %y: {0}):
      %z = cnn.map(%x, %y) : ({0}, {0}) -> {0} {{
      ^bb0(%a: {1}, %b: {1}):
        %0 = math.ipowi %a, %b : {1}
        cnn.yield %0 : {1}
      }
      plan.yield %z : {0})",
                  tensor("300", type), type),
          {0, 1, false, 5});
}

TEST_F(Oracle, Indexing) {
  // Values go beyond the extents: such picks are clamped and such updates dropped.
  Close close{0, 1, false, 6};
  for (const char *type : {"f32", "f64", "f16", "bf16", "i8", "ui8", "i16", "i64", "ui64", "i1"}) {
    for (const char *index : {"i32", "i64"})
      check(formatv(R"(^bb0(%x: {0}, %i: {1}):
        %y = cnn.gather_elements %x, %i {{axis = 1 : i64} : ({0}, {1}) -> {2}
        plan.yield %y : {2})",
                    tensor("3x5x4", type), tensor("6x1", index), tensor("2x6x4", type)),
            close);
    for (const char *kind : {"set", "add", "mul", "max", "min"})
      check(formatv(R"(^bb0(%x: {0}, %i: {1}, %u: {2}):
        %y = cnn.scatter <{3}> %x, %i, %u {{axis = 1 : i64} : ({0}, {1}, {2}) -> {0}
        plan.yield %y : {0})",
                    tensor("3x5x4", type), tensor("7x1", "i64"), tensor("2x7x4", type), kind),
            close);
  }
  check(formatv(R"(^bb0(%x: {0}, %i: {1}, %u: {1}):
    %y = cnn.scatter <set> %x, %i, %u {{axis = 0 : i64} : ({0}, {1}, {1}) -> {0}
    plan.yield %y : {0})",
                tensor("5", "i64"), tensor("0", "i64")));
  // A free batch.
  close.batch = 3;
  check(formatv(R"(^bb0(%x: {0}, %i: {1}):
    %y = cnn.gather_elements %x, %i {{axis = 1 : i64} : ({0}, {1}) -> {2}
    plan.yield %y : {2})",
                tensor("?x5x2", "f32"), tensor("?x3x2", "i64"), tensor("?x3x2", "f32")),
        close);
  check(formatv(R"(^bb0(%x: {0}, %i: {1}, %u: {2}):
    %y = cnn.scatter <add> %x, %i, %u {{axis = 1 : i64} : ({0}, {1}, {2}) -> {0}
    plan.yield %y : {0})",
                tensor("?x5x2", "f32"), tensor("?x4x1", "i32"), tensor("?x4x2", "f32")),
        close);
}

TEST_F(Oracle, Counted) {
  for (const char *extent : {"0", "1", "100"})
    unary("cnn.true_positions %x", tensor(extent, "i1"), tensor(extent, "i64"));
  // Counts below 0 and beyond the extent are among the data.
  for (const char *type : {"f32", "i8", "i1", "i64"})
    for (const char *axis : {"0", "1", "2"})
      for (int64_t seed : {1, 3, 6})
        check(formatv(R"(^bb0(%x: {0}, %n: {1}):
          %y = cnn.pack %x, %n {{axis = {2} : i64} : ({0}, {1}) -> {0}
          plan.yield %y : {0})",
                      tensor("3x4x5", type), "tensor<i64>", axis),
              {0, 1, false, seed});
  // Boxes of small integers: many touch, contain each other, or have no area.
  for (const char *flags : {"", " {center}"})
    for (const char *eligible : {"1x1x1", "2x3x9"})
      check(formatv(R"(^bb0(%b: {0}, %o: {1}, %e: {2}, %t: tensor<f32>):
        %y = cnn.suppress %b, %o, %e, %t{4} : ({0}, {1}, {2}, tensor<f32>) -> {3}
        plan.yield %y : {3})",
                    tensor("2x9x4", "f32"), tensor("2x3x9", "f32"), tensor(eligible, "i1"),
                    tensor("2x3x6", "i64"), flags),
            {0, 1, true, 8});
  check(formatv(R"(^bb0(%b: {0}, %o: {1}, %e: {2}, %t: tensor<1xf32>, %l: tensor<1xi64>):
    %y = cnn.suppress %b, %o, %e, %t limit %l : ({0}, {1}, {2}, tensor<1xf32>, tensor<1xi64>) -> {3}
    plan.yield %y : {3})",
                tensor("1x20x4", "f32"), tensor("1x2x20", "f32"), tensor("1x1x1", "i1"),
                tensor("1x2x20", "i64")),
        {0, 1, false, 20});
}

TEST_F(Oracle, Ordering) {
  // Few values, so that there are many ties.
  for (const char *type : kNumbers) {
    for (const char *flags : {"", ", least", ", last", ", least, last"}) {
      unary(formatv("cnn.arg_extreme %x {{axis = 1 : i64{0}}", flags), tensor("2x9x3", type),
            tensor("2x3", "i64"));
      unary(formatv("cnn.arg_extreme %x {{axis = 2 : i64, keep_dims{0}}", flags),
            tensor("2x3x9", type), tensor("2x3x1", "i64"));
    }
    for (const char *flags : {"", ", least"})
      for (const char *count : {"1", "2", "5", "19"})
        unary(formatv("cnn.top_k %x {{axis = 1 : i64{0}}", flags), tensor("2x19x3", type),
              tensor(formatv("2x{0}x3", count), "i64"), {0, 1, false, 5});
    for (const char *flags : {"", ", exclusive", ", reverse", ", exclusive, reverse"})
      unary(formatv("cnn.cumulative_sum %x {{axis = 1 : i64{0}}", flags), tensor("2x7x3", type),
            tensor("2x7x3", type));
  }
  unary("cnn.arg_extreme %x {axis = 1 : i64}", tensor("?x6", "f32"), tensor("?", "i64"), {0, 3});
  unary("cnn.top_k %x {axis = 1 : i64}", tensor("?x300", "f32"), tensor("?x100", "i64"),
        {0, 3, true, 1000});
  unary("cnn.top_k %x {axis = 0 : i64}", tensor("5", "f32"), tensor("0", "i64"));
  unary("cnn.cumulative_sum %x {axis = 1 : i64}", tensor("?x6", "f32"), tensor("?x6", "f32"),
        {0, 3});
}

// Positions and corners are random numbers of the size of the source, and beyond it.
TEST_F(Oracle, Sampling) {
  for (const char *padding : {"zeros", "border", "reflection"})
    for (const char *aligned : {"", ", align_corners"}) {
      std::string attributes = formatv("{{padding = #cnn.sample_padding<{0}>{1}}", padding, aligned);
      // Which element is nearest does not depend on rounding: equal in every type.
      for (const char *type : kNumbers)
        check(formatv(R"(^bb0(%x: {0}, %p: {1}):
          %y = cnn.sample <nearest> %x, %p {3} : ({0}, {1}) -> {2}
          plan.yield %y : {2})",
                      tensor("2x3x5x4", type), tensor("2x7x3x2", "f32"), tensor("2x3x7x3", type),
                      attributes),
              {0, 1, false, 7, false});
      // A sum of products in double, in another order, rounded once.
      for (const char *type : kFloats)
        for (const char *mode : {"linear", "cubic"}) {
          double last = type[0] == 'b' ? 4e-3 : type[1] == '1' ? 1e-3 : type[1] == '3' ? 1e-7 : 1e-13;
          Close close{last, 2, true, 7, false};
          check(formatv(R"(^bb0(%x: {0}, %p: {1}):
            %y = cnn.sample <{4}> %x, %p {3} : ({0}, {1}) -> {2}
            plan.yield %y : {2})",
                        tensor("?x3x5x4", type), tensor("?x9x2", "f64"), tensor("?x3x9", type),
                        attributes, mode),
                close);
        }
    }
  check(formatv(R"(^bb0(%x: {0}, %p: {1}):
    %y = cnn.sample <linear> %x, %p {{padding = #cnn.sample_padding<reflection>} : ({0}, {1}) -> {2}
    plan.yield %y : {2})",
                tensor("1x2x3x1x4", "f32"), tensor("1x2x5x3", "f32"), tensor("1x2x2x5", "f32")),
        {1e-7, 1, true, 7, false});
}

TEST_F(Oracle, RoiAlign) {
  for (const char *kind : {"average", "max"})
    for (const char *flags : {"sampling_ratio = 0 : i64", "sampling_ratio = 2 : i64, half_pixel"})
      for (const char *type : {"f32", "f64", "f16"})
        // Sums in double, rounded once.
        check(formatv(R"(^bb0(%x: {0}, %r: {1}, %i: {2}):
          %y = cnn.roi_align <{4}> %x, %r, %i {{bins = array<i64: 2, 3>, spatial_scale = 0.75 : f64, {5}} : ({0}, {1}, {2}) -> {3}
          plan.yield %y : {3})",
                      tensor("3x2x6x7", type), tensor("5x4", type), tensor("5", "i64"),
                      tensor("5x2x2x3", type), kind, flags),
              {type[1] == '1' ? 1e-3 : 1e-6, 1, true, 9, false});
}

} // namespace
