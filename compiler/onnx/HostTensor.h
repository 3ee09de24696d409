// Small tensors whose elements the importer knows: shapes and what models compute from them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "dialects/Cnn/Cnn.h"

#include <optional>
#include <vector>

namespace convoy::onnx {

/// A number that may grow with the batch: batch * (free batch) + constant.
template <typename T> struct Linear {
  T batch = 0, constant = 0;
  bool operator==(const Linear &other) const {
    return batch == other.batch && constant == other.constant;
  }
};
using LinearInt = Linear<int64_t>;
using LinearFloat = Linear<double>;

/// A tensor of known elements; its shape is static. Integers and bools are in `ints`, floats in
/// `floats`, rounded to the element type.
struct HostTensor {
  mlir::RankedTensorType type;
  std::vector<LinearInt> ints;
  std::vector<LinearFloat> floats;

  /// Larger constants are left to the passes.
  static constexpr int64_t kMaxElements = 4096;
  static std::optional<HostTensor> fromConstant(mlir::ElementsAttr value);
  static HostTensor ofInts(mlir::MLIRContext *context, llvm::ArrayRef<LinearInt> elements);

  bool isFloat() const { return mlir::isa<mlir::FloatType>(type.getElementType()); }
  int64_t size() const { return type.getNumElements(); }
  /// Whether no element depends on the free batch.
  bool isConstant() const;
  /// The elements as an attribute; they must be constant.
  mlir::ElementsAttr toConstant() const;

  /// The tensor of shape `shape` whose element i is element source[i] of this one.
  HostTensor pick(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> source) const;
  /// The same elements under another shape.
  HostTensor reshaped(llvm::ArrayRef<int64_t> shape) const;
};

/// The number of elements of a static shape, or of an image where the batch is free; nothing if it
/// is beyond what a machine can hold. Models are input: a product of extents may overflow.
std::optional<int64_t> countElements(llvm::ArrayRef<int64_t> shape);

/// The elements that numpy broadcasting reads: for each element of `to`, its index in `from`.
std::vector<int64_t> broadcastIndices(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);

/// An ONNX elementwise op on known elements; nothing if it is not one that shape arithmetic
/// needs, or if its value is not linear in the batch.
std::optional<HostTensor> foldElementwise(llvm::StringRef opType,
                                          llvm::ArrayRef<HostTensor> inputs);
/// Conversion as ONNX's Cast has it; nothing if it is not linear in the batch.
std::optional<HostTensor> foldCast(const HostTensor &input, mlir::Type elementType);

} // namespace convoy::onnx
