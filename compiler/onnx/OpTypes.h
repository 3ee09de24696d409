// The element types that the rows of the op table take.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "mlir/IR/Types.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace convoy::onnx {

/// What an input may hold: types of a set, or the type of another input.
struct InputTypes {
  /// Bit i: type i of elementTypeNames().
  unsigned set = 0;
  std::optional<unsigned> sameAs;
  /// How the table writes it, such as `num`.
  std::string text;
};

/// A row's types, written as the table does it: a word for each input, in order. A word is names of
/// types or of sets of types, joined by '|', or '=' and the number of an input that has the same
/// type. A last word '*K' says that the K words before it repeat for further inputs.
class OpTypes {
public:
  /// Nothing if the text is malformed.
  static std::optional<OpTypes> parse(llvm::StringRef text);

  /// Of an input; the inputs of a row may be fewer than asked for only where none repeat.
  std::optional<InputTypes> of(unsigned input) const;
  llvm::ArrayRef<InputTypes> words() const { return inputs; }
  unsigned repeated() const { return repeat; }

private:
  std::vector<InputTypes> inputs;
  unsigned repeat = 0;
};

/// The types that an element of a tensor may have, by the names that diagnostics and pages use.
llvm::ArrayRef<llvm::StringLiteral> elementTypeNames();
/// The number of a type in this list; nothing for others.
std::optional<unsigned> elementTypeIndex(mlir::Type type);
/// "f32, f64 or i8".
std::string showTypes(unsigned set);

/// The sets that have a name: `num` and others.
struct TypeSet {
  llvm::StringLiteral name;
  unsigned set;
};
llvm::ArrayRef<TypeSet> namedTypeSets();

/// The table's rows as a page in Markdown.
std::string describeOps();

} // namespace convoy::onnx
