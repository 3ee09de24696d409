// Transpose, Concat, Split, Slice, Gather, Pad and their kin.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/Ops.h"

#include "dialects/Cnn/ConstantData.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;

static LogicalResult setResult(NodeImport &node, unsigned index, FailureOr<Tensor> result) {
  if (failed(result))
    return failure();
  node.setResult(index, *result);
  return success();
}

LogicalResult convoy::onnx::importTranspose(NodeImport &node) {
  const Tensor &src = node.input(0);
  SmallVector<int64_t> perm =
      node.intsAttr("perm", llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, src.rank()))));
  return setResult(node, 0, node.transpose(src, perm));
}

LogicalResult convoy::onnx::importConcat(NodeImport &node) {
  for (unsigned i = 0; i < node.numInputs(); ++i)
    if (!node.hasInput(i))
      return node.error() << "lacks input " << i;
  if (!node.hasAttr("axis"))
    return node.error() << "lacks attribute 'axis'";
  FailureOr<int64_t> axis = node.normalizeAxis(node.intAttr("axis", 0), node.input(0).rank());
  if (failed(axis))
    return failure();
  return setResult(node, 0, node.concat(node.allInputs(), *axis));
}

//===----------------------------------------------------------------------===//
// Split
//===----------------------------------------------------------------------===//

// Sizes of the parts where none are given. An extent that does not divide leaves the last part
// smaller, which only opset 18 allows.
static FailureOr<SmallVector<int64_t>> evenSizes(NodeImport &node, int64_t extent, int64_t count) {
  if (count < 1)
    return node.error() << "has no parts";
  if (extent % count != 0 && node.opset() < 18)
    return node.error() << "cannot divide the extent " << extent << " into " << count
                        << " equal parts";
  int64_t size = llvm::divideCeilSigned(extent, count);
  SmallVector<int64_t> sizes;
  for (int64_t i = 0; i < count; ++i) {
    sizes.push_back(std::min(size, extent));
    extent -= sizes.back();
  }
  return sizes;
}

static LogicalResult split(NodeImport &node, std::optional<ArrayRef<int64_t>> given) {
  const Tensor &src = node.input(0);
  FailureOr<int64_t> axis = node.normalizeAxis(node.intAttr("axis", 0), src.rank());
  if (failed(axis))
    return failure();
  if (src.type().isDynamicDim(*axis))
    return node.error() << "splits the free batch; fix it with --shape";
  int64_t extent = src.shape()[*axis];
  FailureOr<SmallVector<int64_t>> sizes;
  if (given)
    sizes = SmallVector<int64_t>(*given);
  else
    sizes = evenSizes(node, extent, node.intAttr("num_outputs", node.numOutputs()));
  if (failed(sizes))
    return failure();
  int64_t total = 0;
  for (int64_t size : *sizes) {
    if (size < 0 || size > extent)
      return node.error() << "has a part of size " << size << " in an extent of " << extent;
    total += size;
  }
  if (total != extent || sizes->size() < node.numOutputs())
    return node.error() << "has parts of [" << *sizes << "] and " << node.numOutputs()
                        << " outputs for an extent of " << extent;
  SmallVector<int64_t> starts(src.rank(), 0), steps(src.rank(), 1), shape(src.shape());
  for (unsigned i = 0; i < node.numOutputs(); ++i) {
    shape[*axis] = (*sizes)[i];
    if (node.hasOutput(i) && failed(setResult(node, i, node.slice(src, starts, steps, shape))))
      return failure();
    starts[*axis] += (*sizes)[i];
  }
  return success();
}

LogicalResult convoy::onnx::importSplitAttr(NodeImport &node) {
  if (!node.hasAttr("split"))
    return split(node, std::nullopt);
  return split(node, node.intsAttr("split"));
}

LogicalResult convoy::onnx::importSplit(NodeImport &node) {
  if (!node.hasInput(1))
    return split(node, std::nullopt);
  FailureOr<SmallVector<int64_t>> sizes = node.constantInts(1, "split");
  return failed(sizes) ? failure() : split(node, *sizes);
}

//===----------------------------------------------------------------------===//
// Slice
//===----------------------------------------------------------------------===//

