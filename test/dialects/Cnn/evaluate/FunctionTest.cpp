// Functions: constants and their layouts, the free batch, errors.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/dialects/Cnn/evaluate/EvaluateFixture.h"

using namespace convoy::cnn;

namespace {

class FunctionTest : public EvaluateTest {};

TEST_F(FunctionTest, UnpacksConstants) {
  // Blocks of 2 of 3 channels: the last lane holds what nobody reads.
  llvm::SmallVector<Tensor> results = run(R"(
    func.func @f() -> (tensor<1x3x1x2xf32, #cnn.layout<"nchw2c">>, tensor<2x2xi1>, tensor<2xf32>,
                       tensor<1x2x1x2xf32, #cnn.layout<"nhwc">>) {
      %0 = cnn.constant dense<[[[[[1.0, 3.0], [2.0, 4.0]]], [[[5.0, 99.0], [6.0, 99.0]]]]]>
          : tensor<1x2x1x2x2xf32> -> tensor<1x3x1x2xf32, #cnn.layout<"nchw2c">>
      %1 = cnn.constant dense<[[true, false], [false, true]]> : tensor<2x2xi1> -> tensor<2x2xi1>
      %2 = cnn.constant dense<7.0> : tensor<2xf32> -> tensor<2xf32>
      %3 = cnn.constant dense<[[[[1.0, 3.0], [2.0, 4.0]]]]> : tensor<1x1x2x2xf32>
          -> tensor<1x2x1x2xf32, #cnn.layout<"nhwc">>
      return %0, %1, %2, %3 : tensor<1x3x1x2xf32, #cnn.layout<"nchw2c">>, tensor<2x2xi1>,
          tensor<2xf32>, tensor<1x2x1x2xf32, #cnn.layout<"nhwc">>
    })",
                                          {});
  ASSERT_EQ(results.size(), 4u) << errors;
  expectValues(results[0], {1, 2, 3, 4, 5, 6});
  expectValues(results[1], {1, 0, 0, 1});
  expectValues(results[2], {7, 7});
  expectValues(results[3], {1, 2, 3, 4});
}

TEST_F(FunctionTest, PacksConstants) {
  Tensor src = tensor("tensor<1x3x1x2xf32>", {1, 2, 3, 4, 5, 6});
  auto packed = type("tensor<1x3x1x2xf32, #cnn.layout<\"nchw2c\">>");
  mlir::ElementsAttr constant = src.toConstant(packed);
  ConstantData data(constant);
  EXPECT_EQ(llvm::ArrayRef<float>(reinterpret_cast<const float *>(data.bytes().data()), 8),
            llvm::ArrayRef<float>({1, 3, 2, 4, 5, 0, 6, 0}));
  expectValues(Tensor::fromConstant(packed, constant), values(src));
}

TEST_F(FunctionTest, TakesTheBatchFromItsInputs) {
  // Layouts and relayouts do not change values. The batch of %2 is in no operand.
  const char *text = R"(
    func.func @f(%a: tensor<?x2xf32>) -> (tensor<?x2xf32>, tensor<?x1x2xf32>, tensor<?x2xf32>) {
      %0 = cnn.map(%a) : (tensor<?x2xf32>) -> tensor<?x2xf32> {
      ^bb0(%x: f32):
        %n = arith.negf %x : f32
        cnn.yield %n : f32
      }
      %1 = cnn.reshape %0 : (tensor<?x2xf32>) -> tensor<?x1x2xf32>
      %c = cnn.constant dense<[[8.0, 9.0]]> : tensor<1x2xf32> -> tensor<1x2xf32>
      %2 = cnn.broadcast %c : (tensor<1x2xf32>) -> tensor<?x2xf32>
      return %0, %1, %2 : tensor<?x2xf32>, tensor<?x1x2xf32>, tensor<?x2xf32>
    })";
  int numOps = 0;
  llvm::SmallVector<Tensor> results =
      run(text, {tensor("tensor<3x2xf32>", {1, 2, 3, 4, 5, 6})},
          [&](mlir::Operation *, llvm::ArrayRef<Tensor> tensors) {
            ++numOps;
            EXPECT_EQ(tensors.size(), 1u);
          });
  ASSERT_EQ(results.size(), 3u) << errors;
  EXPECT_EQ(numOps, 4);
  expectValues(results[0], {-1, -2, -3, -4, -5, -6});
  EXPECT_EQ(show(results[1]), "tensor<3x1x2xf32>");
  expectValues(results[2], {8, 9, 8, 9, 8, 9});
}

TEST_F(FunctionTest, RejectsInputsOfAnotherType) {
  const char *text = R"(
    func.func @f(%a: tensor<?x2xf32>, %b: tensor<?x2xf32>) -> tensor<?x2xf32> {
      return %a : tensor<?x2xf32>
    })";
  Tensor three = tensor("tensor<3x2xf32>", {1, 2, 3, 4, 5, 6});
  EXPECT_TRUE(run(text, {three}).empty());
  EXPECT_NE(errors.find("has 2 arguments, but 1 values were given"), std::string::npos) << errors;
  EXPECT_TRUE(run(text, {three, tensor("tensor<2x2xf32>", {1, 2, 3, 4})}).empty());
  EXPECT_NE(errors.find("argument 1 has type 'tensor<2x2xf32>', expected 'tensor<3x2xf32>'"),
            std::string::npos)
      << errors;
  EXPECT_TRUE(run(text, {three, tensor("tensor<3x2xi32>", {1, 2, 3, 4, 5, 6})}).empty());
}

TEST_F(FunctionTest, RejectsConstantsWithoutData) {
  const char *text = R"(
    func.func @f() -> tensor<2xf32> {
      %0 = cnn.constant dense_resource<missing> : tensor<2xf32> -> tensor<2xf32>
      return %0 : tensor<2xf32>
    })";
  EXPECT_TRUE(run(text, {}).empty());
  EXPECT_NE(errors.find("has 0 bytes, expected 8"), std::string::npos) << errors;
}

} // namespace
