// 3 x 3 convolution of stride 1 by Winograd's minimal filtering on blocked layouts.
//
// A piece takes some tiles of outputs through all three stages while they stay in the second cache:
// source tiles are transformed (for all source channels), multiplied by the transformed weights,
// one matrix product for each element of a tile, and transformed to outputs with the epilogue.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Cnn/Winograd.h"
#include "targets/x86/RegisterTile.h"
#include "targets/x86/Strategies.h"
#include "targets/x86/VectorOperands.h"
#include "targets/x86/Vectors.h"
#include "targets/x86/Window.h"

#include <cmath>

using namespace mlir;
using namespace convoy;

using Values = KernelBuilder::Values;

namespace {

struct Plan {
  WindowShape shape;
  int64_t outputs, size; ///< of a tile, along each dimension
  int64_t srcBlocks, dstBlocks;
  int64_t tilesHigh, tilesWide;
  int64_t batch;    ///< tiles that a piece takes at a time
  int64_t dstParts; ///< pieces that share the tiles, each with its output channels
  RegisterTile tile;
  double ns;

  int64_t tiles() const { return tilesHigh * tilesWide; }
  int64_t batches() const { return (tiles() + batch - 1) / batch; }
  int64_t blocksPerPart() const { return (dstBlocks + dstParts - 1) / dstParts; }
};

// Batches that were considered, with what speaks for them: less is better.
using Judgements = std::vector<std::pair<double, int64_t>>;

// A config is the number of tiles that a piece takes at a time.
std::optional<Plan> makePlan(Operation *op, cnn::TargetAttr target, int64_t outputs,
                             Judgements *judgements = nullptr) {
  auto conv = dyn_cast<cnn::ConvOp>(op);
  if (!conv)
    return std::nullopt;
  int64_t lanes = target.getLanes();
  RankedTensorType src = conv.getSrc().getType(), dst = conv.getDst().getType();
  auto shape = windowShape(op);
  if (!shape || src.getRank() != 4 || shape->groups != 1 || cnn::getBytes(dst) == 0 ||
      !isF32(src) || !isF32(conv.getWei().getType()) || !conv.getAccumulatorType().isF32() ||
      !isBlocked(src, lanes) || !isBlocked(dst, lanes) || !Epilogue::supports(op))
    return std::nullopt;
  for (const Axis &axis : {shape->h, shape->w})
    if (axis.kernel != 3 || axis.stride != 1 || axis.dilation != 1)
      return std::nullopt;

  Plan plan{};
  plan.shape = *shape;
  plan.outputs = outputs;
  plan.size = outputs + 2;
  plan.srcBlocks = (shape->ic + lanes - 1) / lanes;
  plan.dstBlocks = (shape->oc + lanes - 1) / lanes;
  plan.tilesHigh = (shape->h.out + outputs - 1) / outputs;
  plan.tilesWide = (shape->w.out + outputs - 1) / outputs;

  // Few tiles at a time stay in the second cache, many read the weights less often.
  int64_t elements = plan.size * plan.size;
  double weightBytes = double(elements) * plan.srcBlocks * plan.dstBlocks * lanes * lanes * 4;
  double l2Bytes = target.getL2Bytes();
  // Weights beyond the second cache come from the third or, as a whole network seldom fits that, from
  // memory.
  constexpr double l3Share = 8 << 20;
  constexpr double l2BytesPerCycle = 40, l3BytesPerCycle = 14, memoryBytesPerCycle = 6.2;
  double bytesPerCycle = weightBytes < l2Bytes / 2 ? l2BytesPerCycle
                         : weightBytes < l3Share   ? l3BytesPerCycle
                                                   : memoryBytesPerCycle;
  double reading = weightBytes / bytesPerCycle;
  // Transforms: loads, stores and a few operations for each element of a tile.
  double perTile = elements * 4.5;
  double sources = perTile * plan.tiles() * plan.srcBlocks;
  constexpr int64_t maxBatch = 56, wantedPieces = 8;
  int64_t wantedBatch = 0;
  if (StringRef config = getConfig(op);
      !config.empty() && (config.getAsInteger(10, wantedBatch) || wantedBatch < 1))
    return std::nullopt;
  double best = std::numeric_limits<double>::infinity();
  for (int64_t batch = 1; batch <= std::min(maxBatch, plan.tiles()); ++batch) {
    int64_t batches = (plan.tiles() + batch - 1) / batch;
    // Balanced, a last batch is hardly shorter than the others.
    if (batch != (plan.tiles() + batches - 1) / batches || (wantedBatch && batch != wantedBatch))
      continue;
    if (judgements)
      judgements->push_back({std::numeric_limits<double>::infinity(), batch});
    TileChoice choice = chooseTile(batch, plan.dstBlocks, shape->ic, target.getRegisters());
    double sourceBytes = double(elements) * plan.srcBlocks * lanes * 4 * batch;
    double groups = double(plan.dstBlocks) / choice.tile.blocks;
    double products = std::max(elements * choice.cycles, reading);
    if (sourceBytes > l2Bytes / 2)
      products += sourceBytes * groups / l3BytesPerCycle;
    for (int64_t parts = 1; parts <= std::min(wantedPieces, plan.dstBlocks); parts *= 2) {
      // Each part of the channels transforms the source anew.
      double cycles = products * batches + perTile * plan.tiles() * plan.dstBlocks +
                      sources * static_cast<double>(parts);
      // Few pieces leave threads idle: a twentieth for each time that their number halves, and half
      // of the piece that the last of two threads has too many.
      int64_t count = batches * parts * shape->n;
      double pieces = std::min(double(count), double(wantedPieces));
      double odd = count % 2 == 0 ? 0 : 0.5 / count;
      double judged = cycles * (1 + 0.05 * std::log2(wantedPieces / pieces) + odd);
      if (judgements)
        judgements->back().first = std::min(judgements->back().first, judged);
      if (judged >= best)
        continue;
      best = judged;
      plan.batch = batch;
      plan.tile = choice.tile;
      plan.dstParts = parts;
      plan.ns = cycles * static_cast<double>(shape->n) / kCyclesPerNs;
    }
  }
  if (!plan.batch)
    return std::nullopt;
  plan.dstParts = (plan.dstBlocks + plan.blocksPerPart() - 1) / plan.blocksPerPart();
  return plan;
}

class Emitter {
public:
  Emitter(KernelBuilder &kb, cnn::ConvOp conv, const Plan &plan)
      : kb(kb), conv(conv), plan(plan), shape(plan.shape), winograd(plan.outputs, 3),
        lanes(kb.lanes()), f32(kb.builder.getF32Type()), type(VectorType::get(lanes, f32)),
        epilogue(kb, conv) {}

