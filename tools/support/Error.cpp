// Errors of the command line tools.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/support/Error.h"

#include "tools/support/Printable.h"

#include <cstdarg>
#include <cstdio>
#include <new>

namespace convoy::tools {

std::string format(const char *text, ...) {
  va_list args, again;
  va_start(args, text);
  va_copy(again, args);
  int size = vsnprintf(nullptr, 0, text, args);
  va_end(args);
  std::string result(size > 0 ? size : 0, '\0');
  // The terminating zero falls on the one that std::string keeps anyway.
  vsnprintf(result.data(), result.size() + 1, text, again);
  va_end(again);
  return result;
}

int runTool(const char *name, int (*body)(int argc, char **argv), int argc, char **argv) {
  // Results on a full disk or a closed pipe are lost results: say so instead of exiting with 0.
  auto flushed = [&](int status) {
    if (fflush(stdout) == 0 && !ferror(stdout))
      return status;
    fprintf(stderr, "%s: error: cannot write to standard output\n", name);
    return status ? status : 1;
  };
  try {
    return flushed(body(argc, argv));
  } catch (const UsageError &error) {
    fflush(stdout);
    fprintf(stderr, "%s: error: %s (see %s --help)\n", name, printableLines(error.what()).c_str(), name);
    return 2;
  } catch (const std::bad_alloc &) {
    fflush(stdout);
    fprintf(stderr, "%s: error: out of memory\n", name);
    return 1;
  } catch (const std::exception &error) {
    fflush(stdout);
    fprintf(stderr, "%s: error: %s\n", name, printableLines(error.what()).c_str());
    return 1;
  }
}

} // namespace convoy::tools
