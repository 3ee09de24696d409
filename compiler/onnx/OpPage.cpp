// The page of supported ops, from the op table alone.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/Importer.h"
#include "compiler/onnx/OpTable.h"
#include "compiler/onnx/OpTypes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace convoy::onnx;

// "`any`, `index`, as 0"; what is between inputs of one row only.
static std::string showWords(const OpEntry &entry) {
  std::optional<OpTypes> types = OpTypes::parse(entry.types);
  std::string text;
  if (!types)
    return text;
  for (const InputTypes &input : types->words()) {
    text += text.empty() ? "" : ", ";
    if (input.sameAs) {
      text += "as " + std::to_string(*input.sameAs);
      continue;
    }
    // A bar would end the cell.
    llvm::SmallVector<llvm::StringRef> names;
    llvm::StringRef(input.text).split(names, '|');
    for (auto [i, name] : llvm::enumerate(names))
      text += (i ? " or `" : "`") + name.str() + "`";
  }
  if (unsigned repeated = types->repeated())
    text += repeated == 1 ? ", ..." : ", ... (the last " + std::to_string(repeated) + " repeat)";
  return text;
}

static void printRows(llvm::raw_ostream &out, llvm::ArrayRef<OpEntry> entries) {
  out << "| op | opsets | types of the inputs | limits |\n|---|---|---|---|\n";
  llvm::SmallVector<const OpEntry *> sorted;
  for (const OpEntry &entry : entries)
    sorted.push_back(&entry);
  llvm::sort(sorted, [](const OpEntry *a, const OpEntry *b) {
    return std::pair(llvm::StringRef(a->name), a->from) <
           std::pair(llvm::StringRef(b->name), b->from);
  });
  for (const OpEntry *entry : sorted) {
    out << "| " << entry->name << " | " << entry->from;
    if (entry->to != entry->from)
      out << " to " << entry->to;
    out << " | " << showWords(*entry) << " | " << entry->limits << " |\n";
  }
}

std::string convoy::onnx::describeOps() {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "A model may use these ops in these opsets; with any other it is refused, and all that are "
         "in the way\nare named. The opset is the one that the model says to be written for. An op "
         "that changed has a row\nfor each range of opsets in which Convoy gives it one meaning.\n\n"
         "Shapes are static but for the batch (dimension 0) and extents that only a run tells; an "
         "input whose\nvalue decides a shape must be known at compile time (`--bind`).\n\n";
  out << "## Types\n\n"
         "The types are those of the inputs, in order; optional inputs, which a node may leave out, "
         "are listed\ntoo.\n\n";
  for (const TypeSet &named : namedTypeSets())
    out << "* `" << named.name << "` is " << showTypes(named.set) << "\n";
  out << "* *as 0* is the type that input 0 has in the same node; inputs count from 0\n"
         "* *...* means any number of further inputs like the last one, or in turn like the last ones\n\n"
         "So Add, with `num`, as 0, adds tensors of any type of number, but both of the same.\n\n"
         "## ONNX\n\n";
  printRows(out, opTable());
  out << "\n## " << kMicrosoftDomain << "\n\n";
  printRows(out, microsoftOpTable());
  return text;
}
