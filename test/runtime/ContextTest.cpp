// Contexts: tensors, batches, allocators, profiles, and the status of every misuse.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/runtime/TestModel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

using namespace convoy;
using namespace convoy::test;
using testing::HasSubstr;

namespace {

class ContextTest : public testing::Test {
protected:
  convoy_status setInput(const convoy_tensor &tensor) {
    return convoy_context_set_input(context.get(), 0, &tensor);
  }

  Bytes bytes{makeModel()};
  Model model = load(bytes);
  Context context = makeContext(model);
  std::vector<float> x = makeInput(2);
};

TEST_F(ContextTest, RejectsWrongInputs) {
  InputTensor good(x);
  convoy_tensor tensor = good;
  tensor.type = CONVOY_TYPE_F64;
  EXPECT_EQ(setInput(tensor), CONVOY_TYPE_MISMATCH);
  EXPECT_THAT(
      convoy_last_error(),
      HasSubstr("input \"x\": wrong element type: expected f32[N,24,10], got f64[2,24,10]"));
  tensor.type = static_cast<convoy_type>(200);
  EXPECT_EQ(setInput(tensor), CONVOY_TYPE_MISMATCH);

  tensor = good;
  tensor.rank = 2;
  EXPECT_EQ(setInput(tensor), CONVOY_RANK_MISMATCH);
  EXPECT_THAT(convoy_last_error(), HasSubstr("expected f32[N,24,10], got f32[2,24]"));
  tensor.dims = nullptr;
  EXPECT_EQ(setInput(tensor), CONVOY_INVALID_ARGUMENT);

  tensor = good;
  good.extents[2] = 11;
  EXPECT_EQ(setInput(tensor), CONVOY_SHAPE_MISMATCH);
  EXPECT_THAT(convoy_last_error(), HasSubstr("expected f32[N,24,10], got f32[2,24,11]"));
  good.extents[2] = columns;

  tensor = good;
  --tensor.bytes;
  EXPECT_EQ(setInput(tensor), CONVOY_SIZE_MISMATCH);
  EXPECT_THAT(convoy_last_error(), HasSubstr("needs 1920 bytes, the buffer has 1919"));

  tensor = good;
  tensor.data = nullptr;
  EXPECT_EQ(setInput(tensor), CONVOY_INVALID_ARGUMENT);
  tensor.data = reinterpret_cast<char *>(x.data()) + 1;
  EXPECT_EQ(setInput(tensor), CONVOY_INVALID_ARGUMENT);
  EXPECT_THAT(convoy_last_error(), HasSubstr("aligned"));

  for (int64_t images : {int64_t(0), int64_t(-1), INT64_MIN, INT64_MAX}) {
    tensor = good;
    good.extents[0] = images;
    EXPECT_EQ(setInput(tensor), CONVOY_BATCH_LIMIT) << images;
    good.extents[0] = 2;
  }

  EXPECT_EQ(convoy_context_set_input(context.get(), 1, &good), CONVOY_NO_SUCH_INDEX);
  EXPECT_THAT(convoy_last_error(), HasSubstr("input 1 of a model with 1"));
  EXPECT_EQ(convoy_context_set_output(context.get(), 2, &good), CONVOY_NO_SUCH_INDEX);
  EXPECT_EQ(convoy_context_set_input_by_name(context.get(), "image", &good), CONVOY_NO_SUCH_NAME);
  EXPECT_THAT(convoy_last_error(), HasSubstr("no input \"image\"; the model has \"x\""));
  EXPECT_EQ(convoy_context_set_output_by_name(context.get(), "x", &good), CONVOY_NO_SUCH_NAME);
  EXPECT_THAT(convoy_last_error(), HasSubstr("\"y\", \"z\""));

  // None of it has had an effect.
  EXPECT_EQ(convoy_context_batch(context.get()), 1);
  EXPECT_EQ(convoy_context_run(context.get()), CONVOY_NOT_SET);
  EXPECT_THAT(convoy_last_error(), HasSubstr("input \"x\" has not been set"));
  EXPECT_EQ(runOn(context, x), expected(x));
}

TEST_F(ContextTest, RejectsNullArguments) {
  EXPECT_EQ(convoy_model_load(nullptr, nullptr, nullptr), CONVOY_INVALID_ARGUMENT);
  EXPECT_EQ(convoy_model_load_memory(nullptr, 1, nullptr, nullptr), CONVOY_INVALID_ARGUMENT);
  EXPECT_THAT(convoy_last_error(), HasSubstr("convoy_model_load_memory: data is NULL"));
  EXPECT_EQ(convoy_model_input(model.get(), 0, nullptr), CONVOY_INVALID_ARGUMENT);
  EXPECT_EQ(convoy_context_create(nullptr, nullptr, nullptr), CONVOY_INVALID_ARGUMENT);
  EXPECT_EQ(convoy_context_create(model.get(), nullptr, nullptr), CONVOY_INVALID_ARGUMENT);
  EXPECT_THAT(convoy_last_error(), HasSubstr("context is NULL"));
  EXPECT_EQ(convoy_context_run(nullptr), CONVOY_INVALID_ARGUMENT);
  EXPECT_EQ(convoy_context_input(context.get(), 0, nullptr), CONVOY_INVALID_ARGUMENT);
  EXPECT_EQ(convoy_context_set_input_by_name(context.get(), nullptr, nullptr),
            CONVOY_INVALID_ARGUMENT);
  convoy_model_destroy(nullptr);
  convoy_context_destroy(nullptr);
}

TEST_F(ContextTest, RejectsWrongOptions) {
  convoy_context *made = nullptr;
  convoy_context_options options{};
  options.threads = 1 << 20;
  EXPECT_EQ(convoy_context_create(model.get(), &options, &made), CONVOY_INVALID_ARGUMENT);
  options = {};
  options.profile = 1;
  EXPECT_EQ(convoy_context_create(model.get(), &options, &made), CONVOY_NO_SUCH_INDEX);
  options = {};
  options.max_batch = -1;
  EXPECT_EQ(convoy_context_create(model.get(), &options, &made), CONVOY_BATCH_LIMIT);
  options = {};
  convoy_allocator allocator{};
  options.allocator = &allocator;
  EXPECT_EQ(convoy_context_create(model.get(), &options, &made), CONVOY_INVALID_ARGUMENT);
  EXPECT_EQ(made, nullptr);
}

TEST_F(ContextTest, LimitsTheBatch) {
  convoy_context_options options{};
  options.max_batch = 3;
  context = makeContext(model, options);
  EXPECT_EQ(convoy_context_batch(context.get()), 1);
  EXPECT_EQ(convoy_context_set_batch(context.get(), 4), CONVOY_BATCH_LIMIT);
  EXPECT_THAT(convoy_last_error(), HasSubstr("a batch of 4, the context allows up to 3"));
  std::vector<float> four = makeInput(4), three = makeInput(3);
  EXPECT_EQ(setInput(InputTensor(four)), CONVOY_BATCH_LIMIT);
  EXPECT_EQ(runOn(context, three), expected(three));
}

TEST_F(ContextTest, FollowsTheBatch) {
  for (int64_t batch : {1, 5, 2, 3, 1, 4}) {
    std::vector<float> images = makeInput(batch, static_cast<unsigned>(batch));
    EXPECT_EQ(runOn(context, images), expected(images)) << batch;
    EXPECT_EQ(convoy_context_batch(context.get()), batch);
  }
}

TEST_F(ContextTest, NoticesTensorsOfAnotherBatch) {
  std::vector<float> y(3 * columns);
  int64_t dims[] = {3, columns};
  convoy_tensor output{y.data(), y.size() * sizeof(float), CONVOY_TYPE_F32, 2, dims};
  ASSERT_EQ(convoy_context_set_output(context.get(), 0, &output), CONVOY_OK);
  ASSERT_EQ(setInput(InputTensor(x)), CONVOY_OK);
  EXPECT_EQ(convoy_context_run(context.get()), CONVOY_BATCH_MISMATCH);
  EXPECT_THAT(convoy_last_error(),
              HasSubstr("output \"y\" was set for a batch of 3, the batch is 2"));
  ASSERT_EQ(convoy_context_set_batch(context.get(), 3), CONVOY_OK);
  EXPECT_EQ(convoy_context_run(context.get()), CONVOY_BATCH_MISMATCH);
  EXPECT_THAT(convoy_last_error(),
              HasSubstr("input \"x\" was set for a batch of 2, the batch is 3"));
  x = makeInput(3);
  ASSERT_EQ(setInput(InputTensor(x)), CONVOY_OK);
  ASSERT_EQ(convoy_context_run(context.get()), CONVOY_OK);
  EXPECT_EQ(y, expected(x).y);
}

TEST_F(ContextTest, WritesToTheCallersOutputs) {
  // One element more, to see that nothing writes beyond the end.
  std::vector<float> y(2 * columns + 1, 77), z(2 * imageSize + 1, 77);
  int64_t yDims[] = {2, columns}, zDims[] = {2, rows, columns};
  convoy_tensor yTensor{y.data(), y.size() * sizeof(float), CONVOY_TYPE_F32, 2, yDims};
  convoy_tensor zTensor{z.data(), z.size() * sizeof(float), CONVOY_TYPE_F32, 3, zDims};
  ASSERT_EQ(convoy_context_set_output_by_name(context.get(), "y", &yTensor), CONVOY_OK);
  ASSERT_EQ(convoy_context_set_output_by_name(context.get(), "z", &zTensor), CONVOY_OK);
  InputTensor input(x);
  ASSERT_EQ(convoy_context_set_input_by_name(context.get(), "x", &input), CONVOY_OK);
  ASSERT_EQ(convoy_context_run(context.get()), CONVOY_OK);
  EXPECT_EQ(y.back(), 77);
  EXPECT_EQ(z.back(), 77);
  convoy_tensor seen{};
  ASSERT_EQ(convoy_context_output(context.get(), 0, &seen), CONVOY_OK);
  EXPECT_EQ(seen.data, y.data());
  y.pop_back();
  z.pop_back();
  EXPECT_EQ((Outputs{y, z}), expected(x));

  // Back to the runtime's own memory.
  ASSERT_EQ(convoy_context_set_output(context.get(), 0, nullptr), CONVOY_OK);
  std::fill(y.begin(), y.end(), 0.f);
  ASSERT_EQ(convoy_context_run(context.get()), CONVOY_OK);
  EXPECT_EQ(y, std::vector<float>(y.size()));
  ASSERT_EQ(convoy_context_output(context.get(), 0, &seen), CONVOY_OK);
  EXPECT_NE(seen.data, y.data());
  EXPECT_EQ(static_cast<float *>(seen.data)[3], expected(x).y[3]);
}

TEST_F(ContextTest, OwnsInputsThatAreAskedFor) {
  convoy_tensor tensor{};
  ASSERT_EQ(convoy_context_set_batch(context.get(), 2), CONVOY_OK);
  ASSERT_EQ(convoy_context_input(context.get(), 0, &tensor), CONVOY_OK);
  EXPECT_EQ(tensor.bytes, x.size() * sizeof(float));
  EXPECT_EQ(tensor.type, CONVOY_TYPE_F32);
  ASSERT_EQ(tensor.rank, 3u);
  EXPECT_EQ(tensor.dims[0], 2);
  EXPECT_EQ(tensor.dims[2], columns);
  std::copy(x.begin(), x.end(), static_cast<float *>(tensor.data));
  ASSERT_EQ(convoy_context_run(context.get()), CONVOY_OK);
  ASSERT_EQ(convoy_context_output(context.get(), 0, &tensor), CONVOY_OK);
  std::vector<float> y = expected(x).y;
  EXPECT_TRUE(std::equal(y.begin(), y.end(), static_cast<float *>(tensor.data)));

  ASSERT_EQ(convoy_context_set_batch(context.get(), 5), CONVOY_OK);
  ASSERT_EQ(convoy_context_input(context.get(), 0, &tensor), CONVOY_OK);
  EXPECT_EQ(tensor.dims[0], 5);
  EXPECT_EQ(tensor.bytes, 5 * imageSize * sizeof(float));
  EXPECT_EQ(convoy_context_run(context.get()), CONVOY_OK);
}

/// Counts what is given out; may refuse.
struct CountingAllocator : convoy_allocator {
  CountingAllocator() : convoy_allocator{allocateBlock, releaseBlock, this} {}
  ~CountingAllocator() {
    EXPECT_EQ(blocks, 0);
    EXPECT_EQ(bytes, 0u);
  }

