// Ops that only move elements: what they give is as exact as what they take.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/convoy-fuzz/Builder.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace convoy;
using namespace convoy::fuzz;

// Values of any type now and then, mostly of floats.
static int anyValue(Builder &b, int64_t leastRank = 1) {
  auto fits = [&](const Value &value) { return value.rank() >= leastRank; };
  if (b.choices.oneIn(6))
    if (int found = b.find(fits); found != kOmitted)
      return found;
  return b.floatValue(fits);
}

static Made like(const Builder &b, int x, const Dims &dims) {
  return {b[x].type(), dims, b[x].range};
}

// A range that also holds zero, or another number that is put in.
static Range with(Range range, double number) {
  range.lo = std::min(range.lo, number);
  range.hi = std::max(range.hi, number);
  if (range.grid != 0 && std::fmod(number, range.grid) != 0)
    range.grid = 0;
  return range;
}

static Dims permuted(const Dims &dims, const Dims &perm) {
  Dims result;
  for (int64_t from : perm)
    result.push_back(dims[from]);
  return result;
}

static bool makeTranspose(Builder &b) {
  int x = anyValue(b);
  if (x == kOmitted)
    return false;
  int64_t rank = b[x].rank();
  Dims perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  if (rank == 4 && b.choices.oneIn(2))
    perm = b.choices.oneIn(2) ? Dims{0, 2, 3, 1} : Dims{0, 3, 1, 2};
  else
    for (int64_t i = rank; i-- > 1;)
      std::swap(perm[i], perm[i - b.choices.draw(static_cast<uint32_t>(i + 1))]);
  return b.add("Transpose", {x}, {like(b, x, permuted(b[x].dims(), perm))}, {attr("perm", perm)});
}

// Another shape of as many elements.
static Dims reshaped(Builder &b, const Dims &dims) {
  Dims result = dims;
  for (int64_t step = 1 + b.choices.draw(3); step > 0; --step) {
    size_t i = b.choices.draw(static_cast<uint32_t>(result.size() + 1));
    if (i == result.size()) {
      if (result.size() < 5)
        result.insert(result.begin() + b.choices.draw(static_cast<uint32_t>(result.size() + 1)), 1);
    } else if (b.choices.oneIn(2) && i + 1 < result.size()) { // Two into one.
      result[i] *= result[i + 1];
      result.erase(result.begin() + i + 1);
    } else if (result.size() < 5) { // One into two.
      for (int64_t factor : {2, 3, 4, 5, 7, 16})
        if (result[i] > 0 && result[i] % factor == 0 && !b.choices.oneIn(3)) {
          result[i] /= factor;
          result.insert(result.begin() + i + b.choices.draw(2), factor);
          break;
        }
    }
  }
  return result;
}

static bool makeReshape(Builder &b) {
  int x = anyValue(b);
  if (x == kOmitted)
    return false;
  Dims dims = reshaped(b, b[x].dims()), asked = dims;
  if (elements(dims) == 0)
    return false; // 0 in a shape means "as it is".
  for (size_t i = 0; i < asked.size() && i < b[x].dims().size(); ++i)
    if (asked[i] == b[x].dims()[i] && b.choices.oneIn(4))
      asked[i] = 0;
  if (!asked.empty() && b.choices.oneIn(2))
    asked[b.choices.draw(static_cast<uint32_t>(asked.size()))] = -1;
  return b.add("Reshape", {x, b.integers(asked)}, {like(b, x, dims)});
}

static bool makeFlatten(Builder &b) {
  int x = anyValue(b);
  if (x == kOmitted || (b.opset() < 9 && !tools::isFloat(b[x].type())))
    return false;
  const Dims &dims = b[x].dims();
  int64_t axis = b.choices.draw(static_cast<uint32_t>(dims.size() + 1));
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < dims.size(); ++i)
    (static_cast<int64_t>(i) < axis ? outer : inner) *= dims[i];
  bool negative = b.opset() >= 11 && axis < b[x].rank() && b.choices.oneIn(3);
  return b.add("Flatten", {x}, {like(b, x, {outer, inner})},
               {attr("axis", negative ? axis - b[x].rank() : axis)});
}

