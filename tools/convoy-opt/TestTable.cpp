// A small kernel table with fixed costs, so tests of passes do not depend on a target's cost model.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/convoy-opt/TestTable.h"

#include "passes/Work.h"

using namespace mlir;
using namespace convoy;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static bool isBlocked(Value value, cnn::TargetAttr target) {
  return cnn::getLayoutTag(typeOf(value)) == "nchw" + std::to_string(target.getLanes()) + "c";
}

namespace {

// Convolution in blocks of channels, with weights packed to oihw<L>i<L>o.
struct BlockedConv : Strategy {
  StringRef name() const override { return "test-blocked-conv"; }
  std::optional<double> cost(Operation *op, cnn::TargetAttr target) const override {
    auto conv = dyn_cast<cnn::ConvOp>(op);
    if (!conv || conv.getGroups() != 1 || !isBlocked(conv.getSrc(), target) ||
        !isBlocked(conv.getDst(), target))
      return std::nullopt;
    return 0.01 * countFlops(op);
  }
  std::string packedLayout(Operation *, unsigned index, cnn::TargetAttr target) const override {
    std::string lanes = std::to_string(target.getLanes());
    return index == 1 ? "oihw" + lanes + "i" + lanes + "o" : "";
  }
};

// The first convolution: reads row-major, writes blocks.
struct FirstConv : Strategy {
  StringRef name() const override { return "test-first-conv"; }
  std::optional<double> cost(Operation *op, cnn::TargetAttr target) const override {
    auto conv = dyn_cast<cnn::ConvOp>(op);
    if (!conv || conv.getGroups() != 1 || typeOf(conv.getSrc()).getDimSize(1) > 4 ||
        isBlocked(conv.getSrc(), target) || !isBlocked(conv.getDst(), target))
      return std::nullopt;
    return 0.01 * countFlops(op);
  }
};

// Pools and maps in blocks, and changes of layout, cost by the byte.
struct Blocks : Strategy {
  StringRef name() const override { return "test-blocks"; }
  std::optional<double> cost(Operation *op, cnn::TargetAttr target) const override {
    if (isa<cnn::RelayoutOp>(op))
      return 0.15 * countBytes(op);
    if (!isa<cnn::PoolOp, cnn::MapOp>(op) || !isBlocked(op->getResult(0), target))
      return std::nullopt;
    return 0.1 * countBytes(op);
  }
};

// Everything but gather, so that an op without a strategy exists.
struct Loops : Strategy {
  StringRef name() const override { return "test-loops"; }
  std::optional<double> cost(Operation *op, cnn::TargetAttr) const override {
    if (isa<cnn::GatherOp>(op))
      return std::nullopt;
    return 1.0 * countFlops(op) + 0.2 * countBytes(op);
  }
};

struct TestTable : KernelTable {
  ArrayRef<const Strategy *> strategies() const override { return list; }
  BlockedConv blockedConv;
  FirstConv firstConv;
  Blocks blocks;
  Loops loops;
  const Strategy *list[4] = {&blockedConv, &firstConv, &blocks, &loops};
};

} // namespace

const KernelTable &convoy::getTestTable() {
  static const TestTable table;
  return table;
}
