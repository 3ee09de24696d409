// Loop nests over tensors in memory.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/x86/StridedNest.h"

using namespace mlir;
using namespace convoy;

using Values = KernelBuilder::Values;

SmallVector<int64_t> convoy::rowMajorStrides(ArrayRef<int64_t> extents) {
  SmallVector<int64_t> strides(extents.size(), 1);
  for (size_t i = extents.size(); i-- > 1;)
    strides[i - 1] = strides[i] * extents[i];
  return strides;
}

Value convoy::linearOffset(KernelBuilder &kb, ValueRange index, ArrayRef<int64_t> strides) {
  Value sum = kb.i64(0);
  for (auto [i, stride] : llvm::zip_equal(index, strides))
    if (stride != 0)
      sum = kb.add(sum, kb.mul(i, stride));
  return sum;
}

int64_t StridedNest::size() const {
  int64_t size = 1;
  for (int64_t extent : extents)
    size *= extent;
  return size;
}

void StridedNest::collapse() {
  auto joins = [&](size_t dim) { // with the next one
    return llvm::all_of(strides, [&](const SmallVector<int64_t> &s) {
      return s[dim] == s[dim + 1] * extents[dim + 1];
    });
  };
  auto drop = [&](size_t dim) {
    extents.erase(extents.begin() + dim);
    for (SmallVector<int64_t> &s : strides)
      s.erase(s.begin() + dim);
  };
  for (size_t dim = rank(); dim-- > 0;)
    if (extents[dim] == 1 && rank() > 1)
      drop(dim);
  for (size_t dim = rank(); dim-- > 1;)
    if (joins(dim - 1)) {
      extents[dim] *= extents[dim - 1];
      drop(dim - 1);
    }
  if (rank() == 0) {
    extents.push_back(1);
    for (SmallVector<int64_t> &s : strides)
      s.push_back(0);
  }
}

NestTiles::NestTiles(const StridedNest &nest, int64_t elements) {
  size_t rank = nest.rank();
  inner = nest.extents.back();
  hasMiddle = rank > 1;
  if (hasMiddle) {
    middle = nest.extents[rank - 2];
    outer.assign(nest.extents.begin(), nest.extents.end() - 2);
  }
  for (int64_t extent : outer)
    outerSize *= extent;

  // The slowest dimensions are cut first, each only as far as needed.
  perOuter = std::clamp<int64_t>(elements / std::max<int64_t>(middle * inner, 1), 1, outerSize);
  perMiddle = std::clamp<int64_t>(elements / std::max<int64_t>(inner, 1), 1, middle);
  perInner = inner;
  // Only a single long row is cut along itself, at a multiple of any unrolled vector.
  constexpr int64_t granule = 1024;
  if (!hasMiddle)
    perInner = std::clamp<int64_t>(elements / granule * granule, granule, std::max(inner, granule));
  auto pieces = [](int64_t extent, int64_t &per) {
    int64_t count = std::max<int64_t>(llvm::divideCeil(extent, per), 1);
    return count;
  };
  outerPieces = pieces(outerSize, perOuter);
  middlePieces = pieces(middle, perMiddle);
  innerPieces = pieces(inner, perInner);
}

void NestTiles::emit(KernelBuilder &kb, Value number, NestRow row,
                     function_ref<void(ValueRange)> enter) const {
  Values piece = kb.delinearize(number, {outerPieces, middlePieces, innerPieces});
  if (!hasMiddle) {
    if (enter)
      enter({});
    Value begin = kb.mul(piece[2], perInner);
    int64_t rest = inner - (innerPieces - 1) * perInner;
    if (innerPieces == 1 || rest == perInner) {
      row({}, begin, innerPieces == 1 ? inner : perInner);
      return;
    }
    Value isLast = arith::CmpIOp::create(kb.builder, kb.loc, arith::CmpIPredicate::eq, piece[2],
                                         kb.i64(innerPieces - 1));
    auto branch = [&](int64_t count) {
      row({}, begin, count);
      return Values();
    };
    kb.ifThenElse(
        isLast, {}, [&] { return branch(rest); }, [&] { return branch(perInner); });
    return;
  }

  auto over = [&](Value at, int64_t per, int64_t extent, function_ref<void(Value)> body) {
    if (per == 1) {
      body(at);
      return;
    }
    Value begin = kb.mul(at, per);
    Value end = per * (extent / per) == extent ? kb.add(begin, per)
                                               : kb.min(kb.add(begin, per), kb.i64(extent));
    kb.loop(begin, end, 1, body);
  };
  over(piece[0], perOuter, outerSize, [&](Value linear) {
    Values index = kb.delinearize(linear, outer);
    if (enter)
      enter(index);
    over(piece[1], perMiddle, middle, [&](Value at) {
      index.push_back(at);
      row(index, kb.i64(0), inner);
      index.pop_back();
    });
  });
}
