// Einsum as transposes, sums, products and matrix products.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/Ops.h"
#include "compiler/onnx/ScalarBuilder.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;

namespace {

/// Names of dimensions: letters, and for those that an ellipsis stands for numbers from the last
/// one on, so that they match as numpy broadcasts them.
using Labels = SmallVector<int>;
constexpr int kEllipsis = 256;

struct Term {
  Labels labels;
  Tensor tensor;

  int64_t extent(int label) const {
    auto it = llvm::find(labels, label);
    return it == labels.end() ? 1 : tensor.shape()[it - labels.begin()];
  }
  bool has(int label) const { return llvm::is_contained(labels, label); }
};

class Einsum {
public:
  explicit Einsum(NodeImport &node) : node(node) {}
  LogicalResult run();

private:
  LogicalResult parse();
  FailureOr<Labels> parseTerm(StringRef text, std::optional<int64_t> rank);
  LogicalResult takeDiagonals(Term &term);
  /// Sums over the labels of a term that neither the result nor `others` have.
  LogicalResult sumOut(Term &term, ArrayRef<Term> others);
  /// Dimensions in the order of `order`; those that the term lacks have extent 1.
  FailureOr<Tensor> arrange(const Term &term, ArrayRef<int> order);
  FailureOr<Term> contract(const Term &lhs, const Term &rhs, ArrayRef<Term> others);

  bool isNeeded(int label, ArrayRef<Term> others) const {
    return llvm::is_contained(result, label) ||
           llvm::any_of(others, [&](const Term &term) { return term.has(label); });
  }

  NodeImport &node;
  SmallVector<Term> terms;
  Labels result;
};

} // namespace

FailureOr<Labels> Einsum::parseTerm(StringRef text, std::optional<int64_t> rank) {
  Labels before, after;
  bool hasEllipsis = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ')
      continue;
    if (text.substr(i).starts_with("...") && !hasEllipsis) {
      hasEllipsis = true;
      i += 2;
      continue;
    }
    if (!llvm::isAlpha(text[i]))
      return node.error() << "cannot read '" << text << "' in its equation";
    (hasEllipsis ? after : before).push_back(text[i]);
  }
  int64_t named = before.size() + after.size(), hidden = 0;
  if (rank) {
    hidden = *rank - named;
    if (hidden < 0 || (hidden > 0 && !hasEllipsis))
      return node.error() << "names " << named << " dimensions in '" << text
                          << "' for a tensor of rank " << *rank;
  } else if (hasEllipsis) {
    for (const Term &term : terms)
      hidden = std::max<int64_t>(
          hidden, llvm::count_if(term.labels, [](int label) { return label >= kEllipsis; }));
  }
  Labels labels = before;
  for (int64_t i = hidden; i-- > 0;)
    labels.push_back(kEllipsis + i);
  labels.append(after);
  return labels;
}

LogicalResult Einsum::parse() {
  std::string equation = node.stringAttr("equation", "");
  auto [left, right] = StringRef(equation).split("->");
  bool isExplicit = StringRef(equation).contains("->");
  SmallVector<StringRef> parts;
  left.split(parts, ',');
  if (parts.size() != node.numInputs())
    return node.error() << "has " << node.numInputs() << " inputs for the equation '" << equation
                        << "'";
  for (auto [i, part] : llvm::enumerate(parts)) {
    if (!node.hasInput(i))
      return node.error() << "lacks input " << i;
    FailureOr<Labels> labels = parseTerm(part, node.input(i).rank());
    if (failed(labels))
      return failure();
    terms.push_back({*labels, node.input(i)});
  }
  if (isExplicit) {
    FailureOr<Labels> labels = parseTerm(right, std::nullopt);
    if (failed(labels))
      return failure();
    result = *labels;
  } else {
    // The ellipsis, then what occurs once, in alphabetical order.
    std::map<int, int> count;
    for (const Term &term : terms)
      for (int label : term.labels)
        ++count[label];
    for (auto [label, times] : llvm::reverse(count))
      if (label >= kEllipsis)
        result.push_back(label);
    for (auto [label, times] : count)
      if (label < kEllipsis && times == 1)
        result.push_back(label);
  }
  for (int label : result)
    if (llvm::count(result, label) != 1 ||
        llvm::none_of(terms, [label](const Term &term) { return term.has(label); }))
      return node.error() << "has a result that its terms do not tell in '" << equation << "'";
  return success();
}

