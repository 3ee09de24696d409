// GRU, LSTM and RNN, unrolled over their steps: the sequence is a static extent. One matrix product
// makes the inputs' part of all gates and steps, one a step the state's.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/Compose.h"
#include "compiler/onnx/Ops.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;

namespace {

/// An activation with its parameters.
struct Activation {
  std::string name;
  double alpha = 0, beta = 0;
};

/// What the three ops have in common. `gates` is the number of gates that weights hold.
class Recurrence {
public:
  Recurrence(NodeImport &node, int64_t gates, ArrayRef<StringRef> functions)
      : node(node), gates(gates), defaultFunctions(functions) {}

  LogicalResult read();
  FailureOr<Tensor> zeros() const;
  /// The initial state of input `index`, [batch, hidden].
  FailureOr<Tensor> initialState(unsigned index, int64_t direction);
  /// W, R, or a vector of gates: row `direction` of an input.
  FailureOr<Tensor> directionOf(unsigned index, int64_t direction, ArrayRef<int64_t> shape);
  /// The parts of all gates that a direction's inputs and biases make, [steps or batch, ...].
  FailureOr<Tensor> project(int64_t direction, ArrayRef<bool> withStateBias);
  /// Gates [first, first + count) of step `step` of a projection, [batch, count * hidden].
  FailureOr<Tensor> stepOf(const Tensor &projected, int64_t step, int64_t first, int64_t count);
  /// Gate `gate` of [batch, n * hidden].
  FailureOr<Tensor> gateOf(const Tensor &gatesTensor, int64_t gate);
  FailureOr<Tensor> weightsOf(const Tensor &weights, int64_t first, int64_t count);
  Value activate(ScalarBuilder &s, Value x, int64_t direction, unsigned function);
  /// Keeps `before` where the sequence has ended before `step`.
  FailureOr<Tensor> unlessEnded(const Tensor &now, const Tensor &before, int64_t step);
  bool isReverse(int64_t direction) const { return reverse || direction == 1; }

  /// A direction's states over all steps, in the order of steps, and the last one.
  struct Track {
    SmallVector<Tensor> outputs;
    Tensor last;
  };
  LogicalResult setOutputs(ArrayRef<Track> tracks);
  FailureOr<Tensor> joinDirections(ArrayRef<Tensor> states);

  NodeImport &node;
  int64_t gates;
  SmallVector<StringRef> defaultFunctions;
  bool batchFirst = false, reverse = false;
  int64_t directions = 1, steps = 0, batch = 0, features = 0, hidden = 0;
  double clip = 0;
  SmallVector<Activation> functions;
  Type elementType;
};

} // namespace

// Parameters that ONNX gives the activations by default; nothing for an unknown one.
static std::optional<Activation> defaultsOf(StringRef name) {
  static constexpr std::tuple<StringLiteral, double, double> table[] = {
      {"Affine", 1, 0},       {"Elu", 1, 0},      {"HardSigmoid", 0.2f, 0.5},
      {"LeakyRelu", 0.01f, 0}, {"Relu", 0, 0},     {"ScaledTanh", 1, 1},
      {"Sigmoid", 0, 0},      {"Softplus", 0, 0}, {"Softsign", 0, 0},
      {"Tanh", 0, 0},         {"ThresholdedRelu", 1, 0}};
  for (const auto &[known, alpha, beta] : table)
    if (known.equals_insensitive(name))
      return Activation{known.str(), alpha, beta};
  return std::nullopt;
}

static bool takesAlpha(StringRef name) {
  return name == "Affine" || name == "Elu" || name == "HardSigmoid" || name == "LeakyRelu" ||
         name == "ScaledTanh" || name == "ThresholdedRelu";
}
static bool takesBeta(StringRef name) {
  return name == "Affine" || name == "HardSigmoid" || name == "ScaledTanh";
}

