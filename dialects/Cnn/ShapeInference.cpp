// Result types of the ops that compute their shape.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Cnn/Cnn.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::cnn;

static std::string show(int64_t extent) {
  return ShapedType::isDynamic(extent) ? "?" : std::to_string(extent);
}

static std::string show(ArrayRef<int64_t> shape) {
  std::string text;
  for (int64_t extent : shape)
    text += (text.empty() ? "" : "x") + show(extent);
  return "[" + text + "]";
}

// Lengths and signs of the attributes that all window ops share.
static LogicalResult checkWindow(Location loc, int64_t spatialRank, ArrayRef<int64_t> strides,
                                 ArrayRef<int64_t> pads, ArrayRef<int64_t> dilations) {
  if (spatialRank < 1)
    return mlir::emitError(loc) << "src needs rank 3 or more, got " << spatialRank + 2;
  auto check = [&](StringRef name, ArrayRef<int64_t> values, int64_t count) -> LogicalResult {
    if (static_cast<int64_t>(values.size()) == count)
      return success();
    return mlir::emitError(loc) << name << " needs " << count << " values for " << spatialRank
                          << " spatial dimensions, got " << values.size();
  };
  if (failed(check("strides", strides, spatialRank)) ||
      failed(check("dilations", dilations, spatialRank)) ||
      failed(check("pads", pads, 2 * spatialRank)))
    return failure();
  if (llvm::any_of(strides, [](int64_t v) { return v < 1; }))
    return mlir::emitError(loc) << "strides must be positive, got " << show(strides);
  if (llvm::any_of(dilations, [](int64_t v) { return v < 1; }))
    return mlir::emitError(loc) << "dilations must be positive, got " << show(dilations);
  return success();
}

FailureOr<SmallVector<int64_t>> cnn::inferBroadcast(Location loc,
                                                    ArrayRef<ArrayRef<int64_t>> shapes) {
  SmallVector<int64_t> result;
  for (ArrayRef<int64_t> shape : shapes) {
    if (shape.size() > result.size())
      result.insert(result.begin(), shape.size() - result.size(), 1);
    for (size_t i = 0; i < shape.size(); ++i) {
      int64_t &extent = result[result.size() - shape.size() + i];
      if (extent == shape[i] || shape[i] == 1)
        continue;
      if (extent != 1)
        return mlir::emitError(loc) << "shapes " << show(ArrayRef<int64_t>(result)) << " and "
                              << show(shape) << " do not broadcast: " << show(extent) << " against "
                              << show(shape[i]);
      extent = shape[i];
    }
  }
  for (size_t i = 1; i < result.size(); ++i)
    if (ShapedType::isDynamic(result[i]))
      return mlir::emitError(loc) << "the free batch would move to dimension " << i
                            << "; fix it with --shape";
  return result;
}

FailureOr<RankedTensorType> ConvOp::inferType(Location loc, RankedTensorType src,
                                              RankedTensorType wei, ArrayRef<int64_t> strides,
                                              ArrayRef<int64_t> pads, ArrayRef<int64_t> dilations,
                                              int64_t groups) {
  int64_t rank = src.getRank();
  if (failed(checkWindow(loc, rank - 2, strides, pads, dilations)))
    return failure();
  if (wei.getRank() != rank)
    return mlir::emitError(loc) << "src has rank " << rank << " but weights have rank " << wei.getRank();
  if (wei.getElementType() != src.getElementType())
    return mlir::emitError(loc) << "src has elements of " << src.getElementType() << " but weights of "
                          << wei.getElementType();
  int64_t ic = src.getDimSize(1), oc = wei.getDimSize(0);
  if (groups < 1 || ic % groups != 0 || oc % groups != 0)
    return mlir::emitError(loc) << "group=" << groups << " does not divide ic=" << ic << " and oc=" << oc;
  if (wei.getDimSize(1) != ic / groups)
    return mlir::emitError(loc) << "weights have " << wei.getDimSize(1) << " input channels, expected "
                          << ic / groups << " (ic=" << ic << ", group=" << groups << ")";
  SmallVector<int64_t> shape{src.getDimSize(0), oc};
  for (int64_t i = 0; i < rank - 2; ++i) {
    int64_t padded = src.getDimSize(i + 2) + pads[i] + pads[i + rank - 2];
    int64_t reach = (wei.getDimSize(i + 2) - 1) * dilations[i] + 1;
    if (padded < reach)
      return mlir::emitError(loc) << "spatial dimension " << i << ": extent " << padded
                            << " with padding is smaller than the kernel's " << reach;
    shape.push_back((padded - reach) / strides[i] + 1);
  }
  return RankedTensorType::get(shape, src.getElementType());
}

