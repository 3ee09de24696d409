// Convolutions and pools: everything that slides a window.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/convoy-fuzz/Builder.h"

#include <algorithm>
#include <cmath>

using namespace convoy;
using namespace convoy::fuzz;

namespace {

/// How a window lies in each spatial dimension.
struct Window {
  Dims kernel, strides, dilations, begins, ends, dst;
  std::string autoPad;
  bool ceil = false;

  int64_t size() const { return elements(kernel); }
  int64_t reach(size_t i) const { return (kernel[i] - 1) * dilations[i] + 1; }
};

/// What of it an op lets one choose.
struct Freedom {
  bool dilations = true, ceil = false, pads = true;
  /// Whether ONNX's text says that a last window beyond the data is left out with ceil_mode.
  bool trims = true;
};

} // namespace

// False if the window does not fit, or would lie on padding alone somewhere.
static bool choose(Builder &b, const Dims &src, const Freedom &freedom, Window &window) {
  size_t rank = src.size() - 2;
  Choices &choices = b.choices;
  bool square = !choices.oneIn(4);
  int64_t kernel = 0, stride = 0, dilation = 0;
  uint32_t padding = choices.draw(freedom.pads ? 6 : 2);
  window.autoPad = padding == 4   ? choices.pick<std::string>({"SAME_UPPER", "SAME_LOWER"})
                   : padding == 5 ? "VALID"
                                  : "";
  for (size_t i = 0; i < rank; ++i) {
    if (i == 0 || !square) {
      kernel = choices.pick<int64_t>({1, 3, 3, 2, 5, 4, 7});
      stride = choices.pick<int64_t>({1, 1, 1, 2, 2, 3});
      dilation = freedom.dilations ? choices.pick<int64_t>({1, 1, 1, 1, 2, 3}) : 1;
      // Others take little of this: it would only keep the oracle from answering.
      if (padding == 4 && !choices.oneIn(6))
        dilation = 1;
    }
    if (rank == 3)
      kernel = std::min<int64_t>(kernel, 3);
    window.kernel.push_back(kernel);
    window.strides.push_back(stride);
    window.dilations.push_back(dilation);
  }
  window.ceil = freedom.ceil && window.autoPad.empty() && choices.oneIn(3);
  for (size_t i = 0; i < rank; ++i) {
    int64_t reach = window.reach(i), extent = src[i + 2], begin = 0, end = 0;
    if (window.autoPad.substr(0, 4) == "SAME") {
      int64_t out = (extent + window.strides[i] - 1) / window.strides[i];
      int64_t total = std::max<int64_t>(0, (out - 1) * window.strides[i] + reach - extent);
      begin = window.autoPad == "SAME_UPPER" ? total / 2 : total - total / 2;
      end = total - begin;
    } else if (padding == 1 || padding == 2) { // As a convolution that keeps the size.
      begin = end = freedom.pads ? (reach - 1) / 2 : 0;
    } else if (padding == 3) {
      begin = choices.between(0, std::min<int64_t>(reach - 1, 3));
      end = choices.between(0, std::min<int64_t>(reach - 1, 3));
    }
    window.begins.push_back(begin);
    window.ends.push_back(end);
    int64_t room = extent + begin + end - reach;
    if (room < 0)
      return false;
    int64_t out = room / window.strides[i] + 1;
    // A last window that would begin in the padding at the end is left out.
    if (window.ceil && room % window.strides[i] != 0) {
      if (out * window.strides[i] < extent + begin)
        ++out;
      else if (!freedom.trims)
        return false;
    }
    window.dst.push_back(out);
    for (int64_t o = 0; o < out; ++o) {
      bool touches = false;
      for (int64_t k = 0; k < window.kernel[i]; ++k) {
        int64_t at = o * window.strides[i] + k * window.dilations[i] - begin;
        touches |= at >= 0 && at < extent;
      }
      if (!touches)
        return false;
    }
  }
  return true;
}

static std::vector<::onnx::AttributeProto> attributesOf(Builder &b, const Window &window,
                                                        const Freedom &freedom) {
  std::vector<::onnx::AttributeProto> attributes = {attr("kernel_shape", window.kernel)};
  auto allOne = [](const Dims &dims) {
    return std::all_of(dims.begin(), dims.end(), [](int64_t dim) { return dim == 1; });
  };
  // A default may be written or not.
  if (!allOne(window.strides) || b.choices.oneIn(3))
    attributes.push_back(attr("strides", window.strides));
  if (freedom.dilations && (!allOne(window.dilations) || b.choices.oneIn(4)))
    attributes.push_back(attr("dilations", window.dilations));
  if (!window.autoPad.empty()) {
    attributes.push_back(attr("auto_pad", window.autoPad.c_str()));
    return attributes;
  }
  Dims pads = window.begins;
  pads.insert(pads.end(), window.ends.begin(), window.ends.end());
  if (std::any_of(pads.begin(), pads.end(), [](int64_t pad) { return pad != 0; }))
    attributes.push_back(attr("pads", pads));
  if (window.ceil)
    attributes.push_back(attr("ceil_mode", int64_t(1)));
  return attributes;
}

