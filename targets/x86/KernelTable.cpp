// The strategies of the x86 targets, in order. A new strategy is one row here.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/x86/KernelTable.h"

#include "passes/Work.h"
#include "targets/reference/LowerToLoops.h"
#include "targets/x86/Strategies.h"

using namespace convoy;

namespace {

/// The loops that compute every op.
struct ReferenceStrategy final : X86Strategy {
  llvm::StringRef name() const override { return "reference"; }
  // Scalar code: about an operation and a byte each nanosecond, index arithmetic included.
  std::optional<double> cost(mlir::Operation *op, cnn::TargetAttr) const override {
    return 1000.0 + countFlops(op) + 2.0 * countBytes(op);
  }
  mlir::LogicalResult emit(plan::KernelOp kernel, KernelBuilder &kb) const override {
    return lowerToLoops(kernel, kb);
  }
};

struct Table final : KernelTable {
  explicit Table(std::vector<const Strategy *> rows) : rows(std::move(rows)) {}
  llvm::ArrayRef<const Strategy *> strategies() const override { return rows; }
  std::vector<const Strategy *> rows;
};

const ReferenceStrategy &reference() {
  static const ReferenceStrategy strategy;
  return strategy;
}

} // namespace

const KernelTable &convoy::x86KernelTable() {
  static const Table table({
      &convWinograd4(),
      &convWinograd2(),
      &convWinograd2Stride2(),
      &convPointwise(),
      &convDepthwise(),
      &convGrouped(),
      &convDirect(),
      &convFirstLayer(),
      &convTranspose(),
      &convPlanar(),
      &vectorPool(),
      &packedMatmul(),
      &rowMatmul(),
      &vectorMap(),
      &vectorReduce(),
      &vectorSoftmax(),
      &vectorLrn(),
      &vectorResize(),
      &stridedCopy(),
      &runGather(),
      &heapTopK(),
      &vectorSuppress(),
      &reference(),
  });
  return table;
}

const KernelTable &convoy::x86OneDnnTable() {
  static const Table table([] {
    std::vector<const Strategy *> rows{&convOneDnn()};
    llvm::append_range(rows, x86KernelTable().strategies());
    return rows;
  }());
  return table;
}

const KernelTable &convoy::x86ReferenceTable() {
  static const Table table({&reference()});
  return table;
}
