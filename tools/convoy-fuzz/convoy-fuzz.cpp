// convoy-fuzz: random small graphs, compiled in all ways that must agree.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/convoy-fuzz/Check.h"
#include "tools/convoy-fuzz/Kept.h"
#include "tools/convoy-fuzz/Processes.h"
#include "tools/convoy-fuzz/Shrink.h"
#include "tools/support/Error.h"
#include "tools/support/Options.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <deque>
#include <map>
#include <memory>

#include <poll.h>
#include <unistd.h>

using namespace convoy;
using namespace convoy::fuzz;
using tools::Error;
using tools::format;
using tools::Options;
using tools::UsageError;
using Clock = std::chrono::steady_clock;

namespace {

struct Arguments {
  uint64_t first = 0, last = 999;
  int64_t jobs = 2, shrinkTries = 400;
  double timeLimit = 60, seconds = 0;
  std::string keep = "fuzz-failures", oracle, replay, faultName;
  GeneratorOptions generator;
  CheckOptions check;
  bool listOps = false, print = false, verbose = false;
};

/// A process that checks a block of seeds, or shrinks a failure.
struct Slot {
  std::unique_ptr<Oracle> oracle;
  Child child;
  std::string buffer;
  uint64_t seed = 0, end = 0;
  bool shrinks = false, begun = false;
  Clock::time_point deadline;
  bool busy() const { return child.pid >= 0; }
};

struct Failure {
  uint64_t seed;
  std::string failure, details;
};

class Fuzzer {
public:
  explicit Fuzzer(const Arguments &arguments) : arguments(arguments) {}
  int run();

private:
  bool startNext(Slot &slot);
  void handleLine(Slot &slot, llvm::StringRef line);
  void finish(Slot &slot, bool timedOut);
  void fail(uint64_t seed, const std::string &failure, const std::string &details);
  void progress(bool final);
  bool timeIsUp() const {
    return arguments.seconds > 0 &&
           Clock::now() - start > std::chrono::duration<double>(arguments.seconds);
  }

  const Arguments &arguments;
  std::deque<std::pair<uint64_t, uint64_t>> blocks; ///< seeds from, to (not included)
  std::deque<Failure> toShrink;
  std::map<std::string, size_t> noAnswers;
  size_t passed = 0, failed = 0, answered = 0, nodes = 0, loose = 0, empty = 0;
  Clock::time_point start = Clock::now(), lastProgress = Clock::now();
};

} // namespace

