// Every elementary function against the C library's in a longer format, over all exponents.
//
// The limits are those of targets/x86/Functions.h. An f32 result is compared in units of the last
// place of the exact one; where that is subnormal, zero is as good, since subnormals are flushed.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/numerics/HostKernel.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

using namespace convoy;
using namespace convoy::test;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

using Oracle = long double (*)(long double);

struct Function {
  const char *op;
  Oracle oracle;
  double ulps;     // of f32
  double relative; // of f64
  double f64Limit; // largest |x| that f64 promises
};

const Function kFunctions[] = {
    {"exp", std::exp, 1.1, 4e-16, kInf},
    {"exp2", std::exp2, 1.1, 4e-16, kInf},
    {"expm1", std::expm1, 1.6, 4e-16, kInf},
    {"log", std::log, 0.9, 4e-16, kInf},
    {"log2", std::log2, 1.8, 5e-16, kInf},
    {"log10", std::log10, 0.51, 5e-16, kInf},
    {"log1p", std::log1p, 1.8, 5e-16, kInf},
    {"sin", std::sin, 0.51, 6e-16, 0x1p30},
    {"cos", std::cos, 0.51, 6e-16, 0x1p30},
    {"tan", std::tan, 0.51, 6e-16, 0x1p30},
    {"asin", std::asin, 0.51, 6e-16, kInf},
    {"acos", std::acos, 0.51, 6e-16, kInf},
    {"atan", std::atan, 0.51, 6e-16, kInf},
    {"sinh", std::sinh, 0.51, 6e-16, kInf},
    {"cosh", std::cosh, 0.51, 6e-16, kInf},
    {"tanh", std::tanh, 2.6, 6e-16, kInf},
    {"asinh", std::asinh, 0.51, 6e-16, kInf},
    {"acosh", std::acosh, 0.51, 6e-16, kInf},
    {"atanh", std::atanh, 0.51, 6e-16, kInf},
    {"erf", std::erf, 1.3, 6e-16, kInf},
    {"erfc", std::erfc, 0.51, 2e-13, kInf},
    {"cbrt", std::cbrt, 0.51, 1e-13, kInf},
    {"rsqrt", [](long double x) -> long double { return 1 / std::sqrt(x); }, 1.6, 3e-16, kInf},
    {"sqrt", std::sqrt, 0.51, 2e-16, kInf},
    {"round", std::round, 0, 0, kInf},
    {"roundeven", std::nearbyint, 0, 0, kInf},
    {"floor", std::floor, 0, 0, kInf},
    {"ceil", std::ceil, 0, 0, kInf},
    {"trunc", std::trunc, 0, 0, kInf},
};

/// A kernel for each function, over vectors of the target's width and one element at a time.
template <typename T>
std::unique_ptr<HostKernels> compileAll(mlir::MLIRContext &context, const Target &target,
                                        size_t size) {
  std::string type = sizeof(T) == 4 ? "f32" : "f64";
  std::string tensor = "tensor<" + std::to_string(size) + "x" + type + ">";
  std::string text;
  for (const Function &function : kFunctions)
    for (const char *kind : {"vector", "scalar"})
      text += "plan.kernel @" + std::string(function.op) + "_" + kind + " strategy \"" + kind +
              "\" {\n^bb0(%x: " + tensor + "):\n  %y = cnn.map(%x) : (" + tensor + ") -> " +
              tensor + " {\n  ^bb0(%e: " + type + "):\n    %0 = math." + function.op +
              " %e : " + type + "\n    cnn.yield %0 : " + type +
              "\n  }\n  plan.yield %y : " + tensor + "\n}\n";
  mlir::OwningOpRef<mlir::ModuleOp> module = parse(context, text);
  if (!module)
    return nullptr;
  return HostKernels::compile(target, *module, [&](plan::KernelOp kernel, KernelBuilder &kb) {
    mlir::Type element = kb.argType(0).getElementType();
    auto map = llvm::cast<cnn::MapOp>(kernel.getBody().front().front());
    int64_t lanes = kernel.getStrategy() == "vector" ? kb.lanes() : 1;
    kb.forTiles(1, [&](mlir::Value, mlir::Value) {
      kb.loop(kb.i64(0), kb.i64(size), lanes, [&](mlir::Value i) {
        if (lanes == 1)
          return kb.store(element, kb.apply(map.getBody(), kb.load(element, kb.base(0), i)),
                          kb.base(1), i);
        mlir::Value x = kb.loadVector(element, lanes, kb.base(0), i);
        kb.storeVector(element, kb.apply(map.getBody(), x), kb.base(1), i);
      });
    });
  });
}

