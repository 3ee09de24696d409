// Normalizations by statistics of the input itself: of a layer, an instance, a group, by a norm.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/Compose.h"
#include "compiler/onnx/Ops.h"
#include "compiler/onnx/TensorData.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;

namespace {

/// src minus its mean, and the standard deviation, along some axes that stay with extent 1.
struct Moments {
  Tensor centered, mean, deviation;
};

} // namespace

static SmallVector<int64_t> axesFrom(int64_t first, int64_t rank) {
  return llvm::to_vector(llvm::seq<int64_t>(std::min(first, rank), rank));
}

// Halves are too narrow for sums of squares.
static Type statisticsType(Type elementType) {
  return elementType.getIntOrFloatBitWidth() < 32 ? Type(Float32Type::get(elementType.getContext()))
                                                  : elementType;
}

static FailureOr<Tensor> squares(NodeImport &node, const Tensor &src) {
  return createMap(node, {src}, src.elementType(),
                   [](ScalarBuilder &s, ArrayRef<Value> x) { return s.mul(x[0], x[0]); });
}

// sqrt(mean(src^2) + epsilon)
static FailureOr<Tensor> rootMeanSquare(NodeImport &node, const Tensor &src,
                                        ArrayRef<int64_t> axes, double epsilon) {
  FailureOr<Tensor> squared = squares(node, src);
  if (failed(squared))
    return failure();
  return createReduce(node, *squared, cnn::ReduceKind::Mean, axes, /*keepDims=*/true,
                      {{}, {}, [&](ScalarBuilder &s, ArrayRef<Value> x) {
                         return s.make<math::SqrtOp>(s.add(x[0], s.number(epsilon)));
                       }});
}

static FailureOr<Moments> standardize(NodeImport &node, const Tensor &src, ArrayRef<int64_t> axes,
                                      double epsilon) {
  FailureOr<Tensor> mean =
      createReduce(node, src, cnn::ReduceKind::Mean, axes, /*keepDims=*/true);
  if (failed(mean))
    return failure();
  FailureOr<Tensor> centered =
      createMap(node, {src, *mean}, src.elementType(),
                [](ScalarBuilder &s, ArrayRef<Value> x) { return s.sub(x[0], x[1]); });
  if (failed(centered))
    return failure();
  FailureOr<Tensor> deviation = rootMeanSquare(node, *centered, axes, epsilon);
  if (failed(deviation))
    return failure();
  return Moments{*centered, *mean, *deviation};
}

// numerator / denominator as elements of `elementType`, then * scale + bias where they are given.
static FailureOr<Tensor> scaleAndShift(NodeImport &node, const Tensor &numerator,
                                       const Tensor &denominator, Type elementType,
                                       const Tensor &scale, const Tensor &bias) {
  SmallVector<Tensor> inputs{numerator, denominator};
  for (const Tensor *parameter : {&scale, &bias}) {
    if (!*parameter)
      continue;
    FailureOr<SmallVector<int64_t>> shape =
        cnn::inferBroadcast(node.getLoc(), {numerator.shape(), parameter->shape()});
    if (failed(shape))
      return failure();
    if (ArrayRef<int64_t>(*shape) != numerator.shape() ||
        parameter->elementType() != elementType)
      return node.error() << (parameter == &scale ? "scale " : "bias ") << parameter->type()
                          << " does not broadcast to elements of " << elementType << " and shape ["
                          << numerator.shape() << "]";
    inputs.push_back(*parameter);
  }
  return createMap(node, inputs, elementType, [&](ScalarBuilder &s, ArrayRef<Value> x) {
    Value result = s.cast(s.div(x[0], x[1]), elementType);
    ScalarBuilder own = s.of(elementType);
    if (scale)
      result = own.mul(result, x[2]);
    return bias ? own.add(result, x.back()) : result;
  });
}

static LogicalResult expectFloats(NodeImport &node) {
  if (isa<FloatType>(node.input(0).elementType()))
    return success();
  return node.unsupported() << "elements of " << node.input(0).elementType();
}

// The type that the attribute stash_type asks statistics to be in.
static FailureOr<Type> stashType(NodeImport &node) {
  int64_t number = node.intAttr("stash_type", ::onnx::TensorProto::FLOAT);
  Type type = getElementType(node.getContext(), number);
  if (!type || !isa<FloatType>(type))
    return node.error() << "attribute 'stash_type' is " << number
                        << ", which is no floating-point type";
  return type;
}

namespace {
/// What normalizations over the last dimensions have in common.
struct LastDimensions {
  SmallVector<int64_t> axes;
  double epsilon;
  /// The data in the type of the statistics.
  Tensor wide;
};
} // namespace

