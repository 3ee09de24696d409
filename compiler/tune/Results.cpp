// What was measured, and the file that keeps it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/tune/Results.h"

#include "compiler/artifact/OutputFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

using namespace convoy;
using namespace convoy::tune;
using llvm::StringRef;

/// Lists within lists, more than any layout has: llvm::json takes stack for each and has no bound.
static constexpr int kMostDepth = 16;

/// What a file says that it is. Another number is for a layout that this code does not read.
static constexpr llvm::StringLiteral kFormat = "convoy-tuning-1";

//===----------------------------------------------------------------------===//
// In memory
//===----------------------------------------------------------------------===//

llvm::ArrayRef<Measurement> Results::find(StringRef signature) const {
  auto found = ops.find(signature.str());
  if (found == ops.end())
    return {};
  return found->second;
}

void Results::add(StringRef signature, Measurement measurement) {
  std::vector<Measurement> &known = ops[signature.str()];
  for (Measurement &other : known)
    if (other.strategy == measurement.strategy && other.config == measurement.config) {
      other = std::move(measurement);
      return;
    }
  known.push_back(std::move(measurement));
}

void Results::add(const Results &others) {
  for (const auto &[signature, measurements] : others.ops)
    for (const Measurement &measurement : measurements)
      add(signature, measurement);
}

const Results *ResultsFile::find(const Setting &setting) const {
  for (const auto &[other, results] : sections)
    if (other == setting)
      return &results;
  return nullptr;
}

void ResultsFile::add(const Setting &setting, const Results &results) {
  Results joined;
  auto found = llvm::find_if(sections, [&](auto &section) { return section.first == setting; });
  if (found != sections.end()) {
    joined = std::move(found->second);
    sections.erase(found);
  }
  joined.add(results);
  sections.emplace_back(setting, std::move(joined));
  if (sections.size() > kMostSettings)
    sections.erase(sections.begin(), sections.end() - kMostSettings);
}

//===----------------------------------------------------------------------===//
// As text
//===----------------------------------------------------------------------===//

static llvm::Error wrong(const llvm::Twine &what) {
  return llvm::createStringError(what);
}

// "direct 14x2" or "direct".
static Measurement readMeasurement(StringRef name, double ns) {
  auto [strategy, config] = name.split(' ');
  return {strategy.str(), config.str(), ns};
}

static llvm::Error readOp(StringRef signature, const llvm::json::Value &value, Results &results) {
  const llvm::json::Array *times = value.getAsArray();
  if (!times)
    return wrong("the times of '" + signature + "' are no list");
  for (const llvm::json::Value &item : *times) {
    const llvm::json::Array *pair = item.getAsArray();
    std::optional<StringRef> name;
    std::optional<double> ns;
    if (pair && pair->size() == 2) {
      name = (*pair)[0].getAsString();
      ns = (*pair)[1].getAsNumber();
    }
    if (!name || name->trim().empty() || !ns || !std::isfinite(*ns) || *ns <= 0)
      return wrong("'" + signature + "' has a time that is no strategy with its nanoseconds");
    results.add(signature, readMeasurement(*name, *ns));
  }
  return llvm::Error::success();
}

static bool isTooDeep(StringRef text) {
  int depth = 0;
  bool isQuoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (isQuoted && c == '\\')
      ++i; // what follows ends no string
    else if (c == '"')
      isQuoted = !isQuoted;
    else if (!isQuoted && (c == '[' || c == '{') && ++depth > kMostDepth)
      return true;
    else if (!isQuoted && (c == ']' || c == '}'))
      --depth;
  }
  return false;
}

llvm::Expected<ResultsFile> ResultsFile::parse(StringRef text) {
  if (isTooDeep(text))
    return wrong("is damaged: its lists are nested too deeply");
  llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(text);
  if (!parsed)
    return wrong("is damaged: " + llvm::toString(parsed.takeError()));
  const llvm::json::Object *top = parsed->getAsObject();
  std::optional<StringRef> format = top ? top->getString("format") : std::nullopt;
  if (!format || !format->starts_with("convoy-tuning-"))
    return wrong("holds no tuning results");
  if (*format != kFormat)
    return wrong("is of format '" + *format + "', this compiler knows " + kFormat);
  const llvm::json::Array *settings = top->getArray("settings");
  if (!settings)
    return wrong("is damaged: it has no list of settings");
  ResultsFile file;
  for (const llvm::json::Value &value : *settings) {
    const llvm::json::Object *section = value.getAsObject();
    auto text = [&](StringRef key) {
      return section ? section->getString(key) : std::optional<StringRef>();
    };
    const llvm::json::Object *ops = section ? section->getObject("ops") : nullptr;
    if (!ops || !text("cpu") || !text("target") || !text("compiler"))
      return wrong("is damaged: a setting lacks its cpu, target, compiler or ops");
    Results results;
    for (const auto &[signature, times] : *ops)
      if (llvm::Error error = readOp(signature, times, results))
        return wrong("is damaged: " + llvm::toString(std::move(error)));
    file.sections.emplace_back(
        Setting{text("cpu")->str(), text("target")->str(), text("compiler")->str()},
        std::move(results));
  }
  return file;
}

