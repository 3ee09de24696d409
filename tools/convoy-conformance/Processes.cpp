// Runs pieces of work in processes of their own.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/convoy-conformance/Conformance.h"
#include "tools/support/Error.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace convoy;
using Clock = std::chrono::steady_clock;

namespace {

struct Child {
  size_t index;
  pid_t pid;
  Clock::time_point deadline;
  std::string output;
};

} // namespace

static void writeAll(int file, const std::string &text) {
  size_t written = 0;
  while (written < text.size()) {
    ssize_t count = write(file, text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return; // The parent has gone: nobody is left to tell.
    written += count;
  }
}

// The reading end of the child's pipe and the child.
static std::pair<int, Child> start(size_t index, double timeout,
                                   const std::function<Outcome(size_t)> &work) {
  int ends[2];
  if (pipe(ends) != 0)
    throw tools::Error(std::string("cannot make a pipe: ") + strerror(errno));
  fflush(stdout);
  fflush(stderr);
  pid_t pid = fork();
  if (pid < 0)
    throw tools::Error(std::string("cannot start a process: ") + strerror(errno));
  if (pid == 0) {
    close(ends[0]);
    Outcome outcome;
    try {
      outcome = work(index);
    } catch (const std::exception &error) {
      outcome = {Outcome::Failed, error.what()};
    }
    writeAll(ends[1], static_cast<char>(outcome.kind) + outcome.reason);
    _exit(0);
  }
  close(ends[1]);
  auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>(timeout));
  return {ends[0], Child{index, pid, deadline, ""}};
}

static Outcome verdict(const Child &child, int status, bool timedOut) {
  if (timedOut)
    return {Outcome::Failed, "timed out"};
  if (WIFSIGNALED(status))
    return {Outcome::Failed, std::string("crashed: ") + strsignal(WTERMSIG(status))};
  if (child.output.empty())
    return {Outcome::Failed, "exited with status " + std::to_string(WEXITSTATUS(status))};
  return {static_cast<Outcome::Kind>(child.output[0]), child.output.substr(1)};
}

void convoy::runInProcesses(size_t count, int64_t jobs, double timeoutSeconds,
                            const std::function<Outcome(size_t)> &work,
                            const std::function<void(size_t, const Outcome &)> &done) {
  std::map<int, Child> running;
  size_t next = 0;
  while (next < count || !running.empty()) {
    while (next < count && running.size() < static_cast<size_t>(jobs))
      running.insert(start(next++, timeoutSeconds, work));

    std::vector<pollfd> polls;
    for (auto &[file, child] : running)
      polls.push_back({file, POLLIN, 0});
    poll(polls.data(), polls.size(), 100);

    for (const pollfd &entry : polls) {
      Child &child = running.at(entry.fd);
      bool timedOut = Clock::now() > child.deadline;
      bool finished = timedOut;
      if (entry.revents) {
        char buffer[4096];
        ssize_t size = read(entry.fd, buffer, sizeof buffer);
        if (size > 0)
          child.output.append(buffer, size);
        else if (size == 0)
          finished = true;
      }
      if (!finished)
        continue;
      if (timedOut)
        kill(child.pid, SIGKILL);
      int status = 0;
      while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
      }
      close(entry.fd);
      done(child.index, verdict(child, status, timedOut));
      running.erase(entry.fd);
    }
  }
}
