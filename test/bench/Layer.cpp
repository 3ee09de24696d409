// Layers by their extents, as models/shapes has them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/bench/Layer.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

#include <sstream>

using namespace convoy::test;
using namespace llvm;

static bool isConvWord(StringRef word) {
  return word == "conv" || word == "first" || word == "planar";
}

// Nothing if the line is not as addLayers describes it.
static std::optional<ConvShape> parseShape(std::istringstream &stream) {
  ConvShape shape;
  int64_t *const fields[] = {&shape.ic, &shape.oc,     &shape.h,   &shape.w,        &shape.kh,
                             &shape.kw, &shape.stride, &shape.pad, &shape.dilation, &shape.groups};
  constexpr size_t needed = 8;
  size_t count = 0;
  for (int64_t value; count < std::size(fields) && stream >> value;) {
    constexpr int64_t most = 1 << 20;
    if (value < (fields[count] == &shape.pad ? 0 : 1) || value > most)
      return std::nullopt;
    *fields[count++] = value;
  }
  bool isWhole = count >= needed && (stream.clear(), stream >> std::ws, stream.eof());
  if (!isWhole || shape.ic % shape.groups || shape.oc % shape.groups ||
      (shape.kh - 1) * shape.dilation >= shape.h + 2 * shape.pad ||
      (shape.kw - 1) * shape.dilation >= shape.w + 2 * shape.pad)
    return std::nullopt;
  return shape;
}

// Bias and ReLU, as most layers of networks have them.
static std::string bodyOf(const ConvShape &s, StringRef word) {
  StringRef srcLayout = word == "conv" ? ", BLOCKED" : "";
  StringRef dstLayout = word == "planar" ? "" : ", BLOCKED";
  std::string src = formatv("tensor<1x{0}x{1}x{2}xf32{3}>", s.ic, s.h, s.w, srcLayout);
  std::string wei = formatv("tensor<{0}x{1}x{2}x{3}xf32>", s.oc, s.ic / s.groups, s.kh, s.kw);
  std::string bias = formatv("tensor<1x{0}x1x1xf32{1}>", s.oc, dstLayout);
  std::string dst = formatv("tensor<1x{0}x{1}x{2}xf32{3}>", s.oc, s.oh(), s.ow(), dstLayout);
  return formatv(R"(^bb0(%x: {0}, %w: {1}, %b: {2}):
    %y = cnn.conv %x, %w extras(%b) {{strides = array<i64: {4}, {4}>,
        pads = array<i64: {5}, {5}, {5}, {5}>, dilations = array<i64: {6}, {6}>,
        groups = {7} : i64} : ({0}, {1}, {2}) -> {3} {{
    ^bb0(%acc: f32, %bias: f32):
      %zero = arith.constant 0.0 : f32
      %0 = arith.addf %acc, %bias : f32
      %1 = arith.maximumf %0, %zero : f32
      cnn.yield %1 : f32
    }
    plan.yield %y : {3})",
                 src, wei, bias, dst, s.stride, s.pad, s.dilation, s.groups);
}

std::string convoy::test::addLayers(const std::string &text, std::vector<Layer> &layers) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line = StringRef(line).trim().str();
    if (line.empty() || line[0] == '#' ||
        any_of(layers, [&](const Layer &layer) { return layer.name == line; }))
      continue;
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (isConvWord(word)) {
      std::optional<ConvShape> shape = parseShape(words);
      if (!shape)
        return "'" + line + "' is no convolution: " + word +
               " IC OC H W KH KW STRIDE PAD [DILATION [GROUPS]]";
      layers.push_back({line, bodyOf(*shape, word), shape});
      continue;
    }
    auto body = MemoryBuffer::getFile(line);
    if (!body)
      return "'" + line + "' is neither a layer nor a file: " + body.getError().message();
    layers.push_back({line, (*body)->getBuffer().str(), std::nullopt});
  }
  return "";
}