FailureOr<RankedTensorType>
ConvTransposeOp::inferType(Location loc, RankedTensorType src, RankedTensorType wei,
                           ArrayRef<int64_t> strides, ArrayRef<int64_t> pads,
                           ArrayRef<int64_t> dilations, ArrayRef<int64_t> outputPadding,
                           int64_t groups) {
  int64_t rank = src.getRank();
  if (failed(checkWindow(loc, rank - 2, strides, pads, dilations)))
    return failure();
  if (static_cast<int64_t>(outputPadding.size()) != rank - 2)
    return mlir::emitError(loc) << "output_padding needs " << rank - 2 << " values, got "
                          << outputPadding.size();
  if (wei.getRank() != rank)
    return mlir::emitError(loc) << "src has rank " << rank << " but weights have rank " << wei.getRank();
  if (wei.getElementType() != src.getElementType())
    return mlir::emitError(loc) << "src has elements of " << src.getElementType() << " but weights of "
                          << wei.getElementType();
  int64_t ic = src.getDimSize(1);
  if (groups < 1 || ic % groups != 0)
    return mlir::emitError(loc) << "group=" << groups << " does not divide ic=" << ic;
  if (wei.getDimSize(0) != ic)
    return mlir::emitError(loc) << "weights have " << wei.getDimSize(0) << " input channels, expected "
                          << ic;
  SmallVector<int64_t> shape{src.getDimSize(0), wei.getDimSize(1) * groups};
  for (int64_t i = 0; i < rank - 2; ++i) {
    int64_t reach = (wei.getDimSize(i + 2) - 1) * dilations[i] + 1;
    int64_t extent = (src.getDimSize(i + 2) - 1) * strides[i] + reach + outputPadding[i] -
                     pads[i] - pads[i + rank - 2];
    if (extent < 0 || outputPadding[i] < 0)
      return mlir::emitError(loc) << "spatial dimension " << i << ": the result's extent " << extent
                            << " or output_padding " << outputPadding[i] << " is negative";
    shape.push_back(extent);
  }
  return RankedTensorType::get(shape, src.getElementType());
}

FailureOr<RankedTensorType> PoolOp::inferType(Location loc, RankedTensorType src,
                                              ArrayRef<int64_t> kernel, ArrayRef<int64_t> strides,
                                              ArrayRef<int64_t> pads, ArrayRef<int64_t> dilations,
                                              bool ceilMode) {
  int64_t spatialRank = src.getRank() - 2;
  if (failed(checkWindow(loc, spatialRank, strides, pads, dilations)))
    return failure();
  if (static_cast<int64_t>(kernel.size()) != spatialRank ||
      llvm::any_of(kernel, [](int64_t v) { return v < 1; }))
    return mlir::emitError(loc) << "kernel needs " << spatialRank << " positive values, got "
                          << show(kernel);
  SmallVector<int64_t> shape{src.getDimSize(0), src.getDimSize(1)};
  for (int64_t i = 0; i < spatialRank; ++i) {
    int64_t extent = src.getDimSize(i + 2);
    int64_t padded = extent + pads[i] + pads[i + spatialRank];
    int64_t reach = (kernel[i] - 1) * dilations[i] + 1;
    if (padded < reach && !ceilMode)
      return mlir::emitError(loc) << "spatial dimension " << i << ": extent " << padded
                            << " with padding is smaller than the kernel's " << reach;
    int64_t steps = padded - reach;
    int64_t result = (ceilMode ? llvm::divideCeilSigned(steps, strides[i])
                               : llvm::divideFloorSigned(steps, strides[i])) + 1;
    // A window that would start in the end padding is dropped.
    if (ceilMode && (result - 1) * strides[i] >= extent + pads[i])
      --result;
    if (result < 1)
      return mlir::emitError(loc) << "spatial dimension " << i << ": no window of extent " << reach
                            << " fits into " << padded;
    shape.push_back(result);
  }
  return RankedTensorType::get(shape, src.getElementType());
}

