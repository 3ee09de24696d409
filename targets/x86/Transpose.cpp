// Transposing small matrices in vector registers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/x86/Transpose.h"

using namespace mlir;
using namespace convoy;

using Values = KernelBuilder::Values;

Values convoy::transposeVectors(KernelBuilder &kb, ValueRange rows) {
  Values vectors(rows);
  int64_t size = vectors.size();
  // Each step swaps the off-diagonal quarters of squares of 2 * half.
  for (int64_t half = 1; half < size; half *= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < size; ++lane) {
      low.push_back(lane & half ? size + lane - half : lane);
      high.push_back(lane & half ? size + lane : lane + half);
    }
    Values next(size);
    for (int64_t i = 0; i < size; ++i) {
      if (i & half)
        continue;
      auto shuffle = [&](ArrayRef<int64_t> mask) -> Value {
        return vector::ShuffleOp::create(kb.builder, kb.loc, vectors[i], vectors[i + half], mask);
      };
      next[i] = shuffle(low);
      next[i + half] = shuffle(high);
    }
    vectors = next;
  }
  return vectors;
}

void convoy::transposeTile(KernelBuilder &kb, Type elementType, Value src, Value srcOffset,
                           int64_t srcStride, int64_t rows, Value dst, Value dstOffset,
                           int64_t dstStride, int64_t columns) {
  int64_t lanes = kb.lanes();
  auto maskOf = [&](int64_t count) {
    return count < lanes ? kb.firstLanes(kb.i64(count), lanes) : Value();
  };
  Value rowMask = maskOf(columns), columnMask = maskOf(rows);
  Values vectors;
  for (int64_t row = 0; row < lanes; ++row)
    vectors.push_back(row < rows ? kb.loadVector(elementType, lanes, src,
                                                 kb.add(srcOffset, row * srcStride), false, rowMask)
                                 : kb.constant(VectorType::get(lanes, elementType), 0));
  vectors = transposeVectors(kb, vectors);
  for (int64_t column = 0; column < columns; ++column)
    kb.storeVector(elementType, vectors[column], dst, kb.add(dstOffset, column * dstStride), false,
                   columnMask);
}
