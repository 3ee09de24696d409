// Evaluates functions that a test writes as text.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "dialects/Cnn/ConstantData.h"
#include "dialects/Cnn/Evaluate/Evaluate.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Format.h"
#include "gtest/gtest.h"

#include <cmath>

namespace convoy::cnn {

class EvaluateTest : public testing::Test {
protected:
  EvaluateTest() {
    context.loadDialect<CnnDialect, mlir::func::FuncDialect, mlir::arith::ArithDialect,
                        mlir::math::MathDialect>();
    context.getDiagEngine().registerHandler([this](mlir::Diagnostic &diagnostic) {
      errors += diagnostic.str() + "\n";
    });
  }

  mlir::RankedTensorType type(llvm::StringRef text) {
    return llvm::cast<mlir::RankedTensorType>(mlir::parseType(text, &context));
  }

  Tensor tensor(llvm::StringRef typeText, llvm::ArrayRef<double> values) {
    Tensor result = Tensor::allocate(type(typeText));
    EXPECT_EQ(result.numElements(), int64_t(values.size())) << typeText.str();
    for (size_t i = 0; i < values.size(); ++i) {
      char *element = result.mutableData() + i * result.elementBytes();
      if (llvm::isa<mlir::FloatType>(result.elementType()))
        writeFloat(element, result.elementType(), values[i]);
      else
        writeInt(element, result.elementType(), static_cast<int64_t>(values[i]));
    }
    return result;
  }

  /// Values from -4 to 4, a fixed sequence: sums of their products are exact in f32.
  Tensor smallInts(llvm::StringRef typeText, unsigned seed) {
    std::vector<double> values(type(typeText).getNumElements());
    for (double &value : values) {
      seed = seed * 1664525u + 1013904223u;
      value = int(seed >> 24) % 9 - 4;
    }
    return tensor(typeText, values);
  }

  static std::vector<double> values(const Tensor &tensor) {
    std::vector<double> result;
    for (int64_t i = 0; i < tensor.numElements(); ++i) {
      const char *element = tensor.data() + i * tensor.elementBytes();
      result.push_back(llvm::isa<mlir::FloatType>(tensor.elementType())
                           ? readFloat(element, tensor.elementType())
                           : double(readInt(element, tensor.elementType())));
    }
    return result;
  }

  /// Evaluates the one function of a module; no results if it fails.
  llvm::SmallVector<Tensor> run(llvm::StringRef text, llvm::ArrayRef<Tensor> inputs,
                                const EvaluateObserver &observer = nullptr) {
    mlir::OwningOpRef<mlir::ModuleOp> parsed =
        mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!parsed) {
      ADD_FAILURE() << errors << text.str();
      return {};
    }
    // Results may view the data of constants.
    modules.push_back(std::move(parsed));
    auto function = *modules.back()->getOps<mlir::func::FuncOp>().begin();
    mlir::FailureOr<llvm::SmallVector<Tensor>> results = evaluate(function, inputs, observer);
    if (failed(results))
      return {};
    return *results;
  }

  /// One op with operands a, b, c... of the given tensors' types.
  Tensor runOp(llvm::StringRef op, llvm::StringRef resultType, llvm::ArrayRef<Tensor> inputs) {
    std::string arguments;
    for (size_t i = 0; i < inputs.size(); ++i)
      arguments += (i ? ", %" : "%") + std::string(1, char('a' + i)) + ": " + show(inputs[i]);
    llvm::SmallVector<Tensor> results =
        run("func.func @f(" + arguments + ") -> " + resultType.str() + " {\n%r = " + op.str() +
                "\nreturn %r : " + resultType.str() + "\n}",
            inputs);
    if (results.size() != 1) {
      ADD_FAILURE() << errors;
      return Tensor::allocate(type(resultType));
    }
    return results.front();
  }

  static std::string show(const Tensor &tensor) {
    std::string text;
    llvm::raw_string_ostream(text) << tensor.type();
    return text;
  }

  /// Equal, NaN to NaN, up to `tolerance`.
  static void expectValues(const Tensor &actual, llvm::ArrayRef<double> expected,
                           double tolerance = 0) {
    std::vector<double> got = values(actual);
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i) {
      if (std::isnan(expected[i]) || std::isinf(expected[i])) {
        EXPECT_TRUE(std::isnan(expected[i]) ? std::isnan(got[i]) : got[i] == expected[i])
            << "element " << i << " is " << got[i] << ", expected " << expected[i];
        continue;
      }
      EXPECT_LE(std::fabs(got[i] - expected[i]), tolerance)
          << "element " << i << " is " << got[i] << ", expected " << expected[i];
    }
  }

  mlir::MLIRContext context;
  std::string errors;
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules;
};

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInf = std::numeric_limits<double>::infinity();

} // namespace convoy::cnn
