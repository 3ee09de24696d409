// How much an op computes and how much memory it touches, for one image.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Work.h"

#include "passes/Graph.h"
#include "passes/ScalarRegion.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace convoy;

static int64_t numElements(Value value) {
  return cnn::perImage(tensorType(value)).getNumElements();
}

int64_t convoy::countFlops(Operation *op) {
  int64_t result = numElements(op->getResult(0));
  int64_t flops =
      llvm::TypeSwitch<Operation *, int64_t>(op)
          .Case([&](cnn::ConvOp conv) {
            ArrayRef<int64_t> wei = tensorType(conv.getWei()).getShape();
            return 2 * result * llvm::product_of(wei.drop_front());
          })
          .Case([&](cnn::ConvTransposeOp conv) {
            ArrayRef<int64_t> wei = tensorType(conv.getWei()).getShape();
            return 2 * numElements(conv.getSrc()) * llvm::product_of(wei.drop_front());
          })
          .Case([&](cnn::MatmulOp matmul) {
            auto lhs = tensorType(matmul.getLhs());
            return 2 * result * lhs.getShape()[lhs.getRank() - (matmul.getTransposeLhs() ? 2 : 1)];
          })
          .Case([&](cnn::PoolOp pool) { return result * llvm::product_of(pool.getKernel()); })
          .Case([&](cnn::PoolArgmaxOp pool) { return result * llvm::product_of(pool.getKernel()); })
          .Case([&](cnn::ReduceOp reduce) { return numElements(reduce.getSrc()); })
          // Maximum, difference, exponential, sum, quotient.
          .Case([&](cnn::SoftmaxOp) { return 5 * result; })
          .Case([&](cnn::LrnOp lrn) { return result * (2 * int64_t(lrn.getSize()) + 3); })
          .Case([&](cnn::ResizeOp resize) {
            int64_t taps = 1;
            int64_t perDim = resize.getMode() == cnn::ResizeMode::Cubic    ? 4
                             : resize.getMode() == cnn::ResizeMode::Linear ? 2
                                                                           : 0;
            for (double scale : resize.getScales())
              taps *= scale != 1.0 ? perDim : 1;
            return 2 * result * taps;
          })
          .Default([](Operation *) { return int64_t(0); });
  if (auto epilogue = dyn_cast<cnn::EpilogueOpInterface>(op))
    flops += result * countScalarOps(epilogue);
  return flops;
}

int64_t convoy::countBytes(Operation *op) {
  llvm::SetVector<Value> values(op->operand_begin(), op->operand_end());
  values.insert(op->result_begin(), op->result_end());
  int64_t bytes = 0;
  for (Value value : values)
    bytes += cnn::getBytes(tensorType(value));
  return bytes;
}
