// Window ops that treat every channel alike on blocked layouts.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/x86/RowSweep.h"

#include <map>

using namespace mlir;
using namespace convoy;

// Cycles of a row in tiles of `pixels` outputs.
static double rowCycles(const Axis &axis, int64_t pixels, int64_t kernelRows, double weight) {
  double cycles = 0;
  for (auto [size, count] :
       {std::pair(pixels, axis.out / pixels), std::pair(axis.out % pixels, int64_t(1))}) {
    if (size == 0)
      continue;
    // Columns between the windows of neighbours are not loaded.
    double columns = std::min<double>((size - 1) * axis.stride + axis.kernel, size * axis.kernel);
    double uses = size * axis.kernel * weight;
    // One after another into the same accumulator: four cycles each.
    double chain = 4.0 * axis.kernel * weight / (kernelRows > 1 ? 2 : 1);
    double row = std::max({columns / 2, uses / 2, chain * 0.5}) + 2;
    cycles += count * (row * kernelRows + 1.5 * size + 12);
  }
  return cycles;
}

SweepChoice convoy::chooseSweep(const Axis &axis, int64_t room, int64_t kernelRows, double weight) {
  SweepChoice best{1, std::numeric_limits<double>::infinity()};
  for (int64_t pixels = 1; pixels <= std::min(axis.out, room); ++pixels)
    if (double cycles = rowCycles(axis, pixels, kernelRows, weight); cycles < best.cycles)
      best = {pixels, cycles};
  return best;
}

std::optional<SweepChoice> convoy::chooseSweep(StringRef config, const Axis &axis, int64_t room,
                                               int64_t kernelRows, double weight) {
  if (config.empty())
    return chooseSweep(axis, room, kernelRows, weight);
  int64_t pixels;
  if (config.getAsInteger(10, pixels) || pixels < 1 || pixels > std::min(axis.out, room))
    return std::nullopt;
  return SweepChoice{pixels, rowCycles(axis, pixels, kernelRows, weight)};
}

std::vector<std::string> convoy::otherSweeps(const Axis &axis, int64_t room, int64_t kernelRows,
                                             double weight) {
  constexpr double mostTimes = 1.35;
  constexpr size_t mostConfigs = 4;
  SweepChoice best = chooseSweep(axis, room, kernelRows, weight);
  std::vector<std::pair<double, int64_t>> others;
  for (int64_t pixels = 1; pixels <= std::min(axis.out, room); ++pixels)
    if (double cycles = rowCycles(axis, pixels, kernelRows, weight);
        pixels != best.pixels && cycles <= mostTimes * best.cycles)
      others.push_back({cycles, pixels});
  llvm::sort(others);
  std::vector<std::string> configs;
  for (auto [cycles, pixels] : others)
    if (configs.size() < mostConfigs)
      configs.push_back(std::to_string(pixels));
  return configs;
}

RowSweep::RowSweep(KernelBuilder &kb, const WindowShape &shape, int64_t pixels)
    : kb(kb), shape(shape), segments(cutRow(shape.w, pixels)) {}

void RowSweep::run(int64_t blocks, double ns, function_ref<void(const Place &)> row) {
  // Bands of rows, as convolutions before and after have: what a thread reads it has mostly written
  // itself. Low images, whose bands would overlap much, are cut by channels alone.
  constexpr int64_t lowestBand = 7, mostBands = 8;
  int64_t rows = shape.h.out;
  int64_t bands = std::clamp<int64_t>(rows / lowestBand, 1, mostBands);
  int64_t perBand = llvm::divideCeil(rows, bands);
  bands = llvm::divideCeil(rows, perBand);
  int64_t groups = piecesFor(ns / (shape.n * bands), tileNs(ns), blocks);
  int64_t perGroup = llvm::divideCeil(blocks, groups);
  groups = llvm::divideCeil(blocks, perGroup);

  kb.forTiles(shape.n * bands * groups, [&](Value image, Value number) {
    KernelBuilder::Values index = kb.delinearize(number, {shape.n, bands, groups});
    auto over = [&](Value at, int64_t per, int64_t extent, function_ref<void(Value)> body) {
      if (per == 1) {
        body(at);
        return;
      }
      Value begin = kb.mul(at, per);
      kb.loop(begin, kb.min(kb.add(begin, per), kb.i64(extent)), 1, body);
    };
    over(index[2], perGroup, blocks, [&](Value block) {
      over(index[1], perBand, rows, [&](Value oh) { row({image, index[0], block, oh}); });
    });
  });
}

void RowSweep::overRow(function_ref<void(const Segment &, Value)> tile) {
  for (const Segment &segment : segments) {
    if (segment.count == 1) {
      tile(segment, kb.i64(segment.start));
      continue;
    }
    kb.loop(kb.i64(0), kb.i64(segment.count), 1, [&](Value number) {
      tile(segment, kb.add(kb.mul(number, segment.size), segment.start));
    });
  }
}

void RowSweep::overColumns(const Segment &segment,
                           function_ref<void(int64_t, ArrayRef<Use>)> column) {
  std::map<int64_t, SmallVector<Use>> uses;
  for (auto [kw, reached] : llvm::enumerate(segment.reached))
    for (int64_t pixel = reached.first; pixel < reached.second; ++pixel)
      uses[pixel * shape.w.stride + static_cast<int64_t>(kw) * shape.w.dilation].push_back(
          {pixel, static_cast<int64_t>(kw)});
  for (auto &[position, users] : uses)
    column(position, users);
}

Value RowSweep::srcOffset(Value plane, Value oh, Value kh, Value ow, int64_t column) {
  Value ih = kb.add(kb.add(kb.mul(oh, shape.h.stride), kb.mul(kh, shape.h.dilation)), -shape.h.pad);
  Value row = kb.mul(kb.add(kb.mul(plane, shape.h.in), ih), shape.w.in);
  Value iw = kb.add(kb.mul(ow, shape.w.stride), column - shape.w.pad);
  return kb.mul(kb.add(row, iw), kb.lanes());
}