static bool makeSqueeze(Builder &b) {
  int x = anyValue(b);
  if (x == kOmitted)
    return false;
  Dims axes, dims;
  for (int64_t i = 0; i < b[x].rank(); ++i) {
    if (b[x].dims()[i] == 1 && !b.choices.oneIn(4))
      axes.push_back(b.opset() >= 11 && b.choices.oneIn(3) ? i - b[x].rank() : i);
    else
      dims.push_back(b[x].dims()[i]);
  }
  if (axes.empty())
    return false;
  if (b.opset() < 13)
    return b.add("Squeeze", {x}, {like(b, x, dims)}, {attr("axes", axes)});
  return b.add("Squeeze", {x, b.integers(axes)}, {like(b, x, dims)});
}

static bool makeUnsqueeze(Builder &b) {
  int x = anyValue(b, 0);
  if (x == kOmitted || b[x].rank() > 4)
    return false;
  Dims dims = b[x].dims();
  int64_t axis = b.choices.draw(static_cast<uint32_t>(dims.size() + 1));
  dims.insert(dims.begin() + axis, 1);
  if (b.opset() >= 11 && b.choices.oneIn(3))
    axis -= static_cast<int64_t>(dims.size());
  if (b.opset() < 13)
    return b.add("Unsqueeze", {x}, {like(b, x, dims)}, {attr("axes", Dims{axis})});
  return b.add("Unsqueeze", {x, b.integers({axis})}, {like(b, x, dims)});
}

static bool makeConcat(Builder &b) {
  int x = anyValue(b);
  if (x == kOmitted)
    return false;
  int64_t axis = b.choices.oneIn(2) ? b.axisOf(b[x].rank()) : std::min<int64_t>(1, b[x].rank() - 1);
  if (b.opset() < 11 && axis < 0)
    axis += b[x].rank();
  int64_t at = b.positiveAxis(axis, b[x].rank());
  std::vector<int> inputs = {x};
  Dims dims = b[x].dims();
  Range range = b[x].range;
  for (int64_t more = b.choices.draw(3) + 1; more > 0; --more) {
    auto fits = [&](const Value &value) {
      if (value.type() != b[x].type() || value.rank() != b[x].rank())
        return false;
      for (int64_t i = 0; i < value.rank(); ++i)
        if (i != at && value.dims()[i] != b[x].dims()[i])
          return false;
      return true;
    };
    int y = b.choices.oneIn(5) ? kOmitted : b.find(fits);
    if (y == kOmitted) {
      Dims other = b[x].dims();
      other[at] = b.choices.between(1, 5);
      y = b.operand(b[x].type(), other, b.newRange(b[x].type()));
    }
    inputs.insert(b.choices.oneIn(2) ? inputs.begin() : inputs.end(), y);
    Range q = b[y].range;
    range = {std::min(range.lo, q.lo), std::max(range.hi, q.hi), std::max(range.error, q.error),
             range.grid == 0 || q.grid == 0 ? 0 : std::min(range.grid, q.grid)};
    dims[at] += b[y].dims()[at];
  }
  return b.add("Concat", inputs, {{b[x].type(), dims, range}}, {attr("axis", axis)});
}

static bool makeSplit(Builder &b) {
  int x = anyValue(b);
  if (x == kOmitted)
    return false;
  int64_t axis = b.choices.oneIn(2) ? b.axisOf(b[x].rank()) : std::min<int64_t>(1, b[x].rank() - 1);
  if (b.opset() < 11 && axis < 0)
    axis += b[x].rank();
  int64_t at = b.positiveAxis(axis, b[x].rank()), extent = b[x].dims()[at];
  Dims parts;
  bool even = b.choices.oneIn(2);
  int64_t count = b.choices.between(2, 3);
  if (even) {
    // num_outputs allows a last part that is smaller.
    if (extent % count != 0 && b.opset() < 18)
      return false;
    int64_t chunk = (extent + count - 1) / count;
    for (int64_t i = 0; i < count; ++i)
      parts.push_back(std::min(chunk, extent - i * chunk));
  } else {
    int64_t left = extent;
    for (int64_t i = 0; i + 1 < count && left > 1; ++i) {
      parts.push_back(b.choices.between(1, left - 1));
      left -= parts.back();
    }
    parts.push_back(left);
  }
  if (parts.size() < 2 || *std::min_element(parts.begin(), parts.end()) < 1)
    return false;
  std::vector<Made> results;
  for (int64_t part : parts) {
    Dims dims = b[x].dims();
    dims[at] = part;
    results.push_back(like(b, x, dims));
  }
  std::vector<int> inputs = {x};
  std::vector<::onnx::AttributeProto> attributes = {attr("axis", axis)};
  if (!even && b.opset() < 13)
    attributes.push_back(attr("split", parts));
  else if (!even)
    inputs.push_back(b.integers(parts));
  else if (b.opset() >= 18)
    attributes.push_back(attr("num_outputs", count));
  return b.add("Split", inputs, results, attributes);
}

