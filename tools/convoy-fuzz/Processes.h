// Work in processes of their own, so that a crash or hang is one failure.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <functional>
#include <string>

#include <sys/types.h>

namespace convoy::fuzz {

/// A child and the reading end of the pipe to which it writes.
struct Child {
  pid_t pid = -1;
  int file = -1;
};

/// Calls `body` with the writing end in a child, which ends then.
Child startChild(const std::function<void(int file)> &body);
/// Waits for its end, after killing it if `kills`. "" or how it ended: "crashed: Aborted".
std::string endChild(Child child, bool kills);
void writeAll(int file, const std::string &text);

/// What `work` returns, computed in a child; `ended` is set to "hangs" or how it ended if it did
/// not get so far.
std::string inChild(double seconds, const std::function<std::string()> &work, std::string &ended);

} // namespace convoy::fuzz
