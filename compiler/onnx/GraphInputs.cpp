// The inputs of a graph: arguments of main, or constants where their value is given.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/DeclaredType.h"
#include "compiler/onnx/GraphImporter.h"
#include "compiler/onnx/TensorData.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;
using ::onnx::ValueInfoProto;

FailureOr<RankedTensorType> GraphImporter::inputType(const ValueInfoProto &input,
                                                     std::string &wanted) {
  Location loc = file.getLoc();
  if (!input.type().has_tensor_type())
    return mlir::emitError(loc) << "unsupported: input '" << input.name() << "' is "
                                << showType(input.type()) << ", expected a tensor";
  const auto &declared = input.type().tensor_type();
  Type elementType = getElementType(context, declared.elem_type());
  if (!elementType)
    return mlir::emitError(loc) << "unsupported: input '" << input.name() << "' has elements of "
                                << getDataTypeName(declared.elem_type()) << ", expected "
                                << kElementTypes;
  auto sized = [&](ArrayRef<int64_t> shape) -> FailureOr<RankedTensorType> {
    if (!countElements(shape))
      return mlir::emitError(loc) << "input '" << input.name()
                                  << "' has too many elements: " << showShape(shape);
    return RankedTensorType::get(shape, elementType);
  };
  const auto &dims = declared.shape().dim();
  auto given = options.shapes.find(input.name());
  if (given != options.shapes.end()) {
    bool fits = !declared.has_shape() || dims.size() == static_cast<int>(given->second.size());
    for (int i = 0; fits && declared.has_shape() && i < dims.size(); ++i)
      fits = !isStatic(dims[i]) || dims[i].dim_value() == given->second[i] ||
             (i == 0 && isOneImage(dims) && ShapedType::isDynamic(given->second[0]));
    if (fits)
      return sized(given->second);
    return mlir::emitError(loc) << "shape [" << showShape(given->second) << "] does not fit input '"
                                << input.name() << "', which is ["
                                << showShape(extentsOf(declared.shape())) << "]";
  }
  std::string text;
  bool isComplete = declared.has_shape();
  for (const auto &[i, dim] : llvm::enumerate(dims)) {
    if (!isStatic(dim) && i > 0)
      isComplete = false;
    text += i > 0 ? "x" : "";
    text += isStatic(dim)             ? std::to_string(dim.dim_value())
            : i == 0                  ? "?"
            : dim.dim_param().empty() ? "<unknown>"
                                      : "<" + dim.dim_param() + ">";
  }
  if (!isComplete) {
    wanted += (wanted.empty() ? "" : " ") + input.name() + "=" +
              (declared.has_shape() ? text : "<unknown rank>");
    return RankedTensorType();
  }
  SmallVector<int64_t> shape = extentsOf(declared.shape());
  if (isFreed(input))
    shape[0] = ShapedType::kDynamic;
  return sized(shape);
}

bool GraphImporter::isFreed(const ValueInfoProto &input) const {
  const auto &dims = input.type().tensor_type().shape().dim();
  auto given = options.shapes.find(input.name());
  if (!isOneImage(dims) || options.boundInputs.count(input.name()))
    return false;
  return given == options.shapes.end()
             ? freesBatch
             : !given->second.empty() && ShapedType::isDynamic(given->second[0]);
}

LogicalResult GraphImporter::importBoundInput(const std::string &name) {
  ::onnx::TensorProto tensor;
  if (!tensor.ParseFromString(options.boundInputs.at(name)))
    return mlir::emitError(file.getLoc())
           << "the value given for input '" << name << "' is no tensor";
  Location loc = NameLoc::get(builder.getStringAttr(name));
  FailureOr<ElementsAttr> value = importTensor(loc, file, tensor);
  if (failed(value))
    return failure();
  for (const ValueInfoProto *input : names.inputs())
    if (input->name() == name &&
        failed(
            checkDeclared(file.getLoc(), *input, cast<RankedTensorType>(value->getShapedType()))))
      return failure();
  tensors[name] = Tensor(cnn::ConstantOp::create(builder, loc, *value).getResult());
  return success();
}

LogicalResult GraphImporter::importInputs(func::FuncOp function) {
  bool hasFailed = false;
  std::string wanted;
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attrs;
  Block *block = &function.getBody().front();
  std::string batchName, batchInput;
  for (const ValueInfoProto *input : names.inputs()) {
    // What follows from an input that fails is not reported again.
    tensors[input->name()] = Tensor();
    if (options.boundInputs.count(input->name())) {
      hasFailed |= failed(importBoundInput(input->name()));
      continue;
    }
    FailureOr<RankedTensorType> type = inputType(*input, wanted);
    if (failed(type)) {
      hasFailed = true;
      continue;
    }
    if (!*type)
      continue;
    perImage |= isFreed(*input);
    // Two symbols need not be one number, and only one may stay free.
    if (cnn::hasFreeBatch(*type) && !options.shapes.count(input->name())) {
      const std::string &symbol = input->type().tensor_type().shape().dim(0).dim_param();
      if (!symbol.empty() && !batchName.empty() && symbol != batchName) {
        mlir::emitError(file.getLoc())
            << "inputs '" << batchInput << "' and '" << input->name()
            << "' have different free extents '" << batchName << "' and '" << symbol
            << "'; fix one with --shape, or say with --shape that it is the batch, "
            << input->name() << "=" << showShape(type->getShape());
        hasFailed = true;
      } else if (!symbol.empty()) {
        batchName = symbol;
        batchInput = input->name();
      }
    }
    types.push_back(*type);
    attrs.push_back(nameAttrs(*input, *type));
    tensors[input->name()] =
        Tensor(block->addArgument(*type, NameLoc::get(builder.getStringAttr(input->name()))));
  }
  if (!wanted.empty()) {
    mlir::emitError(file.getLoc()) << "the shapes of some inputs are open; fix all but the batch "
                                      "with --shape: "
                                   << wanted;
    hasFailed = true;
  }
  function.setFunctionType(builder.getFunctionType(types, {}));
  function.setAllArgAttrs(attrs);
  return failure(hasFailed);
}
