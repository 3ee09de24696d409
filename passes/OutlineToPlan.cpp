// Turns the graph into kernels, buffers and launches.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Passes.h"

#include "passes/Graph.h"
#include "passes/Parts.h"
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
  explicit KernelPool(ModuleOp module) : builder(OpBuilder::atBlockEnd(module.getBody())) {}

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
  LogicalResult findParts();
  // The buffer of a tensor, made when it is needed first.
  Value bufferOf(Value tensor);
  LogicalResult outline(Operation *op);

  func::FuncOp graph;
  KernelPool kernels;
  OpBuilder builder;
  Type bufferType;
  DenseMap<Value, Value> buffers; // of tensors
  DenseMap<Value, Value> outputs; // buffers of the tensors that outputs are, before reshapes
  DenseMap<Attribute, Value> constants;
  // Tensors that are a part of a concat's result, and where they begin in it.
  DenseMap<Value, std::pair<Value, int64_t>> parts;
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
    BlockArgument argument = body->addArgument(operand.get().getType(), operand.get().getLoc());
    mapping.map(operand.get(), argument);
  }
  Operation *clone = builder.clone(*op, mapping);
  // One argument an operand, even if two are the same tensor.
  for (auto [i, argument] : llvm::enumerate(body->getArguments()))
    clone->setOperand(i, argument);
  clone->removeAttr("strategy");
  plan::YieldOp::create(builder, op->getLoc(), clone->getResults());

  auto [entry, isNew] = kernels.try_emplace(plan::getIdentity(kernel), kernel);
  if (!isNew)
    kernel.erase();
  return entry->second;
}

static StringRef nameOf(DictionaryAttr attributes) {
  auto name = attributes ? attributes.getAs<StringAttr>(cnn::kNameAttrName) : StringAttr();
  return name ? name.getValue() : StringRef();
}

static ArrayAttr dimNamesOf(DictionaryAttr attributes) {
  return attributes ? attributes.getAs<ArrayAttr>(cnn::kDimNamesAttrName) : ArrayAttr();
}

// The results that are counts of others: one i64 each, after all that are not.
static FailureOr<llvm::SmallDenseSet<int64_t>> findCounts(func::FuncOp graph) {
  llvm::SmallDenseSet<int64_t> counts;
  ArrayRef<Type> types = graph.getResultTypes();
  for (auto [i, type] : llvm::enumerate(types)) {
    DictionaryAttr attributes = graph.getResultAttrDict(i);
    auto extent =
        attributes ? attributes.getAs<cnn::ExtentAttr>(cnn::kExtentAttrName) : cnn::ExtentAttr();
    if (!extent)
      continue;
    auto tensor = cast<RankedTensorType>(type);
    int64_t number = extent.getCount();
    auto count = number >= 0 && number < static_cast<int64_t>(types.size())
                     ? cast<RankedTensorType>(types[number])
                     : RankedTensorType();
    if (extent.getDim() < 0 || extent.getDim() >= tensor.getRank() ||
        tensor.isDynamicDim(extent.getDim()) || !count || !count.hasStaticShape() ||
        count.getNumElements() != 1 || !count.getElementType().isSignlessInteger(64))
      return graph.emitError() << "result " << i << " of " << type << " has no such extent: "
                               << extent;
    counts.insert(number);
  }
  for (int64_t number : counts)
    if (number < static_cast<int64_t>(types.size() - counts.size()))
      return graph.emitError() << "result " << number << " is a count, but not one of the last";
  return counts;
}

LogicalResult Outliner::declareInterface() {
  for (BlockArgument argument : graph.getArguments()) {
    StringRef name = nameOf(graph.getArgAttrDict(argument.getArgNumber()));
    std::string fallback = "input" + std::to_string(argument.getArgNumber());
    if (!cnn::getLayout(tensorType(argument)).isRowMajor())
      return graph.emitError() << "input " << argument.getArgNumber() << " is not row-major";
    buffers[argument] =
        plan::InputOp::create(builder, argument.getLoc(), bufferType,
                              name.empty() ? StringRef(fallback) : name, argument.getType(),
                              dimNamesOf(graph.getArgAttrDict(argument.getArgNumber())));
  }
  auto ret = cast<func::ReturnOp>(graph.getBody().front().getTerminator());
  FailureOr<llvm::SmallDenseSet<int64_t>> counts = findCounts(graph);
  if (failed(counts))
    return failure();
  for (OpOperand &operand : ret->getOpOperands()) {
    StringRef name = nameOf(graph.getResultAttrDict(operand.getOperandNumber()));
    std::string fallback = "output" + std::to_string(operand.getOperandNumber());
    if (!cnn::getLayout(tensorType(operand.get())).isRowMajor())
      return graph.emitError() << "output " << operand.getOperandNumber() << " is not row-major";
    DictionaryAttr attributes = graph.getResultAttrDict(operand.getOperandNumber());
    auto extent =
        attributes ? attributes.getAs<cnn::ExtentAttr>(cnn::kExtentAttrName) : cnn::ExtentAttr();
    bool isCount = counts->contains(operand.getOperandNumber());
    auto number = [&](int64_t value) { return builder.getI64IntegerAttr(value); };
    Value buffer = plan::OutputOp::create(
        builder, ret.getLoc(), bufferType,
        builder.getStringAttr(isCount        ? StringRef()
                              : name.empty() ? StringRef(fallback)
                                             : name),
        TypeAttr::get(operand.get().getType()), extent ? number(extent.getDim()) : IntegerAttr(),
        extent ? number(extent.getCount()) : IntegerAttr(),
        isCount ? builder.getUnitAttr() : UnitAttr(), dimNamesOf(attributes));
    Value tensor = getAliasRoot(operand.get());
    Operation *producer = tensor.getDefiningOp();
    if (!producer || isa<cnn::ConstantOp>(producer) || !outputs.try_emplace(tensor, buffer).second)
      return ret.emitError() << "output " << operand.getOperandNumber()
                             << " is not made by an op of its own";
  }
  return success();
}