static FailureOr<LastDimensions> readLastDimensions(NodeImport &node) {
  const Tensor &src = node.input(0);
  if (failed(expectFloats(node)))
    return failure();
  FailureOr<int64_t> axis = node.normalizeAxis(node.intAttr("axis", -1), src.rank());
  FailureOr<Type> stash = stashType(node);
  double epsilon = node.floatAttr("epsilon", 1e-5f);
  if (failed(axis) || failed(stash))
    return failure();
  FailureOr<Tensor> wide = castTensor(node, src, *stash);
  if (failed(wide))
    return failure();
  return LastDimensions{axesFrom(*axis, src.rank()), epsilon, *wide};
}

LogicalResult convoy::onnx::importLayerNormalization(NodeImport &node) {
  FailureOr<LastDimensions> last = readLastDimensions(node);
  if (failed(last))
    return failure();
  FailureOr<Moments> moments = standardize(node, last->wide, last->axes, last->epsilon);
  if (failed(moments))
    return failure();
  if (node.hasOutput(1))
    node.setResult(1, moments->mean);
  if (node.hasOutput(2)) {
    FailureOr<Tensor> inverse =
        createMap(node, {moments->deviation}, moments->deviation.elementType(),
                  [](ScalarBuilder &s, ArrayRef<Value> x) { return s.div(s.number(1), x[0]); });
    if (failed(inverse))
      return failure();
    node.setResult(2, *inverse);
  }
  return setResult(node, scaleAndShift(node, moments->centered, moments->deviation,
                                       node.input(0).elementType(), node.input(1),
                                       node.hasInput(2) ? node.input(2) : Tensor()));
}

LogicalResult convoy::onnx::importRmsNormalization(NodeImport &node) {
  FailureOr<LastDimensions> last = readLastDimensions(node);
  if (failed(last))
    return failure();
  FailureOr<Tensor> root = rootMeanSquare(node, last->wide, last->axes, last->epsilon);
  // The scale may be of another type than the data, and then the result has its.
  if (failed(root))
    return failure();
  return setResult(node, scaleAndShift(node, last->wide, *root, node.input(1).elementType(),
                                       node.input(1), Tensor()));
}

// Scale and bias as vectors along the channels of a tensor of `rank`.
static FailureOr<std::pair<Tensor, Tensor>> channelParameters(NodeImport &node, int64_t rank,
                                                              int64_t channels) {
  for (unsigned i = 1; i < 3; ++i)
    if (node.input(i).rank() != 1 || node.input(i).shape()[0] != channels)
      return node.error() << (i == 1 ? "scale" : "bias") << " is " << node.input(i).type()
                          << ", expected a vector of " << channels;
  FailureOr<Tensor> scale = node.alongChannels(node.input(1), rank);
  FailureOr<Tensor> bias = node.alongChannels(node.input(2), rank);
  if (failed(scale) || failed(bias))
    return failure();
  return std::pair(*scale, *bias);
}

LogicalResult convoy::onnx::importInstanceNormalization(NodeImport &node) {
  const Tensor &src = node.input(0);
  node.ignoreAttr("consumed_inputs"); // opset 1: an optimization of its time
  double epsilon = node.floatAttr("epsilon", 1e-5f);
  if (failed(expectFloats(node)))
    return failure();
  if (src.rank() < 3)
    return node.error() << "needs an input of rank 3 or more, got " << src.type();
  FailureOr<std::pair<Tensor, Tensor>> parameters =
      channelParameters(node, src.rank(), src.shape()[1]);
  FailureOr<Tensor> wide = castTensor(node, src, statisticsType(src.elementType()));
  if (failed(parameters) || failed(wide))
    return failure();
  FailureOr<Moments> moments = standardize(node, *wide, axesFrom(2, src.rank()), epsilon);
  if (failed(moments))
    return failure();
  return setResult(node, scaleAndShift(node, moments->centered, moments->deviation,
                                       src.elementType(), parameters->first, parameters->second));
}

