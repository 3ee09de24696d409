// Builds graphs: values, their data, nodes; and the loop that takes kinds of ops from the table.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/convoy-fuzz/Builder.h"

#include "tools/support/Error.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace convoy;
using namespace convoy::fuzz;

// Larger tensors find nothing that these do not, but take longer.
static constexpr int64_t kMaxElements = 6000;

::onnx::AttributeProto convoy::fuzz::attr(const std::string &name, int64_t value) {
  ::onnx::AttributeProto made;
  made.set_name(name);
  made.set_type(::onnx::AttributeProto::INT);
  made.set_i(value);
  return made;
}

::onnx::AttributeProto convoy::fuzz::attr(const std::string &name, double value) {
  ::onnx::AttributeProto made;
  made.set_name(name);
  made.set_type(::onnx::AttributeProto::FLOAT);
  made.set_f(static_cast<float>(value));
  return made;
}

::onnx::AttributeProto convoy::fuzz::attr(const std::string &name, const char *value) {
  ::onnx::AttributeProto made;
  made.set_name(name);
  made.set_type(::onnx::AttributeProto::STRING);
  made.set_s(value);
  return made;
}

::onnx::AttributeProto convoy::fuzz::attr(const std::string &name, const Dims &values) {
  ::onnx::AttributeProto made;
  made.set_name(name);
  made.set_type(::onnx::AttributeProto::INTS);
  for (int64_t value : values)
    made.add_ints(value);
  return made;
}

::onnx::AttributeProto convoy::fuzz::attr(const std::string &name,
                                          const std::vector<float> &values) {
  ::onnx::AttributeProto made;
  made.set_name(name);
  made.set_type(::onnx::AttributeProto::FLOATS);
  for (float value : values)
    made.add_floats(value);
  return made;
}

double convoy::fuzz::unitOf(convoy_type type) {
  switch (type) {
  case CONVOY_TYPE_F32:
  case CONVOY_TYPE_F64: // A function of f64 may be computed to what f32 has.
    return std::ldexp(1, -24);
  case CONVOY_TYPE_F16:
    return std::ldexp(1, -11);
  case CONVOY_TYPE_BF16:
    return std::ldexp(1, -8);
  default:
    return 0;
  }
}

Range convoy::fuzz::rounded(convoy_type type, double lo, double hi, double operandError,
                            double grid, double sum, double terms) {
  double unit = unitOf(type);
  Range range{lo, hi, operandError, 0};
  // A factor of 4 below what the significand holds, for sums that a fusion regroups.
  if (grid != 0 && operandError == 0 && sum * unit * 4 <= grid)
    range.grid = grid;
  else
    range.error +=
        unit * 8 * std::max(std::fabs(lo), std::fabs(hi)) +
        (terms > 1 ? std::min(unit, std::ldexp(1, -24)) * 4 * std::sqrt(terms) : unit) * sum;
  return range;
}

Range convoy::fuzz::sumOfProducts(convoy_type type, const Range &p, const Range &q, double terms,
                                  double weights, const Range *bias) {
  double most = p.magnitude() * weights, grid = p.grid * q.grid;
  double error = weights * p.error + terms * p.magnitude() * q.error;
  if (bias) {
    most += bias->magnitude();
    error += bias->error;
    grid = bias->grid == 0 ? 0 : std::min(grid, bias->grid);
  }
  return rounded(type, -most, most, error, grid, most, terms);
}

double convoy::fuzz::largestSum(const Value &value, int64_t kept) {
  int64_t extent = value.dims()[kept], inner = 1;
  if (value.kind != Value::Constant)
    return value.range.magnitude() * elements(value.dims()) / std::max<int64_t>(extent, 1);
  for (int64_t i = kept + 1; i < value.rank(); ++i)
    inner *= value.dims()[i];
  std::vector<double> sums(extent);
  for (int64_t i = 0; i < value.tensor.size(); ++i)
    sums[i / inner % extent] += std::fabs(value.tensor.at(i));
  return sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
}

Range convoy::fuzz::weightRange(Builder &b, const Range &x, double terms) {
  if (x.grid != 0 && b.choices.draw(3) < 2)
    return {-2, 2, 0, 1};
  double most = 1.7 / std::sqrt(std::max(terms, 1.0));
  return {-most, most, 0, 0};
}

