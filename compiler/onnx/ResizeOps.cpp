// Resize in all its opsets, and Upsample before it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/Ops.h"

#include <cmath>

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;

namespace {

/// What the op needs beyond shapes; the defaults are what Upsample and Resize 10 do.
struct ResizeAttrs {
  cnn::ResizeMode mode = cnn::ResizeMode::Nearest;
  cnn::CoordinateMode coordinates = cnn::CoordinateMode::Asymmetric;
  cnn::NearestMode nearest = cnn::NearestMode::Floor;
  double cubicCoeffA = -0.75, extrapolation = 0;
  bool excludeOutside = false, antialias = false;
};

/// Extents, and the factors of the coordinate map, of all dimensions.
struct Extents {
  SmallVector<int64_t> shape;
  SmallVector<double> scales;
};

} // namespace

template <typename Enum>
static FailureOr<Enum> enumAttr(NodeImport &node, StringRef name, StringRef byDefault,
                                std::optional<Enum> (*parse)(StringRef)) {
  std::string text = node.stringAttr(name, byDefault);
  std::optional<Enum> value = parse(text);
  if (!value)
    return node.unsupported() << "attribute '" << name << "' is '" << text << "'";
  return *value;
}

static FailureOr<Tensor> resize(NodeImport &node, const Tensor &src, const ResizeAttrs &attrs,
                                const Extents &extents, ArrayRef<double> roi) {
  FailureOr<Value> value = node.toValue(src);
  if (failed(value))
    return failure();
  return node.create<cnn::ResizeOp>(
      RankedTensorType::get(extents.shape, src.elementType()), *value, attrs.mode,
      attrs.coordinates, attrs.nearest, extents.scales, roi, llvm::APFloat(attrs.cubicCoeffA),
      llvm::APFloat(attrs.extrapolation), attrs.excludeOutside, attrs.antialias, StringAttr());
}

static LogicalResult makeResize(NodeImport &node, const ResizeAttrs &attrs, const Extents &extents,
                                ArrayRef<double> roi) {
  FailureOr<Tensor> result = resize(node, node.input(0), attrs, extents, roi);
  if (failed(result))
    return failure();
  node.setResult(0, *result);
  return success();
}

// An extent of `value`, or an error if it is none that can be.
static FailureOr<int64_t> toExtent(NodeImport &node, double value) {
  if (!(value >= 0 && value < double(int64_t(1) << 31)))
    return node.error() << "makes an extent of " << value;
  return static_cast<int64_t>(value);
}

// `roi` has a start and an end for each dimension where it counts, and is empty where not.
static FailureOr<Extents> fromScales(NodeImport &node, ArrayRef<double> scales,
                                     ArrayRef<double> roi) {
  RankedTensorType src = node.input(0).type();
  int64_t rank = src.getRank();
  Extents result;
  for (int64_t i = 0; i < rank; ++i) {
    double scale = scales[i];
    result.scales.push_back(scale);
    if (!(scale > 0) || std::isinf(scale))
      return node.error() << "has the scale " << scale;
    if (src.isDynamicDim(i)) {
      if (scale != 1)
        return node.error() << "resizes the free batch; fix it with --shape";
      result.shape.push_back(ShapedType::kDynamic);
      continue;
    }
    double window = roi.empty() ? 1 : roi[i + rank] - roi[i];
    FailureOr<int64_t> extent =
        toExtent(node, std::floor(src.getDimSize(i) * window * scale));
    if (failed(extent))
      return failure();
    result.shape.push_back(*extent);
  }
  return result;
}

// The scales of all dimensions from those of `axes`.
static FailureOr<SmallVector<double>> spread(NodeImport &node, ArrayRef<double> values,
                                             ArrayRef<int64_t> axes, StringRef what) {
  if (values.size() != axes.size())
    return node.error() << "has " << values.size() << " " << what << " for " << axes.size()
                        << " dimensions";
  SmallVector<double> result(node.input(0).rank(), 1);
  for (auto [value, axis] : llvm::zip(values, axes))
    result[axis] = value;
  return result;
}

//===----------------------------------------------------------------------===//
// Upsample and Resize 10
//===----------------------------------------------------------------------===//

static FailureOr<cnn::ResizeMode> upsampleMode(NodeImport &node) {
  std::string mode = node.stringAttr("mode", "nearest");
  // ONNX's first years called it bilinear.
  if (mode == "bilinear" && node.opset() < 7)
    return cnn::ResizeMode::Linear;
  if (mode != "nearest" && mode != "linear")
    return node.unsupported() << "attribute 'mode' is '" << mode
                              << "', expected nearest or linear";
  return mode == "linear" ? cnn::ResizeMode::Linear : cnn::ResizeMode::Nearest;
}