  void run() {
    int64_t elements = plan.size * plan.size;
    int64_t sourceFloats = elements * plan.srcBlocks * plan.batch * lanes;
    int64_t productFloats = elements * plan.tile.blocks * plan.batch * lanes;
    double weightBytes = double(elements) * plan.srcBlocks * plan.dstBlocks * lanes * lanes * 4;
    bool channelsOuter = outgrowsSecondCache(weightBytes, kb.target);
    SmallVector<int64_t> grid{shape.n, plan.batches(), plan.dstParts};
    if (channelsOuter)
      grid = {plan.dstParts, plan.batches(), shape.n};
    auto piece = [&](Value image, Value number) {
      Values index = kb.delinearize(number, grid);
      if (channelsOuter)
        std::swap(index[0], index[2]);
      n = index[0];
      src = kb.imageBase(kb.argOf(conv.getSrc()), image);
      wei = kb.base(kb.argOf(conv.getWei()));
      epilogue.setImage(image);
      sources = kb.scratch((sourceFloats + productFloats) * 4);
      products = kb.advance(f32, sources, kb.i64(sourceFloats));
      firstTile = kb.mul(index[1], plan.batch);
      numTiles = kb.min(kb.sub(kb.i64(plan.tiles()), firstTile), kb.i64(plan.batch));

      kb.loop(kb.i64(0), kb.i64(plan.srcBlocks), 1, [&](Value block) {
        kb.loop(kb.i64(0), numTiles, 1, [&](Value tile) { transformSource(block, tile); });
      });
      Value begin = kb.mul(index[2], plan.blocksPerPart());
      Value end = kb.min(kb.add(begin, plan.blocksPerPart()), kb.i64(plan.dstBlocks));
      overBlocks(begin, end);
    };
    kb.forTiles(shape.n * plan.dstParts * plan.batches(), piece,
                channelsOuter ? ImageOrder::Innermost : ImageOrder::Outermost);
  }

private:
  // Output blocks [begin, end), as many at a time as the register tile has.
  void overBlocks(Value begin, Value end) {
    int64_t width = plan.tile.blocks;
    auto group = [&](Value block, int64_t blocks) {
      multiply(block, blocks);
      kb.loop(kb.i64(0), kb.i64(blocks), 1, [&](Value part) {
        kb.loop(kb.i64(0), numTiles, 1,
                [&](Value tile) { transformProducts(kb.add(block, part), part, blocks, tile); });
      });
    };
    Value whole = kb.sub(end, kb.rem(kb.sub(end, begin), width));
    kb.loop(begin, whole, width, [&](Value block) { group(block, width); });
    bool mayRemain =
        plan.blocksPerPart() % width != 0 || (plan.dstBlocks % plan.blocksPerPart()) % width != 0;
    if (width > 1 && mayRemain)
      kb.loop(whole, end, 1, [&](Value block) { group(block, 1); });
  }

