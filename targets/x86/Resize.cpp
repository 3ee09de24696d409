// Resampling of spatial dimensions on blocked layouts.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/reference/ResizeTable.h"
#include "targets/x86/Strategies.h"
#include "targets/x86/Vectors.h"
#include "targets/x86/Window.h"

using namespace mlir;
using namespace convoy;

using Values = KernelBuilder::Values;

namespace {

struct Plan {
  int64_t planes, ih, iw, oh, ow;
  ResizeAxis h, w;
};

std::optional<Plan> makePlan(Operation *op, cnn::TargetAttr target) {
  auto resize = dyn_cast<cnn::ResizeOp>(op);
  if (!resize || !isF32(resize.getSrc().getType()) ||
      !isBlocked(resize.getSrc().getType(), target.getLanes()) ||
      !isBlocked(resize.getDst().getType(), target.getLanes()))
    return std::nullopt;
  auto src = cnn::perImage(resize.getSrc().getType());
  auto dst = cnn::perImage(resize.getDst().getType());
  int64_t rank = src.getRank();
  if (rank > 4 || dst.getNumElements() == 0)
    return std::nullopt;
  for (unsigned dim = 0; dim < 2; ++dim)
    if (!resize.getSrc().getType().isDynamicDim(dim) && !makeResizeAxis(resize, dim).isIdentity())
      return std::nullopt;
  Plan plan{};
  plan.planes = src.getDimSize(0) * llvm::divideCeil(src.getDimSize(1), target.getLanes());
  plan.ih = rank == 4 ? src.getDimSize(2) : 1;
  plan.oh = rank == 4 ? dst.getDimSize(2) : 1;
  plan.iw = src.getDimSize(rank - 1);
  plan.ow = dst.getDimSize(rank - 1);
  plan.h = {1, {0}, {1.0}};
  if (rank == 4)
    plan.h = makeResizeAxis(resize, 2);
  plan.w = makeResizeAxis(resize, rank - 1);
  constexpr int64_t maxTaps = 8;
  for (const ResizeAxis *axis : {&plan.h, &plan.w})
    if (axis->taps > maxTaps || llvm::any_of(axis->indices, [](int32_t i) { return i < 0; }))
      return std::nullopt;
  return plan;
}

struct VectorResize : X86Strategy {
  StringRef name() const override { return "vector-resize"; }

  std::optional<double> cost(Operation *op, cnn::TargetAttr target) const override {
    auto plan = makePlan(op, target);
    if (!plan)
      return std::nullopt;
    double vectors = double(plan->planes) * plan->oh * plan->ow;
    return std::max(vectors * (3 + 1.5 * plan->h.taps * plan->w.taps) / kCyclesPerNs, moveNs(op));
  }

  LogicalResult emit(plan::KernelOp kernel, KernelBuilder &kb) const override {
    auto op = dyn_cast_or_null<cnn::ResizeOp>(onlyOp(kernel));
    auto plan = op ? makePlan(op, kb.target) : std::nullopt;
    if (!plan)
      return kernel.emitError() << "is no op that strategy '" << name() << "' computes";

    int64_t lanes = kb.lanes();
    Type f32 = kb.builder.getF32Type(), i32 = kb.builder.getI32Type();
    struct Tables {
      Value indices, weights;
      int64_t taps;
    };
    auto tablesOf = [&](const ResizeAxis &axis) {
      std::vector<float> weights(axis.weights.begin(), axis.weights.end());
      auto table = [&](const auto &values) {
        return kb.table(
            {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(values[0])});
      };
      return Tables{table(axis.indices), table(weights), axis.taps};
    };
    Tables h = tablesOf(plan->h), w = tablesOf(plan->w);
    auto indexAt = [&](const Tables &tables, Value position) -> Value {
      return arith::ExtSIOp::create(kb.builder, kb.loc, kb.builder.getI64Type(),
                                    kb.load(i32, tables.indices, position));
    };

    constexpr int64_t pieceVectors = 1024;
    int64_t rows = plan->planes * plan->oh;
    int64_t perPiece = std::clamp<int64_t>(pieceVectors / plan->ow, 1, rows);
    kb.forTiles(llvm::divideCeil(rows, perPiece), [&](Value image, Value number) {
      Value src = kb.imageBase(kb.argOf(op.getSrc()), image);
      Value dst = kb.imageBase(kb.argOf(op.getDst()), image);
      forPiece(kb, number, perPiece, rows, [&](Value row) {
        Value plane = kb.div(row, plan->oh), oh = kb.rem(row, plan->oh);
        Values srcRows, rowWeights;
        for (int64_t tap = 0; tap < h.taps; ++tap) {
          Value at = kb.add(kb.mul(oh, h.taps), tap);
          srcRows.push_back(kb.mul(kb.add(kb.mul(plane, plan->ih), indexAt(h, at)), plan->iw));
          rowWeights.push_back(kb.load(f32, h.weights, at));
        }
        kb.loop(kb.i64(0), kb.i64(plan->ow), 1, [&](Value ow) {
          Value sum;
          for (int64_t tapW = 0; tapW < w.taps; ++tapW) {
            Value at = kb.add(kb.mul(ow, w.taps), tapW), iw = indexAt(w, at);
            Value columnWeight = kb.load(f32, w.weights, at);
            for (int64_t tapH = 0; tapH < h.taps; ++tapH) {
              Value element =
                  kb.loadVector(f32, lanes, src, kb.mul(kb.add(srcRows[tapH], iw), lanes),
                                /*aligned=*/true);
              if (h.taps == 1 && w.taps == 1) {
                sum = element;
                continue;
              }
              Value weight = kb.splat(
                  arith::MulFOp::create(kb.builder, kb.loc, columnWeight, rowWeights[tapH]), lanes);
              sum = sum ? Value(vector::FMAOp::create(kb.builder, kb.loc, weight, element, sum))
                        : Value(arith::MulFOp::create(kb.builder, kb.loc, weight, element));
            }
          }
          kb.storeVector(f32, sum, dst, kb.mul(kb.add(kb.mul(row, plan->ow), ow), lanes),
                         /*aligned=*/true);
        });
      });
    });
    return success();
  }
};

} // namespace

const X86Strategy &convoy::vectorResize() {
  static const VectorResize strategy;
  return strategy;
}
