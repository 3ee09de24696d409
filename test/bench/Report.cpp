// What layer-bench says of its measurements.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/bench/Report.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <cmath>

using namespace convoy::test;
using namespace llvm;

// What kernels are asked for: shares of the FMA peak, counted in operations of the direct algorithm.
static constexpr double kLeastShare = 0.85, kLargeFlops = 50e6, kLeastWinograd = 2.0;
// A choice that costs more than this is listed, and a peer that is faster by more than what one
// measurement differs from the next.
static constexpr double kMostLoss = 1.10, kLeastPeer = 0.98;

const StrategyTime *LayerTimes::best(ArrayRef<StringRef> prefixes) const {
  const StrategyTime *found = nullptr;
  for (const StrategyTime &time : strategies)
    if (any_of(prefixes, [&](StringRef p) { return StringRef(time.strategy).starts_with(p); }) &&
        (!found || time.seconds < found->seconds))
      found = &time;
  return found;
}

const StrategyTime *LayerTimes::chosen() const {
  auto found = find_if(strategies, [](const StrategyTime &time) { return time.isChosen; });
  return found == strategies.end() ? nullptr : &*found;
}

static void printRates(const MachineRates &rates, int64_t lanes, raw_ostream &stream) {
  stream << formatv("One core: {0:F1} GFLOP/s by FMAs of {1} lanes of f32; reads {2:F1} GB/s from "
                    "its second cache, {3:F1} GB/s from memory\n",
                    rates.gflops, lanes, rates.l2Gbs, rates.memoryGbs);
}

void Report::printStart(raw_ostream &stream) const {
  stream << target << ", one thread, weights " << (cold ? "beyond" : "within")
         << " the second cache, "
         << (oneDnnVersion.empty() ? "without oneDNN" : "oneDNN " + oneDnnVersion) << "\n";
  printRates(atStart, lanes, stream);
}

void Report::printLayer(const LayerTimes &layer, raw_ostream &stream) const {
  auto common = [&](StringRef name, double seconds) {
    double gflops = layer.flops / seconds * 1e-9;
    stream << formatv("{0,-40} {1,-18} {2,10:F1} us {3,7:F1} GFLOP/s {4,6:F1} % of peak {5,6:F1} "
                      "GB/s",
                      layer.layer.name, name, seconds * 1e6, gflops,
                      100 * gflops / atStart.gflops, layer.bytes / seconds * 1e-9);
  };
  for (const StrategyTime &time : layer.strategies) {
    common(time.strategy + (time.isChosen ? " *" : ""), time.seconds);
    stream << formatv("  est {0,9:F1} us {1,5} tiles {2,5:F0} ms compile {3,6} B code\n",
                      time.estimatedSeconds * 1e6, time.tiles, time.compileSeconds * 1e3,
                      time.codeBytes);
  }
  if (layer.oneDnnSeconds > 0) {
    common("oneDNN", layer.oneDnnSeconds);
    if (const StrategyTime *best = layer.best())
      stream << formatv("  {0:F2} times {1}", layer.oneDnnSeconds / best->seconds, best->strategy);
    stream << "\n";
  }
}

namespace {

/// Layers under a demand: how many meet it, and the others by how far they are from it.
class Demand {
public:
  Demand(std::string what, double least) : what(std::move(what)), least(least) {}

  void add(double value, const LayerTimes &layer, StringRef who) {
    ++count;
    product += std::log(value);
    if (value < least)
      others.push_back({value, (who + std::string(who.size() < 20 ? 20 - who.size() : 1, ' ') +
                                layer.layer.name)
                                   .str()});
  }
  void print(raw_ostream &stream) {
    if (!count)
      return;
    sort(others);
    stream << formatv("{0}: {1} of {2} layers, geometric mean {3:F2}\n", what,
                      count - others.size(), count, std::exp(product / double(count)));
    for (auto &[value, line] : others)
      stream << formatv("  {0,6:F2}  {1}\n", value, line);
  }

private:
  std::string what;
  double least, product = 0;
  size_t count = 0;
  std::vector<std::pair<double, std::string>> others;
};

} // namespace

