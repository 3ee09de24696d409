// Transpose, Concat, Split, Slice, Gather, Pad and their kin.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/Extents.h"
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
  if (llvm::any_of(node.allInputs(), [&](const Tensor &input) {
        return input.extent && input.extent->dim == *axis;
      }))
    return setResult(node, 0, concatCounted(node, node.allInputs(), *axis));
  FailureOr<Tensor> result = node.concat(node.allInputs(), *axis);
  if (failed(setResult(node, 0, result)))
    return failure();
  // Along another axis all have the one count, or none has one.
  for (unsigned i = 1; i < node.numInputs(); ++i)
    if (!(node.input(i).extent == node.input(0).extent))
      return node.unsupported() << "inputs 0 and " << i
                                << " do not have one extent, which only a run tells";
  node.setExtent(0, node.input(0).extent);
  return success();
}

//===----------------------------------------------------------------------===//
// Split
//===----------------------------------------------------------------------===//

// Sizes of the parts where none are given. An extent that does not divide leaves the last part
// smaller, which only opset 18 allows.
static FailureOr<SmallVector<int64_t>> evenSizes(NodeImport &node, int64_t extent, int64_t count) {
  // One for each output: the number may come from an attribute.
  if (count != node.numOutputs() || count < 1)
    return node.error() << "makes " << count << " parts for " << node.numOutputs() << " outputs";
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

// One axis: makes `extent` that of the slice, and says where it starts and by which step it goes.
static void cutAxis(int64_t start, int64_t end, int64_t step, int64_t &extent, int64_t &from,
                    int64_t &by) {
  start = start < 0 ? start + extent : start;
  end = end < 0 ? end + extent : end;
  // Numpy's clamps: from behind, the first position is the last element, and the end before
  // the first one.
  start = step > 0 ? std::clamp<int64_t>(start, 0, extent)
                   : std::clamp<int64_t>(start, 0, std::max<int64_t>(extent - 1, 0));
  end = step > 0 ? std::clamp<int64_t>(end, 0, extent) : std::clamp<int64_t>(end, -1, extent - 1);
  // No step is longer than the extent; the least number has no negative.
  step = std::clamp<int64_t>(step, -(extent + 1), extent + 1);
  int64_t count = step > 0 ? llvm::divideCeilSigned(end - start, step)
                           : llvm::divideCeilSigned(start - end, -step);
  extent = extent == 0 ? 0 : std::max<int64_t>(count, 0);
  from = extent == 0 ? 0 : start;
  by = step;
}

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
    int64_t step = steps[i];
    if (step == 0)
      return node.error() << "has a step of 0";
    if (src.type().isDynamicDim(axis) && node.isPerImage()) {
      int64_t extent = 1, first = 0, stride = 1;
      cutAxis(starts[i].constant, ends[i].constant, step, extent, first, stride);
      if (extent != 1)
        return node.error() << "cuts the free batch; fix it with --shape";
      continue;
    }
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
    cutAxis(starts[i].constant, ends[i].constant, step, shape[axis], from[axis], by[axis]);
  }
  return setResult(node, 0, node.slice(src, from, by, shape));
}

static SmallVector<LinearInt> linear(ArrayRef<int64_t> values) {
  return llvm::map_to_vector(values, [](int64_t value) { return LinearInt{0, value}; });
}

// A slice of which a place is known only at run time, or that cuts a counted dimension: along that
// one axis, after all others.
static LogicalResult sliceAtRunTime(NodeImport &node, const Tensor &starts, const Tensor &ends,
                                    ArrayRef<int64_t> axes, ArrayRef<int64_t> steps) {
  Tensor src = node.input(0);
  int64_t count = axes.size();
  if (starts.shape() != ends.shape() || starts.rank() != 1 ||
      starts.shape()[0] != count || static_cast<int64_t>(steps.size()) != count)
    return node.error() << "has starts of " << starts.type() << " and ends of " << ends.type()
                        << " for " << axes.size() << " axes and " << steps.size() << " steps";
  if (failed(node.normalizeAxes(axes, src.rank())))
    return failure();
  // The one with a count comes last; without one every cut along another axis makes one.
  std::optional<Extent> extent = src.extent;
  SmallVector<int64_t> order;
  for (bool isLast : {false, true})
    for (int64_t i = 0; i < count; ++i) {
      int64_t axis = axes[i] < 0 ? axes[i] + src.rank() : axes[i];
      if ((extent && extent->dim == axis) == isLast)
        order.push_back(i);
    }
  std::optional<HostTensor> knownStarts = node.toHost(starts), knownEnds = node.toHost(ends);
  for (int64_t i : order) {
    int64_t axis = axes[i] < 0 ? axes[i] + src.rank() : axes[i], step = steps[i];
    if (step == 0)
      return node.error() << "has a step of 0";
    bool isCounted = extent && extent->dim == axis;
    if (!isCounted && knownStarts && knownEnds) {
      LinearInt start = knownStarts->ints[i], end = knownEnds->ints[i];
      if (start.batch != 0 || end.batch != 0 || src.type().isDynamicDim(axis))
        return node.error() << "cuts by the free batch; fix it with --shape";
      SmallVector<int64_t> from(src.rank(), 0), by(src.rank(), 1), shape(src.shape());
      cutAxis(start.constant, end.constant, step, shape[axis], from[axis], by[axis]);
      FailureOr<Tensor> part = node.slice(src, from, by, shape);
      if (failed(part))
        return failure();
      src = *part;
      src.extent = extent;
      continue;
    }
    FailureOr<Tensor> start = node.slice(starts, {i}, {1}, {1}), end = node.slice(ends, {i}, {1}, {1});
    if (succeeded(start))
      start = node.reshape(*start, {});
    if (succeeded(end))
      end = node.reshape(*end, {});
    if (failed(start) || failed(end))
      return failure();
    FailureOr<Tensor> part = sliceCounted(node, src, axis, *start, *end, step);
    if (failed(part))
      return failure();
    src = *part;
    extent = src.extent;
  }
  node.setResult(0, src);
  return success();
}

