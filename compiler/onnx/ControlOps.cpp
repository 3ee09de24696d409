// If.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/Compose.h"
#include "compiler/onnx/Ops.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;

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
    auto &[a, b] = results;
    if (a.type() != b.type())
      return node.unsupported() << "a condition that is known only at run time decides between "
                                << a.type() << " and " << b.type() << " for output " << i;
    FailureOr<Tensor> result =
        createMap(node, {*scalar, a, b}, a.elementType(),
                  [](ScalarBuilder &s, ArrayRef<Value> x) { return s.select(x[0], x[1], x[2]); });
    if (failed(result))
      return failure();
    node.setResult(i, *result);
  }
  return success();
}