  // sources [element][block][tile][lane]
  void transformSource(Value block, Value tile) {
    Value number = kb.add(firstTile, tile);
    Value row = kb.add(kb.mul(kb.div(number, plan.tilesWide), plan.outputs), -shape.h.pad);
    Value column = kb.add(kb.mul(kb.rem(number, plan.tilesWide), plan.outputs), -shape.w.pad);
    Value plane = kb.add(kb.mul(n, plan.srcBlocks), block);
    Value start =
        kb.mul(kb.add(kb.mul(kb.add(kb.mul(plane, shape.h.in), row), shape.w.in), column), lanes);

    // Inside are tiles that read no padding.
    auto isBetween = [&](Value value, int64_t low, int64_t high) -> Value {
      Value atLeast = compare(arith::CmpIPredicate::sge, value, low);
      Value below = compare(arith::CmpIPredicate::slt, value, high);
      return arith::AndIOp::create(kb.builder, kb.loc, atLeast, below);
    };
    Value inside =
        arith::AndIOp::create(kb.builder, kb.loc, isBetween(row, 0, shape.h.in - plan.size + 1),
                              isBetween(column, 0, shape.w.in - plan.size + 1));
    Value target = kb.mul(kb.add(kb.mul(block, plan.batch), tile), lanes);
    auto transform = [&](bool checked) {
      SmallVector<Value> rowInside, columnInside;
      if (checked)
        for (int64_t i = 0; i < plan.size; ++i) {
          rowInside.push_back(isBetween(kb.add(row, i), 0, shape.h.in));
          columnInside.push_back(isBetween(kb.add(column, i), 0, shape.w.in));
        }
      SmallVector<Values> half; // by column, then row
      for (int64_t j = 0; j < plan.size; ++j) {
        Values elements;
        for (int64_t i = 0; i < plan.size; ++i) {
          Value mask;
          if (checked)
            mask = kb.splat(
                arith::AndIOp::create(kb.builder, kb.loc, rowInside[i], columnInside[j]), lanes);
          elements.push_back(kb.loadVector(f32, lanes, src,
                                           kb.add(start, (i * shape.w.in + j) * lanes),
                                           /*aligned=*/true, mask));
        }
        half.push_back(ofSource(elements));
      }
      int64_t stride = plan.srcBlocks * plan.batch * lanes;
      for (int64_t i = 0; i < plan.size; ++i) {
        Values elements;
        for (int64_t j = 0; j < plan.size; ++j)
          elements.push_back(half[j][i]);
        for (auto [j, element] : llvm::enumerate(ofSource(elements)))
          kb.storeVector(f32, element, sources,
                         kb.add(target, (i * plan.size + static_cast<int64_t>(j)) * stride),
                         /*aligned=*/true);
      }
      return Values();
    };
    kb.ifThenElse(
        inside, {}, [&] { return transform(false); }, [&] { return transform(true); });
  }