static bool makeSlice(Builder &b) {
  int x = anyValue(b);
  if (x == kOmitted)
    return false;
  Dims starts, ends, axes, steps, dims = b[x].dims();
  for (int64_t i = 0; i < b[x].rank(); ++i) {
    if (dims[i] == 0 || !b.choices.oneIn(2))
      continue;
    int64_t extent = dims[i];
    int64_t step = b.opset() >= 10 ? b.choices.pick<int64_t>({1, 1, 1, 2, 3, -1, -2}) : 1;
    int64_t first = b.choices.between(0, extent - 1), length = b.choices.between(1, extent);
    int64_t start, end, count;
    if (step > 0) {
      start = first;
      end = std::min(extent, first + length);
      count = (end - start + step - 1) / step;
      if (b.choices.oneIn(3))
        start -= extent;
      if (end == extent && b.choices.oneIn(2))
        end = INT64_MAX;
      else if (end < extent && b.choices.oneIn(3))
        end -= extent;
    } else {
      start = first;
      end = std::max<int64_t>(-1, first - length);
      count = (start - end - step - 1) / -step;
      if (end == -1)
        end = INT64_MIN;
      if (start == extent - 1 && b.choices.oneIn(2))
        start = INT64_MAX;
    }
    dims[i] = count;
    axes.push_back(b.opset() >= 10 && b.choices.oneIn(3) ? i - b[x].rank() : i);
    starts.push_back(start);
    ends.push_back(end);
    steps.push_back(step);
  }
  if (axes.empty())
    return false;
  if (b.opset() < 10)
    return b.add("Slice", {x}, {like(b, x, dims)},
                 {attr("starts", starts), attr("ends", ends), attr("axes", axes)});
  int stepsValue =
      std::all_of(steps.begin(), steps.end(), [](int64_t step) { return step == 1; }) &&
              b.choices.oneIn(2)
          ? kOmitted
          : b.integers(steps);
  return b.add("Slice", {x, b.integers(starts), b.integers(ends), b.integers(axes), stepsValue},
               {like(b, x, dims)});
}

static bool makePad(Builder &b) {
  int x = b.floatValue([](const Value &value) { return value.rank() >= 1; });
  if (x == kOmitted || elements(b[x].dims()) == 0)
    return false;
  std::vector<std::string> modes = {"constant", "constant", "constant", "reflect", "edge"};
  if (b.opset() >= 19)
    modes.push_back("wrap");
  std::string mode = b.choices.pick(modes);
  int64_t rank = b[x].rank();
  Dims begins(rank, 0), ends(rank, 0), dims = b[x].dims();
  for (int64_t i = 0; i < rank; ++i) {
    if (rank >= 3 && i < 2 && !b.choices.oneIn(4))
      continue;
    int64_t most = mode == "reflect" ? std::min<int64_t>(2, dims[i] - 1)
                   : mode == "wrap"  ? std::min<int64_t>(2, dims[i])
                                     : 2;
    begins[i] = b.choices.between(0, most);
    ends[i] = b.choices.between(0, most);
    // A negative one removes.
    if (mode == "constant" && dims[i] > 3 && b.choices.oneIn(6))
      (b.choices.oneIn(2) ? begins : ends)[i] = -1;
    dims[i] += begins[i] + ends[i];
  }
  Dims pads = begins;
  pads.insert(pads.end(), ends.begin(), ends.end());
  double fill = mode == "constant" && b.choices.oneIn(3) ? b.choices.between(-2, 2) : 0;
  Range range = mode == "constant" ? with(b[x].range, fill) : b[x].range;
  std::vector<::onnx::AttributeProto> attributes = {attr("mode", mode.c_str())};
  std::vector<int> inputs = {x};
  if (b.opset() < 11) {
    attributes.push_back(attr("pads", pads));
    if (fill != 0)
      attributes.push_back(attr("value", fill));
  } else {
    inputs.push_back(b.integers(pads));
    inputs.push_back(fill != 0 ? b.scalar(b[x].type(), fill) : kOmitted);
  }
  return b.add("Pad", inputs, {{b[x].type(), dims, range}}, attributes);
}