  static void *allocateBlock(void *user, size_t size, size_t alignment) {
    auto *self = static_cast<CountingAllocator *>(user);
    EXPECT_GT(size, 0u);
    if (self->refuseAfter-- <= 0)
      return nullptr;
    ++self->calls;
    ++self->blocks;
    self->bytes += size;
    return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  }
  static void releaseBlock(void *user, void *memory, size_t size, size_t) {
    auto *self = static_cast<CountingAllocator *>(user);
    --self->blocks;
    self->bytes -= size;
    std::free(memory);
  }

  int calls = 0, blocks = 0;
  long refuseAfter = 1000000;
  size_t bytes = 0;
};

TEST_F(ContextTest, UsesTheCallersAllocator) {
  CountingAllocator allocator;
  convoy_context_options options{};
  options.allocator = &allocator;
  options.threads = 2;
  context = makeContext(model, options);
  EXPECT_GT(allocator.bytes, 2 * imageSize * sizeof(float));
  EXPECT_EQ(runOn(context, x), expected(x));
  int before = allocator.calls;
  for (int i = 0; i < 3; ++i) // the batch is the same: nothing to allocate
    EXPECT_EQ(runOn(context, x), expected(x));
  EXPECT_EQ(allocator.calls, before);
  context.reset();

  // Room for the largest batch is made at once.
  options.max_batch = 4;
  context = makeContext(model, options);
  before = allocator.calls;
  for (int64_t batch : {4, 1, 3}) {
    std::vector<float> images = makeInput(batch);
    EXPECT_EQ(runOn(context, images), expected(images));
  }
  EXPECT_EQ(allocator.calls, before);
  context.reset();
}

TEST_F(ContextTest, SurvivesEveryFailedAllocation) {
  int refused = 0;
  for (long after = 0;; ++after) {
    CountingAllocator allocator; // checks that nothing is left
    allocator.refuseAfter = after;
    convoy_context_options options{};
    options.allocator = &allocator;
    options.threads = 3;
    convoy_context *made = nullptr;
    convoy_status status = convoy_context_create(model.get(), &options, &made);
    if (status == CONVOY_OK) {
      convoy_context_destroy(made);
      break;
    }
    ASSERT_EQ(status, CONVOY_OUT_OF_MEMORY);
    ASSERT_EQ(made, nullptr);
    ++refused;
  }
  EXPECT_GT(refused, 8);

  // A batch without memory can be tried again.
  CountingAllocator allocator;
  convoy_context_options options{};
  options.allocator = &allocator;
  context = makeContext(model, options);
  EXPECT_EQ(runOn(context, x), expected(x));
  for (long after : {0, 1, 2}) {
    allocator.refuseAfter = after;
    std::vector<float> images = makeInput(3 + after);
    EXPECT_EQ(setInput(InputTensor(images)), CONVOY_OUT_OF_MEMORY);
    EXPECT_EQ(convoy_context_run(context.get()), CONVOY_OUT_OF_MEMORY);
    allocator.refuseAfter = 1000000;
    EXPECT_EQ(runOn(context, images), expected(images));
  }
  context.reset();
}

TEST_F(ContextTest, MeasuresLaunches) {
  EXPECT_EQ(convoy_context_launch_times(context.get()), nullptr);
  std::vector<float> large = makeInput(64);
  for (uint32_t threads : {1, 2}) {
    convoy_context_options options{};
    options.threads = threads;
    context = makeContext(model, options);
    ASSERT_EQ(convoy_context_set_profiling(context.get(), 1), CONVOY_OK);
    EXPECT_EQ(convoy_context_launch_times(context.get()), nullptr);
    EXPECT_EQ(runOn(context, large), expected(large));
    const uint64_t *times = convoy_context_launch_times(context.get());
    ASSERT_TRUE(times);
    uint64_t total = 0;
    for (size_t i = 0; i < convoy_model_num_launches(model.get(), 0); ++i)
      total += times[i];
    EXPECT_GT(times[1], 0u);
    EXPECT_LT(total, 60u * 1000000000);
    ASSERT_EQ(convoy_context_set_profiling(context.get(), 0), CONVOY_OK);
    EXPECT_EQ(convoy_context_launch_times(context.get()), nullptr);
    EXPECT_EQ(runOn(context, large), expected(large));
    EXPECT_EQ(convoy_context_launch_times(context.get()), nullptr);
  }
}

/// The same net for 24 rows and, as a copy of the upper half, for 12.
static artifact::Artifact makeProfiles() {
  artifact::Artifact artifact = makeModel();
  artifact::Variant half = artifact.variants[0];
  half.profile = "half";
  half.inputs[0].dims[1] = half.outputs[1].dims[1] = rows / 2;
  half.launches = {half.launches[3], half.launches[4]};
  for (artifact::Launch &launch : half.launches) {
    launch.tiles /= 2;
    launch.args[0].space = artifact::Space::input;
    launch.args[0].bytes = launch.args[1].bytes = 0;
  }
  artifact::Variant fallback = artifact.variants[0]; // not a profile: its shapes are taken
  artifact.variants.push_back(half);
  artifact.variants.push_back(fallback);
  return artifact;
}

TEST(Profiles, ShareAModel) {
  artifact::Artifact artifact = makeProfiles();
  Bytes bytes(artifact);
  Model model = load(bytes);
  ASSERT_TRUE(model);
  ASSERT_EQ(convoy_model_num_profiles(model.get()), 2u);
  convoy_value_info info{};
  ASSERT_EQ(convoy_model_profile_input(model.get(), 1, 0, &info), CONVOY_OK);
  EXPECT_EQ(info.dims[1], rows / 2);
  EXPECT_EQ(convoy_model_profile_input(model.get(), 2, 0, &info), CONVOY_NO_SUCH_INDEX);

  convoy_context_options options{};
  options.profile = 1;
  Context context = makeContext(model, options);
  std::vector<float> x = makeInput(1);
  InputTensor input(x);
  EXPECT_EQ(convoy_context_set_input(context.get(), 0, &input), CONVOY_SHAPE_MISMATCH);
  EXPECT_THAT(convoy_last_error(), HasSubstr("expected f32[N,12,10], got f32[1,24,10]; profile 0 takes it"));
  input.extents[1] = rows / 2;
  ASSERT_EQ(convoy_context_set_input(context.get(), 0, &input), CONVOY_OK) << convoy_last_error();
  ASSERT_EQ(convoy_context_run(context.get()), CONVOY_OK);
  convoy_tensor z{};
  ASSERT_EQ(convoy_context_output(context.get(), 1, &z), CONVOY_OK);
  ASSERT_EQ(z.bytes, imageSize / 2 * sizeof(float));
  EXPECT_TRUE(std::equal(x.begin(), x.begin() + imageSize / 2, static_cast<float *>(z.data)));

  artifact.variants[1].outputs[0].name = "other";
  std::vector<char> odd;
  ASSERT_FALSE(artifact::serialize(artifact, odd));
  convoy_model *raw = nullptr;
  EXPECT_EQ(convoy_model_load_memory(odd.data(), odd.size(), nullptr, &raw), CONVOY_CORRUPT);
}

TEST(Profiles, AreFoundByName) {
  Bytes bytes(makeProfiles());
  Model model = load(bytes);
  ASSERT_TRUE(model);
  EXPECT_STREQ(convoy_model_profile_name(model.get(), 0), "");
  EXPECT_STREQ(convoy_model_profile_name(model.get(), 1), "half");
  EXPECT_STREQ(convoy_model_profile_name(model.get(), 2), "");
  size_t index = 7;
  ASSERT_EQ(convoy_model_find_profile(model.get(), "half", &index), CONVOY_OK);
  EXPECT_EQ(index, 1u);
  EXPECT_EQ(convoy_model_find_profile(model.get(), "", &index), CONVOY_NO_SUCH_NAME);
  EXPECT_EQ(convoy_model_find_profile(model.get(), "whole", &index), CONVOY_NO_SUCH_NAME);
  EXPECT_THAT(convoy_last_error(),
              HasSubstr("no profile \"whole\"; the model has 0 x f32[N,24,10]; 1 \"half\" x "
                        "f32[N,12,10]"));
  EXPECT_EQ(index, 1u);
  EXPECT_EQ(convoy_model_find_profile(model.get(), nullptr, &index), CONVOY_INVALID_ARGUMENT);
  EXPECT_EQ(convoy_model_find_profile(model.get(), "half", nullptr), CONVOY_INVALID_ARGUMENT);
}

TEST(Profiles, AreSelectedByShapes) {
  Bytes bytes(makeProfiles());
  Model model = load(bytes);
  ASSERT_TRUE(model);
  int64_t dims[] = {5, rows, columns};
  convoy_tensor x{nullptr, 0, CONVOY_TYPE_F32, 3, dims};
  size_t index = 7;
  ASSERT_EQ(convoy_model_select_profile(model.get(), &x, 1, &index), CONVOY_OK);
  EXPECT_EQ(index, 0u);
  dims[1] = rows / 2;
  ASSERT_EQ(convoy_model_select_profile(model.get(), &x, 1, &index), CONVOY_OK);
  EXPECT_EQ(index, 1u);
  dims[0] = 0; // no batch
  EXPECT_EQ(convoy_model_select_profile(model.get(), &x, 1, &index), CONVOY_SHAPE_MISMATCH);
  dims[0] = 1;
  dims[1] = rows / 2 + 1;
  EXPECT_EQ(convoy_model_select_profile(model.get(), &x, 1, &index), CONVOY_SHAPE_MISMATCH);
  EXPECT_THAT(convoy_last_error(), HasSubstr("\"half\" x f32[N,12,10]"));
  x.rank = 2;
  EXPECT_EQ(convoy_model_select_profile(model.get(), &x, 1, &index), CONVOY_SHAPE_MISMATCH);
  x.rank = 3;
  x.dims = nullptr;
  EXPECT_EQ(convoy_model_select_profile(model.get(), &x, 1, &index), CONVOY_SHAPE_MISMATCH);
  EXPECT_EQ(convoy_model_select_profile(model.get(), &x, 2, &index), CONVOY_INVALID_ARGUMENT);
  EXPECT_EQ(convoy_model_select_profile(model.get(), nullptr, 1, &index), CONVOY_INVALID_ARGUMENT);
  EXPECT_EQ(convoy_model_select_profile(model.get(), &x, 1, nullptr), CONVOY_INVALID_ARGUMENT);
  EXPECT_EQ(index, 1u);
}

// Equal code is in the file once; the runtime maps it once, and unmaps it once.
TEST(Profiles, ShareCode) {
  artifact::Artifact artifact = makeProfiles();
  std::vector<char> shared, single;
  ASSERT_FALSE(artifact::serialize(artifact, shared));
  artifact.variants.resize(1);
  ASSERT_FALSE(artifact::serialize(artifact, single));
  EXPECT_LT(shared.size(), single.size() + testCode().bytes.size());
}

TEST(FixedBatch, AllowsNoOther) {
  artifact::Artifact artifact = makeModel();
  artifact::Variant &variant = artifact.variants[0];
  for (artifact::Value *value : {&variant.inputs[0], &variant.outputs[0], &variant.outputs[1]})
    value->dims[0] = 1;
  Bytes bytes(artifact);
  Model model = load(bytes);
  Context context = makeContext(model);
  EXPECT_EQ(convoy_context_set_batch(context.get(), 2), CONVOY_BATCH_LIMIT);
  EXPECT_THAT(convoy_last_error(), HasSubstr("without a free batch"));
  std::vector<float> two = makeInput(2), one = makeInput(1);
  InputTensor tensor(two);
  EXPECT_EQ(convoy_context_set_input(context.get(), 0, &tensor), CONVOY_SHAPE_MISMATCH);
  EXPECT_EQ(runOn(context, one), expected(one));
}

TEST(Status, HasTextsForAllNumbers) {
  EXPECT_STREQ(convoy_status_string(CONVOY_OK), "success");
  EXPECT_STREQ(convoy_status_string(CONVOY_TRUNCATED), "the artifact is truncated");
  EXPECT_STREQ(convoy_status_string(static_cast<convoy_status>(12345)), "unknown status");
  EXPECT_STREQ(convoy_type_string(CONVOY_TYPE_BF16), "bf16");
  EXPECT_EQ(convoy_type_size(CONVOY_TYPE_BF16), 2u);
  EXPECT_STREQ(convoy_type_string(static_cast<convoy_type>(8)), "?");
  EXPECT_EQ(convoy_type_size(static_cast<convoy_type>(8)), 0u);
  EXPECT_EQ(convoy_version(), static_cast<uint32_t>(CONVOY_VERSION));
}

} // namespace