  // products [element][part][tile][lane] of `blocks` output blocks from `block` on.
  void multiply(Value block, int64_t blocks) {
    int64_t full = shape.ic / lanes, rest = shape.ic % lanes;
    // Meanwhile the weights of the next element come.
    int64_t blockSize = plan.srcBlocks * lanes * lanes;
    int64_t fetched = Prefetch::share(
        blocks * blockSize * 4, llvm::divideCeil(plan.batch, plan.tile.pixels), shape.ic);
    kb.loop(kb.i64(0), kb.i64(plan.size * plan.size), 1, [&](Value element) {
      auto rows = [&](int64_t pixels, Value first) {
        RegisterTile tile{pixels, blocks};
        auto at = [&](Value srcBlock, int64_t channels, ValueRange carried) {
          Panel panel;
          panel.src = sources;
          Value row =
              kb.add(kb.mul(kb.add(kb.mul(element, plan.srcBlocks), srcBlock), plan.batch), first);
          panel.srcOffset = kb.mul(row, lanes);
          panel.pixelStride = lanes;
          panel.wei = wei;
          Value weights = kb.add(kb.mul(element, plan.dstBlocks), block);
          weights = kb.add(kb.mul(weights, plan.srcBlocks), srcBlock);
          panel.weiOffset = kb.mul(weights, lanes * lanes);
          panel.blockStride = blockSize;
          panel.high = pixels;
          if (fetched) {
            Value next = kb.add(kb.mul(kb.add(element, 1), plan.dstBlocks), block);
            Value step = kb.add(kb.mul(kb.div(first, plan.tile.pixels), shape.ic),
                                kb.mul(srcBlock, lanes));
            Value byte = kb.add(kb.mul(next, blockSize * 4), kb.mul(step, fetched));
            panel.prefetch = {kb.advance(kb.builder.getI8Type(), wei, byte), fetched};
          }
          return multiplyAdd(kb, tile, panel, channels, carried);
        };
        Values sums = zeroTile(kb, tile);
        if (full)
          sums = kb.loop(kb.i64(0), kb.i64(full), 1, sums, [&](Value srcBlock, ValueRange carried) {
            return at(srcBlock, lanes, carried);
          });
        // Lanes beyond the channels hold anything, so they are not multiplied at all.
        if (rest)
          sums = at(kb.i64(full), rest, sums);
        for (int64_t part = 0; part < blocks; ++part)
          for (int64_t pixel = 0; pixel < pixels; ++pixel) {
            Value row = kb.add(kb.mul(kb.add(kb.mul(element, blocks), part), plan.batch), first);
            kb.storeVector(f32, sums[part * pixels + pixel], products,
                           kb.add(kb.mul(row, lanes), pixel * lanes), /*aligned=*/true);
          }
      };
      // Tiles that a last batch lacks are computed from what is there, and never used.
      int64_t pixels = plan.tile.pixels, whole = plan.batch / pixels * pixels;
      if (whole)
        kb.loop(kb.i64(0), kb.i64(whole), pixels, [&](Value first) { rows(pixels, first); });
      if (whole < plan.batch)
        rows(plan.batch - whole, kb.i64(whole));
    });
  }