static bool makeTile(Builder &b) {
  int x = anyValue(b);
  if (x == kOmitted)
    return false;
  Dims repeats, dims = b[x].dims();
  for (int64_t &dim : dims) {
    repeats.push_back(b.choices.pick<int64_t>({1, 1, 2, 3}));
    dim *= repeats.back();
  }
  return b.add("Tile", {x, b.integers(repeats)}, {like(b, x, dims)});
}

static bool makeExpand(Builder &b) {
  int x = anyValue(b, 0);
  if (x == kOmitted)
    return false;
  Dims asked = b[x].dims();
  for (int64_t &dim : asked)
    dim = dim == 1 && b.choices.oneIn(2) ? b.choices.between(2, 4) : b.choices.oneIn(3) ? 1 : dim;
  if (b.choices.oneIn(4) && asked.size() < 5)
    asked.insert(asked.begin(), b.choices.between(1, 3));
  Dims dims;
  if (!broadcast(b[x].dims(), asked, dims))
    return false;
  return b.add("Expand", {x, b.integers(asked)}, {like(b, x, dims)});
}

static bool makeDepthToSpace(Builder &b) {
  int x = b.image(2, [](const Value &value) { return value.dims()[1] % 4 == 0; });
  if (x == kOmitted)
    return false;
  Dims dims = b[x].dims();
  dims = {dims[0], dims[1] / 4, dims[2] * 2, dims[3] * 2};
  std::vector<::onnx::AttributeProto> attributes = {attr("blocksize", int64_t(2))};
  if (b.opset() >= 11)
    attributes.push_back(attr("mode", b.choices.oneIn(2) ? "CRD" : "DCR"));
  return b.add("DepthToSpace", {x}, {like(b, x, dims)}, attributes);
}

static bool makeSpaceToDepth(Builder &b) {
  int x = b.image(
      2, [](const Value &value) { return value.dims()[2] % 2 == 0 && value.dims()[3] % 2 == 0; });
  if (x == kOmitted)
    return false;
  Dims dims = b[x].dims();
  dims = {dims[0], dims[1] * 4, dims[2] / 2, dims[3] / 2};
  return b.add("SpaceToDepth", {x}, {like(b, x, dims)}, {attr("blocksize", int64_t(2))});
}

static bool makeTrilu(Builder &b) {
  int x = b.floatValue([](const Value &value) { return value.rank() >= 2; });
  if (x == kOmitted || b[x].type() == CONVOY_TYPE_BF16)
    return false;
  int k =
      b.choices.oneIn(2) ? kOmitted : b.scalar(CONVOY_TYPE_I64, double(b.choices.between(-2, 2)));
  return b.add("Trilu", {x, k}, {{b[x].type(), b[x].dims(), with(b[x].range, 0)}},
               {attr("upper", int64_t(b.choices.draw(2)))});
}

// ---- Resize
// --------------------------------------------------------------------------------------

