// Reductions along axes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/Compose.h"
#include "compiler/onnx/Ops.h"

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
  bool isLogOfExp = false;
};

} // namespace

static Value magnitude(ScalarBuilder &s, Value x) { return s.abs(x); }
static Value square(ScalarBuilder &s, Value x) { return s.mul(x, x); }
static Value root(ScalarBuilder &s, Value x) { return s.make<math::SqrtOp>(x); }
static Value logarithm(ScalarBuilder &s, Value x) { return s.make<math::LogOp>(x); }

static constexpr Reduction reductions[] = {
    {"ReduceL1", magnitude, cnn::ReduceKind::Sum, nullptr},
    {"ReduceL2", square, cnn::ReduceKind::Sum, root},
    {"ReduceLogSum", nullptr, cnn::ReduceKind::Sum, logarithm},
    {"ReduceLogSumExp", nullptr, cnn::ReduceKind::Sum, logarithm, /*isLogOfExp=*/true},
    {"ReduceMax", nullptr, cnn::ReduceKind::Max, nullptr},
    {"ReduceMean", nullptr, cnn::ReduceKind::Mean, nullptr},
    {"ReduceMin", nullptr, cnn::ReduceKind::Min, nullptr},
    {"ReduceProd", nullptr, cnn::ReduceKind::Prod, nullptr},
    {"ReduceSum", nullptr, cnn::ReduceKind::Sum, nullptr},
    {"ReduceSumSquare", square, cnn::ReduceKind::Sum, nullptr},
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

// log(sum(exp(x))) as max + log(sum(exp(x - max))), so that nothing overflows.
static LogicalResult logSumExp(NodeImport &node, const Tensor &src, ArrayRef<int64_t> axes,
                               bool keepDims, Type elementType) {
  FailureOr<Tensor> largest =
      createReduce(node, src, cnn::ReduceKind::Max, axes, /*keepDims=*/true);
  if (failed(largest))
    return failure();
  // An infinite maximum shifts nothing: the difference of infinities is no number.
  FailureOr<Tensor> shift = createMap(
      node, {*largest}, src.elementType(), [](ScalarBuilder &s, ArrayRef<Value> x) {
        Value isFinite =
            s.less(s.abs(x[0]), s.number(std::numeric_limits<double>::infinity()));
        return s.select(isFinite, x[0], s.number(0));
      });
  if (failed(shift))
    return failure();
  FailureOr<Tensor> powers = createMap(
      node, {src, *shift}, src.elementType(), [](ScalarBuilder &s, ArrayRef<Value> x) {
        return s.make<math::ExpOp>(s.sub(x[0], x[1]));
      });
  FailureOr<RankedTensorType> type =
      cnn::ReduceOp::inferType(node.getLoc(), src.type(), axes, keepDims);
  if (failed(powers) || failed(type))
    return failure();
  shift = node.reshape(*shift, type->getShape());
  if (failed(shift))
    return failure();
  return setResult(
      node, createReduce(node, *powers, cnn::ReduceKind::Sum, axes, keepDims,
                         {*shift, elementType, [&](ScalarBuilder &s, ArrayRef<Value> x) {
                            return s.cast(s.add(logarithm(s, x[0]), x[1]), elementType);
                          }}));
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

  // To the model there is one image, over which to reduce changes nothing.
  if (node.isPerImage() && keepDims && cnn::hasFreeBatch(src.type()))
    llvm::erase(*axes, 0);
  Type elementType = src.elementType();
  bool isBool = elementType.isInteger(1);
  bool isExtremum =
      reduction->kind == cnn::ReduceKind::Max || reduction->kind == cnn::ReduceKind::Min;
  if (isBool && !isExtremum)
    return node.unsupported() << "elements of " << elementType;
  FailureOr<RankedTensorType> type =
      cnn::ReduceOp::inferType(node.getLoc(), src.type(), *axes, keepDims);
  if (failed(type))
    return failure();
  if (foldOnHost(node, *reduction, *axes, type->getShape()))
    return success();

  // A bool is no number to the reduction, its byte is; roots and logarithms of integers are taken
  // in f64 and truncated, and a square of a half may be too large for one.
  MLIRContext *context = node.getContext();
  bool hasSteps = reduction->before || reduction->after;
  Type workType = elementType;
  if (isBool)
    workType = IntegerType::get(context, 8, IntegerType::Unsigned);
  else if (!isa<FloatType>(elementType) && reduction->after)
    workType = Float64Type::get(context);
  else if (hasSteps && isa<FloatType>(elementType) && elementType.getIntOrFloatBitWidth() < 32)
    workType = Float32Type::get(context);
  if (workType != elementType || reduction->before) {
    FailureOr<Tensor> mapped =
        createMap(node, {src}, workType, [&](ScalarBuilder &s, ArrayRef<Value> x) {
          ScalarBuilder work = s.of(workType);
          Value element = s.cast(x[0], workType);
          return reduction->before ? reduction->before(work, element) : element;
        });
    if (failed(mapped))
      return failure();
    src = *mapped;
  }
  if (reduction->isLogOfExp)
    return logSumExp(node, src, *axes, keepDims, elementType);
  auto finish = [&](ScalarBuilder &s, ArrayRef<Value> x) {
    Value result = reduction->after ? reduction->after(s, x[0]) : x[0];
    return s.cast(result, elementType);
  };
  return setResult(node, createReduce(node, src, reduction->kind, *axes, keepDims,
                                      {{}, elementType, finish}));
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