// The layers of which Winograd is asked to be far beyond the peak of direct convolution.
static bool isForWinograd(const Layer &layer) {
  if (!layer.conv)
    return false;
  const ConvShape &s = *layer.conv;
  auto between = [](int64_t channels) { return channels >= 64 && channels <= 256; };
  return s.kh == 3 && s.kw == 3 && s.stride == 1 && s.dilation == 1 && s.groups == 1 &&
         between(s.ic) && between(s.oc) && s.h >= 28 && s.w >= 28;
}

void Report::printSummary(raw_ostream &stream) const {
  printRates(atEnd, lanes, stream);
  double drift = atEnd.gflops / atStart.gflops - 1;
  if (std::abs(drift) > 0.03)
    stream << formatv("The peak has moved by {0:F1} % meanwhile: shares are that much in doubt\n",
                      100 * drift);
  stream << formatv("\nShares of {0:F1} GFLOP/s; what misses a demand is listed, worst first\n",
                    peak());
  Demand direct("pointwise or direct, over 50 MFLOP, at 0.85 of the peak", kLeastShare);
  Demand winograd("Winograd, 64 to 256 channels, 28x28 or more, at 2.0 times the peak",
                  kLeastWinograd);
  Demand peer("oneDNN takes at least 0.98 of the best strategy's time", kLeastPeer);
  Demand choice("the best strategy takes at least 0.91 of the chosen one's time", 1 / kMostLoss);
  for (const LayerTimes &layer : layers) {
    auto share = [&](const StrategyTime &time) {
      return layer.flops / time.seconds * 1e-9 / peak();
    };
    if (const StrategyTime *time = layer.best({"pointwise", "direct"});
        time && layer.flops > kLargeFlops)
      direct.add(share(*time), layer, time->strategy);
    if (const StrategyTime *time = layer.best({"winograd"}); time && isForWinograd(layer.layer))
      winograd.add(share(*time), layer, time->strategy);
    const StrategyTime *best = layer.best(), *chosen = layer.chosen();
    if (best && layer.oneDnnSeconds > 0)
      peer.add(layer.oneDnnSeconds / best->seconds, layer, best->strategy);
    if (chosen)
      choice.add(best->seconds / chosen->seconds, layer, chosen->strategy);
  }
  for (Demand *demand : {&direct, &winograd, &peer, &choice})
    demand->print(stream);
}

void Report::writeJson(raw_ostream &stream) const {
  json::OStream json(stream, 2);
  auto rates = [&](StringRef name, const MachineRates &measured) {
    json.attributeObject(name, [&] {
      json.attribute("gflops", measured.gflops);
      json.attribute("l2_gbs", measured.l2Gbs);
      json.attribute("memory_gbs", measured.memoryGbs);
    });
  };
  json.object([&] {
    json.attribute("target", target);
    json.attribute("lanes", lanes);
    json.attribute("cold", cold);
    json.attribute("onednn", oneDnnVersion.empty() ? json::Value(nullptr) : oneDnnVersion);
    rates("at_start", atStart);
    rates("at_end", atEnd);
    json.attributeArray("layers", [&] {
      for (const LayerTimes &layer : layers)
        json.object([&] {
          json.attribute("name", layer.layer.name);
          json.attribute("flops", layer.flops);
          json.attribute("bytes", layer.bytes);
          json.attributeArray("strategies", [&] {
            for (const StrategyTime &time : layer.strategies)
              json.object([&] {
                double gflops = layer.flops / time.seconds * 1e-9;
                json.attribute("name", time.strategy);
                json.attribute("us", time.seconds * 1e6);
                json.attribute("estimated_us", time.estimatedSeconds * 1e6);
                json.attribute("gflops", gflops);
                json.attribute("share_of_peak", gflops / peak());
                json.attribute("gbs", layer.bytes / time.seconds * 1e-9);
                json.attribute("chosen", time.isChosen);
              });
          });
          if (layer.oneDnnSeconds > 0)
            json.attribute("onednn_us", layer.oneDnnSeconds * 1e6);
        });
    });
  });
  stream << "\n";
}
