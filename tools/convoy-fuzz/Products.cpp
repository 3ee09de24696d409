// Matrix products.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/convoy-fuzz/Builder.h"

#include <algorithm>
#include <cmath>

using namespace convoy;
using namespace convoy::fuzz;

// What the factors that a dot product takes from this operand sum up to.
static double weightsOf(const Value &value, double terms, int64_t kept) {
  bool isMatrix = value.kind == Value::Constant && value.rank() == 2;
  return isMatrix ? largestSum(value, kept) : terms * value.range.magnitude();
}

static bool makeMatMul(Builder &b) {
  int x = b.floatValue(
      [](const Value &value) { return value.rank() >= 1 && elements(value.dims()) > 0; });
  if (x == kOmitted)
    return false;
  const Dims left = b[x].dims();
  int64_t k = left.back();
  auto outer = [](const Dims &dims) {
    return dims.size() <= 2 ? Dims{} : Dims(dims.begin(), dims.end() - 2);
  };
  int y = kOmitted;
  if (b.choices.oneIn(3))
    y = b.find([&](const Value &value) {
      Dims batch;
      return value.type() == b[x].type() && value.rank() >= 1 && elements(value.dims()) > 0 &&
             value.dims()[value.rank() == 1 ? 0 : value.rank() - 2] == k &&
             broadcast(outer(left), outer(value.dims()), batch);
    });
  if (y == kOmitted) {
    Dims right;
    uint32_t form = b.choices.draw(6);
    int64_t n = b.choices.pick<int64_t>({4, 1, 3, 8, 16, 17, 33});
    if (form == 4)
      right = {k};
    else if (form == 5 && left.size() >= 3) {
      right = outer(left);
      for (int64_t &dim : right)
        if (b.choices.oneIn(2))
          dim = 1;
      right.push_back(k);
      right.push_back(n);
    } else
      right = {k, n};
    y = b.operand(b[x].type(), right, weightRange(b, b[x].range, double(k)));
  }
  const Dims right = b[y].dims();
  Dims dims;
  if (!broadcast(outer(left), outer(right), dims))
    return false;
  if (left.size() > 1)
    dims.push_back(left[left.size() - 2]);
  if (right.size() > 1)
    dims.push_back(right.back());
  if (double(elements(dims)) * k > 1e6)
    return false;
  Range range =
      sumOfProducts(b[x].type(), b[x].range, b[y].range, double(k), weightsOf(b[y], double(k), 1));
  return b.add("MatMul", {x, y}, {{b[x].type(), dims, range}});
}

static bool makeGemm(Builder &b) {
  int x = b.floatValue(
      [](const Value &value) { return value.rank() == 2 && elements(value.dims()) > 0; });
  if (x == kOmitted)
    return false;
  bool transA = b.choices.oneIn(3), transB = b.choices.oneIn(2);
  int64_t m = b[x].dims()[transA], k = b[x].dims()[!transA];
  int64_t n = b.choices.pick<int64_t>({4, 1, 3, 8, 16, 17, 33});
  Dims right = transB ? Dims{n, k} : Dims{k, n};
  convoy_type type = b[x].type();
  int y = b.operand(type, right, weightRange(b, b[x].range, double(k)));
  double alpha = b.choices.pick<double>({1, 1, 0.5, 2, 0.3}),
         beta = b.choices.pick<double>({1, 1, 0.5, 2, 0});
  int c = kOmitted;
  if (b.opset() < 11 || !b.choices.oneIn(4)) {
    Dims bias = b.choices.pick<Dims>({{n}, {m, n}, {1, n}, {m, 1}, {1}, {}});
    c = b.operand(type, bias, {-2, 2, 0, 1});
  }
  Range product = sumOfProducts(type, b[x].range, b[y].range, double(k),
                                weightsOf(b[y], double(k), transB ? 0 : 1));
  double most = product.magnitude() * alpha, error = product.error * alpha;
  double grid = product.grid * (alpha == 0.3 ? 0 : alpha);
  if (c != kOmitted) {
    most += b[c].range.magnitude() * beta;
    error += b[c].range.error * beta;
    if (beta != 0)
      grid = b[c].range.grid == 0 ? 0 : std::min(grid, b[c].range.grid * beta);
  }
  std::vector<::onnx::AttributeProto> attributes;
  if (alpha != 1)
    attributes.push_back(attr("alpha", alpha));
  if (beta != 1)
    attributes.push_back(attr("beta", beta));
  if (transA)
    attributes.push_back(attr("transA", int64_t(1)));
  if (transB)
    attributes.push_back(attr("transB", int64_t(1)));
  return b.add("Gemm", {x, y, c},
               {{type,
                 {m, n},
                 rounded(type, -most, most, error, grid, most + product.magnitude(), double(k))}},
               attributes);
}

static bool makeEinsum(Builder &b) {
  // Equation, extents of the first and second operand by the letters in it, and of the result.
  struct Form {
    const char *equation;
    Dims left, right, result;
    double terms;
  };
  int64_t i = b.choices.between(1, 5), j = b.choices.between(1, 9), k = b.choices.between(1, 17),
          h = b.choices.between(1, 3);
  const std::vector<Form> forms = {
      {"ij,jk->ik", {i, j}, {j, k}, {i, k}, double(j)},
      {"ij,kj->ik", {i, j}, {k, j}, {i, k}, double(j)},
      {"hij,hjk->hik", {h, i, j}, {h, j, k}, {h, i, k}, double(j)},
      {"bhqd,bhkd->bhqk", {h, 2, i, j}, {h, 2, k, j}, {h, 2, i, k}, double(j)},
      {"ij,ij->i", {i, j}, {i, j}, {i}, double(j)},
      {"i,j->ij", {i}, {j}, {i, j}, 1},
      {"nchw,cm->nmhw", {h, i, j, 3}, {i, k}, {h, k, j, 3}, double(i)},
  };
  const Form form = b.choices.pick(forms);
  int x = b.find([&](const Value &value) {
    return value.type() == CONVOY_TYPE_F32 && value.dims() == form.left;
  });
  if (x == kOmitted)
    x = b.input(CONVOY_TYPE_F32, form.left, b.newRange(CONVOY_TYPE_F32));
  int y = b.operand(CONVOY_TYPE_F32, form.right, weightRange(b, b[x].range, form.terms));
  Range range = sumOfProducts(CONVOY_TYPE_F32, b[x].range, b[y].range, form.terms,
                              form.terms * b[y].range.magnitude());
  return b.add("Einsum", {x, y}, {{CONVOY_TYPE_F32, form.result, range}},
               {attr("equation", form.equation)});
}

void convoy::fuzz::addProducts(std::vector<OpKind> &kinds) {
  kinds.push_back({"MatMul", 14, 1, kNewest, makeMatMul});
  kinds.push_back({"Einsum", 3, 12, kNewest, makeEinsum});
  kinds.push_back({"Gemm", 12, 7, kNewest, makeGemm});
}
