/* The call between the runtime and a compiled x86 kernel: the only header that the code generator
 * shares with the runtime.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef CONVOY_KERNEL_ABI_H
#define CONVOY_KERNEL_ABI_H

#include <stddef.h>
#include <stdint.h>

/* Base addresses of arena buffers, constants and scratch are multiples of this. Those of the
 * model's inputs and outputs are the caller's: a kernel may only count on the alignment of an
 * element. */
#define CONVOY_ALIGNMENT 64

/* What a kernel gets beside its range of tiles. Emitted code reads the fields at fixed offsets. */
typedef struct convoy_call {
  void *const *args; /* one base address for each argument of the launch */
  int64_t batch;     /* images in this run, at least 1 */
  void *scratch;     /* this thread's own memory, as many bytes as the variant asks for */
} convoy_call;

/* Computes the tiles [tile_begin, tile_end) of a launch. The tiles of a launch run in any order, on
 * any thread and in ranges of any length, so a tile writes only its own part and its result must
 * not depend on the range that it came in. A launch has tiles_per_image * batch tiles if it is
 * batched, else tiles_per_image; which image a tile belongs to is the kernel's affair. The runtime
 * calls with default rounding, all exceptions masked and subnormals flushed to zero; a kernel keeps
 * MXCSR and follows the System V calling convention. */
typedef void (*convoy_kernel_fn)(const convoy_call *call, int64_t tile_begin, int64_t tile_end);

#ifdef __cplusplus
static_assert(offsetof(convoy_call, args) == 0 && offsetof(convoy_call, batch) == 8 &&
                  offsetof(convoy_call, scratch) == 16 && sizeof(convoy_call) == 24,
              "emitted code relies on these offsets");
#else
_Static_assert(offsetof(convoy_call, args) == 0 && offsetof(convoy_call, batch) == 8 &&
                   offsetof(convoy_call, scratch) == 16 && sizeof(convoy_call) == 24,
               "emitted code relies on these offsets");
#endif

#endif /* CONVOY_KERNEL_ABI_H */
