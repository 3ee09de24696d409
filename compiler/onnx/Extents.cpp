// The rules of Extents.h, by op.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/Extents.h"
#include "compiler/onnx/ScalarBuilder.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;

HostTensor convoy::onnx::extremeOf(Type elementType, bool greatest) {
  HostTensor result{RankedTensorType::get({}, elementType), {}, {}};
  if (isa<FloatType>(elementType)) {
    double infinity = std::numeric_limits<double>::infinity();
    result.floats.push_back({0, greatest ? infinity : -infinity});
    return result;
  }
  unsigned width = elementType.getIntOrFloatBitWidth();
  bool isUnsigned = elementType.isUnsignedInteger() || width == 1;
  int64_t number = isUnsigned ? (greatest ? llvm::maskTrailingOnes<uint64_t>(width) : 0)
                              : (greatest ? llvm::maxIntN(width) : llvm::minIntN(width));
  result.ints.push_back({0, number});
  return result;
}

FailureOr<Tensor> convoy::onnx::fillBeyondCount(NodeImport &node, const Tensor &tensor,
                                                const HostTensor &fill) {
  const Extent &extent = *tensor.extent;
  FailureOr<Tensor> places =
      node.positions(tensor.shape()[extent.dim], extent.dim, tensor.rank());
  if (failed(places))
    return failure();
  Type i64 = IntegerType::get(node.getContext(), 64);
  return createMap(node, {tensor, *places, Tensor(extent.count), Tensor(fill)},
                   tensor.elementType(), [&](ScalarBuilder &s, ArrayRef<Value> x) {
                     ScalarBuilder integers(node.getBuilder(), node.getLoc(), i64);
                     return s.select(integers.less(x[1], x[2]), x[0], x[3]);
                   });
}

FailureOr<Value> convoy::onnx::valueOf(NodeImport &node, const FailureOr<Tensor> &tensor) {
  if (failed(tensor))
    return failure();
  return node.toValue(*tensor);
}

FailureOr<Value> convoy::onnx::countTrue(NodeImport &node, const Tensor &mask) {
  Type i64 = IntegerType::get(node.getContext(), 64);
  FailureOr<Tensor> numbers =
      createMap(node, {mask}, i64,
                [&](ScalarBuilder &s, ArrayRef<Value> x) { return s.cast(x[0], i64); });
  if (failed(numbers))
    return failure();
  FailureOr<Value> value = node.toValue(*numbers);
  if (failed(value))
    return failure();
  FailureOr<Tensor> sum = node.createWithIdentity<cnn::ReduceOp>(
      RankedTensorType::get({}, i64), *value, ValueRange(), cnn::ReduceKind::Sum,
      ArrayRef<int64_t>{0}, false, StringAttr());
  return valueOf(node, sum);
}

// The one extent of a tensor, moved to another dimension.
static Extent moved(const Tensor &tensor, int64_t dim) { return {dim, tensor.extent->count}; }

static LogicalResult refuse(NodeImport &node, unsigned input, StringRef why) {
  const Tensor &tensor = node.input(input);
  return node.unsupported() << "input " << input << " has a dimension, number "
                            << tensor.extent->dim
                            << ", whose extent only a run tells (at most "
                            << tensor.shape()[tensor.extent->dim] << "): " << why;
}

//===----------------------------------------------------------------------===//
// Elementwise and changes of shape
//===----------------------------------------------------------------------===//

// All inputs that are not broadcast along the dimension must have the one count.
static LogicalResult afterElementwise(NodeImport &node) {
  int64_t rank = 0;
  for (const Tensor &input : node.allInputs())
    rank = std::max(rank, input ? input.rank() : 0);
  std::optional<Extent> extent;
  for (unsigned i = 0; i < node.numInputs(); ++i)
    if (node.hasInput(i) && node.input(i).extent) {
      Extent own = moved(node.input(i), node.input(i).extent->dim + rank - node.input(i).rank());
      if (extent && !(*extent == own))
        return refuse(node, i, "another input has another such extent");
      extent = own;
    }
  for (unsigned i = 0; i < node.numInputs(); ++i) {
    if (!node.hasInput(i) || node.input(i).extent)
      continue;
    int64_t dim = extent->dim - (rank - node.input(i).rank());
    if (dim >= 0 && node.input(i).shape()[dim] != 1)
      return node.unsupported() << "input " << i << ", " << node.input(i).type()
                                << ", meets an extent that only a run tells";
  }
  for (unsigned i = 0; i < node.numOutputs(); ++i)
    node.setExtent(i, extent);
  return success();
}

