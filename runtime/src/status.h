// How the runtime's parts report failure: a status, and a message for the calling thread.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CONVOY_RUNTIME_STATUS_H
#define CONVOY_RUNTIME_STATUS_H

#include "convoy/convoy.h"

namespace convoy::rt {

/// Keeps the message for convoy_last_error() and returns the status.
[[gnu::format(printf, 2, 3)]] convoy_status fail(convoy_status status, const char *format, ...);

/// Text put together in a buffer of fixed size; what does not fit is cut off.
class Text {
public:
  [[gnu::format(printf, 2, 3)]] void add(const char *format, ...);
  const char *str() const { return buffer; }

private:
  char buffer[768] = "";
  size_t used = 0;
};

} // namespace convoy::rt

#endif // CONVOY_RUNTIME_STATUS_H