LogicalResult Recurrence::read() {
  const Tensor &x = node.input(0), &w = node.input(1), &r = node.input(2);
  elementType = x.elementType();
  if (x.rank() != 3 || w.rank() != 3 || r.rank() != 3 || !isa<FloatType>(elementType))
    return node.error() << "needs X, W and R of rank 3 with floating-point elements, got "
                        << x.type() << ", " << w.type() << " and " << r.type();
  std::string direction = node.stringAttr("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    return node.error() << "attribute 'direction' is '" << direction << "'";
  reverse = direction == "reverse";
  directions = direction == "bidirectional" ? 2 : 1;
  batchFirst = node.intAttr("layout", 0) != 0;
  steps = x.shape()[batchFirst ? 1 : 0];
  batch = x.shape()[batchFirst ? 0 : 1];
  features = x.shape()[2];
  hidden = node.intAttr("hidden_size", r.shape()[2]);
  if (hidden != r.shape()[2])
    return node.error() << "attribute 'hidden_size' is " << hidden << ", its weights " << r.type()
                        << " are for " << r.shape()[2];
  clip = node.floatAttr("clip", 0);
  node.ignoreAttr("output_sequence"); // opset 1: an output that is asked for is given
  if (ShapedType::isDynamic(steps))
    return node.error() << "has a free extent as its sequence; fix it with --shape";
  constexpr int64_t kMostSteps = 1 << 14;
  if (steps > kMostSteps)
    return node.unsupported() << "a sequence of " << steps << " steps, at most " << kMostSteps
                              << " are unrolled";
  if (w.shape() != ArrayRef<int64_t>{directions, gates * hidden, features} ||
      r.shape() != ArrayRef<int64_t>{directions, gates * hidden, hidden})
    return node.error() << "has weights " << w.type() << " and " << r.type() << " for "
                        << directions << " directions, " << features << " features and a state of "
                        << hidden;
  for (const Tensor &input : node.allInputs())
    if (input && isa<FloatType>(input.elementType()) && input.elementType() != elementType)
      return node.error() << "has inputs of " << elementType << " and of " << input.elementType();

  SmallVector<std::string> names = node.stringsAttr("activations");
  if (names.empty())
    for (int64_t d = 0; d < directions; ++d)
      for (StringRef name : defaultFunctions)
        names.push_back(name.str());
  if (names.size() != directions * defaultFunctions.size())
    return node.error() << "has " << names.size() << " activations, expected "
                        << directions * defaultFunctions.size();
  // The lists hold values for those functions that take one.
  SmallVector<double> alphas = node.floatsAttr("activation_alpha");
  SmallVector<double> betas = node.floatsAttr("activation_beta");
  size_t nextAlpha = 0, nextBeta = 0;
  for (const std::string &name : names) {
    std::optional<Activation> function = defaultsOf(name);
    if (!function)
      return node.unsupported() << "activation '" << name << "'";
    if (takesAlpha(function->name) && nextAlpha < alphas.size())
      function->alpha = alphas[nextAlpha++];
    if (takesBeta(function->name) && nextBeta < betas.size())
      function->beta = betas[nextBeta++];
    functions.push_back(*function);
  }
  if (node.hasInput(4) &&
      (node.input(4).rank() != 1 || node.input(4).shape()[0] != batch ||
       !node.input(4).elementType().isSignlessInteger(32)))
    return node.error() << "sequence_lens is " << node.input(4).type() << ", expected " << batch
                        << " elements of i32";
  return success();
}

FailureOr<Tensor> Recurrence::zeros() const {
  auto zero = DenseElementsAttr::get(RankedTensorType::get({}, elementType),
                                     node.getBuilder().getZeroAttr(elementType));
  return node.splat(RankedTensorType::get({batch, hidden}, elementType), zero);
}

FailureOr<Tensor> Recurrence::initialState(unsigned index, int64_t direction) {
  if (!node.hasInput(index))
    return zeros();
  const Tensor &input = node.input(index);
  SmallVector<int64_t> shape{directions, batch, hidden}, one{1, batch, hidden};
  SmallVector<int64_t> start{direction, 0, 0};
  if (batchFirst)
    for (auto *list : {&shape, &one, &start})
      std::swap((*list)[0], (*list)[1]);
  if (input.shape() != ArrayRef<int64_t>(shape))
    return node.error() << "initial state is " << input.type() << ", expected [" << shape << "]";
  FailureOr<Tensor> state = node.slice(input, start, {1, 1, 1}, one);
  if (failed(state))
    return failure();
  return node.reshape(*state, {batch, hidden});
}

FailureOr<Tensor> Recurrence::directionOf(unsigned index, int64_t direction,
                                          ArrayRef<int64_t> shape) {
  SmallVector<int64_t> all{directions}, one{1}, start(shape.size() + 1, 0);
  llvm::append_range(all, shape);
  llvm::append_range(one, shape);
  start[0] = direction;
  const Tensor &input = node.input(index);
  if (input.shape() != ArrayRef<int64_t>(all))
    return node.error() << "input " << index << " is " << input.type() << ", expected [" << all
                        << "]";
  FailureOr<Tensor> part =
      node.slice(input, start, SmallVector<int64_t>(all.size(), 1), one);
  if (failed(part))
    return failure();
  return node.reshape(*part, shape);
}

FailureOr<Tensor> Recurrence::project(int64_t direction, ArrayRef<bool> withStateBias) {
  FailureOr<Tensor> weights = directionOf(1, direction, {gates * hidden, features});
  if (failed(weights))
    return failure();
  if (!node.hasInput(3))
    return createMatmul(node, node.input(0), *weights, false, true);
  FailureOr<Tensor> biases = directionOf(3, direction, {2 * gates * hidden});
  if (failed(biases))
    return failure();
  FailureOr<Tensor> ofInput = node.slice(*biases, {0}, {1}, {gates * hidden});
  if (failed(ofInput))
    return failure();
  // The biases of the state are added here too, but for gates that need theirs apart.
  SmallVector<Tensor> parts;
  for (int64_t gate = 0; gate < gates; ++gate) {
    if (withStateBias[gate]) {
      FailureOr<Tensor> part =
          node.slice(*biases, {(gates + gate) * hidden}, {1}, {hidden});
      if (failed(part))
        return failure();
      parts.push_back(*part);
      continue;
    }
    auto zero = DenseElementsAttr::get(RankedTensorType::get({}, elementType),
                                       node.getBuilder().getZeroAttr(elementType));
    FailureOr<Tensor> none = node.splat(RankedTensorType::get({hidden}, elementType), zero);
    if (failed(none))
      return failure();
    parts.push_back(*none);
  }
  FailureOr<Tensor> ofState = node.concat(parts, 0);
  if (failed(ofState))
    return failure();
  Tensor extras[] = {*ofInput, *ofState};
  return createMatmul(node, node.input(0), *weights, false, true,
                      {extras, {}, [](ScalarBuilder &s, ArrayRef<Value> x) {
                         return s.add(x[0], s.add(x[1], x[2]));
                       }});
}

FailureOr<Tensor> Recurrence::stepOf(const Tensor &projected, int64_t step, int64_t first,
                                     int64_t count) {
  SmallVector<int64_t> start{step, 0, first * hidden}, shape{1, batch, count * hidden};
  if (batchFirst) {
    std::swap(start[0], start[1]);
    std::swap(shape[0], shape[1]);
  }
  FailureOr<Tensor> part = node.slice(projected, start, {1, 1, 1}, shape);
  if (failed(part))
    return failure();
  return node.reshape(*part, {batch, count * hidden});
}

FailureOr<Tensor> Recurrence::gateOf(const Tensor &gatesTensor, int64_t gate) {
  return node.slice(gatesTensor, {0, gate * hidden}, {1, 1}, {batch, hidden});
}

FailureOr<Tensor> Recurrence::weightsOf(const Tensor &weights, int64_t first, int64_t count) {
  return node.slice(weights, {first * hidden, 0}, {1, 1}, {count * hidden, hidden});
}

Value Recurrence::activate(ScalarBuilder &s, Value x, int64_t direction, unsigned function) {
  const Activation &f = functions[direction * defaultFunctions.size() + function];
  if (clip > 0)
    x = s.max(s.min(x, s.number(clip)), s.number(-clip));
  auto sigmoid = [&](Value v) {
    return s.div(s.number(1), s.add(s.number(1), s.make<math::ExpOp>(s.neg(v))));
  };
  Value zero = s.number(0), one = s.number(1), alpha = s.number(f.alpha), beta = s.number(f.beta);
  if (f.name == "Sigmoid")
    return sigmoid(x);
  if (f.name == "Tanh")
    return s.make<math::TanhOp>(x);
  if (f.name == "Relu")
    return s.max(x, zero);
  if (f.name == "Affine")
    return s.add(s.mul(alpha, x), beta);
  if (f.name == "LeakyRelu")
    return s.select(s.less(x, zero), s.mul(alpha, x), x);
  if (f.name == "ThresholdedRelu")
    return s.select(s.lessOrEqual(alpha, x), x, zero);
  if (f.name == "ScaledTanh")
    return s.mul(alpha, s.make<math::TanhOp>(s.mul(beta, x)));
  if (f.name == "HardSigmoid")
    return s.min(s.max(s.add(s.mul(alpha, x), beta), zero), one);
  if (f.name == "Elu")
    return s.select(s.less(x, zero), s.mul(alpha, s.sub(s.make<math::ExpOp>(x), one)), x);
  if (f.name == "Softsign")
    return s.div(x, s.add(one, s.abs(x)));
  Value rest = s.make<math::Log1pOp>(s.make<math::ExpOp>(s.neg(s.abs(x)))); // Softplus
  return s.add(s.max(x, zero), rest);
}

FailureOr<Tensor> Recurrence::unlessEnded(const Tensor &now, const Tensor &before, int64_t step) {
  if (!node.hasInput(4))
    return now;
  FailureOr<Tensor> lengths = node.reshape(node.input(4), {batch, 1});
  if (failed(lengths))
    return failure();
  return createMap(node, {now, before, *lengths}, elementType,
                   [&](ScalarBuilder &s, ArrayRef<Value> x) {
                     ScalarBuilder i = s.of(node.input(4).elementType());
                     return s.select(i.less(i.integer(step), x[2]), x[0], x[1]);
                   });
}

FailureOr<Tensor> Recurrence::joinDirections(ArrayRef<Tensor> states) {
  SmallVector<Tensor> parts;
  SmallVector<int64_t> shape{1, batch, hidden};
  if (batchFirst)
    std::swap(shape[0], shape[1]);
  for (const Tensor &state : states) {
    FailureOr<Tensor> part = node.reshape(state, shape);
    if (failed(part))
      return failure();
    parts.push_back(*part);
  }
  return node.concat(parts, batchFirst ? 1 : 0);
}

// Y is [steps, directions, batch, hidden], Y_h [directions, batch, hidden]; the batch comes first
// with layout = 1.
LogicalResult Recurrence::setOutputs(ArrayRef<Track> tracks) {
  if (node.hasOutput(0)) {
    SmallVector<Tensor> byDirection;
    SmallVector<int64_t> shape{1, 1, batch, hidden};
    if (batchFirst)
      shape = {batch, 1, 1, hidden};
    for (const Track &track : tracks) {
      SmallVector<Tensor> parts;
      for (const Tensor &output : track.outputs) {
        FailureOr<Tensor> part = node.reshape(output, shape);
        if (failed(part))
          return failure();
        parts.push_back(*part);
      }
      if (parts.empty())
        return node.unsupported() << "a sequence of no steps";
      FailureOr<Tensor> joined = node.concat(parts, batchFirst ? 1 : 0);
      if (failed(joined))
        return failure();
      byDirection.push_back(*joined);
    }
    FailureOr<Tensor> all = node.concat(byDirection, batchFirst ? 2 : 1);
    if (failed(all))
      return failure();
    node.setResult(0, *all);
  }
  if (node.hasOutput(1)) {
    SmallVector<Tensor> last;
    for (const Track &track : tracks)
      last.push_back(track.last);
    FailureOr<Tensor> joined = joinDirections(last);
    if (failed(joined))
      return failure();
    node.setResult(1, *joined);
  }
  return success();
}

// Runs `step(index, state)` over the steps of a direction; it returns the next hidden state. The
// output of a step beyond a sequence's end is 0.
template <typename Step>
static FailureOr<Recurrence::Track> runSteps(Recurrence &r, int64_t direction, Tensor state,
                                             Step step) {
  Recurrence::Track track;
  track.outputs.resize(r.steps);
  FailureOr<Tensor> zeros = r.node.hasInput(4) ? r.zeros() : FailureOr<Tensor>(Tensor());
  if (failed(zeros))
    return failure();
  for (int64_t i = 0; i < r.steps; ++i) {
    int64_t index = r.isReverse(direction) ? r.steps - 1 - i : i;
    FailureOr<Tensor> next = step(index, state);
    if (failed(next))
      return failure();
    FailureOr<Tensor> kept = r.unlessEnded(*next, state, index);
    FailureOr<Tensor> output = r.unlessEnded(*next, *zeros, index);
    if (failed(kept) || failed(output))
      return failure();
    state = *kept;
    track.outputs[index] = *output;
  }
  track.last = state;
  return track;
}

// Gates of LSTM's weights: input, output, forget, cell. Its peepholes: input, output, forget.
LogicalResult convoy::onnx::importLstm(NodeImport &node) {
  Recurrence r(node, 4, {"Sigmoid", "Tanh", "Tanh"});
  bool couples = node.intAttr("input_forget", 0) != 0;
  if (failed(r.read()))
    return failure();
  SmallVector<Recurrence::Track> tracks;
  SmallVector<Tensor> cells;
  for (int64_t d = 0; d < r.directions; ++d) {
    FailureOr<Tensor> projected = r.project(d, {true, true, true, true});
    FailureOr<Tensor> weights = r.directionOf(2, d, {4 * r.hidden, r.hidden});
    FailureOr<Tensor> state = r.initialState(5, d), cell = r.initialState(6, d);
    if (failed(projected) || failed(weights) || failed(state) || failed(cell))
      return failure();
    SmallVector<Tensor> peepholes;
    if (node.hasInput(7)) {
      FailureOr<Tensor> all = r.directionOf(7, d, {3 * r.hidden});
      for (int64_t i = 0; i < 3 && succeeded(all); ++i) {
        FailureOr<Tensor> part = node.slice(*all, {i * r.hidden}, {1}, {r.hidden});
        if (failed(part))
          return failure();
        peepholes.push_back(*part);
      }
      if (failed(all))
        return failure();
    }
    bool peeps = !peepholes.empty();
    auto track = runSteps(r, d, *state, [&](int64_t i, const Tensor &h) -> FailureOr<Tensor> {
      FailureOr<Tensor> fromInput = r.stepOf(*projected, i, 0, 4);
      if (failed(fromInput))
        return failure();
      FailureOr<Tensor> gates =
          createMatmul(node, h, *weights, false, true,
                       {*fromInput, {}, [](ScalarBuilder &s, ArrayRef<Value> x) {
                          return s.add(x[0], x[1]);
                        }});
      if (failed(gates))
        return failure();
      SmallVector<Tensor> gate;
      for (int64_t g = 0; g < 4; ++g) {
        FailureOr<Tensor> part = r.gateOf(*gates, g);
        if (failed(part))
          return failure();
        gate.push_back(*part);
      }
      SmallVector<Tensor> inputs{gate[0], gate[2], gate[3], *cell};
      if (peeps)
        inputs.append({peepholes[0], peepholes[2]});
      FailureOr<Tensor> next =
          createMap(node, inputs, r.elementType, [&](ScalarBuilder &s, ArrayRef<Value> x) {
            auto peep = [&](Value gate, unsigned i) {
              return peeps ? s.add(gate, s.mul(x[i], x[3])) : gate;
            };
            Value in = r.activate(s, peep(x[0], 4), d, 0);
            Value forget = couples ? s.sub(s.number(1), in) : r.activate(s, peep(x[1], 5), d, 0);
            Value candidate = r.activate(s, x[2], d, 1);
            return s.add(s.mul(forget, x[3]), s.mul(in, candidate));
          });
      if (failed(next))
        return failure();
      SmallVector<Tensor> outputs{gate[1], *next};
      if (peeps)
        outputs.push_back(peepholes[1]);
      FailureOr<Tensor> hidden =
          createMap(node, outputs, r.elementType, [&](ScalarBuilder &s, ArrayRef<Value> x) {
            Value out = peeps ? s.add(x[0], s.mul(x[2], x[1])) : x[0];
            return s.mul(r.activate(s, out, d, 0), r.activate(s, x[1], d, 2));
          });
      cell = r.unlessEnded(*next, *cell, i);
      if (failed(cell))
        return failure();
      return hidden;
    });
    if (failed(track))
      return failure();
    tracks.push_back(*track);
    cells.push_back(*cell);
  }
  if (node.hasOutput(2)) {
    FailureOr<Tensor> joined = r.joinDirections(cells);
    if (failed(joined))
      return failure();
    node.setResult(2, *joined);
  }
  return r.setOutputs(tracks);
}

// Gates of GRU's weights: update, reset, hidden.
LogicalResult convoy::onnx::importGru(NodeImport &node) {
  Recurrence r(node, 3, {"Sigmoid", "Tanh"});
  bool resetsLast = node.intAttr("linear_before_reset", 0) != 0;
  if (failed(r.read()))
    return failure();
  SmallVector<Recurrence::Track> tracks;
  for (int64_t d = 0; d < r.directions; ++d) {
    // The reset gate multiplies the hidden gate's bias too if it comes last.
    FailureOr<Tensor> projected = r.project(d, {true, true, !resetsLast});
    FailureOr<Tensor> weights = r.directionOf(2, d, {3 * r.hidden, r.hidden});
    FailureOr<Tensor> state = r.initialState(5, d);
    if (failed(projected) || failed(weights) || failed(state))
      return failure();
    FailureOr<Tensor> gateWeights = r.weightsOf(*weights, 0, 2);
    FailureOr<Tensor> hiddenWeights = r.weightsOf(*weights, 2, 1);
    if (failed(gateWeights) || failed(hiddenWeights))
      return failure();
    SmallVector<Tensor> lateBias;
    if (resetsLast && node.hasInput(3)) {
      FailureOr<Tensor> biases = r.directionOf(3, d, {6 * r.hidden});
      if (failed(biases))
        return failure();
      FailureOr<Tensor> part = node.slice(*biases, {5 * r.hidden}, {1}, {r.hidden});
      if (failed(part))
        return failure();
      lateBias.push_back(*part);
    }
    auto track = runSteps(r, d, *state, [&](int64_t i, const Tensor &h) -> FailureOr<Tensor> {
      FailureOr<Tensor> ofGates = r.stepOf(*projected, i, 0, 2);
      FailureOr<Tensor> ofHidden = r.stepOf(*projected, i, 2, 1);
      if (failed(ofGates) || failed(ofHidden))
        return failure();
      FailureOr<Tensor> gates =
          createMatmul(node, h, *gateWeights, false, true,
                       {*ofGates, {}, [&](ScalarBuilder &s, ArrayRef<Value> x) {
                          return r.activate(s, s.add(x[0], x[1]), d, 0);
                        }});
      if (failed(gates))
        return failure();
      FailureOr<Tensor> update = r.gateOf(*gates, 0), reset = r.gateOf(*gates, 1);
      if (failed(update) || failed(reset))
        return failure();
      FailureOr<Tensor> candidate = failure();
      if (resetsLast) {
        SmallVector<Tensor> extras{*ofHidden, *reset};
        llvm::append_range(extras, lateBias);
        candidate = createMatmul(
            node, h, *hiddenWeights, false, true,
            {extras, {}, [&](ScalarBuilder &s, ArrayRef<Value> x) {
               Value fromState = x.size() > 3 ? s.add(x[0], x[3]) : x[0];
               return r.activate(s, s.add(x[1], s.mul(x[2], fromState)), d, 1);
             }});
      } else {
        FailureOr<Tensor> partial =
            createMap(node, {*reset, h}, r.elementType, [](ScalarBuilder &s, ArrayRef<Value> x) {
              return s.mul(x[0], x[1]);
            });
        if (failed(partial))
          return failure();
        candidate = createMatmul(node, *partial, *hiddenWeights, false, true,
                                 {*ofHidden, {}, [&](ScalarBuilder &s, ArrayRef<Value> x) {
                                    return r.activate(s, s.add(x[0], x[1]), d, 1);
                                  }});
      }
      if (failed(candidate))
        return failure();
      return createMap(node, {*update, *candidate, h}, r.elementType,
                       [](ScalarBuilder &s, ArrayRef<Value> x) {
                         Value fresh = s.mul(s.sub(s.number(1), x[0]), x[1]);
                         return s.add(fresh, s.mul(x[0], x[2]));
                       });
    });
    if (failed(track))
      return failure();
    tracks.push_back(*track);
  }
  return r.setOutputs(tracks);
}

LogicalResult convoy::onnx::importRnn(NodeImport &node) {
  Recurrence r(node, 1, {"Tanh"});
  if (failed(r.read()))
    return failure();
  SmallVector<Recurrence::Track> tracks;
  for (int64_t d = 0; d < r.directions; ++d) {
    FailureOr<Tensor> projected = r.project(d, {true});
    FailureOr<Tensor> weights = r.directionOf(2, d, {r.hidden, r.hidden});
    FailureOr<Tensor> state = r.initialState(5, d);
    if (failed(projected) || failed(weights) || failed(state))
      return failure();
    auto track = runSteps(r, d, *state, [&](int64_t i, const Tensor &h) -> FailureOr<Tensor> {
      FailureOr<Tensor> fromInput = r.stepOf(*projected, i, 0, 1);
      if (failed(fromInput))
        return failure();
      return createMatmul(node, h, *weights, false, true,
                          {*fromInput, {}, [&](ScalarBuilder &s, ArrayRef<Value> x) {
                             return r.activate(s, s.add(x[0], x[1]), d, 0);
                           }});
    });
    if (failed(track))
      return failure();
    tracks.push_back(*track);
  }
  return r.setOutputs(tracks);
}
