// A small kernel table with fixed costs, so tests of passes do not depend on a target's cost model.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/convoy-opt/TestTable.h"

using namespace mlir;
using namespace convoy;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

namespace {

// Convolution in blocks of channels, with weights packed to oihw<L>i<L>o.
struct BlockedConv : Strategy {
  StringRef name() const override { return "test-blocked-conv"; }
  std::optional<double> cost(Operation *op, cnn::TargetAttr target) const override {
    auto conv = dyn_cast<cnn::ConvOp>(op);
    std::string tag = "nchw" + std::to_string(target.getLanes()) + "c";
    if (!conv || conv.getGroups() != 1 || cnn::getLayoutTag(typeOf(conv.getSrc())) != tag ||
        cnn::getLayoutTag(typeOf(conv.getDst())) != tag)
      return std::nullopt;
    return 1000;
  }
  std::string packedLayout(Operation *, unsigned index, cnn::TargetAttr target) const override {
    std::string lanes = std::to_string(target.getLanes());
    return index == 1 ? "oihw" + lanes + "i" + lanes + "o" : "";
  }
};

// Everything but gather, so that an op without a strategy exists.
struct Loops : Strategy {
  StringRef name() const override { return "test-loops"; }
  std::optional<double> cost(Operation *op, cnn::TargetAttr) const override {
    if (isa<cnn::GatherOp>(op))
      return std::nullopt;
    return 1e6;
  }
};

struct TestTable : KernelTable {
  ArrayRef<const Strategy *> strategies() const override { return list; }
  BlockedConv blockedConv;
  Loops loops;
  const Strategy *list[2] = {&blockedConv, &loops};
};

} // namespace

const KernelTable &convoy::getTestTable() {
  static const TestTable table;
  return table;
}
