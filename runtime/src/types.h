// Element types and how shapes are written in messages.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CONVOY_RUNTIME_TYPES_H
#define CONVOY_RUNTIME_TYPES_H

#include "status.h"

namespace convoy::rt {

/// Appends e.g. "f32[N,3,224,224]"; -1 is the batch.
void addShape(Text &text, convoy_type type, const int64_t *dims, size_t rank);

} // namespace convoy::rt

#endif // CONVOY_RUNTIME_TYPES_H
