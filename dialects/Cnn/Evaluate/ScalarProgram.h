// A scalar region, decoded once to run over many elements.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "dialects/Cnn/Evaluate/Elements.h"
#include "dialects/Cnn/Evaluate/Walk.h"

#include <functional>

namespace convoy::cnn {

/// Computes a chunk: `args` are arrays of operands.
using ScalarKernel =
    std::function<void(Lane *dst, const Lane *const *args, int64_t count)>;

/// The meaning of one op of arith or math; an error at the op if it has none here.
mlir::FailureOr<ScalarKernel> getScalarKernel(mlir::Operation *op);

/// The scalar region of an op. Every op in it rounds its result to its own type; functions beyond
/// IEEE's basic ones are computed in double first.
class ScalarProgram {
public:
  static mlir::FailureOr<ScalarProgram> decode(EpilogueOpInterface op);

  /// Computes every element of `dst`. `accumulators` are unrounded and may be null for an op
  /// without them; `operands` broadcast to dst.
  void run(const Lane *accumulators, llvm::ArrayRef<Tensor> operands, Tensor &dst) const;

private:
  struct Step {
    ScalarKernel kernel;
    Codec codec;
    unsigned dst;
    llvm::SmallVector<unsigned, 3> args;
  };
  struct Constant {
    unsigned reg;
    Lane value;
  };

  std::vector<Step> steps;
  std::vector<Constant> constants;
  /// Of the region's arguments, which are the first registers.
  std::vector<Codec> arguments;
  unsigned numRegisters = 0, result = 0;
};

/// Computes dst from the accumulators of `op` and the tensors of its region's other operands.
mlir::LogicalResult applyEpilogue(EpilogueOpInterface op, const std::vector<Lane> &accumulators,
                                  llvm::ArrayRef<Tensor> extras, Tensor &dst);

} // namespace convoy::cnn
