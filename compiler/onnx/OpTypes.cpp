// The element types that the rows of the op table take.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/OpTypes.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace convoy::onnx;

static constexpr llvm::StringLiteral kNames[] = {"f16", "bf16", "f32", "f64", "i8",  "i16", "i32",
                                                 "i64", "u8",   "u16", "u32", "u64", "bool"};

static constexpr unsigned kFloats = 0xf, kSigned = 0xf0, kUnsigned = 0xf00, kBool = 0x1000;

static constexpr TypeSet kSets[] = {
    {"any", kFloats | kSigned | kUnsigned | kBool},
    {"num", kFloats | kSigned | kUnsigned},
    {"float", kFloats},
    {"int", kSigned | kUnsigned},
    {"sint", kSigned},
    {"uint", kUnsigned},
    {"wide", 0xc0 | 0xc00},
    {"index", 0xc0},
    {"q8", 0x10 | 0x100},
};

llvm::ArrayRef<llvm::StringLiteral> convoy::onnx::elementTypeNames() { return kNames; }
llvm::ArrayRef<TypeSet> convoy::onnx::namedTypeSets() { return kSets; }

std::optional<unsigned> convoy::onnx::elementTypeIndex(mlir::Type type) {
  if (type.isF16())
    return 0;
  if (type.isBF16())
    return 1;
  if (type.isF32())
    return 2;
  if (type.isF64())
    return 3;
  auto integer = llvm::dyn_cast<mlir::IntegerType>(type);
  if (!integer)
    return std::nullopt;
  if (integer.getWidth() == 1)
    return 12;
  unsigned first = integer.isUnsigned() ? 8 : 4;
  switch (integer.getWidth()) {
  case 8:
    return first;
  case 16:
    return first + 1;
  case 32:
    return first + 2;
  case 64:
    return first + 3;
  default:
    return std::nullopt;
  }
}

std::string convoy::onnx::showTypes(unsigned set) {
  llvm::SmallVector<llvm::StringRef> names;
  for (auto [i, name] : llvm::enumerate(kNames))
    if (set >> i & 1)
      names.push_back(name);
  std::string text;
  for (auto [i, name] : llvm::enumerate(names))
    text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + name.str();
  return text;
}

// The set that a name stands for; 0 for none.
static unsigned setOf(llvm::StringRef name) {
  for (const TypeSet &named : kSets)
    if (named.name == name)
      return named.set;
  for (auto [i, type] : llvm::enumerate(kNames))
    if (type == name)
      return 1u << i;
  return 0;
}

std::optional<OpTypes> OpTypes::parse(llvm::StringRef text) {
  OpTypes types;
  llvm::SmallVector<llvm::StringRef> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef word : words) {
    if (types.repeat != 0)
      return std::nullopt;
    if (word.consume_front("*")) {
      if (word.getAsInteger(10, types.repeat) || types.repeat == 0 ||
          types.repeat > types.inputs.size())
        return std::nullopt;
      continue;
    }
    InputTypes input;
    input.text = word.str();
    unsigned other;
    if (word.consume_front("=")) {
      if (word.getAsInteger(10, other) || other >= types.inputs.size() ||
          types.inputs[other].sameAs)
        return std::nullopt;
      input.sameAs = other;
      input.set = types.inputs[other].set;
    } else {
      llvm::SmallVector<llvm::StringRef> names;
      word.split(names, '|');
      for (llvm::StringRef name : names) {
        if (setOf(name) == 0)
          return std::nullopt;
        input.set |= setOf(name);
      }
    }
    types.inputs.push_back(std::move(input));
  }
  return types;
}

std::optional<InputTypes> OpTypes::of(unsigned input) const {
  if (input < inputs.size())
    return inputs[input];
  if (repeat == 0)
    return std::nullopt;
  return inputs[inputs.size() - repeat + (input - inputs.size()) % repeat];
}
