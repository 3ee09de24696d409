// Rewrites convolutions of a space-to-depth.
//
// With y = concat of x[:, :, i::s, j::s] over all i, j, a convolution of y by a k x k kernel reads
// x at s * (o * stride + k - pad) + i: it is a convolution of x by an (s k) x (s k) kernel with s
// times the stride and padding. The weights are the same numbers in another order.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/SimplifyPatterns.h"

#include "dialects/Cnn/ConstantData.h"
#include "passes/Graph.h"
#include "passes/Remarks.h"

#include <cstring>
#include <set>

using namespace mlir;
using namespace convoy;

namespace {

// The source of a space-to-depth by `step`, and the offset (i, j) of each of its pieces.
struct Focus {
  Value src;
  int64_t step;
  SmallVector<std::pair<int64_t, int64_t>> pieces;

  static std::optional<Focus> match(Value value);
};

struct FocusIntoConv : public OpRewritePattern<cnn::ConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(cnn::ConvOp op, PatternRewriter &rewriter) const override;
};

} // namespace

std::optional<Focus> Focus::match(Value value) {
  auto concat = value.getDefiningOp<cnn::ConcatOp>();
  if (!concat || concat.getAxis() != 1 || tensorType(value).getRank() != 4)
    return std::nullopt;
  Focus focus;
  std::set<std::pair<int64_t, int64_t>> distinct;
  for (Value input : concat.getInputs()) {
    auto slice = input.getDefiningOp<cnn::SliceOp>();
    if (!slice || (focus.src && slice.getSrc() != focus.src))
      return std::nullopt;
    ArrayRef<int64_t> starts = slice.getStarts(), steps = slice.getSteps();
    if (!focus.src) {
      focus.src = slice.getSrc();
      focus.step = steps[2];
    }
    auto src = tensorType(focus.src), dst = tensorType(input);
    bool isPiece = starts[0] == 0 && starts[1] == 0 && steps[0] == 1 && steps[1] == 1 &&
                   src.getDimSize(0) == dst.getDimSize(0) && src.getDimSize(1) == dst.getDimSize(1);
    for (unsigned dim : {2, 3})
      isPiece &= steps[dim] == focus.step && starts[dim] < focus.step &&
                 dst.getDimSize(dim) * focus.step == src.getDimSize(dim);
    if (!isPiece || !distinct.insert({starts[2], starts[3]}).second)
      return std::nullopt;
    focus.pieces.push_back({starts[2], starts[3]});
  }
  // With pieces missing, the larger kernel would multiply zeros.
  if (focus.step < 2 || int64_t(focus.pieces.size()) != focus.step * focus.step)
    return std::nullopt;
  return focus;
}

// [oc][piece * ic + c][kh][kw] to [oc][c][kh * step + i][kw * step + j].
static std::vector<char> spreadWeights(ArrayRef<char> bytes, ArrayRef<int64_t> shape,
                                       const Focus &focus, int64_t size) {
  int64_t pieces = focus.pieces.size(), ic = shape[1] / pieces, kh = shape[2], kw = shape[3];
  std::vector<char> result(bytes.size());
  const char *src = bytes.data();
  for (int64_t oc = 0; oc < shape[0]; ++oc)
    for (auto [i, j] : focus.pieces)
      for (int64_t c = 0; c < ic; ++c)
        for (int64_t h = 0; h < kh; ++h)
          for (int64_t w = 0; w < kw; ++w, src += size) {
            int64_t row = (oc * ic + c) * kh * focus.step + h * focus.step + i;
            int64_t index = row * kw * focus.step + w * focus.step + j;
            std::memcpy(result.data() + index * size, src, size);
          }
  return result;
}

LogicalResult FocusIntoConv::matchAndRewrite(cnn::ConvOp op, PatternRewriter &rewriter) const {
  std::optional<Focus> focus = Focus::match(op.getSrc());
  ElementsAttr weights = cnn::getConstant(op.getWei());
  if (!focus || !weights)
    return rewriter.notifyMatchFailure(op, "src is no space-to-depth, or weights are computed");
  if (op.getGroups() != 1 || llvm::any_of(op.getDilations(), [](int64_t d) { return d != 1; }))
    return rewriter.notifyMatchFailure(op, "groups or dilations");
  auto wei = tensorType(op.getWei());
  cnn::ConstantData data(weights);
  SmallVector<int64_t> shape(wei.getShape());
  std::vector<char> bytes =
      spreadWeights(data.bytes(), shape, *focus, cnn::getElementBytes(wei.getElementType()));
  shape[1] /= focus->pieces.size();
  shape[2] *= focus->step;
  shape[3] *= focus->step;
  Value spread =
      createConstant(rewriter, op.getWei().getLoc(),
                     RankedTensorType::get(shape, wei.getElementType()), std::move(bytes));
  auto scale = [&](ArrayRef<int64_t> values) {
    return llvm::map_to_vector(values, [&](int64_t value) { return value * focus->step; });
  };
  remarkPassed(op.getLoc(), "Simplify", "fold", "space-to-depth joins the convolution");
  rewriter.modifyOpInPlace(op, [&] {
    op.getSrcMutable().assign(focus->src);
    op.getWeiMutable().assign(spread);
    op.setStrides(scale(op.getStrides()));
    op.setPads(scale(op.getPads()));
  });
  return success();
}

void convoy::populateFocusPatterns(RewritePatternSet &patterns) {
  patterns.add<FocusIntoConv>(patterns.getContext());
}
