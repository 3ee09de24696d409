// Ops that move elements.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/dialects/Cnn/evaluate/EvaluateFixture.h"

using namespace convoy::cnn;

namespace {

class MovementTest : public EvaluateTest {
protected:
  std::vector<double> iota(int64_t count) {
    std::vector<double> result(count);
    for (int64_t i = 0; i < count; ++i)
      result[i] = i;
    return result;
  }
  // An op with one operand.
  Tensor move(llvm::StringRef op, llvm::StringRef attributes, const Tensor &src,
              llvm::StringRef resultType) {
    return runOp((op + " %a " + attributes + " : (" + show(src) + ") -> " + resultType).str(),
                 resultType, {src});
  }
};

TEST_F(MovementTest, TransposesEverySize) {
  for (llvm::StringRef element : {"i8", "f16", "f32", "f64", "i1"}) {
    std::vector<double> input = iota(24), expected;
    if (element == "i1")
      for (double &value : input)
        value = int(value) % 5 == 0;
    for (int i = 0; i < 4; ++i) // perm (2, 0, 1) of 2 x 3 x 4
      for (int j = 0; j < 2; ++j)
        for (int k = 0; k < 3; ++k)
          expected.push_back(input[(j * 3 + k) * 4 + i]);
    Tensor src = tensor(("tensor<2x3x4x" + element + ">").str(), input);
    expectValues(move("cnn.transpose", "{perm = array<i64: 2, 0, 1>}", src,
                      ("tensor<4x2x3x" + element + ">").str()),
                 expected);
  }
}

TEST_F(MovementTest, SlicesForwardAndBackward) {
  Tensor src = tensor("tensor<3x4xf32>", iota(12));
  expectValues(move("cnn.slice", "{starts = array<i64: 0, 1>, steps = array<i64: 2, 2>}", src,
                    "tensor<2x2xf32>"),
               {1, 3, 9, 11});
  expectValues(move("cnn.slice", "{starts = array<i64: 2, 3>, steps = array<i64: -1, -3>}", src,
                    "tensor<3x2xf32>"),
               {11, 8, 7, 4, 3, 0});
  expectValues(move("cnn.slice", "{starts = array<i64: 3, 0>, steps = array<i64: 1, 1>}", src,
                    "tensor<0x4xf32>"),
               {});
}

TEST_F(MovementTest, Broadcasts) {
  Tensor src = tensor("tensor<2x1xf32>", {1, 2});
  expectValues(move("cnn.broadcast", "", src, "tensor<2x2x3xf32>"),
               {1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2});
}

TEST_F(MovementTest, Concatenates) {
  Tensor a = tensor("tensor<2x1xf32>", {1, 2}), b = tensor("tensor<2x2xf32>", {3, 4, 5, 6});
  Tensor none = tensor("tensor<2x0xf32>", {});
  expectValues(runOp("cnn.concat(%a, %b, %c) {axis = 1 : i64} : (tensor<2x1xf32>, tensor<2x2xf32>, "
                     "tensor<2x0xf32>) -> tensor<2x3xf32>",
                     "tensor<2x3xf32>", {a, b, none}),
               {1, 3, 4, 2, 5, 6});
}

TEST_F(MovementTest, Pads) {
  Tensor src = tensor("tensor<2x3xf32>", {1, 2, 3, 4, 5, 6});
  const char *pads = "{low = array<i64: 0, 2>, high = array<i64: 1, 1>}";
  expectValues(move("cnn.pad <constant>", pads, src, "tensor<3x6xf32>"),
               {0, 0, 1, 2, 3, 0, 0, 0, 4, 5, 6, 0, 0, 0, 0, 0, 0, 0});
  expectValues(move("cnn.pad <edge>", pads, src, "tensor<3x6xf32>"),
               {1, 1, 1, 2, 3, 3, 4, 4, 4, 5, 6, 6, 4, 4, 4, 5, 6, 6});
  expectValues(move("cnn.pad <reflect>", pads, src, "tensor<3x6xf32>"),
               {3, 2, 1, 2, 3, 2, 6, 5, 4, 5, 6, 5, 3, 2, 1, 2, 3, 2});
  expectValues(move("cnn.pad <wrap>", pads, src, "tensor<3x6xf32>"),
               {2, 3, 1, 2, 3, 1, 5, 6, 4, 5, 6, 4, 2, 3, 1, 2, 3, 1});
  // Crops, and a value of the model's.
  Tensor value = tensor("tensor<f32>", {7});
  expectValues(runOp("cnn.pad <constant> %a, %b {low = array<i64: 1, -1>, high = array<i64: -1, 0>} "
                     ": (tensor<2x3xf32>, tensor<f32>) -> tensor<2x2xf32>",
                     "tensor<2x2xf32>", {src, value}),
               {7, 7, 2, 3});
}

TEST_F(MovementTest, GathersAndClamps) {
  Tensor src = tensor("tensor<2x3xf32>", {1, 2, 3, 4, 5, 6});
  Tensor indices = tensor("tensor<2x2xi64>", {0, -1, 5, -9});
  expectValues(runOp("cnn.gather %a, %b {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x2xi64>) -> "
                     "tensor<2x2x2xf32>",
                     "tensor<2x2x2xf32>", {src, indices}),
               {1, 3, 3, 1, 4, 6, 6, 4});
  Tensor one = tensor("tensor<i32>", {1});
  expectValues(runOp("cnn.gather %a, %b {axis = 0 : i64} : (tensor<2x3xf32>, tensor<i32>) -> "
                     "tensor<3xf32>",
                     "tensor<3xf32>", {src, one}),
               {4, 5, 6});
}

} // namespace
