// Sampling against the interpolation of ONNX's reference implementation (onnx 1.23) in double.
// Sources are ((7 i) mod 11) - 3, positions and corners are dyadic: results are exact.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/dialects/Cnn/evaluate/EvaluateFixture.h"

using namespace convoy::cnn;

namespace {

struct Case {
  const char *mode, *padding;
  bool alignCorners;
  std::vector<double> expected;
};

// At (0.5, 0.25), (-0.75, 2.5), (3.25, -1.5), (5.5, 7.25), (2.5, 0.5), (-6.25, 1) of 3 x 4.
const Case cases[] = {
    {"nearest", "zeros", false,
     {-3.0, 0.0, 0.0, 0.0, 0.0, 0.0}},
    {"nearest", "zeros", true,
     {-3.0, 0.0, 0.0, 0.0, 0.0, 0.0}},
    {"nearest", "border", false,
     {-3.0, -2.0, 7.0, -3.0, 0.0, 3.0}},
    {"nearest", "border", true,
     {-3.0, -2.0, 7.0, -3.0, 0.0, 3.0}},
    {"nearest", "reflection", false,
     {-3.0, -2.0, 2.0, -1.0, 0.0, 6.0}},
    {"nearest", "reflection", true,
     {-3.0, 5.0, -3.0, 3.0, 0.0, 3.0}},
    {"linear", "zeros", false,
     {0.625, -0.25, 0.0, 0.0, 3.75, 0.0}},
    {"linear", "zeros", true,
     {0.625, -0.25, 0.0, 0.0, 3.75, 0.0}},
    {"linear", "border", false,
     {0.625, -2.0, 7.0, -3.0, 3.75, 3.0}},
    {"linear", "border", true,
     {0.625, -2.0, 7.0, -3.0, 3.75, 3.0}},
    {"linear", "reflection", false,
     {0.625, -2.0, 4.5, 2.625, 3.75, 4.25}},
    {"linear", "reflection", true,
     {0.625, 1.625, 0.5, 0.875, 3.75, 2.0}},
    {"cubic", "zeros", false,
     {0.6260986328125, -0.4920654296875, -0.5767822265625, 0.0, 5.2763671875, 0.0}},
    {"cubic", "zeros", true,
     {0.6260986328125, -0.4920654296875, -0.5767822265625, 0.0, 5.2763671875, 0.0}},
    {"cubic", "border", false,
     {0.7008056640625, -2.46875, 7.73828125, -3.0, 4.4560546875, 3.0}},
    {"cubic", "border", true,
     {0.7008056640625, -2.0, 7.0, -3.0, 4.4560546875, 3.0}},
    {"cubic", "reflection", false,
     {0.7008056640625, -4.2119140625, 5.1796875, 2.899658203125, 4.4560546875, 4.6953125}},
    {"cubic", "reflection", true,
     {0.26171875, 1.54296875, -0.7755126953125, 0.53515625, 4.5498046875, 2.26953125}},
};

class SampleTest : public EvaluateTest {
protected:
  Tensor source(llvm::StringRef typeText) {
    std::vector<double> values(type(typeText).getNumElements());
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = double(7 * i % 11) - 3;
    return tensor(typeText, values);
  }
};

TEST_F(SampleTest, ModesAndPaddings) {
  for (llvm::StringRef element : {"f64", "f32"}) {
    Tensor src = source(("tensor<1x1x3x4x" + element + ">").str());
    Tensor positions = tensor("tensor<1x6x2xf32>",
                              {0.5, 0.25, -0.75, 2.5, 3.25, -1.5, 5.5, 7.25, 2.5, 0.5, -6.25, 1});
    for (const Case &c : cases) {
      SCOPED_TRACE(std::string(c.mode) + " " + c.padding + (c.alignCorners ? " aligned" : ""));
      std::string op = std::string("cnn.sample <") + c.mode +
                       "> %a, %b {padding = #cnn.sample_padding<" + c.padding + ">" +
                       (c.alignCorners ? ", align_corners" : "") + "} : (" + show(src) + ", " +
                       show(positions) + ") -> tensor<1x1x6x" + element.str() + ">";
      expectValues(runOp(op, ("tensor<1x1x6x" + element + ">").str(), {src, positions}),
                   c.expected, 1e-6); // a cubic sum in f32 rounds once
    }
  }
}

TEST_F(SampleTest, Volumes) {
  Tensor src = source("tensor<1x1x2x2x3xf64>");
  Tensor positions = tensor("tensor<1x4x3xf64>",
                            {0.5, 0.25, 0.5, 2.5, -0.5, 1.25, 1, 1, 1, -3.5, 0.75, 2.25});
  auto sample = [&](llvm::StringRef mode) {
    return runOp(("cnn.sample <" + mode +
                  "> %a, %b {padding = #cnn.sample_padding<border>} : (tensor<1x1x2x2x3xf64>, "
                  "tensor<1x4x3xf64>) -> tensor<1x1x4xf64>")
                     .str(),
                 "tensor<1x1x4xf64>", {src, positions});
  };
  expectValues(sample("nearest"), {-3.0, -2.0, 1.0, 5.0});
  expectValues(sample("linear"), {2.6875, -2.0, 1.0, 5.25});
}

// NaN and infinity are positions too, and no reason to read elsewhere.
TEST_F(SampleTest, PositionsThatAreNoNumbers) {
  Tensor src = source("tensor<1x1x2x2xi8>");
  Tensor positions = tensor("tensor<1x3x2xf32>", {kNaN, 0, kInf, 1, 0, -kInf});
  for (auto [padding, expected] :
       {std::pair<const char *, std::vector<double>>{"zeros", {0, 0, 0}},
        {"border", {-3, 7, -3}}})
    expectValues(runOp(std::string("cnn.sample <nearest> %a, %b {padding = #cnn.sample_padding<") +
                           padding +
                           ">} : (tensor<1x1x2x2xi8>, tensor<1x3x2xf32>) -> tensor<1x1x3xi8>",
                       "tensor<1x1x3xi8>", {src, positions}),
                 expected);
}

TEST_F(SampleTest, RoiAlign) {
  Tensor src = source("tensor<2x2x4x5xf64>");
  Tensor rois =
      tensor("tensor<3x4xf64>", {0.5, 1, 3.5, 4, -2, 0, 7, 2.5, 4, 3, 1, 0.5});
  Tensor images = tensor("tensor<3xi64>", {0, 1, 1});
  auto align = [&](llvm::StringRef attributes) {
    return runOp(("cnn.roi_align <average> %a, %b, %c {bins = array<i64: 2, 2>, spatial_scale = "
                  "7.5e-01 : f64, " +
                  attributes +
                  "} : (tensor<2x2x4x5xf64>, tensor<3x4xf64>, tensor<3xi64>) -> "
                  "tensor<3x2x2x2xf64>")
                     .str(),
                 "tensor<3x2x2x2xf64>", {src, rois, images});
  };
  constexpr double kTolerance = 1e-14; // sums in another order
  expectValues(align("sampling_ratio = 0 : i64, half_pixel"),
               {1.4619140625, 3.1494140625, -0.0478515625, 1.6396484375, 4.5849609375, 0.375,
                2.0009765625, 2.625, 0.4375, 0.51953125, 1.796875, 2.33203125, 1.109375,
                2.16015625, -0.17919921875, 3.4664306640625, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
                0.0}, kTolerance);
  expectValues(align("sampling_ratio = 2 : i64, half_pixel"),
               {1.4619140625, 3.1494140625, -0.0478515625, 1.6396484375, 4.5849609375, 0.375,
                2.0009765625, 2.625, 0.0390625, 0.953125, 0.84375, 2.2603759765625,
                1.1641845703125, 2.9375, -0.1768798828125, 4.1964111328125, 3.6982421875,
                1.68310546875, 4.046875, -0.046875, 2.921875, -1.171875, 2.28759765625,
                2.1416015625}, kTolerance);
  expectValues(align("sampling_ratio = 0 : i64"),
               {2.513671875, 1.9990234375, -0.671875, 3.421875, 3.2841796875, 0.6748046875,
                4.234375, 1.625, 1.38671875, 0.515625, 2.2867431640625, 1.6051025390625,
                0.825927734375, 3.359375, 0.54296875, 2.8603515625, 5.0, 3.0, 6.0, 4.0, 2.0,
                0.0, 3.0, 1.0}, kTolerance);
  expectValues(align("sampling_ratio = 2 : i64"),
               {2.513671875, 1.9990234375, -0.671875, 3.421875, 3.2841796875, 0.6748046875,
                4.234375, 1.625, 1.046875, 0.5, 2.85205078125, 1.74658203125, 0.87744140625,
                3.0, -0.078125, 2.640625, 5.0, 3.0, 5.875, 3.875, 2.0, 0.0, 2.875, 0.875}, kTolerance);
}

TEST_F(SampleTest, RoiAlignMaximum) {
  // One sample a bin, at the centres of the elements: the largest is the element itself.
  Tensor src = source("tensor<1x1x2x2xf32>");
  Tensor rois = tensor("tensor<1x4xf32>", {0, 0, 2, 2});
  Tensor images = tensor("tensor<1xi32>", {0});
  expectValues(runOp("cnn.roi_align <max> %a, %b, %c {bins = array<i64: 1, 1>, spatial_scale = 1.0 "
                     ": f64, sampling_ratio = 2 : i64, half_pixel} : (tensor<1x1x2x2xf32>, "
                     "tensor<1x4xf32>, tensor<1xi32>) -> tensor<1x1x1x1xf32>",
                     "tensor<1x1x1x1xf32>", {src, rois, images}),
               {7});
}

} // namespace
