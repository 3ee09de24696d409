// Compares results with expected ones.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/convoy-run/Compare.h"

#include "tools/support/Error.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

namespace convoy::tools {

Comparison compare(const Tensor &found, const Tensor &expected, double tolerance,
                   double absolute) {
  Comparison result;
  if (found.type != expected.type || found.dims != expected.dims) {
    result.text = "is " + describe(found.type, found.dims) + ", expected " +
                  describe(expected.type, expected.dims);
    return result;
  }
  int64_t count = expected.size(), worst = -1;
  if (!isFloat(expected.type)) {
    // By bytes: doubles do not hold every 64-bit integer.
    auto [a, b] = std::mismatch(found.bytes.begin(), found.bytes.end(), expected.bytes.begin());
    result.passed = a == found.bytes.end();
    if (result.passed) {
      result.text = "equal";
      return result;
    }
    worst = (a - found.bytes.begin()) / int64_t(convoy_type_size(found.type));
    result.text = format("element %lld is %g, expected %g", (long long)worst, found.at(worst),
                         expected.at(worst));
    return result;
  }

  for (int64_t i = 0; i < count; ++i)
    if (double magnitude = std::fabs(expected.at(i)); std::isfinite(magnitude))
      result.largest = std::max(result.largest, magnitude);
  // Against zeros alone there is nothing to be relative to.
  double scale = result.largest > 0 ? result.largest : 1;
  for (int64_t i = 0; i < count; ++i) {
    double a = found.at(i), b = expected.at(i);
    if (a == b || (std::isnan(a) && std::isnan(b)))
      continue;
    double error = std::isfinite(a) && std::isfinite(b) ? std::fabs(a - b) / scale : INFINITY;
    if (worst < 0 || error > result.error) {
      result.error = error;
      worst = i;
    }
  }
  result.passed = result.error <= std::max(tolerance, absolute / scale);
  result.text = format("largest error %.3g of the largest magnitude %.6g", result.error,
                       result.largest);
  if (!result.passed)
    result.text += format(" is over the tolerance of %g: element %lld is %.9g, expected %.9g",
                          tolerance, (long long)worst, found.at(worst), expected.at(worst));
  return result;
}

std::vector<std::string> testDataSets(const std::string &folder) {
  namespace fs = std::filesystem;
  constexpr char prefix[] = "test_data_set_";
  std::error_code error;
  std::vector<std::pair<long, std::string>> sets;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::string name = entry->path().filename();
    if (name.compare(0, sizeof prefix - 1, prefix) == 0)
      sets.push_back({atol(name.c_str() + sizeof prefix - 1), entry->path()});
  }
  if (error)
    throw Error(folder + ": " + error.message());
  std::sort(sets.begin(), sets.end());
  std::vector<std::string> result;
  for (auto &set : sets)
    result.push_back(set.second);
  if (result.empty())
    result.push_back(folder);
  return result;
}

} // namespace convoy::tools
