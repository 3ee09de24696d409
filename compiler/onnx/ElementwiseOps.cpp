// Elementwise ops: cnn.map with a scalar region.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/Ops.h"
#include "compiler/onnx/ScalarBuilder.h"
#include "compiler/onnx/TensorData.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;

namespace {

/// Element types that an op takes.
enum Types : unsigned { Floats = 1, Ints = 2, Bools = 4, Numbers = Floats | Ints };
enum Result { SameType, Bool };

using Elements = llvm::ArrayRef<Value>;
using Formula = Value (*)(ScalarBuilder &s, Elements x, NodeImport &node);

struct ElementwiseOp {
  StringLiteral name;
  unsigned types;
  Result result;
  Formula formula;
};

} // namespace

//===----------------------------------------------------------------------===//
// Formulas
//===----------------------------------------------------------------------===//

template <typename OpTy> static Value unary(ScalarBuilder &s, Elements x, NodeImport &) {
  return s.make<OpTy>(x[0]);
}

static Value abs(ScalarBuilder &s, Elements x, NodeImport &) { return s.abs(x[0]); }
static Value neg(ScalarBuilder &s, Elements x, NodeImport &) { return s.neg(x[0]); }
static Value sub(ScalarBuilder &s, Elements x, NodeImport &) { return s.sub(x[0], x[1]); }
static Value mul(ScalarBuilder &s, Elements x, NodeImport &) { return s.mul(x[0], x[1]); }
static Value div(ScalarBuilder &s, Elements x, NodeImport &) { return s.div(x[0], x[1]); }

static Value sum(ScalarBuilder &s, Elements x, NodeImport &) {
  Value result = x[0];
  for (Value element : x.drop_front())
    result = s.add(result, element);
  return result;
}
static Value mean(ScalarBuilder &s, Elements x, NodeImport &node) {
  return s.div(sum(s, x, node), s.number(x.size()));
}
static Value maximum(ScalarBuilder &s, Elements x, NodeImport &) {
  Value result = x[0];
  for (Value element : x.drop_front())
    result = s.max(result, element);
  return result;
}
static Value minimum(ScalarBuilder &s, Elements x, NodeImport &) {
  Value result = x[0];
  for (Value element : x.drop_front())
    result = s.min(result, element);
  return result;
}

static Value mod(ScalarBuilder &s, Elements x, NodeImport &node) {
  if (s.isFloat() && node.intAttr("fmod", 0) == 0)
    node.error() << "of floating-point elements needs fmod = 1";
  return s.mod(x[0], x[1], node.intAttr("fmod", 0) != 0);
}

static Value logicalAnd(ScalarBuilder &s, Elements x, NodeImport &) {
  return s.make<arith::AndIOp>(x[0], x[1]);
}
static Value logicalOr(ScalarBuilder &s, Elements x, NodeImport &) {
  return s.make<arith::OrIOp>(x[0], x[1]);
}
static Value logicalXor(ScalarBuilder &s, Elements x, NodeImport &) {
  return s.make<arith::XOrIOp>(x[0], x[1]);
}
static Value logicalNot(ScalarBuilder &s, Elements x, NodeImport &) {
  return s.make<arith::XOrIOp>(x[0], s.integer(1));
}

static Value equal(ScalarBuilder &s, Elements x, NodeImport &) { return s.equal(x[0], x[1]); }
static Value less(ScalarBuilder &s, Elements x, NodeImport &) { return s.less(x[0], x[1]); }
static Value lessOrEqual(ScalarBuilder &s, Elements x, NodeImport &) {
  return s.lessOrEqual(x[0], x[1]);
}
static Value greater(ScalarBuilder &s, Elements x, NodeImport &) { return s.less(x[1], x[0]); }
static Value greaterOrEqual(ScalarBuilder &s, Elements x, NodeImport &) {
  return s.lessOrEqual(x[1], x[0]);
}

static Value reciprocal(ScalarBuilder &s, Elements x, NodeImport &) {
  return s.div(s.number(1), x[0]);
}

