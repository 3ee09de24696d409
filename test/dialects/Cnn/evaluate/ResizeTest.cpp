// Resize against values of the interpolation of ONNX's reference implementation (onnx 1.23) in
// double. The source is ((7 i) mod 11) - 3.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/dialects/Cnn/evaluate/EvaluateFixture.h"

using namespace convoy::cnn;

namespace {

struct Case {
  const char *mode, *coordinates, *nearest;
  std::vector<int64_t> src, dst;
  std::vector<double> scales, roi;
  double a, extrapolation;
  bool excludeOutside, antialias;
  std::vector<double> expected;
};

const Case cases[] = {
    {"nearest", "half_pixel", "round_prefer_floor", {3, 4}, {6, 6}, {2.0, 1.5}, {}, -0.75, 0.0, false, false,
     {-3.0, -3.0, 4.0, 0.0, 0.0, 7.0, -3.0, -3.0, 4.0, 0.0, 0.0, 7.0, 3.0, 3.0, -1.0, 6.0, 6.0, 2.0, 3.0, 3.0, -1.0, 6.0, 6.0, 2.0, -2.0, -2.0, 5.0, 1.0, 1.0, -3.0, -2.0, -2.0, 5.0, 1.0, 1.0, -3.0}},
    {"nearest", "asymmetric", "round_prefer_floor", {4, 5}, {2, 3}, {0.6000000238418579, 0.699999988079071}, {}, -0.75, 0.0, false, false,
     {-3.0, 4.0, 7.0, 1.0, -3.0, 0.0}},
    {"nearest", "half_pixel", "round_prefer_ceil", {3, 4}, {6, 6}, {2.0, 1.5}, {}, -0.75, 0.0, false, false,
     {-3.0, 4.0, 4.0, 0.0, 7.0, 7.0, -3.0, 4.0, 4.0, 0.0, 7.0, 7.0, 3.0, -1.0, -1.0, 6.0, 2.0, 2.0, 3.0, -1.0, -1.0, 6.0, 2.0, 2.0, -2.0, 5.0, 5.0, 1.0, -3.0, -3.0, -2.0, 5.0, 5.0, 1.0, -3.0, -3.0}},
    {"nearest", "asymmetric", "round_prefer_ceil", {4, 5}, {2, 3}, {0.6000000238418579, 0.699999988079071}, {}, -0.75, 0.0, false, false,
     {-3.0, 4.0, 7.0, 1.0, -3.0, 0.0}},
    {"nearest", "half_pixel", "floor", {3, 4}, {6, 6}, {2.0, 1.5}, {}, -0.75, 0.0, false, false,
     {-3.0, -3.0, 4.0, 4.0, 0.0, 7.0, -3.0, -3.0, 4.0, 4.0, 0.0, 7.0, -3.0, -3.0, 4.0, 4.0, 0.0, 7.0, 3.0, 3.0, -1.0, -1.0, 6.0, 2.0, 3.0, 3.0, -1.0, -1.0, 6.0, 2.0, -2.0, -2.0, 5.0, 5.0, 1.0, -3.0}},
    {"nearest", "asymmetric", "floor", {4, 5}, {2, 3}, {0.6000000238418579, 0.699999988079071}, {}, -0.75, 0.0, false, false,
     {-3.0, 4.0, 0.0, -1.0, 6.0, 2.0}},
    {"nearest", "half_pixel", "ceil", {3, 4}, {6, 6}, {2.0, 1.5}, {}, -0.75, 0.0, false, false,
     {-3.0, 4.0, 0.0, 0.0, 7.0, 7.0, 3.0, -1.0, 6.0, 6.0, 2.0, 2.0, 3.0, -1.0, 6.0, 6.0, 2.0, 2.0, -2.0, 5.0, 1.0, 1.0, -3.0, -3.0, -2.0, 5.0, 1.0, 1.0, -3.0, -3.0, -2.0, 5.0, 1.0, 1.0, -3.0, -3.0}},
    {"nearest", "asymmetric", "ceil", {4, 5}, {2, 3}, {0.6000000238418579, 0.699999988079071}, {}, -0.75, 0.0, false, false,
     {-3.0, 0.0, 7.0, 1.0, 4.0, 0.0}},
    {"nearest", "align_corners", "round_prefer_floor", {3, 3}, {6, 6}, {2.0, 2.3333332538604736}, {}, -0.75, 0.0, false, false,
     {-3.0, -3.0, 4.0, 4.0, 4.0, 0.0, -3.0, -3.0, 4.0, 4.0, 4.0, 0.0, 7.0, 7.0, 3.0, 3.0, 3.0, -1.0, 7.0, 7.0, 3.0, 3.0, 3.0, -1.0, 6.0, 6.0, 2.0, 2.0, 2.0, -2.0, 6.0, 6.0, 2.0, 2.0, 2.0, -2.0}},
    {"nearest", "tf_crop_and_resize", "round_prefer_floor", {4, 4}, {4, 5}, {1.0, 1.25}, {0.375, -0.25, 0.625, 1.25}, -0.75, 9.5, false, false,
     {9.5, 3.0, -1.0, 2.0, 9.5, 9.5, 3.0, -1.0, 2.0, 9.5, 9.5, -2.0, 5.0, -3.0, 9.5, 9.5, -2.0, 5.0, -3.0, 9.5}},
    {"linear", "half_pixel", "round_prefer_floor", {2, 3}, {4, 4}, {2.0, 1.5}, {}, -0.75, 0.0, false, false,
     {-3.0, 0.5, 3.3333332538604736, 0.6666666865348816, -0.5, 1.625, 3.0833332538604736, 0.4166666567325592, 4.5, 3.875, 2.5833332538604736, -0.0833333358168602, 7.0, 5.0, 2.3333332538604736, -0.3333333432674408}},
    {"linear", "half_pixel", "round_prefer_floor", {5, 4}, {3, 2}, {0.6000000238418579, 0.6000000238418579}, {}, -0.75, 0.0, false, false,
     {0.11111092567443848, 1.9999998807907104, 0.33333322405815125, 1.0000008344650269, 1.777777910232544, 3.6666674613952637}},
    {"linear", "half_pixel_symmetric", "round_prefer_floor", {2, 3}, {4, 4}, {2.0, 1.5}, {}, -0.75, 0.0, false, false,
     {-3.0, 1.6666666269302368, 2.6666667461395264, 0.0, -0.5, 2.3333332538604736, 2.4166667461395264, -0.25, 4.5, 3.6666667461395264, 1.9166666269302368, -0.75, 7.0, 4.333333492279053, 1.6666666269302368, -1.0}},
    {"linear", "half_pixel_symmetric", "round_prefer_floor", {5, 4}, {3, 2}, {0.6000000238418579, 0.6000000238418579}, {}, -0.75, 0.0, false, false,
     {1.2222222089767456, 3.1111111640930176, 2.6666669845581055, -0.33333319425582886, 2.8888888359069824, 2.333333730697632}},
    {"linear", "pytorch_half_pixel", "round_prefer_floor", {2, 3}, {4, 4}, {2.0, 1.5}, {}, -0.75, 0.0, false, false,
     {-3.0, 0.5, 3.3333332538604736, 0.6666666865348816, -0.5, 1.625, 3.0833332538604736, 0.4166666567325592, 4.5, 3.875, 2.5833332538604736, -0.0833333358168602, 7.0, 5.0, 2.3333332538604736, -0.3333333432674408}},
    {"linear", "pytorch_half_pixel", "round_prefer_floor", {5, 4}, {3, 2}, {0.6000000238418579, 0.6000000238418579}, {}, -0.75, 0.0, false, false,
     {0.11111092567443848, 1.9999998807907104, 0.33333322405815125, 1.0000008344650269, 1.777777910232544, 3.6666674613952637}},
    {"linear", "align_corners", "round_prefer_floor", {2, 3}, {4, 4}, {2.0, 1.5}, {}, -0.75, 0.0, false, false,
     {-3.0, 1.0, 3.4285714626312256, 1.1428571939468384, 0.3333333432674408, 2.238095283508301, 3.095238208770752, 0.8095238208770752, 3.6666667461395264, 3.4761905670166016, 2.761904716491699, 0.4761904776096344, 7.0, 4.714285850524902, 2.4285714626312256, 0.1428571492433548}},
    {"linear", "align_corners", "round_prefer_floor", {5, 4}, {3, 2}, {0.6000000238418579, 0.6000000238418579}, {}, -0.75, 0.0, false, false,
     {-3.0, 0.9999989867210388, -1.9999994039535522, 0.4285725951194763, -0.9999988079071045, 1.4285732507705688}},
    {"linear", "asymmetric", "round_prefer_floor", {2, 3}, {4, 4}, {2.0, 1.5}, {}, -0.75, 0.0, false, false,
     {-3.0, 1.6666666269302368, 2.6666667461395264, 0.0, 2.0, 3.0, 2.1666667461395264, -0.5, 7.0, 4.333333492279053, 1.6666666269302368, -1.0, 7.0, 4.333333492279053, 1.6666666269302368, -1.0}},
    {"linear", "asymmetric", "round_prefer_floor", {5, 4}, {3, 2}, {0.6000000238418579, 0.6000000238418579}, {}, -0.75, 0.0, false, false,
     {-3.0, 1.3333336114883423, -0.33333301544189453, 2.777777910232544, 2.333333969116211, 4.222222328186035}},
    {"linear", "tf_crop_and_resize", "round_prefer_floor", {4, 4}, {3, 4}, {0.75, 1.0}, {0.375, -0.25, 0.625, 1.25}, -0.75, 9.5, false, false,
     {9.5, 0.40625, 4.375, 9.5, 9.5, 1.625, 2.5, 9.5, 9.5, 2.84375, 0.625, 9.5}},
    {"cubic", "half_pixel", "round_prefer_floor", {4, 4}, {8, 3}, {2.0, 0.800000011920929}, {}, -0.75, 0.0, false, false,
     {-2.7272281646728516, 3.0264742374420166, 4.246671199798584, -1.022726058959961, 2.4078731536865234, 4.34467077255249, 1.8310680389404297, 1.3487412929534912, 4.577119827270508, 1.9965362548828125, 2.0004403591156006, 2.3365061283111572, -0.7138214707374573, 4.039514541625977, -1.2453954219818115, -0.5483532547950745, 4.424966812133789, -0.9024294018745422, 2.305440902709961, 2.969297170639038, 3.1779043674468994, 4.009943008422852, 2.109941244125366, 5.612120151519775}},
    {"cubic", "half_pixel", "round_prefer_floor", {4, 4}, {3, 6}, {0.800000011920929, 1.5}, {}, -0.5, 0.0, true, false,
     {-2.884289026260376, 0.5381832122802734, 3.472496271133423, 0.5961456894874573, 3.5734333992004395, 7.034397125244141, 1.481445550918579, 0.9957490563392639, 1.3769371509552002, 4.295711040496826, 2.110121965408325, -0.6745603680610657, 1.8630210161209106, 1.6827597618103027, 2.2640388011932373, 4.7321319580078125, 2.921800136566162, 0.5994440913200378}},
    {"cubic", "align_corners", "round_prefer_floor", {3, 4}, {6, 7}, {2.0, 1.75}, {}, -0.75, 0.0, false, false,
     {-3.0, 0.875, 4.0, 2.0, 0.0, 3.125, 7.0, -0.31200000643730164, 0.5586249828338623, 1.628000020980835, 2.083750009536743, 2.687999963760376, 4.153375148773193, 5.420000076293945, 2.4240000247955322, 0.2902500033378601, -0.6959999799728394, 2.265000104904175, 5.423999786376953, 4.965750217437744, 3.359999895095825, 2.696000099182129, 0.562250018119812, -0.42399999499320984, 2.817500114440918, 5.696000099182129, 3.7417500019073486, 0.6399999856948853, 0.3720000088214874, 1.2426249980926514, 2.312000036239624, 3.4731249809265137, 3.371999979019165, 1.075374960899353, -1.4199999570846558, -2.0, 1.875, 5.0, 4.03125, 1.0, -1.375, -3.0}},
    {"linear", "half_pixel", "round_prefer_floor", {5, 6}, {3, 3}, {0.6000000238418579, 0.5}, {}, -0.75, 0.0, false, true,
     {1.3125, 2.75, 0.75, 2.569444417953491, 2.7083332538604736, 1.7777776718139648, 2.203124761581421, 2.09375, 2.328124761581421}},
    {"linear", "half_pixel", "round_prefer_floor", {5, 6}, {8, 2}, {1.600000023841858, 0.4000000059604645}, {}, -0.75, 0.0, true, true,
     {0.9999999403953552, 3.4000000953674316, 1.65625, 2.5250000953674316, 2.53125, 1.4950000047683716, 2.84375, 2.444999933242798, 2.375, 2.2950000762939453, 1.1250001192092896, 1.0450000762939453, 2.406249761581421, 1.7749998569488525, 3.5, 2.440000057220459}},
    {"cubic", "half_pixel", "round_prefer_floor", {6, 5}, {3, 2}, {0.6000000238418579, 0.5}, {}, -0.75, 0.0, false, true,
     {0.8708866834640503, 2.803736925125122, 0.7151506543159485, 1.8467075824737549, 2.200178623199463, 1.518044114112854}},
    {"cubic", "half_pixel", "round_prefer_floor", {6, 5}, {2, 3}, {0.4000000059604645, 0.6000000238418579}, {}, -0.5, 0.0, true, true,
     {0.5220680236816406, 2.2228596210479736, 3.3517520427703857, 1.9401055574417114, 1.5465151071548462, 1.670151948928833}},
};

class ResizeTest : public EvaluateTest {
protected:
  static std::string tensorType(llvm::ArrayRef<int64_t> shape, llvm::StringRef element) {
    std::string text = "tensor<";
    for (int64_t extent : shape)
      text += std::to_string(extent) + "x";
    return text + element.str() + ">";
  }
  static std::string array(llvm::ArrayRef<double> values) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    stream << "array<f64";
    for (auto [i, value] : llvm::enumerate(values))
      stream << (i ? ", " : ": ") << llvm::format("%.17e", value);
    stream << ">";
    return text;
  }
  Tensor resize(const Case &c, const Tensor &src, llvm::StringRef element) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    std::string result = tensorType(c.dst, element);
    stream << "cnn.resize <" << c.mode << "> %a {coordinates = #cnn.coordinates<" << c.coordinates
           << ">, nearest_mode = #cnn.nearest_mode<" << c.nearest << ">, scales = "
           << array(c.scales) << ", roi = " << array(c.roi) << ", cubic_coeff_a = "
           << llvm::format("%.17e", c.a) << " : f64, extrapolation_value = "
           << llvm::format("%.17e", c.extrapolation) << " : f64"
           << (c.excludeOutside ? ", exclude_outside" : "") << (c.antialias ? ", antialias" : "")
           << "} : (" << show(src) << ") -> " << result;
    return runOp(text, result, {src});
  }
};

