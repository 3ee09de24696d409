// Matrix products, reductions and normalizations.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/dialects/Cnn/evaluate/EvaluateFixture.h"

using namespace convoy::cnn;

namespace {

class ReduceTest : public EvaluateTest {
protected:
  Tensor reduce(llvm::StringRef kind, const Tensor &src, llvm::StringRef axes, llvm::StringRef flags,
                llvm::StringRef resultType) {
    std::string element;
    llvm::raw_string_ostream(element) << getScalarType(src.elementType());
    return runOp(("cnn.reduce <" + kind + "> %a {axes = array<i64" + axes + ">" + flags + "} : (" +
                  show(src) + ") -> " + resultType + " {\n^bb0(%acc: " + element +
                  "):\ncnn.yield %acc : " + element + "\n}")
                     .str(),
                 resultType, {src});
  }
};

TEST_F(ReduceTest, MatmulTransposesAndBroadcasts) {
  // Batches 2 x 1 and 3, m = 3, k = 5, n = 4, in all four orientations.
  Tensor lhs = smallInts("tensor<2x1x3x5xf32>", 5), rhs = smallInts("tensor<3x5x4xf32>", 6);
  std::vector<double> a = values(lhs), b = values(rhs), expected;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int m = 0; m < 3; ++m)
        for (int n = 0; n < 4; ++n) {
          double sum = 0;
          for (int k = 0; k < 5; ++k)
            sum += a[(i * 3 + m) * 5 + k] * b[(j * 5 + k) * 4 + n];
          expected.push_back(sum);
        }
  auto swap = [&](const Tensor &tensor, llvm::StringRef perm, llvm::StringRef resultType) {
    return runOp(("cnn.transpose %a {perm = array<i64: " + perm + ">} : (" + show(tensor) +
                  ") -> " + resultType)
                     .str(),
                 resultType, {tensor});
  };
  for (bool transposeLhs : {false, true})
    for (bool transposeRhs : {false, true}) {
      Tensor x = transposeLhs ? swap(lhs, "0, 1, 3, 2", "tensor<2x1x5x3xf32>") : lhs;
      Tensor y = transposeRhs ? swap(rhs, "0, 2, 1", "tensor<3x4x5xf32>") : rhs;
      std::string flags = std::string(transposeLhs ? "transpose_lhs" : "") +
                          (transposeLhs && transposeRhs ? ", " : "") +
                          (transposeRhs ? "transpose_rhs" : "");
      SCOPED_TRACE(flags);
      expectValues(runOp("cnn.matmul %a, %b {" + flags + "} : (" + show(x) + ", " + show(y) +
                             ") -> tensor<2x3x3x4xf32> {\n^bb0(%acc: f32):\ncnn.yield %acc : f32\n}",
                         "tensor<2x3x3x4xf32>", {x, y}),
                   expected);
    }
}

TEST_F(ReduceTest, ReducesAnyAxes) {
  Tensor src = tensor("tensor<2x3x2xf32>", {1, 2, 3, 4, 5, 6, -1, -2, -3, -4, -5, 6});
  expectValues(reduce("sum", src, ": 1", "", "tensor<2x2xf32>"), {9, 12, -9, 0});
  expectValues(reduce("sum", src, ": 0, 2", ", keep_dims", "tensor<1x3x1xf32>"), {0, 0, 12});
  expectValues(reduce("mean", src, ": 0, 1, 2", "", "tensor<f32>"), {1});
  expectValues(reduce("max", src, ": 2", "", "tensor<2x3xf32>"), {2, 4, 6, -1, -3, 6});
  expectValues(reduce("min", src, ": 1, 2", "", "tensor<2xf32>"), {1, -5});
  expectValues(reduce("prod", src, ": 0", "", "tensor<3x2xf32>"), {-1, -4, -9, -16, -25, 36});
  expectValues(reduce("sum", src, "", "", "tensor<2x3x2xf32>"), values(src));
}

