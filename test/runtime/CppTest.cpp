// The C++ wrapper, on the shared library.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "convoy/convoy.hpp"
#include "test/runtime/TestModel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace convoy::test;
using testing::HasSubstr;

namespace {

TEST(Cpp, RunsAModel) {
  Bytes bytes(makeModel());
  convoy::Model model(bytes.data(), bytes.size());
  EXPECT_EQ(model.name(), "scale and mix");
  EXPECT_EQ(model.inputs(), 1u);
  EXPECT_EQ(model.outputs(), 2u);
  EXPECT_STREQ(model.output(1).name, "z");

  convoy::Context context(model);
  std::vector<float> x = makeInput(2), z(x.size());
  context.setInput("x", x.data(), {2, rows, columns});
  context.setOutput("z", z.data(), {2, rows, columns});
  context.run();
  convoy::Span<const float> y = context.output<float>(0);
  EXPECT_EQ((Outputs{std::vector<float>(y.begin(), y.end()), z}), expected(x));
  EXPECT_EQ(context.batch(), 2);

  convoy::Context second = std::move(context);
  second.setBatch(1);
  second.setInput(0, x.data(), {1, rows, columns});
  EXPECT_THROW(second.run(), convoy::Error); // z is for two images
}

TEST(Cpp, SelectsAProfile) {
  Bytes bytes(makeModel());
  convoy::Model model(bytes.data(), bytes.size());
  EXPECT_EQ(model.profiles(), 1u);
  EXPECT_EQ(model.profileName(0), "");
  EXPECT_EQ(model.selectProfile({{4, rows, columns}}), 0u);
  EXPECT_EQ(model.input(0, 0).rank, 3u);
  EXPECT_STREQ(model.output(0, 1).name, "z");
  EXPECT_THROW(model.selectProfile({{4, rows, columns + 1}}), convoy::Error);
  EXPECT_THROW(model.selectProfile({}), convoy::Error);
  EXPECT_THROW(model.findProfile("large"), convoy::Error);
}

TEST(Cpp, ThrowsErrors) {
  try {
    convoy::Model model("/no/such/file.cvy");
    FAIL() << "it was found";
  } catch (const convoy::Error &error) {
    EXPECT_EQ(error.status(), CONVOY_CANNOT_OPEN);
    EXPECT_THAT(error.what(), HasSubstr("cannot open or read the file: /no/such/file.cvy"));
  }
  Bytes bytes(makeModel());
  convoy::Context context(convoy::Model(bytes.data(), bytes.size())); // keeps the model
  std::vector<double> wrong(imageSize);
  EXPECT_THROW(context.setInput(0, wrong.data(), {1, rows, columns}), convoy::Error);
  EXPECT_THROW(context.setInput("w", wrong.data(), {1}), convoy::Error);
  EXPECT_THROW(context.input<int>(0), std::invalid_argument);
  convoy::Span<float> x = context.input<float>(0);
  EXPECT_EQ(x.size(), static_cast<size_t>(imageSize));
  context.run();
}

} // namespace

extern "C" const char *useTheApiFromC(const void *data, size_t size, float *x, float *y);

TEST(C, RunsAModel) {
  Bytes bytes(makeModel());
  std::vector<float> x = makeInput(1), y(columns);
  EXPECT_STREQ(useTheApiFromC(bytes.data(), bytes.size(), x.data(), y.data()), nullptr);
  EXPECT_EQ(y, expected(x).y);
}
