// Sets of input shapes that a model is compiled for, as the command line lists them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/Profiles.h"

#include "compiler/onnx/Importer.h"

#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSet.h"

using namespace convoy;
using llvm::StringRef;
using mlir::ShapedType;
using onnx::showShape;

using Extents = std::vector<int64_t>;

static std::string tooMany() {
  return "more than " + std::to_string(ProfileList::kMostProfiles) +
         " sets of shapes; each is compiled on its own, so list the ones that are needed";
}

static bool readNumber(StringRef text, int64_t &number) {
  return !text.getAsInteger(10, number) && number >= 0;
}

// Appends what one extent may be: 224, ?, 224:320:32.
static std::string readExtent(StringRef text, bool isFirst, Extents &extents) {
  if (text == "?" || text == "N") {
    if (!isFirst)
      return "only the first extent, the batch, may be free";
    extents.push_back(ShapedType::kDynamic);
    return "";
  }
  llvm::SmallVector<StringRef> parts;
  text.split(parts, ':');
  int64_t first, last, step;
  if (parts.size() == 1 && readNumber(text, first)) {
    extents.push_back(first);
    return "";
  }
  if (parts.size() == 1)
    return "'" + text.str() + "' is no extent";
  if (parts.size() != 3 || !readNumber(parts[0], first) || !readNumber(parts[1], last) ||
      !readNumber(parts[2], step))
    return "'" + text.str() + "' is no range; 224:320:32 is one, from 224 to 320 in steps of 32";
  if (step == 0 || last < first || (last - first) % step != 0)
    return "range " + text.str() + " does not lead from " + parts[0].str() + " to " +
           parts[1].str() + " in steps of " + parts[2].str();
  int64_t steps = (last - first) / step;
  if (steps >= static_cast<int64_t>(ProfileList::kMostProfiles))
    return tooMany();
  // Counted: a step beyond the last extent may be no number of 64 bits.
  for (int64_t i = 0; i <= steps; ++i)
    extents.push_back(first + i * step);
  return "";
}

// Every combination of one of each, the last turning fastest.
template <typename T>
static std::string combine(const std::vector<std::vector<T>> &choices,
                           std::vector<std::vector<T>> &combinations) {
  combinations = {{}};
  for (const std::vector<T> &choice : choices) {
    if (combinations.size() * choice.size() > ProfileList::kMostProfiles)
      return tooMany();
    std::vector<std::vector<T>> longer;
    for (const std::vector<T> &combination : combinations)
      for (const T &item : choice) {
        longer.push_back(combination);
        longer.back().push_back(item);
      }
    combinations = std::move(longer);
  }
  return "";
}

std::string ProfileList::addProfile(StringRef name) {
  if (name.empty())
    return "a profile needs a name";
  if (llvm::any_of(groups, [&](const Group &group) { return group.name == name; }))
    return "there are two profiles '" + name.str() + "'";
  groups.push_back({name.str(), {}});
  return "";
}

std::string ProfileList::addShape(StringRef text) {
  size_t equals = text.rfind('=');
  if (equals == StringRef::npos || equals == 0)
    return "expected NAME=1x3x224x224";
  llvm::SmallVector<StringRef> parts;
  if (equals + 1 < text.size())
    text.drop_front(equals + 1).split(parts, 'x');
  std::vector<Extents> choices;
  for (StringRef part : parts) {
    // Braces are what a shell's users write around lists.
    if (part.starts_with("{") && part.ends_with("}"))
      part = part.drop_front().drop_back();
    llvm::SmallVector<StringRef> items;
    part.split(items, ',');
    choices.emplace_back();
    for (StringRef item : items)
      if (std::string error = readExtent(item, choices.size() == 1, choices.back());
          !error.empty())
        return error;
  }
  std::vector<Extents> shapes;
  if (std::string error = combine(choices, shapes); !error.empty())
    return error;
  std::string input = text.take_front(equals).str();
  std::vector<Extents> &known = groups.back().shapes[input];
  for (Extents &shape : shapes) {
    if (llvm::is_contained(known, shape))
      return "input '" + input + "' is given " + showShape(shape) + " twice";
    known.push_back(std::move(shape));
  }
  return "";
}

// The shapes that a profile has where others have other ones.
static std::string describe(const Shapes &shapes, const llvm::StringSet<> &varying) {
  std::string text;
  for (const auto &[input, shape] : shapes) {
    if (!varying.contains(input))
      continue;
    text += text.empty() ? "" : ",";
    text += varying.size() > 1 ? input + "=" : "";
    text += shape.empty() ? "scalar" : showShape(shape);
  }
  return text;
}

std::string ProfileList::list(std::vector<ShapeProfile> &profiles) const {
  profiles.clear();
  for (const Group &group : llvm::drop_begin(groups, groups.size() > 1 ? 1 : 0)) {
    auto merged = group.shapes;
    merged.insert(groups[0].shapes.begin(), groups[0].shapes.end());
    std::vector<std::string> inputs;
    std::vector<std::vector<Extents>> choices, combinations;
    llvm::StringSet<> varying;
    for (const auto &[input, shapes] : merged) {
      inputs.push_back(input);
      choices.push_back(shapes);
      if (shapes.size() > 1)
        varying.insert(input);
    }
    if (std::string error = combine(choices, combinations); !error.empty())
      return error;
    for (const std::vector<Extents> &combination : combinations) {
      ShapeProfile profile;
      for (auto [input, shape] : llvm::zip_equal(inputs, combination))
        profile.shapes[input] = shape;
      profile.name = group.name;
      if (combinations.size() > 1)
        profile.name += (group.name.empty() ? "" : "/") + describe(profile.shapes, varying);
      for (const ShapeProfile &other : profiles)
        if (other.shapes == profile.shapes)
          return "profiles '" + other.name + "' and '" + profile.name + "' have the same shapes";
      profiles.push_back(std::move(profile));
      if (profiles.size() > kMostProfiles)
        return tooMany();
    }
  }
  return "";
}