static bool makeResize(Builder &b) {
  int x = b.image(2);
  if (x == kOmitted || b[x].type() == CONVOY_TYPE_BF16)
    return false;
  Dims dims = b[x].dims();
  bool old = b.opset() == 10;
  std::string mode =
      b.choices.pick<std::string>({"nearest", "nearest", "linear", "linear", "cubic"});
  if (old && mode == "cubic")
    mode = "linear";
  std::vector<std::string> coordinates = {"half_pixel", "asymmetric", "align_corners",
                                          "pytorch_half_pixel"};
  std::string coordinate = b.choices.pick(coordinates);
  // Scales by powers of two give coordinates that nothing rounds, so that nearest's choice is
  // clear.
  std::vector<float> scales = {1, 1, 2, 2};
  bool sizes = !old && b.choices.oneIn(2);
  for (int i : {2, 3}) {
    scales[i] = b.choices.pick<float>({2, 1, 4, 0.5});
    if (static_cast<int64_t>(dims[i] * scales[i]) != dims[i] * scales[i])
      return false;
    dims[i] = static_cast<int64_t>(dims[i] * scales[i]);
  }
  if (mode == "nearest" && coordinate == "align_corners")
    coordinate = "asymmetric"; // (n - 1) / (m - 1) rounds.
  Tensor tensor;
  tensor.type = CONVOY_TYPE_F32;
  tensor.resize({4});
  for (int i = 0; i < 4; ++i)
    tensor.set(i, scales[i]);
  std::vector<::onnx::AttributeProto> attributes = {attr("mode", mode.c_str())};
  Range p = b[x].range, range = p;
  if (mode != "nearest") {
    double factor = mode == "cubic" ? 2.25 : 1; // Sums of magnitudes of cubic weights.
    double most = p.magnitude() * factor;
    range = rounded(b[x].type(), mode == "linear" ? p.lo : -most, mode == "linear" ? p.hi : most,
                    p.error * factor, 0, 8 * most, 16);
  }
  if (old)
    return b.add("Resize", {x, b.constant(tensor)}, {{b[x].type(), dims, range}}, attributes);
  attributes.push_back(attr("coordinate_transformation_mode", coordinate.c_str()));
  if (mode == "nearest")
    attributes.push_back(
        attr("nearest_mode", b.choices.pick<const char *>(
                                 {"floor", "round_prefer_floor", "ceil", "round_prefer_ceil"})));
  if (mode == "cubic") {
    attributes.push_back(attr("cubic_coeff_a", b.choices.oneIn(2) ? -0.5 : -0.75));
    if (b.choices.oneIn(3))
      attributes.push_back(attr("exclude_outside", int64_t(1)));
  }
  // Until opset 13 these inputs are not optional: what is not given is empty.
  int nothing = kOmitted;
  if (b.opset() < 13) {
    Tensor empty;
    empty.type = CONVOY_TYPE_F32;
    empty.resize({0});
    nothing = b.constant(empty);
  }
  if (sizes)
    return b.add("Resize", {x, nothing, nothing, b.integers(dims)}, {{b[x].type(), dims, range}},
                 attributes);
  return b.add("Resize", {x, nothing, b.constant(tensor)}, {{b[x].type(), dims, range}},
               attributes);
}

static bool makeUpsample(Builder &b) {
  int x = b.image(2, [](const Value &value) { return value.type() == CONVOY_TYPE_F32; });
  if (x == kOmitted)
    return false;
  Dims dims = b[x].dims();
  int64_t height = b.choices.between(1, 2), width = b.choices.between(1, 3);
  dims[2] *= height;
  dims[3] *= width;
  std::vector<float> scales = {1, 1, float(height), float(width)};
  if (b.opset() < 9)
    return b.add("Upsample", {x}, {like(b, x, dims)},
                 {attr("mode", "nearest"), attr("scales", scales)});
  Tensor tensor;
  tensor.type = CONVOY_TYPE_F32;
  tensor.resize({4});
  for (int i = 0; i < 4; ++i)
    tensor.set(i, scales[i]);
  return b.add("Upsample", {x, b.constant(tensor)}, {like(b, x, dims)}, {attr("mode", "nearest")});
}

void convoy::fuzz::addMovement(std::vector<OpKind> &kinds) {
  kinds.push_back({"Transpose", 14, 1, kNewest, makeTranspose});
  kinds.push_back({"Reshape", 14, 5, kNewest, makeReshape});
  kinds.push_back({"Flatten", 3, 1, kNewest, makeFlatten});
  kinds.push_back({"Squeeze", 4, 1, kNewest, makeSqueeze});
  kinds.push_back({"Unsqueeze", 4, 1, kNewest, makeUnsqueeze});
  kinds.push_back({"Concat", 20, 4, kNewest, makeConcat});
  kinds.push_back({"Split", 12, 2, kNewest, makeSplit});
  kinds.push_back({"Slice", 14, 1, kNewest, makeSlice});
  kinds.push_back({"Pad", 12, 2, kNewest, makePad});
  kinds.push_back({"Tile", 3, 6, kNewest, makeTile});
  kinds.push_back({"Expand", 3, 8, kNewest, makeExpand});
  kinds.push_back({"DepthToSpace", 4, 1, kNewest, makeDepthToSpace});
  kinds.push_back({"SpaceToDepth", 4, 1, kNewest, makeSpaceToDepth});
  kinds.push_back({"Trilu", 1, 14, kNewest, makeTrilu});
  kinds.push_back({"Resize", 14, 10, kNewest, makeResize});
  kinds.push_back({"Upsample", 8, 7, 9, makeUpsample});
}