FailureOr<RankedTensorType> MatmulOp::inferType(Location loc, RankedTensorType lhs,
                                                RankedTensorType rhs, bool transposeLhs,
                                                bool transposeRhs) {
  int64_t lhsRank = lhs.getRank(), rhsRank = rhs.getRank();
  if (lhsRank < 2 || rhsRank < 2)
    return mlir::emitError(loc) << "matrices need rank 2 or more, got " << lhsRank << " and " << rhsRank;
  if (lhs.getElementType() != rhs.getElementType())
    return mlir::emitError(loc) << "operands have elements of " << lhs.getElementType() << " and "
                          << rhs.getElementType();
  int64_t m = lhs.getDimSize(lhsRank - (transposeLhs ? 1 : 2));
  int64_t k = lhs.getDimSize(lhsRank - (transposeLhs ? 2 : 1));
  int64_t rhsK = rhs.getDimSize(rhsRank - (transposeRhs ? 1 : 2));
  int64_t n = rhs.getDimSize(rhsRank - (transposeRhs ? 2 : 1));
  if (ShapedType::isDynamic(k) || ShapedType::isDynamic(rhsK) || ShapedType::isDynamic(n))
    return mlir::emitError(loc) << "the free batch would be an inner or right extent; fix it with --shape";
  if (k != rhsK)
    return mlir::emitError(loc) << "inner extents differ: " << k << " against " << rhsK;
  FailureOr<SmallVector<int64_t>> shape =
      inferBroadcast(loc, {lhs.getShape().drop_back(2), rhs.getShape().drop_back(2)});
  if (failed(shape))
    return failure();
  if (ShapedType::isDynamic(m) && !shape->empty())
    return mlir::emitError(loc) << "the free batch would move from dimension 0; fix it with --shape";
  shape->append({m, n});
  return RankedTensorType::get(*shape, lhs.getElementType());
}

FailureOr<RankedTensorType> ReduceOp::inferType(Location loc, RankedTensorType src,
                                                ArrayRef<int64_t> axes, bool keepDims) {
  for (auto [i, axis] : llvm::enumerate(axes)) {
    if (axis < 0 || axis >= src.getRank())
      return mlir::emitError(loc) << "axis " << axis << " is outside rank " << src.getRank();
    if (i > 0 && axes[i - 1] >= axis)
      return mlir::emitError(loc) << "axes must be sorted without repeats, got " << show(axes);
    if (src.isDynamicDim(axis))
      return mlir::emitError(loc) << "axis " << axis << " is the free batch; fix it with --shape";
  }
  SmallVector<int64_t> shape;
  for (int64_t i = 0; i < src.getRank(); ++i) {
    if (!llvm::is_contained(axes, i))
      shape.push_back(src.getDimSize(i));
    else if (keepDims)
      shape.push_back(1);
  }
  for (size_t i = 1; i < shape.size(); ++i)
    if (ShapedType::isDynamic(shape[i]))
      return mlir::emitError(loc) << "the free batch would move from dimension 0; fix it with --shape";
  return RankedTensorType::get(shape, src.getElementType());
}

FailureOr<RankedTensorType> MapOp::inferType(Location loc, ArrayRef<RankedTensorType> inputs,
                                             Type elementType) {
  SmallVector<ArrayRef<int64_t>> shapes;
  for (RankedTensorType input : inputs)
    shapes.push_back(input.getShape());
  FailureOr<SmallVector<int64_t>> shape = inferBroadcast(loc, shapes);
  if (failed(shape))
    return failure();
  return RankedTensorType::get(*shape, elementType);
}

FailureOr<RankedTensorType> ConcatOp::inferType(Location loc, ArrayRef<RankedTensorType> inputs,
                                                int64_t axis) {
  if (inputs.empty())
    return mlir::emitError(loc) << "needs at least one input";
  RankedTensorType first = inputs.front();
  if (axis < 0 || axis >= first.getRank())
    return mlir::emitError(loc) << "axis " << axis << " is outside rank " << first.getRank();
  SmallVector<int64_t> shape(first.getShape());
  if (first.isDynamicDim(axis))
    return mlir::emitError(loc) << "axis " << axis << " is the free batch; fix it with --shape";
  for (RankedTensorType input : inputs.drop_front()) {
    if (input.getRank() != first.getRank() || input.getElementType() != first.getElementType())
      return mlir::emitError(loc) << "inputs " << first << " and " << input
                            << " differ in rank or element type";
    for (int64_t i = 0; i < first.getRank(); ++i)
      if (i != axis && input.getDimSize(i) != shape[i])
        return mlir::emitError(loc) << "inputs differ in dimension " << i << ": " << show(shape[i])
                              << " against " << show(input.getDimSize(i));
    if (input.isDynamicDim(axis))
      return mlir::emitError(loc) << "axis " << axis << " is the free batch; fix it with --shape";
    shape[axis] += input.getDimSize(axis);
  }
  return RankedTensorType::get(shape, first.getElementType());
}