int64_t convoy::fuzz::elements(const Dims &dims) {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  return count;
}

bool convoy::fuzz::broadcast(const Dims &a, const Dims &b, Dims &result) {
  size_t rank = std::max(a.size(), b.size());
  Dims made(rank, 1); // `result` may be one of the operands.
  for (size_t i = 0; i < rank; ++i) {
    int64_t left = i < rank - a.size() ? 1 : a[i - (rank - a.size())];
    int64_t right = i < rank - b.size() ? 1 : b[i - (rank - b.size())];
    if (left != right && left != 1 && right != 1)
      return false;
    made[i] = left == 1 ? right : left;
  }
  result = std::move(made);
  return true;
}

int Builder::find(const Filter &filter) {
  std::vector<int> fitting;
  for (int i = static_cast<int>(graph.values.size()); i-- > 0;)
    if (graph.values[i].kind != Value::Constant && filter(graph.values[i]))
      fitting.push_back(i);
  if (fitting.empty())
    return kOmitted;
  // Chains are more worth than bushes: most often the newest.
  if (choices.draw(4) < 3)
    return fitting.front();
  return choices.pick(fitting);
}

// Most ops take bf16 since opset 13.
convoy_type Builder::narrowType() {
  return choices.oneIn(2) && opset() >= 13 ? CONVOY_TYPE_BF16 : CONVOY_TYPE_F16;
}

int Builder::floatValue(const Filter &filter) {
  auto fits = [&](const Value &value) {
    return tools::isFloat(value.type()) && (!filter || filter(value));
  };
  if (!choices.oneIn(8))
    if (int found = find(fits); found != kOmitted)
      return found;
  convoy_type type = choices.oneIn(12) ? narrowType() : CONVOY_TYPE_F32;
  int made = input(type, newDims(choices.pick<int64_t>({4, 4, 4, 3, 2, 1, 0, 5})), newRange(type));
  return !filter || filter(graph.values[made]) ? made : kOmitted;
}

int Builder::image(int64_t spatial, const Filter &filter) {
  auto fits = [&](const Value &value) {
    return tools::isFloat(value.type()) && elements(value.dims()) > 0 &&
           (spatial ? value.rank() == spatial + 2 : value.rank() >= 3 && value.rank() <= 5) &&
           (!filter || filter(value));
  };
  if (!choices.oneIn(8))
    if (int found = find(fits); found != kOmitted)
      return found;
  convoy_type type = choices.oneIn(20) ? narrowType() : CONVOY_TYPE_F32;
  int64_t rank = spatial ? spatial + 2 : choices.pick<int64_t>({4, 4, 4, 4, 4, 3, 5});
  int made = input(type, newDims(rank), newRange(type));
  return fits(graph.values[made]) ? made : kOmitted;
}

int Builder::exactValue() {
  auto fits = [](const Value &value) {
    return value.range.exact() && value.type() != CONVOY_TYPE_BOOL;
  };
  if (!choices.oneIn(4))
    if (int found = find(fits); found != kOmitted)
      return found;
  convoy_type type = choices.pick<convoy_type>({CONVOY_TYPE_F32, CONVOY_TYPE_F32, CONVOY_TYPE_F32,
                                                CONVOY_TYPE_I32, CONVOY_TYPE_I64, CONVOY_TYPE_F16});
  return input(type, newDims(choices.pick<int64_t>({4, 4, 3, 2, 1})), newRange(type));
}

Dims Builder::newDims(int64_t rank) {
  Dims dims;
  static const std::vector<int64_t> batches = {1, 1, 1, 1, 2, 3};
  static const std::vector<int64_t> channels = {1,  2,  3,  4,  5,  7,  8, 12,
                                                16, 16, 17, 31, 32, 33, 48};
  static const std::vector<int64_t> extents = {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 16};
  for (int64_t i = 0; i < rank; ++i)
    dims.push_back(choices.pick(rank >= 3 && i == 0   ? batches
                                : rank >= 3 && i == 1 ? channels
                                                      : extents));
  if (choices.oneIn(100) && rank > 0)
    dims[choices.draw(static_cast<uint32_t>(rank))] = 0;
  // The outer extents give way.
  for (int64_t i = rank; i-- > 0 && elements(dims) > kMaxElements;)
    dims[i] = std::max<int64_t>(1, dims[i] / 4);
  return dims;
}

