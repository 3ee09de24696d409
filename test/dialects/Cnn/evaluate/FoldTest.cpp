// Folding of constants, and the memory that it gives back.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/dialects/Cnn/evaluate/EvaluateFixture.h"

#include "dialects/Cnn/Evaluate/Fold.h"

#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace convoy::cnn;

namespace {

class FoldTest : public EvaluateTest {
protected:
  mlir::func::FuncOp parse(llvm::StringRef text) {
    modules.push_back(mlir::parseSourceString<mlir::ModuleOp>(text, &context));
    EXPECT_TRUE(modules.back()) << errors;
    return *modules.back()->getOps<mlir::func::FuncOp>().begin();
  }
  void fold(mlir::func::FuncOp function, FoldLimits limits = {}) {
    mlir::FailureOr<FoldStatistics> result = foldConstants(function, limits);
    ASSERT_TRUE(succeeded(result)) << errors;
    statistics = *result;
    EXPECT_TRUE(succeeded(mlir::verify(function))) << errors;
  }
  static mlir::Value returned(mlir::func::FuncOp function, unsigned i = 0) {
    return function.front().getTerminator()->getOperand(i);
  }
  // Bytes of all resources of the context.
  int64_t resourceBytes() {
    int64_t bytes = 0;
    auto &interface = mlir::DenseResourceElementsHandle::getManagerInterface(&context);
    interface.getBlobManager().getBlobMap([&](const auto &map) {
      for (const auto &entry : map)
        if (const mlir::AsmResourceBlob *blob = entry.second.getBlob())
          bytes += blob->getData().size();
    });
    return bytes;
  }
  FoldStatistics statistics;
};

TEST_F(FoldTest, FoldsAChain) {
  auto function = parse(R"(
    func.func @f(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
      %c = cnn.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> -> tensor<2x2xf32>
      %t = cnn.transpose %c {perm = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
      %r = cnn.reshape %t : (tensor<2x2xf32>) -> tensor<4xf32>
      %s = cnn.slice %r {starts = array<i64: 3>, steps = array<i64: -1>} : (tensor<4xf32>) -> tensor<4xf32>
      %u = cnn.reshape %s : (tensor<4xf32>) -> tensor<2x2xf32>
      %dead = cnn.map(%x, %u) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> {
      ^bb0(%a: f32, %b: f32):
        cnn.yield %a : f32
      }
      return %u : tensor<2x2xf32>
    })");
  fold(function);
  mlir::Value result = returned(function);
  ASSERT_TRUE(getConstant(result));
  expectValues(Tensor::fromConstant(type("tensor<2x2xf32>"), getConstant(result)), {4, 2, 3, 1});
  EXPECT_EQ(std::distance(function.front().begin(), function.front().end()), 2);
  EXPECT_EQ(statistics.numFolded, 4);
  EXPECT_EQ(statistics.numDead, 1);
}

TEST_F(FoldTest, ForwardsWhatDoesNothing) {
  auto function = parse(R"(
    func.func @f(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
      %0 = cnn.reshape %x : (tensor<?x4xf32>) -> tensor<?x2x2xf32>
      %1 = cnn.reshape %0 : (tensor<?x2x2xf32>) -> tensor<?x4xf32>
      %2 = cnn.slice %1 {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>}
          : (tensor<?x4xf32>) -> tensor<?x4xf32>
      return %2 : tensor<?x4xf32>
    })");
  fold(function);
  EXPECT_EQ(returned(function), function.getArgument(0));
  EXPECT_EQ(function.front().getOperations().size(), 1u);
}

TEST_F(FoldTest, KeepsSplatsSmall) {
  // A gigabyte if it were spelled out.
  auto function = parse(R"(
    func.func @f() -> tensor<1024x1024x256xf32> {
      %c = cnn.constant dense<3.0> : tensor<f32> -> tensor<f32>
      %d = cnn.constant dense<4.0> : tensor<256xf32> -> tensor<256xf32>
      %b = cnn.broadcast %c : (tensor<f32>) -> tensor<1024x256x1024xf32>
      %t = cnn.transpose %b {perm = array<i64: 0, 2, 1>} : (tensor<1024x256x1024xf32>) -> tensor<1024x1024x256xf32>
      %m = cnn.map(%t, %d) : (tensor<1024x1024x256xf32>, tensor<256xf32>) -> tensor<1024x1024x256xf32> {
      ^bb0(%x: f32, %y: f32):
        %0 = arith.mulf %x, %y : f32
        cnn.yield %0 : f32
      }
      return %m : tensor<1024x1024x256xf32>
    })");
  fold(function);
  auto constant = llvm::dyn_cast_or_null<mlir::DenseElementsAttr>(getConstant(returned(function)));
  ASSERT_TRUE(constant && constant.isSplat());
  EXPECT_EQ(constant.getSplatValue<float>(), 12.0f);
}

TEST_F(FoldTest, DoesNotBlowUp) {
  const char *text = R"(
    func.func @f() -> (tensor<512x2xf32>, tensor<2xf32>) {
      %c = cnn.constant dense<[1.0, 2.0]> : tensor<2xf32> -> tensor<2xf32>
      %b = cnn.broadcast %c : (tensor<2xf32>) -> tensor<512x2xf32>
      %s = cnn.slice %c {starts = array<i64: 1>, steps = array<i64: -1>} : (tensor<2xf32>) -> tensor<2xf32>
      return %b, %s : tensor<512x2xf32>, tensor<2xf32>
    })";
  FoldLimits limits;
  limits.resultBytes = 4095;
  auto function = parse(text);
  fold(function, limits);
  EXPECT_FALSE(getConstant(returned(function, 0)));
  EXPECT_TRUE(getConstant(returned(function, 1))); // no larger than its operand
  limits.resultBytes = 4096;
  function = parse(text);
  fold(function, limits);
  EXPECT_TRUE(getConstant(returned(function, 0)));
}

TEST_F(FoldTest, ReleasesWhatItReplaces) {
  // A resource of 64 KiB goes through four ops; one copy is left, under the last shape.
  auto function = parse(R"(
    func.func @f() -> tensor<64x256xf32> {
      %c = cnn.constant dense<0.0> : tensor<128x128xf32> -> tensor<128x128xf32>
      %t = cnn.transpose %c {perm = array<i64: 1, 0>} : (tensor<128x128xf32>) -> tensor<128x128xf32>
      %m = cnn.map(%t) : (tensor<128x128xf32>) -> tensor<128x128xf32> {
      ^bb0(%x: f32):
        %0 = arith.negf %x : f32
        cnn.yield %0 : f32
      }
      %s = cnn.slice %m {starts = array<i64: 127, 0>, steps = array<i64: -1, 1>}
          : (tensor<128x128xf32>) -> tensor<128x128xf32>
      %r = cnn.reshape %s : (tensor<128x128xf32>) -> tensor<64x256xf32>
      return %r : tensor<64x256xf32>
    })");
  Tensor source = smallInts("tensor<128x128xf32>", 9);
  std::vector<double> input = values(source), expected;
  for (int i = 0; i < 128; ++i)
    for (int j = 0; j < 128; ++j)
      expected.push_back(-input[j * 128 + 127 - i]);
  auto constant = llvm::cast<ConstantOp>(function.front().front());
  constant.setValueAttr(source.toConstant(source.type()));
  EXPECT_EQ(resourceBytes(), 65536);
  source = Tensor();
  fold(function);
  EXPECT_EQ(resourceBytes(), 65536);
  ASSERT_TRUE(getConstant(returned(function)));
  expectValues(Tensor::fromConstant(type("tensor<64x256xf32>"), getConstant(returned(function))),
               expected);
}

TEST_F(FoldTest, KeepsWhatOthersUse) {
  // Both functions have the same resource; folding one must not take it from the other.
  auto function = parse(R"(
    func.func @f() -> tensor<128x128xf32> {
      %c = cnn.constant dense<0.0> : tensor<128x128xf32> -> tensor<128x128xf32>
      %t = cnn.transpose %c {perm = array<i64: 1, 0>} : (tensor<128x128xf32>) -> tensor<128x128xf32>
      return %t : tensor<128x128xf32>
    }
    func.func @g() -> tensor<128x128xf32> {
      %c = cnn.constant dense<0.0> : tensor<128x128xf32> -> tensor<128x128xf32>
      return %c : tensor<128x128xf32>
    })");
  auto other = llvm::cast<mlir::func::FuncOp>(function->getNextNode());
  Tensor source = smallInts("tensor<128x128xf32>", 9);
  mlir::ElementsAttr shared = source.toConstant(source.type());
  llvm::cast<ConstantOp>(function.front().front()).setValueAttr(shared);
  llvm::cast<ConstantOp>(other.front().front()).setValueAttr(shared);
  fold(function);
  EXPECT_EQ(resourceBytes(), 2 * 65536);
  expectValues(Tensor::fromConstant(source.type(), getConstant(returned(other))), values(source));
}

} // namespace
