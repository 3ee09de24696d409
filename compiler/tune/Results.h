// What was measured, and the file that keeps it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "passes/KernelTable.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <map>
#include <string>
#include <vector>

namespace convoy::tune {

/// Where times are comparable: on one machine, of the code for one target of one compiler.
struct Setting {
  std::string cpu, target, compiler;
  bool operator==(const Setting &other) const {
    return cpu == other.cpu && target == other.target && compiler == other.compiler;
  }
};

/// Measurements by the signature of the op, in the order of estimates: the first is of what is chosen
/// without them. Of two for the same strategy and config, the later one holds.
class Results {
public:
  /// Those of one op; none if it was not measured.
  llvm::ArrayRef<Measurement> find(llvm::StringRef signature) const;
  void add(llvm::StringRef signature, Measurement measurement);
  void add(const Results &others);
  bool empty() const { return ops.empty(); }
  const std::map<std::string, std::vector<Measurement>> &all() const { return ops; }

private:
  std::map<std::string, std::vector<Measurement>> ops;
};

/// The contents of a file: results in several settings, the latest last.
class ResultsFile {
public:
  /// Settings of other compilers that a file keeps: versions come and go, and nothing else would
  /// ever remove what they measured.
  static constexpr size_t kMostSettings = 8;

  static llvm::Expected<ResultsFile> parse(llvm::StringRef text);
  std::string print() const;

  /// The results in a setting; null if there are none.
  const Results *find(const Setting &setting) const;
  /// Joins results to those of their setting, which becomes the latest.
  void add(const Setting &setting, const Results &results);
  const std::vector<std::pair<Setting, Results>> &all() const { return sections; }

private:
  std::vector<std::pair<Setting, Results>> sections;
};

/// Reads a file. One that does not exist is empty if `mayBeAbsent`.
llvm::Expected<ResultsFile> readResults(const std::string &path, bool mayBeAbsent);
/// Adds results to a file, which is made with its folder if it is not there, and replaced as a whole.
/// What other processes added meanwhile stays. A file that cannot be read as results is left alone.
llvm::Error addToFile(const std::string &path, const Setting &setting, const Results &results);

} // namespace convoy::tune
