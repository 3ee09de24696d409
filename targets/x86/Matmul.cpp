// Matrix products: rows of the result by vectors of its columns.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/x86/RegisterTile.h"
#include "targets/x86/Strategies.h"
#include "targets/x86/StridedNest.h"
#include "targets/x86/VectorOperands.h"
#include "targets/x86/Window.h"

using namespace mlir;
using namespace convoy;

using Values = KernelBuilder::Values;

namespace {

struct Plan {
  /// Leading dimensions of the result that are walked one after another, and the strides of both
  /// operands along them.
  SmallVector<int64_t> leading, lhsStrides, rhsStrides;
  /// How a row of the tile's matrix splits into indices of the result.
  SmallVector<int64_t> rowShape;
  int64_t m, n, k;
  int64_t rowStride, stepStride; ///< of lhs
  RegisterTile tile;
  /// Each tile takes the rows of all images, as the rows of one are few to read the matrix for.
  bool joinsImages;
  double ns;

  int64_t blocks(int64_t lanes) const { return (n + lanes - 1) / lanes; }
  int64_t products() const {
    int64_t count = 1;
    for (int64_t extent : leading)
      count *= extent;
    return count;
  }
};

// Whether the rows of all images are one matrix that is better computed as such: they lie one behind
// another, and an image's own would hardly fill a tile.
bool mayJoinImages(cnn::MatmulOp matmul, int64_t rowsPerImage) {
  constexpr int64_t fewRows = 4;
  return cnn::hasFreeBatch(matmul.getDst().getType()) && !matmul.getTransposeLhs() &&
         rowsPerImage <= fewRows && llvm::none_of(matmul.getRegionOperands(), [](Value extra) {
           return cnn::hasFreeBatch(cast<RankedTensorType>(extra.getType()));
         });
}

std::optional<Plan> makePlan(Operation *op, cnn::TargetAttr target, bool packed) {
  auto matmul = dyn_cast<cnn::MatmulOp>(op);
  if (!matmul || !Epilogue::supports(op))
    return std::nullopt;
  auto lhs = cnn::perImage(matmul.getLhs().getType());
  auto rhs = cnn::perImage(matmul.getRhs().getType());
  auto dst = cnn::perImage(matmul.getDst().getType());
  if (!isF32(lhs) || !matmul.getAccumulatorType().isF32() || !isRowMajor(lhs) || !isRowMajor(dst) ||
      (!packed && (!isRowMajor(rhs) || matmul.getTransposeRhs())) ||
      (packed && (rhs.getRank() != 2 || cnn::hasFreeBatch(matmul.getRhs().getType()))) ||
      dst.getNumElements() == 0)
    return std::nullopt;

  Plan plan{};
  int64_t rank = dst.getRank(), lhsRank = lhs.getRank();
  plan.m = dst.getDimSize(rank - 2);
  plan.n = dst.getDimSize(rank - 1);
  plan.k = lhs.getDimSize(lhsRank - (matmul.getTransposeLhs() ? 2 : 1));
  plan.rowStride = matmul.getTransposeLhs() ? 1 : plan.k;
  plan.stepStride = matmul.getTransposeLhs() ? plan.m : 1;
  plan.rowShape = {plan.m};
  auto stridesAlong = [&](RankedTensorType type) {
    SmallVector<int64_t> own = rowMajorStrides(type.getShape()), strides;
    for (int64_t dim = 0; dim + 2 < rank; ++dim) {
      int64_t at = dim - (rank - type.getRank());
      strides.push_back(at < 0 || type.getDimSize(at) == 1 ? 0 : own[at]);
    }
    return strides;
  };
  if (packed && !matmul.getTransposeLhs()) {
    // One matrix on the right: all rows of lhs are one tall matrix.
    plan.rowShape.assign(dst.getShape().begin(), dst.getShape().end() - 1);
    plan.m = dst.getNumElements() / plan.n;
  } else {
    plan.leading.assign(dst.getShape().begin(), dst.getShape().end() - 2);
    plan.lhsStrides = stridesAlong(lhs);
    plan.rhsStrides = packed ? SmallVector<int64_t>(rank - 2, 0) : stridesAlong(rhs);
  }
  int64_t blocks = plan.blocks(target.getLanes());
  StringRef config = getConfig(op);
  auto choice = chooseTile(config, plan.m, blocks, plan.k, target.getRegisters());
  plan.joinsImages = packed && mayJoinImages(matmul, plan.m);
  // The tile of joined images is of as many rows as the batch has, which a config does not know.
  if (!choice || (plan.joinsImages && !config.empty()))
    return std::nullopt;
  plan.tile = choice->tile;
  if (plan.joinsImages)
    plan.tile = {target.getRegisters() / 4, std::min<int64_t>(3, blocks)};
  plan.ns = choice->cycles * plan.products() / kCyclesPerNs;
  return plan;
}

class Emitter {
public:
  Emitter(KernelBuilder &kb, cnn::MatmulOp op, const Plan &plan, bool packed)
      : kb(kb), op(op), plan(plan), packed(packed), lanes(kb.lanes()), epilogue(kb, op) {}

