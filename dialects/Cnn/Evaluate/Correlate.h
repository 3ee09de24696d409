// The loops below convolution and matrix product.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "dialects/Cnn/Evaluate/Elements.h"

#include <algorithm>

namespace convoy::cnn {

/// One channel's samples as a line, in which every kernel position reads at a fixed shift.
template <typename T>
struct Samples {
  const T *data;
  int64_t channels, channelStride;
  llvm::ArrayRef<int64_t> shifts;
};

// Adds into `dst[Rows][kTile]`. The samples are read once for all rows.
template <int Rows, typename T>
void correlateTile(const Samples<T> &src, const T *wei, int64_t weiRowStride,
                   int64_t weiChannelStride, int64_t start, int64_t length, int64_t tile,
                   Sum<T> *dst) {
  for (int64_t c = 0; c < src.channels; ++c)
    for (size_t k = 0; k < src.shifts.size(); ++k) {
      Sum<T> weight[Rows];
      for (int r = 0; r < Rows; ++r)
        weight[r] = wei[r * weiRowStride + c * weiChannelStride + int64_t(k)];
      const T *line = src.data + c * src.channelStride + src.shifts[k] + start;
      for (int64_t q = 0; q < length; ++q) {
        Sum<T> sample = line[q];
        for (int r = 0; r < Rows; ++r)
          dst[r * tile + q] += weight[r] * sample;
      }
    }
}

/// dst[r][q] = sum over c, k of wei[r][c][k] * src[c][shifts[k] + q], in the order of c and k.
/// `wei` has the given strides; dst has `length` samples a row.
template <typename T>
void correlate(const Samples<T> &src, const T *wei, int64_t rows, int64_t weiRowStride,
               int64_t weiChannelStride, int64_t length, Sum<T> *dst) {
  constexpr int64_t kTile = 512; // 4 rows of sums stay in the first cache
  constexpr int kRows = 4;
  Sum<T> sums[kRows * kTile];
  for (int64_t start = 0; start < length; start += kTile) {
    int64_t count = std::min(kTile, length - start);
    for (int64_t row = 0; row < rows; row += kRows) {
      int64_t present = std::min<int64_t>(kRows, rows - row);
      std::fill_n(sums, present * kTile, Sum<T>(0));
      const T *rowWei = wei + row * weiRowStride;
      if (present == kRows)
        correlateTile<kRows>(src, rowWei, weiRowStride, weiChannelStride, start, count, kTile,
                             sums);
      else
        for (int64_t r = 0; r < present; ++r)
          correlateTile<1>(src, rowWei + r * weiRowStride, weiRowStride, weiChannelStride, start,
                           count, kTile, sums + r * kTile);
      for (int64_t r = 0; r < present; ++r)
        std::copy_n(sums + r * kTile, count, dst + (row + r) * length + start);
    }
  }
}

} // namespace convoy::cnn