LogicalResult convoy::onnx::checkUpsample(NodeImport &node) {
  return failure(failed(upsampleMode(node)));
}

static LogicalResult resizeByScales(NodeImport &node, ArrayRef<double> scales) {
  ResizeAttrs attrs;
  FailureOr<cnn::ResizeMode> mode = upsampleMode(node);
  if (failed(mode))
    return failure();
  attrs.mode = *mode;
  auto axes = llvm::to_vector(llvm::seq<int64_t>(0, node.input(0).rank()));
  FailureOr<SmallVector<double>> all = spread(node, scales, axes, "scales");
  if (failed(all))
    return failure();
  FailureOr<Extents> extents = fromScales(node, *all, {});
  if (failed(extents))
    return failure();
  auto isReduced = [](double scale) { return scale < 1; };
  if (attrs.mode != cnn::ResizeMode::Nearest || llvm::none_of(extents->scales, isReduced))
    return makeResize(node, attrs, *extents, {});

  // The text leaves open which element is nearest; ONNX's own test of opset 10 takes [1, 3] of
  // [1, 2, 3, 4] at the scale 0.6. So coordinates are rounded up where a dimension gets smaller,
  // and down, as everywhere else, where it grows.
  ResizeAttrs reducing = attrs;
  reducing.nearest = cnn::NearestMode::Ceil;
  if (llvm::all_of(extents->scales, [](double scale) { return scale <= 1; }))
    return makeResize(node, reducing, *extents, {});
  const Tensor &src = node.input(0);
  Extents smaller = *extents, larger = *extents;
  for (int64_t i = 0; i < src.rank(); ++i) {
    if (isReduced(extents->scales[i])) {
      larger.scales[i] = 1;
    } else {
      smaller.scales[i] = 1;
      smaller.shape[i] = src.shape()[i];
    }
  }
  FailureOr<Tensor> reduced = resize(node, src, reducing, smaller, {});
  if (failed(reduced))
    return failure();
  FailureOr<Tensor> result = resize(node, *reduced, attrs, larger, {});
  if (failed(result))
    return failure();
  node.setResult(0, *result);
  return success();
}

// Until opset 6: images, with an attribute for each direction.
LogicalResult convoy::onnx::importUpsampleHeightWidth(NodeImport &node) {
  for (StringRef name : {"height_scale", "width_scale"})
    if (!node.hasAttr(name))
      return node.error() << "lacks attribute '" << name << "'";
  if (node.input(0).rank() != 4)
    return node.error() << "resizes images, got " << node.input(0).type();
  return resizeByScales(
      node, {1, 1, node.floatAttr("height_scale", 1), node.floatAttr("width_scale", 1)});
}

LogicalResult convoy::onnx::importUpsampleAttr(NodeImport &node) {
  return resizeByScales(node, node.floatsAttr("scales"));
}

LogicalResult convoy::onnx::importUpsample(NodeImport &node) {
  FailureOr<SmallVector<double>> scales = node.constantFloats(1, "scales");
  return failed(scales) ? failure() : resizeByScales(node, *scales);
}

LogicalResult convoy::onnx::importResize10(NodeImport &node) { return importUpsample(node); }

//===----------------------------------------------------------------------===//
// Resize
//===----------------------------------------------------------------------===//

static FailureOr<ResizeAttrs> readAttrs(NodeImport &node) {
  ResizeAttrs attrs;
  auto mode = enumAttr<cnn::ResizeMode>(node, "mode", "nearest", cnn::symbolizeResizeMode);
  auto coordinates = enumAttr<cnn::CoordinateMode>(
      node, "coordinate_transformation_mode", "half_pixel", cnn::symbolizeCoordinateMode);
  auto nearest = enumAttr<cnn::NearestMode>(node, "nearest_mode", "round_prefer_floor",
                                            cnn::symbolizeNearestMode);
  if (failed(mode) || failed(coordinates) || failed(nearest))
    return failure();
  attrs.mode = *mode;
  attrs.coordinates = *coordinates;
  attrs.nearest = *nearest;
  attrs.cubicCoeffA = node.floatAttr("cubic_coeff_a", -0.75);
  attrs.extrapolation = node.floatAttr("extrapolation_value", 0);
  attrs.excludeOutside = node.intAttr("exclude_outside", 0) != 0;
  attrs.antialias = node.intAttr("antialias", 0) != 0;
  return attrs;
}

LogicalResult convoy::onnx::checkResize(NodeImport &node) {
  return node.opset() < 11 ? checkUpsample(node) : LogicalResult(failure(failed(readAttrs(node))));
}