  void transformProducts(Value block, Value part, int64_t blocks, Value tile) {
    Value target = kb.mul(kb.add(kb.mul(part, plan.batch), tile), lanes);
    int64_t stride = blocks * plan.batch * lanes;
    SmallVector<Values> half; // by column, then row
    for (int64_t j = 0; j < plan.size; ++j) {
      Values elements;
      for (int64_t i = 0; i < plan.size; ++i)
        elements.push_back(kb.loadVector(f32, lanes, products,
                                         kb.add(target, (i * plan.size + j) * stride),
                                         /*aligned=*/true));
      half.push_back(fromProducts(elements));
    }
    Value number = kb.add(firstTile, tile);
    Value row = kb.mul(kb.div(number, plan.tilesWide), plan.outputs);
    Value column = kb.mul(kb.rem(number, plan.tilesWide), plan.outputs);
    for (int64_t i = 0; i < plan.outputs; ++i) {
      Values elements;
      for (int64_t j = 0; j < plan.size; ++j)
        elements.push_back(half[j][i]);
      Values results = fromProducts(elements);
      auto finish = [&](int64_t j) {
        epilogue.finish(results[j],
                        epilogue.blockedPosition(n, block, kb.add(row, i), kb.add(column, j)));
        return Values();
      };
      auto finishRow = [&] {
        for (int64_t j = 0; j < plan.outputs; ++j) {
          if (j == 0 || shape.w.out % plan.outputs == 0) {
            finish(j);
            continue;
          }
          Value isInside = compare(arith::CmpIPredicate::slt, kb.add(column, j), shape.w.out);
          kb.ifThenElse(
              isInside, {}, [&] { return finish(j); }, nullptr);
        }
        return Values();
      };
      if (i == 0 || shape.h.out % plan.outputs == 0) {
        finishRow();
        continue;
      }
      Value isInside = compare(arith::CmpIPredicate::slt, kb.add(row, i), shape.h.out);
      kb.ifThenElse(isInside, {}, finishRow, nullptr);
    }
  }

  Value compare(arith::CmpIPredicate predicate, Value value, int64_t limit) {
    return arith::CmpIOp::create(kb.builder, kb.loc, predicate, value, kb.i64(limit));
  }
  Value plus(Value a, Value b) { return arith::AddFOp::create(kb.builder, kb.loc, a, b); }
  Value minus(Value a, Value b) { return arith::SubFOp::create(kb.builder, kb.loc, a, b); }

  // Sum of coefficient * value over coefficients that are not 0; null if all are.
  Value weightedSum(ArrayRef<double> coefficients, ValueRange values) {
    Value sum;
    for (double wanted : {1.0, -1.0, 0.0}) // plain terms first, products onto them
      for (auto [coefficient, value] : llvm::zip_equal(coefficients, values)) {
        bool isPlain = coefficient == 1 || coefficient == -1;
        if (coefficient == 0 || (wanted == 0 ? isPlain : coefficient != wanted))
          continue;
        if (coefficient == 1)
          sum = sum ? plus(sum, value) : value;
        else if (coefficient == -1 && sum)
          sum = minus(sum, value);
        else if (sum)
          sum =
              vector::FMAOp::create(kb.builder, kb.loc, value, kb.constant(type, coefficient), sum);
        else
          sum = arith::MulFOp::create(kb.builder, kb.loc, value, kb.constant(type, coefficient));
      }
    return sum;
  }

