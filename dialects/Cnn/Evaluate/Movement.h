// Copies of elements by tables of where each comes from.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "dialects/Cnn/Evaluate/Tensor.h"

namespace convoy::cnn {

/// For each dimension of dst the coordinate of src that each of its coordinates reads, or -1 for
/// the fill.
using CoordinateTables = llvm::SmallVector<std::vector<int64_t>>;

/// dst[i...] = src[tables[0][i0], tables[1][i1]...]; `fill` is one element.
void gatherByTables(const Tensor &src, const CoordinateTables &tables, const char *fill,
                    Tensor &dst);

} // namespace convoy::cnn
