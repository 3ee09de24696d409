// Reductions along axes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/Ops.h"
#include "compiler/onnx/ScalarBuilder.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;

namespace {

using Step = Value (*)(ScalarBuilder &s, Value x);

/// An ONNX reduction: a function of each element, the reduction, a function of the result.
struct Reduction {
  StringLiteral name;
  Step before;
  cnn::ReduceKind kind;
  Step after;
  bool floatsOnly;
};

} // namespace

static Value magnitude(ScalarBuilder &s, Value x) { return s.abs(x); }
static Value square(ScalarBuilder &s, Value x) { return s.mul(x, x); }
static Value root(ScalarBuilder &s, Value x) { return s.make<math::SqrtOp>(x); }
static Value logarithm(ScalarBuilder &s, Value x) { return s.make<math::LogOp>(x); }

static constexpr Reduction reductions[] = {
    {"ReduceL1", magnitude, cnn::ReduceKind::Sum, nullptr, false},
    {"ReduceL2", square, cnn::ReduceKind::Sum, root, true},
    {"ReduceLogSum", nullptr, cnn::ReduceKind::Sum, logarithm, true},
    {"ReduceMax", nullptr, cnn::ReduceKind::Max, nullptr, false},
    {"ReduceMean", nullptr, cnn::ReduceKind::Mean, nullptr, true},
    {"ReduceMin", nullptr, cnn::ReduceKind::Min, nullptr, false},
    {"ReduceProd", nullptr, cnn::ReduceKind::Prod, nullptr, false},
    {"ReduceSum", nullptr, cnn::ReduceKind::Sum, nullptr, false},
    {"ReduceSumSquare", square, cnn::ReduceKind::Sum, nullptr, false},
};

// A sum or product of all elements of a known vector: models compute sizes so.
static bool foldOnHost(NodeImport &node, const Reduction &reduction, ArrayRef<int64_t> axes,
                       ArrayRef<int64_t> shape) {
  std::optional<HostTensor> host = node.toHost(node.input(0));
  bool isProduct = reduction.kind == cnn::ReduceKind::Prod;
  bool isPlain = !reduction.before && !reduction.after;
  if (!host || !isPlain || (reduction.kind != cnn::ReduceKind::Sum && !isProduct) ||
      !host->type.getElementType().isSignlessInteger(64) ||
      axes.size() != static_cast<size_t>(host->type.getRank()))
    return false;
  HostTensor total{RankedTensorType::get({}, host->type.getElementType()),
                   {{0, isProduct ? 1 : 0}},
                   {}};
  for (const LinearInt &element : host->ints) {
    HostTensor one{total.type, {element}, {}};
    std::optional<HostTensor> next = foldElementwise(isProduct ? "Mul" : "Add", {total, one});
    if (!next)
      return false;
    total = *next;
  }
  node.setResult(0, Tensor(total.reshaped(shape)));
  return true;
}

static LogicalResult reduce(NodeImport &node, ArrayRef<int64_t> givenAxes, bool noopIfEmpty) {
  const Reduction *reduction =
      llvm::find_if(reductions, [&](const Reduction &r) { return r.name == node.opType(); });
  bool keepDims = node.intAttr("keepdims", 1) != 0;
  Tensor src = node.input(0);
  FailureOr<SmallVector<int64_t>> axes = node.normalizeAxes(givenAxes, src.rank());
  if (failed(axes))
    return failure();
  if (axes->empty() && !noopIfEmpty)
    axes = llvm::to_vector(llvm::seq<int64_t>(0, src.rank()));

  Type elementType = src.elementType();
  bool isBool = elementType.isInteger(1);
  bool isExtremum =
      reduction->kind == cnn::ReduceKind::Max || reduction->kind == cnn::ReduceKind::Min;
  if ((reduction->floatsOnly && !isa<FloatType>(elementType)) || (isBool && !isExtremum))
    return node.unsupported() << "elements of " << elementType;
  FailureOr<RankedTensorType> type =
      cnn::ReduceOp::inferType(node.getLoc(), src.type(), *axes, keepDims);
  if (failed(type))
    return failure();
  if (foldOnHost(node, *reduction, *axes, type->getShape()))
    return success();

  // A bool is no number to the reduction, its byte is.
  Type workType = isBool ? IntegerType::get(node.getContext(), 8, IntegerType::Unsigned)
                         : elementType;
  if (isBool || reduction->before) {
    FailureOr<Tensor> mapped =
        createMap(node, {src}, workType, [&](ScalarBuilder &s, ArrayRef<Value> x) {
          return isBool ? s.cast(x[0], workType) : reduction->before(s, x[0]);
        });
    if (failed(mapped))
      return failure();
    src = *mapped;
  }
  FailureOr<Value> value = node.toValue(src);
  if (failed(value))
    return failure();
  OpBuilder &builder = node.getBuilder();
  auto op = cnn::ReduceOp::create(builder, node.getLoc(), *type, *value, ValueRange(),
                                  reduction->kind, *axes, keepDims, StringAttr());
  {
    OpBuilder::InsertionGuard guard(builder);
    Block *block = builder.createBlock(&op.getEpilogue(), {}, op.getAccumulatorType(),
                                       node.getLoc());
    ScalarBuilder s(builder, node.getLoc(), workType);
    Value result = block->getArgument(0);
    if (isBool)
      result = s.cast(result, elementType);
    else if (reduction->after)
      result = reduction->after(s, result);
    cnn::YieldOp::create(builder, node.getLoc(), result);
  }
  FailureOr<Tensor> result = node.keep(op);
  if (failed(result))
    return failure();
  node.setResult(0, *result);
  return success();
}

LogicalResult convoy::onnx::importReduceAxesAttr(NodeImport &node) {
  return reduce(node, node.intsAttr("axes"), /*noopIfEmpty=*/false);
}

LogicalResult convoy::onnx::importReduce(NodeImport &node) {
  bool noop = node.intAttr("noop_with_empty_axes", 0) != 0;
  SmallVector<int64_t> axes;
  if (node.hasInput(1)) {
    FailureOr<SmallVector<int64_t>> given = node.constantInts(1, "axes");
    if (failed(given))
      return failure();
    axes = *given;
  }
  return reduce(node, axes, noop);
}
