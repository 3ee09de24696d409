// Makes a failing graph small.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "tools/convoy-fuzz/Builder.h"
#include "tools/convoy-fuzz/Check.h"

namespace convoy::fuzz {

/// How a case fails, "" if it does not, and the details.
using Try = std::function<Verdict(const Case &)>;

struct Shrunk {
  Graph graph;
  Verdict verdict;
  size_t tries = 0;
};

/// First on the list of choices: leaves out what made a node, and makes numbers smaller, which
/// shrinks extents, drops attributes and simplifies data. Then on the graph: drops outputs, and
/// replaces the results of nodes by inputs. A step stays if the failure has the same words.
Shrunk shrink(const std::vector<uint32_t> &choices, const GeneratorOptions &options,
              const Try &attempt, size_t maxTries);

} // namespace convoy::fuzz
