// The values that the evaluator computes with.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "dialects/Cnn/Cnn.h"

#include <memory>

namespace convoy::cnn {

/// The elements of a tensor in logical row-major order, whatever the layout of the value it stands
/// for. Copies share the elements.
class Tensor {
public:
  Tensor() = default;
  /// Uninitialized elements of a static type; its layout is dropped. Null elements if there is not
  /// that much memory.
  static Tensor allocate(mlir::RankedTensorType type);
  /// Elements that someone else keeps alive.
  static Tensor view(mlir::RankedTensorType type, llvm::ArrayRef<char> bytes);
  /// The elements of a constant of `type`, unpacked from its layout. Viewed where they need no
  /// unpacking, so they live as long as the attribute's data.
  static Tensor fromConstant(mlir::RankedTensorType type, mlir::ElementsAttr value);

  /// A copy of the elements that lie in memory as the layout of `type` says.
  static Tensor unpack(mlir::RankedTensorType type, llvm::ArrayRef<char> memory);

  /// The same elements under another shape.
  Tensor withShape(llvm::ArrayRef<int64_t> shape) const;

  explicit operator bool() const { return static_cast<bool>(tensorType); }
  mlir::RankedTensorType type() const { return tensorType; }
  mlir::Type elementType() const { return tensorType.getElementType(); }
  llvm::ArrayRef<int64_t> shape() const { return tensorType.getShape(); }
  int64_t rank() const { return tensorType.getRank(); }
  int64_t numElements() const { return tensorType.getNumElements(); }
  int64_t elementBytes() const { return getElementBytes(elementType()); }
  llvm::ArrayRef<char> bytes() const { return content; }
  const char *data() const { return content.data(); }
  /// Only for a tensor that `allocate` has just made.
  char *mutableData() { return owner.get(); }
  template <typename T>
  llvm::ArrayRef<T> as() const {
    return {reinterpret_cast<const T *>(content.data()), content.size() / sizeof(T)};
  }

  /// Writes the elements to where the layout of `type` has them; lanes that it adds stay as they are.
  void pack(mlir::RankedTensorType type, llvm::MutableArrayRef<char> memory) const;
  /// The elements as a constant's value: packed into the layout of `type`, lanes that a blocked
  /// layout adds are zero. Shares the memory of an owning tensor where it needs no packing.
  mlir::ElementsAttr toConstant(mlir::RankedTensorType type) const;

private:
  mlir::RankedTensorType tensorType;
  llvm::ArrayRef<char> content;
  std::shared_ptr<char> owner;
};

} // namespace convoy::cnn
