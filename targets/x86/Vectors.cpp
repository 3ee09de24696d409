// Small pieces of vector code that strategies share.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/x86/Vectors.h"

using namespace mlir;
using namespace convoy;

using Values = KernelBuilder::Values;

Value convoy::combineLanes(KernelBuilder &kb, Value vector, CombineVectors combine) {
  int64_t lanes = cast<VectorType>(vector.getType()).getNumElements();
  for (int64_t distance = lanes / 2; distance > 0; distance /= 2) {
    SmallVector<int64_t> mask;
    for (int64_t lane = 0; lane < lanes; ++lane)
      mask.push_back(lane ^ distance);
    Value other = vector::ShuffleOp::create(kb.builder, kb.loc, vector, vector, mask);
    vector = combine(vector, other);
  }
  return vector;
}

Value convoy::combineFloats(KernelBuilder &kb, cnn::ReduceKind kind, Value a, Value b) {
  OpBuilder &builder = kb.builder;
  switch (kind) {
  case cnn::ReduceKind::Sum:
  case cnn::ReduceKind::Mean:
    return arith::AddFOp::create(builder, kb.loc, a, b);
  case cnn::ReduceKind::Prod:
    return arith::MulFOp::create(builder, kb.loc, a, b);
  case cnn::ReduceKind::Max:
    return arith::MaximumFOp::create(builder, kb.loc, a, b, arith::FastMathFlags::nsz);
  case cnn::ReduceKind::Min:
    return arith::MinimumFOp::create(builder, kb.loc, a, b, arith::FastMathFlags::nsz);
  }
  llvm_unreachable("unknown kind of reduction");
}

double convoy::neutralOf(cnn::ReduceKind kind) {
  switch (kind) {
  case cnn::ReduceKind::Sum:
  case cnn::ReduceKind::Mean:
    return 0;
  case cnn::ReduceKind::Prod:
    return 1;
  case cnn::ReduceKind::Max:
    return -std::numeric_limits<double>::infinity();
  case cnn::ReduceKind::Min:
    return std::numeric_limits<double>::infinity();
  }
  llvm_unreachable("unknown kind of reduction");
}

Value convoy::tailMask(KernelBuilder &kb, int64_t count) {
  return count < kb.lanes() ? kb.firstLanes(kb.i64(count), kb.lanes()) : Value();
}

Value convoy::laneMask(KernelBuilder &kb, int64_t first, int64_t last, int64_t stride,
                       int64_t shift) {
  SmallVector<bool> mask(kb.lanes(), false);
  for (int64_t lane = first; lane < last; ++lane)
    if (int64_t position = lane * stride - shift; position >= 0 && position < kb.lanes())
      mask[position] = true;
  if (llvm::all_of(mask, [](bool on) { return on; }))
    return {};
  auto type = VectorType::get(kb.lanes(), kb.builder.getI1Type());
  return arith::ConstantOp::create(kb.builder, kb.loc,
                                   DenseElementsAttr::get(type, ArrayRef<bool>(mask)));
}

Values convoy::forVectors(KernelBuilder &kb, int64_t count, int64_t unroll, ValueRange carried,
                          function_ref<Values(Value, int64_t, ValueRange)> body) {
  int64_t step = unroll * kb.lanes(), looped = count / step * step;
  Values values(carried);
  if (looped == step)
    values = body(kb.i64(0), step, values);
  else if (looped)
    values = kb.loop(kb.i64(0), kb.i64(looped), step, values,
                     [&](Value at, ValueRange inner) { return body(at, step, inner); });
  if (looped < count)
    values = body(kb.i64(looped), count - looped, values);
  return values;
}

void convoy::forVectors(KernelBuilder &kb, int64_t count, int64_t unroll,
                        function_ref<void(Value, int64_t)> body) {
  forVectors(kb, count, unroll, ValueRange(), [&](Value at, int64_t elements, ValueRange) {
    body(at, elements);
    return Values();
  });
}

void convoy::forPiece(KernelBuilder &kb, Value number, int64_t perPiece, int64_t extent,
                      function_ref<void(Value)> body) {
  if (perPiece == 1) {
    body(number);
    return;
  }
  Value begin = kb.mul(number, perPiece), end = kb.add(begin, perPiece);
  if (extent % perPiece)
    end = kb.min(end, kb.i64(extent));
  kb.loop(begin, end, 1, body);
}
