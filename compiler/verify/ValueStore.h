// What the nodes of a model were seen to compute, and ops computed once for all passes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "compiler/verify/Compare.h"

#include "llvm/ADT/StringMap.h"

#include <map>

namespace convoy::verify {

/// A tensor with the hash of its type and elements.
struct KnownTensor {
  cnn::Tensor tensor;
  uint64_t hash = 0;

  KnownTensor() = default;
  explicit KnownTensor(cnn::Tensor tensor);
};

/// What an op computes, against what its nodes have computed before.
struct Judgement {
  KnownTensor value;
  /// How it differs from the nearest value that its last node had; nothing if it is one of the
  /// values of its nodes, or was judged before.
  std::optional<Deviation> deviation;
  /// Whether no value of the same type is known of its nodes: it cannot be judged.
  bool isNew = false;
};

/// Values by node. An op is known by its text, without layouts and strategy, and by the hashes of
/// its operands: one that a pass left as it was is not computed again. Where a changed op agrees
/// with what its node computed before, that older value is what the next ops get. So an op is always
/// judged on the operands that the first form of the model gave it, errors within the tolerance do
/// not add up, and ops after a change are known again.
class ValueStore {
public:
  explicit ValueStore(double tolerance) : tolerance(tolerance) {}

  /// The value of an op at `loc`, which may stand for it in a kernel. Errors of the evaluator are
  /// emitted.
  mlir::FailureOr<Judgement> judge(mlir::Operation *op, mlir::Location loc,
                                   llvm::ArrayRef<KnownTensor> operands,
                                   std::optional<int64_t> batch);
  /// The elements of a constant.
  mlir::FailureOr<KnownTensor> constant(mlir::Operation *op, mlir::RankedTensorType type,
                                        mlir::ElementsAttr value);
  /// Notes values as what the nodes of `loc` compute.
  void accept(mlir::Location loc, const KnownTensor &value);

  double getTolerance() const { return tolerance; }
  /// How many ops were computed, and asked for.
  int64_t computed = 0, asked = 0;

private:
  double tolerance;
  llvm::StringMap<llvm::SmallVector<KnownTensor, 1>> byNode;
  std::map<std::string, KnownTensor> results;
  llvm::DenseMap<mlir::Attribute, KnownTensor> constants;
  std::map<uint64_t, KnownTensor> constantsByHash;
};

/// The names of the nodes of a location, the last one being that whose value it has.
llvm::SmallVector<llvm::StringRef> nodesOf(mlir::Location loc);
/// The units that a result may be off by: one where numbers are rounded to integers, since they may
/// lie next to the middle between two.
int64_t unitsOf(mlir::Operation *op);

} // namespace convoy::verify
