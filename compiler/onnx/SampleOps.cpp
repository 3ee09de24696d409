// Ops that sample at computed positions: GridSample, RoiAlign, DeformConv.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/Compose.h"
#include "compiler/onnx/Ops.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;

static FailureOr<Tensor> createSample(NodeImport &node, const Tensor &src, const Tensor &positions,
                                      cnn::ResizeMode mode, cnn::SamplePadding padding,
                                      bool alignCorners) {
  FailureOr<RankedTensorType> type =
      cnn::SampleOp::inferType(node.getLoc(), src.type(), positions.type(), mode);
  FailureOr<Value> srcValue = node.toValue(src), positionsValue = node.toValue(positions);
  if (failed(type) || failed(srcValue) || failed(positionsValue))
    return failure();
  return node.create<cnn::SampleOp>(*type, *srcValue, *positionsValue, mode, padding, alignCorners,
                                    StringAttr());
}

// Positions are computed in f32 at least.
static Type positionType(NodeImport &node, Type given) {
  return given.isF64() ? given : Type(Float32Type::get(node.getContext()));
}

LogicalResult convoy::onnx::importGridSample(NodeImport &node) {
  const Tensor &src = node.input(0), &grid = node.input(1);
  std::string modeName = node.stringAttr("mode", node.opset() < 20 ? "bilinear" : "linear");
  std::string paddingName = node.stringAttr("padding_mode", "zeros");
  bool alignCorners = node.intAttr("align_corners", 0) != 0;
  auto mode = llvm::StringSwitch<std::optional<cnn::ResizeMode>>(modeName)
                  .Case("nearest", cnn::ResizeMode::Nearest)
                  .Cases({"linear", "bilinear"}, cnn::ResizeMode::Linear)
                  .Cases({"cubic", "bicubic"}, cnn::ResizeMode::Cubic)
                  .Default(std::nullopt);
  auto padding = cnn::symbolizeSamplePadding(paddingName);
  if (!mode || !padding)
    return node.error() << "has mode '" << modeName << "' and padding_mode '" << paddingName << "'";
  if (!isa<FloatType>(grid.elementType()) || src.rank() < 3 || grid.rank() != src.rank())
    return node.error() << "cannot sample " << src.type() << " at " << grid.type();
  // From [-1, 1], the last dimension first, to elements of src.
  Type type = positionType(node, grid.elementType());
  SmallVector<double> extents;
  for (int64_t extent : llvm::reverse(src.shape().drop_front(2)))
    extents.push_back(static_cast<double>(extent));
  FailureOr<Tensor> wide = castTensor(node, grid, type);
  if (failed(wide))
    return failure();
  FailureOr<Tensor> positions = createMap(
      node, {*wide, vectorTensor(type, extents)}, type, [&](ScalarBuilder &s, ArrayRef<Value> x) {
        Value one = s.number(1), half = s.number(0.5), fromEdge = s.add(x[0], one);
        return alignCorners ? s.mul(s.mul(fromEdge, half), s.sub(x[1], one))
                            : s.mul(s.sub(s.mul(fromEdge, x[1]), one), half);
      });
  if (failed(positions))
    return failure();
  return setResult(node, createSample(node, src, *positions, *mode, *padding, alignCorners));
}

LogicalResult convoy::onnx::importRoiAlign(NodeImport &node) {
  std::string mode = node.stringAttr("mode", "avg");
  std::string coordinates =
      node.opset() < 16
          ? "output_half_pixel"
          : node.stringAttr("coordinate_transformation_mode", "half_pixel");
  if ((mode != "avg" && mode != "max") ||
      (coordinates != "half_pixel" && coordinates != "output_half_pixel"))
    return node.error() << "has mode '" << mode << "' and coordinate_transformation_mode '"
                        << coordinates << "'";
  SmallVector<int64_t> bins{node.intAttr("output_height", 1), node.intAttr("output_width", 1)};
  int64_t samplingRatio = node.intAttr("sampling_ratio", 0);
  SmallVector<Value> values;
  for (const Tensor &input : node.allInputs()) {
    FailureOr<Value> value = node.toValue(input);
    if (failed(value))
      return failure();
    values.push_back(*value);
  }
  FailureOr<RankedTensorType> type =
      cnn::RoiAlignOp::inferType(node.getLoc(), node.input(0).type(), node.input(1).type(),
                                 node.input(2).type(), bins, samplingRatio);
  if (failed(type))
    return failure();
  return setResult(node,
                   node.create<cnn::RoiAlignOp>(
                       *type, values[0], values[1], values[2],
                       mode == "avg" ? cnn::PoolKind::Average : cnn::PoolKind::Max, bins,
                       samplingRatio,
                       llvm::APFloat(node.floatAttr("spatial_scale", 1)),
                       coordinates == "half_pixel", StringAttr()));
}

