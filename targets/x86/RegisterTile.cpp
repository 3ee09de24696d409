// The multiply-add kernel that convolutions and matrix products share.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/x86/RegisterTile.h"

#include <limits>
#include <tuple>

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

// Cycles of a whole row in tiles of that size, the last ones smaller.
static double rowCycles(RegisterTile tile, int64_t extent, int64_t blocks, double steps) {
  double cycles = 0;
  for (auto [width, widths] : {std::pair(tile.blocks, blocks / tile.blocks),
                               std::pair(blocks % tile.blocks, int64_t(1))})
    for (auto [height, heights] : {std::pair(tile.pixels, extent / tile.pixels),
                                   std::pair(extent % tile.pixels, int64_t(1))})
      if (width && height)
        cycles += widths * heights * tileCycles({height, width}, steps);
  return cycles;
}

// All tiles that fit, in an order that does not depend on their cycles.
static std::vector<TileChoice> allTiles(int64_t extent, int64_t blocks, double steps,
                                        int64_t registers) {
  std::vector<TileChoice> choices;
  for (int64_t tileBlocks = 1; tileBlocks <= std::min(blocks, kMaxBlocks); ++tileBlocks)
    for (int64_t pixels = 1; pixels <= std::min(extent, registers); ++pixels) {
      RegisterTile tile{pixels, tileBlocks};
      if (!fitsRegisters(tile, registers))
        break;
      choices.push_back({tile, rowCycles(tile, extent, blocks, steps)});
    }
  return choices;
}

static bool isCheaper(const TileChoice &a, const TileChoice &b) { return a.cycles < b.cycles; }

TileChoice convoy::chooseTile(int64_t extent, int64_t blocks, double steps, int64_t registers) {
  std::vector<TileChoice> all = allTiles(extent, blocks, steps, registers);
  if (all.empty())
    return {{1, 1}, std::numeric_limits<double>::infinity()};
  return *llvm::min_element(all, isCheaper);
}

std::optional<TileChoice> convoy::chooseTile(StringRef config, int64_t extent, int64_t blocks,
                                             double steps, int64_t registers) {
  if (config.empty())
    return chooseTile(extent, blocks, steps, registers);
  RegisterTile tile{};
  auto [pixels, tileBlocks] = config.split('x');
  if (pixels.getAsInteger(10, tile.pixels) || tileBlocks.getAsInteger(10, tile.blocks) ||
      tile.pixels < 1 || tile.pixels > std::min(extent, registers) || tile.blocks < 1 ||
      tile.blocks > std::min(blocks, kMaxBlocks) || !fitsRegisters(tile, registers))
    return std::nullopt;
  return TileChoice{tile, rowCycles(tile, extent, blocks, steps)};
}

std::vector<std::string> convoy::otherTiles(int64_t extent, int64_t blocks, double steps,
                                            int64_t registers) {
  // Estimates of tiles differ by less than they are off.
  constexpr double mostTimes = 1.35;
  constexpr size_t mostTiles = 5;
  std::vector<TileChoice> all = allTiles(extent, blocks, steps, registers);
  llvm::sort(all, [](const TileChoice &a, const TileChoice &b) {
    return std::tuple(a.cycles, a.tile.blocks, a.tile.pixels) <
           std::tuple(b.cycles, b.tile.blocks, b.tile.pixels);
  });
  std::vector<std::string> configs;
  RegisterTile preferred = chooseTile(extent, blocks, steps, registers).tile;
  for (const TileChoice &choice : all) {
    const RegisterTile &tile = choice.tile;
    if (choice.cycles > mostTimes * all.front().cycles || configs.size() == mostTiles)
      break;
    if (tile.pixels != preferred.pixels || tile.blocks != preferred.blocks)
      configs.push_back(std::to_string(tile.pixels) + "x" + std::to_string(tile.blocks));
  }
  return configs;
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
