// Rewrites of padding.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/SimplifyPatterns.h"

#include "dialects/Cnn/ConstantData.h"
#include "passes/Graph.h"
#include "passes/Remarks.h"

#include <cmath>

using namespace mlir;
using namespace convoy;

// What a constant pad of floats fills with; nothing if it is another kind of pad.
static std::optional<double> getFill(cnn::PadOp op) {
  if (op.getMode() != cnn::PadMode::Constant ||
      !isa<FloatType>(tensorType(op.getSrc()).getElementType()))
    return std::nullopt;
  if (!op.getValue())
    return 0.0;
  std::optional<SmallVector<double>> value = cnn::getConstantFloats(op.getValue());
  if (!value)
    return std::nullopt;
  return value->front();
}

// The pad's extents as a window op has them (begins, then ends), if it pads spatial dimensions
// alone and crops none.
static std::optional<SmallVector<int64_t>> getSpatialPads(cnn::PadOp op) {
  auto isZero = [](int64_t extent) { return extent == 0; };
  if (op.getLow().size() < 3 || !llvm::all_of(op.getLow().take_front(2), isZero) ||
      !llvm::all_of(op.getHigh().take_front(2), isZero))
    return std::nullopt;
  SmallVector<int64_t> pads(op.getLow().drop_front(2));
  llvm::append_range(pads, op.getHigh().drop_front(2));
  if (llvm::any_of(pads, [](int64_t extent) { return extent < 0; }))
    return std::nullopt;
  return pads;
}

static void addPads(SmallVector<int64_t> &pads, ArrayRef<int64_t> more) {
  for (auto [pad, extra] : llvm::zip_equal(pads, more))
    pad += extra;
}

namespace {

// A convolution reads zeros outside of its source.
struct PadIntoConv : public OpRewritePattern<cnn::ConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(cnn::ConvOp op, PatternRewriter &rewriter) const override {
    auto pad = op.getSrc().getDefiningOp<cnn::PadOp>();
    if (!pad)
      return rewriter.notifyMatchFailure(op, "src is not padded");
    std::optional<double> fill = getFill(pad);
    std::optional<SmallVector<int64_t>> more = getSpatialPads(pad);
    if (!fill || *fill != 0 || !more)
      return rewriter.notifyMatchFailure(op, "the pad is not of zeros around spatial dimensions");
    addPads(*more, op.getPads());
    remarkPassed(pad.getLoc(), "Simplify", "fold", "padding joins the convolution");
    rewriter.modifyOpInPlace(op, [&] {
      op.getSrcMutable().assign(pad.getSrc());
      op.setPads(*more);
    });
    return success();
  }
};

// An average that counts its padding, or a maximum over minus infinity.
struct PadIntoPool : public OpRewritePattern<cnn::PoolOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(cnn::PoolOp op, PatternRewriter &rewriter) const override {
    auto pad = op.getSrc().getDefiningOp<cnn::PadOp>();
    if (!pad)
      return rewriter.notifyMatchFailure(op, "src is not padded");
    std::optional<double> fill = getFill(pad);
    std::optional<SmallVector<int64_t>> more = getSpatialPads(pad);
    if (!fill || !more)
      return rewriter.notifyMatchFailure(op, "the pad is not constant around spatial dimensions");
    bool hasPads = llvm::any_of(op.getPads(), [](int64_t extent) { return extent != 0; });
    bool isAverage = op.getKind() == cnn::PoolKind::Average;
    if (isAverage) {
      // Without ceil_mode every window lies inside the padding, so all divide by the kernel.
      if (*fill != 0 || op.getCeilMode() || (hasPads && !op.getCountIncludePad()))
        return rewriter.notifyMatchFailure(op, "the average would count other elements");
    } else if (*fill != -INFINITY) {
      return rewriter.notifyMatchFailure(op, "the pad may be the maximum");
    }
    addPads(*more, op.getPads());
    for (auto [i, extent] : llvm::enumerate(*more)) {
      size_t dim = i % op.getKernel().size();
      if (extent >= op.getKernel()[dim])
        return rewriter.notifyMatchFailure(op, "a window would lie in the padding alone");
    }
    remarkPassed(pad.getLoc(), "Simplify", "fold", "padding joins the pool");
    rewriter.modifyOpInPlace(op, [&] {
      op.getSrcMutable().assign(pad.getSrc());
      op.setPads(*more);
      if (isAverage)
        op.setCountIncludePad(true);
    });
    return success();
  }
};

} // namespace

void convoy::populatePadPatterns(RewritePatternSet &patterns) {
  patterns.add<PadIntoConv, PadIntoPool>(patterns.getContext());
}
