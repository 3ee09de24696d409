// Ops with dimensions whose extent only the data tell.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Cnn/Evaluate/Ops.h"

#include <cmath>
#include <vector>

using namespace mlir;
using namespace convoy::cnn;

LogicalResult convoy::cnn::compute(TruePositionsOp, ArrayRef<Tensor> operands, Tensor &dst) {
  auto *to = reinterpret_cast<int64_t *>(dst.mutableData());
  int64_t count = 0, extent = dst.numElements();
  for (int64_t i = 0; i < extent; ++i)
    if (operands[0].data()[i])
      to[count++] = i;
  std::fill(to + count, to + extent, 0);
  return success();
}

namespace {

struct Box {
  float y1, x1, y2, x2;

  Box(const float *values, bool isCenter) {
    if (isCenter) {
      float width = values[2] / 2, height = values[3] / 2;
      x1 = values[0] - width;
      x2 = values[0] + width;
      y1 = values[1] - height;
      y2 = values[1] + height;
    } else {
      y1 = std::min(values[0], values[2]);
      x1 = std::min(values[1], values[3]);
      y2 = std::max(values[0], values[2]);
      x2 = std::max(values[1], values[3]);
    }
  }
  float area() const { return (y2 - y1) * (x2 - x1); }
};

} // namespace

static bool overlap(const Box &a, const Box &b, float threshold) {
  float height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1);
  float width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
  float both = height * width, whole = a.area() + b.area() - both;
  return height > 0 && width > 0 && a.area() > 0 && b.area() > 0 && whole > 0 &&
         both / whole > threshold;
}

LogicalResult convoy::cnn::compute(SuppressOp op, ArrayRef<Tensor> operands, Tensor &dst) {
  int64_t images = dst.shape()[0], classes = dst.shape()[1], most = dst.shape()[2];
  int64_t boxes = operands[0].shape()[1];
  ArrayRef<float> corners = operands[0].as<float>();
  ArrayRef<float> order = operands[1].as<float>();
  SmallVector<int64_t> strides = broadcastStrides(operands[2].shape(), operands[1].shape());
  float threshold = operands[3].as<float>()[0];
  int64_t limit = operands.size() > 4 ? std::min(operands[4].as<int64_t>()[0], most) : most;
  auto *to = reinterpret_cast<int64_t *>(dst.mutableData());
  for (int64_t n = 0; n < images; ++n)
    for (int64_t c = 0; c < classes; ++c) {
      int64_t *row = to + (n * classes + c) * most, kept = 0;
      auto boxAt = [&](int64_t i) {
        return Box(corners.data() + (n * boxes + i) * 4, op.getCenter());
      };
      ArrayRef<float> scores = order.slice((n * classes + c) * boxes, boxes);
      std::vector<int64_t> candidates;
      for (int64_t i = 0; i < boxes; ++i)
        if (operands[2].data()[n * strides[0] + c * strides[1] + i * strides[2]])
          candidates.push_back(i);
      llvm::stable_sort(candidates, [&](int64_t a, int64_t b) {
        return scores[a] > scores[b] || (std::isnan(scores[a]) && !std::isnan(scores[b]));
      });
      for (int64_t box : candidates) {
        if (kept >= limit)
          break;
        bool isNew = true;
        for (int64_t i = 0; i < kept; ++i)
          isNew &= !overlap(boxAt(row[i]), boxAt(box), threshold);
        if (isNew)
          row[kept++] = box;
      }
      std::fill(row + kept, row + most, -1);
    }
  return success();
}

LogicalResult convoy::cnn::compute(PackOp op, ArrayRef<Tensor> operands, Tensor &dst) {
  const Tensor &src = operands[0];
  int64_t axis = op.getAxis(), extent = src.shape()[axis], outer = 1;
  for (int64_t size : src.shape().take_front(axis))
    outer *= size;
  int64_t count = std::clamp<int64_t>(operands[1].as<int64_t>()[0], 0, extent);
  int64_t whole = src.bytes().size() / outer, part = extent ? whole / extent * count : 0;
  char *to = dst.mutableData(), *end = to + src.bytes().size();
  for (int64_t i = 0; i < outer; ++i)
    to = std::copy_n(src.data() + i * whole, part, to);
  std::fill(to, end, 0);
  return success();
}
