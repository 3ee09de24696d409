// Sets of input shapes that a model is compiled for, as the command line lists them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace convoy {

/// Shapes of inputs by name; a dynamic extent in dimension 0 is the free batch.
using Shapes = std::map<std::string, std::vector<int64_t>>;

/// One set of input shapes.
struct ShapeProfile {
  std::string name; // empty where it is the only one and has not been named
  Shapes shapes;
};

/// Collects profiles. Shapes before the first profile are those of every profile; a profile that
/// has its own for an input takes these instead. A shape may say several extents in one place, and
/// an input may have several shapes: every combination is then a profile.
///
/// Functions return what is wrong, or an empty string.
class ProfileList {
public:
  /// How many may be in one artifact: each is compiled in turn.
  static constexpr size_t kMostProfiles = 64;

  ProfileList() : groups(1) {}
  /// Begins a profile; the shapes that follow are its own.
  std::string addProfile(llvm::StringRef name);
  /// Adds NAME=DIMS. Extents stand between `x`; each is a number, `?` or `N` in the first place
  /// (the free batch), a range FIRST:LAST:STEP, or several of these with commas between.
  std::string addShape(llvm::StringRef text);
  /// All profiles, at least one.
  std::string list(std::vector<ShapeProfile> &profiles) const;

private:
  struct Group {
    std::string name;
    std::map<std::string, std::vector<std::vector<int64_t>>> shapes; // alternatives of each input
  };
  /// The first holds what is common to all.
  std::vector<Group> groups;
};

} // namespace convoy