namespace {

/// A deformable convolution: `taps` positions of the kernel at each of `points` of the result.
struct Deformable {
  WindowAttrs window;
  SmallVector<int64_t> extents; // spatial, of the result
  int64_t taps = 1, points = 1;
};

} // namespace

// Where an undeformed kernel reads, [1, taps, points, spatial], the last dimension first.
static Tensor regularPositions(const Deformable &conv, Type elementType) {
  size_t rank = conv.extents.size();
  SmallVector<double> values;
  for (int64_t tap = 0; tap < conv.taps; ++tap)
    for (int64_t point = 0; point < conv.points; ++point) {
      int64_t restOfTap = tap, restOfPoint = point;
      for (size_t d = rank; d-- > 0;) {
        int64_t k = restOfTap % conv.window.kernel[d], o = restOfPoint % conv.extents[d];
        restOfTap /= conv.window.kernel[d];
        restOfPoint /= conv.extents[d];
        values.push_back(static_cast<double>(o * conv.window.strides[d] - conv.window.pads[d] +
                                             k * conv.window.dilations[d]));
      }
    }
  Tensor flat = vectorTensor(elementType, values);
  return Tensor(flat.host->reshaped({1, conv.taps, conv.points, static_cast<int64_t>(rank)}));
}

// Channels [first, first + count) of a tensor.
static FailureOr<Tensor> channels(NodeImport &node, const Tensor &tensor, int64_t first,
                                  int64_t count) {
  SmallVector<int64_t> starts(tensor.rank(), 0), steps(tensor.rank(), 1), shape(tensor.shape());
  starts[1] = first;
  shape[1] = count;
  return node.slice(tensor, starts, steps, shape);
}

// What the kernel reads in the channels of one offset group: [n, channels, taps, points].
static FailureOr<Tensor> sampleGroup(NodeImport &node, const Deformable &conv, const Tensor &base,
                                     int64_t group, int64_t groups) {
  const Tensor &src = node.input(0);
  int64_t rank = conv.extents.size(), batch = src.shape()[0], width = src.shape()[1] / groups;
  FailureOr<Tensor> image = channels(node, src, group * width, width);
  FailureOr<Tensor> offsets =
      channels(node, node.input(2), group * conv.taps * rank, conv.taps * rank);
  if (failed(image) || failed(offsets))
    return failure();
  // [n, taps, spatial, points] to [n, taps, points, spatial], the last dimension first.
  SmallVector<int64_t> split{batch, conv.taps, rank, conv.points};
  offsets = node.reshape(*offsets, split);
  if (succeeded(offsets))
    offsets = node.slice(*offsets, {0, 0, rank - 1, 0}, {1, 1, -1, 1}, split);
  if (succeeded(offsets))
    offsets = node.transpose(*offsets, {0, 1, 3, 2});
  if (failed(offsets))
    return failure();
  Type type = base.elementType(), offsetType = offsets->elementType();
  FailureOr<Tensor> positions =
      createMap(node, {*offsets, base}, type, [&](ScalarBuilder &s, ArrayRef<Value> x) {
        return s.of(type).add(s.of(offsetType).cast(x[0], type), x[1]);
      });
  if (failed(positions))
    return failure();
  FailureOr<Tensor> samples = createSample(node, *image, *positions, cnn::ResizeMode::Linear,
                                           cnn::SamplePadding::Zeros, /*alignCorners=*/true);
  if (failed(samples) || !node.hasInput(4))
    return samples;
  FailureOr<Tensor> mask = channels(node, node.input(4), group * conv.taps, conv.taps);
  if (succeeded(mask))
    mask = node.reshape(*mask, {batch, 1, conv.taps, conv.points});
  if (failed(mask))
    return failure();
  return createMap(node, {*samples, *mask}, src.elementType(),
                   [](ScalarBuilder &s, ArrayRef<Value> x) { return s.mul(x[0], x[1]); });
}

