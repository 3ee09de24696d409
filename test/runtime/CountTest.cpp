// Outputs with an extent that a run decides.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/runtime/TestModel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

using namespace convoy;
using namespace convoy::test;

namespace {

// Input x f32[7]; output y f32[2, 3], of which x[0] says the extent of dimension 1 (or, were it not
// clamped, any number), and its count.
artifact::Artifact makeCounted() {
  using namespace convoy::artifact;
  const CodeImage &code = testCode();
  Artifact model;
  Variant variant;
  variant.target = "x86-baseline";
  variant.code = code.bytes;
  variant.kernels = code.kernels;
  variant.inputs = {{"x", ElementType::f32, {7}, {}}};
  Value y{"y", ElementType::f32, {2, 3}, {}};
  y.countedDim = 1;
  y.count = 1;
  Value count{"", ElementType::i64, {}, {}};
  count.internal = true;
  variant.outputs = {y, count};
  variant.launches = {{"count",
                       "pack",
                       code.kernel("test_count"),
                       1,
                       false,
                       {{Space::input, 0, 0, 0, 28, false},
                        {Space::output, 0, 0, 0, 24, true},
                        {Space::output, 1, 0, 0, 8, true}},
                       0,
                       0}};
  model.variants.push_back(std::move(variant));
  return model;
}

class CountTest : public testing::Test {
protected:
  void run(float count) {
    x[0] = count;
    convoy_tensor input{x, sizeof x, CONVOY_TYPE_F32, 1, &seven};
    ASSERT_EQ(convoy_context_set_input(context.get(), 0, &input), CONVOY_OK);
    ASSERT_EQ(convoy_context_run(context.get()), CONVOY_OK) << convoy_last_error();
  }
  std::vector<int64_t> dims() {
    convoy_tensor tensor{};
    EXPECT_EQ(convoy_context_output(context.get(), 0, &tensor), CONVOY_OK);
    return {tensor.dims, tensor.dims + tensor.rank};
  }

  float x[7] = {0, 1, 2, 3, 4, 5, 6};
  int64_t seven = 7;
  Bytes bytes{makeCounted()};
  Model model = load(bytes);
  Context context = makeContext(model);
};

using Dims = std::vector<int64_t>;

TEST_F(CountTest, CallersDoNotSeeTheCount) {
  EXPECT_EQ(convoy_model_num_outputs(model.get()), 1u);
  convoy_value_info info{};
  ASSERT_EQ(convoy_model_output(model.get(), 0, &info), CONVOY_OK);
  EXPECT_EQ(info.counted_dim, 1);
  EXPECT_EQ(info.bytes, 24u);
  ASSERT_EQ(convoy_model_input(model.get(), 0, &info), CONVOY_OK);
  EXPECT_EQ(info.counted_dim, -1);
  EXPECT_EQ(convoy_model_output(model.get(), 1, &info), CONVOY_NO_SUCH_INDEX);
  convoy_tensor tensor{};
  EXPECT_EQ(convoy_context_output(context.get(), 1, &tensor), CONVOY_NO_SUCH_INDEX);
  EXPECT_EQ(convoy_context_set_output(context.get(), 1, &tensor), CONVOY_NO_SUCH_INDEX);
  size_t index = 0;
  EXPECT_EQ(convoy_model_find_output(model.get(), "", &index), CONVOY_NO_SUCH_NAME);
  EXPECT_STREQ(convoy_last_error(), "no output \"\"; the model has \"y\"");
}

TEST_F(CountTest, ARunDecidesTheExtent) {
  EXPECT_EQ(dims(), (Dims{2, 3}));
  for (int64_t count : {2, 0, 3, 1}) {
    run(static_cast<float>(count));
    EXPECT_EQ(dims(), (Dims{2, count}));
  }
}

TEST_F(CountTest, NoCountIsBeyondTheBound) {
  run(4);
  EXPECT_EQ(dims(), (Dims{2, 3}));
  run(-1);
  EXPECT_EQ(dims(), (Dims{2, 0}));
}

TEST_F(CountTest, ACallersBufferHoldsTheBound) {
  float y[6] = {};
  int64_t bound[2] = {2, 3}, less[2] = {2, 2};
  convoy_tensor tensor{y, sizeof y, CONVOY_TYPE_F32, 2, less};
  EXPECT_EQ(convoy_context_set_output(context.get(), 0, &tensor), CONVOY_SHAPE_MISMATCH);
  tensor.dims = bound;
  ASSERT_EQ(convoy_context_set_output(context.get(), 0, &tensor), CONVOY_OK);
  run(2);
  EXPECT_EQ(dims(), (Dims{2, 2}));
  EXPECT_THAT(y, testing::ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(CountArtifact, ProblemsAreFound) {
  using artifact::Variant;
  const std::pair<const char *, std::function<void(Variant &)>> cases[] = {
      {"output \"y\" has no dimension 2", [](Variant &v) { v.outputs[0].countedDim = 2; }},
      {"output \"y\" has no count", [](Variant &v) { v.outputs[0].count = 2; }},
      {"output \"y\" has no count", [](Variant &v) { v.outputs[0].count = 0; }},
      {"output \"y\" has no count",
       [](Variant &v) { v.outputs[1].type = artifact::ElementType::f64; }},
      {"output \"y\" follows an internal one",
       [](Variant &v) { v.outputs = {v.outputs[1], v.outputs[0]}; }}};
  for (const auto &[problem, spoil] : cases) {
    artifact::Artifact model = makeCounted();
    spoil(model.variants[0]);
    std::vector<char> bytes;
    artifact::Problem found = artifact::serialize(model, bytes);
    ASSERT_TRUE(found) << problem;
    EXPECT_THAT(*found, testing::HasSubstr(problem));
  }
}

// The runtime does not rely on the writer: bytes of the metadata are changed, the file signed again.
TEST(CountArtifact, NoChangedFileIsMisread) {
  Bytes bytes(makeCounted());
  uint64_t begin = bytes.load<uint64_t>(24), size = bytes.load<uint64_t>(32);
  for (uint64_t at = begin; at < begin + size; ++at)
    for (unsigned char change : {0x01, 0x02, 0x80, 0xff}) {
      auto old = bytes.load<unsigned char>(at);
      bytes.store<unsigned char>(at, old ^ change);
      bytes.sign();
      convoy_model *raw = nullptr;
      if (convoy_model_load_memory(bytes.data(), bytes.size(), nullptr, &raw) == CONVOY_OK) {
        Model model(raw);
        for (size_t i = 0; i < convoy_model_num_outputs(raw); ++i) {
          convoy_value_info info{};
          ASSERT_EQ(convoy_model_output(raw, i, &info), CONVOY_OK);
          ASSERT_LT(info.counted_dim, static_cast<int64_t>(info.rank)) << at;
          ASSERT_GE(info.counted_dim, -1) << at;
        }
      }
      bytes.store<unsigned char>(at, old);
    }
}

} // namespace
