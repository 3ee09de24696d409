// Ops that pick, place and order elements by indices.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/dialects/Cnn/evaluate/EvaluateFixture.h"

using namespace convoy::cnn;

namespace {

const double kNan = std::nan("");
const double kInf = HUGE_VAL;

class IndexTest : public EvaluateTest {
protected:
  // An op with one operand.
  Tensor apply(llvm::StringRef op, llvm::StringRef attributes, const Tensor &src,
               llvm::StringRef resultType) {
    return runOp((op + " %a {axis = 0 : i64" + attributes + "} : (" + show(src) + ") -> " +
                  resultType)
                     .str(),
                 resultType, {src});
  }
};

TEST_F(IndexTest, GathersElements) {
  Tensor src = tensor("tensor<2x3xf32>", {0, 1, 2, 3, 4, 5});
  Tensor indices = tensor("tensor<2x2xi64>", {2, -1, -3, 9}); // 9 is clamped
  expectValues(runOp("cnn.gather_elements %a, %b {axis = 1 : i64} : (" + show(src) + ", " +
                         show(indices) + ") -> tensor<2x2xf32>",
                     "tensor<2x2xf32>", {src, indices}),
               {2, 2, 3, 5});
  // One row of indices for all; the result has fewer rows than src.
  Tensor row = tensor("tensor<2xi32>", {1, 0});
  expectValues(runOp("cnn.gather_elements %a, %b {axis = 1 : i64} : (" + show(src) +
                         ", tensor<2xi32>) -> tensor<1x2xf32>",
                     "tensor<1x2xf32>", {src, row}),
               {1, 0});
}

TEST_F(IndexTest, Scatters) {
  struct Expected {
    const char *kind;
    std::vector<double> values;
  };
  for (llvm::StringRef element : {"f32", "f16", "i8", "i64"})
    for (const Expected &expected :
         {Expected{"set", {7, 2, 3, 9}}, Expected{"add", {17, 2, 3, 13}},
          Expected{"mul", {63, 2, 3, 36}}, Expected{"max", {9, 2, 3, 9}},
          Expected{"min", {1, 2, 3, 4}}}) {
      std::string type = ("tensor<4x" + element + ">").str();
      Tensor src = tensor(type, {1, 2, 3, 4});
      Tensor indices = tensor("tensor<4xi64>", {0, -1, 4, 0}); // 4 is dropped
      Tensor updates = tensor(type, {9, 9, 5, 7});
      expectValues(runOp("cnn.scatter <" + std::string(expected.kind) +
                             "> %a, %b, %c {axis = 0 : i64} : (" + type + ", tensor<4xi64>, " +
                             type + ") -> " + type,
                         type, {src, indices, updates}),
                   expected.values);
    }
}

TEST_F(IndexTest, ScatterExtremesKeepNan) {
  Tensor src = tensor("tensor<2xf32>", {kNan, 1});
  Tensor indices = tensor("tensor<2xi64>", {0, 1}), updates = tensor("tensor<2xf32>", {5, kNan});
  for (const char *kind : {"max", "min"})
    expectValues(runOp("cnn.scatter <" + std::string(kind) +
                           "> %a, %b, %c {axis = 0 : i64} : (tensor<2xf32>, tensor<2xi64>, "
                           "tensor<2xf32>) -> tensor<2xf32>",
                       "tensor<2xf32>", {src, indices, updates}),
                 {kNan, kNan});
}

TEST_F(IndexTest, FindsExtremes) {
  Tensor src = tensor("tensor<5xf32>", {1, 4, -2, 4, -2});
  expectValues(apply("cnn.arg_extreme", "", src, "tensor<i64>"), {1});
  expectValues(apply("cnn.arg_extreme", ", last", src, "tensor<i64>"), {3});
  expectValues(apply("cnn.arg_extreme", ", least", src, "tensor<i64>"), {2});
  expectValues(apply("cnn.arg_extreme", ", keep_dims, last, least", src, "tensor<1xi64>"), {4});
  Tensor bytes = tensor("tensor<3xui8>", {1, 200, 3}); // unsigned
  expectValues(apply("cnn.arg_extreme", "", bytes, "tensor<i64>"), {1});
}

TEST_F(IndexTest, NanIsTheExtreme) {
  Tensor src = tensor("tensor<5xf32>", {kInf, kNan, -kInf, kNan, 0});
  for (const char *flags : {"", ", least"})
    expectValues(apply("cnn.arg_extreme", flags, src, "tensor<i64>"), {1});
  for (const char *flags : {", last", ", least, last"})
    expectValues(apply("cnn.arg_extreme", flags, src, "tensor<i64>"), {3});
}

TEST_F(IndexTest, Orders) {
  Tensor src = tensor("tensor<6xf32>", {2, kNan, 3, 2, kNan, -1});
  expectValues(apply("cnn.top_k", "", src, "tensor<6xi64>"), {1, 4, 2, 0, 3, 5});
  expectValues(apply("cnn.top_k", ", least", src, "tensor<6xi64>"), {5, 0, 3, 2, 1, 4});
  expectValues(apply("cnn.top_k", "", src, "tensor<3xi64>"), {1, 4, 2});
  // Zeros of both signs are equal.
  Tensor zeros = tensor("tensor<3xf32>", {-0.0, 0.0, -0.0});
  expectValues(apply("cnn.top_k", "", zeros, "tensor<3xi64>"), {0, 1, 2});
}

TEST_F(IndexTest, AddsUp) {
  Tensor src = tensor("tensor<3x2xi8>", {100, 1, 100, 2, 3, 3});
  // 100 + 100 wraps.
  expectValues(apply("cnn.cumulative_sum", "", src, "tensor<3x2xi8>"), {100, 1, -56, 3, -53, 6});
  expectValues(apply("cnn.cumulative_sum", ", exclusive", src, "tensor<3x2xi8>"),
               {0, 0, 100, 1, -56, 3});
  expectValues(apply("cnn.cumulative_sum", ", reverse", src, "tensor<3x2xi8>"),
               {-53, 6, 103, 5, 3, 3});
  // Sums are in double: in bf16 1 + 1 + ... would stop at 256.
  Tensor ones = tensor("tensor<400xbf16>", std::vector<double>(400, 1));
  EXPECT_EQ(values(apply("cnn.cumulative_sum", "", ones, "tensor<400xbf16>")).back(), 400);
}

TEST_F(IndexTest, FindsTruePositions) {
  Tensor src = tensor("tensor<5xi1>", {0, 1, 0, 1, 1});
  expectValues(runOp("cnn.true_positions %a : (tensor<5xi1>) -> tensor<5xi64>", "tensor<5xi64>",
                     {src}),
               {1, 3, 4, 0, 0});
}

TEST_F(IndexTest, Packs) {
  Tensor src = tensor("tensor<2x3x2xf32>", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  auto pack = [&](double count) {
    return runOp("cnn.pack %a, %b {axis = 1 : i64} : (tensor<2x3x2xf32>, tensor<i64>) -> "
                 "tensor<2x3x2xf32>",
                 "tensor<2x3x2xf32>", {src, tensor("tensor<i64>", {count})});
  };
  expectValues(pack(1), {1, 2, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0});
  expectValues(pack(2), {1, 2, 3, 4, 7, 8, 9, 10, 0, 0, 0, 0});
  expectValues(pack(-1), std::vector<double>(12, 0));
  expectValues(pack(9), values(src));
}

TEST_F(IndexTest, Suppresses) {
  // 0 and 1 share 2/3 of their union, 1 is given from its other corner; 3 has no area; 2 is apart.
  Tensor boxes = tensor("tensor<1x4x4xf32>", {0, 0, 4, 5, 4, 6, 0, 1, 9, 9, 8, 8, 2, 2, 2, 4});
  std::vector<double> order{0.75, 0.875, -1, 0.5};
  auto suppress = [&](double threshold, std::vector<double> eligible, double limit) {
    return runOp("cnn.suppress %a, %b, %c, %d limit %e : (tensor<1x4x4xf32>, tensor<1x1x4xf32>, "
                 "tensor<1x1x4xi1>, tensor<f32>, tensor<i64>) -> tensor<1x1x4xi64>",
                 "tensor<1x1x4xi64>",
                 {boxes, tensor("tensor<1x1x4xf32>", order), tensor("tensor<1x1x4xi1>", eligible),
                  tensor("tensor<f32>", {threshold}), tensor("tensor<i64>", {limit})});
  };
  expectValues(suppress(0.5, {1, 1, 1, 1}, 4), {1, 3, 2, -1});
  expectValues(suppress(0.7, {1, 1, 1, 1}, 4), {1, 0, 3, 2});
  expectValues(suppress(0.5, {1, 0, 1, 1}, 4), {0, 3, 2, -1});
  expectValues(suppress(0.5, {1, 1, 1, 1}, 1), {1, -1, -1, -1});
  expectValues(suppress(0.5, {1, 1, 1, 1}, -1), {-1, -1, -1, -1});
  // A NaN comes first; of equals, such as both zeros, the lower position.
  order = {0, NAN, -0.0, NAN};
  expectValues(suppress(0.7, {1, 1, 1, 1}, 4), {1, 3, 0, 2});
}

} // namespace
