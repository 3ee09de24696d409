// Access to the bytes of constants, whichever attribute holds them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "dialects/Cnn/Cnn.h"

#include <vector>

namespace convoy::cnn {

/// The most bytes that one repeated element may stand for. A few bytes of a model can ask for any
/// number, and whoever reads the data writes them out.
inline constexpr int64_t kMostRepeatedBytes = int64_t(1) << 30;

/// The bytes of `value` in memory order, one byte for a bool, a splat repeated.
/// They are a view where the attribute holds them that way, else a copy.
class ConstantData {
public:
  explicit ConstantData(mlir::ElementsAttr value);
  llvm::ArrayRef<char> bytes() const { return view; }

private:
  std::vector<char> copy;
  llvm::ArrayRef<char> view;
};

/// A constant of `type` (its shape is the shape in memory) that owns `bytes`. Few bytes become a
/// DenseElementsAttr, which prints readably, many a resource, which is not copied or uniqued.
mlir::ElementsAttr makeConstant(mlir::RankedTensorType type, std::vector<char> bytes);
/// The same over memory that lives as long as the context; it is not copied.
mlir::ElementsAttr makeConstantView(mlir::RankedTensorType type, llvm::ArrayRef<char> bytes);

/// The constant that defines a value; null if it is none.
mlir::ElementsAttr getConstant(mlir::Value value);
/// The elements of an integer constant as int64; nothing if `value` is none.
std::optional<llvm::SmallVector<int64_t>> getConstantInts(mlir::Value value);
/// The elements of a floating-point constant as double; nothing if `value` is none.
std::optional<llvm::SmallVector<double>> getConstantFloats(mlir::Value value);
/// One element of raw memory as a number.
int64_t readInt(const char *data, mlir::Type elementType);
double readFloat(const char *data, mlir::Type elementType);
/// Writes a number, rounded to nearest even, as one element.
void writeInt(char *data, mlir::Type elementType, int64_t value);
void writeFloat(char *data, mlir::Type elementType, double value);

} // namespace convoy::cnn
