// Inputs and expected outputs that a model is verified on.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "dialects/Cnn/Evaluate/Tensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>
#include <vector>

namespace convoy::verify {

struct TestData {
  /// Where the data come from, for messages.
  std::string name;
  std::vector<cnn::Tensor> inputs;
  /// By number of the output; a null tensor where none is given.
  std::vector<cnn::Tensor> outputs;
};

/// Reads DIR/input_N.pb, one for each argument of `graph`, and DIR/output_N.pb where they are. `dir`
/// may also hold folders test_data_set_N; then each is one element. Errors name the file and what
/// was expected.
mlir::FailureOr<std::vector<TestData>> readTestData(llvm::StringRef dir, mlir::func::FuncOp graph);

/// Inputs by a seed: floats from -1 to 1, integers from 0 to 2, batch 1.
mlir::FailureOr<std::vector<TestData>> makeTestData(uint64_t seed, mlir::func::FuncOp graph);

} // namespace convoy::verify
