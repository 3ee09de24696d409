// Small questions that several passes ask of the graph.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Graph.h"

#include "dialects/Cnn/ConstantData.h"
#include "dialects/Plan/Plan.h"

#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace convoy;

FailureOr<func::FuncOp> convoy::getGraph(ModuleOp module) {
  auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
  if (functions.size() != 1 || functions[0].isExternal() ||
      !llvm::hasSingleElement(functions[0].getBody()))
    return module.emitError() << "needs one function with one block, has " << functions.size()
                              << " functions";
  for (Type type : llvm::concat<const Type>(functions[0].getArgumentTypes(),
                                            functions[0].getResultTypes()))
    if (!isa<RankedTensorType>(type))
      return functions[0].emitOpError() << "has an input or output " << type
                                        << " that is no ranked tensor";
  return functions[0];
}

FailureOr<cnn::TargetAttr> convoy::getTarget(ModuleOp module) {
  if (auto target = module->getAttrOfType<cnn::TargetAttr>(cnn::kTargetAttrName))
    return target;
  return module.emitError() << "has no " << cnn::kTargetAttrName << " attribute";
}

Operation *convoy::getOnlyUser(Value value) {
  if (value.use_empty())
    return nullptr;
  Operation *user = *value.user_begin();
  return llvm::all_of(value.getUsers(), [&](Operation *other) { return other == user; }) ? user
                                                                                         : nullptr;
}

bool convoy::isComputeOp(Operation *op) {
  return isa_and_nonnull<cnn::CnnDialect>(op->getDialect()) &&
         !isa<cnn::ConstantOp, cnn::YieldOp>(op);
}

static void collectNames(Location loc, SetVector<StringAttr> &names) {
  if (auto name = dyn_cast<NameLoc>(loc)) {
    names.insert(name.getName());
  } else if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location part : fused.getLocations())
      collectNames(part, names);
  } else if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    collectNames(call.getCallee(), names);
  }
}

std::string convoy::getNodeNames(Location loc) {
  SetVector<StringAttr> names;
  collectNames(loc, names);
  std::string joined;
  for (StringAttr name : names)
    joined += (joined.empty() ? "" : "+") + name.str();
  return joined;
}

Location convoy::joinLocations(Location a, Location b) {
  return a == b ? a : FusedLoc::get(a.getContext(), {a, b});
}

Value convoy::createConstant(OpBuilder &builder, Location loc, RankedTensorType type,
                             std::vector<char> bytes) {
  auto physical = RankedTensorType::get(cnn::getLayout(type).physicalShape(type.getShape()),
                                        type.getElementType());
  return cnn::ConstantOp::create(builder, loc, type, cnn::makeConstant(physical, std::move(bytes)));
}

Value convoy::createConstant(OpBuilder &builder, Location loc, RankedTensorType type,
                             ArrayRef<double> values) {
  int64_t size = cnn::getElementBytes(type.getElementType());
  std::vector<char> bytes(values.size() * size);
  for (auto [i, value] : llvm::enumerate(values)) {
    if (isa<FloatType>(type.getElementType()))
      cnn::writeFloat(bytes.data() + i * size, type.getElementType(), value);
    else
      cnn::writeInt(bytes.data() + i * size, type.getElementType(), static_cast<int64_t>(value));
  }
  return createConstant(builder, loc, type, std::move(bytes));
}

void convoy::eraseUnusedConstants(ModuleOp module) {
  SmallVector<Operation *> unused;
  module.walk([&](Operation *op) {
    if (isa<cnn::ConstantOp, plan::ConstantOp>(op) && op->use_empty())
      unused.push_back(op);
  });
  for (Operation *op : unused)
    op->erase();
}

void convoy::releaseUnusedResources(ModuleOp module) {
  llvm::StringSet<> used;
  module.walk([&](Operation *op) {
    for (NamedAttribute attribute : op->getAttrs())
      if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute.getValue()))
        used.insert(resource.getRawHandle().getKey());
  });
  auto *dialect = module.getContext()->getLoadedDialect<BuiltinDialect>();
  auto *interface = dialect->getRegisteredInterface<ResourceBlobManagerDialectInterface>();
  if (!interface)
    return;
  SmallVector<std::string> unused;
  interface->getBlobManager().getBlobMap(
      [&](const llvm::StringMap<DialectResourceBlobManager::BlobEntry> &blobs) {
        for (const auto &blob : blobs)
          if (!used.contains(blob.getKey()))
            unused.push_back(blob.getKey().str());
      });
  for (const std::string &key : unused)
    interface->getBlobManager().update(key, AsmResourceBlob());
}