FailureOr<RankedTensorType> GatherOp::inferType(Location loc, RankedTensorType src,
                                                RankedTensorType indices, int64_t axis) {
  if (axis < 0 || axis >= src.getRank())
    return mlir::emitError(loc) << "axis " << axis << " is outside rank " << src.getRank();
  if (!indices.getElementType().isSignlessInteger(32) &&
      !indices.getElementType().isSignlessInteger(64))
    return mlir::emitError(loc) << "indices must be i32 or i64, got " << indices.getElementType();
  SmallVector<int64_t> shape(src.getShape().take_front(axis));
  llvm::append_range(shape, indices.getShape());
  llvm::append_range(shape, src.getShape().drop_front(axis + 1));
  if (src.isDynamicDim(axis))
    return mlir::emitError(loc) << "axis " << axis << " is the free batch; fix it with --shape";
  for (size_t i = 1; i < shape.size(); ++i)
    if (ShapedType::isDynamic(shape[i]))
      return mlir::emitError(loc) << "the free batch would move from dimension 0; fix it with --shape";
  return RankedTensorType::get(shape, src.getElementType());
}

FailureOr<RankedTensorType> SampleOp::inferType(Location loc, RankedTensorType src,
                                                RankedTensorType positions, ResizeMode mode) {
  int64_t spatial = src.getRank() - 2;
  if (spatial < 1 || positions.getRank() < 2 ||
      src.getDimSize(0) != positions.getDimSize(0)) // sample_c1
    return mlir::emitError(loc) << "needs rank 3 or more and positions for each image, got " << src
                                << " and " << positions;
  if (positions.getShape().back() != spatial) // sample_c2
    return mlir::emitError(loc) << "positions must have " << spatial << " coordinates, got "
                                << positions;
  Type element = positions.getElementType();
  if (!element.isF32() && !element.isF64()) // sample_c3
    return mlir::emitError(loc) << "positions must be f32 or f64, got " << element;
  if (!isa<FloatType>(src.getElementType()) && mode != ResizeMode::Nearest) // sample_c4
    return mlir::emitError(loc) << "cannot interpolate elements of " << src.getElementType();
  SmallVector<int64_t> shape(src.getShape().take_front(2));
  llvm::append_range(shape, positions.getShape().drop_front().drop_back());
  if (llvm::is_contained(src.getShape().drop_front(2), 0) &&
      !llvm::is_contained(shape, 0)) // sample_c5
    return mlir::emitError(loc) << "samples an image without elements: " << src;
  return RankedTensorType::get(shape, src.getElementType());
}

FailureOr<RankedTensorType> RoiAlignOp::inferType(Location loc, RankedTensorType src,
                                                  RankedTensorType rois, RankedTensorType images,
                                                  ArrayRef<int64_t> bins, int64_t samplingRatio) {
  if (src.getRank() != 4 || rois.getRank() != 2 || rois.getDimSize(1) != 4 ||
      images.getRank() != 1 || images.getDimSize(0) != rois.getDimSize(0)) // roi_align_c1
    return mlir::emitError(loc) << "needs images of rank 4 and four corners and an image a region, "
                                   "got "
                                << src << ", " << rois << " and " << images;
  bool isIndex = images.getElementType().isSignlessInteger(32) ||
                 images.getElementType().isSignlessInteger(64);
  if (!isa<FloatType>(src.getElementType()) || rois.getElementType() != src.getElementType() ||
      !isIndex) // roi_align_c2
    return mlir::emitError(loc) << "needs one floating-point type and indices of i32 or i64, got "
                                << src << ", " << rois << " and " << images;
  if (!src.hasStaticShape() || !rois.hasStaticShape()) // roi_align_c3
    return mlir::emitError(loc) << "regions of a free batch; fix it with --shape";
  if (bins.size() != 2 || bins[0] < 1 || bins[1] < 1 || samplingRatio < 0) // roi_align_c4
    return mlir::emitError(loc) << "needs two positive extents of bins and a sampling ratio that "
                                   "is not negative, got ["
                                << bins << "] and " << samplingRatio;
  if (src.getNumElements() == 0 && rois.getDimSize(0) > 0 && src.getDimSize(1) > 0)
    return mlir::emitError(loc) << "pools an image without elements: " << src;
  return RankedTensorType::get({rois.getDimSize(0), src.getDimSize(1), bins[0], bins[1]},
                               src.getElementType());
}
