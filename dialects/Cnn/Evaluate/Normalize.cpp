// Softmax, local response normalization and batch normalization, in double.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Cnn/Evaluate/Ops.h"

#include <cmath>

using namespace mlir;
using namespace convoy::cnn;

// Elements as doubles, to be computed on in place.
static FailureOr<std::vector<Lane>> load(Operation *op, const Tensor &tensor) {
  if (!isa<FloatType>(tensor.elementType()))
    return op->emitOpError() << "is evaluated for floating-point elements only, got "
                             << tensor.elementType();
  std::vector<Lane> lanes(tensor.numElements());
  Codec::of(tensor.elementType())->decode(tensor.data(), tensor.numElements(), lanes.data());
  return lanes;
}

static void store(const std::vector<Lane> &lanes, Tensor &dst) {
  Codec::of(dst.elementType())->encode(lanes.data(), lanes.size(), dst.mutableData());
}

static int64_t innerSize(const Tensor &tensor, int64_t axis) {
  int64_t size = 1;
  for (int64_t extent : tensor.shape().drop_front(axis + 1))
    size *= extent;
  return size;
}

LogicalResult convoy::cnn::compute(SoftmaxOp op, ArrayRef<Tensor> operands, Tensor &dst) {
  FailureOr<std::vector<Lane>> lanes = load(op, operands[0]);
  if (failed(lanes))
    return failure();
  int64_t axis = op.getAxis(), extent = dst.shape()[axis], inner = innerSize(dst, axis);
  int64_t lines = lanes->empty() ? 0 : lanes->size() / extent;
  for (int64_t line = 0; line < lines; ++line) {
    Lane *first = lanes->data() + line / inner * extent * inner + line % inner;
    double largest = first->f, sum = 0;
    for (int64_t i = 1; i < extent; ++i)
      largest = std::max(largest, first[i * inner].f);
    for (int64_t i = 0; i < extent; ++i)
      sum += std::exp(first[i * inner].f - largest);
    for (int64_t i = 0; i < extent; ++i) {
      double &x = first[i * inner].f;
      x = op.getLog() ? x - largest - std::log(sum) : std::exp(x - largest) / sum;
    }
  }
  store(*lanes, dst);
  return success();
}

LogicalResult convoy::cnn::compute(LrnOp op, ArrayRef<Tensor> operands, Tensor &dst) {
  FailureOr<std::vector<Lane>> lanes = load(op, operands[0]);
  if (failed(lanes))
    return failure();
  int64_t channels = dst.shape()[1], inner = innerSize(dst, 1);
  int64_t size = op.getSize(), below = (size - 1) / 2, above = size - 1 - below;
  double alpha = op.getAlpha().convertToDouble(), beta = op.getBeta().convertToDouble();
  double bias = op.getBias().convertToDouble();
  std::vector<Lane> result(lanes->size());
  for (int64_t n = 0; n < dst.shape()[0]; ++n)
    for (int64_t c = 0; c < channels; ++c) {
      int64_t first = std::max<int64_t>(0, c - below), last = std::min(channels - 1, c + above);
      for (int64_t i = 0; i < inner; ++i) {
        const Lane *column = lanes->data() + n * channels * inner + i;
        double squares = 0;
        for (int64_t other = first; other <= last; ++other)
          squares += column[other * inner].f * column[other * inner].f;
        result[(n * channels + c) * inner + i].f =
            column[c * inner].f / std::pow(bias + alpha / size * squares, beta);
      }
    }
  store(result, dst);
  return success();
}

LogicalResult convoy::cnn::compute(BatchNormOp op, ArrayRef<Tensor> operands, Tensor &dst) {
  FailureOr<std::vector<Lane>> lanes = load(op, operands[0]);
  if (failed(lanes))
    return failure();
  SmallVector<std::vector<Lane>, 4> parameters;
  for (const Tensor &operand : operands.drop_front()) {
    FailureOr<std::vector<Lane>> parameter = load(op, operand);
    if (failed(parameter))
      return failure();
    parameters.push_back(std::move(*parameter));
  }
  double epsilon = op.getEpsilon().convertToDouble();
  int64_t channels = parameters[0].size();
  int64_t inner = dst.rank() < 2 ? 1 : innerSize(dst, 1);
  for (size_t i = 0; i < lanes->size(); ++i) {
    int64_t c = int64_t(i) / inner % channels;
    double &x = (*lanes)[i].f;
    double scale = parameters[0][c].f, bias = parameters[1][c].f;
    double mean = parameters[2][c].f, variance = parameters[3][c].f;
    x = (x - mean) / std::sqrt(variance + epsilon) * scale + bias;
  }
  store(*lanes, dst);
  return success();
}