// Winograd's algorithm multiplies by fractions: it is not exact on a grid. The tests of each layer
// bound its error by 3e-6, 50 units, of the largest value. The sum of magnitudes is that value many
// times where there are enough channels for the algorithm: 8 units of it.
static Range mayUseWinograd(Range range, const Window &window, int64_t group, convoy_type type) {
  if (window.kernel != Dims{3, 3} ||
      (window.strides != Dims{1, 1} && window.strides != Dims{2, 2}) ||
      window.dilations != Dims{1, 1} || group != 1)
    return range;
  range.grid = 0;
  range.error += 8 * unitOf(type) * range.magnitude();
  return range;
}

static bool makeConv(Builder &b, int forced = kOmitted, bool depthwise = false) {
  int x = forced != kOmitted ? forced : b.image();
  if (x == kOmitted)
    return false;
  Dims src = b[x].dims();
  Window window;
  Freedom freedom;
  if (!choose(b, src, freedom, window))
    return false;
  int64_t channels = src[1], group = 1;
  if (depthwise || b.choices.oneIn(5))
    group = channels;
  else if (b.choices.oneIn(6))
    for (int64_t candidate : {2, 4, 3, 8})
      if (channels % candidate == 0)
        group = candidate;
  int64_t multiplier = group == channels
                           ? b.choices.pick<int64_t>({1, 1, 1, 2})
                           : b.choices.pick<int64_t>({1, 2, 3, 5, 8, 16, 17, 24, 32, 33});
  int64_t dstChannels =
      std::max<int64_t>(1, group == 1 ? multiplier : group * std::min<int64_t>(multiplier, 4));
  Dims wei = {dstChannels, channels / group};
  wei.insert(wei.end(), window.kernel.begin(), window.kernel.end());
  Dims dst = {src[0], dstChannels};
  dst.insert(dst.end(), window.dst.begin(), window.dst.end());
  double terms = double(elements(wei)) / dstChannels;
  if (elements(dst) * terms > 3e6)
    return false;
  convoy_type type = b[x].type();
  Range range = weightRange(b, b[x].range, terms);
  int w = b.choices.oneIn(20) ? b.input(type, wei, range) : b.constant(type, wei, range);
  int bias = b.choices.oneIn(2) ? b.operand(type, {dstChannels}, {-2, 2, 0, 1}) : kOmitted;
  Range sum = sumOfProducts(type, b[x].range, b[w].range, terms, largestSum(b[w], 0),
                            bias == kOmitted ? nullptr : &b[bias].range);
  std::vector<::onnx::AttributeProto> attributes = attributesOf(b, window, freedom);
  if (group != 1)
    attributes.push_back(attr("group", group));
  return b.add("Conv", {x, w, bias}, {{type, dst, mayUseWinograd(sum, window, group, type)}},
               attributes);
}

static bool makeConvTranspose(Builder &b) {
  int x = b.image();
  if (x == kOmitted)
    return false;
  Dims src = b[x].dims();
  size_t rank = src.size() - 2;
  Window window;
  Dims adjusts;
  bool adjusted = false;
  bool square = !b.choices.oneIn(4);
  for (size_t i = 0; i < rank; ++i) {
    if (i == 0 || !square) {
      window.kernel.push_back(b.choices.pick<int64_t>({1, 2, 3, 4, 5}));
      window.strides.push_back(b.choices.pick<int64_t>({1, 2, 2, 3}));
      window.dilations.push_back(b.choices.pick<int64_t>({1, 1, 1, 2}));
    } else {
      window.kernel.push_back(window.kernel[0]);
      window.strides.push_back(window.strides[0]);
      window.dilations.push_back(window.dilations[0]);
    }
    int64_t reach = window.reach(i);
    bool pads = b.choices.oneIn(2);
    window.begins.push_back(pads ? b.choices.between(0, std::min<int64_t>(reach - 1, 2)) : 0);
    window.ends.push_back(pads ? b.choices.between(0, std::min<int64_t>(reach - 1, 2)) : 0);
    int64_t most = std::max(window.strides[i], window.dilations[i]) - 1;
    adjusts.push_back(b.choices.oneIn(4) ? b.choices.between(0, most) : 0);
    adjusted |= adjusts.back() != 0;
    int64_t out = (src[i + 2] - 1) * window.strides[i] + reach + adjusts[i] - window.begins[i] -
                  window.ends[i];
    if (out < 1)
      return false;
    window.dst.push_back(out);
  }
  int64_t channels = src[1], group = 1;
  if (b.choices.oneIn(4))
    group = channels;
  else if (channels % 2 == 0 && b.choices.oneIn(5))
    group = 2;
  int64_t perGroup =
      group == 1 ? b.choices.pick<int64_t>({1, 2, 3, 8, 16, 17}) : b.choices.between(1, 2);
  Dims wei = {channels, perGroup};
  wei.insert(wei.end(), window.kernel.begin(), window.kernel.end());
  Dims dst = {src[0], perGroup * group};
  dst.insert(dst.end(), window.dst.begin(), window.dst.end());
  double terms = double(channels / group) * window.size();
  if (double(elements(src)) * perGroup * window.size() > 2e6)
    return false;
  convoy_type type = b[x].type();
  int w = b.constant(type, wei, weightRange(b, b[x].range, terms));
  int bias = b.choices.oneIn(2) ? b.operand(type, {dst[1]}, {-2, 2, 0, 1}) : kOmitted;
  // With groups, a sum over dimension 1 has the weights of all groups: a bound too.
  Range sum = sumOfProducts(type, b[x].range, b[w].range, terms, largestSum(b[w], 1),
                            bias == kOmitted ? nullptr : &b[bias].range);
  std::vector<::onnx::AttributeProto> attributes = attributesOf(b, window, {});
  if (group != 1)
    attributes.push_back(attr("group", group));
  if (adjusted)
    attributes.push_back(attr("output_padding", adjusts));
  return b.add("ConvTranspose", {x, w, bias}, {{type, dst, sum}}, attributes);
}

