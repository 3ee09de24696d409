// Runs many steps in child processes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/fuzz/Workers.h"

#include "tools/support/Error.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <regex>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace convoy::fuzz;
using Clock = std::chrono::steady_clock;

namespace {

/// In memory that parent and child share.
struct Progress {
  std::atomic<int64_t> step;
  /// Of the child, when the step began.
  std::atomic<double> cpu;
};

struct Worker {
  pid_t pid = -1;
  int64_t first = 0, end = 0;
  std::string log;
  /// The step that was seen last, and since when.
  int64_t seen = -1;
  Clock::time_point since;
};

} // namespace

// Status of a child whose step returned a text, which then stands in its log.
static constexpr int kReturnedText = 3;
static constexpr char kTextMark[] = "fuzz: ";

static double cpuSeconds(clockid_t clock) {
  timespec time = {};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

static std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// What is the same for all failures of one cause.
static std::string kindOf(const std::string &log, const std::string &ending) {
  std::smatch match;
  // The innermost function of ours.
  std::string place;
  if (std::regex_search(log, match, std::regex(" in (convoy::[^ (]*)")))
    place = " in " + match[1].str();
  for (const char *pattern :
       {"fuzz: ([^\n]*)", "([^\n /]*:[0-9]+:[0-9]+: runtime error: [^\n]*)", "(Assertion [^\n]*)",
        "(LLVM ERROR[^\n]*)", "SUMMARY: ([A-Za-z]*: [^ \n]*)"})
    if (std::regex_search(log, match, std::regex(pattern)))
      return std::regex_replace(match[1].str(), std::regex("-?[0-9]{4,}"), "#") + place;
  return ending;
}

static void start(Worker &worker, Progress &progress, const Step &step) {
  progress.step = worker.first;
  progress.cpu = 0;
  fflush(stdout);
  fflush(stderr);
  pid_t parent = getpid();
  worker.pid = fork();
  if (worker.pid < 0)
    throw convoy::tools::Error(std::string("cannot start a process: ") + strerror(errno));
  worker.seen = -1;
  if (worker.pid > 0)
    return;
  // Nobody else would end a child that hangs.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(1);
  int file = open(worker.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || dup2(file, STDERR_FILENO) < 0)
    _exit(1);
  for (int64_t i = worker.first; i < worker.end; ++i) {
    progress.cpu = cpuSeconds(CLOCK_PROCESS_CPUTIME_ID);
    progress.step = i;
    std::string text = step(i);
    if (!text.empty()) {
      fprintf(stderr, "%s%s\n", kTextMark, text.c_str());
      _exit(kReturnedText);
    }
  }
  progress.step = worker.end;
  _exit(0);
}

// "" while the worker is to go on, or what is too much.
static std::string overLimit(Worker &worker, const Progress &progress, const Limits &limits) {
  int64_t step = progress.step;
  Clock::time_point now = Clock::now();
  if (step != worker.seen) {
    worker.seen = step;
    worker.since = now;
    return "";
  }
  clockid_t clock;
  if (clock_getcpuclockid(worker.pid, &clock) == 0 &&
      cpuSeconds(clock) - progress.cpu > limits.cpuSeconds)
    return kTakesTooLong;
  if (std::chrono::duration<double>(now - worker.since).count() > limits.seconds)
    return "waits for something";
  return "";
}

void convoy::fuzz::runSteps(int64_t first, int64_t count, unsigned jobs, const std::string &scratch,
                            const Limits &limits, const Step &step,
                            const std::function<void(const Failure &)> &report) {
  jobs = static_cast<unsigned>(std::min<int64_t>(jobs, count));
  size_t bytes = sizeof(Progress) * std::max(jobs, 1u);
  void *shared = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED)
    throw tools::Error("cannot share memory with child processes");
  auto *progress = new (shared) Progress[jobs];
  std::vector<Worker> workers(jobs);
  for (unsigned w = 0; w < jobs; ++w) {
    workers[w].first = first + count * w / jobs;
    workers[w].end = first + count * (w + 1) / jobs;
    workers[w].log = scratch + "/worker-" + std::to_string(w) + ".log";
    start(workers[w], progress[w], step);
  }
  unsigned running = jobs;
  while (running > 0) {
    usleep(5000);
    for (unsigned w = 0; w < jobs; ++w) {
      Worker &worker = workers[w];
      if (worker.pid < 0)
        continue;
      int status = 0;
      std::string ending;
      if (waitpid(worker.pid, &status, WNOHANG) == 0) {
        ending = overLimit(worker, progress[w], limits);
        if (ending.empty())
          continue;
        kill(worker.pid, SIGKILL);
        waitpid(worker.pid, &status, 0);
      } else if (WIFSIGNALED(status)) {
        ending = strsignal(WTERMSIG(status));
      } else if (WEXITSTATUS(status) != 0) {
        ending = "exits with status " + std::to_string(WEXITSTATUS(status));
      }
      worker.pid = -1;
      if (!ending.empty()) {
        int64_t at = progress[w].step;
        std::string log = readFile(worker.log);
        report({at, kindOf(log, ending), log});
        worker.first = at + 1;
        if (worker.first < worker.end) {
          start(worker, progress[w], step);
          continue;
        }
      }
      --running;
    }
  }
  munmap(shared, bytes);
}