  void run() {
    int64_t blocks = plan.blocks(lanes);
    int64_t groups = (blocks + plan.tile.blocks - 1) / plan.tile.blocks;
    int64_t rowTiles = (plan.m + plan.tile.pixels - 1) / plan.tile.pixels;
    int64_t pieces = piecesFor(plan.ns / (plan.products() * groups), tileNs(plan.ns), rowTiles);
    int64_t perPiece = (rowTiles + pieces - 1) / pieces;
    pieces = (rowTiles + perPiece - 1) / perPiece;

    SmallVector<int64_t> grid(plan.leading);
    grid.append({groups, pieces});
    bool columnsOuter = packed && outgrowsSecondCache(4.0 * plan.k * plan.n, kb.target);
    if (plan.joinsImages) {
      kb.forTilesOfAllImages(groups, [&](Value number) {
        group = number;
        ofImage(kb.i64(0));
        split(groups, blocks, [&](int64_t width, bool masked) { allRows(width, masked); });
      });
      return;
    }
    auto tile = [&](Value image, Value number) {
      Values index = kb.delinearize(number, grid);
      Value piece = index.pop_back_val();
      group = index.pop_back_val();
      leading = index;
      ofImage(image);
      first = kb.mul(piece, perPiece);
      last = kb.min(kb.add(first, perPiece), kb.i64(rowTiles));
      split(groups, blocks, [&](int64_t width, bool masked) { columns(width, masked); });
    };
    kb.forTiles(plan.products() * groups * pieces, tile,
                columnsOuter ? ImageOrder::Innermost : ImageOrder::Outermost);
  }

private:
  void ofImage(Value image) {
    lhs = kb.imageBase(kb.argOf(op.getLhs()), image);
    rhs = kb.imageBase(kb.argOf(op.getRhs()), image);
    epilogue.setImage(image);
  }

  // The code of a group of columns: the last one may be narrower.
  void split(int64_t groups, int64_t blocks, function_ref<void(int64_t width, bool masked)> body) {
    int64_t rest = blocks - (groups - 1) * plan.tile.blocks;
    bool masked = plan.n % lanes != 0;
    if (groups == 1 || (rest == plan.tile.blocks && !masked)) {
      body(rest, masked);
      return;
    }
    Value isLast = arith::CmpIOp::create(kb.builder, kb.loc, arith::CmpIPredicate::eq, group,
                                         kb.i64(groups - 1));
    auto branch = [&](int64_t width, bool tail) {
      body(width, tail);
      return Values();
    };
    kb.ifThenElse(
        isLast, {}, [&] { return branch(rest, masked); },
        [&] { return branch(plan.tile.blocks, false); });
  }

  // All rows of all images, in tiles that become smaller towards the end.
  void allRows(int64_t blocks, bool masked) {
    Value column = kb.mul(group, plan.tile.blocks * lanes);
    Value rows = kb.mul(kb.batch(), plan.m), done = kb.i64(0);
    for (int64_t pixels = plan.tile.pixels; pixels > 0; pixels /= 2) {
      Value end = kb.mul(kb.div(rows, pixels), pixels);
      kb.loop(done, end, pixels,
              [&](Value row) { compute({pixels, blocks}, row, column, masked); });
      done = end;
    }
  }

  // All row tiles of this piece, `blocks` vectors wide; `masked` if the last one is short.
  void columns(int64_t blocks, bool masked) {
    int64_t full = plan.m / plan.tile.pixels, rest = plan.m % plan.tile.pixels;
    Value column = kb.mul(group, plan.tile.blocks * lanes);
    if (full)
      kb.loop(first, rest ? kb.min(last, kb.i64(full)) : last, 1, [&](Value number) {
        compute({plan.tile.pixels, blocks}, kb.mul(number, plan.tile.pixels), column, masked);
      });
    if (rest)
      kb.loop(kb.max(first, kb.i64(full)), last, 1, [&](Value) {
        compute({rest, blocks}, kb.i64(full * plan.tile.pixels), column, masked);
      });
  }

