// Ordering of floats with their positions: as integers, which compare in one instruction.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "targets/KernelBuilder.h"

namespace convoy {

/// A key is an i64: the order of a float in its high half, that of the position in its low half.
/// No two keys of a row are equal, and the smaller key comes first: that of the larger float, with
/// `least` of the smaller one, of equals that of the lower position. A NaN is larger than any
/// number; all NaNs are equal, and so are both zeros. Positions are below 2^31.
class SortKeys {
public:
  SortKeys(KernelBuilder &kb, bool least) : kb(kb), least(least) {}

  /// The high half, as i32, of a float or of each of a vector.
  mlir::Value rank(mlir::Value number);
  mlir::Value key(mlir::Value rank, mlir::Value position);
  mlir::Value position(mlir::Value key);
  /// The high half of a key.
  mlir::Value rankOf(mlir::Value key);

private:
  KernelBuilder &kb;
  bool least;
};

/// scf.while: as long as `condition` of the carried values holds, `body` makes the next ones.
KernelBuilder::Values
loopWhile(KernelBuilder &kb, mlir::ValueRange carried,
          llvm::function_ref<mlir::Value(mlir::ValueRange carried)> condition,
          llvm::function_ref<KernelBuilder::Values(mlir::ValueRange carried)> body);

mlir::Value isBelow(KernelBuilder &kb, mlir::Value a, mlir::Value b); ///< of signed integers

/// A binary heap of i64 in memory: at its root the smallest, with `greatest` the greatest.
class Heap {
public:
  Heap(KernelBuilder &kb, mlir::Value keys, bool greatest)
      : kb(kb), keys(keys), greatest(greatest) {}

  /// Makes a heap of the first `size` elements.
  void build(mlir::Value size);
  /// Puts `key` in the root's place in a heap of `size`.
  void replaceRoot(mlir::Value key, mlir::Value size) { sift(key, kb.i64(0), size); }
  /// Takes the root of a heap of `size`, which is not empty, out.
  mlir::Value pop(mlir::Value size);
  mlir::Value root() { return load(kb.i64(0)); }

private:
  mlir::Value load(mlir::Value at) { return kb.load(kb.builder.getI64Type(), keys, at); }
  void store(mlir::Value key, mlir::Value at) {
    kb.store(kb.builder.getI64Type(), key, keys, at);
  }
  mlir::Value isAbove(mlir::Value a, mlir::Value b) {
    return greatest ? isBelow(kb, b, a) : isBelow(kb, a, b);
  }
  void sift(mlir::Value key, mlir::Value hole, mlir::Value size);

  KernelBuilder &kb;
  mlir::Value keys;
  bool greatest;
};

} // namespace convoy
