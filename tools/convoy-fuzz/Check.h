// Compiles and runs one model in all ways that must agree, and compares.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "tools/convoy-fuzz/Graph.h"
#include "tools/convoy-fuzz/Oracle.h"

namespace convoy::fuzz {

/// A model with the data of its inputs.
struct Case {
  ::onnx::ModelProto model;
  std::vector<Tensor> inputs;
  /// For each output, how far two correct implementations may be apart.
  std::vector<double> tolerances;
};

Case toCase(const Graph &graph);

/// A fault that is put in on purpose, to see that it is found.
enum class Fault {
  None,
  LostRelu, ///< optimizing targets forget a Relu behind a Conv
  Crash,    ///< they crash at a Concat
  Hang,     ///< they do not come back from a Concat
};

struct CheckOptions {
  /// The first is what the others are compared with.
  std::vector<std::string> targets = {"x86-reference", "x86-avx512", "x86-avx2"};
  Fault fault = Fault::None;
};

struct Verdict {
  /// What differs from what, such as "x86-avx512 differs from x86-reference"; empty if nothing
  /// does. Two failures with the same words are taken for the same.
  std::string failure;
  /// The element, the numbers, the error text.
  std::string details;
  bool oracleAnswered = false;
  /// Why the oracle has no answer.
  std::string oracleText;
  /// The largest tolerance in terms of the largest expected magnitude.
  double looseness = 0;
};

/// Targets of this machine among those asked for, the first always.
std::vector<std::string> runnableTargets(const std::vector<std::string> &targets);

Verdict check(const Case &test, const CheckOptions &options, Oracle *oracle);

} // namespace convoy::fuzz