static Value sign(ScalarBuilder &s, Elements x, NodeImport &) {
  Value zero = s.number(0);
  Value negative = s.isUnsigned() ? x[0] : s.select(s.less(x[0], zero), s.number(-1), x[0]);
  return s.select(s.less(zero, x[0]), s.number(1), negative); // keeps 0 and NaN
}

static Value relu(ScalarBuilder &s, Elements x, NodeImport &) { return s.max(x[0], s.number(0)); }

// Ops of ONNX's first years, which old converters left in models: Affine, Scale, ScaledTanh and
// ParametricSoftplus. The last two have attributes without a default.
static Value affine(ScalarBuilder &s, Elements x, NodeImport &node) {
  Value scaled = s.mul(x[0], s.number(node.floatAttr("alpha", 1)));
  return s.add(scaled, s.number(node.floatAttr("beta", 0)));
}

static Value scale(ScalarBuilder &s, Elements x, NodeImport &node) {
  return s.mul(x[0], s.number(node.floatAttr("scale", 1)));
}

static Value neededAttr(ScalarBuilder &s, NodeImport &node, StringRef name) {
  if (!node.hasAttr(name))
    node.error() << "lacks attribute '" << name << "', which has no default";
  return s.number(node.floatAttr(name, 1));
}

static Value scaledTanh(ScalarBuilder &s, Elements x, NodeImport &node) {
  Value alpha = neededAttr(s, node, "alpha"), beta = neededAttr(s, node, "beta");
  return s.mul(alpha, s.make<math::TanhOp>(s.mul(beta, x[0])));
}

static Value leakyRelu(ScalarBuilder &s, Elements x, NodeImport &node) {
  Value scaled = s.mul(x[0], s.number(node.floatAttr("alpha", 0.01f)));
  return s.select(s.less(x[0], s.number(0)), scaled, x[0]);
}

static Value thresholdedRelu(ScalarBuilder &s, Elements x, NodeImport &node) {
  Value alpha = s.number(node.floatAttr("alpha", 1));
  // Not above the threshold, with NaN as ONNX's function has it, is 0.
  return s.select(s.less(alpha, x[0]), x[0], s.number(0));
}

// scale * (exp(x) - 1)
static Value expMinusOne(ScalarBuilder &s, Value x, double scale) {
  Value result = s.sub(s.make<math::ExpOp>(x), s.number(1));
  return scale == 1 ? result : s.mul(result, s.number(scale));
}

static Value elu(ScalarBuilder &s, Elements x, NodeImport &node) {
  Value negative = expMinusOne(s, x[0], node.floatAttr("alpha", 1));
  return s.select(s.less(x[0], s.number(0)), negative, x[0]);
}

static Value celu(ScalarBuilder &s, Elements x, NodeImport &node) {
  double alpha = node.floatAttr("alpha", 1);
  Value negative = expMinusOne(s, s.div(x[0], s.number(alpha)), alpha);
  return s.add(s.max(x[0], s.number(0)), s.min(negative, s.number(0)));
}

static Value selu(ScalarBuilder &s, Elements x, NodeImport &node) {
  double alpha = node.floatAttr("alpha", 1.67326319217681884765625);
  double gamma = node.floatAttr("gamma", 1.05070102214813232421875);
  Value negative = expMinusOne(s, x[0], alpha);
  return s.mul(s.number(gamma), s.select(s.lessOrEqual(x[0], s.number(0)), negative, x[0]));
}

static Value sigmoid(ScalarBuilder &s, Elements x, NodeImport &) {
  Value one = s.number(1);
  return s.div(one, s.add(one, s.make<math::ExpOp>(s.neg(x[0]))));
}

static Value hardSigmoid(ScalarBuilder &s, Elements x, NodeImport &node) {
  Value alpha = s.number(node.floatAttr("alpha", 0.2f));
  Value beta = s.number(node.floatAttr("beta", 0.5));
  Value line = s.add(s.mul(x[0], alpha), beta);
  return s.max(s.min(line, s.number(1)), s.number(0));
}

