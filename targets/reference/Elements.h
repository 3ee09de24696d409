// The value of one element of a tensor in a kernel, as scalar code.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "targets/KernelBuilder.h"

namespace convoy {

/// Emits, at the builder's insertion point, elements of the tensors of one kernel, for one image.
class Elements {
public:
  using Values = KernelBuilder::Values;

  Elements(plan::KernelOp kernel, KernelBuilder &kb, mlir::Value image);

  KernelBuilder &kb;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Value image;

  /// An element of a block argument or of an op's result. Broadcasts as numpy has it: missing
  /// leading dimensions do not count, those of extent 1 have index 0, and so has a free batch.
  mlir::Value read(mlir::Value tensor, mlir::ValueRange index);
  /// The result's element from an accumulator: its scalar region, applied to the extras' elements.
  mlir::Value finish(cnn::EpilogueOpInterface op, mlir::Value accumulator, mlir::ValueRange index);

  /// The type in which sums of elements are taken: f64 for floats, i64 for integers.
  mlir::Type sumType(mlir::Type elementType);
  mlir::Value toSum(mlir::Value element, mlir::Type elementType);
  /// Rounds, or wraps.
  mlir::Value fromSum(mlir::Value sum, mlir::Type elementType);
  mlir::Value addUp(mlir::Value a, mlir::Value b);
  mlir::Value multiply(mlir::Value a, mlir::Value b);
  /// sum + a * b, where a and b are elements of one type.
  mlir::Value multiplyAdd(mlir::Value a, mlir::Value b, mlir::Value sum, mlir::Type elementType);
  mlir::Value divide(mlir::Value sum, mlir::Value divisor, mlir::Type elementType);
  /// Whether an integer is extended by zero; a bool is.
  static bool isUnsigned(mlir::Type elementType) {
    return elementType.isUnsignedInteger() || elementType.isInteger(1);
  }
  /// NaN if one is NaN.
  mlir::Value maximum(mlir::Type elementType, mlir::Value a, mlir::Value b);
  mlir::Value minimum(mlir::Type elementType, mlir::Value a, mlir::Value b);
  /// The least or greatest value of a type, infinite for floats.
  mlir::Value extreme(mlir::Type elementType, bool greatest);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a, mlir::Value b);
  /// low <= index < high.
  mlir::Value isInside(mlir::Value index, int64_t low, int64_t high);
  mlir::Value clamp(mlir::Value index, int64_t low, int64_t high);

  /// Loops over [begin, end) of each range, the first outermost.
  using Range = std::pair<mlir::Value, mlir::Value>;
  Values nest(llvm::ArrayRef<Range> ranges, mlir::ValueRange carried,
              llvm::function_ref<Values(mlir::ValueRange index, mlir::ValueRange carried)> body);

  /// A table beside the code; see KernelBuilder::table.
  template <typename T> mlir::Value table(llvm::ArrayRef<T> values) {
    return kb.table({reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T)});
  }

private:
  Values bases;
};

/// Whether elementOf computes an op.
bool hasElements(mlir::Operation *op);
/// The element of an op's result at an index. One function for each op.
mlir::Value elementOf(mlir::Operation *op, Elements &in, mlir::ValueRange index);
/// About how many elements are read for one of the op's result.
int64_t workPerElement(mlir::Operation *op);

// By family: windows, reductions and normalizations, movement.
mlir::Value elementOf(cnn::ConvOp op, Elements &in, mlir::ValueRange index);
mlir::Value elementOf(cnn::ConvTransposeOp op, Elements &in, mlir::ValueRange index);
mlir::Value elementOf(cnn::PoolOp op, Elements &in, mlir::ValueRange index);
mlir::Value elementOf(cnn::PoolArgmaxOp op, Elements &in, mlir::ValueRange index);

mlir::Value elementOf(cnn::MatmulOp op, Elements &in, mlir::ValueRange index);
mlir::Value elementOf(cnn::ReduceOp op, Elements &in, mlir::ValueRange index);
mlir::Value elementOf(cnn::LrnOp op, Elements &in, mlir::ValueRange index);
mlir::Value elementOf(cnn::BatchNormOp op, Elements &in, mlir::ValueRange index);
mlir::Value elementOf(cnn::SoftmaxOp op, Elements &in, mlir::ValueRange index);
/// What the elements of a softmax along its axis share: the largest value and the sum.
Elements::Values softmaxRow(cnn::SoftmaxOp op, Elements &in, mlir::ValueRange index);
mlir::Value softmaxElement(cnn::SoftmaxOp op, Elements &in, mlir::ValueRange row,
                           mlir::ValueRange index);

mlir::Value elementOf(cnn::SampleOp op, Elements &in, mlir::ValueRange index);
mlir::Value elementOf(cnn::RoiAlignOp op, Elements &in, mlir::ValueRange index);

mlir::Value elementOf(cnn::ConstantOp op, Elements &in, mlir::ValueRange index);
mlir::Value elementOf(cnn::MapOp op, Elements &in, mlir::ValueRange index);
mlir::Value elementOf(cnn::ReshapeOp op, Elements &in, mlir::ValueRange index);
mlir::Value elementOf(cnn::TransposeOp op, Elements &in, mlir::ValueRange index);
mlir::Value elementOf(cnn::BroadcastOp op, Elements &in, mlir::ValueRange index);
mlir::Value elementOf(cnn::SliceOp op, Elements &in, mlir::ValueRange index);
mlir::Value elementOf(cnn::ConcatOp op, Elements &in, mlir::ValueRange index);
mlir::Value elementOf(cnn::PadOp op, Elements &in, mlir::ValueRange index);
mlir::Value elementOf(cnn::ResizeOp op, Elements &in, mlir::ValueRange index);
mlir::Value elementOf(cnn::GatherOp op, Elements &in, mlir::ValueRange index);
mlir::Value elementOf(cnn::RelayoutOp op, Elements &in, mlir::ValueRange index);

mlir::Value elementOf(cnn::GatherElementsOp op, Elements &in, mlir::ValueRange index);
mlir::Value elementOf(cnn::ArgExtremeOp op, Elements &in, mlir::ValueRange index);
mlir::Value elementOf(cnn::PackOp op, Elements &in, mlir::ValueRange index);

} // namespace convoy