static std::string quoted(StringRef text) {
  return llvm::formatv("{0}", llvm::json::Value(llvm::json::fixUTF8(text))).str();
}

// One op a line, so that two files can be compared.
std::string ResultsFile::print() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "{\n  \"format\": " << quoted(kFormat) << ",\n  \"settings\": [";
  StringRef sectionEnd = "";
  for (const auto &[setting, results] : sections) {
    stream << sectionEnd << "\n    {\n      \"cpu\": " << quoted(setting.cpu)
           << ",\n      \"target\": " << quoted(setting.target)
           << ",\n      \"compiler\": " << quoted(setting.compiler) << ",\n      \"ops\": {";
    sectionEnd = ",";
    StringRef opEnd = "";
    for (const auto &[signature, measurements] : results.all()) {
      stream << opEnd << "\n        " << quoted(signature) << ": [";
      opEnd = ",";
      llvm::interleaveComma(measurements, stream, [&](const Measurement &measurement) {
        std::string name = measurement.strategy;
        if (!measurement.config.empty())
          name += " " + measurement.config;
        stream << "[" << quoted(name) << ", "
               << llvm::formatv("{0:F0}", std::max(measurement.ns, 1.0)) << "]";
      });
      stream << "]";
    }
    stream << "\n      }\n    }";
  }
  stream << "\n  ]\n}\n";
  return text;
}

//===----------------------------------------------------------------------===//
// In a file
//===----------------------------------------------------------------------===//

llvm::Expected<ResultsFile> tune::readResults(const std::string &path, bool mayBeAbsent) {
  if (llvm::sys::fs::is_directory(path))
    return wrong("is a folder");
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer) {
    if (mayBeAbsent && buffer.getError() == std::errc::no_such_file_or_directory)
      return ResultsFile();
    return wrong("cannot be read: " + buffer.getError().message());
  }
  return ResultsFile::parse((*buffer)->getBuffer());
}

namespace {
// Held by one process at a time. It is a file of its own, which stays: the results are replaced by
// another file of their name, and a lock on the old one would hold nobody.
class FileLock {
public:
  /// Waits for it; false with errno set if there is none to be had.
  bool take(const std::string &path) {
    descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    int status = descriptor < 0 ? -1 : flock(descriptor, LOCK_EX);
    while (status != 0 && descriptor >= 0 && errno == EINTR)
      status = flock(descriptor, LOCK_EX);
    return status == 0;
  }
  ~FileLock() {
    if (descriptor >= 0)
      close(descriptor);
  }

private:
  int descriptor = -1;
};
} // namespace

llvm::Error tune::addToFile(const std::string &path, const Setting &setting,
                            const Results &results) {
  StringRef folder = llvm::sys::path::parent_path(path);
  if (!folder.empty()) {
    std::error_code error = llvm::sys::fs::create_directories(folder);
    // That of a file which is there already is no error to create_directories.
    if (!error && !llvm::sys::fs::is_directory(folder))
      error = std::make_error_code(std::errc::not_a_directory);
    if (error)
      return wrong("cannot make the folder " + folder + ": " + error.message());
  }
  FileLock lock;
  if (!lock.take(path + ".lock"))
    return wrong("cannot be locked: " + llvm::Twine(std::strerror(errno)));
  llvm::Expected<ResultsFile> file = readResults(path, /*mayBeAbsent=*/true);
  if (!file)
    return file.takeError();
  file->add(setting, results);
  std::string text = file->print();
  artifact::OutputFile output(path);
  if (artifact::Problem problem = output.create(text.size()))
    return wrong(*problem);
  output.append(text);
  if (artifact::Problem problem = output.commit())
    return wrong(*problem);
  return llvm::Error::success();
}
