// Strides, pads and dilations of a node, and what auto_pad makes of them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/WindowAttrs.h"

#include <limits>

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;

// Larger numbers are nonsense, and products of three of them still fit into 64 bits.
static constexpr int64_t kLargest = 1 << 20;

FailureOr<WindowAttrs> convoy::onnx::readWindowAttrs(NodeImport &node, ArrayRef<int64_t> kernel) {
  size_t rank = kernel.size();
  WindowAttrs attrs;
  attrs.kernel.assign(kernel.begin(), kernel.end());
  attrs.strides = node.intsAttr("strides", SmallVector<int64_t>(rank, 1));
  attrs.dilations = node.intsAttr("dilations", SmallVector<int64_t>(rank, 1));
  attrs.pads = node.intsAttr("pads", SmallVector<int64_t>(2 * rank, 0));
  std::string autoPad = node.stringAttr("auto_pad", "NOTSET");
  std::optional<AutoPad> known =
      llvm::StringSwitch<std::optional<AutoPad>>(autoPad)
          .Cases({"NOTSET", ""}, AutoPad::NotSet)
          .Case("SAME_UPPER", AutoPad::SameUpper)
          .Case("SAME_LOWER", AutoPad::SameLower)
          .Case("VALID", AutoPad::Valid)
          .Default(std::nullopt);
  if (!known)
    return node.error() << "attribute 'auto_pad' is '" << autoPad
                        << "', expected NOTSET, SAME_UPPER, SAME_LOWER or VALID";
  attrs.autoPad = *known;
  struct Check {
    StringRef name;
    ArrayRef<int64_t> values;
    size_t count;
    int64_t least;
  };
  for (const Check &check : {Check{"kernel", kernel, rank, 1},
                             Check{"strides", attrs.strides, rank, 1},
                             Check{"dilations", attrs.dilations, rank, 1},
                             Check{"pads", attrs.pads, 2 * rank, 0}}) {
    if (check.values.size() != check.count)
      return node.error() << "attribute '" << check.name << "' has " << check.values.size()
                          << " values, expected " << check.count;
    for (int64_t value : check.values)
      if (value < check.least || value > kLargest)
        return node.error() << "attribute '" << check.name << "' has the value " << value
                            << ", expected " << check.least << " to " << kLargest;
  }
  if (attrs.autoPad != AutoPad::NotSet)
    attrs.pads.assign(2 * rank, 0);
  return attrs;
}

LogicalResult convoy::onnx::checkPixels(NodeImport &node, StringRef attr,
                                        ArrayRef<int64_t> values) {
  constexpr int64_t kMost = int64_t(1) << 40;
  for (int64_t value : values)
    if (value < 0 || value > kMost)
      return node.error() << "attribute '" << attr << "' has the value " << value
                          << ", expected 0 to " << kMost;
  return success();
}

LogicalResult convoy::onnx::checkExtents(NodeImport &node, ArrayRef<int64_t> extents) {
  constexpr int64_t kMost = int64_t(1) << 40;
  for (int64_t extent : extents)
    if (!ShapedType::isDynamic(extent) && extent > kMost)
      return node.error() << "has an image of [" << extents << "], at most " << kMost
                          << " pixels in a dimension are possible";
  return success();
}

LogicalResult convoy::onnx::resolveAutoPad(NodeImport &node, WindowAttrs &attrs,
                                   ArrayRef<int64_t> extents) {
  if (extents.size() != attrs.kernel.size())
    return node.error() << "has a kernel of " << attrs.kernel.size()
                        << " dimensions for a tensor with " << extents.size();
  if (failed(checkExtents(node, extents)))
    return failure();
  if (attrs.autoPad != AutoPad::SameUpper && attrs.autoPad != AutoPad::SameLower)
    return success();
  size_t rank = extents.size();
  for (size_t i = 0; i < rank; ++i) {
    int64_t reach = (attrs.kernel[i] - 1) * attrs.dilations[i] + 1;
    int64_t result = llvm::divideCeilSigned(extents[i], attrs.strides[i]);
    int64_t total = std::max<int64_t>((result - 1) * attrs.strides[i] + reach - extents[i], 0);
    int64_t smaller = total / 2, larger = total - smaller;
    bool isUpper = attrs.autoPad == AutoPad::SameUpper;
    attrs.pads[i] = isUpper ? smaller : larger;
    attrs.pads[i + rank] = isUpper ? larger : smaller;
  }
  return success();
}
