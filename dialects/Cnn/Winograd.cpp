// The matrices of Winograd's minimal filtering.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Cnn/Winograd.h"

#include <cstring>

using namespace convoy::cnn;

// Finite points, 0 first, then pairs. They have few bits, so that the matrices are exact, and lie
// where products cancel least: for five points, 5/8 and 3/2 make a quarter of the largest error
// that the textbook's 1 and 2 make.
static std::vector<double> pointsFor(int64_t count) {
  static constexpr double forFive[] = {0.625, 1.5}, forOthers[] = {1, 2, 0.5, 4};
  std::vector<double> points{0};
  for (int64_t i = 0; 2 * i + 1 < count; ++i) {
    double magnitude = count == 5 ? forFive[i] : forOthers[i];
    points.push_back(magnitude);
    points.push_back(-magnitude);
  }
  points.resize(count);
  return points;
}

// Coefficients, lowest first, of the product of (x - point) over all points but number `without`.
static std::vector<double> polynomial(llvm::ArrayRef<double> points, size_t without) {
  std::vector<double> coefficients{1};
  for (size_t i = 0; i < points.size(); ++i) {
    if (i == without)
      continue;
    std::vector<double> next(coefficients.size() + 1, 0);
    for (size_t k = 0; k < coefficients.size(); ++k) {
      next[k + 1] += coefficients[k];
      next[k] -= points[i] * coefficients[k];
    }
    coefficients = next;
  }
  return coefficients;
}

static Winograd::Matrix zeros(int64_t rows, int64_t columns) {
  return Winograd::Matrix(rows, std::vector<double>(columns, 0));
}

Winograd::Winograd(int64_t outputs, int64_t kernel, int64_t stride)
    : outputs(outputs), kernel(kernel), stride(stride), size(stride * (outputs - 1) + kernel),
      ofSource(zeros(size, size)), ofKernel(zeros(size, kernel)),
      fromProducts(zeros(outputs, size)) {
  if (stride == 2)
    interleave();
  else if (kernel == 1)
    for (int64_t i = 0; i < size; ++i)
      ofSource[i][i] = ofKernel[i][0] = fromProducts[i][i] = 1;
  else
    toomCook();
}

void Winograd::interleave() {
  int64_t first = 0;
  for (int64_t parity : {0, 1}) {
    Winograd part(outputs, (kernel + 1 - parity) / 2);
    for (int64_t i = 0; i < part.size; ++i) {
      for (int64_t j = 0; j < part.size; ++j)
        ofSource[first + i][2 * j + parity] = part.ofSource[i][j];
      for (int64_t k = 0; k < part.kernel; ++k)
        ofKernel[first + i][2 * k + parity] = part.ofKernel[i][k];
      for (int64_t o = 0; o < outputs; ++o)
        fromProducts[o][first + i] = part.fromProducts[o][i];
    }
    first += part.size;
  }
}

void Winograd::toomCook() {
  std::vector<double> points = pointsFor(size - 1);
  for (int64_t j = 0; j + 1 < size; ++j) {
    std::vector<double> others = polynomial(points, j);
    std::copy(others.begin(), others.end(), ofSource[j].begin());
    double scale = 1;
    for (int64_t l = 0; l + 1 < size; ++l)
      if (l != j)
        scale *= points[j] - points[l];
    double power = 1;
    for (int64_t k = 0; k < size; ++k, power *= points[j]) {
      if (k < kernel)
        ofKernel[j][k] = power / scale;
      if (k < outputs)
        fromProducts[k][j] = power;
    }
  }
  // The point at infinity.
  std::vector<double> all = polynomial(points, points.size());
  std::copy(all.begin(), all.end(), ofSource[size - 1].begin());
  ofKernel[size - 1][kernel - 1] = 1;
  fromProducts[outputs - 1][size - 1] = 1;
}

std::vector<char> convoy::cnn::transformWeights(llvm::ArrayRef<char> weights,
                                                llvm::ArrayRef<int64_t> extents, WinogradTile tile,
                                                llvm::SmallVectorImpl<int64_t> &shape) {
  Winograd winograd(tile.outputs, extents.back(), tile.stride);
  int64_t kernel = winograd.kernel, size = winograd.size, count = extents[0] * extents[1];
  shape.assign({extents[0], extents[1], size, size});
  std::vector<char> result(count * size * size * sizeof(float));
  std::vector<double> half(size * kernel);
  for (int64_t n = 0; n < count; ++n) {
    const char *src = weights.data() + n * kernel * kernel * sizeof(float);
    char *dst = result.data() + n * size * size * sizeof(float);
    for (int64_t i = 0; i < size; ++i)
      for (int64_t k = 0; k < kernel; ++k) {
        double sum = 0;
        for (int64_t l = 0; l < kernel; ++l) {
          float weight;
          std::memcpy(&weight, src + (l * kernel + k) * sizeof(float), sizeof(float));
          sum += winograd.ofKernel[i][l] * weight;
        }
        half[i * kernel + k] = sum;
      }
    for (int64_t i = 0; i < size; ++i)
      for (int64_t j = 0; j < size; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < kernel; ++k)
          sum += half[i * kernel + k] * winograd.ofKernel[j][k];
        auto rounded = static_cast<float>(sum);
        std::memcpy(dst + (i * size + j) * sizeof(float), &rounded, sizeof(float));
      }
  }
  return result;
}
