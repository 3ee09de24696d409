// A small ONNX graph with the data of its inputs and what is known of its values' accuracy.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "tools/support/Tensor.h"

#include <cstdint>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

namespace convoy::fuzz {

using tools::Tensor;

/// What the elements of a value can be. The bounds hold for all data that the graph's inputs can
/// have, so that a generator knows that a logarithm's operand is positive.
///
/// `error` bounds how far an element of a correct implementation may be from the real number that
/// the definition gives, whatever the order of its sums. Two implementations therefore differ by at
/// most twice that. It is 0 where every correct implementation gives the same element: for inputs,
/// for what only moves or chooses elements, and for sums and products on a grid.
///
/// `grid` is not 0 if all elements are multiples of it. Arithmetic on multiples whose sums stay
/// below 2^p grids (p: the bits of the type's significand) rounds nowhere, in no order. Ops that
/// jump (rounding, comparison, arg max, conversion to an integer) are generated only where the
/// error is 0, so a graph never asks on which side of a jump a rounded number falls.
struct Range {
  double lo = 0, hi = 0, error = 0, grid = 0;

  double magnitude() const;
  bool exact() const { return error == 0; }
};

struct Value {
  enum Kind { Input, Constant, Result } kind = Result;
  std::string name;
  /// Type and dims; the elements too but of a result.
  Tensor tensor;
  Range range;

  convoy_type type() const { return tensor.type; }
  const std::vector<int64_t> &dims() const { return tensor.dims; }
  int64_t rank() const { return static_cast<int64_t>(tensor.dims.size()); }
};

constexpr int kOmitted = -1;

struct Node {
  std::string op, domain;
  std::vector<int> inputs; ///< indices of values, or kOmitted
  std::vector<int> outputs;
  std::vector<::onnx::AttributeProto> attributes;
};

struct Graph {
  int64_t opset = 17;
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<int> outputs;

  /// Values of kind Input that something uses, in order.
  std::vector<int> inputs() const;
  /// Drops nodes whose results nobody uses, and values that belong to nothing then.
  void dropUnused();
};

::onnx::ModelProto toModel(const Graph &graph);
/// ONNX's text form; "" where that form cannot say it (constants of f16 and bf16).
std::string toText(const ::onnx::ModelProto &model);
/// A serialized TensorProto.
std::string toTensorProto(const std::string &name, const Tensor &tensor);

} // namespace convoy::fuzz
