// Ops whose result depends on positions rather than on values: Trilu, EyeLike, Range, AffineGrid,
// CenterCropPad.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/Bounds.h"
#include "compiler/onnx/Ops.h"
#include "compiler/onnx/ScalarBuilder.h"
#include "compiler/onnx/TensorData.h"

#include <cmath>

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;

static LogicalResult setResult(NodeImport &node, unsigned index, FailureOr<Tensor> result) {
  if (failed(result))
    return failure();
  node.setResult(index, *result);
  return success();
}

// A result that is known: on the host where it is small.
static LogicalResult setKnown(NodeImport &node, HostTensor host) {
  if (host.size() <= HostTensor::kMaxElements) {
    node.setResult(0, Tensor(std::move(host)));
    return success();
  }
  node.setResult(0, Tensor(cnn::ConstantOp::create(node.getBuilder(), node.getLoc(),
                                                   host.toConstant())
                               .getResult()));
  return success();
}

LogicalResult convoy::onnx::importTrilu(NodeImport &node) {
  const Tensor &src = node.input(0);
  bool upper = node.intAttr("upper", 1) != 0;
  int64_t rank = src.rank();
  if (rank < 2)
    return node.error() << "needs matrices, got " << src.type();
  int64_t rows = src.shape()[rank - 2], columns = src.shape()[rank - 1];
  if (ShapedType::isDynamic(rows))
    return node.error() << "has rows along the free batch; fix it with --shape";
  FailureOr<Tensor> row = node.positions(rows, rank - 2, rank);
  FailureOr<Tensor> column = node.positions(columns, rank - 1, rank);
  if (failed(row) || failed(column))
    return failure();
  Type i64 = IntegerType::get(node.getContext(), 64);
  SmallVector<Tensor> inputs{src, *row, *column};
  if (node.hasInput(1)) {
    if (!node.input(1).type().hasStaticShape() || node.input(1).type().getNumElements() != 1 ||
        node.input(1).elementType() != i64)
      return node.error() << "needs one i64 as k, got " << node.input(1).type();
    FailureOr<Tensor> diagonal = node.reshape(node.input(1), {});
    if (failed(diagonal))
      return failure();
    inputs.push_back(*diagonal);
  }
  return setResult(
      node, 0,
      createMap(node, inputs, src.elementType(), [&](ScalarBuilder &s, ArrayRef<Value> x) {
        ScalarBuilder integers(node.getBuilder(), node.getLoc(), i64);
        Value diagonal = integers.sub(x[2], x[1]);
        Value k = x.size() > 3 ? x[3] : integers.integer(0);
        Value keeps = upper ? integers.lessOrEqual(k, diagonal) : integers.lessOrEqual(diagonal, k);
        Value zero = s.make<arith::ConstantOp>(
            cast<TypedAttr>(node.getBuilder().getZeroAttr(s.type())));
        return s.select(keeps, x[0], zero);
      }));
}

LogicalResult convoy::onnx::importEyeLike(NodeImport &node) {
  const Tensor &src = node.input(0);
  Type elementType = src.elementType();
  if (node.hasAttr("dtype")) {
    int64_t dtype = node.intAttr("dtype", 0);
    elementType = getElementType(node.getContext(), dtype);
    if (!elementType)
      return node.unsupported() << "attribute 'dtype' is " << getDataTypeName(dtype)
                                << ", expected " << kElementTypes;
  }
  int64_t k = node.intAttr("k", 0);
  if (src.rank() != 2 || !src.type().hasStaticShape())
    return node.error() << "needs a matrix whose extents are known, got " << src.type();
  int64_t rows = src.shape()[0], columns = src.shape()[1];
  auto type = RankedTensorType::get(src.shape(), elementType);
  if (failed(node.checkConstantSize(type.getShape())))
    return failure();
  HostTensor host{type, {}, {}};
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      bool isOne = k >= -rows && k <= columns && j - i == k;
      if (host.isFloat())
        host.floats.push_back({0, isOne ? 1.0 : 0.0});
      else
        host.ints.push_back({0, isOne});
    }
  return setKnown(node, std::move(host));
}