// Starts and ends may be made from the batch; axes and steps not.
static LogicalResult slice(NodeImport &node, ArrayRef<LinearInt> starts, ArrayRef<LinearInt> ends,
                           std::optional<ArrayRef<int64_t>> givenAxes,
                           std::optional<ArrayRef<int64_t>> givenSteps) {
  const Tensor &src = node.input(0);
  SmallVector<int64_t> axes = givenAxes ? SmallVector<int64_t>(*givenAxes)
                                        : llvm::to_vector(llvm::seq<int64_t>(0, starts.size()));
  SmallVector<int64_t> steps =
      givenSteps ? SmallVector<int64_t>(*givenSteps) : SmallVector<int64_t>(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size())
    return node.error() << "has " << starts.size() << " starts, " << ends.size() << " ends, "
                        << axes.size() << " axes and " << steps.size() << " steps";
  if (failed(node.normalizeAxes(axes, src.rank())))
    return failure();
  SmallVector<int64_t> from(src.rank(), 0), by(src.rank(), 1), shape(src.shape());
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t axis = axes[i] < 0 ? axes[i] + src.rank() : axes[i];
    int64_t step = steps[i], extent = src.shape()[axis];
    if (step == 0)
      return node.error() << "has a step of 0";
    if (src.type().isDynamicDim(axis)) {
      // Only all of it can be said without knowing the batch; an end beyond any batch means that.
      bool toEnd = ends[i] == LinearInt{1, 0} ||
                   (ends[i].batch == 0 && ends[i].constant >= std::numeric_limits<int32_t>::max());
      if (!(starts[i] == LinearInt{0, 0}) || !toEnd || step != 1)
        return node.error() << "cuts the free batch; fix it with --shape";
      continue;
    }
    if (starts[i].batch != 0 || ends[i].batch != 0)
      return node.error() << "cuts dimension " << axis
                          << " by the free batch; fix the batch with --shape";
    int64_t start = starts[i].constant, end = ends[i].constant;
    start = start < 0 ? start + extent : start;
    end = end < 0 ? end + extent : end;
    // Numpy's clamps: from behind, the first position is the last element, and the end before
    // the first one.
    start = step > 0 ? std::clamp<int64_t>(start, 0, extent)
                     : std::clamp<int64_t>(start, 0, std::max<int64_t>(extent - 1, 0));
    end = step > 0 ? std::clamp<int64_t>(end, 0, extent)
                   : std::clamp<int64_t>(end, -1, extent - 1);
    // No step is longer than the extent; the least number has no negative.
    step = std::clamp<int64_t>(step, -(extent + 1), extent + 1);
    int64_t count = step > 0 ? llvm::divideCeilSigned(end - start, step)
                             : llvm::divideCeilSigned(start - end, -step);
    shape[axis] = extent == 0 ? 0 : std::max<int64_t>(count, 0);
    from[axis] = shape[axis] == 0 ? 0 : start;
    by[axis] = step;
  }
  return setResult(node, 0, node.slice(src, from, by, shape));
}

static SmallVector<LinearInt> linear(ArrayRef<int64_t> values) {
  return llvm::map_to_vector(values, [](int64_t value) { return LinearInt{0, value}; });
}

LogicalResult convoy::onnx::importSliceAttrs(NodeImport &node) {
  for (StringRef name : {"starts", "ends"})
    if (!node.hasAttr(name))
      return node.error() << "lacks attribute '" << name << "'";
  SmallVector<int64_t> axes = node.intsAttr("axes");
  return slice(node, linear(node.intsAttr("starts")), linear(node.intsAttr("ends")),
               node.hasAttr("axes") ? std::optional<ArrayRef<int64_t>>(axes) : std::nullopt,
               std::nullopt);
}

LogicalResult convoy::onnx::importSlice(NodeImport &node) {
  FailureOr<HostTensor> starts = node.hostInput(1, "starts");
  if (failed(starts))
    return failure();
  FailureOr<HostTensor> ends = node.hostInput(2, "ends");
  if (failed(ends))
    return failure();
  if (starts->isFloat() || ends->isFloat())
    return node.error() << "has starts or ends that are no integers";
  std::optional<SmallVector<int64_t>> axes, steps;
  if (node.hasInput(3)) {
    FailureOr<SmallVector<int64_t>> given = node.constantInts(3, "axes");
    if (failed(given))
      return failure();
    axes = *given;
  }
  if (node.hasInput(4)) {
    FailureOr<SmallVector<int64_t>> given = node.constantInts(4, "steps");
    if (failed(given))
      return failure();
    steps = *given;
  }
  return slice(node, starts->ints, ends->ints, axes, steps);
}

//===----------------------------------------------------------------------===//
// Gather
//===----------------------------------------------------------------------===//

// Where all is known; indices have been checked.
static HostTensor gatherHost(const HostTensor &src, ArrayRef<int64_t> indices,
                             ArrayRef<int64_t> shape, int64_t axis) {
  ArrayRef<int64_t> from = src.type.getShape();
  int64_t outer = ShapedType::getNumElements(from.take_front(axis));
  int64_t inner = ShapedType::getNumElements(from.drop_front(axis + 1));
  std::vector<int64_t> source;
  for (int64_t i = 0; i < outer; ++i)
    for (int64_t index : indices)
      for (int64_t k = 0; k < inner; ++k)
        source.push_back((i * from[axis] + index) * inner + k);
  return src.pick(shape, source);
}

