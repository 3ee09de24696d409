// Ops that move elements without looking at them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Cnn/Evaluate/Movement.h"

#include "dialects/Cnn/Evaluate/Ops.h"

#include <cstring>

using namespace mlir;
using namespace convoy::cnn;

// Calls `function` with a null pointer of an integer as large as an element.
template <typename F>
static void withSize(int64_t size, F &&function) {
  switch (size) {
  case 1:
    return function(static_cast<uint8_t *>(nullptr));
  case 2:
    return function(static_cast<uint16_t *>(nullptr));
  case 4:
    return function(static_cast<uint32_t *>(nullptr));
  default:
    return function(static_cast<uint64_t *>(nullptr));
  }
}

// Fills dst with the elements of src from `start` on with `strides`, one for each dimension of dst.
static void copyStrided(const Tensor &src, int64_t start, ArrayRef<int64_t> strides, Tensor &dst) {
  int64_t count = dst.numElements();
  SmallVector<WalkDim> dims = coalesce(dst.shape(), strides);
  withSize(dst.elementBytes(), [&](auto *type) {
    using T = std::remove_pointer_t<decltype(type)>;
    const T *from = reinterpret_cast<const T *>(src.data()) + start;
    T *to = reinterpret_cast<T *>(dst.mutableData());
    Walk walk(dims);
    for (int64_t done = 0; done < count;) {
      int64_t length = walk.left(), stride = walk.stride();
      const T *run = from + walk.offset();
      if (stride == 1)
        std::copy_n(run, length, to);
      else
        for (int64_t i = 0; i < length; ++i)
          to[i] = run[i * stride];
      walk.advance(length);
      to += length;
      done += length;
    }
  });
}

LogicalResult convoy::cnn::compute(TransposeOp op, ArrayRef<Tensor> operands, Tensor &dst) {
  SmallVector<int64_t> own = rowMajorStrides(operands[0].shape()), strides;
  for (int64_t dim : op.getPerm())
    strides.push_back(own[dim]);
  copyStrided(operands[0], 0, strides, dst);
  return success();
}

LogicalResult convoy::cnn::compute(BroadcastOp, ArrayRef<Tensor> operands, Tensor &dst) {
  copyStrided(operands[0], 0, broadcastStrides(operands[0].shape(), dst.shape()), dst);
  return success();
}

LogicalResult convoy::cnn::compute(SliceOp op, ArrayRef<Tensor> operands, Tensor &dst) {
  SmallVector<int64_t> own = rowMajorStrides(operands[0].shape()), strides;
  int64_t start = 0;
  for (auto [stride, first, step] : llvm::zip_equal(own, op.getStarts(), op.getSteps())) {
    start += stride * first;
    strides.push_back(stride * step);
  }
  copyStrided(operands[0], start, strides, dst);
  return success();
}

LogicalResult convoy::cnn::compute(ConcatOp op, ArrayRef<Tensor> operands, Tensor &dst) {
  int64_t outer = 1;
  for (int64_t extent : dst.shape().take_front(op.getAxis()))
    outer *= extent;
  char *to = dst.mutableData();
  for (int64_t i = 0; i < outer; ++i)
    for (const Tensor &operand : operands) {
      int64_t bytes = operand.bytes().size() / outer;
      to = std::copy_n(operand.data() + i * bytes, bytes, to);
    }
  return success();
}

LogicalResult convoy::cnn::compute(GatherOp op, ArrayRef<Tensor> operands, Tensor &dst) {
  const Tensor &src = operands[0];
  Decoded<int64_t> indices(operands[1]);
  int64_t axis = op.getAxis(), extent = src.shape()[axis], outer = 1;
  for (int64_t size : src.shape().take_front(axis))
    outer *= size;
  int64_t inner = src.elementBytes();
  for (int64_t size : src.shape().drop_front(axis + 1))
    inner *= size;
  if (extent == 0 && dst.numElements() > 0)
    return op.emitOpError() << "picks from an axis without elements";
  char *to = dst.mutableData();
  for (int64_t i = 0; i < outer; ++i)
    for (int64_t k = 0, e = operands[1].numElements(); k < e; ++k) {
      int64_t index = indices.data()[k];
      index = std::clamp<int64_t>(index < 0 ? index + extent : index, 0, extent - 1);
      to = std::copy_n(src.data() + (i * extent + index) * inner, inner, to);
    }
  return success();
}

void convoy::cnn::gatherByTables(const Tensor &src, const CoordinateTables &tables,
                                 const char *fill, Tensor &dst) {
  int64_t rank = dst.rank(), count = dst.numElements();
  withSize(dst.elementBytes(), [&](auto *type) {
    using T = std::remove_pointer_t<decltype(type)>;
    T filling;
    std::memcpy(&filling, fill, sizeof(T));
    const T *from = reinterpret_cast<const T *>(src.data());
    T *to = reinterpret_cast<T *>(dst.mutableData());
    if (rank == 0) {
      *to = *from;
      return;
    }
    SmallVector<int64_t> strides = rowMajorStrides(src.shape()), index(rank, 0);
    ArrayRef<int64_t> last = tables.back();
    for (int64_t done = 0; done < count; done += last.size()) {
      int64_t base = 0;
      bool isFill = false;
      for (int64_t dim = 0; dim < rank - 1; ++dim) {
        int64_t coordinate = tables[dim][index[dim]];
        isFill |= coordinate < 0;
        base += coordinate * strides[dim];
      }
      for (int64_t coordinate : last)
        *to++ = isFill || coordinate < 0 ? filling : from[base + coordinate];
      for (int64_t dim = rank - 1; dim-- > 0;) {
        if (++index[dim] < dst.shape()[dim])
          break;
        index[dim] = 0;
      }
    }
  });
}

// The coordinate of src that position `p`, counted from src's first, reads; -1 for none.
static int64_t padSource(PadMode mode, int64_t p, int64_t extent) {
  if (p >= 0 && p < extent)
    return p;
  if (extent == 0)
    return -1;
  switch (mode) {
  case PadMode::Constant:
    return -1;
  case PadMode::Edge:
    return p < 0 ? 0 : extent - 1;
  case PadMode::Wrap:
    return ((p % extent) + extent) % extent;
  case PadMode::Reflect:
    break;
  }
  return std::clamp<int64_t>(p < 0 ? -p : 2 * (extent - 1) - p, 0, extent - 1);
}

LogicalResult convoy::cnn::compute(PadOp op, ArrayRef<Tensor> operands, Tensor &dst) {
  const Tensor &src = operands[0];
  CoordinateTables tables;
  for (int64_t dim = 0; dim < dst.rank(); ++dim) {
    std::vector<int64_t> &table = tables.emplace_back();
    for (int64_t i = 0; i < dst.shape()[dim]; ++i)
      table.push_back(padSource(op.getMode(), i - op.getLow()[dim], src.shape()[dim]));
  }
  const char zero[8] = {};
  gatherByTables(src, tables, op.getValue() ? operands[1].data() : zero, dst);
  return success();
}