// Extents from wanted sizes; where the aspect ratio is to be kept, one factor for all axes.
static FailureOr<Extents> fromSizes(NodeImport &node, const HostTensor &sizes,
                                    ArrayRef<int64_t> axes) {
  RankedTensorType src = node.input(0).type();
  std::string policy = node.stringAttr("keep_aspect_ratio_policy", "stretch");
  if (policy != "stretch" && policy != "not_larger" && policy != "not_smaller")
    return node.unsupported() << "attribute 'keep_aspect_ratio_policy' is '" << policy << "'";
  if (sizes.isFloat() || sizes.ints.size() != axes.size())
    return node.error() << "has sizes " << sizes.type << " for " << axes.size() << " dimensions";
  Extents result{SmallVector<int64_t>(src.getShape()), SmallVector<double>(src.getRank(), 1)};
  std::optional<double> common;
  for (auto [size, axis] : llvm::zip(sizes.ints, axes)) {
    if (src.isDynamicDim(axis)) {
      bool keeps = size == (node.isPerImage() ? LinearInt{0, 1} : LinearInt{1, 0});
      if (!keeps || policy != "stretch")
        return node.error() << "resizes the free batch; fix it with --shape";
      continue;
    }
    if (size.batch != 0)
      return node.error() << "makes the extent of dimension " << axis
                          << " from the free batch; fix the batch with --shape";
    FailureOr<int64_t> extent = toExtent(node, static_cast<double>(size.constant));
    if (failed(extent))
      return failure();
    if (src.getDimSize(axis) == 0 || *extent == 0)
      return node.error() << "resizes dimension " << axis << " from " << src.getDimSize(axis)
                          << " to " << *extent;
    result.shape[axis] = *extent;
    double scale = static_cast<double>(*extent) / static_cast<double>(src.getDimSize(axis));
    result.scales[axis] = scale;
    if (!common)
      common = scale;
    common = policy == "not_larger" ? std::min(*common, scale) : std::max(*common, scale);
  }
  if (policy == "stretch" || !common)
    return result;
  for (int64_t axis : axes) {
    result.scales[axis] = *common;
    // Half up, as ONNX's round_int.
    result.shape[axis] =
        static_cast<int64_t>(std::floor(*common * static_cast<double>(src.getDimSize(axis)) + 0.5));
  }
  return result;
}

LogicalResult convoy::onnx::importResize(NodeImport &node) {
  FailureOr<ResizeAttrs> attrs = readAttrs(node);
  if (failed(attrs))
    return failure();
  const Tensor &src = node.input(0);
  int64_t rank = src.rank();
  SmallVector<int64_t> axes =
      node.intsAttr("axes", llvm::to_vector(llvm::seq<int64_t>(0, rank)));
  if (failed(node.normalizeAxes(axes, rank)))
    return failure();
  for (int64_t &axis : axes)
    axis = axis < 0 ? axis + rank : axis;

  // Until opset 12 what is not given is an empty tensor.
  auto isGiven = [&](unsigned index) {
    if (!node.hasInput(index))
      return false;
    ArrayRef<int64_t> shape = node.input(index).shape();
    return shape.size() != 1 || shape[0] != 0;
  };
  SmallVector<double> roi;
  if (attrs->coordinates == cnn::CoordinateMode::TfCropAndResize) {
    if (!isGiven(1))
      return node.error() << "needs a roi for tf_crop_and_resize";
    FailureOr<SmallVector<double>> given = node.constantFloats(1, "roi");
    if (failed(given))
      return failure();
    if (given->size() != 2 * axes.size())
      return node.error() << "has a roi of " << given->size() << " values for " << axes.size()
                          << " dimensions";
    roi.assign(rank, 0);
    roi.append(rank, 1);
    for (size_t i = 0; i < axes.size(); ++i) {
      roi[axes[i]] = (*given)[i];
      roi[axes[i] + rank] = (*given)[i + axes.size()];
    }
  }
  bool hasScales = isGiven(2), hasSizes = isGiven(3);
  if (hasScales == hasSizes)
    return node.error() << "needs either scales or sizes";
  if (hasSizes) {
    FailureOr<HostTensor> sizes = node.hostInput(3, "sizes");
    if (failed(sizes))
      return failure();
    FailureOr<Extents> extents = fromSizes(node, *sizes, axes);
    return failed(extents) ? failure() : makeResize(node, *attrs, *extents, roi);
  }
  node.ignoreAttr("keep_aspect_ratio_policy"); // concerns sizes
  FailureOr<SmallVector<double>> scales = node.constantFloats(2, "scales");
  if (failed(scales))
    return failure();
  FailureOr<SmallVector<double>> all = spread(node, *scales, axes, "scales");
  if (failed(all))
    return failure();
  FailureOr<Extents> extents = fromScales(node, *all, roi);
  return failed(extents) ? failure() : makeResize(node, *attrs, *extents, roi);
}
