// Matrix product.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Cnn/Evaluate/Correlate.h"
#include "dialects/Cnn/Evaluate/Ops.h"

using namespace mlir;
using namespace convoy::cnn;

template <typename T>
static void multiply(MatmulOp op, const Tensor &lhsTensor, const Tensor &rhsTensor,
                     ArrayRef<int64_t> dstShape, Sum<T> *dst) {
  Decoded<T> lhs(lhsTensor), rhs(rhsTensor);
  bool transposeLhs = op.getTransposeLhs(), transposeRhs = op.getTransposeRhs();
  int64_t m = dstShape[dstShape.size() - 2], n = dstShape.back();
  int64_t k = lhsTensor.shape()[lhsTensor.rank() - (transposeLhs ? 2 : 1)];
  ArrayRef<int64_t> batches = dstShape.drop_back(2);
  ArrayRef<int64_t> lhsBatches = lhsTensor.shape().drop_back(2);
  ArrayRef<int64_t> rhsBatches = rhsTensor.shape().drop_back(2);
  Walk lhsWalk(coalesce(batches, broadcastStrides(lhsBatches, batches)));
  Walk rhsWalk(coalesce(batches, broadcastStrides(rhsBatches, batches)));
  int64_t count = 1;
  for (int64_t extent : batches)
    count *= extent;
  const int64_t noShift[] = {0};
  std::vector<T> columns;
  std::vector<Sum<T>> transposed;
  for (int64_t b = 0; b < count; ++b, dst += m * n) {
    const T *a = lhs.data() + lhsWalk.offset() * m * k;
    const T *c = rhs.data() + rhsWalk.offset() * k * n;
    lhsWalk.advance(1);
    rhsWalk.advance(1);
    if (!transposeRhs) {
      correlate<T>({c, k, n, noShift}, a, m, transposeLhs ? 1 : k, transposeLhs ? m : 1, n, dst);
      continue;
    }
    // The rows of rhs are the weights: it is the larger side where a model has this, and is not
    // copied.
    if (!transposeLhs && m > 1) {
      columns.resize(k * m);
      for (int64_t row = 0; row < m; ++row)
        for (int64_t i = 0; i < k; ++i)
          columns[i * m + row] = a[row * k + i];
      a = columns.data();
    }
    transposed.resize(n * m);
    correlate<T>({a, k, m, noShift}, c, n, k, 1, m, transposed.data());
    for (int64_t row = 0; row < m; ++row)
      for (int64_t i = 0; i < n; ++i)
        dst[row * n + i] = transposed[i * m + row];
  }
}

LogicalResult convoy::cnn::compute(MatmulOp op, ArrayRef<Tensor> operands, Tensor &dst) {
  std::vector<Lane> accumulators(dst.numElements());
  if (!accumulators.empty())
    dispatch(operands[0].elementType(), [&](auto *type) {
      using T = std::remove_pointer_t<decltype(type)>;
      multiply<T>(op, operands[0], operands[1], dst.shape(), sums<T>(accumulators));
    });
  return applyEpilogue(op, accumulators, operands.drop_front(2), dst);
}