template <typename T> std::vector<T> makeArguments() {
  std::vector<T> arguments;
  if constexpr (sizeof(T) == 4) {
    // All exponents and both signs.
    for (uint64_t bits = 0; bits < uint64_t(1) << 32; bits += 16381) {
      uint32_t word = static_cast<uint32_t>(bits);
      float value;
      std::memcpy(&value, &word, sizeof(value));
      arguments.push_back(value);
    }
  }
  std::mt19937_64 random(1);
  // Where functions are not trivial: magnitudes from 1e-9 to 1e3, evenly by their logarithm.
  std::uniform_real_distribution<double> magnitude(-9, 3), unit(-1, 1);
  for (int i = 0; i < 200000; ++i)
    arguments.push_back(
        static_cast<T>(std::copysign(std::pow(10, magnitude(random)), unit(random))));
  if constexpr (sizeof(T) == 8)
    for (int i = 0; i < 200000; ++i) {
      uint64_t word = random();
      double value;
      std::memcpy(&value, &word, sizeof(value));
      arguments.push_back(value);
    }
  for (double special :
       {0.0,   -0.0,  1.0,    -1.0,   2.0,    -2.0,   0.5,    -0.5,   kInf,      -kInf, kNan,
        88.72, 88.73, -87.33, -87.34, 709.78, 709.79, -708.3, -708.4, 127.99999, 128.0})
    arguments.push_back(static_cast<T>(special));
  while (arguments.size() % 16)
    arguments.push_back(0);
  return arguments;
}

bool isSubnormal(double value, bool isF32) {
  return value != 0 && std::abs(value) < (isF32 ? 0x1p-126 : 0x1p-1022);
}

template <typename T> void checkFunctions(const Target &target) {
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  std::vector<T> arguments = makeArguments<T>(), results(arguments.size());
  std::unique_ptr<HostKernels> kernels = compileAll<T>(*context, target, arguments.size());
  ASSERT_TRUE(kernels);
  constexpr bool isF32 = sizeof(T) == 4;
  for (const Function &function : kFunctions)
    for (const char *kind : {"_vector", "_scalar"}) {
      std::string name = std::string(function.op) + kind;
      kernels->run(name, {arguments.data(), results.data()});
      double worst = 0;
      T worstAt = 0;
      int wrong = 0;
      for (size_t i = 0; i < arguments.size() && wrong < 5; ++i) {
        T x = arguments[i], got = results[i];
        if (isSubnormal(x, isF32))
          x = std::copysign(T(0), x);
        if (isSubnormal(got, isF32)) // a subnormal argument handed through
          got = std::copysign(T(0), got);
        long double exact = function.oracle(x);
        T nearest = static_cast<T>(exact);
        bool special = std::isnan(exact) || std::isinf(nearest) || x == 0;
        if (special) {
          // NaN's sign is free; other results must be exact, the sign of zero included.
          bool right = std::isnan(exact)
                           ? std::isnan(got)
                           : got == nearest && std::signbit(got) == std::signbit(nearest);
          // Just above the largest number rounding decides between it and infinity.
          if (!right && !std::isinf(x) && std::isinf(nearest) != std::isinf(got))
            right = std::abs(exact) < std::numeric_limits<T>::max() * (1 + 1e-6L);
          wrong += !right;
          EXPECT_TRUE(right) << name << "(" << x << ") = " << got << ", not " << nearest;
          continue;
        }
        if (std::abs(static_cast<double>(x)) > (isF32 ? kInf : function.f64Limit))
          continue;
        if (std::abs(exact) < std::numeric_limits<T>::min() * 2 &&
            std::abs(got) <= std::abs(nearest))
          continue; // flushed
        int exponent;
        std::frexp(static_cast<double>(exact), &exponent);
        long double unit = isF32 ? std::ldexp(1.0L, exponent - 24) : std::abs(exact);
        double error = static_cast<double>(std::abs(got - exact) / unit);
        if (!(error <= worst)) {
          worst = error;
          worstAt = x;
        }
      }
      if (getenv("CONVOY_MATH_TABLE"))
        printf("%s %-18s %.3g at %.9g\n", isF32 ? "f32" : "f64", name.c_str(), worst,
               static_cast<double>(worstAt));
      EXPECT_LE(worst, isF32 ? function.ulps : function.relative)
          << name << (isF32 ? " (f32)" : " (f64)") << " on " << target.name().str() << " at "
          << worstAt;
    }
}

