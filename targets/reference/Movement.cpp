// Elements of map and of the ops that only move elements.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/reference/Elements.h"

#include "dialects/Cnn/ConstantData.h"

using namespace mlir;
using namespace convoy;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

Value convoy::elementOf(cnn::ConstantOp op, Elements &in, ValueRange index) {
  RankedTensorType type = typeOf(op.getResult());
  Value data = in.kb.table(cnn::ConstantData(op.getValue()).bytes());
  return in.kb.load(type.getElementType(), data, in.kb.offsetOf(type, index));
}

Value convoy::elementOf(cnn::MapOp op, Elements &in, ValueRange index) {
  return in.finish(op, Value(), index);
}

Value convoy::elementOf(cnn::ReshapeOp op, Elements &in, ValueRange index) {
  KernelBuilder &kb = in.kb;
  RankedTensorType src = cnn::perImage(typeOf(op.getSrc()));
  RankedTensorType dst = cnn::perImage(typeOf(op.getDst()));
  Value linear = kb.i64(0);
  for (auto [extent, position] : llvm::zip_equal(dst.getShape(), index))
    linear = kb.add(kb.mul(linear, extent), extent == 1 ? kb.i64(0) : position);
  return in.read(op.getSrc(), kb.delinearize(linear, src.getShape()));
}

Value convoy::elementOf(cnn::TransposeOp op, Elements &in, ValueRange index) {
  Elements::Values position(index.size());
  for (auto [i, dim] : llvm::enumerate(op.getPerm()))
    position[dim] = index[i];
  return in.read(op.getSrc(), position);
}

Value convoy::elementOf(cnn::BroadcastOp op, Elements &in, ValueRange index) {
  return in.read(op.getSrc(), index);
}

Value convoy::elementOf(cnn::RelayoutOp op, Elements &in, ValueRange index) {
  return in.read(op.getSrc(), index);
}

Value convoy::elementOf(cnn::SliceOp op, Elements &in, ValueRange index) {
  Elements::Values position;
  for (auto [i, start, step] : llvm::zip_equal(index, op.getStarts(), op.getSteps()))
    position.push_back(in.kb.add(in.kb.mul(i, step), start));
  return in.read(op.getSrc(), position);
}

Value convoy::elementOf(cnn::ConcatOp op, Elements &in, ValueRange index) {
  KernelBuilder &kb = in.kb;
  int64_t axis = op.getAxis();
  Type type = cnn::getScalarType(typeOf(op.getDst()));
  // A chain of conditions, one for each input but the last.
  auto from = [&](auto &self, size_t input, int64_t begin) -> Value {
    Value tensor = op.getInputs()[input];
    Elements::Values position(index);
    position[axis] = kb.sub(index[axis], kb.i64(begin));
    if (input + 1 == op.getInputs().size())
      return in.read(tensor, position);
    int64_t end = begin + typeOf(tensor).getDimSize(axis);
    Value here = in.compare(arith::CmpIPredicate::slt, index[axis], kb.i64(end));
    return kb.ifThenElse(
        here, type, [&] { return Elements::Values{in.read(tensor, position)}; },
        [&] { return Elements::Values{self(self, input + 1, end)}; })[0];
  };
  return from(from, 0, 0);
}

Value convoy::elementOf(cnn::PadOp op, Elements &in, ValueRange index) {
  KernelBuilder &kb = in.kb;
  RankedTensorType src = cnn::perImage(typeOf(op.getSrc()));
  Elements::Values position;
  Value inside;
  for (auto [dim, extent] : llvm::enumerate(src.getShape())) {
    int64_t low = op.getLow()[dim], high = op.getHigh()[dim];
    Value i = kb.sub(index[dim], kb.i64(low));
    bool padded = low > 0 || high > 0;
    switch (op.getMode()) {
    case cnn::PadMode::Constant:
      if (padded) {
        Value here = in.isInside(i, 0, extent);
        inside = inside ? Value(arith::AndIOp::create(in.builder, in.loc, inside, here)) : here;
      }
      break;
    case cnn::PadMode::Edge:
      i = in.clamp(i, 0, extent);
      break;
    case cnn::PadMode::Reflect: {
      // Pads are below the extent, so one reflection at each end is enough.
      Value fromLow = kb.max(i, kb.sub(kb.i64(0), i));
      Value mirrored = kb.sub(kb.i64(2 * (extent - 1)), fromLow);
      i = kb.min(fromLow, mirrored);
      if (low < 0 || high < 0) // cropped on one side, the other may reflect nothing
        i = in.clamp(i, 0, extent);
      break;
    }
    case cnn::PadMode::Wrap: {
      // Shifted by a multiple of the extent to a number that is not negative.
      int64_t shift = low > 0 ? llvm::alignTo(low, std::max<int64_t>(extent, 1)) : 0;
      i = kb.rem(kb.add(i, shift), std::max<int64_t>(extent, 1));
      break;
    }
    }
    position.push_back(i);
  }
  if (!inside)
    return in.read(op.getSrc(), position);
  Type type = cnn::getScalarType(src);
  return kb.ifThenElse(
      inside, type, [&] { return Elements::Values{in.read(op.getSrc(), position)}; },
      [&] {
        if (!op.getValue())
          return Elements::Values{kb.constant(type, 0)};
        Elements::Values first(typeOf(op.getValue()).getRank(), kb.i64(0));
        return Elements::Values{in.read(op.getValue(), first)};
      })[0];
}

Value convoy::elementOf(cnn::GatherOp op, Elements &in, ValueRange index) {
  KernelBuilder &kb = in.kb;
  RankedTensorType src = typeOf(op.getSrc()), indices = typeOf(op.getIndices());
  int64_t axis = op.getAxis(), extent = src.getDimSize(axis), rank = indices.getRank();
  Value picked = in.read(op.getIndices(), index.slice(axis, rank));
  if (!picked.getType().isInteger(64))
    picked = arith::ExtSIOp::create(in.builder, in.loc, in.builder.getI64Type(), picked);
  Value negative = in.compare(arith::CmpIPredicate::slt, picked, kb.i64(0));
  // Data may be any number: the sum must be free to wrap.
  Value fromEnd = arith::AddIOp::create(in.builder, in.loc, picked, kb.i64(extent));
  picked = in.clamp(in.select(negative, fromEnd, picked), 0, extent);
  Elements::Values position(index.take_front(axis));
  position.push_back(picked);
  llvm::append_range(position, index.drop_front(axis + rank));
  return in.read(op.getSrc(), position);
}