TEST_F(ReduceTest, ReducesNaNAndNothing) {
  Tensor src = tensor("tensor<3xf32>", {1, kNaN, 3});
  expectValues(reduce("max", src, ": 0", "", "tensor<f32>"), {kNaN});
  expectValues(reduce("min", src, ": 0", "", "tensor<f32>"), {kNaN});
  Tensor none = tensor("tensor<0x2xf32>", {});
  expectValues(reduce("sum", none, ": 0", "", "tensor<2xf32>"), {0, 0});
  expectValues(reduce("prod", none, ": 0", "", "tensor<2xf32>"), {1, 1});
  expectValues(reduce("max", none, ": 0", "", "tensor<2xf32>"), {-kInf, -kInf});
  expectValues(reduce("min", none, ": 0", "", "tensor<2xf32>"), {kInf, kInf});
  Tensor bytes = tensor("tensor<0xi8>", {}), unsignedBytes = tensor("tensor<0xui8>", {});
  expectValues(reduce("max", bytes, ": 0", "", "tensor<i8>"), {-128});
  expectValues(reduce("min", unsignedBytes, ": 0", "", "tensor<ui8>"), {255});
}

TEST_F(ReduceTest, ReducesUnsignedElements) {
  Tensor bytes = tensor("tensor<3xui8>", {200, 3, 100});
  expectValues(reduce("max", bytes, ": 0", "", "tensor<ui8>"), {200});
  expectValues(reduce("min", bytes, ": 0", "", "tensor<ui8>"), {3});
  Tensor wide = tensor("tensor<2xui64>", {1, 2});
  reinterpret_cast<uint64_t *>(wide.mutableData())[0] = ~uint64_t(0);
  Tensor largest = reduce("max", wide, ": 0", "", "tensor<ui64>");
  EXPECT_EQ(largest.as<uint64_t>()[0], ~uint64_t(0));
}

TEST_F(ReduceTest, Softmax) {
  Tensor src = tensor("tensor<2x3x1xf32>", {1, 2, 3, 1000, 1001, 1002});
  // exp(-2), exp(-1), 1 over their sum, however large the elements are.
  double sum = std::exp(-2) + std::exp(-1) + 1;
  std::vector<double> expected, logs;
  for (int i = 0; i < 6; ++i) {
    expected.push_back(float(std::exp(i % 3 - 2) / sum));
    logs.push_back(i % 3 - 2 - std::log(sum));
  }
  auto softmax = [&](llvm::StringRef attributes) {
    return runOp(("cnn.softmax %a {" + attributes + "} : (" + show(src) + ") -> " + show(src)).str(),
                 show(src), {src});
  };
  expectValues(softmax("axis = 1 : i64"), expected);
  // One rounding to f32 of values below 4.
  expectValues(softmax("axis = 1 : i64, log"), logs, std::ldexp(1, -23));
  expectValues(softmax("axis = 2 : i64"), {1, 1, 1, 1, 1, 1});
}

TEST_F(ReduceTest, Lrn) {
  // size 4: one channel before, two after.
  Tensor src = tensor("tensor<1x4x1xf32>", {1, 2, 3, 4});
  Tensor actual = runOp("cnn.lrn %a {size = 4 : i64, alpha = 4.0 : f64, beta = 1.0 : f64, bias = 1.0 "
                        ": f64} : (tensor<1x4x1xf32>) -> tensor<1x4x1xf32>",
                        "tensor<1x4x1xf32>", {src});
  expectValues(actual, {1.f / 15, 2.f / 31, 3.f / 30, 4.f / 26});
}

TEST_F(ReduceTest, BatchNorm) {
  Tensor src = tensor("tensor<1x2x2xf32>", {1, 2, 3, 4});
  Tensor scale = tensor("tensor<2xf32>", {2, 3}), bias = tensor("tensor<2xf32>", {10, 20});
  Tensor mean = tensor("tensor<2xf32>", {1, 2}), variance = tensor("tensor<2xf32>", {3, 15});
  Tensor actual =
      runOp("cnn.batch_norm %a, %b, %c, %d, %e {epsilon = 1.0 : f64} : (tensor<1x2x2xf32>, "
            "tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x2xf32>",
            "tensor<1x2x2xf32>", {src, scale, bias, mean, variance});
  expectValues(actual, {10, 11, 20.75, 21.5});
}

} // namespace
