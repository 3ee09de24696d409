// A target's kernel table with what was measured.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "compiler/tune/Results.h"

#include <functional>

namespace convoy::tune {

class TunedTable final : public KernelTable {
public:
  /// Results are asked in order, the first that has an op answers.
  TunedTable(const KernelTable &base, std::vector<const Results *> results)
      : base(base), results(std::move(results)) {}

  llvm::ArrayRef<const Strategy *> strategies() const override { return base.strategies(); }
  llvm::ArrayRef<Measurement> measurements(mlir::Operation *op,
                                           cnn::TargetAttr target) const override;

  /// Gets every op of which a kernel is asked for, with its signature.
  std::function<void(mlir::Operation *, llvm::StringRef)> onAsked;

private:
  const KernelTable &base;
  std::vector<const Results *> results;
};

} // namespace convoy::tune
