// Layout changes: of values, and of constants at compile time.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Relayout.h"

#include "dialects/Cnn/ConstantData.h"
#include "dialects/Cnn/Winograd.h"
#include "passes/Graph.h"

#include <cstring>

using namespace mlir;
using namespace convoy;

namespace {

// One extent of a tensor in memory, from slowest to fastest.
struct PhysicalDim {
  unsigned dim;   // logical
  int64_t extent; // number of steps
  int64_t step;   // of the logical index for one step
  int64_t stride; // of the other side's memory for one step, in elements
};

} // namespace

// The physical dimensions of `layout`, with the strides that they have in row-major memory.
static SmallVector<PhysicalDim> getPhysicalDims(const cnn::Layout &layout,
                                                ArrayRef<int64_t> shape) {
  SmallVector<int64_t> rowMajorStride(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    rowMajorStride[i - 1] = rowMajorStride[i] * shape[i];
  SmallVector<int64_t> physicalShape = layout.physicalShape(shape);
  SmallVector<PhysicalDim> dims;
  for (auto [i, dim] : llvm::enumerate(layout.outer()))
    dims.push_back({dim, physicalShape[i], layout.blockOf(dim), 0});
  for (auto [i, block] : llvm::enumerate(layout.inner())) {
    int64_t step = 1;
    for (auto [dim, size] : layout.inner().drop_front(i + 1))
      if (dim == block.first)
        step *= size;
    dims.push_back({block.first, block.second, step, 0});
  }
  for (PhysicalDim &dim : dims)
    dim.stride = dim.step * rowMajorStride[dim.dim];
  return dims;
}

template <typename T>
static void copyLine(char *dst, const char *src, int64_t count, int64_t srcStride) {
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(dst + i * sizeof(T), src + i * srcStride * sizeof(T), sizeof(T));
}

static void copyLine(char *dst, const char *src, int64_t count, int64_t srcStride, int64_t size) {
  switch (size) {
  case 1:
    return copyLine<uint8_t>(dst, src, count, srcStride);
  case 2:
    return copyLine<uint16_t>(dst, src, count, srcStride);
  case 4:
    return copyLine<uint32_t>(dst, src, count, srcStride);
  default:
    return copyLine<uint64_t>(dst, src, count, srcStride);
  }
}

// From row-major to `to`: writes memory in order, line by line of its fastest dimension.
static std::vector<char> fromRowMajor(ArrayRef<char> bytes, ArrayRef<int64_t> shape,
                                      const cnn::Layout &to, int64_t size) {
  std::vector<char> result(to.numPhysicalElements(shape) * size, 0);
  SmallVector<PhysicalDim> dims = getPhysicalDims(to, shape);
  PhysicalDim line = dims.pop_back_val();
  SmallVector<int64_t> position(dims.size(), 0), logical(shape.size(), 0);
  int64_t offset = 0;
  for (size_t written = 0; written < result.size(); written += line.extent * size) {
    bool inside = true;
    for (size_t i = 0; i < shape.size(); ++i)
      inside &= logical[i] < shape[i];
    if (inside) {
      int64_t valid = llvm::divideCeil(shape[line.dim] - logical[line.dim], line.step);
      copyLine(result.data() + written, bytes.data() + offset * size, std::min(valid, line.extent),
               line.stride, size);
    }
    for (size_t i = dims.size(); i-- > 0;) {
      ++position[i];
      logical[dims[i].dim] += dims[i].step;
      offset += dims[i].stride;
      if (position[i] < dims[i].extent)
        break;
      logical[dims[i].dim] -= position[i] * dims[i].step;
      offset -= position[i] * dims[i].stride;
      position[i] = 0;
    }
  }
  return result;
}

// To row-major: element by element. Rare, as constants start row-major.
static std::vector<char> toRowMajor(ArrayRef<char> bytes, ArrayRef<int64_t> shape,
                                    const cnn::Layout &from, int64_t size) {
  int64_t count = llvm::product_of(shape);
  std::vector<char> result(count * size);
  SmallVector<int64_t> index(shape.size(), 0);
  for (int64_t linear = 0; linear < count; ++linear) {
    std::memcpy(result.data() + linear * size, bytes.data() + from.offset(index, shape) * size,
                size);
    for (size_t i = shape.size(); i-- > 0;) {
      if (++index[i] < shape[i])
        break;
      index[i] = 0;
    }
  }
  return result;
}

std::vector<char> convoy::relayoutBytes(ArrayRef<char> bytes, ArrayRef<int64_t> shape,
                                        const cnn::Layout &from, const cnn::Layout &to,
                                        int64_t elementBytes) {
  std::vector<char> rowMajor;
  if (!from.isRowMajor()) {
    rowMajor = toRowMajor(bytes, shape, from, elementBytes);
    if (to.isRowMajor())
      return rowMajor;
    bytes = rowMajor;
  }
  if (to.isRowMajor() || shape.empty())
    return std::vector<char>(bytes.begin(), bytes.end());
  return fromRowMajor(bytes, shape, to, elementBytes);
}

Value convoy::relayoutConstant(OpBuilder &builder, Value value, StringRef tag) {
  auto type = tensorType(value);
  RankedTensorType newType = cnn::withLayout(type, tag);
  cnn::ConstantData data(cnn::getConstant(value));
  cnn::Layout layout = cnn::getLayout(newType);
  if (auto tile = layout.winograd()) {
    std::vector<char> rowMajor =
        relayoutBytes(data.bytes(), type.getShape(), cnn::getLayout(type),
                      cnn::Layout::rowMajor(type.getRank()), sizeof(float));
    SmallVector<int64_t> shape;
    std::vector<char> transformed =
        cnn::transformWeights(rowMajor, type.getShape(), *tile, shape);
    return createConstant(builder, value.getLoc(), newType,
                          relayoutBytes(transformed, shape, cnn::Layout::rowMajor(shape.size()),
                                        layout.withoutWinograd(), sizeof(float)));
  }
  return createConstant(builder, value.getLoc(), newType,
                        relayoutBytes(data.bytes(), type.getShape(), cnn::getLayout(type),
                                      cnn::getLayout(newType),
                                      cnn::getElementBytes(type.getElementType())));
}

Value convoy::expandRank(OpBuilder &builder, Value value, int64_t rank) {
  auto type = tensorType(value);
  if (type.getRank() >= rank)
    return value;
  SmallVector<int64_t> shape(rank - type.getRank(), 1);
  llvm::append_range(shape, type.getShape());
  auto newType = RankedTensorType::get(shape, type.getElementType());
  if (ElementsAttr constant = cnn::getConstant(value)) {
    cnn::ConstantData data(constant);
    return createConstant(builder, value.getLoc(), newType,
                          std::vector<char>(data.bytes().begin(), data.bytes().end()));
  }
  return cnn::ReshapeOp::create(builder, value.getLoc(), newType, value, StringAttr());
}

std::string convoy::blockedTag(int64_t rank, int64_t lanes) {
  StringRef outer = rank == 3 ? "ncw" : rank == 5 ? "ncdhw" : "nchw";
  return outer.str() + std::to_string(lanes) + "c";
}

bool convoy::haveSameOrder(RankedTensorType a, RankedTensorType b) {
  if (a.getShape() != b.getShape())
    return false;
  // Each image must be in one piece.
  for (RankedTensorType type : {a, b})
    if (cnn::hasFreeBatch(type) && cnn::getLayout(type).outer().front() != 0)
      return false;
  a = cnn::perImage(a);
  b = cnn::perImage(b);
  if (cnn::getBytes(a) != cnn::getBytes(b))
    return false;
  // Without padding, the order is that of the dimensions with more than one element.
  auto order = [](RankedTensorType type) {
    SmallVector<std::pair<unsigned, int64_t>> steps;
    for (const PhysicalDim &dim : getPhysicalDims(cnn::getLayout(type), type.getShape())) {
      if (dim.extent == 1)
        continue;
      // Two neighbours of one dimension that together are it count as one.
      if (!steps.empty() && steps.back().first == dim.dim &&
          steps.back().second == dim.extent * dim.step)
        steps.back().second = dim.step;
      else
        steps.push_back({dim.dim, dim.step});
    }
    return steps;
  };
  return cnn::getBytes(a) == a.getNumElements() * cnn::getElementBytes(a.getElementType()) &&
         order(a) == order(b);
}

bool convoy::isAlias(Operation *op) {
  if (!isa_and_nonnull<cnn::ReshapeOp, cnn::RelayoutOp>(op) || op->hasAttr("strategy"))
    return false;
  return isa<cnn::ReshapeOp>(op) ||
         haveSameOrder(tensorType(op->getOperand(0)), tensorType(op->getResult(0)));
}

Value convoy::getAliasRoot(Value value) {
  while (isAlias(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}