Range Builder::newRange(convoy_type type) {
  if (type == CONVOY_TYPE_BOOL)
    return {0, 1, 0, 1};
  if (!tools::isFloat(type)) {
    bool isUnsigned = type == CONVOY_TYPE_U8 || type == CONVOY_TYPE_U16 ||
                      type == CONVOY_TYPE_U32 || type == CONVOY_TYPE_U64;
    double least = isUnsigned ? 0 : -5;
    return {least, 9, 0, 1};
  }
  switch (choices.draw(4)) {
  case 0:
  case 1:
    return {-3, 3, 0, 1};
  case 2:
    return {-1, 1, 0, 0};
  default:
    return {0.25, 2, 0, 0};
  }
}

Tensor Builder::fill(convoy_type type, const Dims &dims, const Range &range) {
  Tensor tensor;
  tensor.type = type;
  tensor.resize(dims);
  uint32_t seed = choices.draw(1 << 16);
  Choices data(seed + 1);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    double element;
    if (range.grid != 0) {
      auto least = static_cast<int64_t>(std::ceil(range.lo / range.grid));
      auto most = static_cast<int64_t>(std::floor(range.hi / range.grid));
      // Seed 0, the simplest choice, counts up.
      element =
          range.grid * double(seed ? data.between(least, most) : least + i % (most - least + 1));
    } else {
      element = range.lo + (range.hi - range.lo) * data.draw(1 << 24) / double(1 << 24);
    }
    tensor.set(i, element);
    // Rounding to a narrow type must not leave the range.
    if (tensor.at(i) < range.lo || tensor.at(i) > range.hi)
      tensor.set(i, (range.lo + range.hi) / 2);
  }
  return tensor;
}

int Builder::addValue(Value value) {
  static const char *const prefixes[] = {"x", "c", "v"};
  value.name = prefixes[value.kind] + std::to_string(graph.values.size());
  graph.values.push_back(std::move(value));
  return static_cast<int>(graph.values.size()) - 1;
}

int Builder::input(convoy_type type, const Dims &dims, const Range &range) {
  Value value;
  value.kind = Value::Input;
  value.tensor = fill(type, dims, range);
  value.range = range;
  return addValue(std::move(value));
}

// The largest power of two from 1 to 1/64 of which all elements are multiples; 0 if there is none.
static double gridOf(const Tensor &tensor) {
  double grid = 1;
  for (int64_t i = 0; i < tensor.size(); ++i)
    while (std::fmod(tensor.at(i), grid) != 0)
      if ((grid /= 2) < 1.0 / 64)
        return 0;
  return grid;
}

int Builder::constant(const Tensor &tensor) {
  Value value;
  value.kind = Value::Constant;
  value.tensor = tensor;
  value.range.grid = gridOf(tensor);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    double element = tensor.at(i);
    value.range.lo = i ? std::min(value.range.lo, element) : element;
    value.range.hi = i ? std::max(value.range.hi, element) : element;
  }
  return addValue(std::move(value));
}

int Builder::constant(convoy_type type, const Dims &dims, const Range &range) {
  int made = constant(fill(type, dims, range));
  // What was asked for describes it as well, and does not change when the shrinker changes a seed.
  graph.values[made].range = range;
  return made;
}