  Values ofSource(ValueRange d) {
    const cnn::Winograd::Matrix &rows = winograd.ofSource;
    int64_t size = plan.size;
    Values result(size);
    result[0] = weightedSum(rows[0], d);
    result[size - 1] = weightedSum(rows[size - 1], d);
    for (int64_t i = 1; i + 2 < size; i += 2) {
      // The rows of a pair of points: even columns agree, odd ones differ in sign.
      std::vector<double> even(rows[i]), odd(rows[i]);
      for (int64_t j = 0; j < size; ++j)
        (j % 2 ? even : odd)[j] = 0;
      Value evenSum = weightedSum(even, d), oddSum = weightedSum(odd, d);
      result[i] = plus(evenSum, oddSum);
      result[i + 1] = minus(evenSum, oddSum);
    }
    return result;
  }

  Values fromProducts(ValueRange m) {
    int64_t size = plan.size;
    // Even powers of a pair of points agree, odd ones differ in sign.
    Values sums, differences;
    for (int64_t j = 1; j + 2 < size; j += 2) {
      sums.push_back(plus(m[j], m[j + 1]));
      differences.push_back(minus(m[j], m[j + 1]));
    }
    Values result;
    for (int64_t i = 0; i < plan.outputs; ++i) {
      const std::vector<double> &row = winograd.fromProducts[i];
      std::vector<double> coefficients{row[0], row[size - 1]};
      Values values{m[0], m[size - 1]};
      for (int64_t j = 1; j + 2 < size; j += 2)
        coefficients.push_back(row[j]);
      llvm::append_range(values, i % 2 ? differences : sums);
      result.push_back(weightedSum(coefficients, values));
    }
    return result;
  }

  KernelBuilder &kb;
  cnn::ConvOp conv;
  const Plan &plan;
  const WindowShape &shape;
  cnn::Winograd winograd;
  int64_t lanes;
  Type f32;
  VectorType type;
  Epilogue epilogue;
  Value src, wei, n, sources, products, firstTile, numTiles;
};

struct ConvWinograd : X86Strategy {
  explicit ConvWinograd(int64_t outputs)
      : outputs(outputs), ownName("winograd" + std::to_string(outputs)) {}
  StringRef name() const override { return ownName; }

  std::optional<double> cost(Operation *op, cnn::TargetAttr target) const override {
    if (target.getStrictFp())
      return std::nullopt;
    auto plan = makePlan(op, target, outputs);
    if (!plan || !isPackable(op->getOperand(1)))
      return std::nullopt;
    return std::max(plan->ns, moveNs(op));
  }

  std::string packedLayout(Operation *, unsigned index, cnn::TargetAttr target) const override {
    if (index != 1)
      return {};
    std::string lanes = std::to_string(target.getLanes());
    return "hwoi" + lanes + "i" + lanes + "o.f" + std::to_string(outputs);
  }

  std::vector<std::string> configs(Operation *op, cnn::TargetAttr target) const override {
    Judgements judgements;
    auto plan = makePlan(op, target, outputs, &judgements);
    llvm::sort(judgements);
    constexpr double mostTimes = 1.3;
    constexpr size_t mostConfigs = 4;
    std::vector<std::string> configs;
    for (auto [judged, batch] : judgements)
      if (plan && batch != plan->batch && judged <= mostTimes * judgements.front().first &&
          configs.size() < mostConfigs)
        configs.push_back(std::to_string(batch));
    return configs;
  }

  LogicalResult emit(plan::KernelOp kernel, KernelBuilder &kb) const override {
    auto conv = dyn_cast_or_null<cnn::ConvOp>(onlyOp(kernel));
    auto plan = conv ? makePlan(conv, kb.target, outputs) : std::nullopt;
    if (!plan)
      return kernel.emitError() << "is no convolution that strategy '" << name() << "' computes";
    Emitter(kb, conv, *plan).run();
    return success();
  }

  int64_t outputs;
  std::string ownName;
};

} // namespace

const X86Strategy &convoy::convWinograd4() {
  static const ConvWinograd strategy(4);
  return strategy;
}

const X86Strategy &convoy::convWinograd2() {
  static const ConvWinograd strategy(2);
  return strategy;
}
