// What a generator of ops builds a graph with.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "tools/convoy-fuzz/Choices.h"
#include "tools/convoy-fuzz/Graph.h"

#include <functional>

namespace convoy::fuzz {

using Dims = std::vector<int64_t>;

::onnx::AttributeProto attr(const std::string &name, int64_t value);
::onnx::AttributeProto attr(const std::string &name, double value);
::onnx::AttributeProto attr(const std::string &name, const char *value);
::onnx::AttributeProto attr(const std::string &name, const Dims &values);
::onnx::AttributeProto attr(const std::string &name, const std::vector<float> &values);

/// Half of the distance between 1 and the next number of the type; 0 of integers.
double unitOf(convoy_type type);

/// The range of a value that is computed with rounding: sums of `terms` products, the absolute
/// values of which sum up to at most `sum` (products included), on top of an error that comes from
/// the operands. It stays on the grid, without an error, where nothing can round.
///
/// Where it rounds, a sum of n terms in any order is off by more than about sqrt(n) units of its
/// largest partial sum only with a probability that vanishes (Higham and Mary, 2019); the factors
/// below leave room for a few ulp of a function's approximation.
Range rounded(convoy_type type, double lo, double hi, double operandError, double grid, double sum,
              double terms = 1);

/// The same for sums of `terms` products of elements of p and q, where the magnitudes of the
/// factors from q sum up to at most `weights`, and of a bias.
Range sumOfProducts(convoy_type type, const Range &p, const Range &q, double terms, double weights,
                    const Range *bias = nullptr);
/// Of a constant, the largest sum of magnitudes of the elements with the same index in dimension
/// `kept`; of other values a bound for it.
double largestSum(const Value &value, int64_t kept);
class Builder;
/// Weights that keep the magnitude of sums of `terms` products: small integers if the data are on a
/// grid, else of deviation about 1 / sqrt(terms).
Range weightRange(Builder &b, const Range &x, double terms);

int64_t elements(const Dims &dims);
/// The broadcast of two shapes; false if there is none.
bool broadcast(const Dims &a, const Dims &b, Dims &result);

struct Made {
  convoy_type type;
  Dims dims;
  Range range;
};

class Builder {
public:
  explicit Builder(Choices &choices) : choices(choices) {}

  Choices &choices;
  Graph graph;

  const Value &operator[](int value) const { return graph.values[value]; }
  int64_t opset() const { return graph.opset; }

  using Filter = std::function<bool(const Value &)>;
  /// A value that passes, most likely a recent one; kOmitted if there is none.
  int find(const Filter &filter);
  /// Such a value, or a new input of the form that most ops take.
  int floatValue(const Filter &filter = nullptr);
  /// A float value [N, C, spatial...] with spatial rank `spatial`, or 1 to 3, mostly 2, if 0.
  int image(int64_t spatial = 0, const Filter &filter = nullptr);
  /// A value whose elements all correct implementations agree on.
  int exactValue();
  /// Extents of a new tensor.
  Dims newDims(int64_t rank);
  Range newRange(convoy_type type);

  int input(convoy_type type, const Dims &dims, const Range &range);
  int constant(convoy_type type, const Dims &dims, const Range &range);
  int constant(const Tensor &tensor);
  /// A one-dimensional constant of i64.
  int integers(const Dims &values);
  int scalar(convoy_type type, double value);
  /// A constant, or sometimes an input or a fitting value.
  int operand(convoy_type type, const Dims &dims, const Range &range);

  /// Adds a node. False, and the graph is of no use, if a result is too large or too inexact.
  bool add(const std::string &op, const std::vector<int> &inputs, const std::vector<Made> &results,
           const std::vector<::onnx::AttributeProto> &attributes = {},
           const std::string &domain = "");
  /// The first result of the last node.
  int last() const { return graph.nodes.back().outputs.front(); }
  int64_t positiveAxis(int64_t axis, int64_t rank) const { return axis < 0 ? axis + rank : axis; }
  /// An axis, sometimes written as a negative number.
  int64_t axisOf(int64_t rank) {
    int64_t axis = choices.draw(static_cast<uint32_t>(rank));
    return choices.oneIn(3) ? axis - rank : axis;
  }

private:
  convoy_type narrowType();
  Tensor fill(convoy_type type, const Dims &dims, const Range &range);
  int addValue(Value value);
};

/// One kind of op, or an idiom of several. `make` returns false if it cannot be added here; what it
/// has added by then is taken back.
struct OpKind {
  std::string name;
  unsigned weight;
  int64_t from, to; ///< opsets
  std::function<bool(Builder &)> make;
};

constexpr int64_t kOldest = 7, kNewest = 25;

/// All kinds, in a fixed order: that of the files below.
const std::vector<OpKind> &opKinds();
void addElementwise(std::vector<OpKind> &kinds);
void addWindows(std::vector<OpKind> &kinds);
void addMovement(std::vector<OpKind> &kinds);
void addReductions(std::vector<OpKind> &kinds);
void addProducts(std::vector<OpKind> &kinds);
void addNormalizations(std::vector<OpKind> &kinds);
void addIndexing(std::vector<OpKind> &kinds);
void addQuantized(std::vector<OpKind> &kinds);
void addIdioms(std::vector<OpKind> &kinds);

/// What to generate.
struct GeneratorOptions {
  unsigned maxNodes = 12;
  /// Only these kinds if not empty.
  std::vector<std::string> only;
};

Graph generate(Choices &choices, const GeneratorOptions &options);

} // namespace convoy::fuzz