// A range between integers that only a run tells: as long as it can be at most, and its count.
static LogicalResult importRunTimeRange(NodeImport &node) {
  constexpr StringLiteral names[] = {"start", "limit", "delta"};
  Type elementType = node.input(0).elementType();
  SmallVector<Tensor> numbers;
  SmallVector<Bounds> bounds;
  for (auto [i, name] : llvm::enumerate(names)) {
    const Tensor &input = node.input(i);
    if (!input.type().hasStaticShape() || input.type().getNumElements() != 1 ||
        input.elementType() != elementType)
      return node.error() << "needs single numbers of one type, got " << input.type() << " as "
                          << name;
    FailureOr<Tensor> scalar = node.reshape(input, {});
    FailureOr<Value> value = failed(scalar) ? FailureOr<Value>() : node.toValue(*scalar);
    if (failed(value))
      return failure();
    std::optional<Bounds> bound = boundsOf(*value);
    if (!bound)
      // Says which input of the model to bind, if one decides.
      return node.hostInput(i, (name + ", which nothing bounds,").str());
    numbers.push_back(*scalar);
    bounds.push_back(*bound);
  }
  auto [start, limit, delta] = std::tuple(bounds[0], bounds[1], bounds[2]);
  if (delta.least <= 0 && delta.most >= 0)
    return node.unsupported() << "a delta that may be anything from " << delta.least << " to "
                              << delta.most;
  bool isUp = delta.least > 0;
  int64_t distance, step = isUp ? delta.least : -delta.most;
  if (isUp ? llvm::SubOverflow(limit.most, start.least, distance)
           : llvm::SubOverflow(start.most, limit.least, distance))
    return node.unsupported() << "a range of any length";
  int64_t most = distance <= 0 ? 0 : (distance - 1) / step + 1;
  if (failed(node.checkConstantSize({most})))
    return failure();

  Type i64 = IntegerType::get(node.getContext(), 64);
  FailureOr<Tensor> count = createMap(
      node, numbers, i64, [&](ScalarBuilder &s, ArrayRef<Value> x) {
        ScalarBuilder wide = s.of(i64);
        Value from = s.cast(x[0], i64), to = s.cast(x[1], i64), by = s.cast(x[2], i64);
        Value way = isUp ? wide.sub(to, from) : wide.sub(from, to);
        Value length = isUp ? by : wide.neg(by);
        Value rounded = wide.div(wide.add(way, wide.sub(length, wide.integer(1))), length);
        return wide.min(wide.max(rounded, wide.integer(0)), wide.integer(most));
      });
  FailureOr<Tensor> positions = node.positions(most, 0, 1);
  if (failed(count) || failed(positions))
    return failure();
  FailureOr<Value> countValue = node.toValue(*count);
  FailureOr<Tensor> result = createMap(
      node, {numbers[0], numbers[2], *positions}, elementType,
      [&](ScalarBuilder &s, ArrayRef<Value> x) {
        return s.add(x[0], s.mul(s.of(i64).cast(x[2], elementType), x[1]));
      });
  if (failed(countValue) || failed(result))
    return failure();
  result->extent = Extent{0, *countValue};
  node.setResult(0, *result);
  return success();
}

LogicalResult convoy::onnx::importRange(NodeImport &node) {
  bool isInteger = isa<IntegerType>(node.input(0).elementType());
  if (isInteger && llvm::any_of(node.allInputs(), [&](const Tensor &input) { return !node.toHost(input); }))
    return importRunTimeRange(node);
  SmallVector<HostTensor> bounds;
  constexpr StringLiteral names[] = {"start", "limit", "delta"};
  for (auto [i, name] : llvm::enumerate(names)) {
    FailureOr<HostTensor> bound = node.hostInput(i, name);
    if (failed(bound))
      return failure();
    if (bound->size() != 1 || bound->type.getElementType() != node.input(0).elementType())
      return node.error() << "needs single numbers of one type, got " << bound->type << " as "
                          << name;
    if (!bound->isConstant())
      return node.error() << name << " depends on the free batch; fix it with --shape";
    bounds.push_back(*bound);
  }
  Type elementType = node.input(0).elementType();
  auto makeHost = [&](int64_t count) {
    return HostTensor{RankedTensorType::get({count}, elementType), {}, {}};
  };
  constexpr double kMostCounted = double(int64_t(1) << 48);
  if (bounds[0].isFloat()) {
    double start = bounds[0].floats[0].constant, limit = bounds[1].floats[0].constant,
           delta = bounds[2].floats[0].constant;
    double count = std::ceil((limit - start) / delta);
    if (std::isnan(count) || delta == 0)
      return node.error() << "goes from " << start << " to " << limit << " by " << delta;
    if (failed(node.checkConstantSize(
            {static_cast<int64_t>(std::clamp(count, 0.0, kMostCounted))})))
      return failure();
    HostTensor host = makeHost(std::max<double>(count, 0));
    for (int64_t i = 0; i < host.size(); ++i)
      host.floats.push_back({0, start + i * delta});
    return setKnown(node, std::move(host));
  }
  int64_t start = bounds[0].ints[0].constant, limit = bounds[1].ints[0].constant,
          delta = bounds[2].ints[0].constant;
  if (delta == 0)
    return node.error() << "has a delta of 0";
  // As unsigned numbers no difference of two overflows.
  uint64_t distance = delta > 0 ? uint64_t(limit) - uint64_t(start)
                                : uint64_t(start) - uint64_t(limit);
  uint64_t step = delta > 0 ? uint64_t(delta) : -uint64_t(delta);
  bool isEmpty = delta > 0 ? limit <= start : limit >= start;
  uint64_t count = isEmpty ? 0 : distance / step + (distance % step != 0);
  if (failed(node.checkConstantSize(
          {static_cast<int64_t>(std::min(count, uint64_t(kMostCounted)))})))
    return failure();
  HostTensor host = makeHost(count);
  for (uint64_t i = 0; i < count; ++i)
    host.ints.push_back({0, static_cast<int64_t>(uint64_t(start) + i * uint64_t(delta))});
  return setKnown(node, std::move(host));
}

