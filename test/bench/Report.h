// What layer-bench says of its measurements.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "test/bench/Layer.h"
#include "test/bench/Machine.h"

#include "llvm/Support/raw_ostream.h"

namespace convoy::test {

/// A strategy on a layer.
struct StrategyTime {
  std::string strategy;
  double seconds = 0, estimatedSeconds = 0;
  int64_t tiles = 0;
  double compileSeconds = 0;
  size_t codeBytes = 0;
  bool isChosen = false; ///< what the compiler takes by its estimates
};

struct LayerTimes {
  Layer layer;
  double flops = 0, bytes = 0; ///< of the direct algorithm; of each operand once
  std::vector<StrategyTime> strategies;
  double oneDnnSeconds = 0; ///< 0 if there is none

  /// The fastest strategy of those whose name begins with one of `prefixes`, or null.
  const StrategyTime *best(llvm::ArrayRef<llvm::StringRef> prefixes = {""}) const;
  const StrategyTime *chosen() const;
};

struct Report {
  std::string target;
  int64_t lanes = 0;
  bool cold = false;
  std::string oneDnnVersion; ///< empty if there is none
  MachineRates atStart, atEnd;
  std::vector<LayerTimes> layers;

  /// The larger of both measurements.
  double peak() const { return std::max(atStart.gflops, atEnd.gflops); }

  void printStart(llvm::raw_ostream &stream) const;
  /// A line for each strategy and oneDNN; shares are those of the peak at the start.
  void printLayer(const LayerTimes &layer, llvm::raw_ostream &stream) const;
  void printSummary(llvm::raw_ostream &stream) const;
  void writeJson(llvm::raw_ostream &stream) const;
};

} // namespace convoy::test
