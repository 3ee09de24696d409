// How the evaluator computes each op: fills `dst`, whose type is the result's with a concrete
// batch, from operands of the op's types.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "dialects/Cnn/Evaluate/ScalarProgram.h"

namespace convoy::cnn {

mlir::LogicalResult compute(ConvOp op, llvm::ArrayRef<Tensor> operands, Tensor &dst);
mlir::LogicalResult compute(ConvTransposeOp op, llvm::ArrayRef<Tensor> operands, Tensor &dst);
mlir::LogicalResult compute(PoolOp op, llvm::ArrayRef<Tensor> operands, Tensor &dst);
mlir::LogicalResult compute(PoolArgmaxOp op, llvm::ArrayRef<Tensor> operands, Tensor &dst);
mlir::LogicalResult compute(MatmulOp op, llvm::ArrayRef<Tensor> operands, Tensor &dst);
mlir::LogicalResult compute(ReduceOp op, llvm::ArrayRef<Tensor> operands, Tensor &dst);
mlir::LogicalResult compute(MapOp op, llvm::ArrayRef<Tensor> operands, Tensor &dst);
mlir::LogicalResult compute(SoftmaxOp op, llvm::ArrayRef<Tensor> operands, Tensor &dst);
mlir::LogicalResult compute(LrnOp op, llvm::ArrayRef<Tensor> operands, Tensor &dst);
mlir::LogicalResult compute(BatchNormOp op, llvm::ArrayRef<Tensor> operands, Tensor &dst);
mlir::LogicalResult compute(SampleOp op, llvm::ArrayRef<Tensor> operands, Tensor &dst);
mlir::LogicalResult compute(RoiAlignOp op, llvm::ArrayRef<Tensor> operands, Tensor &dst);
mlir::LogicalResult compute(TransposeOp op, llvm::ArrayRef<Tensor> operands, Tensor &dst);
mlir::LogicalResult compute(BroadcastOp op, llvm::ArrayRef<Tensor> operands, Tensor &dst);
mlir::LogicalResult compute(SliceOp op, llvm::ArrayRef<Tensor> operands, Tensor &dst);
mlir::LogicalResult compute(ConcatOp op, llvm::ArrayRef<Tensor> operands, Tensor &dst);
mlir::LogicalResult compute(PadOp op, llvm::ArrayRef<Tensor> operands, Tensor &dst);
mlir::LogicalResult compute(ResizeOp op, llvm::ArrayRef<Tensor> operands, Tensor &dst);
mlir::LogicalResult compute(GatherOp op, llvm::ArrayRef<Tensor> operands, Tensor &dst);

// Indexing and ordering.
mlir::LogicalResult compute(GatherElementsOp op, llvm::ArrayRef<Tensor> operands, Tensor &dst);
mlir::LogicalResult compute(ScatterOp op, llvm::ArrayRef<Tensor> operands, Tensor &dst);
mlir::LogicalResult compute(ArgExtremeOp op, llvm::ArrayRef<Tensor> operands, Tensor &dst);
mlir::LogicalResult compute(TopKOp op, llvm::ArrayRef<Tensor> operands, Tensor &dst);
mlir::LogicalResult compute(CumulativeSumOp op, llvm::ArrayRef<Tensor> operands, Tensor &dst);
mlir::LogicalResult compute(TruePositionsOp op, llvm::ArrayRef<Tensor> operands, Tensor &dst);
mlir::LogicalResult compute(SuppressOp op, llvm::ArrayRef<Tensor> operands, Tensor &dst);
mlir::LogicalResult compute(PackOp op, llvm::ArrayRef<Tensor> operands, Tensor &dst);

} // namespace convoy::cnn