TEST_F(ResizeTest, AgreesWithTheReference) {
  for (const Case &c : cases) {
    Tensor src = Tensor::allocate(type(tensorType(c.src, "f32")));
    for (int64_t i = 0; i < src.numElements(); ++i)
      reinterpret_cast<float *>(src.mutableData())[i] = i * 7 % 11 - 3;
    SCOPED_TRACE(std::string(c.mode) + " " + c.coordinates + " " + c.nearest);
    // Both round once to f32 from doubles that differ in their last bits: an ulp of values below 16.
    expectValues(resize(c, src, "f32"), c.expected, std::ldexp(1, -20));
  }
}

TEST_F(ResizeTest, ResizesDimensionsThatScaleByOneNot) {
  // Channels and batch pass through, whatever the mode.
  Case c{"linear", "half_pixel", "floor", {2, 1, 1, 2}, {2, 1, 1, 4}, {1, 1, 1, 2}, {}, -0.75, 0,
         false, false, {}};
  expectValues(resize(c, tensor("tensor<2x1x1x2xf32>", {0, 4, 8, 16}), "f32"),
               {0, 1, 3, 4, 8, 10, 14, 16});
}

TEST_F(ResizeTest, RoundsIntegers) {
  Case c{"linear", "half_pixel", "floor", {2}, {4}, {2}, {}, -0.75, 0, false, false, {}};
  // 0, 0.5, 1.5, 2: ties to even.
  expectValues(resize(c, tensor("tensor<2xi32>", {0, 2}), "i32"), {0, 0, 2, 2});
  // A cubic overshoots the range of ui8 and is clamped.
  Case cubic{"cubic", "half_pixel", "floor", {4}, {8}, {2}, {}, -0.75, 0, false, false, {}};
  std::vector<double> bytes =
      values(resize(cubic, tensor("tensor<4xui8>", {0, 0, 255, 255}), "ui8"));
  EXPECT_EQ(bytes[2], 0);
  EXPECT_EQ(bytes[5], 255);
}

TEST_F(ResizeTest, PytorchHalfPixelStartsAtZeroForOneElement) {
  // The text has 0 for a result of one element; cubic weights at -0.5 would mix others in.
  Case c{"cubic", "pytorch_half_pixel", "floor", {4}, {1}, {0.25}, {}, -0.75, 0, false, false, {}};
  expectValues(resize(c, tensor("tensor<4xf32>", {1, 9, -7, 3}), "f32"), {1});
}

TEST_F(ResizeTest, TfHalfPixelForNearest) {
  Case c{"nearest", "tf_half_pixel_for_nn", "floor", {4}, {2}, {0.5}, {}, -0.75, 0, false, false, {}};
  expectValues(resize(c, tensor("tensor<4xf32>", {1, 2, 3, 4}), "f32"), {2, 4});
}

} // namespace
