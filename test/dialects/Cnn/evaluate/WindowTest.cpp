// Convolution, transposed convolution and pooling.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/dialects/Cnn/evaluate/EvaluateFixture.h"

using namespace convoy::cnn;

namespace {

using Ints = std::vector<int64_t>;

// A window op in up to three spatial dimensions; short lists are filled up for the formulas.
struct Case {
  Ints src, wei; // shapes
  Ints strides, pads, dilations;
  int64_t groups = 1;
  Ints outputPadding = {};
};

std::string join(const Ints &values, const char *separator = ", ") {
  std::string text;
  for (int64_t value : values)
    text += (text.empty() ? "" : separator) + std::to_string(value);
  return text;
}
std::string tensorType(const Ints &shape, const char *element = "f32") {
  return "tensor<" + join(shape, "x") + "x" + element + ">";
}
std::string array(const Ints &values) { return "array<i64: " + join(values) + ">"; }

Ints spatial(const Ints &values, int64_t fill) { // as three dimensions
  Ints result(3 - values.size(), fill);
  result.insert(result.end(), values.begin(), values.end());
  return result;
}
Ints tail(const Ints &shape) { return Ints(shape.begin() + 2, shape.end()); }
Ints half(const Ints &pads, bool second) {
  return second ? Ints(pads.begin() + pads.size() / 2, pads.end())
                : Ints(pads.begin(), pads.begin() + pads.size() / 2);
}

class WindowTest : public EvaluateTest {
protected:
  void checkConv(const Case &c, const char *element);
  void checkConvTranspose(const Case &c);
  Tensor pool(llvm::StringRef kind, const Tensor &src, const Ints &kernel, const Ints &strides,
              const Ints &pads, llvm::StringRef flags, llvm::StringRef resultType,
              const Ints &dilations = {});
};

// ONNX's formula, term by term.
void WindowTest::checkConv(const Case &c, const char *element) {
  Ints in = spatial(tail(c.src), 1), k = spatial(tail(c.wei), 1), s = spatial(c.strides, 1);
  Ints d = spatial(c.dilations, 1), low = spatial(half(c.pads, false), 0);
  Ints high = spatial(half(c.pads, true), 0), out(3);
  for (int i = 0; i < 3; ++i)
    out[i] = (in[i] + low[i] + high[i] - (k[i] - 1) * d[i] - 1) / s[i] + 1;
  Ints dst = {c.src[0], c.wei[0]};
  dst.insert(dst.end(), out.end() - (c.src.size() - 2), out.end());
  Tensor src = smallInts(tensorType(c.src, element), 1), wei = smallInts(tensorType(c.wei, element), 2);
  std::vector<double> x = values(src), w = values(wei), expected;
  int64_t icg = c.wei[1], ocg = c.wei[0] / c.groups, ic = c.src[1];
  for (int64_t n = 0; n < c.src[0]; ++n)
    for (int64_t o = 0; o < c.wei[0]; ++o)
      for (int64_t z = 0; z < out[0]; ++z)
        for (int64_t y = 0; y < out[1]; ++y)
          for (int64_t p = 0; p < out[2]; ++p) {
            double sum = 0;
            for (int64_t i = 0; i < icg; ++i)
              for (int64_t kz = 0; kz < k[0]; ++kz)
                for (int64_t ky = 0; ky < k[1]; ++ky)
                  for (int64_t kx = 0; kx < k[2]; ++kx) {
                    int64_t iz = z * s[0] + kz * d[0] - low[0], iy = y * s[1] + ky * d[1] - low[1];
                    int64_t ix = p * s[2] + kx * d[2] - low[2];
                    if (iz < 0 || iz >= in[0] || iy < 0 || iy >= in[1] || ix < 0 || ix >= in[2])
                      continue;
                    int64_t channel = o / ocg * icg + i;
                    sum += x[(((n * ic + channel) * in[0] + iz) * in[1] + iy) * in[2] + ix] *
                           w[(((o * icg + i) * k[0] + kz) * k[1] + ky) * k[2] + kx];
                  }
            expected.push_back(sum);
          }
  std::string result = tensorType(dst, element);
  Tensor actual =
      runOp("cnn.conv %a, %b {strides = " + array(c.strides) + ", pads = " + array(c.pads) +
                ", dilations = " + array(c.dilations) + ", groups = " + std::to_string(c.groups) +
                " : i64} : (" + show(src) + ", " + show(wei) + ") -> " + result + " {\n^bb0(%acc: " +
                element + "):\ncnn.yield %acc : " + element + "\n}",
            result, {src, wei});
  expectValues(actual, expected);
}

TEST_F(WindowTest, ConvFollowsTheFormula) {
  // Small integers, so f32 is exact; f16 and i32 hold these sums too.
  const Case cases[] = {
      {{2, 3, 7, 6}, {4, 3, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}},
      {{1, 2, 9, 8}, {5, 2, 3, 2}, {2, 3}, {0, 2, 1, 0}, {1, 1}},       // asymmetric pads
      {{1, 2, 11, 9}, {3, 2, 3, 3}, {1, 2}, {2, 2, 2, 2}, {2, 3}},      // dilation
      {{1, 6, 5, 5}, {6, 1, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 6},    // depthwise
      {{2, 6, 5, 7}, {4, 3, 1, 1}, {2, 2}, {0, 0, 0, 0}, {1, 1}, 2},    // groups, pointwise
      {{1, 2, 6, 6}, {2, 2, 3, 3}, {1, 1}, {-1, 0, 1, -2}, {1, 1}},     // negative pads crop
      {{1, 2, 4, 4}, {3, 2, 4, 4}, {4, 4}, {0, 0, 0, 0}, {1, 1}},       // kernel as large as src
      {{1, 1, 2, 2}, {1, 1, 1, 1}, {5, 5}, {4, 4, 4, 4}, {1, 1}},       // stride above the kernel
      {{2, 3, 13}, {2, 3, 4}, {3}, {2, 1}, {2}},                        // one dimension
      {{1, 2, 4, 5, 6}, {3, 2, 2, 3, 3}, {1, 2, 1}, {1, 0, 2, 0, 1, 1}, {1, 1, 2}}, // three
      {{1, 1, 40, 40}, {7, 1, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}},     // more than a tile
  };
  for (const Case &c : cases)
    for (const char *element : {"f32", "f16", "f64", "i32"}) {
      SCOPED_TRACE(tensorType(c.src, element) + " with " + tensorType(c.wei, element));
      checkConv(c, element);
    }
}

TEST_F(WindowTest, ConvAccumulatesInDouble) {
  // 2^24 + 1 - 2^24: a sum in f32 loses the one.
  Tensor src = tensor("tensor<1x3x1x1xf32>", {16777216, 1, 16777216});
  Tensor wei = tensor("tensor<1x3x1x1xf32>", {1, 1, -1});
  Tensor bias = tensor("tensor<1x1x1x1xf32>", {0.5});
  Tensor actual = runOp(R"(cnn.conv %a, %b extras(%c) {strides = array<i64: 1, 1>,
      pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64}
      : (tensor<1x3x1x1xf32>, tensor<1x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
      ^bb0(%acc: f32, %bias: f32):
        %0 = arith.addf %acc, %bias : f32
        cnn.yield %0 : f32
      })",
                        "tensor<1x1x1x1xf32>", {src, wei, bias});
  expectValues(actual, {1.5});
}