LogicalResult convoy::onnx::importGather(NodeImport &node) {
  const Tensor &src = node.input(0), &indices = node.input(1);
  FailureOr<int64_t> axis = node.normalizeAxis(node.intAttr("axis", 0), src.rank());
  if (failed(axis))
    return failure();
  FailureOr<RankedTensorType> type =
      cnn::GatherOp::inferType(node.getLoc(), src.type(), indices.type(), *axis);
  if (failed(type))
    return failure();
  int64_t extent = src.shape()[*axis];
  std::optional<HostTensor> known = node.toHost(indices);
  if (known && known->isConstant()) {
    SmallVector<int64_t> positions;
    for (const LinearInt &element : known->ints) {
      int64_t index = element.constant;
      if (index < -extent || index >= extent)
        return node.error() << "index " << index << " is outside the extent " << extent;
      positions.push_back(index < 0 ? index + extent : index);
    }
    std::optional<HostTensor> host = node.toHost(src);
    if (host && type->getNumElements() <= HostTensor::kMaxElements)
      return setResult(node, 0, Tensor(gatherHost(*host, positions, type->getShape(), *axis)));
    // One slice is cheaper to move, or not to move at all.
    if (positions.size() == 1) {
      SmallVector<int64_t> starts(src.rank(), 0), steps(src.rank(), 1), shape(src.shape());
      starts[*axis] = positions[0];
      shape[*axis] = 1;
      FailureOr<Tensor> slice = node.slice(src, starts, steps, shape);
      return failed(slice) ? failure()
                           : setResult(node, 0, node.reshape(*slice, type->getShape()));
    }
  }
  FailureOr<Value> srcValue = node.toValue(src), indexValue = node.toValue(indices);
  if (failed(srcValue) || failed(indexValue))
    return failure();
  return setResult(node, 0,
                   node.create<cnn::GatherOp>(*type, *srcValue, *indexValue, *axis, StringAttr()));
}

//===----------------------------------------------------------------------===//
// Pad
//===----------------------------------------------------------------------===//

static LogicalResult pad(NodeImport &node, ArrayRef<int64_t> pads,
                         std::optional<ArrayRef<int64_t>> givenAxes, const Tensor &fill) {
  const Tensor &src = node.input(0);
  std::string name = node.stringAttr("mode", "constant");
  std::optional<cnn::PadMode> mode = llvm::StringSwitch<std::optional<cnn::PadMode>>(name)
                                         .Case("constant", cnn::PadMode::Constant)
                                         .Case("reflect", cnn::PadMode::Reflect)
                                         .Case("edge", cnn::PadMode::Edge)
                                         .Case("wrap", cnn::PadMode::Wrap)
                                         .Default(std::nullopt);
  if (!mode || (*mode == cnn::PadMode::Wrap && node.opset() < 19))
    return node.unsupported() << "mode '" << name << "'";
  SmallVector<int64_t> axes = givenAxes ? SmallVector<int64_t>(*givenAxes)
                                        : llvm::to_vector(llvm::seq<int64_t>(0, src.rank()));
  if (pads.size() != 2 * axes.size())
    return node.error() << "has " << pads.size() << " pads for " << axes.size() << " axes";
  if (failed(node.normalizeAxes(axes, src.rank())))
    return failure();
  SmallVector<int64_t> low(src.rank(), 0), high(src.rank(), 0), shape(src.shape());
  constexpr int64_t kLargest = int64_t(1) << 31;
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t axis = axes[i] < 0 ? axes[i] + src.rank() : axes[i];
    low[axis] = pads[i];
    high[axis] = pads[i + axes.size()];
    if (std::abs(low[axis]) > kLargest || std::abs(high[axis]) > kLargest)
      return node.error() << "has a pad of " << low[axis] << " or " << high[axis];
    if (src.type().isDynamicDim(axis))
      continue; // the op's own check
    shape[axis] += low[axis] + high[axis];
    if (shape[axis] < 0)
      return node.error() << "crops dimension " << axis << " of " << src.type() << " to "
                          << shape[axis];
    if (*mode != cnn::PadMode::Constant && src.shape()[axis] == 0 && shape[axis] > 0)
      return node.error() << "has nothing to repeat in dimension " << axis << " of "
                          << src.type();
  }
  Value value;
  if (fill && *mode == cnn::PadMode::Constant) {
    FailureOr<Value> scalar = node.toValue(fill);
    if (failed(scalar))
      return failure();
    value = *scalar;
  }
  FailureOr<Value> srcValue = node.toValue(src);
  if (failed(srcValue))
    return failure();
  return setResult(node, 0,
                   node.create<cnn::PadOp>(RankedTensorType::get(shape, src.elementType()),
                                           *srcValue, value, low, high, *mode, StringAttr()));
}

