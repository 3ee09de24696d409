// Elements of any type as numbers that the evaluator computes with.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "dialects/Cnn/Evaluate/Tensor.h"

#include <optional>
#include <vector>

namespace convoy::cnn {

/// One number: `f` of a floating-point element, `i` of an integer. An integer is extended from its
/// width by sign, if its type is unsigned or a bool by zero.
union Lane {
  double f;
  int64_t i;
};

/// Converts between memory and lanes of one type.
class Codec {
public:
  /// Nothing for a type that the dialect does not know.
  static std::optional<Codec> of(mlir::Type elementType);

  bool isFloat() const { return kind != Kind::Int; }
  unsigned bitWidth() const { return width; }
  void decode(const char *data, int64_t count, Lane *lanes) const;
  void encode(const Lane *lanes, int64_t count, char *data) const;
  /// Rounds to nearest even, or wraps, to what the type holds.
  void normalize(Lane *lanes, int64_t count) const;

private:
  enum class Kind { F16, BF16, F32, F64, Int };
  Codec(Kind kind, unsigned width, bool isUnsigned)
      : kind(kind), width(width), isUnsigned(isUnsigned) {}

  Kind kind;
  unsigned width;
  bool isUnsigned;
};

/// The elements as an array of T, the type that `dispatch` has chosen for them: a view if that is
/// how they are stored.
template <typename T>
class Decoded {
public:
  explicit Decoded(const Tensor &tensor);
  const T *data() const { return view; }

private:
  std::vector<T> copy;
  const T *view;
};

/// Calls `function` with a null pointer of the type to compute with: float for f32 and narrower,
/// double, uint64_t for ui64 or else int64_t.
template <typename F>
auto dispatch(mlir::Type elementType, F &&function) {
  if (elementType.isF64())
    return function(static_cast<double *>(nullptr));
  if (llvm::isa<mlir::FloatType>(elementType))
    return function(static_cast<float *>(nullptr));
  if (elementType.isUnsignedInteger(64))
    return function(static_cast<uint64_t *>(nullptr));
  return function(static_cast<int64_t *>(nullptr));
}

/// The type of sums over elements of T.
template <typename T>
using Sum = std::conditional_t<std::is_floating_point_v<T>, double, T>;

/// Lanes as an array of their sums, of the same size.
template <typename T>
Sum<T> *sums(std::vector<Lane> &lanes) {
  static_assert(sizeof(Sum<T>) == sizeof(Lane));
  return reinterpret_cast<Sum<T> *>(lanes.data());
}

} // namespace convoy::cnn
