// convoy-fuzz-importer: changes model files at random and sees whether the importer and the first
// passes take or refuse each in order: no crash, no hang, no sanitizer's report, no silence.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/ModelFile.h"
#include "test/fuzz/Minimize.h"
#include "test/fuzz/Mutate.h"
#include "test/fuzz/OperatorModels.h"
#include "test/fuzz/Subject.h"
#include "test/fuzz/Workers.h"
#include "tools/support/Error.h"
#include "tools/support/Options.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <map>

#include <sys/mman.h>
#include <sys/resource.h>

using namespace convoy::fuzz;
using convoy::tools::Error;
using convoy::tools::UsageError;
namespace fs = llvm::sys::fs;

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
// LLVM's own libraries are not instrumented: containers and allocators that their code and ours
// share would give false reports. No model of this size needs an allocation of a gigabyte, and one
// that is asked for is a failure at once.
extern "C" const char *__asan_default_options() {
  return "detect_container_overflow=0:allow_user_poisoning=0:detect_odr_violation=0:"
         "max_allocation_size_mb=1024:hard_rss_limit_mb=3000:detect_leaks=0:quarantine_size_mb=16:"
         "malloc_context_size=6:handle_abort=1";
}
extern "C" const char *__ubsan_default_options() { return "print_stacktrace=1"; }
static constexpr bool kIsSanitized = true;
#else
static constexpr bool kIsSanitized = false;
#endif

namespace {

struct Arguments {
  uint64_t seed = 1;
  int64_t first = 0, count = 1000;
  unsigned jobs = 1, mostTries = 400;
  /// Of the files that are a start.
  uint64_t mostBytes = 64 << 10;
  std::vector<std::string> corpus, files;
  std::string failures = "fuzz-failures";
};

/// What the child processes have done, in shared memory.
struct Counts {
  std::atomic<int64_t> reached[3];
};

} // namespace

static Arguments parseArguments(int argc, char **argv) {
  Arguments arguments;
  convoy::tools::Options options(
      "convoy-fuzz-importer [options] [FILE...]",
      "Changes model files at random and gives them to the importer, to constant folding and to\n"
      "fusion. A file that makes them crash, hang or fall silent is kept, made smaller and "
      "reported;\n"
      "the run goes on. With FILEs it runs these as they are and prints what is said of them.");
  auto number = [&](const char *name, const char *help, int64_t least, int64_t most, auto &target) {
    options.value(name, "N", help, [&target, name, least, most](const std::string &text) {
      target = convoy::tools::Options::integer(name, text, least, most);
    });
  };
  constexpr int64_t kMost = int64_t(1) << 60;
  number("seed", "the same seed changes the same files in the same way. Default: 1", 0, kMost,
         arguments.seed);
  number("first", "number of the first file. Default: 0", 0, kMost, arguments.first);
  number("count", "how many files. Default: 1000", 0, kMost, arguments.count);
  number("jobs", "processes at a time. Default: 1", 1, 1024, arguments.jobs);
  number("most-bytes", "leave out larger files of the corpus. Default: 65536", 1, kMost,
         arguments.mostBytes);
  number("most-tries", "how often to try to make a failure smaller. Default: 400", 0, 1 << 20,
         arguments.mostTries);
  options.value("corpus", "DIR",
                "also start from the .onnx and .onnxtxt files in DIR. May be repeated",
                [&](const std::string &text) { arguments.corpus.push_back(text); });
  options.value("failures", "DIR", "where to keep files that fail. Default: fuzz-failures",
                [&](const std::string &text) { arguments.failures = text; });
  options.positional([&](const std::string &text) { arguments.files.push_back(text); });
  options.parse(argc, argv);
  return arguments;
}

static void addFile(const std::string &path, uint64_t mostBytes, std::vector<Seed> &corpus) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer || (*buffer)->getBufferSize() > mostBytes)
    return;
  Seed seed{path, {}};
  llvm::StringRef bytes = (*buffer)->getBuffer();
  auto addText = [&](llvm::StringRef text) {
    if (convoy::onnx::parseTextModel(text.str(), seed.model).empty())
      corpus.push_back(seed);
    seed.model.Clear();
  };
  if (llvm::StringRef(path).ends_with(".onnx")) {
    google::protobuf::LogSilencer silence;
    if (seed.model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
      corpus.push_back(std::move(seed));
  } else if (llvm::StringRef(path).ends_with(".onnxtxt")) {
    addText(bytes);
  } else if (llvm::StringRef(path).ends_with(".test")) { // parts for split-file
    while (!bytes.empty()) {
      auto [part, rest] = bytes.split("#--- ");
      if (part.split('\n').first.ends_with(".onnxtxt"))
        addText(part.split('\n').second);
      bytes = rest;
    }
  }
}

// In the order of names, so that a run depends on nothing else.
static std::vector<Seed> readCorpus(const Arguments &arguments) {
  std::vector<std::string> paths;
  for (const std::string &folder : arguments.corpus) {
    std::error_code error;
    for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error))
      paths.push_back(entry->path());
    if (error)
      throw Error("cannot read " + folder + ": " + error.message());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Seed> corpus;
  for (const std::string &path : paths)
    addFile(path, arguments.mostBytes, corpus);
  std::vector<std::string> without;
  for (::onnx::ModelProto &model : operatorModels(without))
    corpus.push_back({"operator " + model.graph().name(), std::move(model)});
  if (!without.empty())
    throw Error("no model is known for " + without.front() +
                "; test/fuzz/OperatorModels.cpp needs a body for it");
  return corpus;
}

