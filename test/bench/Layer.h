// Layers by their extents, as models/shapes has them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace convoy::test {

/// The extents of a convolution, square strides, pads and dilations.
struct ConvShape {
  int64_t ic = 0, oc = 0, h = 0, w = 0, kh = 0, kw = 0, stride = 1, pad = 0;
  int64_t dilation = 1, groups = 1;

  int64_t oh() const { return outOf(h, kh); }
  int64_t ow() const { return outOf(w, kw); }
  /// Of the direct algorithm; a multiply and an add are two.
  double flops() const { return 2.0 * double(oc * oh() * ow() * (ic / groups) * kh * kw); }

private:
  int64_t outOf(int64_t in, int64_t kernel) const {
    return (in + 2 * pad - (kernel - 1) * dilation - 1) / stride + 1;
  }
};

struct Layer {
  std::string name;
  /// The inside of a plan.kernel, see StrategyCase.
  std::string body;
  /// Of layers that are given by their extents.
  std::optional<ConvShape> conv;
};

/// Reads layers, one a line, and adds those that are not there yet. A line is
///   (conv | first | planar) IC OC H W KH KW STRIDE PAD [DILATION [GROUPS]]
/// or a path of a kernel's body in MLIR; # begins a comment line. Returns what is wrong, or nothing.
std::string addLayers(const std::string &text, std::vector<Layer> &layers);

} // namespace convoy::test