LogicalResult convoy::onnx::importGroupNormalization(NodeImport &node) {
  const Tensor &src = node.input(0);
  double epsilon = node.floatAttr("epsilon", 1e-5f);
  if (failed(expectFloats(node)))
    return failure();
  if (!node.hasAttr("num_groups"))
    return node.error() << "lacks attribute 'num_groups'";
  int64_t groups = node.intAttr("num_groups", 1);
  if (src.rank() < 3 || groups < 1 || src.shape()[1] % groups != 0)
    return node.error() << "cannot divide the channels of " << src.type() << " into " << groups
                        << " groups";
  FailureOr<Type> stash =
      node.opset() < 21 ? statisticsType(src.elementType()) : stashType(node);
  if (failed(stash))
    return failure();
  FailureOr<Tensor> wide = castTensor(node, src, *stash);
  if (failed(wide))
    return failure();
  int64_t groupSize = src.shape()[1] / groups;
  for (int64_t extent : src.shape().drop_front(2))
    groupSize *= extent;
  // Before opset 21 a group has one scale and one bias, from then on each channel has.
  bool perGroup = node.opset() < 21;
  FailureOr<std::pair<Tensor, Tensor>> parameters = channelParameters(
      node, perGroup ? 3 : src.rank(), perGroup ? groups : src.shape()[1]);
  FailureOr<Tensor> grouped = node.reshape(*wide, {src.shape()[0], groups, groupSize});
  if (failed(parameters) || failed(grouped))
    return failure();
  FailureOr<Moments> moments = standardize(node, *grouped, {2}, epsilon);
  if (failed(moments))
    return failure();
  if (perGroup) {
    FailureOr<Tensor> result =
        scaleAndShift(node, moments->centered, moments->deviation, src.elementType(),
                      parameters->first, parameters->second);
    return failed(result) ? failure() : setResult(node, node.reshape(*result, src.shape()));
  }
  FailureOr<Tensor> normal = scaleAndShift(node, moments->centered, moments->deviation,
                                           src.elementType(), Tensor(), Tensor());
  if (succeeded(normal))
    normal = node.reshape(*normal, src.shape());
  if (failed(normal))
    return failure();
  return setResult(node, createMap(node, {*normal, parameters->first, parameters->second},
                                   src.elementType(), [](ScalarBuilder &s, ArrayRef<Value> x) {
                                     return s.add(s.mul(x[0], x[1]), x[2]);
                                   }));
}

static LogicalResult normalizeOver(NodeImport &node, ArrayRef<int64_t> given, bool byDeviation) {
  const Tensor &src = node.input(0);
  if (failed(expectFloats(node)))
    return failure();
  FailureOr<SmallVector<int64_t>> axes = node.normalizeAxes(given, src.rank());
  if (succeeded(axes) && node.isPerImage() && cnn::hasFreeBatch(src.type()))
    llvm::erase(*axes, 0);
  FailureOr<Tensor> wide = castTensor(node, src, statisticsType(src.elementType()));
  if (failed(axes) || failed(wide))
    return failure();
  FailureOr<Moments> moments = standardize(node, *wide, *axes, /*epsilon=*/0);
  if (failed(moments))
    return failure();
  return setResult(node, createMap(node, {moments->centered, moments->deviation},
                                   src.elementType(), [&](ScalarBuilder &s, ArrayRef<Value> x) {
                                     Value divisor = s.add(x[1], s.number(1e-9));
                                     Value result = byDeviation ? s.div(x[0], divisor) : x[0];
                                     return s.cast(result, src.elementType());
                                   }));
}

LogicalResult convoy::onnx::importMeanVarianceNormalization(NodeImport &node) {
  return normalizeOver(node, node.intsAttr("axes", {0, 2, 3}), true);
}

// Until opset 8. That the batch is one of the dimensions is what the op was promoted with to
// opset 9: "two variables with the same C-coordinate are associated with the same mean".
LogicalResult convoy::onnx::importMeanVarianceNormalizationAttrs(NodeImport &node) {
  if (node.input(0).rank() < 3)
    return node.error() << "normalizes images, got " << node.input(0).type();
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, node.input(0).rank()));
  if (node.intAttr("across_channels", 0) == 0)
    axes.erase(axes.begin() + 1);
  return normalizeOver(node, axes, node.intAttr("normalize_variance", 1) != 0);
}

LogicalResult convoy::onnx::importLpNormalization(NodeImport &node) {
  const Tensor &src = node.input(0);
  int64_t p = node.intAttr("p", 2);
  FailureOr<int64_t> axis = node.normalizeAxis(node.intAttr("axis", -1), src.rank());
  if (failed(axis) || failed(expectFloats(node)))
    return failure();
  if (p != 1 && p != 2)
    return node.error() << "attribute 'p' is " << p << ", expected 1 or 2";
  FailureOr<Tensor> wide = castTensor(node, src, statisticsType(src.elementType()));
  if (failed(wide))
    return failure();
  FailureOr<Tensor> terms =
      createMap(node, {*wide}, wide->elementType(), [&](ScalarBuilder &s, ArrayRef<Value> x) {
        return p == 1 ? s.abs(x[0]) : s.mul(x[0], x[0]);
      });
  if (failed(terms))
    return failure();
  FailureOr<Tensor> norm =
      createReduce(node, *terms, cnn::ReduceKind::Sum, *axis, /*keepDims=*/true,
                   {{}, {}, [&](ScalarBuilder &s, ArrayRef<Value> x) {
                      return p == 1 ? x[0] : s.make<math::SqrtOp>(x[0]);
                    }});
  if (failed(norm))
    return failure();
  return setResult(node, createMap(node, {*wide, *norm}, src.elementType(),
                                   [&](ScalarBuilder &s, ArrayRef<Value> x) {
                                     Value zero = s.number(0); // of a norm of 0 it is 0, not NaN
                                     Value result =
                                         s.select(s.equal(x[1], zero), zero, s.div(x[0], x[1]));
                                     return s.cast(result, src.elementType());
                                   }));
}
