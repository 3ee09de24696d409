// Selection from a kernel table.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/KernelTable.h"

using namespace convoy;

llvm::StringRef convoy::getConfig(mlir::Operation *op) {
  auto config = op->getAttrOfType<mlir::StringAttr>(kConfigAttrName);
  return config ? config.getValue() : llvm::StringRef();
}

std::optional<double> Strategy::costAs(mlir::Operation *op, llvm::StringRef config,
                                       cnn::TargetAttr target) const {
  mlir::Attribute before = op->getAttr(kConfigAttrName);
  auto set = [&](mlir::Attribute value) {
    if (value)
      op->setAttr(kConfigAttrName, value);
    else
      op->removeAttr(kConfigAttrName);
  };
  set(config.empty() ? mlir::Attribute() : mlir::StringAttr::get(op->getContext(), config));
  std::optional<double> result = cost(op, target);
  set(before);
  return result;
}

KernelChoice KernelTable::choose(mlir::Operation *op, cnn::TargetAttr target) const {
  KernelChoice choice;
  llvm::SmallVector<std::pair<const Strategy *, double>> estimates;
  for (const Strategy *strategy : strategies()) {
    std::optional<double> cost = strategy->cost(op, target);
    if (!cost)
      continue;
    estimates.push_back({strategy, *cost});
    if (!choice.estimated || *cost < choice.estimatedNs) {
      choice.estimated = strategy;
      choice.estimatedNs = *cost;
    }
  }
  choice.strategy = choice.estimated;
  choice.ns = choice.estimateNs = choice.estimatedNs;
  if (estimates.size() == 0)
    return choice;

  // How much longer than estimated the most promising of the measured ones takes.
  double correction = 1, leastEstimate = std::numeric_limits<double>::infinity();
  llvm::SmallVector<const Strategy *> measuredPlainly;
  bool isFirst = true;
  auto consider = [&](const Strategy *strategy, llvm::StringRef config, double estimate, double ns,
                      bool measured) {
    if (!isFirst && ns >= choice.ns)
      return;
    isFirst = false;
    choice.strategy = strategy;
    choice.config = config.str();
    choice.ns = ns;
    choice.estimateNs = estimate;
    choice.isMeasured = measured;
  };
  for (const Measurement &measured : measurements(op, target)) {
    const Strategy *strategy = find(measured.strategy);
    if (!strategy) {
      if (!llvm::is_contained(choice.unknown, measured.strategy))
        choice.unknown.push_back(measured.strategy);
      continue;
    }
    // A strategy that has changed since may no longer compute this.
    std::optional<double> estimate = strategy->costAs(op, measured.config, target);
    if (!estimate)
      continue;
    if (measured.config.empty()) {
      measuredPlainly.push_back(strategy);
      if (strategy == choice.estimated)
        choice.estimatedTook = measured.ns;
    }
    if (*estimate < leastEstimate && *estimate > 0) {
      leastEstimate = *estimate;
      correction = measured.ns / *estimate;
    }
    consider(strategy, measured.config, *estimate, measured.ns, true);
  }
  if (isFirst)
    return choice;
  for (auto [strategy, estimate] : estimates)
    if (!llvm::is_contained(measuredPlainly, strategy))
      consider(strategy, "", estimate, estimate * correction, false);
  return choice;
}

const Strategy *KernelTable::find(llvm::StringRef name) const {
  for (const Strategy *strategy : strategies())
    if (strategy->name() == name)
      return strategy;
  return nullptr;
}