LogicalResult Outliner::findParts() {
  for (auto concat : graph.getOps<cnn::ConcatOp>()) {
    if (!isPartsOp(concat))
      continue;
    std::optional<SmallVector<int64_t>> offsets = getPartOffsets(concat);
    if (!offsets)
      return concat.emitOpError() << "has no strategy";
    for (auto [input, offset] : llvm::zip_equal(concat.getInputs(), *offsets)) {
      Value root = getAliasRoot(input);
      if (!hasOwnBuffer(root) || outputs.contains(root) ||
          !parts.try_emplace(root, concat.getDst(), offset).second)
        return concat.emitOpError() << "has no strategy, but an input that cannot be its part";
    }
  }
  return success();
}

Value Outliner::bufferOf(Value tensor) {
  if (Value buffer = buffers.lookup(tensor))
    return buffer;
  Location loc = tensor.getLoc();
  int64_t bytes = cnn::getBytes(tensorType(tensor));
  auto createView = [&](Value source, int64_t offset) -> Value {
    return plan::ViewOp::create(builder, loc, bufferType, source, offset, bytes);
  };
  Value buffer;
  if (Value output = outputs.lookup(tensor)) {
    buffer = output;
  } else if (isAlias(tensor.getDefiningOp())) {
    buffer = bufferOf(tensor.getDefiningOp()->getOperand(0));
  } else if (auto part = parts.find(tensor); part != parts.end()) {
    buffer = createView(bufferOf(part->second.first), part->second.second);
  } else if (auto slice = tensor.getDefiningOp<cnn::SliceOp>(); slice && isPartsOp(slice)) {
    buffer = createView(bufferOf(slice.getSrc()), *getPartOffset(slice));
  } else {
    buffer = plan::AllocOp::create(builder, loc, bufferType, builder.getI64IntegerAttr(bytes),
                                   IntegerAttr());
  }
  buffers[tensor] = buffer;
  return buffer;
}

LogicalResult Outliner::outline(Operation *op) {
  if (auto constant = dyn_cast<cnn::ConstantOp>(op)) {
    Value &buffer = constants[constant.getValue()];
    if (!buffer)
      buffer = plan::ConstantOp::create(builder, op->getLoc(), bufferType, constant.getValue());
    buffers[constant.getResult()] = buffer;
    return success();
  }
  if (isAlias(op) || (isa<cnn::ConcatOp>(op) && isPartsOp(op)))
    return success();
  if (auto slice = dyn_cast<cnn::SliceOp>(op); slice && isPartsOp(slice)) {
    if (!getPartOffset(slice) || outputs.contains(slice.getDst()) ||
        isa<BlockArgument>(getAliasRoot(slice.getSrc())) ||
        getAliasRoot(slice.getSrc()).getDefiningOp<cnn::ConstantOp>())
      return op->emitOpError() << "has no strategy";
    return success();
  }
  if (!isComputeOp(op))
    return op->emitOpError() << "has no place in a plan";
  if (!op->hasAttr("strategy"))
    return op->emitOpError() << "has no strategy";

  plan::KernelOp kernel = kernels.get(op);
  SmallVector<Value> reads, writes;
  for (Value operand : op->getOperands())
    reads.push_back(bufferOf(operand));
  for (Value result : op->getResults())
    writes.push_back(bufferOf(result));
  plan::LaunchOp::create(builder, op->getLoc(), kernel.getSymName(), reads, writes, countFlops(op),
                         countBytes(op));
  return success();
}

LogicalResult Outliner::run() {
  auto program = plan::ProgramOp::create(builder, graph.getLoc(), graph.getSymName(), IntegerAttr(),
                                         IntegerAttr());
  builder.createBlock(&program.getBody());
  if (failed(declareInterface()) || failed(findParts()))
    return failure();
  for (Operation &op : graph.getBody().front().without_terminator())
    if (failed(outline(&op)))
      return failure();
  graph.erase();
  return success();
}