static Arguments parseArguments(int argc, char **argv) {
  Arguments arguments;
  Options options("convoy-fuzz [--seeds A..B] [options]",
                  "Makes a random small ONNX graph from each seed, compiles it in this process for "
                  "each target,\n"
                  "runs it with 1 and 2 threads, which must agree to the bit, and compares with "
                  "the first target,\n"
                  "with the evaluator of the cnn dialect and, with --oracle, with another "
                  "implementation. A graph\n"
                  "that fails, crashes or hangs is made small and kept. Ends with \"N passed, N "
                  "failed\"; exit\n"
                  "status 1 if one failed.",
                  "Examples:\n"
                  "  convoy-fuzz --seeds 0..9999\n"
                  "  convoy-fuzz --oracle 'python3 tools/convoy-fuzz/onnxruntime_oracle.py'\n"
                  "  convoy-fuzz --ops Conv,Relu,Concat --seeds 0..499\n"
                  "  convoy-fuzz --replay fuzz-failures/seed-17\n"
                  "  convoy-fuzz --print --seeds 17..17");
  options.section("What to make");
  options.value("seeds", "A..B", "first and last seed; default 0..999",
                [&](const std::string &text) {
                  auto [first, last] = llvm::StringRef(text).split("..");
                  if (first.getAsInteger(10, arguments.first) ||
                      last.getAsInteger(10, arguments.last) || arguments.last < arguments.first)
                    throw UsageError("--seeds '" + text + "': write A..B, such as 0..999");
                });
  options.value("max-nodes", "N", "nodes of a graph, about; default 12",
                [&](const std::string &text) {
                  arguments.generator.maxNodes = Options::integer("max-nodes", text, 1, 30);
                });
  options.value("ops", "NAME,...", "only these kinds of the table; --list-ops prints it",
                [&](const std::string &text) {
                  llvm::SmallVector<llvm::StringRef> names;
                  llvm::StringRef(text).split(names, ',');
                  for (llvm::StringRef name : names) {
                    if (std::none_of(opKinds().begin(), opKinds().end(),
                                     [&](const OpKind &kind) { return name == kind.name; }))
                      throw UsageError("--ops: no kind '" + name.str() + "'; see --list-ops");
                    arguments.generator.only.push_back(name.str());
                  }
                });
  options.flag("list-ops", "print the table of kinds and end", arguments.listOps);
  options.flag("print", "print the graphs as ONNX text instead of checking them", arguments.print);
  options.value("replay", "DIR", "check a case that was kept",
                [&](const std::string &text) { arguments.replay = text; });
  options.section("What to compare");
  options.value("target", "NAME,...",
                "targets; the others are compared with the first. Default\n"
                "x86-reference,x86-avx512,x86-avx2, as far as this machine has them",
                [&](const std::string &text) {
                  arguments.check.targets.clear();
                  llvm::SmallVector<llvm::StringRef> names;
                  llvm::StringRef(text).split(names, ',');
                  for (llvm::StringRef name : names)
                    arguments.check.targets.push_back(name.str());
                });
  options.value("oracle", "COMMAND",
                "a program to compare with; tools/convoy-fuzz/Oracle.h says how\n"
                "it is spoken to",
                [&](const std::string &text) { arguments.oracle = text; });
  options.section("How to run");
  options.value("jobs", "N", "graphs at a time; default 2", [&](const std::string &text) {
    arguments.jobs = Options::integer("jobs", text, 1, 256);
  });
  options.value("time-limit", "SECONDS", "for one graph; default 60", [&](const std::string &text) {
    arguments.timeLimit = Options::number("time-limit", text);
  });
  options.value("for", "SECONDS", "begin no further graph after this time",
                [&](const std::string &text) { arguments.seconds = Options::number("for", text); });
  options.value("keep", "DIR", "where failures go; default fuzz-failures",
                [&](const std::string &text) { arguments.keep = text; });
  options.value("shrink-tries", "N",
                "graphs to try to make a failure small; default 400, 0: as it is",
                [&](const std::string &text) {
                  arguments.shrinkTries = Options::integer("shrink-tries", text, 0, 100000);
                });
  options.value("inject", "FAULT",
                "a fault on purpose, for tests of the fuzzer: lost-relu, crash, hang",
                [&](const std::string &text) {
                  arguments.faultName = text;
                  if (text == "lost-relu")
                    arguments.check.fault = Fault::LostRelu;
                  else if (text == "crash")
                    arguments.check.fault = Fault::Crash;
                  else if (text == "hang")
                    arguments.check.fault = Fault::Hang;
                  else
                    throw UsageError("--inject '" + text + "': lost-relu, crash or hang");
                });
  options.flag("verbose", "print each graph's seed and size", arguments.verbose);
  options.positional(
      [&](const std::string &word) { throw UsageError("unexpected '" + word + "'"); });
  options.parse(argc, argv);
  arguments.check.targets = runnableTargets(arguments.check.targets);
  return arguments;
}

// One line, so that it fits the protocol between the processes.
static std::string oneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::replace(text.begin(), text.end(), '\t', ' ');
  return text.substr(0, 600);
}

// The command line that checks the same; with `generates`, that makes the same graphs too.
static std::string command(const Arguments &arguments, bool generates) {
  std::string text = "build/bin/convoy-fuzz --target " + llvm::join(arguments.check.targets, ",");
  if (!arguments.oracle.empty())
    text += " --oracle '" + arguments.oracle + "'";
  if (arguments.check.fault != Fault::None)
    text += " --inject " + arguments.faultName;
  if (generates && !arguments.generator.only.empty())
    text += " --ops " + llvm::join(arguments.generator.only, ",");
  if (generates && arguments.generator.maxNodes != GeneratorOptions().maxNodes)
    text += format(" --max-nodes %u", arguments.generator.maxNodes);
  return text;
}

