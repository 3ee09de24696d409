// Tests of how convoy-run compares results with expected ones.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/convoy-run/Compare.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace convoy::tools;

namespace {

Tensor tensor(convoy_type type, std::vector<double> values) {
  Tensor result;
  result.type = type;
  result.resize({int64_t(values.size())});
  for (size_t i = 0; i < values.size(); ++i)
    result.set(int64_t(i), values[i]);
  return result;
}

bool same(std::vector<double> found, std::vector<double> expected, double tolerance = 1e-4) {
  return compare(tensor(CONVOY_TYPE_F32, found), tensor(CONVOY_TYPE_F32, expected), tolerance)
      .passed;
}

TEST(Compare, IsRelativeToTheLargestMagnitude) {
  EXPECT_TRUE(same({0.0009, -10}, {0, -10}));
  EXPECT_FALSE(same({0.0011, -10}, {0, -10}));
  EXPECT_FALSE(same({1}, {2}));
  EXPECT_TRUE(same({}, {}));
}

TEST(Compare, AgainstZerosIsAbsolute) {
  EXPECT_TRUE(same({5e-5, 0}, {0, 0}));
  EXPECT_FALSE(same({2e-4, 0}, {0, 0}));
}

TEST(Compare, AbsoluteErrorsMayBeAllowed) {
  Tensor found = tensor(CONVOY_TYPE_F32, {1e-6, 3e-6}), expected = tensor(CONVOY_TYPE_F32, {1e-6, 2e-6});
  EXPECT_FALSE(compare(found, expected, 1e-4).passed);
  EXPECT_TRUE(compare(found, expected, 1e-4, 1.1e-6).passed);
  EXPECT_FALSE(compare(found, expected, 1e-4, 0.9e-6).passed);
  // The relative tolerance still holds where it is the larger one.
  EXPECT_TRUE(compare(found, expected, 1, 1e-9).passed);
}

TEST(Compare, SpecialValuesMustAgree) {
  EXPECT_TRUE(same({NAN, INFINITY, 1}, {NAN, INFINITY, 1}));
  EXPECT_FALSE(same({1, 1}, {NAN, 1}));
  EXPECT_FALSE(same({NAN, 1}, {1, 1}));
  EXPECT_FALSE(same({INFINITY, 1}, {-INFINITY, 1}));
  // An expected infinity must not swallow the errors of the others.
  EXPECT_FALSE(same({INFINITY, 2}, {INFINITY, 1}));
}

TEST(Compare, IntegersMustBeEqual) {
  Tensor a = tensor(CONVOY_TYPE_I64, {1, 1000000}), b = tensor(CONVOY_TYPE_I64, {1, 1000001});
  EXPECT_TRUE(compare(a, a, 1e-4).passed);
  Comparison different = compare(a, b, 1e-4);
  EXPECT_FALSE(different.passed);
  EXPECT_EQ(different.text, "element 1 is 1e+06, expected 1e+06");
}

TEST(Compare, TypesAndShapesMustBeEqual) {
  Tensor a = tensor(CONVOY_TYPE_F32, {1, 2}), b = tensor(CONVOY_TYPE_F16, {1, 2});
  EXPECT_EQ(compare(a, b, 1).text, "is f32 [2], expected f16 [2]");
  b = a;
  b.dims = {1, 2};
  EXPECT_FALSE(compare(a, b, 1).passed);
}

} // namespace
