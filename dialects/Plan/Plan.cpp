// The plan dialect.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Plan/Plan.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace convoy::plan;

#include "dialects/Plan/PlanDialect.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Plan/PlanTypes.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/Plan/PlanOps.cpp.inc"

void PlanDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Plan/PlanTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Plan/PlanOps.cpp.inc"
      >();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<KernelOp>((*this)->getParentOp()->getParentOp(),
                                                          getKernelAttr());
  if (!kernel)
    return emitOpError() << "launches " << getKernelAttr() << ", which is no kernel";
  Block &body = kernel.getBody().front();
  auto yield = cast<YieldOp>(body.getTerminator());
  if (getReads().size() != body.getNumArguments() || getWrites().size() != yield.getValues().size())
    return emitOpError() << "passes " << getReads().size() << " reads and " << getWrites().size()
                         << " writes, the kernel has " << body.getNumArguments() << " and "
                         << yield.getValues().size();
  return success();
}

std::string convoy::plan::getIdentity(KernelOp kernel) {
  std::string text = (kernel.getStrategy() + "\n").str();
  llvm::raw_string_ostream stream(text);
  Block &body = kernel.getBody().front();
  for (Type type : body.getArgumentTypes())
    stream << type << "\n";
  // Generic forms with local scope carry no locations and no aliases.
  OpPrintingFlags flags;
  flags.useLocalScope().printGenericOpForm();
  for (Operation &op : body)
    op.print(stream, flags);
  return text;
}

LogicalResult KernelOp::verify() {
  Block &body = getBody().front();
  if (body.empty() || !isa<YieldOp>(body.back()))
    return emitOpError() << "must end with plan.yield";
  for (Type type : body.getArgumentTypes())
    if (!isa<RankedTensorType>(type))
      return emitOpError() << "takes " << type << ", expected a ranked tensor";
  return success();
}
