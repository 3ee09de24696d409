// The same layer by oneDNN, where the build found it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "test/bench/Layer.h"

#include <functional>

namespace convoy::test {

/// Its version, or an empty string if layer-bench was built without it or it cannot be held to one
/// thread.
std::string oneDnnVersion();

/// A convolution with bias and ReLU by oneDNN's direct algorithm: layouts are those that oneDNN
/// likes best, weights lie in them already. Each call runs the primitive once, with the weights of
/// the next of `copies`. An empty function if oneDNN cannot compute it.
std::function<void()> oneDnnConv(const ConvShape &shape, size_t copies);

} // namespace convoy::test