struct BinaryFunction {
  const char *op;
  long double (*oracle)(long double, long double);
  double ulps, relative;
};

const BinaryFunction kBinaryFunctions[] = {
    {"math.powf", std::pow, 0.51, 4e-13},
    {"math.atan2", std::atan2, 0.51, 6e-16},
    {"arith.remf", std::fmod, 0, 1e-15},
};

// All pairs of some numbers, of which many are special.
template <typename T> void checkBinaryFunctions(const Target &target) {
  std::vector<T> numbers;
  for (double number : {0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 7.0, 10.0, 33.3, 1e-3, 1e-9, 1e3, 1e9,
                        3e9, 1e-30, 1e30, 4503599627370497.0, kInf})
    for (double sign : {1.0, -1.0})
      numbers.push_back(static_cast<T>(sign * number));
  numbers.push_back(static_cast<T>(kNan));
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> magnitude(-6, 6);
  while (numbers.size() < 512)
    numbers.push_back(
        static_cast<T>((numbers.size() % 2 ? 1 : -1) * std::pow(10, magnitude(random))));
  size_t count = numbers.size() * numbers.size();
  std::vector<T> left(count), right(count), results(count);
  for (size_t i = 0; i < count; ++i) {
    left[i] = numbers[i / numbers.size()];
    right[i] = numbers[i % numbers.size()];
  }

  constexpr bool isF32 = sizeof(T) == 4;
  std::string type = isF32 ? "f32" : "f64";
  std::string tensor = "tensor<" + std::to_string(count) + "x" + type + ">";
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  for (const BinaryFunction &function : kBinaryFunctions) {
    mlir::OwningOpRef<mlir::ModuleOp> module = parse(
        *context, "plan.kernel @k strategy \"test\" {\n^bb0(%x: " + tensor + ", %y: " + tensor +
                      "):\n  %z = cnn.map(%x, %y) : (" + tensor + ", " + tensor + ") -> " + tensor +
                      " {\n  ^bb0(%a: " + type + ", %b: " + type + "):\n    %0 = " + function.op +
                      " %a, %b : " + type + "\n    cnn.yield %0 : " + type +
                      "\n  }\n  plan.yield %z : " + tensor + "\n}\n");
    ASSERT_TRUE(module);
    std::unique_ptr<HostKernels> kernels =
        HostKernels::compile(target, *module, [&](plan::KernelOp kernel, KernelBuilder &kb) {
          mlir::Type element = kb.argType(0).getElementType();
          auto map = llvm::cast<cnn::MapOp>(kernel.getBody().front().front());
          kb.forTiles(1, [&](mlir::Value, mlir::Value) {
            kb.loop(kb.i64(0), kb.i64(count), kb.lanes(), [&](mlir::Value i) {
              mlir::Value x = kb.loadVector(element, kb.lanes(), kb.base(0), i);
              mlir::Value y = kb.loadVector(element, kb.lanes(), kb.base(1), i);
              kb.storeVector(element, kb.apply(map.getBody(), {x, y}), kb.base(2), i);
            });
          });
        });
    ASSERT_TRUE(kernels);
    kernels->run("k", {left.data(), right.data(), results.data()});
    int wrong = 0;
    for (size_t i = 0; i < count && wrong < 5; ++i) {
      long double exact = function.oracle(left[i], right[i]);
      T nearest = static_cast<T>(exact), got = results[i];
      bool good = std::isnan(exact) ? std::isnan(got) : got == nearest;
      if (!good && std::abs(exact) < std::numeric_limits<T>::min() * 2)
        good = std::abs(got) <= std::abs(nearest); // flushed
      if (!good && std::isfinite(got) && nearest != 0) {
        int exponent;
        std::frexp(static_cast<double>(exact), &exponent);
        long double unit = isF32 ? std::ldexp(1.0L, exponent - 24) : std::abs(exact);
        good = std::abs(got - exact) <= unit * (isF32 ? function.ulps : function.relative);
      }
      if (good && nearest == 0 && !std::isnan(exact))
        good = std::signbit(got) == std::signbit(nearest);
      wrong += !good;
      EXPECT_TRUE(good) << function.op << "(" << left[i] << ", " << right[i] << ") = " << got
                        << ", not " << nearest << ", of " << type;
    }
  }
}

