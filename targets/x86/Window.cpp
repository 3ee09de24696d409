// Convolutions and pools over at most two spatial dimensions: shapes, rows, borders.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/x86/Window.h"

#include "dialects/Cnn/ConstantData.h"
#include "passes/Relayout.h"

using namespace mlir;
using namespace convoy;

bool Axis::clips() const {
  for (int64_t o : {int64_t(0), out - 1})
    for (int64_t k : {int64_t(0), kernel - 1})
      if (!inside(o, k))
        return true;
  return false;
}

std::optional<WindowShape> convoy::windowShape(Operation *op) {
  auto src = cnn::perImage(cast<RankedTensorType>(op->getOperand(0).getType()));
  auto dst = cnn::perImage(cast<RankedTensorType>(op->getResult(0).getType()));
  int64_t spatial = src.getRank() - 2;
  if (spatial != 1 && spatial != 2)
    return std::nullopt;

  WindowShape shape;
  shape.n = dst.getDimSize(0);
  shape.ic = src.getDimSize(1);
  shape.oc = dst.getDimSize(1);
  auto fill = [&](ArrayRef<int64_t> kernel, ArrayRef<int64_t> strides, ArrayRef<int64_t> pads,
                  ArrayRef<int64_t> dilations) {
    for (int64_t i = 0; i < spatial; ++i)
      (spatial - i == 1 ? shape.w : shape.h) = {src.getDimSize(2 + i),
                                                dst.getDimSize(2 + i),
                                                kernel[i],
                                                strides[i],
                                                dilations[i],
                                                pads[i],
                                                pads[spatial + i]};
  };
  if (auto conv = dyn_cast<cnn::ConvOp>(op)) {
    shape.groups = conv.getGroups();
    fill(conv.getWei().getType().getShape().drop_front(2), conv.getStrides(), conv.getPads(),
         conv.getDilations());
  } else if (auto pool = dyn_cast<cnn::PoolOp>(op)) {
    fill(pool.getKernel(), pool.getStrides(), pool.getPads(), pool.getDilations());
  } else {
    return std::nullopt;
  }
  return shape;
}

std::vector<Segment> convoy::cutRow(const Axis &axis, int64_t size) {
  std::vector<Segment> segments;
  int64_t number = 0;
  for (int64_t start = 0; start < axis.out; start += size, ++number) {
    Segment tile{start, std::min(size, axis.out - start), 1, number, {}, true};
    for (int64_t k = 0; k < axis.kernel; ++k) {
      int64_t low = 0, high = tile.size;
      while (low < high && !axis.inside(start + low, k))
        ++low;
      while (high > low && !axis.inside(start + high - 1, k))
        --high;
      tile.reached.push_back({low, high});
      tile.interior &= low == 0 && high == tile.size;
    }
    if (!segments.empty() && segments.back().size == tile.size &&
        segments.back().reached == tile.reached)
      ++segments.back().count;
    else
      segments.push_back(tile);
  }
  return segments;
}

std::pair<Value, Value> convoy::insideKernel(KernelBuilder &kb, const Axis &axis, Value o) {
  if (!axis.clips())
    return {kb.i64(0), kb.i64(axis.kernel)};
  Value origin = kb.add(kb.mul(o, axis.stride), -axis.pad);
  auto firstAtOrAfter = [&](int64_t i) {
    Value distance = kb.max(kb.sub(kb.i64(i), origin), kb.i64(0));
    return kb.div(kb.add(distance, axis.dilation - 1), axis.dilation);
  };
  return {firstAtOrAfter(0), kb.min(firstAtOrAfter(axis.in), kb.i64(axis.kernel))};
}

double convoy::tileNs(double launchNs) {
  constexpr double wantedTiles = 8, shortest = 1e3, longest = 12e3;
  return std::clamp(launchNs / wantedTiles, shortest, longest);
}

int64_t convoy::piecesFor(double totalNs, double wantedNs, int64_t extent) {
  auto pieces = static_cast<int64_t>(totalNs / wantedNs + 0.5);
  return std::clamp<int64_t>(pieces, 1, extent);
}

bool convoy::isF32(Type type) { return getElementTypeOrSelf(type).isF32(); }

bool convoy::isBlocked(Type type, int64_t lanes) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getRank() >= 3 && tensor.getRank() <= 5 &&
         cnn::getLayoutTag(tensor) == blockedTag(tensor.getRank(), lanes);
}

bool convoy::isRowMajor(Type type) {
  return cnn::getLayout(cast<RankedTensorType>(type)).isRowMajor();
}

bool convoy::isPackable(Value operand) {
  if (auto argument = dyn_cast<BlockArgument>(operand))
    return isa_and_nonnull<plan::KernelOp>(argument.getOwner()->getParentOp());
  return cnn::getConstant(operand) != nullptr;
}

Operation *convoy::onlyOp(plan::KernelOp kernel) {
  Block &body = kernel.getBody().front();
  return llvm::hasSingleElement(body.without_terminator()) ? &body.front() : nullptr;
}

double convoy::moveNs(Operation *op) {
  double bytes = 0;
  for (Type type : llvm::concat<Type>(llvm::to_vector(op->getOperandTypes()),
                                      llvm::to_vector(op->getResultTypes())))
    bytes += cnn::getBytes(cast<RankedTensorType>(type));
  // What fits the second cache is there already, what fits the last one is near.
  constexpr double l2Bytes = 1 << 20, l3Bytes = 16 << 20;
  double bytesPerNs = bytes <= l2Bytes ? 100 : bytes <= l3Bytes ? 50 : 22;
  return bytes / bytesPerNs;
}

bool convoy::outgrowsSecondCache(double weightBytes, cnn::TargetAttr target) {
  return weightBytes > target.getL2Bytes() / 2.0;
}