LogicalResult convoy::onnx::importSliceAttrs(NodeImport &node) {
  for (StringRef name : {"starts", "ends"})
    if (!node.hasAttr(name))
      return node.error() << "lacks attribute '" << name << "'";
  SmallVector<int64_t> axes = node.intsAttr("axes");
  if (node.input(0).extent) {
    SmallVector<LinearInt> starts = linear(node.intsAttr("starts"));
    SmallVector<LinearInt> ends = linear(node.intsAttr("ends"));
    SmallVector<int64_t> steps(starts.size(), 1);
    if (!node.hasAttr("axes"))
      axes = llvm::to_vector(llvm::seq<int64_t>(0, starts.size()));
    return sliceAtRunTime(node, Tensor(HostTensor::ofInts(node.getContext(), starts)),
                          Tensor(HostTensor::ofInts(node.getContext(), ends)), axes, steps);
  }
  return slice(node, linear(node.intsAttr("starts")), linear(node.intsAttr("ends")),
               node.hasAttr("axes") ? std::optional<ArrayRef<int64_t>>(axes) : std::nullopt,
               std::nullopt);
}

LogicalResult convoy::onnx::importSlice(NodeImport &node) {
  bool isKnown = node.toHost(node.input(1)) && node.toHost(node.input(2));
  if (node.input(0).extent || !isKnown) {
    const Tensor &starts = node.input(1), &ends = node.input(2);
    if (!isa<IntegerType>(starts.elementType()) || !isa<IntegerType>(ends.elementType()))
      return node.error() << "has starts or ends that are no integers";
    int64_t count = starts.rank() == 1 ? starts.shape()[0] : -1;
    if (count < 0 || count > node.input(0).rank())
      return node.error() << "has starts of " << starts.type() << " for a tensor of rank "
                          << node.input(0).rank();
    SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, count)), steps(count, 1);
    for (auto [input, list, what] :
         {std::tuple(3u, &axes, "axes"), std::tuple(4u, &steps, "steps")})
      if (node.hasInput(input)) {
        FailureOr<SmallVector<int64_t>> given = node.constantInts(input, what);
        if (failed(given))
          return failure();
        *list = *given;
      }
    return sliceAtRunTime(node, starts, ends, axes, steps);
  }
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

static FailureOr<cnn::PadMode> padMode(NodeImport &node) {
  std::string name = node.stringAttr("mode", "constant");
  std::optional<cnn::PadMode> mode = llvm::StringSwitch<std::optional<cnn::PadMode>>(name)
                                         .Case("constant", cnn::PadMode::Constant)
                                         .Case("reflect", cnn::PadMode::Reflect)
                                         .Case("edge", cnn::PadMode::Edge)
                                         .Case("wrap", cnn::PadMode::Wrap)
                                         .Default(std::nullopt);
  if (!mode || (*mode == cnn::PadMode::Wrap && node.opset() < 19))
    return node.unsupported() << "attribute 'mode' is '" << name
                              << "', expected constant, reflect, edge"
                              << (node.opset() < 19 ? "" : " or wrap");
  return *mode;
}

LogicalResult convoy::onnx::checkPad(NodeImport &node) { return failure(failed(padMode(node))); }

static LogicalResult pad(NodeImport &node, ArrayRef<int64_t> pads,
                         std::optional<ArrayRef<int64_t>> givenAxes, const Tensor &fill) {
  const Tensor &src = node.input(0);
  FailureOr<cnn::PadMode> mode = padMode(node);
  if (failed(mode))
    return failure();
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
    if (low[axis] < -kLargest || low[axis] > kLargest || high[axis] < -kLargest ||
        high[axis] > kLargest)
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
    for (int64_t side : {border[3 - d], border[5 - d]})
      if (side < 0 || side > src.shape()[d])
        return node.error() << "cannot take " << side << " away from dimension " << d << " of "
                            << src.type();
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
