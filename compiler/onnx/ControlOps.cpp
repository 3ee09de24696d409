// If.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/Compose.h"
#include "compiler/onnx/Ops.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;

// The number of elements along a dimension, as a scalar.
static FailureOr<Value> countAlong(NodeImport &node, const Tensor &tensor, int64_t dim) {
  if (tensor.extent)
    return tensor.extent->count;
  HostTensor extent =
      HostTensor::ofInts(node.getContext(), LinearInt{0, tensor.shape()[dim]}).reshaped({});
  return node.toValue(Tensor(extent));
}

// Where two tensors that a condition decides between differ in one extent, or have one that only a
// run tells, so has the result: both are brought to the larger bound.
static FailureOr<std::optional<Extent>> joinExtents(NodeImport &node, const Tensor &condition,
                                                    Tensor &a, Tensor &b) {
  std::optional<int64_t> dim;
  for (const Tensor *tensor : {&a, &b})
    if (tensor->extent) {
      if (dim && *dim != tensor->extent->dim)
        return node.unsupported() << "its branches have different dimensions whose extents only a "
                                     "run tells";
      dim = tensor->extent->dim;
    }
  bool isAlike = a.rank() == b.rank() && a.elementType() == b.elementType();
  for (int64_t i = 0; isAlike && i < a.rank(); ++i) {
    if (a.shape()[i] == b.shape()[i] || dim == i)
      continue;
    isAlike = !dim && !a.type().isDynamicDim(i) && !b.type().isDynamicDim(i);
    dim = i;
  }
  if (!dim || !isAlike)
    return std::optional<Extent>(); // what differs is reported by the caller
  FailureOr<Value> countA = countAlong(node, a, *dim), countB = countAlong(node, b, *dim);
  if (failed(countA) || failed(countB))
    return failure();
  int64_t bound = std::max(a.shape()[*dim], b.shape()[*dim]);
  for (Tensor *tensor : {&a, &b}) {
    SmallVector<int64_t> shape(tensor->shape()), low(shape.size(), 0), high(shape.size(), 0);
    if (shape[*dim] == bound)
      continue;
    high[*dim] = bound - shape[*dim];
    shape[*dim] = bound;
    FailureOr<Value> value = node.toValue(*tensor);
    if (failed(value))
      return failure();
    FailureOr<Tensor> padded = node.create<cnn::PadOp>(
        RankedTensorType::get(shape, tensor->elementType()), *value, Value(), low, high,
        cnn::PadMode::Constant, StringAttr());
    if (failed(padded))
      return failure();
    *tensor = *padded;
  }
  FailureOr<Tensor> count =
      createMap(node, {condition, Tensor(*countA), Tensor(*countB)},
                IntegerType::get(node.getContext(), 64),
                [](ScalarBuilder &s, ArrayRef<Value> x) { return s.select(x[0], x[1], x[2]); });
  if (failed(count))
    return failure();
  FailureOr<Value> value = node.toValue(*count);
  if (failed(value))
    return failure();
  return std::optional<Extent>(Extent{*dim, *value});
}

// With a known condition the other branch does not exist. Otherwise both branches are computed and
// the results selected: no op has effects, and a program is a straight list of launches.
LogicalResult convoy::onnx::importIf(NodeImport &node) {
  const Tensor &condition = node.input(0);
  if (!condition.elementType().isInteger(1) || !condition.type().hasStaticShape() ||
      condition.type().getNumElements() != 1)
    return node.error() << "condition must be one bool, got " << condition.type();
  std::optional<HostTensor> host = node.toHost(condition);
  if (host && host->isConstant()) {
    bool isTrue = host->ints[0].constant != 0;
    node.ignoreAttr(isTrue ? "else_branch" : "then_branch");
    FailureOr<SmallVector<Tensor>> results =
        node.importGraph(isTrue ? "then_branch" : "else_branch");
    if (failed(results))
      return failure();
    for (auto [i, result] : llvm::enumerate(*results))
      node.setResult(i, result);
    return success();
  }

  FailureOr<SmallVector<Tensor>> whenTrue = node.importGraph("then_branch");
  FailureOr<SmallVector<Tensor>> whenFalse = node.importGraph("else_branch");
  FailureOr<Tensor> scalar = node.reshape(condition, {});
  if (failed(whenTrue) || failed(whenFalse) || failed(scalar))
    return failure();
  if (whenTrue->size() != whenFalse->size())
    return node.error() << "has branches of " << whenTrue->size() << " and " << whenFalse->size()
                        << " results";
  for (auto [i, results] : llvm::enumerate(llvm::zip(*whenTrue, *whenFalse))) {
    Tensor a = std::get<0>(results), b = std::get<1>(results);
    FailureOr<std::optional<Extent>> extent = joinExtents(node, *scalar, a, b);
    if (failed(extent))
      return failure();
    if (a.type() != b.type() || a.isLifted != b.isLifted)
      return node.unsupported() << "a condition that is known only at run time decides between "
                                << a.type() << " and " << b.type() << " for output " << i;
    FailureOr<Tensor> result =
        createMap(node, {*scalar, a, b}, a.elementType(),
                  [](ScalarBuilder &s, ArrayRef<Value> x) { return s.select(x[0], x[1], x[2]); });
    if (failed(result))
      return failure();
    result->isLifted = a.isLifted;
    node.setResult(i, *result);
    node.setExtent(i, *extent);
  }
  return success();
}
