// One op with its operands, computed by any strategy that can, on any layout.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "test/numerics/HostKernel.h"

namespace convoy::test {

/// Bytes of a tensor as it lies in memory.
struct Buffer {
  mlir::RankedTensorType type;
  int64_t batch = 1;
  std::vector<char> bytes;
  char *data() { return bytes.data() + offset; }
  const char *data() const { return bytes.data() + offset; }
  size_t offset = 0; ///< of the first element, so that it is aligned as in an arena

  Buffer(mlir::RankedTensorType type, int64_t batch);
  /// The type with the batch filled in.
  mlir::RankedTensorType fullType() const;
  size_t size() const; ///< bytes in memory
  int64_t numElements() const;
  /// Address of a logical element, numbered row-major.
  char *element(int64_t number);
  /// Whether the bytes around the tensor are still as the constructor left them.
  bool marginsIntact() const;
};

class StrategyCase {
public:
  /// `body` is the inside of a plan.kernel with one op; `BLOCKED` in it stands for the
  /// activations' blocked layout and `LANES` for the vector width of `target`.
  StrategyCase(mlir::MLIRContext &context, const Target &target, std::string body,
               int64_t batch = 1);

  mlir::Operation *op() { return operation; }
  /// The strategies that can compute it, the reference last.
  std::vector<const Strategy *> strategies();
  /// A module with the kernel for a strategy, weights packed.
  mlir::OwningOpRef<mlir::ModuleOp> moduleFor(const Strategy &strategy);
  /// Inputs and outputs in the layouts that the strategy wants. Logical elements of inputs are
  /// small numbers, the same for every strategy; lanes beyond the channels are NaN.
  std::vector<Buffer> buffersFor(mlir::ModuleOp module);
  /// Compiles and runs; empty if that failed.
  std::vector<Buffer> run(const Strategy &strategy);

  int64_t batch;
  const Target &target;
  /// Largest magnitude of inputs; they are integers.
  int64_t magnitude = 3;
  /// Whether inputs also have fractions.
  bool fractions = false;

private:
  mlir::MLIRContext &context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::Operation *operation = nullptr;
};

} // namespace convoy::test