LogicalResult Einsum::takeDiagonals(Term &term) {
  for (size_t i = 0; i < term.labels.size(); ++i) {
    auto it = std::find(term.labels.begin() + i + 1, term.labels.end(), term.labels[i]);
    if (it == term.labels.end())
      continue;
    // Both at the end and joined to one: the diagonal is every (extent + 1)st element.
    int64_t j = it - term.labels.begin(), rank = term.labels.size();
    int64_t extent = term.tensor.shape()[i];
    if (ShapedType::isDynamic(extent) || term.tensor.shape()[j] != extent)
      return node.error() << "takes a diagonal of extents "
                          << (ShapedType::isDynamic(extent) ? "that are free"
                                                            : std::to_string(extent))
                          << " and " << term.tensor.shape()[j];
    SmallVector<int64_t> perm;
    Labels labels;
    for (int64_t dim = 0; dim < rank; ++dim)
      if (dim != static_cast<int64_t>(i) && dim != j) {
        perm.push_back(dim);
        labels.push_back(term.labels[dim]);
      }
    labels.push_back(term.labels[i]);
    perm.append({static_cast<int64_t>(i), j});
    FailureOr<Tensor> moved = node.transpose(term.tensor, perm);
    if (failed(moved))
      return failure();
    SmallVector<int64_t> shape(moved->shape().drop_back(2)), starts(rank - 1, 0),
        steps(rank - 1, 1);
    shape.push_back(extent * extent);
    steps.back() = extent + 1;
    FailureOr<Tensor> joined = node.reshape(*moved, shape);
    if (failed(joined))
      return failure();
    shape.back() = extent;
    FailureOr<Tensor> diagonal = node.slice(*joined, starts, steps, shape);
    if (failed(diagonal))
      return failure();
    term = {labels, *diagonal};
    i = -1; // from the start: there may be a third one
  }
  return success();
}

LogicalResult Einsum::sumOut(Term &term, ArrayRef<Term> others) {
  SmallVector<int64_t> axes;
  Labels kept;
  for (auto [i, label] : llvm::enumerate(term.labels)) {
    if (isNeeded(label, others))
      kept.push_back(label);
    else
      axes.push_back(i);
  }
  if (axes.empty())
    return success();
  FailureOr<RankedTensorType> type =
      cnn::ReduceOp::inferType(node.getLoc(), term.tensor.type(), axes, /*keepDims=*/false);
  FailureOr<Value> value = node.toValue(term.tensor);
  if (failed(type) || failed(value))
    return failure();
  FailureOr<Tensor> sum = node.createWithIdentity<cnn::ReduceOp>(
      *type, *value, ValueRange(), cnn::ReduceKind::Sum, axes, false, StringAttr());
  if (failed(sum))
    return failure();
  term = {kept, *sum};
  return success();
}

FailureOr<Tensor> Einsum::arrange(const Term &term, ArrayRef<int> order) {
  SmallVector<int64_t> perm, shape;
  for (int label : order) {
    auto it = llvm::find(term.labels, label);
    if (it != term.labels.end())
      perm.push_back(it - term.labels.begin());
    shape.push_back(term.extent(label));
  }
  FailureOr<Tensor> moved = node.transpose(term.tensor, perm);
  if (failed(moved))
    return failure();
  return node.reshape(*moved, shape);
}