// Scatters each source element, as the op's description says.
void WindowTest::checkConvTranspose(const Case &c) {
  Ints in = spatial(tail(c.src), 1), k = spatial(tail(c.wei), 1), s = spatial(c.strides, 1);
  Ints d = spatial(c.dilations, 1), low = spatial(half(c.pads, false), 0);
  Ints high = spatial(half(c.pads, true), 0), extra = spatial(c.outputPadding, 0), out(3);
  for (int i = 0; i < 3; ++i)
    out[i] = (in[i] - 1) * s[i] + (k[i] - 1) * d[i] + 1 + extra[i] - low[i] - high[i];
  Ints dst = {c.src[0], c.wei[1] * c.groups};
  dst.insert(dst.end(), out.end() - (c.src.size() - 2), out.end());
  Tensor src = smallInts(tensorType(c.src), 3), wei = smallInts(tensorType(c.wei), 4);
  std::vector<double> x = values(src), w = values(wei);
  std::vector<double> expected(dst[0] * dst[1] * out[0] * out[1] * out[2], 0);
  int64_t icg = c.src[1] / c.groups, ocg = c.wei[1];
  for (int64_t n = 0; n < c.src[0]; ++n)
    for (int64_t i = 0; i < c.src[1]; ++i)
      for (int64_t o = 0; o < ocg; ++o)
        for (int64_t index = 0; index < in[0] * in[1] * in[2]; ++index)
          for (int64_t tap = 0; tap < k[0] * k[1] * k[2]; ++tap) {
            Ints at = {index / (in[1] * in[2]), index / in[2] % in[1], index % in[2]};
            Ints t = {tap / (k[1] * k[2]), tap / k[2] % k[1], tap % k[2]};
            bool isInside = true;
            int64_t place = n * dst[1] + i / icg * ocg + o;
            for (int dim = 0; dim < 3; ++dim) {
              int64_t p = at[dim] * s[dim] + t[dim] * d[dim] - low[dim];
              isInside &= p >= 0 && p < out[dim];
              place = place * out[dim] + p;
            }
            if (isInside)
              expected[place] += x[(n * c.src[1] + i) * in[0] * in[1] * in[2] + index] *
                                 w[(i * ocg + o) * k[0] * k[1] * k[2] + tap];
          }
  std::string result = tensorType(dst);
  Tensor actual = runOp(
      "cnn.conv_transpose %a, %b {strides = " + array(c.strides) + ", pads = " + array(c.pads) +
          ", dilations = " + array(c.dilations) + ", output_padding = " + array(c.outputPadding) +
          ", groups = " + std::to_string(c.groups) + " : i64} : (" + show(src) + ", " + show(wei) +
          ") -> " + result + " {\n^bb0(%acc: f32):\ncnn.yield %acc : f32\n}",
      result, {src, wei});
  expectValues(actual, expected);
}

