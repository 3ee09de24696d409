// Scalar regions that are affine functions of one argument, with factors per channel.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "dialects/Cnn/Cnn.h"

#include <optional>
#include <vector>

namespace convoy {

/// x * scale[channel] + shift[channel].
struct ChannelAffine {
  std::vector<double> scale, shift;

  static ChannelAffine identity(int64_t channels);
  /// This function after `inner`.
  ChannelAffine after(const ChannelAffine &inner) const;
  bool isFinite() const;
  bool isIdentity() const;
};

/// What an op's scalar region computes of its argument `variable`, if that is affine and all
/// others are constants that differ along dimension `axis` of the result alone. Floats only.
std::optional<ChannelAffine> getChannelAffine(cnn::EpilogueOpInterface op,
                                              mlir::BlockArgument variable, int64_t axis);

} // namespace convoy