static void write(const std::string &path, const std::string &bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush())
    throw Error("cannot write " + path);
}

static int runFiles(const Arguments &arguments) {
  int failed = 0;
  for (const std::string &path : arguments.files) {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    if (!buffer)
      throw Error("cannot read " + path);
    std::string fault;
    Subject(llvm::sys::path::parent_path(path).str(), true)
        .run((*buffer)->getBuffer(), path, fault);
    printf("%s: %s\n", path.c_str(), fault.empty() ? "in order" : fault.c_str());
    failed += !fault.empty();
  }
  return failed == 0 ? 0 : 1;
}

static int fuzz(const Arguments &arguments) {
  if (std::error_code error = fs::create_directories(arguments.failures))
    throw Error("cannot make " + arguments.failures + ": " + error.message());
  std::vector<Seed> corpus = readCorpus(arguments);
  printf("%zu models to start from, seed %llu%s\n", corpus.size(),
         static_cast<unsigned long long>(arguments.seed),
         kIsSanitized ? "" : ", without sanitizers");
  fflush(stdout);
  // External data of crafted files must not be found among the sources.
  llvm::SmallString<128> scratch;
  if (fs::createUniqueDirectory("convoy-fuzz-importer", scratch))
    throw Error("cannot make a folder for temporary files");
  std::string folder = (scratch + "/models").str();
  (void)fs::create_directory(folder);
  write(folder + "/weights.bin", std::string(4096, '\1'));

  auto *counts = static_cast<Counts *>(
      mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (counts == MAP_FAILED)
    throw Error("cannot share memory with child processes");
  auto bytesOf = [&](int64_t step) {
    Random random(arguments.seed, static_cast<uint64_t>(step));
    return mutate(corpus, random);
  };
  std::map<std::string, int64_t> kinds;
  int64_t numFailures = 0;
  Limits limits;
  std::unique_ptr<Subject> subject; // of a child
  auto step = [&](int64_t i) {
    if (!subject)
      subject = std::make_unique<Subject>(folder, false);
    std::string fault;
    Reached reached = subject->run(bytesOf(i), "model.onnx", fault);
    ++counts->reached[static_cast<int>(reached)];
    return fault;
  };
  auto report = [&](const Failure &failure) {
    ++numFailures;
    if (kinds[failure.kind]++ > 0)
      return;
    std::string path = arguments.failures + "/" + std::to_string(arguments.seed) + "-" +
                       std::to_string(failure.step) + ".onnx";
    printf("FAIL %lld: %s\n", static_cast<long long>(failure.step), failure.kind.c_str());
    fflush(stdout);
    auto fails = [&](const std::string &bytes) {
      std::string kind;
      runSteps(
          0, 1, 1, scratch.str().str() + "/models", limits,
          [&](int64_t) {
            std::string fault;
            Subject(folder, false).run(bytes, "model.onnx", fault);
            return fault;
          },
          [&](const Failure &again) { kind = again.kind; });
      return kind == failure.kind;
    };
    std::string bytes = bytesOf(failure.step);
    write(path, bytes);
    write(path + ".log", failure.log);
    if (!fails(bytes)) {
      printf("  kept as %s, which alone does not fail\n", path.c_str());
    } else {
      // Each try of one that hangs takes as long as is allowed.
      bool isQuick = failure.kind != kTakesTooLong;
      std::string smaller = minimize(bytes, isQuick ? arguments.mostTries : 20, fails);
      write(path, smaller);
      printf("  kept as %s: %zu bytes, %zu before\n", path.c_str(), smaller.size(), bytes.size());
    }
    fflush(stdout);
  };
  runSteps(arguments.first, arguments.count, arguments.jobs, scratch.str().str(), limits, step,
           report);
  (void)fs::remove_directories(scratch);

  int64_t refused = counts->reached[0], imported = counts->reached[1],
          simplified = counts->reached[2];
  printf("%lld refused, %lld imported and simplified\n", static_cast<long long>(refused),
         static_cast<long long>(imported + simplified));
  for (const auto &[kind, count] : kinds)
    printf("%lld times: %s\n", static_cast<long long>(count), kind.c_str());
  printf("%lld passed, %lld failed\n", static_cast<long long>(arguments.count - numFailures),
         static_cast<long long>(numFailures));
  return numFailures == 0 ? 0 : 1;
}

static int run(int argc, char **argv) {
  // A crash is reported, not written to disk.
  rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  if (!kIsSanitized) { // whose shadow needs all addresses
    rlimit memory = {rlim_t(4) << 30, rlim_t(4) << 30};
    setrlimit(RLIMIT_AS, &memory);
  }
  Arguments arguments = parseArguments(argc, argv);
  return arguments.files.empty() ? fuzz(arguments) : runFiles(arguments);
}

int main(int argc, char **argv) {
  return convoy::tools::runTool("convoy-fuzz-importer", run, argc, argv);
}