FailureOr<Term> Einsum::contract(const Term &lhs, const Term &rhs, ArrayRef<Term> others) {
  // Labels of both that are summed over; of both, or free, that stay; of one.
  Labels inner, batch, rows, columns;
  llvm::SetVector<int> all(lhs.labels.begin(), lhs.labels.end());
  all.insert(rhs.labels.begin(), rhs.labels.end());
  for (int label : all) {
    int64_t left = lhs.extent(label), right = rhs.extent(label);
    bool isShared = lhs.has(label) && rhs.has(label);
    bool mayBroadcast = label >= kEllipsis && (left == 1 || right == 1);
    if (isShared && left != right && !mayBroadcast)
      return node.error() << "gives one dimension the extents " << left << " and " << right;
    bool isFree = ShapedType::isDynamic(left) || ShapedType::isDynamic(right);
    if (isShared && !isNeeded(label, others))
      inner.push_back(label);
    else if (isShared || isFree || label >= kEllipsis)
      batch.push_back(label);
    else
      (lhs.has(label) ? rows : columns).push_back(label);
  }
  // A free batch comes first; there is but one.
  auto *free = llvm::find_if(batch, [&](int label) {
    return ShapedType::isDynamic(lhs.extent(label)) || ShapedType::isDynamic(rhs.extent(label));
  });
  if (free != batch.end())
    std::rotate(batch.begin(), free, free + 1);
  Labels order = batch;
  order.append(rows);
  if (inner.empty()) {
    order.append(columns);
    FailureOr<Tensor> a = arrange(lhs, order), b = arrange(rhs, order);
    if (failed(a) || failed(b))
      return failure();
    FailureOr<Tensor> product =
        createMap(node, {*a, *b}, lhs.tensor.elementType(),
                  [](ScalarBuilder &s, ArrayRef<Value> x) { return s.mul(x[0], x[1]); });
    if (failed(product))
      return failure();
    return Term{order, *product};
  }
  Labels left = order, right = batch;
  left.append(inner);
  right.append(inner);
  right.append(columns);
  order.append(columns);
  FailureOr<Tensor> a = arrange(lhs, left), b = arrange(rhs, right);
  if (failed(a) || failed(b))
    return failure();
  // [batch, rows, inner] times [batch, inner, columns].
  auto count = [](const Tensor &tensor, size_t from, size_t number) {
    int64_t result = 1;
    for (int64_t extent : tensor.shape().slice(from, number))
      result *= extent;
    return result;
  };
  for (size_t i = 0; i < inner.size(); ++i) {
    if (lhs.extent(inner[i]) == rhs.extent(inner[i]))
      continue;
    // One broadcasts along what is summed over.
    for (FailureOr<Tensor> *side : {&a, &b}) {
      size_t dim = (side == &a ? batch.size() + rows.size() : batch.size()) + i;
      SmallVector<int64_t> shape((*side)->shape());
      shape[dim] = std::max(lhs.extent(inner[i]), rhs.extent(inner[i]));
      *side = node.broadcast(**side, shape);
      if (failed(*side))
        return failure();
    }
  }
  int64_t m = count(*a, batch.size(), rows.size());
  int64_t k = count(*a, batch.size() + rows.size(), inner.size());
  int64_t n = count(*b, batch.size() + inner.size(), columns.size());
  SmallVector<int64_t> lhsShape(a->shape().take_front(batch.size())),
      rhsShape(b->shape().take_front(batch.size()));
  lhsShape.append({m, k});
  rhsShape.append({k, n});
  a = node.reshape(*a, lhsShape);
  b = node.reshape(*b, rhsShape);
  if (failed(a) || failed(b))
    return failure();
  FailureOr<RankedTensorType> type =
      cnn::MatmulOp::inferType(node.getLoc(), a->type(), b->type(), false, false);
  FailureOr<Value> lhsValue = node.toValue(*a), rhsValue = node.toValue(*b);
  if (failed(type) || failed(lhsValue) || failed(rhsValue))
    return failure();
  FailureOr<Tensor> product = node.createWithIdentity<cnn::MatmulOp>(
      *type, *lhsValue, *rhsValue, ValueRange(), false, false, StringAttr());
  if (failed(product))
    return failure();
  SmallVector<int64_t> shape(type->getShape().take_front(batch.size()));
  for (int label : rows)
    shape.push_back(lhs.extent(label));
  for (int label : columns)
    shape.push_back(rhs.extent(label));
  product = node.reshape(*product, shape);
  if (failed(product))
    return failure();
  return Term{order, *product};
}

LogicalResult Einsum::run() {
  if (failed(parse()))
    return failure();
  for (auto [i, term] : llvm::enumerate(terms)) {
    if (term.tensor.elementType() != terms[0].tensor.elementType())
      return node.error() << "has inputs of " << terms[0].tensor.elementType() << " and of "
                          << term.tensor.elementType();
    if (failed(takeDiagonals(term)))
      return failure();
  }
  Term joined = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) {
    ArrayRef<Term> others = ArrayRef(terms).drop_front(i + 1);
    SmallVector<Term> forLeft(others), forRight(others);
    forLeft.push_back(terms[i]);
    forRight.push_back(joined);
    Term right = terms[i];
    if (failed(sumOut(joined, forLeft)) || failed(sumOut(right, forRight)))
      return failure();
    FailureOr<Term> next = contract(joined, right, others);
    if (failed(next))
      return failure();
    joined = *next;
  }
  if (failed(sumOut(joined, {})))
    return failure();
  FailureOr<Tensor> arranged = arrange(joined, result);
  if (failed(arranged))
    return failure();
  node.setResult(0, *arranged);
  return success();
}

LogicalResult convoy::onnx::importEinsum(NodeImport &node) { return Einsum(node).run(); }
