// Walks over the elements of a tensor in row-major order of one shape with strides of another.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace convoy::cnn {

struct WalkDim {
  int64_t extent, stride;
};

/// Row-major strides of a shape, in elements.
inline llvm::SmallVector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  return strides;
}

/// Strides that repeat `shape` over `to` as numpy broadcasts it.
inline llvm::SmallVector<int64_t> broadcastStrides(llvm::ArrayRef<int64_t> shape,
                                                   llvm::ArrayRef<int64_t> to) {
  llvm::SmallVector<int64_t> strides(to.size(), 0);
  llvm::SmallVector<int64_t> own = rowMajorStrides(shape);
  for (size_t i = 0, lead = to.size() - shape.size(); i < shape.size(); ++i)
    strides[lead + i] = shape[i] == 1 ? 0 : own[i];
  return strides;
}

/// The fewest dimensions, outermost first, that visit the same offsets in the same order. At
/// least one.
inline llvm::SmallVector<WalkDim> coalesce(llvm::ArrayRef<int64_t> shape,
                                           llvm::ArrayRef<int64_t> strides) {
  llvm::SmallVector<WalkDim> dims;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1)
      continue;
    if (!dims.empty() && dims.back().stride == strides[i] * shape[i])
      dims.back() = {dims.back().extent * shape[i], strides[i]};
    else
      dims.push_back({shape[i], strides[i]});
  }
  if (dims.empty())
    dims.push_back({1, 1});
  return dims;
}

/// A position in such a walk. It advances inside a run, a stretch of the innermost dimension.
class Walk {
public:
  explicit Walk(llvm::ArrayRef<WalkDim> dims) : dims(dims), index(dims.size(), 0) {}
  int64_t offset() const { return position; }
  int64_t left() const { return dims.back().extent - index.back(); }
  int64_t stride() const { return dims.back().stride; }
  /// At most by `left()`; starts over after the last element.
  void advance(int64_t count) {
    position += count * dims.back().stride;
    index.back() += count;
    for (size_t i = dims.size(); i-- > 0 && index[i] == dims[i].extent;) {
      position -= dims[i].extent * dims[i].stride;
      index[i] = 0;
      if (i > 0) {
        position += dims[i - 1].stride;
        ++index[i - 1];
      }
    }
  }

private:
  llvm::SmallVector<WalkDim> dims;
  llvm::SmallVector<int64_t> index;
  int64_t position = 0;
};

} // namespace convoy::cnn
