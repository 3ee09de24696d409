// Local response normalization on blocked and row-major layouts.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/x86/Strategies.h"
#include "targets/x86/Vectors.h"
#include "targets/x86/Window.h"

using namespace mlir;
using namespace convoy;

using Values = KernelBuilder::Values;

namespace {

bool computes(Operation *op, cnn::TargetAttr target) {
  auto lrn = dyn_cast<cnn::LrnOp>(op);
  if (!lrn)
    return false;
  RankedTensorType src = lrn.getSrc().getType(), dst = lrn.getDst().getType();
  if (!isF32(src) || src.getEncoding() != dst.getEncoding() || cnn::getBytes(src) == 0)
    return false;
  // On blocks, a window must end in the neighbouring block.
  if (isBlocked(src, target.getLanes()))
    return static_cast<int64_t>(lrn.getSize()) / 2 <= target.getLanes();
  return isRowMajor(src);
}

class Emitter {
public:
  Emitter(KernelBuilder &kb, cnn::LrnOp op)
      : kb(kb), op(op), lanes(kb.lanes()), f32(kb.builder.getF32Type()),
        type(VectorType::get(lanes, f32)), below((op.getSize() - 1) / 2), above(op.getSize() / 2) {
    auto shape = cnn::perImage(op.getSrc().getType()).getShape();
    n = shape[0];
    channels = shape[1];
    for (int64_t extent : shape.drop_front(2))
      pixels *= extent;
  }

  void blocked() {
    int64_t blocks = llvm::divideCeil(channels, lanes);
    constexpr int64_t pieceVectors = 512;
    int64_t pieces = std::max<int64_t>(pixels / pieceVectors, 1);
    int64_t perPiece = llvm::divideCeil(pixels, pieces);
    pieces = llvm::divideCeil(pixels, perPiece);
    kb.forTiles(n * blocks * pieces, [&](Value image, Value number) {
      enter(image);
      Values index = kb.delinearize(number, {n, blocks, pieces});
      Value block = index[1];
      auto exists = [&](arith::CmpIPredicate predicate, int64_t limit) -> Value {
        return arith::CmpIOp::create(kb.builder, kb.loc, predicate, block, kb.i64(limit));
      };
      Value hasBelow = exists(arith::CmpIPredicate::sgt, 0);
      Value hasAbove = exists(arith::CmpIPredicate::slt, blocks - 1);
      forPiece(kb, index[2], perPiece, pixels, [&](Value pixel) {
        auto offsetOf = [&](Value b) {
          Value plane = kb.add(kb.mul(index[0], blocks), b);
          return kb.mul(kb.add(kb.mul(plane, pixels), pixel), lanes);
        };
        // Squares of a block; lanes beyond the channels hold anything and count as 0.
        auto squares = [&](Value b, Value x) {
          Value square = arith::MulFOp::create(kb.builder, kb.loc, x, x);
          if (channels % lanes == 0)
            return square;
          Value mask = kb.firstLanes(kb.sub(kb.i64(channels), kb.mul(b, lanes)), lanes);
          return Value(arith::SelectOp::create(kb.builder, kb.loc, mask, square, zero()));
        };
        auto neighbour = [&](Value there, int64_t step) {
          return kb.ifThenElse(
              there, type,
              [&] {
                Value b = kb.add(block, step);
                return Values{squares(b, load(offsetOf(b), {}))};
              },
              [&] { return Values{zero()}; })[0];
        };
        Value x = load(offsetOf(block), {});
        Value own = squares(block, x), lower = neighbour(hasBelow, -1),
              upper = neighbour(hasAbove, 1);
        Value sum;
        for (int64_t distance = -below; distance <= above; ++distance) {
          Value shifted = own;
          if (distance != 0) {
            // Lane l takes channel l + distance.
            SmallVector<int64_t> mask;
            for (int64_t lane = 0; lane < lanes; ++lane)
              mask.push_back(distance < 0 ? lanes + lane + distance : lane + distance);
            shifted = vector::ShuffleOp::create(kb.builder, kb.loc, distance < 0 ? lower : own,
                                                distance < 0 ? own : upper, mask);
          }
          sum = sum ? Value(arith::AddFOp::create(kb.builder, kb.loc, sum, shifted)) : shifted;
        }
        store(normalize(x, sum), offsetOf(block), {});
      });
    });
  }