LogicalResult convoy::onnx::importAffineGrid(NodeImport &node) {
  const Tensor &theta = node.input(0);
  bool alignCorners = node.intAttr("align_corners", 0) != 0;
  FailureOr<HostTensor> size = node.hostInput(1, "size");
  if (failed(size))
    return failure();
  int64_t rank = size->size() - 2;
  if (size->isFloat() || (rank != 2 && rank != 3))
    return node.error() << "needs four or five extents as size, got " << size->type;
  ArrayRef<int64_t> given = theta.shape();
  if (theta.rank() != 3 || given[1] != rank || given[2] != rank + 1)
    return node.error() << "needs theta of [N, " << rank << ", " << rank + 1 << "], got "
                        << theta.type();
  bool isFree = ShapedType::isDynamic(given[0]);
  LinearInt batch = isFree ? LinearInt{1, 0} : LinearInt{0, given[0]};
  if (!(size->ints[0] == batch))
    return node.error() << "has another batch in size than in theta, " << theta.type();
  SmallVector<int64_t> extents, dst{given[0]};
  for (const LinearInt &extent : ArrayRef(size->ints).drop_front(2)) {
    if (extent.batch != 0 || extent.constant < 0)
      return node.error() << "has a size that is no extent";
    extents.push_back(extent.constant);
  }
  llvm::append_range(dst, extents);
  dst.push_back(rank);
  if (failed(node.checkSize(dst)))
    return failure();

  // The centers of all pixels, the last dimension's coordinate first, then a 1.
  if (failed(node.checkConstantSize(extents)))
    return failure();
  int64_t count = ShapedType::getNumElements(extents);
  Type elementType = theta.elementType();
  if (!isa<FloatType>(elementType))
    return node.unsupported() << "elements of " << elementType;
  HostTensor grid{RankedTensorType::get({count, rank + 1}, elementType), {}, {}};
  grid.floats.resize(count * (rank + 1));
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i;
    for (int64_t k = 0; k < rank; ++k) {
      int64_t extent = extents[rank - 1 - k], position = rest % extent;
      rest /= extent;
      double coordinate = -1;
      if (!alignCorners)
        coordinate = (2.0 * position + 1) / extent - 1;
      else if (extent > 1)
        coordinate = 2.0 * position / (extent - 1) - 1;
      grid.floats[i * (rank + 1) + k] = {0, coordinate};
    }
    grid.floats[i * (rank + 1) + rank] = {0, 1};
  }
  FailureOr<Value> lhs = node.toValue(Tensor(std::move(grid))), rhs = node.toValue(theta);
  if (failed(lhs) || failed(rhs))
    return failure();
  // [N, points, rank]; theta is transposed.
  FailureOr<RankedTensorType> type = cnn::MatmulOp::inferType(
      node.getLoc(), cast<RankedTensorType>(lhs->getType()), theta.type(), false, true);
  if (failed(type))
    return failure();
  FailureOr<Tensor> result = node.createWithIdentity<cnn::MatmulOp>(
      *type, *lhs, *rhs, ValueRange(), false, true, StringAttr());
  if (succeeded(result))
    result = node.reshape(*result, dst);
  return setResult(node, 0, result);
}

LogicalResult convoy::onnx::importCenterCropPad(NodeImport &node) {
  const Tensor &src = node.input(0);
  FailureOr<HostTensor> wanted = node.hostInput(1, "the shape");
  if (failed(wanted))
    return failure();
  SmallVector<int64_t> axes =
      node.intsAttr("axes", llvm::to_vector(llvm::seq<int64_t>(0, src.rank())));
  if (wanted->isFloat() || wanted->size() != static_cast<int64_t>(axes.size()))
    return node.error() << "has a shape of " << wanted->type << " for " << axes.size() << " axes";
  if (failed(node.normalizeAxes(axes, src.rank())))
    return failure();
  SmallVector<int64_t> low(src.rank(), 0), high(src.rank(), 0), shape(src.shape());
  for (auto [axis, extent] : llvm::zip_equal(axes, wanted->ints)) {
    axis = axis < 0 ? axis + src.rank() : axis;
    if (ShapedType::isDynamic(shape[axis])) {
      if (!(extent == LinearInt{1, 0}))
        return node.error() << "crops or pads the free batch; fix it with --shape";
      continue;
    }
    if (extent.batch != 0 || extent.constant < 0)
      return node.error() << "has a shape that is no extent in dimension " << axis;
    // The smaller half in front, whether it is cut away or added.
    int64_t difference = extent.constant - shape[axis];
    low[axis] = difference / 2;
    high[axis] = difference - low[axis];
    shape[axis] = extent.constant;
  }
  if (ArrayRef<int64_t>(shape) == src.shape()) {
    node.setResult(0, src);
    return success();
  }
  FailureOr<Value> value = node.toValue(src);
  if (failed(value))
    return failure();
  return setResult(node, 0,
                   node.create<cnn::PadOp>(RankedTensorType::get(shape, src.elementType()),
                                           *value, Value(), low, high, cnn::PadMode::Constant,
                                           StringAttr()));
}