TEST_F(WindowTest, ConvTransposeFollowsTheFormula) {
  const Case cases[] = {
      {{1, 2, 3, 4}, {2, 3, 3, 3}, {2, 2}, {1, 1, 1, 1}, {1, 1}, 1, {1, 1}},
      {{2, 4, 3, 3}, {4, 2, 2, 3}, {1, 3}, {0, 1, 1, 0}, {2, 1}, 2, {0, 2}},
      {{1, 3, 5}, {3, 2, 4}, {2}, {3, 0}, {1}, 1, {0}},
      {{1, 1, 2, 2}, {1, 1, 2, 2}, {1, 1}, {1, 1, 0, 0}, {3, 3}, 1, {0, 0}},
      {{1, 2, 2, 3, 2}, {2, 2, 2, 2, 2}, {2, 1, 2}, {0, 1, 0, 1, 0, 0}, {1, 1, 1}, 1, {0, 0, 1}},
  };
  for (const Case &c : cases) {
    SCOPED_TRACE(tensorType(c.src) + " with " + tensorType(c.wei));
    checkConvTranspose(c);
  }
}

Tensor WindowTest::pool(llvm::StringRef kind, const Tensor &src, const Ints &kernel,
                        const Ints &strides, const Ints &pads, llvm::StringRef flags,
                        llvm::StringRef resultType, const Ints &dilations) {
  std::string element;
  llvm::raw_string_ostream(element) << getScalarType(src.elementType());
  std::string attributes = " {kernel = " + array(kernel) + ", strides = " + array(strides) +
                           ", pads = " + array(pads) + ", dilations = " +
                           array(dilations.empty() ? Ints(kernel.size(), 1) : dilations) +
                           (flags.empty() ? "" : ", ") + flags.str() + "}";
  std::string types = " : (" + show(src) + ") -> " + resultType.str();
  if (kind == "argmax")
    return runOp("cnn.pool_argmax %a" + attributes + types, resultType, {src});
  return runOp("cnn.pool <" + kind.str() + "> %a" + attributes + types + " {\n^bb0(%acc: " + element +
                   "):\ncnn.yield %acc : " + element + "\n}",
               resultType, {src});
}