// ---- Keeping and replaying
// -----------------------------------------------------------------------

static int replay(const Arguments &arguments) {
  Case test = readCase(arguments.replay);
  std::unique_ptr<Oracle> oracle;
  if (!arguments.oracle.empty())
    oracle = std::make_unique<Oracle>(arguments.oracle);
  Verdict verdict = check(test, arguments.check, oracle.get());
  if (!verdict.failure.empty())
    printf("FAIL %s: %s: %s\n", arguments.replay.c_str(), verdict.failure.c_str(),
           verdict.details.c_str());
  else if (oracle && !verdict.oracleAnswered)
    printf("the oracle has no answer: %s\n", verdict.oracleText.c_str());
  puts(verdict.failure.empty() ? "1 passed, 0 failed" : "0 passed, 1 failed");
  return verdict.failure.empty() ? 0 : 1;
}

// ---- Children
// ------------------------------------------------------------------------------------

static void checkSeeds(int file, const Arguments &arguments, uint64_t first, uint64_t end,
                       Oracle *oracle, const std::function<bool()> &timeIsUp) {
  for (uint64_t seed = first; seed < end && !timeIsUp(); ++seed) {
    writeAll(file, format("S %llu\n", (unsigned long long)seed));
    Choices choices(seed);
    Graph graph = generate(choices, arguments.generator);
    if (graph.outputs.empty() || graph.nodes.empty()) {
      writeAll(file, "E\n");
      continue;
    }
    Verdict verdict = check(toCase(graph), arguments.check, oracle);
    if (verdict.failure.empty())
      writeAll(file, format("P %d\t%zu\t%.3g\t%s\n", verdict.oracleAnswered, graph.nodes.size(),
                            verdict.looseness, oneLine(verdict.oracleText).c_str()));
    else
      writeAll(file, format("F %s\t%s\n", oneLine(verdict.failure).c_str(),
                            oneLine(verdict.details).c_str()));
  }
}

static void shrinkSeed(int file, const Arguments &arguments, const Failure &failure,
                       Oracle *oracle) {
  Choices choices(failure.seed);
  Graph graph = generate(choices, arguments.generator);
  Try attempt = [&](const Case &test) {
    Verdict verdict;
    std::string ended;
    if (oracle)
      oracle->ensureRunning();
    std::string text = inChild(
        arguments.timeLimit,
        [&] {
          Verdict found = check(test, arguments.check, oracle);
          return oneLine(found.failure) + "\t" + oneLine(found.details);
        },
        ended);
    if (!ended.empty()) {
      verdict.failure = ended;
      return verdict;
    }
    auto [first, second] = llvm::StringRef(text).split('\t');
    verdict.failure = first.str();
    verdict.details = second.str();
    return verdict;
  };
  Shrunk shrunk;
  if (arguments.shrinkTries > 0)
    shrunk = shrink(choices.record(), arguments.generator, attempt, arguments.shrinkTries);
  bool isShrunk = !shrunk.verdict.failure.empty();
  if (isShrunk)
    graph = shrunk.graph;
  std::string folder = arguments.keep + format("/seed-%llu", (unsigned long long)failure.seed);
  std::string report = isShrunk ? shrunk.verdict.failure + ": " + shrunk.verdict.details
                                : failure.failure + ": " + failure.details;
  report += "\n";
  if (!isShrunk && arguments.shrinkTries > 0)
    report += "a second try did not fail: this is the whole graph\n";
  report += format("%zu nodes after %zu tries\n", graph.nodes.size(), shrunk.tries);
  report += command(arguments, false) + " --replay " + folder + "\n";
  report +=
      command(arguments, true) + format(" --seeds %llu..%llu\n", (unsigned long long)failure.seed,
                                        (unsigned long long)failure.seed);
  keep(folder, toCase(graph), report);
  writeAll(file, format("K %s: %zu nodes: %s\n", folder.c_str(), graph.nodes.size(),
                        oneLine(isShrunk ? shrunk.verdict.failure + ": " + shrunk.verdict.details
                                         : failure.failure)
                            .c_str()));
}

