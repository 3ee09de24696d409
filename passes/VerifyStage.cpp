// Checks what must hold between stages of the pipeline.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Passes.h"

#include "dialects/Cnn/ConstantData.h"
#include "passes/Graph.h"
#include "passes/Parts.h"
#include "passes/Relayout.h"

namespace convoy {
#define GEN_PASS_DEF_VERIFYSTAGE
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;

// Each op of the graph and, of the dialects, what a graph may hold.
static LogicalResult verifyGraph(func::FuncOp graph,
                                 function_ref<LogicalResult(Operation *)> check) {
  for (Operation &op : graph.getBody().front()) {
    if (isa<func::ReturnOp>(op))
      continue;
    if (!isa<cnn::ConstantOp>(op) && !isComputeOp(&op))
      return op.emitOpError() << "has no place in a graph";
    if (failed(check(&op)))
      return failure();
  }
  return success();
}

static LogicalResult verifyRowMajor(Operation *op) {
  for (Value value : op->getResults())
    if (!cnn::getLayout(tensorType(value)).isRowMajor())
      return op->emitOpError() << "has layout '" << cnn::getLayoutTag(tensorType(value))
                               << "' before layouts are assigned";
  return success();
}

// A printed module may lack the data of long constants.
static LogicalResult verifyData(Operation *op) {
  auto constant = dyn_cast<cnn::ConstantOp>(op);
  if (!constant)
    return success();
  // A repeated element is there whole.
  if (isa<DenseElementsAttr>(constant.getValue()))
    return success();
  cnn::ConstantData data(constant.getValue());
  int64_t expected = cnn::getBytes(tensorType(constant.getResult()));
  if (static_cast<int64_t>(data.bytes().size()) == expected)
    return success();
  return op->emitOpError() << "has " << data.bytes().size() << " bytes of data, expected "
                           << expected << "; --full-constants prints long constants too";
}

static LogicalResult verifyNoStrategy(Operation *op) {
  if (op->hasAttr("strategy"))
    return op->emitOpError() << "has a strategy before kernels are selected";
  return success();
}

static LogicalResult verifyNoBatchNorm(Operation *op) {
  if (isa<cnn::BatchNormOp>(op))
    return op->emitOpError() << "should have been folded or become a map";
  return success();
}

// Kernels walk a region's operands and the result together.
static LogicalResult verifyRegionLayouts(Operation *op) {
  auto epilogueOp = dyn_cast<cnn::EpilogueOpInterface>(op);
  if (!epilogueOp)
    return success();
  auto result = tensorType(op->getResult(0));
  for (Value operand : epilogueOp.getRegionOperands()) {
    auto type = tensorType(operand);
    bool isSingle = type.hasStaticShape() && type.getNumElements() == 1;
    bool isBlocked = !cnn::getLayout(result).isRowMajor();
    if (isSingle || (!isBlocked && cnn::getLayout(type).isRowMajor()))
      continue;
    if (type.getRank() != result.getRank() || type.getEncoding() != result.getEncoding())
      return op->emitOpError() << "has a region operand " << type
                               << " that does not match the result " << result;
  }
  return success();
}

static LogicalResult verifyInterface(func::FuncOp graph) {
  for (Type type : llvm::concat<const Type>(graph.getArgumentTypes(), graph.getResultTypes()))
    if (auto tensor = dyn_cast<RankedTensorType>(type);
        !tensor || !cnn::getLayout(tensor).isRowMajor())
      return graph.emitOpError() << "has an input or output " << type
                                 << " that is no row-major tensor";
  return success();
}

static LogicalResult verifySelected(func::FuncOp graph) {
  DenseSet<Value> outputs;
  for (Value output : graph.getBody().front().getTerminator()->getOperands()) {
    Operation *producer = getAliasRoot(output).getDefiningOp();
    if (!producer || isa<cnn::ConstantOp>(producer) || isPartsOp(producer) ||
        !outputs.insert(getAliasRoot(output)).second)
      return graph.emitOpError() << "has an output that no kernel writes by itself";
  }
  return verifyGraph(graph, [](Operation *op) -> LogicalResult {
    if (isa<cnn::ConstantOp>(op) || isAlias(op) || op->hasAttr("strategy"))
      return success();
    auto concat = dyn_cast<cnn::ConcatOp>(op);
    auto slice = dyn_cast<cnn::SliceOp>(op);
    if ((concat && getPartOffsets(concat)) || (slice && getPartOffset(slice)))
      return success();
    return op->emitOpError() << "has no strategy";
  });
}

static LogicalResult verifyPlanStage(ModuleOp module) {
  if (!module.getOps<func::FuncOp>().empty())
    return module.emitError() << "has a graph beside its plan";
  auto programs = llvm::to_vector(module.getOps<plan::ProgramOp>());
  if (programs.size() != 1)
    return module.emitError() << "needs one plan.program, has " << programs.size();
  for (auto kernel : module.getOps<plan::KernelOp>()) {
    Block &body = kernel.getBody().front();
    if (body.getOperations().size() != 2 || !isComputeOp(&body.front()) ||
        body.front().getResults() != body.back().getOperands())
      return kernel.emitOpError() << "must hold one op and yield its results";
  }
  return success();
}

namespace {
struct VerifyStage : public convoy::impl::VerifyStageBase<VerifyStage> {
  using VerifyStageBase::VerifyStageBase;
  void runOnOperation() override {
    if (failed(verify()))
      signalPassFailure();
  }

  LogicalResult verify() {
    if (stage == "plan")
      return verifyPlanStage(getOperation());
    FailureOr<func::FuncOp> graph = getGraph(getOperation());
    if (failed(graph) || failed(verifyInterface(*graph)))
      return failure();
    if (stage == "import" || stage == "fold")
      return verifyGraph(*graph, [&](Operation *op) -> LogicalResult {
        if (failed(verifyRowMajor(op)) || failed(verifyNoStrategy(op)))
          return failure();
        return stage == "import" ? verifyData(op) : verifyNoBatchNorm(op);
      });
    if (stage == "layout" || stage == "select") {
      if (failed(verifyGraph(*graph, [&](Operation *op) {
            return success(succeeded(verifyNoBatchNorm(op)) && succeeded(verifyRegionLayouts(op)));
          })))
        return failure();
      return stage == "select" ? verifySelected(*graph) : success();
    }
    return getOperation().emitError()
           << "unknown stage '" << stage << "'; known are import, fold, layout, select, plan";
  }
};
} // namespace
