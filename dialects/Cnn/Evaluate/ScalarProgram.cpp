// A scalar region, decoded once to run over many elements.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Cnn/Evaluate/ScalarProgram.h"

#include "dialects/Cnn/ConstantData.h"

#include <cstring>

using namespace mlir;
using namespace convoy::cnn;

// Elements of a chunk: a dozen registers of it stay in the first cache.
static constexpr int64_t kChunk = 256;

static FailureOr<Codec> codecOf(Operation *op, Type type) {
  if (std::optional<Codec> codec = Codec::of(type))
    return *codec;
  return op->emitError() << "the evaluator knows no elements of " << type;
}

static FailureOr<Lane> constantLane(Operation *op) {
  Attribute value;
  if (!matchPattern(op, m_Constant(&value)))
    return op->emitError() << "the evaluator knows no op '" << op->getName() << "'";
  Lane lane;
  if (auto number = dyn_cast<FloatAttr>(value))
    lane.f = number.getValueAsDouble();
  else if (auto number = dyn_cast<IntegerAttr>(value))
    lane.i = number.getType().isInteger(1) ? number.getValue().getZExtValue()
                                           : number.getValue().getSExtValue();
  else
    return op->emitError() << "the evaluator knows no constant " << value;
  return lane;
}

FailureOr<ScalarProgram> ScalarProgram::decode(EpilogueOpInterface op) {
  ScalarProgram program;
  DenseMap<Value, unsigned> registers;
  Block &block = op.getScalarRegion().front();
  for (BlockArgument argument : block.getArguments()) {
    FailureOr<Codec> codec = codecOf(op, argument.getType());
    if (failed(codec))
      return failure();
    program.arguments.push_back(*codec);
    registers[argument] = program.numRegisters++;
  }
  // A constant gets its register at its first use.
  auto registerOf = [&](Operation *user, Value value) -> FailureOr<unsigned> {
    auto known = registers.find(value);
    if (known != registers.end())
      return known->second;
    Operation *producer = value.getDefiningOp();
    if (!producer)
      return user->emitError() << "the scalar region uses a value of another block";
    FailureOr<Lane> lane = constantLane(producer);
    if (failed(lane))
      return failure();
    program.constants.push_back({program.numRegisters, *lane});
    return registers[value] = program.numRegisters++;
  };
  for (Operation &inner : block) {
    if (auto yield = dyn_cast<YieldOp>(inner)) {
      FailureOr<unsigned> result = registerOf(yield, yield.getValue());
      if (failed(result))
        return failure();
      program.result = *result;
      continue;
    }
    if (inner.hasTrait<OpTrait::ConstantLike>())
      continue;
    FailureOr<ScalarKernel> kernel = getScalarKernel(&inner);
    if (failed(kernel))
      return failure();
    FailureOr<Codec> codec = codecOf(&inner, inner.getResult(0).getType());
    if (failed(codec))
      return failure();
    Step step{std::move(*kernel), *codec, 0, {}};
    for (Value operand : inner.getOperands()) {
      FailureOr<unsigned> arg = registerOf(&inner, operand);
      if (failed(arg))
        return failure();
      step.args.push_back(*arg);
    }
    step.dst = registers[inner.getResult(0)] = program.numRegisters++;
    program.steps.push_back(std::move(step));
  }
  return program;
}

namespace {
// Reads a tensor in the order of a larger shape that it broadcasts to.
class BroadcastReader {
public:
  BroadcastReader(const Tensor &tensor, ArrayRef<int64_t> to, Codec codec)
      : data(tensor.data()), size(tensor.elementBytes()), codec(codec),
        walk(coalesce(to, broadcastStrides(tensor.shape(), to))) {}

  void read(int64_t count, Lane *lanes) {
    while (count > 0) {
      int64_t length = std::min(count, walk.left());
      const char *source = data + walk.offset() * size;
      if (walk.stride() == 0) {
        codec.decode(source, 1, lanes);
        std::fill(lanes + 1, lanes + length, lanes[0]);
      } else {
        codec.decode(source, length, lanes);
      }
      walk.advance(length);
      lanes += length;
      count -= length;
    }
  }

private:
  const char *data;
  int64_t size;
  Codec codec;
  Walk walk;
};
} // namespace

void ScalarProgram::run(const Lane *accumulators, ArrayRef<Tensor> operands, Tensor &dst) const {
  std::vector<Lane> memory(numRegisters * kChunk);
  auto reg = [&](unsigned number) { return memory.data() + number * kChunk; };
  for (const Constant &constant : constants)
    std::fill_n(reg(constant.reg), kChunk, constant.value);
  unsigned numAccumulators = accumulators ? 1 : 0;
  std::vector<BroadcastReader> readers;
  for (auto [i, operand] : llvm::enumerate(operands))
    readers.emplace_back(operand, dst.shape(), arguments[i + numAccumulators]);
  Codec dstCodec = *Codec::of(getScalarType(dst.elementType()));
  int64_t total = dst.numElements(), size = dst.elementBytes();
  for (int64_t start = 0; start < total; start += kChunk) {
    int64_t count = std::min(kChunk, total - start);
    if (accumulators) {
      std::copy_n(accumulators + start, count, reg(0));
      arguments[0].normalize(reg(0), count);
    }
    for (auto [i, reader] : llvm::enumerate(readers))
      reader.read(count, reg(i + numAccumulators));
    for (const Step &step : steps) {
      const Lane *args[8];
      for (auto [i, arg] : llvm::enumerate(step.args))
        args[i] = reg(arg);
      step.kernel(reg(step.dst), args, count);
      step.codec.normalize(reg(step.dst), count);
    }
    dstCodec.encode(reg(result), count, dst.mutableData() + start * size);
  }
}

LogicalResult convoy::cnn::applyEpilogue(EpilogueOpInterface op,
                                         const std::vector<Lane> &accumulators,
                                         ArrayRef<Tensor> extras, Tensor &dst) {
  FailureOr<ScalarProgram> program = ScalarProgram::decode(op);
  if (failed(program))
    return failure();
  program->run(accumulators.data(), extras, dst);
  return success();
}