static Value hardSwish(ScalarBuilder &s, Elements x, NodeImport &) {
  Value line = s.add(s.mul(x[0], s.number(1.0f / 6)), s.number(0.5));
  return s.mul(x[0], s.max(s.min(line, s.number(1)), s.number(0)));
}

// log(exp(x) + 1), written so that nothing overflows.
static Value softplus(ScalarBuilder &s, Elements x, NodeImport &) {
  Value rest = s.make<math::Log1pOp>(s.make<math::ExpOp>(s.neg(s.abs(x[0]))));
  return s.add(s.max(x[0], s.number(0)), rest);
}

static Value parametricSoftplus(ScalarBuilder &s, Elements x, NodeImport &node) {
  Value alpha = neededAttr(s, node, "alpha"), beta = neededAttr(s, node, "beta");
  return s.mul(alpha, softplus(s, s.mul(beta, x[0]), node));
}

static Value softsign(ScalarBuilder &s, Elements x, NodeImport &) {
  return s.div(x[0], s.add(s.number(1), s.abs(x[0])));
}

static Value mish(ScalarBuilder &s, Elements x, NodeImport &node) {
  return s.mul(x[0], s.make<math::TanhOp>(softplus(s, x, node)));
}

static Value swish(ScalarBuilder &s, Elements x, NodeImport &node) {
  double alpha = node.floatAttr("alpha", 1);
  Value scaled = alpha == 1 ? x[0] : s.mul(x[0], s.number(alpha));
  return s.mul(x[0], sigmoid(s, scaled, node));
}

static Value shrink(ScalarBuilder &s, Elements x, NodeImport &node) {
  double lambd = node.floatAttr("lambd", 0.5), bias = node.floatAttr("bias", 0);
  // The attributes are floats also where the elements are integers.
  Type elementType = node.input(0).elementType();
  ScalarBuilder f = s.isFloat() ? s : s.of(Float64Type::get(node.getContext()));
  Value number = s.cast(x[0], s.isFloat() ? elementType : Type(f.type()));
  Value above = f.select(f.less(f.number(lambd), number), f.sub(number, f.number(bias)),
                         f.number(0));
  Value result = f.select(f.less(number, f.number(-lambd)), f.add(number, f.number(bias)), above);
  return f.cast(result, elementType);
}

static Value isInf(ScalarBuilder &s, Elements x, NodeImport &node) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  bool negative = node.intAttr("detect_negative", 1) != 0;
  bool positive = node.intAttr("detect_positive", 1) != 0;
  if (negative && positive)
    return s.equal(s.abs(x[0]), s.number(kInfinity));
  if (negative || positive)
    return s.equal(x[0], s.number(positive ? kInfinity : -kInfinity));
  return s.make<arith::ConstantOp>(BoolAttr::get(node.getContext(), false));
}

static Value isNan(ScalarBuilder &s, Elements x, NodeImport &) {
  return s.make<arith::CmpFOp>(arith::CmpFPredicate::UNO, x[0], x[0]);
}

static Value bitwiseNot(ScalarBuilder &s, Elements x, NodeImport &) {
  return s.make<arith::XOrIOp>(x[0], s.integer(-1));
}