// Samples what each kernel position reads, then convolves: over taps as one dimension of the
// image and points as the other, the kernel covers all taps of one point.
LogicalResult convoy::onnx::importDeformConv(NodeImport &node) {
  const Tensor &src = node.input(0), &wei = node.input(1), &offsets = node.input(2);
  if (!isa<FloatType>(src.elementType()))
    return node.unsupported() << "elements of " << src.elementType();
  for (const Tensor &input : node.allInputs())
    if (input && input.elementType() != src.elementType())
      return node.error() << "has inputs of " << src.elementType() << " and of "
                          << input.elementType();
  FailureOr<WindowAttrs> window = readConvWindow(node, src, wei);
  if (failed(window))
    return failure();
  int64_t groups = node.intAttr("group", 1), offsetGroups = node.intAttr("offset_group", 1);
  FailureOr<RankedTensorType> type =
      cnn::ConvOp::inferType(node.getLoc(), src.type(), wei.type(), window->strides, window->pads,
                             window->dilations, groups);
  if (failed(type))
    return failure();
  Deformable conv{*window, SmallVector<int64_t>(type->getShape().drop_front(2))};
  int64_t rank = conv.extents.size(), batch = src.shape()[0];
  for (int64_t extent : conv.window.kernel)
    conv.taps *= extent;
  for (int64_t extent : conv.extents)
    conv.points *= extent;
  if (offsetGroups < 1 || src.shape()[1] % offsetGroups != 0)
    return node.error() << "cannot divide the channels of " << src.type() << " into "
                        << offsetGroups << " offset groups";
  auto expect = [&](unsigned index, int64_t count) -> LogicalResult {
    SmallVector<int64_t> shape{batch, count};
    llvm::append_range(shape, conv.extents);
    if (node.input(index).shape() == ArrayRef<int64_t>(shape))
      return success();
    return node.error() << "input " << index << " is " << node.input(index).type()
                        << ", expected the shape [" << shape << "]";
  };
  if (failed(expect(2, offsetGroups * conv.taps * rank)) ||
      (node.hasInput(4) && failed(expect(4, offsetGroups * conv.taps))))
    return failure();
  if (failed(node.checkConstantSize({conv.taps, conv.points, rank})))
    return failure();

  Tensor base = regularPositions(conv, positionType(node, offsets.elementType()));
  SmallVector<Tensor> parts;
  for (int64_t group = 0; group < offsetGroups; ++group) {
    FailureOr<Tensor> part = sampleGroup(node, conv, base, group, offsetGroups);
    if (failed(part))
      return failure();
    parts.push_back(*part);
  }
  FailureOr<Tensor> samples = parts.size() == 1 ? parts[0] : node.concat(parts, 1);
  FailureOr<Tensor> kernel =
      node.reshape(wei, {wei.shape()[0], wei.shape()[1], conv.taps, 1});
  if (failed(samples) || failed(kernel))
    return failure();
  SmallVector<Tensor> extras;
  if (node.hasInput(3)) {
    FailureOr<Tensor> bias = node.alongChannels(node.input(3), 4);
    if (failed(bias))
      return failure();
    extras.push_back(*bias);
  }
  WindowAttrs plain{{conv.taps, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}, AutoPad::NotSet};
  FailureOr<Tensor> result =
      createConv(node, *samples, *kernel, plain, groups,
                 {extras, {}, [](ScalarBuilder &s, ArrayRef<Value> x) {
                    return x.size() > 1 ? s.add(x[0], x[1]) : x[0];
                  }});
  if (failed(result))
    return failure();
  return setResult(node, node.reshape(*result, type->getShape()));
}