int Builder::integers(const Dims &values) {
  Tensor tensor;
  tensor.type = CONVOY_TYPE_I64;
  tensor.resize({static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i)
    reinterpret_cast<int64_t *>(tensor.bytes.data())[i] = values[i];
  return constant(tensor);
}

int Builder::scalar(convoy_type type, double value) {
  Tensor tensor;
  tensor.type = type;
  tensor.resize({});
  tensor.set(0, value);
  return constant(tensor);
}

int Builder::operand(convoy_type type, const Dims &dims, const Range &range) {
  uint32_t how = choices.draw(10);
  if (how == 8)
    return input(type, dims, range);
  if (how == 9) {
    int found = find([&](const Value &value) {
      return value.type() == type && value.dims() == dims && value.range.lo >= range.lo &&
             value.range.hi <= range.hi && value.range.error <= range.error &&
             (range.grid == 0 ||
              (value.range.grid != 0 && std::fmod(value.range.grid, range.grid) == 0));
    });
    if (found != kOmitted)
      return found;
  }
  return constant(type, dims, range);
}

bool Builder::add(const std::string &op, const std::vector<int> &inputs,
                  const std::vector<Made> &results,
                  const std::vector<::onnx::AttributeProto> &attributes,
                  const std::string &domain) {
  if (graph.nodes.size() >= 40)
    return false;
  Node node;
  node.op = op;
  node.domain = domain;
  node.inputs = inputs;
  // What stands at the end need not be written.
  while (!node.inputs.empty() && node.inputs.back() == kOmitted)
    node.inputs.pop_back();
  node.attributes = attributes;
  for (const Made &made : results) {
    if (elements(made.dims) > kMaxElements || made.dims.size() > 6)
      return false;
    double most = made.type == CONVOY_TYPE_F16  ? 4e3
                  : made.type == CONVOY_TYPE_I8 ? 127
                  : made.type == CONVOY_TYPE_U8 ? 255
                  : tools::isFloat(made.type)   ? 1e6
                                                : 3e4;
    bool isUnsigned = made.type == CONVOY_TYPE_U8 || made.type == CONVOY_TYPE_U16 ||
                      made.type == CONVOY_TYPE_U32 || made.type == CONVOY_TYPE_U64;
    double magnitude = made.range.magnitude();
    if (!(magnitude <= most) || (isUnsigned && made.range.lo < 0))
      return false;
    // A comparison with a wide tolerance finds nothing.
    if (made.range.error > (unitOf(made.type) < 1e-6 ? 1e-3 : 0.05) * std::max(magnitude, 1e-3))
      return false;
    Value value;
    value.tensor.type = made.type;
    value.tensor.dims = made.dims;
    value.range = made.range;
    node.outputs.push_back(addValue(std::move(value)));
  }
  graph.nodes.push_back(std::move(node));
  return true;
}

const std::vector<OpKind> &convoy::fuzz::opKinds() {
  static const std::vector<OpKind> kinds = [] {
    std::vector<OpKind> made;
    addElementwise(made);
    addWindows(made);
    addMovement(made);
    addReductions(made);
    addProducts(made);
    addNormalizations(made);
    addIndexing(made);
    addQuantized(made);
    addIdioms(made);
    return made;
  }();
  return kinds;
}

// The results that nothing uses, and now and then one that is used inside as well.
static void chooseOutputs(Builder &builder) {
  Graph &graph = builder.graph;
  std::set<int> used;
  for (const Node &node : graph.nodes)
    used.insert(node.inputs.begin(), node.inputs.end());
  for (const Node &node : graph.nodes)
    for (int output : node.outputs)
      if (!used.count(output) || builder.choices.oneIn(6))
        graph.outputs.push_back(output);
}

Graph convoy::fuzz::generate(Choices &choices, const GeneratorOptions &options) {
  Builder builder(choices);
  builder.graph.opset = choices.pick<int64_t>(
      {17, 13, 18, 11, 12, 15, 16, 19, 20, 21, 22, 23, 9, 7, 10, 8, 14, 24, 25});
  std::vector<const OpKind *> kinds;
  unsigned weights = 0;
  for (const OpKind &kind : opKinds()) {
    bool chosen = options.only.empty() || std::find(options.only.begin(), options.only.end(),
                                                    kind.name) != options.only.end();
    if (!chosen || builder.opset() < kind.from || builder.opset() > kind.to)
      continue;
    kinds.push_back(&kind);
    weights += kind.weight;
  }
  size_t steps = 1 + choices.draw(options.maxNodes);
  for (size_t step = 0; step < steps && !kinds.empty(); ++step) {
    size_t begin = choices.record().size();
    uint32_t ticket = choices.draw(weights);
    size_t chosen = 0;
    while (ticket >= kinds[chosen]->weight)
      ticket -= kinds[chosen++]->weight;
    size_t values = builder.graph.values.size(), nodes = builder.graph.nodes.size();
    if (!kinds[chosen]->make(builder)) {
      builder.graph.values.resize(values);
      builder.graph.nodes.resize(nodes);
    }
    choices.endSpan(begin);
    if (builder.graph.nodes.size() >= options.maxNodes + 4)
      break;
  }
  chooseOutputs(builder);
  builder.graph.dropUnused();
  return std::move(builder.graph);
}
