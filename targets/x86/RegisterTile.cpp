// The multiply-add kernel that convolutions and matrix products share.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/x86/RegisterTile.h"

using namespace mlir;
using namespace convoy;

using Values = KernelBuilder::Values;

bool convoy::fitsRegisters(RegisterTile tile, int64_t registers) {
  // With one pixel or one block, the other factor is a memory operand of the multiply-add.
  if (tile.pixels == 1 || tile.blocks == 1)
    return tile.pixels * tile.blocks + 2 <= registers;
  return tile.pixels * tile.blocks + tile.blocks + 1 <= registers;
}

double convoy::tileCycles(RegisterTile tile, double steps) {
  // Two multiply-adds and two loads a cycle; a multiply-add takes four. Weights come from the
  // second cache, so that each vector of them costs a little more than a load.
  double multiplyAdds = tile.pixels * tile.blocks;
  double loads = tile.pixels + 1.4 * tile.blocks;
  double step = std::max({multiplyAdds / 2, loads / 2, 4.0});
  return step * steps + 1.5 * multiplyAdds + 20;
}

// As many blocks as hide the latency of multiply-adds for a single pixel.
static constexpr int64_t kMaxBlocks = 8;

TileChoice convoy::chooseTile(int64_t extent, int64_t blocks, double steps, int64_t registers) {
  TileChoice best{{1, 1}, std::numeric_limits<double>::infinity()};
  for (int64_t tileBlocks = 1; tileBlocks <= std::min(blocks, kMaxBlocks); ++tileBlocks) {
    for (int64_t pixels = 1; pixels <= std::min(extent, registers); ++pixels) {
      if (!fitsRegisters({pixels, tileBlocks}, registers))
        break;
      double cycles = 0;
      for (auto [width, widths] :
           {std::pair(tileBlocks, blocks / tileBlocks), std::pair(blocks % tileBlocks, int64_t(1))})
        for (auto [height, heights] :
             {std::pair(pixels, extent / pixels), std::pair(extent % pixels, int64_t(1))})
          if (width && height)
            cycles += widths * heights * tileCycles({height, width}, steps);
      if (cycles < best.cycles)
        best = {{pixels, tileBlocks}, cycles};
    }
  }
  return best;
}

static constexpr int64_t kLineBytes = 64;

int64_t Prefetch::share(int64_t bytes, int64_t tiles, int64_t steps) {
  int64_t share = llvm::divideCeil(bytes, tiles * steps);
  return share < 4 ? 0 : share;
}

Values convoy::zeroTile(KernelBuilder &kb, RegisterTile tile) {
  auto type = VectorType::get(kb.lanes(), kb.builder.getF32Type());
  return Values(tile.pixels * tile.blocks, kb.constant(type, 0));
}

Values convoy::multiplyAdd(KernelBuilder &kb, RegisterTile tile, const Panel &panel, int64_t steps,
                           ValueRange accumulators) {
  Type f32 = kb.builder.getF32Type();
  int64_t lanes = kb.lanes();
  Value src = kb.advance(f32, panel.src, panel.srcOffset);
  Value wei = kb.advance(f32, panel.wei, panel.weiOffset);

  int64_t weiStep = panel.weiStep ? panel.weiStep : lanes;

  // `unrolled` steps from step `at` on.
  auto body = [&](Value at, int64_t unrolled, ValueRange carried) {
    Values sums(carried);
    if (panel.prefetch.pointer) {
      Value byte = kb.mul(at, panel.prefetch.bytesPerStep);
      for (int64_t line = 0; line < unrolled * panel.prefetch.bytesPerStep; line += kLineBytes)
        kb.prefetch(kb.advance(kb.builder.getI8Type(), panel.prefetch.pointer, kb.add(byte, line)));
    }
    Value srcAt = kb.mul(at, panel.srcStep), weiAt = kb.mul(at, weiStep);
    for (int64_t u = 0; u < unrolled; ++u) {
      Values weights;
      for (int64_t block = 0; block < tile.blocks; ++block)
        weights.push_back(kb.loadVector(
            f32, lanes, wei, kb.add(weiAt, block * panel.blockStride + u * weiStep),
            /*aligned=*/panel.weiStep == 0, block + 1 == tile.blocks ? panel.lastMask : Value()));
      for (int64_t pixel = panel.low; pixel < panel.high; ++pixel) {
        Value element = kb.load(
            f32, src, kb.add(srcAt, (pixel - panel.low) * panel.pixelStride + u * panel.srcStep));
        Value factor = kb.splat(element, lanes);
        for (int64_t block = 0; block < tile.blocks; ++block) {
          Value &sum = sums[block * tile.pixels + pixel];
          sum = vector::FMAOp::create(kb.builder, kb.loc, factor, weights[block], sum);
        }
      }
    }
    return sums;
  };

  // Two steps an iteration hide the loop; longer bodies only invite spills. Small tiles need more
  // to outweigh it.
  int64_t unroll = tile.pixels * tile.blocks <= 8 ? 4 : 2;
  Values sums(accumulators);
  int64_t looped = steps / unroll * unroll;
  if (looped == unroll)
    sums = body(kb.i64(0), unroll, sums);
  else if (looped > 0)
    sums = kb.loop(kb.i64(0), kb.i64(looped), unroll, sums,
                   [&](Value at, ValueRange carried) { return body(at, unroll, carried); });
  if (steps > looped)
    sums = body(kb.i64(looped), steps - looped, sums);
  return sums;
}
