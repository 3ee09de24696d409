// The reference loops against values worked out by hand or by plain loops of another make.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/numerics/HostKernel.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace convoy;
using namespace convoy::test;

namespace {

/// Runs one kernel with the strategy `reference` on arrays of its element types.
class Reference : public ::testing::Test {
protected:
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  std::unique_ptr<HostKernels> kernels;

  void compile(llvm::StringRef body, llvm::StringRef target = "x86-reference") {
    std::string text = "plan.kernel @k strategy \"reference\" {\n" + body.str() + "\n}\n";
    mlir::OwningOpRef<mlir::ModuleOp> module = parse(*context, text);
    ASSERT_TRUE(module);
    std::unique_ptr<Target> machine = createTarget(target);
    kernels = HostKernels::compile(*machine, *module);
    ASSERT_TRUE(kernels);
  }
  template <typename Dst, typename... Src>
  std::vector<Dst> run(size_t size, int64_t batch, std::vector<Src>... inputs) {
    std::vector<Dst> dst(size);
    kernels->run("k", {inputs.data()..., dst.data()}, batch);
    return dst;
  }
};

using Floats = std::vector<float>;

TEST_F(Reference, MapBroadcasts) {
  compile(R"(^bb0(%x: tensor<?x2x2xf32>, %b: tensor<2x1xf32>):
    %y = cnn.map(%x, %b) : (tensor<?x2x2xf32>, tensor<2x1xf32>) -> tensor<?x2x2xf32> {
    ^bb0(%e: f32, %f: f32):
      %0 = arith.addf %e, %f : f32
      cnn.yield %0 : f32
    }
    plan.yield %y : tensor<?x2x2xf32>)");
  EXPECT_EQ(run<float>(8, 2, Floats{1, 2, 3, 4, 5, 6, 7, 8}, Floats{10, 20}),
            (Floats{11, 12, 23, 24, 15, 16, 27, 28}));
}

TEST_F(Reference, ConvolutionWithPadsStridesDilationsGroups) {
  compile(R"(^bb0(%x: tensor<?x4x6x5xf32>, %w: tensor<6x2x3x2xf32>, %b: tensor<1x6x1x1xf32>):
    %y = cnn.conv %x, %w extras(%b) {strides = array<i64: 2, 1>, pads = array<i64: 1, 2, 2, 1>,
        dilations = array<i64: 1, 2>, groups = 2 : i64}
        : (tensor<?x4x6x5xf32>, tensor<6x2x3x2xf32>, tensor<1x6x1x1xf32>)
        -> tensor<?x6x4x6xf32, #cnn.layout<"nhwc">> {
    ^bb0(%acc: f32, %bias: f32):
      %0 = arith.addf %acc, %bias : f32
      cnn.yield %0 : f32
    }
    plan.yield %y : tensor<?x6x4x6xf32, #cnn.layout<"nhwc">>)");
  Floats src(2 * 4 * 6 * 5), wei(6 * 2 * 3 * 2), bias{1, 2, 3, 4, 5, 6};
  for (size_t i = 0; i < src.size(); ++i)
    src[i] = static_cast<float>(i * 7 % 11) - 5;
  for (size_t i = 0; i < wei.size(); ++i)
    wei[i] = static_cast<float>(i * 5 % 7) - 3;
  Floats expected(2 * 6 * 4 * 6);
  for (int n = 0; n < 2; ++n)
    for (int oc = 0; oc < 6; ++oc)
      for (int oh = 0; oh < 4; ++oh)
        for (int ow = 0; ow < 6; ++ow) {
          float sum = bias[oc];
          for (int i = 0; i < 2; ++i)
            for (int kh = 0; kh < 3; ++kh)
              for (int kw = 0; kw < 2; ++kw) {
                int ih = oh * 2 + kh - 1, iw = ow + 2 * kw - 2;
                if (ih < 0 || ih >= 6 || iw < 0 || iw >= 5)
                  continue;
                int ic = oc / 3 * 2 + i;
                sum +=
                    src[((n * 4 + ic) * 6 + ih) * 5 + iw] * wei[((oc * 2 + i) * 3 + kh) * 2 + kw];
              }
          expected[((n * 4 + oh) * 6 + ow) * 6 + oc] = sum;
        }
  EXPECT_EQ(run<float>(expected.size(), 2, src, wei, bias), expected);
}

TEST_F(Reference, MaxPoolPassesNan) {
  compile(R"(^bb0(%x: tensor<1x1x5xf32>):
    %y = cnn.pool <max> %x {kernel = array<i64: 2>, strides = array<i64: 2>,
        pads = array<i64: 0, 1>, dilations = array<i64: 1>}
        : (tensor<1x1x5xf32>) -> tensor<1x1x3xf32> {
    ^bb0(%acc: f32):
      cnn.yield %acc : f32
    }
    plan.yield %y : tensor<1x1x3xf32>)");
  Floats dst = run<float>(3, 1, Floats{1, 2, NAN, 3, -4});
  EXPECT_EQ(dst[0], 2);
  EXPECT_TRUE(std::isnan(dst[1]));
  EXPECT_EQ(dst[2], -4);
}

} // namespace