LogicalResult convoy::onnx::importPadAttrs(NodeImport &node) {
  if (!node.hasAttr("pads"))
    return node.error() << "lacks attribute 'pads'";
  double number = node.floatAttr("value", 0);
  Tensor fill;
  if (number != 0) {
    Type elementType = node.input(0).elementType();
    if (!isa<FloatType>(elementType))
      return node.error() << "has elements of " << elementType;
    fill = Tensor(HostTensor{RankedTensorType::get({}, elementType), {}, {{0, number}}});
  }
  return pad(node, node.intsAttr("pads"), std::nullopt, fill);
}

LogicalResult convoy::onnx::importPad(NodeImport &node) {
  FailureOr<SmallVector<int64_t>> pads = node.constantInts(1, "pads");
  if (failed(pads))
    return failure();
  std::optional<SmallVector<int64_t>> axes;
  if (node.hasInput(3)) {
    FailureOr<SmallVector<int64_t>> given = node.constantInts(3, "axes");
    if (failed(given))
      return failure();
    axes = *given;
  }
  return pad(node, *pads, axes, node.hasInput(2) ? node.input(2) : Tensor());
}

//===----------------------------------------------------------------------===//
// Between depth and space
//===----------------------------------------------------------------------===//

static FailureOr<int64_t> blockSize(NodeImport &node) {
  int64_t block = node.intAttr("blocksize", 0);
  if (node.input(0).rank() != 4 || block < 1 || block > (1 << 15))
    return node.error() << "needs a tensor of rank 4 and a positive blocksize, got "
                        << node.input(0).type() << " and " << block;
  return block;
}

static LogicalResult rearrange(NodeImport &node, ArrayRef<int64_t> split, ArrayRef<int64_t> perm,
                               ArrayRef<int64_t> joined) {
  FailureOr<Tensor> result = node.reshape(node.input(0), split);
  if (succeeded(result))
    result = node.transpose(*result, perm);
  if (succeeded(result))
    result = node.reshape(*result, joined);
  return setResult(node, 0, result);
}

LogicalResult convoy::onnx::importDepthToSpace(NodeImport &node) {
  FailureOr<int64_t> block = blockSize(node);
  std::string mode = node.stringAttr("mode", "DCR");
  if (failed(block))
    return failure();
  if (mode != "DCR" && mode != "CRD")
    return node.error() << "attribute 'mode' is '" << mode << "', expected DCR or CRD";
  ArrayRef<int64_t> shape = node.input(0).shape();
  int64_t b = *block, n = shape[0], c = shape[1], h = shape[2], w = shape[3];
  if (c % (b * b) != 0)
    return node.error() << "blocksize " << b << " does not divide " << c << " channels";
  c /= b * b;
  if (mode == "DCR")
    return rearrange(node, {n, b, b, c, h, w}, {0, 3, 4, 1, 5, 2}, {n, c, h * b, w * b});
  return rearrange(node, {n, c, b, b, h, w}, {0, 1, 4, 2, 5, 3}, {n, c, h * b, w * b});
}

LogicalResult convoy::onnx::importSpaceToDepth(NodeImport &node) {
  FailureOr<int64_t> block = blockSize(node);
  if (failed(block))
    return failure();
  ArrayRef<int64_t> shape = node.input(0).shape();
  int64_t b = *block, n = shape[0], c = shape[1], h = shape[2], w = shape[3];
  if (h % b != 0 || w % b != 0)
    return node.error() << "blocksize " << b << " does not divide " << h << "x" << w;
  return rearrange(node, {n, c, h / b, b, w / b, b}, {0, 3, 5, 1, 2, 4},
                   {n, c * b * b, h / b, w / b});
}

// An op of ONNX's first years: takes away a border (left, top, right, bottom), and with `scale`
// gives the result that height and width.
LogicalResult convoy::onnx::importCrop(NodeImport &node) {
  const Tensor &src = node.input(0);
  SmallVector<int64_t> border = node.intsAttr("border"), size = node.intsAttr("scale");
  if (src.rank() != 4 || border.size() != 4 || (!size.empty() && size.size() != 2))
    return node.error() << "cannot crop " << src.type() << " by the border [" << border
                        << "] to the size [" << size << "]";
  SmallVector<int64_t> starts{0, 0, border[1], border[0]}, shape(src.shape());
  for (int64_t d = 2; d < 4; ++d) {
    int64_t rest = src.shape()[d] - border[3 - d] - border[5 - d];
    shape[d] = size.empty() ? rest : size[d - 2];
    if (starts[d] < 0 || shape[d] < 0 || starts[d] > src.shape()[d] - shape[d])
      return node.error() << "crops beyond " << src.type() << " in dimension " << d;
  }
  FailureOr<Tensor> result = node.slice(src, starts, {1, 1, 1, 1}, shape);
  if (failed(result))
    return failure();
  node.setResult(0, *result);
  return success();
}