  void compute(RegisterTile tile, Value row, Value column, bool masked) {
    Panel panel;
    panel.src = lhs;
    panel.srcOffset =
        kb.add(linearOffset(kb, leading, plan.lhsStrides), kb.mul(row, plan.rowStride));
    panel.pixelStride = plan.rowStride;
    panel.srcStep = plan.stepStride;
    panel.low = 0;
    panel.high = tile.pixels;
    panel.wei = rhs;
    if (packed) {
      panel.weiOffset = kb.mul(column, plan.k);
      panel.blockStride = plan.k * lanes;
      panel.prefetch = nextColumns(row, column);
    } else {
      panel.weiOffset = kb.add(linearOffset(kb, leading, plan.rhsStrides), column);
      panel.blockStride = lanes;
      panel.weiStep = plan.n;
      if (masked)
        panel.lastMask = kb.firstLanes(kb.i64(plan.n % lanes), lanes);
    }
    Values sums = multiplyAdd(kb, tile, panel, plan.k, zeroTile(kb, tile));
    epilogue.finishTile(
        sums,
        [&](Value index) {
          Values position(leading);
          llvm::append_range(
              position, kb.delinearize(kb.add(row, kb.rem(index, tile.pixels)), plan.rowShape));
          position.push_back(kb.add(column, kb.mul(kb.div(index, tile.pixels), lanes)));
          return position;
        },
        masked ? std::optional(plan.n) : std::nullopt);
  }

  // What to fetch during the tile at `row`: its share of the packed columns after these. A single
  // tile of rows reads each vector once, in order, which the processor itself foresees.
  Prefetch nextColumns(Value row, Value column) {
    int64_t tiles = llvm::divideCeil(plan.m, plan.tile.pixels), width = plan.tile.blocks * lanes;
    int64_t share = tiles > 1 && !plan.joinsImages ? Prefetch::share(width * plan.k * 4, tiles, plan.k) : 0;
    if (!share)
      return {};
    Value next = kb.mul(kb.add(column, width), plan.k * 4);
    Value done = kb.mul(kb.div(row, plan.tile.pixels), plan.k * share);
    return {kb.advance(kb.builder.getI8Type(), rhs, kb.add(next, done)), share};
  }

  KernelBuilder &kb;
  cnn::MatmulOp op;
  const Plan &plan;
  bool packed;
  int64_t lanes;
  Epilogue epilogue;
  Values leading;
  Value lhs, rhs, group, first, last;
};

struct Matmul : X86Strategy {
  explicit Matmul(bool packed) : packed(packed) {}
  StringRef name() const override { return packed ? "packed-matmul" : "row-matmul"; }

  std::optional<double> cost(Operation *op, cnn::TargetAttr target) const override {
    auto plan = makePlan(op, target, packed);
    if (!plan || (packed && !isPackable(op->getOperand(1))))
      return std::nullopt;
    double ns = std::max(plan->ns, moveNs(op));
    // Rows of the unpacked matrix lie far apart: pages and cache sets are missed.
    if (!packed)
      ns *= 1.15;
    return ns;
  }

  std::string packedLayout(Operation *op, unsigned index, cnn::TargetAttr target) const override {
    if (!packed || index != 1)
      return {};
    // The tag's letters name the dimensions of the operand as it is: transposed, n comes first.
    std::string lanes = std::to_string(target.getLanes());
    return cast<cnn::MatmulOp>(op).getTransposeRhs() ? "kn" + lanes + "k" : "nk" + lanes + "n";
  }

  std::vector<std::string> configs(Operation *op, cnn::TargetAttr target) const override {
    auto plan = makePlan(op, target, packed);
    if (!plan || plan->joinsImages)
      return {};
    return otherTiles(plan->m, plan->blocks(target.getLanes()), plan->k, target.getRegisters());
  }

  LogicalResult emit(plan::KernelOp kernel, KernelBuilder &kb) const override {
    auto matmul = dyn_cast_or_null<cnn::MatmulOp>(onlyOp(kernel));
    auto plan = matmul ? makePlan(matmul, kb.target, packed) : std::nullopt;
    if (!plan)
      return kernel.emitError() << "is no product that strategy '" << name() << "' computes";
    Emitter(kb, matmul, *plan, packed).run();
    return success();
  }

  bool packed;
};

} // namespace

const X86Strategy &convoy::packedMatmul() {
  static const Matmul strategy(/*packed=*/true);
  return strategy;
}

const X86Strategy &convoy::rowMatmul() {
  static const Matmul strategy(/*packed=*/false);
  return strategy;
}