TEST_F(WindowTest, AveragePoolDividesByWhatTheTextSays) {
  Tensor src = tensor("tensor<1x1x4x4xf32>", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
  // By the elements inside src.
  expectValues(pool("average", src, {3, 3}, {3, 3}, {1, 1, 1, 1}, "", "tensor<1x1x2x2xf32>"),
               {3.5, 5.5, 11.5, 13.5});
  // Padding counts.
  expectValues(pool("average", src, {3, 3}, {3, 3}, {1, 1, 1, 1}, "count_include_pad",
                    "tensor<1x1x2x2xf32>"),
               {14.f / 9, 22.f / 9, 46.f / 9, 54.f / 9});
  // With ceil_mode the last windows hang over the end, and that part never counts.
  Tensor five = tensor("tensor<1x1x5xf32>", {1, 2, 3, 4, 5});
  expectValues(pool("average", five, {2}, {2}, {0, 0}, "ceil_mode", "tensor<1x1x3xf32>"),
               {1.5, 3.5, 5});
  expectValues(pool("average", five, {3}, {2}, {1, 1}, "ceil_mode, count_include_pad",
                    "tensor<1x1x3xf32>"),
               {1, 3, 3});
  expectValues(pool("average", five, {4}, {3}, {1, 0}, "ceil_mode, count_include_pad",
                    "tensor<1x1x2xf32>"),
               {1.5, 4});
  expectValues(pool("average", five, {4}, {3}, {0, 1}, "ceil_mode, count_include_pad",
                    "tensor<1x1x2xf32>"),
               {2.5, 3}); // 4 and 5 over two elements and one of padding
}

TEST_F(WindowTest, AveragePoolDilates) {
  Tensor five = tensor("tensor<1x1x5xf32>", {1, 2, 3, 4, 5});
  expectValues(pool("average", five, {2}, {1}, {0, 0}, "", "tensor<1x1x3xf32>", {2}), {2, 3, 4});
  // Padding at both ends: taps at -1, 1, 3 and 1, 3, 5.
  expectValues(pool("average", five, {3}, {2}, {1, 1}, "count_include_pad", "tensor<1x1x2xf32>", {2}),
               {2, 2});
  expectValues(pool("average", five, {3}, {2}, {1, 1}, "", "tensor<1x1x2xf32>", {2}), {3, 3});
}

TEST_F(WindowTest, MaxPoolKeepsNaNAndNegatives) {
  Tensor src = tensor("tensor<1x1x2x4xf32>", {-1, -2, kNaN, 3, -3, -4, 5, 6});
  expectValues(pool("max", src, {2, 2}, {2, 2}, {0, 0, 0, 0}, "", "tensor<1x1x1x2xf32>"), {-1, kNaN});
  // Padding is no element: a window of negatives stays negative.
  expectValues(pool("max", src, {2, 2}, {2, 2}, {1, 0, 1, 0}, "", "tensor<1x1x2x2xf32>"),
               {-1, kNaN, -3, 6});
  Tensor bytes = tensor("tensor<1x1x3xui8>", {5, 200, 7});
  expectValues(pool("max", bytes, {2}, {1}, {0, 0}, "", "tensor<1x1x2xui8>"), {200, 200});
  Tensor chars = tensor("tensor<1x1x3xi8>", {-5, -100, -7});
  expectValues(pool("max", chars, {2}, {1}, {0, 0}, "", "tensor<1x1x2xi8>"), {-5, -7});
}

TEST_F(WindowTest, MaxPoolDilatesAndCeils) {
  Tensor src = tensor("tensor<1x1x4x4xf32>", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
  expectValues(pool("max", src, {2, 2}, {1, 1}, {0, 0, 0, 0}, "", "tensor<1x1x2x2xf32>", {2, 2}),
               {11, 12, 15, 16});
  expectValues(pool("max", src, {3, 3}, {2, 2}, {0, 0, 0, 0}, "ceil_mode", "tensor<1x1x2x2xf32>"),
               {11, 12, 15, 16});
}

TEST_F(WindowTest, ArgmaxCountsFlattened) {
  Tensor src = tensor("tensor<1x2x2x3xf32>", {1, 5, 5, 2, 0, 9, 3, 3, kNaN, 3, kNaN, 3});
  // The first of equals, and the first NaN.
  expectValues(pool("argmax", src, {2, 2}, {1, 1}, {0, 0, 0, 0}, "", "tensor<1x2x1x2xi64>"),
               {1, 5, 10, 8});
  expectValues(pool("argmax", src, {2, 2}, {1, 1}, {0, 0, 0, 0}, "column_major",
                    "tensor<1x2x1x2xi64>"),
               {2, 5, 9, 10});
  // Of three dimensions the first one is innermost.
  Tensor cube = tensor("tensor<1x1x2x2x2xf32>", {1, 2, 3, 4, 5, 6, 7, 8});
  expectValues(pool("argmax", cube, {1, 1, 1}, {1, 1, 1}, {0, 0, 0, 0, 0, 0}, "column_major",
                    "tensor<1x1x2x2x2xi64>"),
               {0, 4, 2, 6, 1, 5, 3, 7});
}

} // namespace