  void rowMajor() {
    int64_t columns = llvm::divideCeil(pixels, lanes);
    constexpr int64_t pieceVectors = 256;
    int64_t perPiece = std::clamp<int64_t>(pieceVectors, 1, columns);
    int64_t pieces = llvm::divideCeil(columns, perPiece);
    kb.forTiles(n * channels * pieces, [&](Value image, Value number) {
      enter(image);
      Values index = kb.delinearize(number, {n, channels, pieces});
      Value first = kb.max(kb.add(index[1], -below), kb.i64(0));
      Value last = kb.min(kb.add(index[1], above + 1), kb.i64(channels));
      forPiece(kb, index[2], perPiece, columns, [&](Value column) {
        Value pixel = kb.mul(column, lanes), mask;
        if (pixels % lanes)
          mask = kb.firstLanes(kb.sub(kb.i64(pixels), pixel), lanes);
        auto offsetOf = [&](Value channel) {
          Value plane = kb.add(kb.mul(index[0], channels), channel);
          return kb.add(kb.mul(plane, pixels), pixel);
        };
        Value sum = kb.loop(first, last, 1, zero(), [&](Value channel, ValueRange carried) {
          Value x = load(offsetOf(channel), mask);
          return Values{vector::FMAOp::create(kb.builder, kb.loc, x, x, carried[0])};
        })[0];
        Value offset = offsetOf(index[1]);
        store(normalize(load(offset, mask), sum), offset, mask);
      });
    });
  }

private:
  void enter(Value image) {
    src = kb.imageBase(kb.argOf(op.getSrc()), image);
    dst = kb.imageBase(kb.argOf(op.getDst()), image);
  }
  Value zero() { return kb.constant(type, 0); }
  Value load(Value offset, Value mask) {
    return kb.loadVector(f32, lanes, src, offset, false, mask);
  }
  void store(Value value, Value offset, Value mask) {
    kb.storeVector(f32, value, dst, offset, false, mask);
  }

  // x / (bias + alpha / size * sum)^beta
  Value normalize(Value x, Value sum) {
    OpBuilder &b = kb.builder;
    double alpha = op.getAlpha().convertToDouble() / static_cast<double>(op.getSize());
    double beta = op.getBeta().convertToDouble();
    Value base = vector::FMAOp::create(b, kb.loc, sum, kb.constant(type, alpha),
                                       kb.constant(type, op.getBias().convertToDouble()));
    auto root = [&](Value value) -> Value { return math::SqrtOp::create(b, kb.loc, value); };
    Value power;
    // Square roots are exact to half a unit in the last place and cheap; 0.75 is the usual case.
    if (beta == 0.75)
      power = arith::MulFOp::create(b, kb.loc, root(base), root(root(base)));
    else if (beta == 0.5)
      power = root(base);
    else if (beta == 1)
      power = base;
    else
      power = math::PowFOp::create(b, kb.loc, base, kb.constant(type, beta));
    return arith::DivFOp::create(b, kb.loc, x, power);
  }

  KernelBuilder &kb;
  cnn::LrnOp op;
  int64_t lanes;
  Type f32;
  VectorType type;
  int64_t below, above; ///< channels of the window around its own
  int64_t n, channels, pixels = 1;
  Value src, dst;
};

struct VectorLrn : X86Strategy {
  StringRef name() const override { return "vector-lrn"; }

  std::optional<double> cost(Operation *op, cnn::TargetAttr target) const override {
    if (!computes(op, target))
      return std::nullopt;
    auto lrn = cast<cnn::LrnOp>(op);
    double vectors = double(cnn::getBytes(lrn.getSrc().getType())) / 4 / target.getLanes();
    return std::max(vectors * (20 + 2 * lrn.getSize()) / kCyclesPerNs, moveNs(op));
  }

  LogicalResult emit(plan::KernelOp kernel, KernelBuilder &kb) const override {
    Operation *op = onlyOp(kernel);
    if (!op || !computes(op, kb.target))
      return kernel.emitError() << "is no op that strategy '" << name() << "' computes";
    Emitter emitter(kb, cast<cnn::LrnOp>(op));
    if (isRowMajor(op->getOperand(0).getType()))
      emitter.rowMajor();
    else
      emitter.blocked();
    return success();
  }
};

} // namespace

const X86Strategy &convoy::vectorLrn() {
  static const VectorLrn strategy;
  return strategy;
}
