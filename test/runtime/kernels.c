// Kernels of the tests' models: as compiled code is, they have no relocations and call nothing.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "convoy/kernel_abi.h"

enum { Rows = 24, Columns = 10, Image = Rows * Columns };

// a[n][r][c] = x[n][r][c] * w[r] + w[Rows + c]. A tile is a row.
void test_scale(const convoy_call *call, int64_t begin, int64_t end) {
  const float *x = call->args[0], *w = call->args[1];
  float *a = call->args[2];
  for (int64_t tile = begin; tile < end; ++tile)
    for (int64_t c = 0; c < Columns; ++c)
      a[tile * Columns + c] = x[tile * Columns + c] * w[tile % Rows] + w[Rows + c];
}

// b[n][r][c] = sum over q of a[n][q][c] / (1 + r + q): reads what all tiles of test_scale wrote.
// A row is first built in scratch.
void test_mix(const convoy_call *call, int64_t begin, int64_t end) {
  const float *a = call->args[0];
  float *b = call->args[1], *row = call->scratch;
  for (int64_t tile = begin; tile < end; ++tile) {
    const float *image = a + tile / Rows * Image;
    int64_t r = tile % Rows;
    for (int64_t c = 0; c < Columns; ++c)
      row[c] = 0;
    for (int64_t q = 0; q < Rows; ++q)
      for (int64_t c = 0; c < Columns; ++c)
        row[c] += image[q * Columns + c] / (float)(1 + r + q);
    for (int64_t c = 0; c < Columns; ++c)
      b[tile * Columns + c] = row[c];
  }
}

// y[n][c] = sum over r of b[n][r][c]: one tile for all images.
void test_sum(const convoy_call *call, int64_t begin, int64_t end) {
  const float *b = call->args[0];
  float *y = call->args[1];
  if (begin >= end)
    return;
  for (int64_t n = 0; n < call->batch; ++n)
    for (int64_t c = 0; c < Columns; ++c) {
      float sum = 0;
      for (int64_t r = 0; r < Rows; ++r)
        sum += b[n * Image + r * Columns + c];
      y[n * Columns + c] = sum;
    }
}

// Copies rows of one half of the columns: the halves of z[n][r][:] are slices of one buffer, and
// each is written by a launch of its own.
void test_half(const convoy_call *call, int64_t begin, int64_t end) {
  const float *a = call->args[0];
  float *z = call->args[1];
  for (int64_t tile = begin; tile < end; ++tile)
    for (int64_t c = 0; c < Columns / 2; ++c)
      z[tile * Columns + c] = a[tile * Columns + c];
}

// Copies x[1] to x[6] to y; the count of those that matter is x[0].
void test_count(const convoy_call *call, int64_t begin, int64_t end) {
  const float *x = call->args[0];
  float *y = call->args[1];
  int64_t *count = call->args[2];
  if (begin >= end)
    return;
  for (int64_t i = 0; i < 6; ++i)
    y[i] = x[i + 1];
  *count = (int64_t)x[0];
}

#ifdef TEST_WRITABLE_DATA
int testCounter = 1;
#endif
#ifdef TEST_ZERO_DATA
int testZeros[4];
#endif
#ifdef TEST_RELOCATION
// A table of addresses needs a loader, even if it is never written.
void (*const testTable[])(const convoy_call *, int64_t, int64_t) = {test_scale, test_mix};
#endif
#ifdef TEST_UNDEFINED
float expf(float);
void test_exp(const convoy_call *call, int64_t begin, int64_t end) {
  float *x = call->args[0];
  for (int64_t i = begin; i < end; ++i)
    x[i] = expf(x[i]);
}
#endif
