// Status texts and the last error of each thread.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "status.h"

#include <stdarg.h>
#include <stdio.h>

namespace {
// Plain data, so that a thread's exit has nothing to destroy.
thread_local char lastError[1024];
} // namespace

convoy_status convoy::rt::fail(convoy_status status, const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(lastError, sizeof lastError, format, list);
  va_end(list);
  return status;
}

void convoy::rt::Text::add(const char *format, ...) {
  va_list list;
  va_start(list, format);
  int length = vsnprintf(buffer + used, sizeof buffer - used, format, list);
  va_end(list);
  if (length > 0)
    used += static_cast<size_t>(length);
  if (used >= sizeof buffer)
    used = sizeof buffer - 1;
}

extern "C" const char *convoy_last_error(void) { return lastError; }

extern "C" const char *convoy_status_string(convoy_status status) {
  // Any number may come from C: not a switch on the enum's type.
  switch (static_cast<int>(status)) {
#define CONVOY_STATUS_TEXT(name, number, text)                                                     \
  case number:                                                                                     \
    return text;
    CONVOY_STATUS_LIST(CONVOY_STATUS_TEXT)
#undef CONVOY_STATUS_TEXT
  }
  return "unknown status";
}

extern "C" uint32_t convoy_version(void) { return CONVOY_VERSION; }
