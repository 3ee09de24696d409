// Work in processes of their own.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/convoy-fuzz/Processes.h"

#include "tools/support/Error.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace convoy::fuzz;

void convoy::fuzz::writeAll(int file, const std::string &text) {
  for (size_t written = 0; written < text.size();) {
    ssize_t count = write(file, text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return; // The parent has gone: nobody is left to tell.
    written += count;
  }
}

Child convoy::fuzz::startChild(const std::function<void(int file)> &body) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw tools::Error(std::string("cannot make a pipe: ") + strerror(errno));
  fflush(stdout);
  fflush(stderr);
  pid_t pid = fork();
  if (pid < 0)
    throw tools::Error(std::string("cannot start a process: ") + strerror(errno));
  if (pid == 0) {
    // Nobody else would end a child that hangs.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(ends[0]);
    body(ends[1]);
    _exit(0);
  }
  close(ends[1]);
  return {pid, ends[0]};
}

std::string convoy::fuzz::endChild(Child child, bool kills) {
  if (kills)
    kill(child.pid, SIGKILL);
  int status = 0;
  while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
  }
  close(child.file);
  if (WIFSIGNALED(status))
    return std::string("crashes: ") + strsignal(WTERMSIG(status));
  if (WEXITSTATUS(status))
    return "exits with status " + std::to_string(WEXITSTATUS(status));
  return "";
}

std::string convoy::fuzz::inChild(double seconds, const std::function<std::string()> &work,
                                  std::string &ended) {
  Child child = startChild([&](int file) { writeAll(file, work() + '\n'); });
  auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  std::string output;
  for (;;) {
    double left =
        std::chrono::duration<double>(deadline - std::chrono::steady_clock::now()).count();
    if (left <= 0) {
      endChild(child, true);
      ended = "hangs";
      return output;
    }
    pollfd entry = {child.file, POLLIN, 0};
    if (poll(&entry, 1, static_cast<int>(left * 1000) + 1) <= 0)
      continue;
    char buffer[4096];
    ssize_t size = read(child.file, buffer, sizeof buffer);
    if (size > 0)
      output.append(buffer, size);
    else if (size == 0)
      break;
  }
  ended = endChild(child, false);
  if (!output.empty() && output.back() == '\n')
    output.pop_back();
  return output;
}