// ---- The parent
// ----------------------------------------------------------------------------------

void Fuzzer::fail(uint64_t seed, const std::string &failure, const std::string &details) {
  ++failed;
  printf("FAIL seed %llu: %s: %s\n", (unsigned long long)seed, failure.c_str(), details.c_str());
  fflush(stdout);
  toShrink.push_back({seed, failure, details});
}

// Gives the slot something to do; false if there is nothing left.
bool Fuzzer::startNext(Slot &slot) {
  if (slot.oracle)
    slot.oracle->ensureRunning();
  slot.buffer.clear();
  slot.begun = false;
  auto limit = [](double seconds) {
    return Clock::now() +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  };
  if (!toShrink.empty()) {
    Failure failure = toShrink.front();
    toShrink.pop_front();
    slot.shrinks = true;
    slot.seed = failure.seed;
    slot.deadline = limit(arguments.timeLimit * (10 + double(arguments.shrinkTries)));
    slot.child =
        startChild([&](int file) { shrinkSeed(file, arguments, failure, slot.oracle.get()); });
    return true;
  }
  if (blocks.empty() || timeIsUp())
    return false;
  auto [first, end] = blocks.front();
  blocks.pop_front();
  slot.shrinks = false;
  slot.seed = first;
  slot.end = end;
  slot.deadline = limit(arguments.timeLimit);
  slot.child = startChild([&, first = first, end = end](int file) {
    checkSeeds(file, arguments, first, end, slot.oracle.get(), [&] { return timeIsUp(); });
  });
  return true;
}

void Fuzzer::handleLine(Slot &slot, llvm::StringRef line) {
  char kind = line.front();
  llvm::StringRef rest = line.drop_front(1).ltrim(' ');
  if (kind == 'S') {
    rest.getAsInteger(10, slot.seed);
    slot.begun = true;
    slot.deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                       std::chrono::duration<double>(arguments.timeLimit));
    return;
  }
  if (kind == 'K') {
    printf("kept %s\n", rest.str().c_str());
    fflush(stdout);
    return;
  }
  slot.begun = false;
  if (kind == 'F') {
    auto [failure, details] = rest.split('\t');
    fail(slot.seed, failure.str(), details.str());
  } else if (kind == 'E') {
    ++empty;
  } else {
    llvm::SmallVector<llvm::StringRef> words;
    rest.split(words, '\t');
    ++passed;
    answered += words[0] == "1";
    size_t count = 0;
    words[1].getAsInteger(10, count);
    nodes += count;
    double looseness = 0;
    words[2].getAsDouble(looseness);
    loose += looseness > 1e-2;
    if (words[0] != "1")
      ++noAnswers[words[3].substr(0, 90).str()];
    if (arguments.verbose)
      printf("pass seed %llu: %zu nodes\n", (unsigned long long)slot.seed, count);
  }
}

void Fuzzer::finish(Slot &slot, bool timedOut) {
  std::string ended = endChild(slot.child, timedOut);
  slot.child = {};
  if (slot.shrinks) {
    if (timedOut || !ended.empty())
      printf("shrinking seed %llu: %s\n", (unsigned long long)slot.seed,
             timedOut ? "takes too long" : ended.c_str());
    return;
  }
  if (!timedOut && ended.empty())
    return;
  if (slot.begun || timedOut)
    fail(slot.seed, timedOut ? "hangs" : ended,
         timedOut ? format("more than %g s", arguments.timeLimit) : "");
  // The rest of its block.
  if (slot.seed + 1 < slot.end)
    blocks.push_front({slot.seed + 1, slot.end});
}

