// convoy-conformance: compiles and runs ONNX backend tests, each in a process of its own.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/convoy-conformance/Conformance.h"
#include "tools/support/Error.h"
#include "tools/support/Options.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdio>
#include <regex>

using namespace convoy;
using namespace convoy::tools;

namespace {

struct Arguments {
  std::string root, scope, filter;
  ConformanceOptions options;
  int64_t jobs = 2;
  double timeout = 120;
  bool verbose = false;
};

} // namespace

static Arguments parseArguments(int argc, char **argv) {
  Arguments arguments;
  Options options("convoy-conformance ROOT [--scope FILE] [options]",
                  "Compiles and runs ONNX backend tests: every folder under ROOT with a model.onnx\n"
                  "and test_data_set_*, and every light network X.onnx with X_output_0.pb beside it.\n"
                  "Inputs whose values shapes depend on are bound to the test's values at compile\n"
                  "time, and extents other than the batch that a model leaves open are the test's.\n"
                  "Ends with \"N passed, N failed\" (and \", N skipped\"); exit status 1 if one failed.\n"
                  "That no test was found is no failure: look at N.");
  options.value("scope", "FILE", "names of the tests to run, one a line, relative to ROOT",
                [&](const std::string &text) { arguments.scope = text; });
  options.value("filter", "REGEX",
                "run only tests whose name, such as node/test_relu, contains a match",
                [&](const std::string &text) { arguments.filter = text; });
  options.value("target", "NAME", "as for convoy-compile; default host",
                [&](const std::string &text) { arguments.options.target = text; });
  options.value("threads", "N", "threads of a run; default 1", [&](const std::string &text) {
    arguments.options.threads = Options::integer("threads", text, 1, 256);
  });
  options.value("jobs", "N", "tests at a time; default 2", [&](const std::string &text) {
    arguments.jobs = Options::integer("jobs", text, 1, 256);
  });
  options.value("timeout", "SECONDS", "for one test; default 120", [&](const std::string &text) {
    arguments.timeout = Options::number("timeout", text);
  });
  options.value("rtol", "X", "tolerance relative to the expected value; default 1e-3, ONNX's own",
                [&](const std::string &text) {
                  arguments.options.relative = Options::number("rtol", text);
                });
  options.value("atol", "X", "absolute tolerance beside it; default 1e-7, ONNX's own",
                [&](const std::string &text) {
                  arguments.options.absolute = Options::number("atol", text);
                });
  options.flag("no-optimize", "leave out the passes that only make code faster",
               arguments.options.noOptimize);
  options.flag("skip-unknown-ops", "skip tests of ops that Convoy does not import",
               arguments.options.skipUnknownOps);
  options.flag("verbose", "also list the tests that passed", arguments.verbose);
  options.positional([&](const std::string &word) {
    if (!arguments.root.empty())
      throw UsageError("one root at a time: '" + arguments.root + "' and '" + word + "'");
    arguments.root = word;
  });
  options.parse(argc, argv);
  if (arguments.root.empty())
    throw UsageError("needs the folder of the tests");
  return arguments;
}

// The names in the scope file; without one, all tests under the root.
static std::vector<std::string> chooseTests(const Arguments &arguments) {
  std::vector<std::string> names;
  if (arguments.scope.empty()) {
    names = findTests(arguments.root);
  } else {
    std::vector<uint8_t> bytes = readFile(arguments.scope);
    llvm::SmallVector<llvm::StringRef> lines;
    llvm::StringRef(reinterpret_cast<const char *>(bytes.data()), bytes.size()).split(lines, '\n');
    for (llvm::StringRef line : lines)
      if (line = line.split('#').first.trim(); !line.empty())
        names.push_back(line.str());
  }
  if (arguments.filter.empty())
    return names;
  try {
    std::regex filter(arguments.filter);
    std::vector<std::string> chosen;
    for (const std::string &name : names)
      if (std::regex_search(name, filter))
        chosen.push_back(name);
    return chosen;
  } catch (const std::regex_error &error) {
    throw UsageError("--filter '" + arguments.filter + "': " + error.what());
  }
}

static int body(int argc, char **argv) {
  Arguments arguments = parseArguments(argc, argv);
  std::vector<std::string> names = chooseTests(arguments);
  if (names.empty())
    throw Error("no test to run: " +
                (arguments.filter.empty() ? "none in " + arguments.root
                                          : "none matches --filter '" + arguments.filter + "'"));
  size_t passed = 0, failed = 0, skipped = 0;
  runInProcesses(
      names.size(), arguments.jobs, arguments.timeout,
      [&](size_t i) { return runTest(arguments.root, names[i], arguments.options); },
      [&](size_t i, const Outcome &outcome) {
        const char *name = names[i].c_str(), *reason = outcome.reason.c_str();
        switch (outcome.kind) {
        case Outcome::Passed:
          ++passed;
          if (arguments.verbose)
            printf("pass %s\n", name);
          break;
        case Outcome::Failed:
          ++failed;
          printf("FAIL %s: %s\n", name, reason);
          break;
        case Outcome::Skipped:
          ++skipped;
          printf("SKIP %s: %s\n", name, reason);
          break;
        }
        fflush(stdout);
      });
  printf("%zu passed, %zu failed", passed, failed);
  if (skipped)
    printf(", %zu skipped", skipped);
  puts("");
  return failed != 0;
}

int main(int argc, char **argv) { return runTool("convoy-conformance", body, argc, argv); }
