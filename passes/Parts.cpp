// Tensors that lie in memory as one piece of another.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Parts.h"

#include "dialects/Plan/Plan.h"
#include "passes/Graph.h"
#include "passes/Relayout.h"

using namespace mlir;
using namespace convoy;

// Whether cutting a tensor of this type along `dim` at a multiple of the block leaves each part in
// one piece: nothing but extents of 1 lies outside of that dimension.
static bool isOutermost(RankedTensorType type, unsigned dim) {
  if (!type.hasStaticShape())
    return false;
  cnn::Layout layout = cnn::getLayout(type);
  for (auto [outer, extent] : llvm::zip(layout.outer(), layout.physicalShape(type.getShape()))) {
    if (outer == dim)
      return true;
    if (extent != 1)
      return false;
  }
  return false;
}

std::optional<SmallVector<int64_t>> convoy::getPartOffsets(cnn::ConcatOp op) {
  auto result = tensorType(op.getDst());
  unsigned axis = op.getAxis();
  if (!isOutermost(result, axis))
    return std::nullopt;
  int64_t block = cnn::getLayout(result).blockOf(axis), offset = 0;
  SmallVector<int64_t> offsets;
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    auto type = tensorType(input);
    bool isLast = i + 1 == op.getInputs().size();
    if (type.getEncoding() != result.getEncoding() || offset % plan::kBufferAlignment != 0 ||
        (!isLast && type.getDimSize(axis) % block != 0))
      return std::nullopt;
    offsets.push_back(offset);
    offset += cnn::getBytes(type);
  }
  if (offset != cnn::getBytes(result))
    return std::nullopt;
  return offsets;
}

std::optional<int64_t> convoy::getPartOffset(cnn::SliceOp op) {
  auto src = tensorType(op.getSrc()), dst = tensorType(op.getDst());
  if (!src.hasStaticShape() || src.getEncoding() != dst.getEncoding() ||
      llvm::any_of(op.getSteps(), [](int64_t step) { return step != 1; }))
    return std::nullopt;
  std::optional<unsigned> cut;
  for (int64_t dim = 0; dim < src.getRank(); ++dim) {
    if (src.getDimSize(dim) == dst.getDimSize(dim))
      continue;
    if (cut)
      return std::nullopt;
    cut = dim;
  }
  if (!cut)
    return 0;
  cnn::Layout layout = cnn::getLayout(src);
  int64_t start = op.getStarts()[*cut], end = start + dst.getDimSize(*cut);
  int64_t block = layout.blockOf(*cut);
  if (!isOutermost(src, *cut) || start % block != 0 ||
      (end % block != 0 && end != src.getDimSize(*cut)))
    return std::nullopt;
  SmallVector<int64_t> index(src.getRank(), 0);
  index[*cut] = start;
  int64_t offset =
      layout.offset(index, src.getShape()) * cnn::getElementBytes(src.getElementType());
  if (offset % plan::kBufferAlignment != 0)
    return std::nullopt;
  return offset;
}

bool convoy::isPartsOp(Operation *op) {
  return isa_and_nonnull<cnn::ConcatOp, cnn::SliceOp>(op) && !op->hasAttr("strategy");
}

bool convoy::hasOwnBuffer(Value value) {
  Operation *op = value.getDefiningOp();
  return op && !isa<cnn::ConstantOp>(op) && !isAlias(op) &&
         !(isa<cnn::SliceOp>(op) && isPartsOp(op));
}