// Elements in row-major order: the dimension keeps its place if as many elements are before it, and
// its extent may grow by a factor.
static LogicalResult afterReshape(NodeImport &node) {
  const Tensor &src = node.input(0), &dst = node.getResults()[0];
  int64_t dim = src.extent->dim, bound = src.shape()[dim], outer = 1;
  for (int64_t extent : src.shape().take_front(dim))
    outer *= extent;
  int64_t before = 1;
  for (auto [i, extent] : llvm::enumerate(dst.shape())) {
    if (before == outer && bound > 0 && extent > 0 && extent % bound == 0) {
      Value count = src.extent->count;
      if (int64_t factor = extent / bound; factor != 1) {
        FailureOr<Tensor> product = createMap(
            node, {Tensor(count)}, IntegerType::get(node.getContext(), 64),
            [&](ScalarBuilder &s, ArrayRef<Value> x) { return s.mul(x[0], s.integer(factor)); });
        FailureOr<Value> value = valueOf(node, product);
        if (failed(value))
          return failure();
        count = *value;
      }
      node.setExtent(0, Extent{static_cast<int64_t>(i), count});
      return success();
    }
    before *= extent;
  }
  return refuse(node, 0, "it does not stay a dimension");
}

static LogicalResult afterTranspose(NodeImport &node) {
  const Tensor &src = node.input(0);
  SmallVector<int64_t> perm =
      node.intsAttr("perm", llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, src.rank()))));
  node.setExtent(0, moved(src, llvm::find(perm, src.extent->dim) - perm.begin()));
  return success();
}

//===----------------------------------------------------------------------===//
// Along an axis
//===----------------------------------------------------------------------===//

static LogicalResult afterSplit(NodeImport &node) {
  if (!node.input(0).extent)
    return refuse(node, 1, "the parts are known");
  int64_t axis = node.intAttr("axis", 0);
  if ((axis < 0 ? axis + node.input(0).rank() : axis) == node.input(0).extent->dim)
    return refuse(node, 0, "it is the axis");
  for (unsigned i = 0; i < node.numOutputs(); ++i)
    node.setExtent(i, node.input(0).extent);
  return success();
}

static LogicalResult afterAlongAxis(NodeImport &node) {
  const Tensor &src = node.input(0);
  bool isArg = node.opType().starts_with("Arg");
  int64_t byDefault = isArg ? 0 : node.opset() < 13 ? 1 : -1;
  int64_t axis = node.intAttr("axis", byDefault);
  axis = axis < 0 ? axis + src.rank() : axis;
  int64_t dim = src.extent->dim;
  // Before opset 13 all dimensions from the axis on are one.
  if (dim == axis || (!isArg && node.opset() < 13 && dim > axis))
    return refuse(node, 0, "it is the axis");
  bool isDropped = isArg && node.intAttr("keepdims", 1) == 0;
  node.setExtent(0, moved(src, isDropped && dim > axis ? dim - 1 : dim));
  return success();
}

// Elements that a reduction does not notice.
static LogicalResult beforeReduce(NodeImport &node) {
  const Tensor &src = node.input(0);
  if (!src.extent)
    return refuse(node, 1, "axes are known");
  StringRef name = node.opType();
  Type elementType = src.elementType();
  HostTensor fill{RankedTensorType::get({}, elementType), {}, {}};
  if (name == "ReduceMean" || name == "ReduceLogSumExp")
    return success(); // only along other dimensions, see afterReduce
  if (name == "ReduceMax" || name == "ReduceMin")
    fill = extremeOf(elementType, name == "ReduceMin");
  else if (isa<FloatType>(elementType))
    fill.floats.push_back({0, name == "ReduceProd" ? 1.0 : 0.0});
  else
    fill.ints.push_back({0, name == "ReduceProd" ? 1 : 0});
  FailureOr<Tensor> filled = fillBeyondCount(node, src, fill);
  if (failed(filled))
    return failure();
  filled->extent = src.extent;
  node.replaceInput(0, *filled);
  return success();
}

