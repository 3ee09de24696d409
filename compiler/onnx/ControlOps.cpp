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

static bool isSame(const HostTensor &a, const HostTensor &b) {
  return a.type == b.type && a.ints == b.ints && a.floats == b.floats;
}

Tensor convoy::onnx::restrictTo(const Tensor &tensor, Value condition, bool isTrue) {
  if (!tensor.alternatives)
    return tensor;
  const Alternatives &open = *tensor.alternatives;
  if (open.condition == condition)
    return restrictTo(isTrue ? open.whenTrue : open.whenFalse, condition, isTrue);
  Tensor result;
  result.alternatives = std::make_shared<Alternatives>(
      Alternatives{open.condition, restrictTo(open.whenTrue, condition, isTrue),
                   restrictTo(open.whenFalse, condition, isTrue)});
  return result;
}

FailureOr<Tensor> convoy::onnx::joinBranches(NodeImport &node, Value condition, Tensor a, Tensor b,
                                             bool mayStayOpen) {
  a = restrictTo(a, condition, true);
  b = restrictTo(b, condition, false);
  Tensor open;
  open.alternatives = std::make_shared<Alternatives>(Alternatives{condition, a, b});
  if (a.alternatives || b.alternatives)
    return open;
  if (a.elementType() != b.elementType())
    return node.error() << "has branches with elements of " << a.elementType() << " and of "
                        << b.elementType();
  std::optional<HostTensor> hostA = node.toHost(a), hostB = node.toHost(b);
  if (hostA && hostB && isSame(*hostA, *hostB))
    return a;
  // A shape may be made of these, and of a choice none can.
  if (mayStayOpen && hostA && hostB && !hostA->isFloat() && a.rank() <= 1)
    return open;
  FailureOr<std::optional<Extent>> extent = joinExtents(node, Tensor(condition), a, b);
  if (failed(extent))
    return failure();
  if (a.type() != b.type() || a.isLifted != b.isLifted) {
    if (mayStayOpen)
      return open;
    return mlir::emitError(node.getLoc())
           << "unsupported: a condition that is known only at run time decides between "
           << a.type() << " and " << b.type();
  }
  FailureOr<Tensor> result =
      createMap(node, {Tensor(condition), a, b}, a.elementType(),
                [](ScalarBuilder &s, ArrayRef<Value> x) { return s.select(x[0], x[1], x[2]); });
  if (failed(result))
    return failure();
  result->extent = *extent;
  result->isLifted = a.isLifted;
  return result;
}

FailureOr<Tensor> convoy::onnx::closeAlternatives(NodeImport &node, const Tensor &tensor) {
  if (!tensor.alternatives)
    return tensor;
  FailureOr<Tensor> whenTrue = closeAlternatives(node, tensor.alternatives->whenTrue);
  FailureOr<Tensor> whenFalse = closeAlternatives(node, tensor.alternatives->whenFalse);
  if (failed(whenTrue) || failed(whenFalse))
    return failure();
  return joinBranches(node, tensor.alternatives->condition, *whenTrue, *whenFalse,
                      /*mayStayOpen=*/false);
}

// The result where one branch cannot be computed for these shapes: that of the other, or NaN.
static FailureOr<Tensor> orNan(NodeImport &node, Value condition, const Tensor &tensor,
                               bool isTrue) {
  if (tensor.alternatives) {
    FailureOr<Tensor> whenTrue = orNan(node, condition, tensor.alternatives->whenTrue, isTrue);
    FailureOr<Tensor> whenFalse = orNan(node, condition, tensor.alternatives->whenFalse, isTrue);
    if (failed(whenTrue) || failed(whenFalse))
      return failure();
    Tensor open;
    open.alternatives = std::make_shared<Alternatives>(
        Alternatives{tensor.alternatives->condition, *whenTrue, *whenFalse});
    return open;
  }
  FailureOr<Tensor> result =
      createMap(node, {Tensor(condition), tensor}, tensor.elementType(),
                [&](ScalarBuilder &s, ArrayRef<Value> x) {
                  Value nan = s.of(tensor.elementType()).number(std::nan(""));
                  return isTrue ? s.select(x[0], x[1], nan) : s.select(x[0], nan, x[1]);
                });
  if (failed(result))
    return failure();
  result->extent = tensor.extent;
  result->isLifted = tensor.isLifted;
  return result;
}

static bool isAllFloat(const Tensor &tensor) {
  if (tensor.alternatives)
    return isAllFloat(tensor.alternatives->whenTrue) && isAllFloat(tensor.alternatives->whenFalse);
  return isa<FloatType>(tensor.elementType());
}

static void report(NodeImport &node, std::vector<Diagnostic> &errors) {
  for (Diagnostic &error : errors)
    node.getContext()->getDiagEngine().emit(std::move(error));
}

// With a known condition the other branch does not exist. Otherwise both branches are computed and
// the results selected: no op has effects, and a program is a straight list of launches. Results of
// different shapes stay apart, and what reads them is computed for each, until shapes agree.
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

  std::vector<Diagnostic> errors;
  FailureOr<SmallVector<Tensor>> whenTrue = node.tryGraph("then_branch", errors);
  bool isFirst = failed(whenTrue);
  FailureOr<SmallVector<Tensor>> whenFalse = node.tryGraph("else_branch", errors);
  FailureOr<Tensor> scalar = node.reshape(condition, {});
  if (failed(scalar))
    return failure();
  FailureOr<Value> choice = node.toValue(*scalar);
  if (failed(choice))
    return failure();
  if (failed(whenTrue) || failed(whenFalse)) {
    // A branch that is wrong for these shapes is none that a run can take with sense.
    const SmallVector<Tensor> *rest = succeeded(whenTrue)    ? &*whenTrue
                                      : succeeded(whenFalse) ? &*whenFalse
                                                             : nullptr;
    bool isLacking = llvm::any_of(errors, [](Diagnostic &error) {
      return StringRef(error.str()).starts_with("unsupported");
    });
    if (!rest || isLacking || errors.empty() || !llvm::all_of(*rest, isAllFloat)) {
      report(node, errors);
      return failure();
    }
    mlir::emitWarning(node.getLoc())
        << "its " << (isFirst ? "then_branch" : "else_branch")
        << " cannot be computed for these shapes (" << errors.front().str()
        << "); a run that takes it gives NaN";
    for (auto [i, tensor] : llvm::enumerate(*rest)) {
      FailureOr<Tensor> result = orNan(node, *choice, tensor, !isFirst);
      if (failed(result))
        return failure();
      node.setResult(i, *result);
    }
    return success();
  }
  if (whenTrue->size() != whenFalse->size())
    return node.error() << "has branches of " << whenTrue->size() << " and " << whenFalse->size()
                        << " results";
  for (auto [i, results] : llvm::enumerate(llvm::zip(*whenTrue, *whenFalse))) {
    FailureOr<Tensor> result =
        joinBranches(node, *choice, std::get<0>(results), std::get<1>(results));
    if (failed(result))
      return failure();
    node.setResult(i, *result);
  }
  return success();
}
