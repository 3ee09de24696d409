// Elementwise functions: scalar regions, broadcasting, types and rounding.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/dialects/Cnn/evaluate/EvaluateFixture.h"

using namespace convoy::cnn;

namespace {

class MapTest : public EvaluateTest {
protected:
  // A map whose region has the given lines and yields %r.
  Tensor map(llvm::StringRef lines, llvm::StringRef resultType, llvm::ArrayRef<Tensor> inputs) {
    std::string names, types, arguments;
    for (size_t i = 0; i < inputs.size(); ++i) {
      std::string separator = i ? ", " : "", name(1, char('a' + i));
      std::string element;
      llvm::raw_string_ostream(element) << getScalarType(inputs[i].elementType());
      names += separator + "%" + name;
      types += separator + show(inputs[i]);
      arguments += separator + "%" + name + name + ": " + element;
    }
    std::string resultElement;
    llvm::raw_string_ostream(resultElement) << getScalarType(type(resultType).getElementType());
    return runOp("cnn.map(" + names + ") : (" + types + ") -> " + resultType.str() + " {\n^bb0(" +
                     arguments + "):\n" + lines.str() + "\ncnn.yield %r : " + resultElement + "\n}",
                 resultType, inputs);
  }
  Tensor unary(llvm::StringRef op, llvm::ArrayRef<double> values, llvm::StringRef element = "f32") {
    std::string tensorType =
        "tensor<" + std::to_string(values.size()) + "x" + element.str() + ">";
    return map("%r = " + op.str() + " %aa : " + element.str(), tensorType,
               {tensor(tensorType, values)});
  }
};

TEST_F(MapTest, BroadcastsAsNumpyDoes) {
  Tensor a = tensor("tensor<2x3xf32>", {1, 2, 3, 4, 5, 6});
  Tensor row = tensor("tensor<3xf32>", {10, 20, 30}), column = tensor("tensor<2x1xf32>", {100, 200});
  Tensor scalar = tensor("tensor<f32>", {1000});
  Tensor result = map("%0 = arith.addf %aa, %bb : f32\n%1 = arith.addf %0, %cc : f32\n"
                      "%r = arith.addf %1, %dd : f32",
                      "tensor<2x3xf32>", {a, row, column, scalar});
  expectValues(result, {1111, 1122, 1133, 1214, 1225, 1236});
  // An inner dimension that repeats, longer than one chunk of the evaluator.
  Tensor channels = tensor("tensor<1x3x1xf32>", {1, 2, 3});
  Tensor wide = smallInts("tensor<2x3x301xf32>", 1);
  std::vector<double> expected = values(wide);
  for (size_t i = 0; i < expected.size(); ++i)
    expected[i] *= i / 301 % 3 + 1;
  expectValues(map("%r = arith.mulf %aa, %bb : f32", "tensor<2x3x301xf32>", {wide, channels}),
               expected);
}

TEST_F(MapTest, RoundsEachOpToItsType) {
  // 1 + 2^-24 is 1 in f32, so the difference vanishes; in f64 it stays.
  const char *lines = "%0 = arith.addf %aa, %bb : f32\n%r = arith.subf %0, %aa : f32";
  Tensor one = tensor("tensor<1xf32>", {1}), tiny = tensor("tensor<1xf32>", {std::ldexp(1, -24)});
  expectValues(map(lines, "tensor<1xf32>", {one, tiny}), {0});
  const char *wide = "%0 = arith.addf %aa, %bb : f64\n%r = arith.subf %0, %aa : f64";
  Tensor wideOne = tensor("tensor<1xf64>", {1});
  Tensor wideTiny = tensor("tensor<1xf64>", {std::ldexp(1, -24)});
  expectValues(map(wide, "tensor<1xf64>", {wideOne, wideTiny}), {std::ldexp(1, -24)});
}

TEST_F(MapTest, RoundsNarrowFloatsToNearestEven) {
  // f16 has 11 significant bits: 2049 is a tie to 2048, 2051 one to 2052; 65520 overflows; half of
  // the least subnormal is a tie to zero, a bit more is not. bf16 has 8 significant bits.
  double least = std::ldexp(1, -24);
  std::vector<double> input = {2049, 2051, 65519, 65520, -65520, least / 2, least * 0.51,
                               least * 1.5, kNaN, -kInf, std::ldexp(1023.5, -24), 0.1};
  std::string n = std::to_string(input.size());
  Tensor narrow = map("%r = arith.truncf %aa : f64 to f16", "tensor<" + n + "xf16>",
                      {tensor("tensor<" + n + "xf64>", input)});
  expectValues(narrow, {2048, 2052, 65504, kInf, -kInf, 0, least, 2 * least, kNaN, -kInf,
                        std::ldexp(1, -14), 0.0999755859375});
  Tensor brain = map("%r = arith.truncf %aa : f64 to bf16", "tensor<4xbf16>",
                     {tensor("tensor<4xf64>", {257, 259, 3.39e38, 0.1})});
  expectValues(brain, {256, 260, std::ldexp(255, 120), 0.10009765625});
}

TEST_F(MapTest, NarrowFloatsAgreeWithApFloat) {
  // Every f16 and bf16, through the evaluator's own conversion and LLVM's.
  for (llvm::StringRef element : {"f16", "bf16"}) {
    std::string narrow = ("tensor<65536x" + element + ">").str();
    Tensor all = Tensor::allocate(type(narrow));
    for (int i = 0; i < 65536; ++i)
      reinterpret_cast<uint16_t *>(all.mutableData())[i] = i;
    Tensor wide =
        map(("%r = arith.extf %aa : " + element + " to f64").str(), "tensor<65536xf64>", {all});
    expectValues(wide, values(all));
    Tensor back = map(("%r = arith.truncf %aa : f64 to " + element).str(), narrow, {wide});
    expectValues(back, values(all));
  }
}

TEST_F(MapTest, PropagatesNaN) {
  Tensor a = tensor("tensor<4xf32>", {kNaN, 1, -0.0, 2}), b = tensor("tensor<4xf32>", {1, kNaN, 0, 3});
  expectValues(map("%r = arith.maximumf %aa, %bb : f32", "tensor<4xf32>", {a, b}),
               {kNaN, kNaN, 0, 3});
  expectValues(map("%r = arith.minnumf %aa, %bb : f32", "tensor<4xf32>", {a, b}), {1, 1, 0, 2});
  Tensor smaller = map("%r = arith.minimumf %aa, %bb : f32", "tensor<4xf32>", {a, b});
  EXPECT_TRUE(std::signbit(values(smaller)[2]));
  expectValues(map("%r = arith.cmpf ult, %aa, %bb : f32", "tensor<4xi1>", {a, b}), {1, 1, 0, 1});
  expectValues(map("%r = arith.cmpf olt, %aa, %bb : f32", "tensor<4xi1>", {a, b}), {0, 0, 0, 1});
  expectValues(map("%r = arith.cmpf one, %aa, %bb : f32", "tensor<4xi1>", {a, b}), {0, 0, 0, 1});
  expectValues(map("%r = arith.cmpf uno, %aa, %bb : f32", "tensor<4xi1>", {a, b}), {1, 1, 0, 0});
}

TEST_F(MapTest, ComputesFunctions) {
  std::vector<double> x = {-1.5, -0.5, 0, 0.5, 2.5, 3.5};
  expectValues(unary("math.roundeven", x), {-2, -0.0, 0, 0, 2, 4});
  expectValues(unary("math.round", x), {-2, -1, 0, 1, 3, 4});
  expectValues(unary("math.floor", x), {-2, -1, 0, 0, 2, 3});
  expectValues(unary("math.ceil", x), {-1, 0, 0, 1, 3, 4});
  expectValues(unary("math.trunc", x), {-1, 0, 0, 0, 2, 3});
  // One rounding of the exact value to f32.
  struct Function {
    const char *name;
    double (*exact)(double);
  };
  for (Function function :
       {Function{"math.exp", std::exp}, {"math.tanh", std::tanh}, {"math.erf", std::erf},
        {"math.sin", std::sin}, {"math.cos", std::cos}, {"math.atan", std::atan},
        {"math.cbrt", std::cbrt}, {"math.expm1", std::expm1}, {"math.sinh", std::sinh}}) {
    std::vector<double> expected;
    for (double value : x)
      expected.push_back(static_cast<float>(function.exact(value)));
    SCOPED_TRACE(function.name);
    expectValues(unary(function.name, x), expected);
  }
}

TEST_F(MapTest, FusesMultiplyAndAdd) {
  // (1 + 2^-12)^2 - 1 - 2^-11 is 2^-24, lost if the product is rounded to f32.
  double x = 1 + std::ldexp(1, -12), c = -1 - std::ldexp(1, -11);
  Tensor a = tensor("tensor<1xf32>", {x}), b = tensor("tensor<1xf32>", {c});
  expectValues(map("%r = math.fma %aa, %aa, %bb : f32", "tensor<1xf32>", {a, b}),
               {std::ldexp(1, -24)});
  expectValues(map("%0 = arith.mulf %aa, %aa : f32\n%r = arith.addf %0, %bb : f32",
                   "tensor<1xf32>", {a, b}),
               {0});
}

TEST_F(MapTest, WrapsAndDividesIntegers) {
  Tensor a = tensor("tensor<5xi8>", {127, -128, -7, 7, -128});
  Tensor b = tensor("tensor<5xi8>", {1, -1, 2, -2, -1});
  expectValues(map("%r = arith.addi %aa, %bb : i8", "tensor<5xi8>", {a, b}), {-128, 127, -5, 5, 127});
  expectValues(map("%r = arith.divsi %aa, %bb : i8", "tensor<5xi8>", {a, b}),
               {127, -128, -3, -3, -128});
  expectValues(map("%r = arith.floordivsi %aa, %bb : i8", "tensor<5xi8>", {a, b}),
               {127, -128, -4, -4, -128});
  expectValues(map("%r = arith.remsi %aa, %bb : i8", "tensor<5xi8>", {a, b}), {0, 0, -1, 1, 0});
  Tensor zero = tensor("tensor<5xi8>", {0, 0, 0, 0, 0});
  map("%r = arith.divsi %aa, %bb : i8", "tensor<5xi8>", {a, zero}); // undefined, but no trap
}

TEST_F(MapTest, ReadsUnsignedElementsAsSignlessOnes) {
  Tensor a = tensor("tensor<3xui8>", {200, 255, 3}), b = tensor("tensor<3xui8>", {100, 2, 4});
  expectValues(map("%r = arith.maxui %aa, %bb : i8", "tensor<3xui8>", {a, b}), {200, 255, 4});
  expectValues(map("%r = arith.divui %aa, %bb : i8", "tensor<3xui8>", {a, b}), {2, 127, 0});
  expectValues(map("%r = arith.uitofp %aa : i8 to f32", "tensor<3xf32>", {a}), {200, 255, 3});
  expectValues(map("%r = arith.sitofp %aa : i8 to f32", "tensor<3xf32>", {a}), {-56, -1, 3});
  expectValues(map("%r = arith.extui %aa : i8 to i32", "tensor<3xi32>", {a}), {200, 255, 3});
  expectValues(map("%r = arith.shrui %aa, %bb : i8", "tensor<3xui8>", {a, b}), {0, 63, 0});
  Tensor wide = tensor("tensor<1xui64>", {0});
  reinterpret_cast<uint64_t *>(wide.mutableData())[0] = ~uint64_t(0);
  expectValues(map("%r = arith.uitofp %aa : i64 to f32", "tensor<1xf32>", {wide}),
               {std::ldexp(1, 64)});
}

TEST_F(MapTest, ConvertsBetweenFloatsAndIntegers) {
  Tensor a = tensor("tensor<6xf32>", {1.9, -1.9, 300, -300, kNaN, 127});
  expectValues(map("%r = arith.fptosi %aa : f32 to i8", "tensor<6xi8>", {a}),
               {1, -1, 127, -128, 0, 127});
  expectValues(map("%r = arith.fptoui %aa : f32 to i8", "tensor<6xui8>", {a}),
               {1, 0, 255, 0, 0, 127});
  // 2^60 + 2^36 is a tie in f32; the 1 above it decides, and double alone would lose it.
  Tensor wide = tensor("tensor<1xi64>", {0});
  reinterpret_cast<int64_t *>(wide.mutableData())[0] = (int64_t(1) << 60) + (int64_t(1) << 36) + 1;
  expectValues(map("%r = arith.sitofp %aa : i64 to f32", "tensor<1xf32>", {wide}),
               {std::ldexp(1, 60) + std::ldexp(1, 37)});
  Tensor bits = map("%r = arith.bitcast %aa : f32 to i32", "tensor<6xi32>", {a});
  EXPECT_EQ(values(bits)[2], 0x43960000);
}

TEST_F(MapTest, ComputesBools) {
  Tensor a = tensor("tensor<4xi1>", {0, 0, 1, 1}), b = tensor("tensor<4xi1>", {0, 1, 0, 1});
  expectValues(map("%r = arith.xori %aa, %bb : i1", "tensor<4xi1>", {a, b}), {0, 1, 1, 0});
  expectValues(map("%r = arith.extui %aa : i1 to i32", "tensor<4xi32>", {a}), {0, 0, 1, 1});
  expectValues(map("%r = arith.extsi %aa : i1 to i32", "tensor<4xi32>", {a}), {0, 0, -1, -1});
  expectValues(map("%t = arith.constant true\n%r = arith.xori %aa, %t : i1", "tensor<4xi1>", {a}),
               {1, 1, 0, 0});
  Tensor x = tensor("tensor<4xf32>", {1, 2, 3, 4}), y = tensor("tensor<4xf32>", {5, 6, 7, 8});
  expectValues(map("%r = arith.select %aa, %bb, %cc : f32", "tensor<4xf32>", {a, x, y}),
               {5, 6, 3, 4});
}

TEST_F(MapTest, NamesWhatItDoesNotKnow) {
  llvm::SmallVector<Tensor> results = run(R"(
    func.func @f(%a: tensor<2xi32>) -> tensor<2xi32> {
      %r = cnn.map(%a) : (tensor<2xi32>) -> tensor<2xi32> {
      ^bb0(%x: i32):
        %0, %1 = arith.addui_extended %x, %x : i32, i1
        cnn.yield %0 : i32
      }
      return %r : tensor<2xi32>
    })",
                                          {tensor("tensor<2xi32>", {3, 4})});
  EXPECT_TRUE(results.empty());
  EXPECT_NE(errors.find("the evaluator knows no op 'arith.addui_extended'"), std::string::npos)
      << errors;
}

} // namespace