static Dims pooled(const Dims &src, const Window &window) {
  Dims dst = {src[0], src[1]};
  dst.insert(dst.end(), window.dst.begin(), window.dst.end());
  return dst;
}

static bool makeMaxPool(Builder &b) {
  int x = b.image();
  if (x == kOmitted || b[x].type() == CONVOY_TYPE_BF16 ||
      (b[x].type() == CONVOY_TYPE_F16 && b.opset() < 8))
    return false;
  Window window;
  Freedom freedom{b.opset() >= 10, b.opset() >= 10, true};
  if (!choose(b, b[x].dims(), freedom, window))
    return false;
  Dims dst = pooled(b[x].dims(), window);
  return b.add("MaxPool", {x}, {{b[x].type(), dst, b[x].range}}, attributesOf(b, window, freedom));
}

static bool makeAveragePool(Builder &b) {
  int x = b.image();
  if (x == kOmitted || b[x].type() == CONVOY_TYPE_BF16)
    return false;
  Window window;
  Freedom freedom{b.opset() >= 19, b.opset() >= 10, true};
  if (!choose(b, b[x].dims(), freedom, window))
    return false;
  std::vector<::onnx::AttributeProto> attributes = attributesOf(b, window, freedom);
  if (b.choices.oneIn(2))
    attributes.push_back(attr("count_include_pad", int64_t(1)));
  Range p = b[x].range;
  double terms = window.size();
  Range range = rounded(b[x].type(), std::min(p.lo, 0.0), std::max(p.hi, 0.0), p.error, 0,
                        p.magnitude(), terms);
  return b.add("AveragePool", {x}, {{b[x].type(), pooled(b[x].dims(), window), range}}, attributes);
}

static bool makeLpPool(Builder &b) {
  int x = b.image();
  if (x == kOmitted || b[x].type() != CONVOY_TYPE_F32)
    return false;
  Window window;
  Freedom freedom{b.opset() >= 18, b.opset() >= 18, true, /*trims=*/false};
  if (!choose(b, b[x].dims(), freedom, window))
    return false;
  std::vector<::onnx::AttributeProto> attributes = attributesOf(b, window, freedom);
  int64_t p = b.choices.between(1, 2);
  attributes.push_back(attr("p", p));
  double most = b[x].range.magnitude() * window.size(), terms = window.size();
  // A root's slope has no bound at 0: the error of a norm comes from its operands, each at most
  // once.
  Range range = rounded(b[x].type(), 0, most, terms * b[x].range.error, 0, most, terms);
  return b.add("LpPool", {x}, {{b[x].type(), pooled(b[x].dims(), window), range}}, attributes);
}

static bool makeGlobalPool(Builder &b, const char *op) {
  int x = b.image();
  bool isMax = std::string(op) == "GlobalMaxPool";
  if (x == kOmitted || b[x].type() == CONVOY_TYPE_BF16)
    return false;
  Dims dst = b[x].dims();
  double terms = 1;
  for (size_t i = 2; i < dst.size(); ++i) {
    terms *= dst[i];
    dst[i] = 1;
  }
  Range p = b[x].range;
  Range range = isMax ? p : rounded(b[x].type(), p.lo, p.hi, p.error, 0, p.magnitude(), terms);
  return b.add(op, {x}, {{b[x].type(), dst, range}});
}

void convoy::fuzz::addWindows(std::vector<OpKind> &kinds) {
  kinds.push_back({"Conv", 80, 1, kNewest, [](Builder &b) { return makeConv(b); }});
  kinds.push_back({"ConvTranspose", 18, 1, kNewest, makeConvTranspose});
  kinds.push_back({"MaxPool", 16, 1, kNewest, makeMaxPool});
  kinds.push_back({"AveragePool", 16, 7, kNewest, makeAveragePool});
  kinds.push_back({"LpPool", 3, 2, kNewest, makeLpPool});
  kinds.push_back({"GlobalAveragePool", 5, 1, kNewest,
                   [](Builder &b) { return makeGlobalPool(b, "GlobalAveragePool"); }});
  kinds.push_back({"GlobalMaxPool", 4, 1, kNewest,
                   [](Builder &b) { return makeGlobalPool(b, "GlobalMaxPool"); }});
}
