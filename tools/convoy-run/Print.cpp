// Shows results to people.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/convoy-run/Print.h"

#include "tools/support/Printable.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace convoy::tools {

void printSummary(const std::string &name, const Tensor &tensor) {
  printf("output '%s' %s", printable(name).c_str(), describe(tensor.type, tensor.dims).c_str());
  int64_t count = tensor.size(), special = 0;
  double least = INFINITY, most = -INFINITY, sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    double value = tensor.at(i);
    if (!std::isfinite(value)) {
      ++special;
      continue;
    }
    least = std::min(least, value);
    most = std::max(most, value);
    sum += value;
  }
  if (count > special)
    printf("  from %g to %g, mean %g", least, most, sum / double(count - special));
  if (special)
    printf("  (%lld NaN or infinite)", (long long)special);
  constexpr int64_t shown = 6;
  printf("\n  ");
  for (int64_t i = 0; i < std::min(count, shown); ++i)
    printf("%g ", tensor.at(i));
  puts(count > shown ? "..." : "");
}

void printTop(const Tensor &tensor, const std::vector<std::string> &labels, int64_t top,
              const std::vector<std::string> &images) {
  int64_t batch = tensor.dims.size() > 1 ? tensor.dims[0] : 1;
  int64_t classes = batch > 0 ? tensor.size() / batch : 0;
  std::vector<int64_t> order(classes);
  for (int64_t image = 0; image < batch; ++image) {
    std::iota(order.begin(), order.end(), 0);
    auto score = [&](int64_t index) { return tensor.at(image * classes + index); };
    int64_t count = std::min(top, classes);
    // Ties by index, NaN last: the same order everywhere.
    std::partial_sort(order.begin(), order.begin() + count, order.end(), [&](int64_t a, int64_t b) {
      double x = score(a), y = score(b);
      if (std::isnan(x) || std::isnan(y))
        return std::isnan(x) < std::isnan(y) || (std::isnan(x) == std::isnan(y) && a < b);
      return x > y || (x == y && a < b);
    });
    bool named = image < int64_t(images.size());
    if (named || batch > 1)
      printf("%s\n", printable(named ? images[image] : "image " + std::to_string(image)).c_str());
    for (int64_t rank = 0; rank < count; ++rank) {
      int64_t index = order[rank];
      std::string label =
          index < int64_t(labels.size()) ? labels[index] : std::to_string(index);
      printf("%4lld  %-24s %.5g\n", (long long)rank + 1, printable(label).c_str(), score(index));
    }
  }
}

std::vector<std::string> readLabels(const std::string &path) {
  std::vector<uint8_t> file = readFile(path);
  std::vector<std::string> labels;
  std::string line;
  for (uint8_t c : file) {
    if (c == '\n') {
      labels.push_back(line);
      line.clear();
    } else if (c != '\r') {
      line += char(c);
    }
  }
  if (!line.empty())
    labels.push_back(line);
  return labels;
}

} // namespace convoy::tools