static LogicalResult afterReduce(NodeImport &node) {
  const Tensor &src = node.input(0);
  SmallVector<int64_t> axes = node.intsAttr("axes");
  if (node.hasInput(1)) {
    FailureOr<SmallVector<int64_t>> given = node.constantInts(1, "axes");
    if (failed(given))
      return failure();
    axes = *given;
  }
  bool keepDims = node.intAttr("keepdims", 1) != 0;
  if (axes.empty() && node.intAttr("noop_with_empty_axes", 0) == 0)
    axes = llvm::to_vector(llvm::seq<int64_t>(0, src.rank()));
  int64_t dim = src.extent->dim, place = dim;
  bool isReduced = false;
  for (int64_t axis : axes) {
    axis = axis < 0 ? axis + src.rank() : axis;
    isReduced |= axis == dim;
    place -= !keepDims && axis < dim;
  }
  if (!isReduced)
    node.setExtent(0, moved(src, place));
  else if (node.opType() == "ReduceMean" || node.opType() == "ReduceLogSumExp")
    return refuse(node, 0, "it is reduced");
  else
    node.setExtent(0, std::nullopt);
  return success();
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

// Counts negative indices from the count, not the bound: those whose place along the last dimension
// is `column`, or all.
static FailureOr<Tensor> fromTheFront(NodeImport &node, const Tensor &indices, Value count,
                                      std::optional<int64_t> column) {
  Type i64 = IntegerType::get(node.getContext(), 64);
  SmallVector<Tensor> inputs{indices, Tensor(count)};
  if (column) {
    FailureOr<Tensor> columns =
        node.positions(indices.shape().back(), indices.rank() - 1, indices.rank());
    if (failed(columns))
      return failure();
    inputs.push_back(*columns);
  }
  FailureOr<Tensor> result =
      createMap(node, inputs, i64, [&](ScalarBuilder &s, ArrayRef<Value> x) {
        ScalarBuilder integers(node.getBuilder(), node.getLoc(), i64);
        Value index = s.cast(x[0], i64);
        Value isNegative = integers.less(index, integers.integer(0));
        if (column)
          isNegative = s.make<arith::AndIOp>(
              isNegative, integers.equal(x[2], integers.integer(*column)));
        return s.select(isNegative, integers.add(index, x[1]), index);
      });
  if (succeeded(result))
    result->extent = indices.extent;
  return result;
}

static int64_t gatherAxis(NodeImport &node) {
  int64_t axis = node.intAttr("axis", 0);
  return axis < 0 ? axis + node.input(0).rank() : axis;
}

static LogicalResult beforeGather(NodeImport &node) {
  const Tensor &src = node.input(0), &indices = node.input(1);
  if (!src.extent || src.extent->dim != gatherAxis(node))
    return success();
  FailureOr<Tensor> fixed = fromTheFront(node, indices, src.extent->count, std::nullopt);
  if (failed(fixed))
    return failure();
  node.replaceInput(1, *fixed);
  return success();
}

static LogicalResult afterGather(NodeImport &node) {
  const Tensor &src = node.input(0), &indices = node.input(1);
  int64_t axis = gatherAxis(node);
  std::optional<Extent> extent;
  if (indices.extent)
    extent = moved(indices, axis + indices.extent->dim);
  if (src.extent && src.extent->dim != axis) {
    if (extent)
      return refuse(node, 1, "so has input 0");
    int64_t dim = src.extent->dim;
    extent = moved(src, dim < axis ? dim : dim + indices.rank() - 1);
  }
  node.setExtent(0, extent);
  return success();
}

static LogicalResult afterGatherElements(NodeImport &node) {
  const Tensor &src = node.input(0), &indices = node.input(1);
  if (src.extent && src.extent->dim != gatherAxis(node) && !indices.extent)
    return refuse(node, 0, "the indices have a known one");
  node.setExtent(0, indices.extent);
  return success();
}

static int64_t gatherNdBatch(NodeImport &node) {
  return node.opset() < 12 ? 0 : node.intAttr("batch_dims", 0);
}

static LogicalResult beforeGatherNd(NodeImport &node) {
  const Tensor &src = node.input(0), &indices = node.input(1);
  int64_t batch = gatherNdBatch(node);
  if (!src.extent || indices.rank() < 1)
    return success();
  int64_t column = src.extent->dim - batch;
  if (column < 0 || column >= indices.shape().back())
    return success();
  FailureOr<Tensor> fixed = fromTheFront(node, indices, src.extent->count, column);
  if (failed(fixed))
    return failure();
  node.replaceInput(1, *fixed);
  return success();
}

static LogicalResult afterGatherNd(NodeImport &node) {
  const Tensor &src = node.input(0), &indices = node.input(1);
  int64_t batch = gatherNdBatch(node), size = indices.shape().back();
  std::optional<Extent> extent = indices.extent;
  if (extent && extent->dim == indices.rank() - 1)
    return refuse(node, 1, "it is the tuples'");
  if (src.extent && (src.extent->dim < batch || src.extent->dim >= batch + size)) {
    if (extent || src.extent->dim < batch)
      return refuse(node, 0, "it is not picked from");
    extent = moved(src, indices.rank() - 1 + src.extent->dim - size - batch);
  }
  node.setExtent(0, extent);
  return success();
}

// Updates beyond the count go nowhere.
static LogicalResult beforeScatter(NodeImport &node) {
  if (node.input(0).extent)
    return refuse(node, 0, "it is written to");
  const Tensor &indices = node.input(1), &updates = node.input(2);
  if (!indices.extent || !(indices.extent == updates.extent))
    return refuse(node, indices.extent ? 1 : 2, "indices and updates do not agree");
  FailureOr<Tensor> filled =
      fillBeyondCount(node, indices, extremeOf(indices.elementType(), /*greatest=*/true));
  if (failed(filled))
    return failure();
  node.replaceInput(1, *filled);
  return success();
}

static LogicalResult afterScatter(NodeImport &node) {
  node.setExtent(0, std::nullopt);
  return success();
}

static LogicalResult afterOneHot(NodeImport &node) {
  if (!node.input(0).extent)
    return refuse(node, node.input(1).extent ? 1 : 2, "it is no vector of indices");
  int64_t axis = node.intAttr("axis", -1), dim = node.input(0).extent->dim;
  axis = axis < 0 ? axis + node.input(0).rank() + 1 : axis;
  node.setExtent(0, moved(node.input(0), dim < axis ? dim : dim + 1));
  return success();
}

//===----------------------------------------------------------------------===//
// Rows that do not see each other
//===----------------------------------------------------------------------===//

// Ops whose dimension 0 is a batch.
static LogicalResult afterBatch(NodeImport &node) {
  for (unsigned i = 1; i < node.numInputs(); ++i)
    if (node.hasInput(i) && node.input(i).extent)
      return refuse(node, i, "it is a parameter's");
  if (node.input(0).extent->dim != 0 || node.intAttr("transA", 0) != 0)
    return refuse(node, 0, "it is not the batch");
  for (unsigned i = 0; i < node.numOutputs(); ++i)
    node.setExtent(i, node.input(0).extent);
  return success();
}

static LogicalResult afterRoiAlign(NodeImport &node) {
  if (node.input(0).extent || !(node.input(1).extent == node.input(2).extent))
    return refuse(node, node.input(0).extent ? 0 : 1, "rois and batch_indices do not agree");
  node.setExtent(0, node.input(1).extent);
  return success();
}

//===----------------------------------------------------------------------===//
// Larger along other dimensions
//===----------------------------------------------------------------------===//

static LogicalResult afterPad(NodeImport &node) {
  if (!node.input(0).extent)
    return refuse(node, 1, "it is no tensor to pad");
  const Tensor &src = node.input(0), &dst = node.getResults()[0];
  int64_t dim = src.extent->dim;
  auto pad = dst.value ? dst.value.getDefiningOp<cnn::PadOp>() : cnn::PadOp();
  if (dst.value != src.value && (!pad || pad.getLow()[dim] != 0 || pad.getHigh()[dim] != 0))
    return refuse(node, 0, "it is padded");
  node.setExtent(0, src.extent);
  return success();
}

static LogicalResult afterTile(NodeImport &node) {
  if (!node.input(0).extent)
    return refuse(node, 1, "it is no tensor to repeat");
  const Tensor &src = node.input(0);
  if (node.getResults()[0].shape()[src.extent->dim] != src.shape()[src.extent->dim])
    return refuse(node, 0, "it is repeated");
  node.setExtent(0, src.extent);
  return success();
}

static LogicalResult afterExpand(NodeImport &node) {
  if (!node.input(0).extent)
    return refuse(node, 1, "it is no tensor to expand");
  const Tensor &src = node.input(0);
  std::optional<HostTensor> wanted = node.toHost(node.input(1));
  // Counted from behind, as shapes broadcast.
  int64_t fromEnd = src.rank() - src.extent->dim;
  if (!wanted || (fromEnd <= wanted->size() &&
                  !(wanted->ints[wanted->size() - fromEnd] == LinearInt{0, 1})))
    return refuse(node, 0, "it meets an extent of the shape");
  node.setExtent(0, moved(src, node.getResults()[0].rank() - fromEnd));
  return success();
}

// The import function has seen to it.
static LogicalResult nothing(NodeImport &) { return success(); }

const ExtentRule *convoy::onnx::findExtentRule(StringRef opType) {
  static const llvm::StringMap<ExtentRule> rules = [] {
    llvm::StringMap<ExtentRule> result;
    auto add = [&](std::initializer_list<StringRef> names, ExtentRule rule) {
      for (StringRef name : names)
        result[name] = rule;
    };
    add({"Abs", "Acos", "Acosh", "Add", "And", "Asin", "Asinh", "Atan", "Atanh", "BitShift",
         "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor", "Cast", "CastLike", "Ceil", "Celu",
         "Clip", "Cos", "Cosh", "Div", "Dropout", "Elu", "Equal", "Erf", "Exp", "Floor", "Gelu",
         "Greater", "GreaterOrEqual", "HardSigmoid", "HardSwish", "Identity", "IsInf", "IsNaN",
         "LeakyRelu", "Less", "LessOrEqual", "Log", "Max", "Mean", "Min", "Mish", "Mod", "Mul",
         "Neg", "Not", "Or", "PRelu", "Pow", "Reciprocal", "Relu", "Round", "Selu", "Shrink",
         "Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Sub", "Sum", "Swish",
         "Tan", "Tanh", "ThresholdedRelu", "Where", "Xor"},
        {nullptr, afterElementwise, /*isElementwise=*/true});
    add({"Flatten", "Reshape", "Squeeze", "Unsqueeze"}, {nullptr, afterReshape});
    add({"Transpose"}, {nullptr, afterTranspose});
    add({"Split"}, {nullptr, afterSplit});
    add({"ArgMax", "ArgMin", "Hardmax", "LogSoftmax", "Softmax"}, {nullptr, afterAlongAxis});
    add({"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
         "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"},
        {beforeReduce, afterReduce});
    add({"Gather"}, {beforeGather, afterGather});
    add({"GatherElements"}, {beforeGather, afterGatherElements});
    add({"GatherND"}, {beforeGatherNd, afterGatherNd});
    add({"Scatter", "ScatterElements", "ScatterND"}, {beforeScatter, afterScatter});
    add({"OneHot"}, {nullptr, afterOneHot});
    add({"AveragePool", "BatchNormalization", "Conv", "ConvTranspose", "Gemm",
         "GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool", "InstanceNormalization", "LpPool",
         "MatMul", "MaxPool", "Resize"},
        {nullptr, afterBatch});
    add({"RoiAlign"}, {nullptr, afterRoiAlign});
    add({"Pad"}, {nullptr, afterPad});
    add({"Tile"}, {nullptr, afterTile});
    add({"Expand"}, {nullptr, afterExpand});
    add({"Compress", "Concat", "NonMaxSuppression", "NonZero", "Shape", "Size", "Slice", "TopK"},
        {nothing, nullptr});
    return result;
  }();
  auto rule = rules.find(opType);
  return rule == rules.end() ? nullptr : &rule->second;
}
