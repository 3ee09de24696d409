// Errors of the command line tools: one line on stderr and an exit status.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CONVOY_TOOLS_SUPPORT_ERROR_H
#define CONVOY_TOOLS_SUPPORT_ERROR_H

#include <stdexcept>
#include <string>

namespace convoy::tools {

/// What the user asked for cannot be done: exit status 1.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The command line itself is wrong: exit status 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Text by printf's rules.
[[gnu::format(printf, 1, 2)]] std::string format(const char *text, ...);

/// Runs a tool's body; prints what it throws as "NAME: error: ..." and turns it into the status.
int runTool(const char *name, int (*body)(int argc, char **argv), int argc, char **argv);

} // namespace convoy::tools

#endif // CONVOY_TOOLS_SUPPORT_ERROR_H
