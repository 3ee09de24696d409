// An op as text, for finding again what was measured of it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/tune/Signature.h"

#include "dialects/Cnn/ConstantData.h"
#include "passes/Graph.h"
#include "passes/KernelTable.h"

#include "llvm/Support/raw_ostream.h"

#include <functional>

using namespace mlir;
using namespace convoy;

namespace {

class Writer {
public:
  explicit Writer(bool withLayouts) : withLayouts(withLayouts), stream(text) {}

  std::string write(Operation *op);

private:
  void attributes(Operation *op);
  void type(Type type);
  void scalarOps(Block &block);

  bool withLayouts;
  std::string text;
  llvm::raw_string_ostream stream;
};

} // namespace

void Writer::attributes(Operation *op) {
  // Sorted by name, wherever they are kept.
  NamedAttrList sorted(op->getAttrDictionary());
  for (NamedAttribute attribute : sorted) {
    StringRef name = attribute.getName();
    if (name == "strategy" || name == kConfigAttrName || name == "operandSegmentSizes" ||
        name == "resultSegmentSizes" || name == "fastmath")
      continue;
    stream << " " << name;
    if (isa<UnitAttr>(attribute.getValue()))
      continue;
    stream << "=";
    if (auto numbers = dyn_cast<DenseI64ArrayAttr>(attribute.getValue()))
      llvm::interleave(numbers.asArrayRef(), stream, ",");
    else if (auto number = dyn_cast<IntegerAttr>(attribute.getValue()))
      stream << number.getValue();
    else
      attribute.getValue().print(stream, /*elideType=*/true);
  }
}

void Writer::type(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor) {
    stream << type;
    return;
  }
  for (int64_t extent : tensor.getShape())
    stream << (ShapedType::isDynamic(extent) ? "?" : std::to_string(extent)) << "x";
  stream << tensor.getElementType();
  if (StringRef tag = cnn::getLayoutTag(tensor); withLayouts && !tag.empty())
    stream << ":" << tag;
}

// What is yielded, as a list of ops on the arguments and on earlier ops, each after its operands: the
// order of independent ops in the block, which passes change, does not show.
void Writer::scalarOps(Block &block) {
  llvm::DenseMap<Value, unsigned> numbers;
  for (Value argument : block.getArguments())
    numbers.try_emplace(argument, numbers.size());
  stream << " {";
  std::function<void(Operation *)> add = [&](Operation *op) {
    for (Value operand : op->getOperands()) {
      Operation *before = operand.getDefiningOp();
      if (before && !isa<arith::ConstantOp>(before) && !numbers.contains(operand))
        add(before);
    }
    stream << " " << op->getName().stripDialect();
    attributes(op);
    for (Value operand : op->getOperands()) {
      if (operand.getDefiningOp<arith::ConstantOp>())
        stream << " c";
      else
        stream << " " << numbers.lookup(operand);
    }
    // A cast's operand does not say what it is to.
    if (op->getNumResults() == 1 && op->getNumOperands() == 1 &&
        op->getResult(0).getType() != op->getOperand(0).getType())
      stream << ":" << op->getResult(0).getType();
    for (Value result : op->getResults())
      numbers.try_emplace(result, numbers.size());
    stream << ";";
  };
  add(block.getTerminator());
  stream << " }";
}

bool tune::isConstantWeight(OpOperand &operand) {
  return operand.getOperandNumber() == 1 &&
         isa<cnn::ConvOp, cnn::ConvTransposeOp, cnn::MatmulOp>(operand.getOwner()) &&
         cnn::getConstant(operand.get());
}

std::string Writer::write(Operation *op) {
  stream << op->getName().stripDialect();
  attributes(op);
  stream << " (";
  llvm::interleaveComma(op->getOpOperands(), stream, [&](OpOperand &operand) {
    type(operand.get().getType());
    if (tune::isConstantWeight(operand))
      stream << " const";
  });
  stream << ") ->";
  for (Type result : op->getResultTypes()) {
    stream << " ";
    type(result);
  }
  for (Region &region : op->getRegions())
    if (!region.empty())
      scalarOps(region.front());
  return std::move(text);
}

std::string tune::signatureOf(Operation *op) { return Writer(true).write(op); }

std::string tune::shapeSignatureOf(Operation *op) { return Writer(false).write(op); }
