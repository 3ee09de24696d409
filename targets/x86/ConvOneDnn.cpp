// Convolutions by oneDNN: what it can compute, and for about how much time. The runtime makes the
// primitives (runtime/src/onednn.h).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/x86/ConvOneDnn.h"

#include "passes/Work.h"
#include "targets/x86/Strategies.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace convoy;

namespace {

/// Reads an epilogue from its result back to the accumulator.
class EpilogueReader {
public:
  EpilogueReader(cnn::ConvOp conv, OneDnnConv &result)
      : conv(conv), body(conv.getEpilogue().front()), result(result) {}

  /// False if it is another function than relu(acc + bias + residual).
  bool read() {
    Value value = body.getTerminator()->getOperand(0);
    unsigned ops = 0;
    if (auto max = value.getDefiningOp<arith::MaximumFOp>()) {
      bool isRelu = matchPattern(max.getRhs(), m_PosZeroFloat());
      if (!isRelu && !matchPattern(max.getLhs(), m_PosZeroFloat()))
        return false;
      value = isRelu ? max.getLhs() : max.getRhs();
      result.relu = true;
    }
    // The sums in oneDNN's order: the bias first, so from here it is the last.
    while (auto add = value.getDefiningOp<arith::AddFOp>()) {
      bool isRight = isa<BlockArgument>(add.getRhs()) && add.getRhs() != body.getArgument(0);
      Value extra = isRight ? add.getRhs() : add.getLhs();
      value = isRight ? add.getLhs() : add.getRhs();
      if (++ops > 2 || !takeExtra(extra))
        return false;
    }
    bool usesAll = conv.getExtras().size() == (result.bias ? 1 : 0) + (result.residual ? 1 : 0);
    return value == body.getArgument(0) && usesAll;
  }

private:
  bool takeExtra(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getArgNumber() == 0 || argument.getOwner() != &body)
      return false;
    unsigned extra = argument.getArgNumber() - 1;
    unsigned operand = conv.getExtras().getBeginOperandIndex() + extra;
    auto type = cast<RankedTensorType>(conv.getExtras()[extra].getType());
    RankedTensorType dst = conv.getDst().getType();
    // What is added after the bias comes before it here.
    if (type == dst && !result.residual && !result.bias)
      return result.residual = operand;
    SmallVector<int64_t> perChannel(dst.getRank(), 1);
    perChannel[1] = dst.getDimSize(1);
    bool isBias = type.getShape() == ArrayRef(perChannel) && type.getElementType().isF32() &&
                  type.getEncoding() == dst.getEncoding() && !result.bias;
    if (isBias)
      result.bias = operand;
    return isBias;
  }

  cnn::ConvOp conv;
  Block &body;
  OneDnnConv &result;
};

// The first cache competes for the planes of a row-major source; beyond this many channels oneDNN
// has no fast code for it.
constexpr int64_t kMostPlanes = 3;

} // namespace

std::optional<OneDnnConv> convoy::oneDnnConv(Operation *op, cnn::TargetAttr target) {
  auto conv = dyn_cast<cnn::ConvOp>(op);
  if (!conv || conv.getSrc().getType().getRank() != 4)
    return std::nullopt;
  int64_t lanes = target.getLanes();
  RankedTensorType src = conv.getSrc().getType(), dst = conv.getDst().getType();
  auto shape = windowShape(op);
  if (!shape || shape->n != 1 || cnn::getBytes(dst) == 0 || !isF32(src) || !isF32(dst) ||
      !isF32(conv.getWei().getType()) || !conv.getAccumulatorType().isF32() ||
      !isBlocked(dst, lanes))
    return std::nullopt;
  OneDnnConv result{*shape, lanes, isRowMajor(src), cnn::hasFreeBatch(dst)};
  // oneDNN counts on zeros in lanes beyond the channels, where Convoy has anything.
  int64_t ic = shape->ic / shape->groups, oc = shape->oc / shape->groups;
  if (oc % lanes ||
      (result.planarSrc ? shape->groups != 1 || ic > kMostPlanes
                        : ic % lanes || !isBlocked(src, lanes)))
    return std::nullopt;
  // Windows that lie in the padding alone are beyond its fast code.
  for (const Axis &axis : {shape->h, shape->w})
    if (axis.pad < 0 || axis.padHigh < 0 || axis.pad > (axis.kernel - 1) * axis.dilation ||
        axis.padHigh > (axis.kernel - 1) * axis.dilation)
      return std::nullopt;
  if (!EpilogueReader(conv, result).read())
    return std::nullopt;
  // Its ReLU makes 0 of NaN.
  if (result.relu && target.getStrictFp())
    return std::nullopt;
  return result;
}

namespace {

struct ConvOneDnn : X86Strategy {
  StringRef name() const override { return kOneDnnStrategy; }

  std::optional<double> cost(Operation *op, cnn::TargetAttr target) const override {
    auto conv = oneDnnConv(op, target);
    if (!conv || !isPackable(op->getOperand(1)))
      return std::nullopt;
    // Two FMAs of a vector each cycle: layer-bench finds oneDNN within a few percent of that, as it
    // does Convoy's own direct strategies. Who asks for oneDNN gets it where they are equal.
    double share = conv->shape.groups > 1 ? 0.8 : 1;
    double flopsPerNs = 2 * 2 * double(target.getLanes()) * kCyclesPerNs * share;
    constexpr double callNs = 300;
    // It fetches no weights ahead: what comes from memory is waited for (measured in ResNet-18).
    constexpr double weightBytesPerNs = 12;
    double weightsNs =
        double(cnn::getBytes(cast<RankedTensorType>(op->getOperand(1).getType()))) / weightBytesPerNs;
    return callNs + weightsNs + std::max(double(countFlops(op)) / flopsPerNs, moveNs(op));
  }

  std::string packedLayout(Operation *op, unsigned index, cnn::TargetAttr target) const override {
    if (index != 1)
      return {};
    std::string lanes = std::to_string(target.getLanes());
    if (isRowMajor(op->getOperand(0).getType()))
      return "ohwi" + lanes + "o";
    return "oihw" + lanes + "i" + lanes + "o";
  }

  // The runtime calls oneDNN and never this code. One tile: a primitive is one thread's at a time.
  LogicalResult emit(plan::KernelOp kernel, KernelBuilder &kb) const override {
    Operation *op = onlyOp(kernel);
    if (!op || !oneDnnConv(op, kb.target))
      return kernel.emitError() << "is no convolution that oneDNN computes";
    kernel.setTiles(1);
    kernel.setBatched(false);
    return success();
  }
};

} // namespace

const X86Strategy &convoy::convOneDnn() {
  static const ConvOneDnn strategy;
  return strategy;
}