void Fuzzer::progress(bool final) {
  auto now = Clock::now();
  bool terminal = isatty(STDERR_FILENO);
  if (!final && now - lastProgress < std::chrono::seconds(terminal ? 1 : 30))
    return;
  lastProgress = now;
  double seconds = std::chrono::duration<double>(now - start).count();
  size_t done = passed + failed + empty;
  std::string text =
      format("%zu of %llu graphs, %.1f/s, %zu failed", done,
             (unsigned long long)(arguments.last - arguments.first + 1), done / seconds, failed);
  if (!arguments.oracle.empty())
    text += format(", the oracle answered %zu", answered);
  fprintf(stderr, terminal && !final ? "\r%s " : "%s\n", text.c_str());
}

int Fuzzer::run() {
  constexpr uint64_t kBlock = 50;
  for (uint64_t seed = arguments.first; seed <= arguments.last; seed += kBlock)
    blocks.push_back({seed, std::min(seed + kBlock, arguments.last + 1)});
  std::vector<Slot> slots(arguments.jobs);
  for (Slot &slot : slots)
    if (!arguments.oracle.empty())
      slot.oracle = std::make_unique<Oracle>(arguments.oracle);
  for (;;) {
    std::vector<pollfd> polls;
    std::vector<Slot *> polled;
    for (Slot &slot : slots)
      if (slot.busy() || startNext(slot)) {
        polls.push_back({slot.child.file, POLLIN, 0});
        polled.push_back(&slot);
      }
    if (polls.empty())
      break;
    poll(polls.data(), polls.size(), 200);
    for (size_t i = 0; i < polls.size(); ++i) {
      Slot &slot = *polled[i];
      bool ended = false;
      if (polls[i].revents) {
        char buffer[4096];
        ssize_t size = read(slot.child.file, buffer, sizeof buffer);
        if (size > 0)
          slot.buffer.append(buffer, size);
        ended = size == 0;
        for (size_t end; (end = slot.buffer.find('\n')) != std::string::npos;) {
          std::string line = slot.buffer.substr(0, end);
          slot.buffer.erase(0, end + 1);
          handleLine(slot, line);
        }
      }
      if (ended)
        finish(slot, false);
      else if (Clock::now() > slot.deadline)
        finish(slot, true);
    }
    progress(false);
  }
  progress(true);
  printf(
      "%.1f nodes a graph; %zu graphs compared with a tolerance above 1%% of the largest value\n",
      passed ? double(nodes) / passed : 0, loose);
  if (!arguments.oracle.empty()) {
    std::vector<std::pair<size_t, std::string>> reasons;
    for (const auto &[text, count] : noAnswers)
      reasons.push_back({count, text});
    std::sort(reasons.rbegin(), reasons.rend());
    printf("the oracle answered %zu of %zu%s\n", answered, passed,
           reasons.empty() ? "" : "; no answer to the others:");
    for (size_t i = 0; i < reasons.size() && i < 12; ++i)
      printf("  %zu: %s\n", reasons[i].first, reasons[i].second.c_str());
  }
  if (empty)
    printf("%zu of the seeds make no graph\n", empty);
  printf("%zu passed, %zu failed\n", passed, failed);
  return failed != 0;
}

static int body(int argc, char **argv) {
  Arguments arguments = parseArguments(argc, argv);
  if (arguments.listOps) {
    for (const OpKind &kind : opKinds())
      printf("%-24s weight %u, opsets %lld to %lld\n", kind.name.c_str(), kind.weight,
             (long long)std::max(kind.from, kOldest), (long long)kind.to);
    return 0;
  }
  if (arguments.print) {
    for (uint64_t seed = arguments.first; seed <= arguments.last; ++seed) {
      Choices choices(seed);
      ::onnx::ModelProto model = toModel(generate(choices, arguments.generator));
      std::string text = toText(model);
      printf("# seed %llu\n%s\n", (unsigned long long)seed,
             text.empty() ? "(a constant of f16 or bf16, which ONNX's text form lacks)"
                          : text.c_str());
    }
    return 0;
  }
  if (!arguments.replay.empty())
    return replay(arguments);
  return Fuzzer(arguments).run();
}

int main(int argc, char **argv) {
  // A child or an oracle that has gone is found out when reading.
  signal(SIGPIPE, SIG_IGN);
  return tools::runTool("convoy-fuzz", body, argc, argv);
}
