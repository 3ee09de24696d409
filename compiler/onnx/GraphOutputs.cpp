// The outputs of a graph: results of main, with the counts that belong to them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/DeclaredType.h"
#include "compiler/onnx/GraphImporter.h"
#include "compiler/onnx/Ops.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;
using ::onnx::ValueInfoProto;

LogicalResult GraphImporter::importOutputs(func::FuncOp function) {
  bool hasFailed = false;
  SmallVector<Value> values;
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attrs;
  SmallVector<std::optional<Extent>> extents;
  for (const ValueInfoProto &output : graph.output()) {
    Tensor tensor;
    if (failed(lookUp(output.name(), tensor))) {
      hasFailed = true;
      continue;
    }
    if (tensor.alternatives) {
      ::onnx::NodeProto proto;
      NodeImport node(*this, proto, 0, NameLoc::get(builder.getStringAttr(output.name())),
                      builder);
      FailureOr<Tensor> closed = closeAlternatives(node, tensor);
      if (failed(closed)) {
        hasFailed = true;
        continue;
      }
      tensor = *closed;
    }
    if (tensor.isLifted) {
      mlir::emitError(file.getLoc()) << "output '" << output.name()
                                     << "' does not have the batch in dimension 0";
      hasFailed = true;
      continue;
    }
    // A declared output may be stale once a shape was given by hand. It may have an extent where
    // only the largest one is known.
    if (options.shapes.empty() && !tensor.extent &&
        failed(checkDeclared(file.getLoc(), output, tensor.type()))) {
      hasFailed = true;
      continue;
    }
    if (!tensor.value) {
      if (!tensor.host->isConstant()) {
        mlir::emitError(file.getLoc()) << "output '" << output.name()
                                       << "' is a shape that depends on the free batch; fix the "
                                          "batch with --shape";
        hasFailed = true;
        continue;
      }
      tensor.value = cnn::ConstantOp::create(
          builder, NameLoc::get(builder.getStringAttr(output.name())), tensor.host->toConstant());
    }
    Location loc = NameLoc::get(builder.getStringAttr(output.name()));
    // As a tensor of its real extents lies in memory.
    if (tensor.extent &&
        ShapedType::getNumElements(tensor.shape().take_front(tensor.extent->dim)) != 1)
      tensor.value = cnn::PackOp::create(builder, loc, tensor.type(), tensor.value,
                                         tensor.extent->count, tensor.extent->dim, StringAttr());
    values.push_back(tensor.value);
    extents.push_back(tensor.extent);
    types.push_back(tensor.type());
    attrs.push_back(nameAttrs(output, tensor.type()));
  }
  if (hasFailed)
    return failure();
  // Counts are results too, after all others.
  llvm::SmallMapVector<Value, int64_t, 4> counts;
  for (auto [i, extent] : llvm::enumerate(extents)) {
    if (!extent)
      continue;
    int64_t number =
        counts.try_emplace(extent->count, extents.size() + counts.size()).first->second;
    SmallVector<NamedAttribute> named(attrs[i].begin(), attrs[i].end());
    named.push_back(builder.getNamedAttr(cnn::kExtentAttrName,
                                         cnn::ExtentAttr::get(context, extent->dim, number)));
    attrs[i] = builder.getDictionaryAttr(named);
  }
  for (auto [count, number] : counts) {
    values.push_back(count);
    types.push_back(count.getType());
    attrs.push_back(builder.getDictionaryAttr({}));
  }
  func::ReturnOp::create(builder, file.getLoc(), values);
  function.setFunctionType(builder.getFunctionType(function.getFunctionType().getInputs(), types));
  function.setAllResultAttrs(attrs);
  return success();
}
