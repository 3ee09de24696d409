// One op with its operands, computed by any strategy that can, on any layout.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/numerics/StrategyCase.h"

#include "dialects/Cnn/ConstantData.h"
#include "dialects/Cnn/Winograd.h"
#include "passes/Relayout.h"

#include "llvm/ADT/StringExtras.h"

#include <gtest/gtest.h>
#include <random>

using namespace convoy;
using namespace convoy::test;
using namespace mlir;

static constexpr size_t kMargin = 256;
static constexpr char kUntouched = 0x5a;

static std::string replaceAll(std::string text, StringRef from, StringRef to) {
  for (size_t at = 0; (at = text.find(from.str(), at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to.str());
  return text;
}

Buffer::Buffer(RankedTensorType type, int64_t batch) : type(type), batch(batch) {
  bytes.assign(size() + 2 * kMargin + 64, kUntouched);
  offset = llvm::alignAddr(bytes.data() + kMargin, llvm::Align(64)) -
           reinterpret_cast<uintptr_t>(bytes.data());
}

size_t Buffer::size() const { return cnn::getBytes(type) * (cnn::hasFreeBatch(type) ? batch : 1); }

RankedTensorType Buffer::fullType() const {
  SmallVector<int64_t> shape(type.getShape());
  if (cnn::hasFreeBatch(type))
    shape[0] = batch;
  return RankedTensorType::get(shape, type.getElementType(), type.getEncoding());
}

int64_t Buffer::numElements() const { return fullType().getNumElements(); }

char *Buffer::element(int64_t number) {
  RankedTensorType full = fullType();
  SmallVector<int64_t> index(full.getRank());
  for (size_t i = index.size(); i-- > 0;) {
    index[i] = number % full.getDimSize(i);
    number /= full.getDimSize(i);
  }
  return data() + cnn::getLayout(full).offset(index, full.getShape()) *
                      cnn::getElementBytes(full.getElementType());
}

bool Buffer::marginsIntact() const {
  for (size_t i = 0; i < bytes.size(); ++i)
    if ((i < offset || i >= offset + size()) && bytes[i] != kUntouched)
      return false;
  return true;
}

StrategyCase::StrategyCase(MLIRContext &context, const Target &target, std::string body,
                           int64_t batch)
    : batch(batch), target(target), context(context) {
  std::string lanes = std::to_string(target.facts(&context).getLanes());
  body = replaceAll(body, "BLOCKED", "#cnn.layout<\"nchw" + lanes + "c\">");
  body = replaceAll(body, "BLOCK1D", "#cnn.layout<\"ncw" + lanes + "c\">");
  body = replaceAll(body, "LANES", lanes);
  module = parse(context, "plan.kernel @k strategy \"reference\" {\n" + body + "\n}\n");
  if (module) {
    auto kernel = *module->getOps<plan::KernelOp>().begin();
    operation = &kernel.getBody().front().front();
  }
}

std::vector<const Strategy *> StrategyCase::strategies() {
  std::vector<const Strategy *> able;
  for (const Strategy *strategy : target.kernelTable().strategies())
    if (strategy->cost(operation, target.facts(&context)))
      able.push_back(strategy);
  return able;
}

OwningOpRef<ModuleOp> StrategyCase::moduleFor(const Strategy &strategy) {
  OwningOpRef<ModuleOp> copy = module->clone();
  auto kernel = *copy->getOps<plan::KernelOp>().begin();
  kernel.setStrategy(strategy.name());
  Operation *op = &kernel.getBody().front().front();
  for (OpOperand &operand : op->getOpOperands()) {
    std::string layout =
        strategy.packedLayout(operation, operand.getOperandNumber(), target.facts(&context));
    if (!layout.empty())
      operand.get().setType(
          cnn::withLayout(cast<RankedTensorType>(operand.get().getType()), layout));
  }
  return copy;
}

// Replaces row-major weights by those transformed and laid out as `type` says.
static void transform(Buffer &buffer, RankedTensorType type) {
  cnn::Layout layout = cnn::getLayout(type);
  SmallVector<int64_t> shape;
  std::vector<char> transformed = cnn::transformWeights(ArrayRef(buffer.data(), buffer.size()),
                                                        type.getShape(), *layout.winograd(), shape);
  std::vector<char> packed = relayoutBytes(transformed, shape, cnn::Layout::rowMajor(shape.size()),
                                           layout.withoutWinograd(), 4);
  buffer = Buffer(type, buffer.batch);
  llvm::copy(packed, buffer.data());
}

std::vector<Buffer> StrategyCase::buffersFor(ModuleOp module) {
  auto kernel = *module.getOps<plan::KernelOp>().begin();
  Block &body = kernel.getBody().front();
  std::vector<Buffer> buffers;
  for (auto [number, argument] : llvm::enumerate(body.getArguments())) {
    auto type = cast<RankedTensorType>(argument.getType());
    // Transformed weights are made from row-major ones.
    bool isTransformed = cnn::getLayout(type).winograd().has_value();
    RankedTensorType filledType = isTransformed ? cnn::withLayout(type, "") : type;
    Buffer &buffer = buffers.emplace_back(filledType, batch);
    Type element = type.getElementType();
    int64_t width = cnn::getElementBytes(element);
    // Padding of weights is zero, that of activations anything.
    bool isActivation =
        cnn::getLayoutTag(type).starts_with("n") && !cnn::getLayoutTag(type).starts_with("nk");
    if (!cnn::getLayout(type).inner().empty())
      for (size_t i = 0; i < buffer.size(); i += width) {
        if (isa<FloatType>(element))
          cnn::writeFloat(buffer.data() + i, element, isActivation ? NAN : 0);
      }
    std::mt19937 random(number + 1);
    std::uniform_int_distribution<int64_t> any(-magnitude, magnitude);
    for (int64_t i = 0, e = buffer.numElements(); i < e; ++i) {
      int64_t value = any(random);
      if (isa<FloatType>(element))
        cnn::writeFloat(buffer.element(i), element, fractions ? value + any(random) / 16.0 : value);
      else if (element.isInteger(1) || element.isUnsignedInteger())
        cnn::writeInt(buffer.element(i), element,
                      element.isInteger(1) ? value > 0 : std::abs(value));
      else
        cnn::writeInt(buffer.element(i), element, value);
    }
    if (isTransformed)
      transform(buffer, type);
  }
  for (Value result : body.getTerminator()->getOperands())
    buffers.emplace_back(cast<RankedTensorType>(result.getType()), batch);
  return buffers;
}

std::vector<Buffer> StrategyCase::run(const Strategy &strategy) {
  OwningOpRef<ModuleOp> kernelModule = moduleFor(strategy);
  std::vector<Buffer> buffers = buffersFor(*kernelModule);
  std::unique_ptr<HostKernels> kernels = HostKernels::compile(target, *kernelModule);
  if (!kernels)
    return {};
  std::vector<void *> args;
  for (Buffer &buffer : buffers)
    args.push_back(buffer.data());
  kernels->run("k", args, batch);
  return buffers;
}