class MathTest : public ::testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    target = createTarget(GetParam());
    bool runs = false;
    for (auto &host : hostTargets())
      runs |= host->name() == target->name();
    if (!runs)
      GTEST_SKIP() << "this CPU lacks features of " << GetParam();
  }
  std::unique_ptr<Target> target;
};

TEST_P(MathTest, FunctionsOfF32) { checkFunctions<float>(*target); }
TEST_P(MathTest, FunctionsOfF64) { checkFunctions<double>(*target); }
TEST_P(MathTest, ConstantPowers) {
  std::vector<float> arguments = makeArguments<float>(), results(arguments.size());
  std::string tensor = "tensor<" + std::to_string(arguments.size()) + "xf32>";
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  for (double exponent : {0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, -0.5, -1.0, -2.25, 0.3}) {
    mlir::OwningOpRef<mlir::ModuleOp> module = parse(
        *context, "plan.kernel @k strategy \"reference\" {\n^bb0(%x: " + tensor +
                      "):\n  %y = cnn.map(%x) : (" + tensor + ") -> " + tensor +
                      " {\n  ^bb0(%e: f32):\n    %c = arith.constant " + std::to_string(exponent) +
                      " : f32\n    %0 = math.powf %e, %c : f32\n    cnn.yield %0 : f32\n  "
                      "}\n  plan.yield %y : " +
                      tensor + "\n}\n");
    ASSERT_TRUE(module);
    std::unique_ptr<HostKernels> kernels = HostKernels::compile(*target, *module);
    ASSERT_TRUE(kernels);
    kernels->run("k", {arguments.data(), results.data()});
    int wrong = 0;
    for (size_t i = 0; i < arguments.size() && wrong < 5; ++i) {
      float x = arguments[i], got = results[i];
      if (isSubnormal(x, true))
        x = std::copysign(0.0f, x);
      long double exact = std::pow(static_cast<long double>(x), static_cast<float>(exponent));
      float nearest = static_cast<float>(exact);
      bool good = std::isnan(exact) ? std::isnan(got)
                                    : got == nearest && std::signbit(got) == std::signbit(nearest);
      if (!good && std::abs(exact) < 0x1p-125)
        good = std::abs(got) <= 0x1p-125;
      if (!good && std::isfinite(exact)) {
        int exponentOf;
        std::frexp(static_cast<double>(exact), &exponentOf);
        good = std::abs(got - exact) <= 2.5 * std::ldexp(1.0L, exponentOf - 24);
      }
      if (!good && std::abs(exact) > std::numeric_limits<float>::max() * (1 - 1e-6L))
        good = std::isinf(got) || std::isinf(nearest);
      wrong += !good;
      EXPECT_TRUE(good) << "pow(" << x << ", " << exponent << ") = " << got << ", not " << nearest;
    }
  }
}

TEST_P(MathTest, BinaryFunctionsOfF32) { checkBinaryFunctions<float>(*target); }
TEST_P(MathTest, BinaryFunctionsOfF64) { checkBinaryFunctions<double>(*target); }

INSTANTIATE_TEST_SUITE_P(Targets, MathTest, ::testing::Values("x86-avx512", "x86-avx2"),
                         [](const auto &info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

} // namespace