static Value bitShift(ScalarBuilder &s, Elements x, NodeImport &node) {
  std::string direction = node.stringAttr("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    node.error() << "attribute 'direction' is '" << direction << "', expected LEFT or RIGHT";
  if (!s.isUnsigned())
    node.unsupported() << "elements of " << node.input(0).elementType();
  // No bit is left after a shift by the width or more, which arith leaves undefined.
  Value fits = s.less(x[1], s.integer(s.type().getIntOrFloatBitWidth()));
  Value count = s.select(fits, x[1], s.integer(0));
  Value shifted = direction == "LEFT" ? s.make<arith::ShLIOp>(x[0], count)
                                      : s.make<arith::ShRUIOp>(x[0], count);
  return s.select(fits, shifted, s.integer(0));
}

static Value gelu(ScalarBuilder &s, Elements x, NodeImport &node) {
  std::string approximate = node.stringAttr("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    node.error() << "attribute 'approximate' is '" << approximate << "', expected none or tanh";
  if (approximate == "none") {
    Value half = s.mul(s.number(0.5), x[0]);
    Value scaled = s.mul(x[0], s.number(1 / llvm::numbers::sqrt2));
    return s.mul(half, s.add(s.number(1), s.make<math::ErfOp>(scaled)));
  }
  Value cube = s.mul(s.mul(x[0], x[0]), x[0]);
  Value inner = s.add(x[0], s.mul(s.number(0.044715), cube));
  // (1 + tanh(u)) / 2 is 1 / (1 + exp(-2u)), where nothing cancels.
  Value scaled = s.mul(s.number(2 * std::sqrt(2 / llvm::numbers::pi)), inner);
  return s.mul(x[0], sigmoid(s, scaled, node));
}

//===----------------------------------------------------------------------===//
// The table of formulas
//===----------------------------------------------------------------------===//

static constexpr ElementwiseOp ops[] = {
    {"Abs", Numbers, SameType, abs},
    {"Acos", Floats, SameType, unary<math::AcosOp>},
    {"Acosh", Floats, SameType, unary<math::AcoshOp>},
    {"Add", Numbers, SameType, sum},
    {"Affine", Floats, SameType, affine},
    {"And", Bools, SameType, logicalAnd},
    {"Asin", Floats, SameType, unary<math::AsinOp>},
    {"Asinh", Floats, SameType, unary<math::AsinhOp>},
    {"Atan", Floats, SameType, unary<math::AtanOp>},
    {"Atanh", Floats, SameType, unary<math::AtanhOp>},
    {"BitShift", Ints, SameType, bitShift},
    {"BitwiseAnd", Ints, SameType, logicalAnd},
    {"BitwiseNot", Ints, SameType, bitwiseNot},
    {"BitwiseOr", Ints, SameType, logicalOr},
    {"BitwiseXor", Ints, SameType, logicalXor},
    {"Ceil", Floats, SameType, unary<math::CeilOp>},
    {"Celu", Floats, SameType, celu},
    {"Cos", Floats, SameType, unary<math::CosOp>},
    {"Cosh", Floats, SameType, unary<math::CoshOp>},
    {"Div", Numbers, SameType, div},
    {"Elu", Floats, SameType, elu},
    {"Equal", Numbers | Bools, Bool, equal},
    {"Erf", Floats, SameType, unary<math::ErfOp>},
    {"Exp", Floats, SameType, unary<math::ExpOp>},
    {"Floor", Floats, SameType, unary<math::FloorOp>},
    {"Gelu", Floats, SameType, gelu},
    {"Greater", Numbers, Bool, greater},
    {"GreaterOrEqual", Numbers, Bool, greaterOrEqual},
    {"HardSigmoid", Floats, SameType, hardSigmoid},
    {"HardSwish", Floats, SameType, hardSwish},
    {"IsInf", Floats, Bool, isInf},
    {"IsNaN", Floats, Bool, isNan},
    {"LeakyRelu", Floats, SameType, leakyRelu},
    {"Less", Numbers, Bool, less},
    {"LessOrEqual", Numbers, Bool, lessOrEqual},
    {"Log", Floats, SameType, unary<math::LogOp>},
    {"Max", Numbers, SameType, maximum},
    {"Mean", Floats, SameType, mean},
    {"Min", Numbers, SameType, minimum},
    {"Mish", Floats, SameType, mish},
    {"Mod", Numbers, SameType, mod},
    {"Mul", Numbers, SameType, mul},
    {"Neg", Numbers, SameType, neg},
    {"Not", Bools, SameType, logicalNot},
    {"Or", Bools, SameType, logicalOr},
    {"ParametricSoftplus", Floats, SameType, parametricSoftplus},
    {"Reciprocal", Floats, SameType, reciprocal},
    {"Relu", Numbers, SameType, relu},
    {"Round", Floats, SameType, unary<math::RoundEvenOp>},
    {"Scale", Floats, SameType, scale},
    {"ScaledTanh", Floats, SameType, scaledTanh},
    {"Selu", Floats, SameType, selu},
    {"Shrink", Numbers, SameType, shrink},
    {"Sigmoid", Floats, SameType, sigmoid},
    {"Sign", Numbers, SameType, sign},
    {"Sin", Floats, SameType, unary<math::SinOp>},
    {"Sinh", Floats, SameType, unary<math::SinhOp>},
    {"Softplus", Floats, SameType, softplus},
    {"Softsign", Floats, SameType, softsign},
    {"Sqrt", Floats, SameType, unary<math::SqrtOp>},
    {"Sub", Numbers, SameType, sub},
    {"Sum", Floats, SameType, sum},
    {"Swish", Floats, SameType, swish},
    {"Tan", Floats, SameType, unary<math::TanOp>},
    {"Tanh", Floats, SameType, unary<math::TanhOp>},
    {"ThresholdedRelu", Floats, SameType, thresholdedRelu},
    {"Xor", Bools, SameType, logicalXor},
};

static unsigned typeClass(Type elementType) {
  if (isa<FloatType>(elementType))
    return Floats;
  return elementType.isInteger(1) ? Bools : Ints;
}

// All inputs have the first one's element type, which is among `types`.
static LogicalResult checkTypes(NodeImport &node, unsigned types, unsigned first = 0) {
  Type elementType = node.input(first).elementType();
  if (!(typeClass(elementType) & types))
    return node.unsupported() << "elements of " << elementType;
  for (unsigned i = first + 1; i < node.numInputs(); ++i)
    if (node.hasInput(i) && node.input(i).elementType() != elementType)
      return node.error() << "has inputs of " << elementType << " and of "
                          << node.input(i).elementType();
  return success();
}

// Sets the result to the op's value on the host, if its inputs are known there.
static bool foldOnHost(NodeImport &node) {
  SmallVector<HostTensor> hosts;
  for (const Tensor &input : node.allInputs()) {
    std::optional<HostTensor> host = node.toHost(input);
    if (!host)
      return false;
    hosts.push_back(std::move(*host));
  }
  std::optional<HostTensor> result = foldElementwise(node.opType(), hosts);
  if (result)
    node.setResult(0, Tensor(std::move(*result)));
  return result.has_value();
}

// Makes the map and sets result 0.
static LogicalResult setMap(NodeImport &node, ArrayRef<Tensor> inputs, Type elementType,
                            ScalarFunction function) {
  FailureOr<Tensor> result = createMap(node, inputs, elementType, function);
  if (failed(result))
    return failure();
  node.setResult(0, *result);
  return success();
}

LogicalResult convoy::onnx::importElementwise(NodeImport &node) {
  const ElementwiseOp *op =
      llvm::find_if(ops, [&](const ElementwiseOp &op) { return op.name == node.opType(); });
  for (unsigned i = 0; i < node.numInputs(); ++i)
    if (!node.hasInput(i))
      return node.error() << "lacks input " << i;
  if (failed(checkTypes(node, op->types)))
    return failure();
  // A rest by ONNX's rule folds alike only for fmod = 0.
  if (node.intAttr("fmod", 0) == 0 && foldOnHost(node))
    return success();
  if (node.numInputs() == 1 && (op->formula == sum || op->formula == maximum ||
                                op->formula == minimum || op->formula == mean)) {
    node.setResult(0, node.input(0));
    return success();
  }
  Type elementType = op->result == Bool ? IntegerType::get(node.getContext(), 1)
                                        : node.input(0).elementType();
  return setMap(node, node.allInputs(), elementType,
                [&](ScalarBuilder &s, Elements x) { return op->formula(s, x, node); });
}

// Until opset 6 the second input's dimensions stand for those of the first from `axis` on.
LogicalResult convoy::onnx::importAxisBroadcast(NodeImport &node) {
  const Tensor &a = node.input(0), &b = node.input(1);
  bool broadcasts = node.intAttr("broadcast", 0) != 0;
  int64_t axis = node.intAttr("axis", a.rank() - b.rank());
  if (!broadcasts && a.shape() != b.shape())
    return node.error() << "has inputs " << a.type() << " and " << b.type()
                        << ", but no attribute 'broadcast'";
  if (broadcasts && b.rank() > 0) {
    axis = axis < 0 ? axis + a.rank() : axis;
    if (axis < 0 || axis + b.rank() > a.rank())
      return node.error() << "cannot lay " << b.type() << " along " << a.type() << " from axis "
                          << axis;
    SmallVector<int64_t> shape(b.shape());
    shape.append(a.rank() - axis - b.rank(), 1);
    FailureOr<Tensor> aligned = node.reshape(b, shape);
    if (failed(aligned))
      return failure();
    node.replaceInput(1, *aligned);
  }
  return node.opType() == "Pow" ? importPow(node) : importElementwise(node);
}

static LogicalResult castTo(NodeImport &node, Type to) {
  const Tensor &input = node.input(0);
  if (input.elementType() == to) {
    node.setResult(0, input);
    return success();
  }
  if (std::optional<HostTensor> host = node.toHost(input))
    if (std::optional<HostTensor> result = foldCast(*host, to)) {
      node.setResult(0, Tensor(std::move(*result)));
      return success();
    }
  return setMap(node, {input}, to, [&](ScalarBuilder &s, Elements x) { return s.cast(x[0], to); });
}

static FailureOr<Type> castTarget(NodeImport &node) {
  if (!node.hasAttr("to"))
    return node.error() << "lacks attribute 'to'";
  int64_t to = node.intAttr("to", 0);
  Type elementType = getElementType(node.getContext(), to);
  if (!elementType)
    return node.unsupported() << "attribute 'to' is " << getDataTypeName(to) << ", expected "
                              << kElementTypes;
  return elementType;
}

LogicalResult convoy::onnx::checkCast(NodeImport &node) {
  return failure(failed(castTarget(node)));
}

LogicalResult convoy::onnx::importCast(NodeImport &node) {
  // These two concern targets of 8 bits, which Convoy has not.
  node.ignoreAttr("saturate");
  node.ignoreAttr("round_mode");
  FailureOr<Type> target = castTarget(node);
  return failed(target) ? failure() : castTo(node, *target);
}

LogicalResult convoy::onnx::importCastLike(NodeImport &node) {
  node.ignoreAttr("saturate");
  node.ignoreAttr("round_mode");
  return castTo(node, node.input(1).elementType());
}

// The bounds that are not given do not limit anything, also not infinity.
static LogicalResult clip(NodeImport &node, const Tensor &low, const Tensor &high) {
  SmallVector<Tensor> inputs{node.input(0)};
  for (const Tensor *bound : {&low, &high}) {
    if (!*bound)
      continue;
    if (bound->elementType() != inputs[0].elementType())
      return node.error() << "has bounds of " << bound->elementType() << " for elements of "
                          << inputs[0].elementType();
    if (!bound->type().hasStaticShape() || bound->type().getNumElements() != 1)
      return node.error() << "has a bound that is no scalar: " << bound->type();
    FailureOr<Tensor> scalar = node.reshape(*bound, {});
    if (failed(scalar))
      return failure();
    inputs.push_back(*scalar);
  }
  if (inputs.size() == 1) {
    node.setResult(0, inputs[0]);
    return success();
  }
  return setMap(node, inputs, inputs[0].elementType(), [&](ScalarBuilder &s, Elements x) {
    // In this order a minimum above the maximum gives the maximum.
    Value result = low ? s.max(x[0], x[1]) : x[0];
    return high ? s.min(result, x.back()) : result;
  });
}

LogicalResult convoy::onnx::importClipAttrs(NodeImport &node) {
  if (failed(checkTypes(node, Floats)))
    return failure();
  auto bound = [&](StringRef name) -> Tensor {
    if (!node.hasAttr(name))
      return {};
    auto type = RankedTensorType::get({}, node.input(0).elementType());
    return Tensor(HostTensor{type, {}, {{0, node.floatAttr(name, 0)}}});
  };
  return clip(node, bound("min"), bound("max"));
}

LogicalResult convoy::onnx::importClip(NodeImport &node) {
  if (failed(checkTypes(node, Numbers)))
    return failure();
  Tensor none;
  return clip(node, node.hasInput(1) ? node.input(1) : none,
              node.hasInput(2) ? node.input(2) : none);
}

LogicalResult convoy::onnx::importPRelu(NodeImport &node) {
  if (failed(checkTypes(node, Numbers)))
    return failure();
  const Tensor &x = node.input(0), &slope = node.input(1);
  FailureOr<SmallVector<int64_t>> shape =
      cnn::inferBroadcast(node.getLoc(), {x.shape(), slope.shape()});
  if (failed(shape))
    return failure();
  if (ArrayRef<int64_t>(*shape) != x.shape())
    return node.error() << "slope " << slope.type() << " does not broadcast to " << x.type();
  return setMap(node, {x, slope}, x.elementType(), [](ScalarBuilder &s, Elements e) {
    return s.select(s.less(e[0], s.number(0)), s.mul(e[0], e[1]), e[0]);
  });
}

// Until opset 6 the slope is one number or one a channel.
LogicalResult convoy::onnx::importPReluChannels(NodeImport &node) {
  const Tensor &x = node.input(0), &slope = node.input(1);
  if (slope.rank() == 1 && slope.shape()[0] != 1 && x.rank() > 1) {
    FailureOr<Tensor> aligned = node.alongChannels(slope, x.rank());
    if (failed(aligned))
      return failure();
    node.replaceInput(1, *aligned);
  }
  return importPRelu(node);
}

LogicalResult convoy::onnx::importPow(NodeImport &node) {
  Type exponentType = node.input(1).elementType();
  if (!(typeClass(node.input(0).elementType()) & Numbers) || !(typeClass(exponentType) & Numbers))
    return node.unsupported() << "elements of " << node.input(0).elementType() << " and "
                              << exponentType;
  return setMap(node, node.allInputs(), node.input(0).elementType(),
                [&](ScalarBuilder &s, Elements x) { return s.pow(x[0], x[1], exponentType); });
}

LogicalResult convoy::onnx::importWhere(NodeImport &node) {
  if (!node.input(0).elementType().isInteger(1))
    return node.error() << "condition must be bool, got " << node.input(0).elementType();
  if (failed(checkTypes(node, Numbers | Bools, 1)))
    return failure();
  if (foldOnHost(node))
    return success();
  return setMap(node, node.allInputs(), node.input(1).elementType(),
                [](ScalarBuilder &s, Elements x) { return s.select(x[0], x[1], x[2]); });
}

LogicalResult convoy::onnx::importIdentity(NodeImport &node) {
  node.setResult(0, node.input(0));
  return success();
}

// An op of ONNX's first years: x * scale + bias, one bias a channel, or none.
LogicalResult convoy::onnx::importImageScaler(NodeImport &node) {
  const Tensor &x = node.input(0);
  double scale = node.floatAttr("scale", 1);
  SmallVector<double> bias = node.floatsAttr("bias");
  if (failed(checkTypes(node, Floats)))
    return failure();
  if (!node.hasAttr("bias"))
    return setMap(node, {x}, x.elementType(), [&](ScalarBuilder &s, Elements e) {
      return s.mul(e[0], s.number(scale));
    });
  if (x.rank() < 2 || bias.size() != static_cast<size_t>(x.shape()[1]))
    return node.error() << "has " << bias.size() << " biases for " << x.type();
  HostTensor values{RankedTensorType::get({x.shape()[1]}, x.elementType()), {}, {}};
  for (double value : bias)
    values.floats.push_back({0, value});
  FailureOr<Tensor> aligned = node.alongChannels(Tensor(std::move(values)), x.rank());
  if (failed(aligned))
    return failure();
  return setMap(node, {x, *aligned}, x.elementType(), [&](ScalarBuilder &s, Elements e) {
    return s.add(s.mul(e[0], s.number(scale)), e[1]);
  });
}
