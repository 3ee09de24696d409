// Turns the graph into kernels, buffers and launches.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Passes.h"

#include "passes/Graph.h"
#include "passes/Relayout.h"
#include "passes/Work.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringMap.h"

namespace convoy {
#define GEN_PASS_DEF_OUTLINETOPLAN
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;

namespace {

// Kernels by what they compute.
class KernelPool {
public:
  explicit KernelPool(ModuleOp module)
      : builder(OpBuilder::atBlockEnd(module.getBody())) {}

  // The kernel that computes `op`; a new one if none does yet.
  plan::KernelOp get(Operation *op);

private:
  OpBuilder builder;
  llvm::StringMap<plan::KernelOp> kernels;
};

class Outliner {
public:
  Outliner(ModuleOp module, func::FuncOp graph)
      : graph(graph), kernels(module), builder(module),
        bufferType(plan::BufferType::get(module.getContext())) {
    builder.setInsertionPoint(graph);
  }
  LogicalResult run();

private:
  LogicalResult declareInterface();
  LogicalResult outline(Operation *op);

  func::FuncOp graph;
  KernelPool kernels;
  OpBuilder builder;
  Type bufferType;
  DenseMap<Value, Value> buffers; // of tensors
  DenseMap<Value, Value> outputs; // buffers of the tensors that outputs are, before reshapes
  DenseMap<Attribute, Value> constants;
};

struct OutlineToPlan : public convoy::impl::OutlineToPlanBase<OutlineToPlan> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> graph = getGraph(getOperation());
    if (failed(graph) || failed(Outliner(getOperation(), *graph).run()))
      signalPassFailure();
  }
};

} // namespace

plan::KernelOp KernelPool::get(Operation *op) {
  OpBuilder::InsertionGuard guard(builder);
  auto strategy = op->getAttrOfType<StringAttr>("strategy");
  std::string name = op->getName().stripDialect().str() + "_" + std::to_string(kernels.size());
  auto kernel = plan::KernelOp::create(builder, op->getLoc(), name, strategy, IntegerAttr(),
                                       /*batched=*/false, IntegerAttr());
  Block *body = builder.createBlock(&kernel.getBody());
  IRMapping mapping;
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument =
        body->addArgument(operand.get().getType(), operand.get().getLoc());
    mapping.map(operand.get(), argument);
  }
  Operation *clone = builder.clone(*op, mapping);
  // One argument an operand, even if two are the same tensor.
  for (auto [i, argument] : llvm::enumerate(body->getArguments()))
    clone->setOperand(i, argument);
  clone->removeAttr("strategy");
  plan::YieldOp::create(builder, op->getLoc(), clone->getResults());

  // The text without locations and names is the identity of a kernel.
  std::string text = (strategy.getValue() + "\n").str();
  llvm::raw_string_ostream stream(text);
  for (Type type : body->getArgumentTypes())
    stream << type << "\n";
  OpPrintingFlags flags;
  flags.useLocalScope().printGenericOpForm();
  clone->print(stream, flags);
  auto [entry, isNew] = kernels.try_emplace(text, kernel);
  if (!isNew)
    kernel.erase();
  return entry->second;
}

static StringRef nameOf(DictionaryAttr attributes) {
  auto name = attributes ? attributes.getAs<StringAttr>(cnn::kNameAttrName) : StringAttr();
  return name ? name.getValue() : StringRef();
}

LogicalResult Outliner::declareInterface() {
  for (BlockArgument argument : graph.getArguments()) {
    StringRef name = nameOf(graph.getArgAttrDict(argument.getArgNumber()));
    std::string fallback = "input" + std::to_string(argument.getArgNumber());
    if (!cnn::getLayout(tensorType(argument)).isRowMajor())
      return graph.emitError() << "input " << argument.getArgNumber() << " is not row-major";
    buffers[argument] = plan::InputOp::create(builder, argument.getLoc(), bufferType,
                                              name.empty() ? StringRef(fallback) : name,
                                              argument.getType());
  }
  auto ret = cast<func::ReturnOp>(graph.getBody().front().getTerminator());
  for (OpOperand &operand : ret->getOpOperands()) {
    StringRef name = nameOf(graph.getResultAttrDict(operand.getOperandNumber()));
    std::string fallback = "output" + std::to_string(operand.getOperandNumber());
    if (!cnn::getLayout(tensorType(operand.get())).isRowMajor())
      return graph.emitError() << "output " << operand.getOperandNumber() << " is not row-major";
    Value buffer = plan::OutputOp::create(builder, ret.getLoc(), bufferType,
                                          name.empty() ? StringRef(fallback) : name,
                                          operand.get().getType());
    Value tensor = getAliasRoot(operand.get());
    Operation *producer = tensor.getDefiningOp();
    if (!producer || isa<cnn::ConstantOp>(producer) ||
        !outputs.try_emplace(tensor, buffer).second)
      return ret.emitError() << "output " << operand.getOperandNumber()
                             << " is not made by an op of its own";
  }
  return success();
}

LogicalResult Outliner::outline(Operation *op) {
  if (auto constant = dyn_cast<cnn::ConstantOp>(op)) {
    Value &buffer = constants[constant.getValue()];
    if (!buffer)
      buffer = plan::ConstantOp::create(builder, op->getLoc(), bufferType, constant.getValue());
    buffers[constant.getResult()] = buffer;
    return success();
  }
  auto strategy = op->getAttrOfType<StringAttr>("strategy");
  if (isAlias(op)) {
    Value shared = buffers[op->getOperand(0)];
    buffers[op->getResult(0)] = shared;
    return success();
  }
  if (!isComputeOp(op))
    return op->emitOpError() << "has no place in a plan";
  if (!strategy)
    return op->emitOpError() << "has no strategy";

  plan::KernelOp kernel = kernels.get(op);
  SmallVector<Value> reads, writes;
  for (Value operand : op->getOperands())
    reads.push_back(buffers[operand]);
  for (Value result : op->getResults()) {
    Value buffer = outputs.lookup(result);
    if (!buffer)
      buffer = plan::AllocOp::create(
          builder, op->getLoc(), bufferType,
          builder.getI64IntegerAttr(cnn::getBytes(tensorType(result))), IntegerAttr());
    buffers[result] = buffer;
    writes.push_back(buffer);
  }
  plan::LaunchOp::create(builder, op->getLoc(), kernel.getSymName(), reads, writes,
                         countFlops(op), countBytes(op));
  return success();
}

LogicalResult Outliner::run() {
  auto program = plan::ProgramOp::create(builder, graph.getLoc(), graph.getSymName(),
                                         IntegerAttr(), IntegerAttr());
  builder.createBlock(&program.getBody());
  if (failed(declareInterface()))
    return failure();
  for (Operation &op : graph.getBody().front().without_terminator())
    if (failed(outline(&op)))
      return failure();
  graph.erase();
  return success();
}
