// Loading: files that are damaged, too new, hostile, or meant for another machine.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/hash.h"
#include "test/runtime/TestModel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <random>
#include <unistd.h>

using namespace convoy;
using namespace convoy::test;
using testing::HasSubstr;

namespace {

convoy_status tryLoad(const void *data, size_t size, const convoy_load_options *options = nullptr) {
  convoy_model *model = nullptr;
  convoy_status status = convoy_model_load_memory(data, size, options, &model);
  EXPECT_EQ(status == CONVOY_OK, model != nullptr);
  convoy_model_destroy(model);
  return status;
}

convoy_status tryLoad(const Bytes &bytes) { return tryLoad(bytes.data(), bytes.size()); }

/// A file that is removed again.
class TemporaryFile {
public:
  explicit TemporaryFile(const std::string &name)
      : path(testing::TempDir() + "convoy-" + std::to_string(getpid()) + "-" + name) {}
  ~TemporaryFile() { unlink(path.c_str()); }
  const std::string path;
};

TEST(Hash, AgreesWithPublishedValuesAndTheWriter) {
  // Values of the reference implementation for these inputs and seed 0.
  auto hash = [](const std::string &text) {
    rt::Hash hash;
    hash.add(text.data(), text.size());
    return hash.finish();
  };
  EXPECT_EQ(hash(""), 0xEF46DB3751D8E999u);
  EXPECT_EQ(hash("a"), 0xD24EC4F1A98C6E5Bu);
  EXPECT_EQ(hash("abc"), 0x44BC2CF5AD770999u);
  std::string text;
  for (int size = 0; size < 300; ++size) {
    EXPECT_EQ(hash(text), artifact::checksum(text.data(), text.size())) << size;
    for (size_t first : {size_t(1), size_t(31), size_t(32), size_t(40)}) {
      if (first > text.size())
        continue;
      rt::Hash pieces;
      pieces.add(text.data(), first);
      pieces.add(text.data() + first, text.size() - first);
      EXPECT_EQ(pieces.finish(), hash(text)) << size << " in pieces";
    }
    text.push_back(static_cast<char>(size * 37 + 11));
  }
}

TEST(Artifact, TellsWhatTheWriterWrote) {
  Bytes bytes(makeModel());
  Model model = load(bytes);
  ASSERT_TRUE(model);
  EXPECT_STREQ(convoy_model_name(model.get()), "scale and mix");
  EXPECT_STREQ(convoy_model_producer(model.get()), "runtime tests");
  EXPECT_STREQ(convoy_model_target(model.get()), "x86-baseline");
  ASSERT_EQ(convoy_model_num_inputs(model.get()), 1u);
  ASSERT_EQ(convoy_model_num_outputs(model.get()), 2u);
  EXPECT_EQ(convoy_model_num_profiles(model.get()), 1u);

  convoy_value_info info{};
  ASSERT_EQ(convoy_model_input(model.get(), 0, &info), CONVOY_OK);
  EXPECT_STREQ(info.name, "x");
  EXPECT_EQ(info.type, CONVOY_TYPE_F32);
  ASSERT_EQ(info.rank, 3u);
  EXPECT_EQ(info.dims[0], -1);
  EXPECT_EQ(info.dims[1], rows);
  EXPECT_EQ(info.dims[2], columns);
  EXPECT_STREQ(info.dim_names[0], "batch");
  EXPECT_STREQ(info.dim_names[1], "");
  EXPECT_EQ(info.bytes, imageSize * sizeof(float));
  ASSERT_EQ(convoy_model_output(model.get(), 1, &info), CONVOY_OK);
  EXPECT_STREQ(info.name, "z");
  EXPECT_STREQ(info.dim_names[2], "");
  EXPECT_EQ(convoy_model_output(model.get(), 2, &info), CONVOY_NO_SUCH_INDEX);
  size_t index = 9;
  EXPECT_EQ(convoy_model_find_output(model.get(), "z", &index), CONVOY_OK);
  EXPECT_EQ(index, 1u);

  convoy_memory_info memory{};
  ASSERT_EQ(convoy_model_memory(model.get(), 0, &memory), CONVOY_OK);
  EXPECT_EQ(memory.arena_bytes, 2 * imageSize * sizeof(float));
  EXPECT_EQ(memory.arena_lower_bound_bytes, memory.arena_bytes);
  EXPECT_EQ(memory.constant_bytes, 64 + (rows + columns) * sizeof(float));

  ASSERT_EQ(convoy_model_num_launches(model.get(), 0), 5u);
  convoy_launch_info launch{};
  ASSERT_EQ(convoy_model_launch(model.get(), 0, 1, &launch), CONVOY_OK);
  EXPECT_STREQ(launch.name, "mix");
  EXPECT_STREQ(launch.op, "gemm");
  EXPECT_STREQ(launch.kernel, "test_mix");
  EXPECT_STREQ(launch.strategy, "test");
  EXPECT_EQ(launch.tiles, static_cast<uint64_t>(rows));
  EXPECT_TRUE(launch.batched);
  EXPECT_EQ(launch.flops, 11520u);
  EXPECT_EQ(convoy_model_launch(model.get(), 0, 5, &launch), CONVOY_NO_SUCH_INDEX);
  EXPECT_EQ(convoy_model_launch(model.get(), 1, 0, &launch), CONVOY_NO_SUCH_INDEX);
}

TEST(Artifact, TellsTheWavesOfLaunches) {
  artifact::Artifact artifact = makeModel();
  artifact.variants[0].launches[3].joins = true;
  Bytes bytes(artifact);
  Model model = load(bytes);
  std::vector<size_t> waves;
  for (size_t i = 0; i < 6; ++i)
    waves.push_back(convoy_model_launch_wave(model.get(), 0, i));
  EXPECT_EQ(waves, (std::vector<size_t>{0, 1, 2, 2, 3, 4}));
  EXPECT_EQ(convoy_model_launch_wave(model.get(), 1, 0), 0u);
}

TEST(Artifact, LaunchesOfAWaveUseNoCommonMemory) {
  // One reads what the other writes; both write; one writes what the other but one reads.
  for (std::vector<size_t> joining : std::vector<std::vector<size_t>>{{1}, {4}, {2, 3, 4}}) {
    artifact::Artifact artifact = makeModel();
    for (size_t i : joining)
      artifact.variants[0].launches[i].joins = true;
    Bytes bytes(artifact);
    EXPECT_EQ(tryLoad(bytes.data(), bytes.size()), CONVOY_CORRUPT) << joining[0];
    EXPECT_THAT(convoy_last_error(), HasSubstr("of one wave use the same memory"));
  }
}

TEST(Artifact, LoadsFromAFile) {
  TemporaryFile file("model.cvy");
  artifact::Problem problem = artifact::write(makeModel(), file.path);
  ASSERT_FALSE(problem) << *problem;
  std::vector<char> written = readFile(file.path);
  Bytes bytes(makeModel());
  ASSERT_EQ(written, std::vector<char>(bytes.data(), bytes.data() + bytes.size()));

  convoy_model *loaded = nullptr;
  ASSERT_EQ(convoy_model_load(file.path.c_str(), nullptr, &loaded), CONVOY_OK)
      << convoy_last_error();
  Model model(loaded);
  unlink(file.path.c_str()); // the model keeps its map
  Context context = makeContext(model);
  std::vector<float> x = makeInput(2);
  EXPECT_EQ(runOn(context, x), expected(x));
}

TEST(Artifact, ReplacesAFileWithoutTouchingItsMap) {
  TemporaryFile file("replaced.cvy");
  ASSERT_FALSE(artifact::write(makeModel(1), file.path));
  convoy_model *loaded = nullptr;
  ASSERT_EQ(convoy_model_load(file.path.c_str(), nullptr, &loaded), CONVOY_OK);
  Model first(loaded);
  ASSERT_FALSE(artifact::write(makeModel(3), file.path));
  ASSERT_EQ(convoy_model_load(file.path.c_str(), nullptr, &loaded), CONVOY_OK);
  Model second(loaded);
  std::vector<float> x = makeInput(1);
  EXPECT_EQ(runOn(makeContext(first), x), expected(x, 1));
  EXPECT_EQ(runOn(makeContext(second), x), expected(x, 3));
}

TEST(Artifact, WriterLeavesNoPartialFile) {
  std::string folder = testing::TempDir() + "convoy-no-such-folder";
  artifact::Problem problem = artifact::write(makeModel(), folder + "/model.cvy");
  ASSERT_TRUE(problem);
  EXPECT_THAT(*problem, HasSubstr(folder + "/model.cvy"));
  problem = artifact::write(makeModel(), testing::TempDir());
  ASSERT_TRUE(problem);
  EXPECT_THAT(*problem, HasSubstr("directory"));
  EXPECT_FALSE(artifact::write(makeModel(), "/dev/null"));
  EXPECT_EQ(access("/dev/null", W_OK), 0);
}

TEST(Artifact, SaysWhyAFileCannotBeOpened) {
  convoy_model *model = nullptr;
  EXPECT_EQ(convoy_model_load("/no/such/file.cvy", nullptr, &model), CONVOY_CANNOT_OPEN);
  EXPECT_THAT(convoy_last_error(), HasSubstr("/no/such/file.cvy"));
  EXPECT_EQ(convoy_model_load(testing::TempDir().c_str(), nullptr, &model), CONVOY_CANNOT_OPEN);
  EXPECT_THAT(convoy_last_error(), HasSubstr("not a regular file"));
  TemporaryFile file("empty.cvy");
  std::ofstream(file.path).close();
  EXPECT_EQ(convoy_model_load(file.path.c_str(), nullptr, &model), CONVOY_TRUNCATED);
  std::ofstream(file.path) << "an ordinary text file, somewhat longer than the header of 64 bytes";
  EXPECT_EQ(convoy_model_load(file.path.c_str(), nullptr, &model), CONVOY_NOT_AN_ARTIFACT);
  EXPECT_EQ(model, nullptr);
}

TEST(Artifact, LoadsFromMemoryAtAnyAddress) {
  Bytes bytes(makeModel());
  std::vector<char> shifted(bytes.size() + 64);
  std::vector<float> x = makeInput(1);
  for (size_t shift : {1, 4, 8, 63}) {
    std::memcpy(shifted.data() + shift, bytes.data(), bytes.size());
    convoy_model *model = nullptr;
    ASSERT_EQ(convoy_model_load_memory(shifted.data() + shift, bytes.size(), nullptr, &model),
              CONVOY_OK)
        << convoy_last_error();
    Model owner(model);
    EXPECT_EQ(runOn(makeContext(owner), x), expected(x)) << shift;
  }
}

TEST(Artifact, RejectsEveryTruncation) {
  Bytes bytes(makeModel());
  for (size_t size = 0; size < bytes.size(); ++size) {
    // A heap block of just this size: the sanitizer sees a read beyond it.
    std::vector<char> part(bytes.data(), bytes.data() + size);
    const char *data = size ? part.data() : bytes.data();
    ASSERT_EQ(tryLoad(data, size), CONVOY_TRUNCATED) << size;
  }
  EXPECT_EQ(tryLoad(bytes.data(), bytes.size() - 1), CONVOY_TRUNCATED);
  EXPECT_THAT(convoy_last_error(), HasSubstr(std::to_string(bytes.size() - 1)));
  EXPECT_THAT(convoy_last_error(), HasSubstr(std::to_string(bytes.size())));
}

TEST(Artifact, RejectsTrailingBytes) {
  Bytes bytes(makeModel());
  std::vector<char> longer(bytes.data(), bytes.data() + bytes.size());
  longer.push_back(0);
  EXPECT_EQ(tryLoad(longer.data(), longer.size()), CONVOY_CORRUPT);
}

TEST(Artifact, RejectsFlippedBits) {
  Bytes bytes(makeModel());
  size_t metadata = bytes.load<uint64_t>(24);
  size_t flips = 0;
  auto flip = [&](size_t bit) {
    bytes.data()[bit / 8] ^= static_cast<char>(1 << bit % 8);
    convoy_status status = tryLoad(bytes);
    bytes.data()[bit / 8] ^= static_cast<char>(1 << bit % 8);
    ++flips;
    return status;
  };
  for (size_t bit = 0; bit < 8 * CONVOY_HEADER_BYTES; ++bit)
    ASSERT_NE(flip(bit), CONVOY_OK) << "bit " << bit;
  for (size_t bit = 8 * metadata; bit < 8 * bytes.size(); ++bit)
    ASSERT_EQ(flip(bit), CONVOY_CORRUPT) << "bit " << bit;
  // Code, constants and the gaps between them, where no bound could catch it.
  for (size_t bit = 8 * CONVOY_HEADER_BYTES; bit < 8 * metadata; bit += 13)
    ASSERT_EQ(flip(bit), CONVOY_CORRUPT) << "bit " << bit;
  EXPECT_GT(flips, 10000u);
  EXPECT_EQ(tryLoad(bytes), CONVOY_OK);
}

TEST(Artifact, ComparesVersions) {
  Bytes bytes(makeModel());
  convoy_artifact_info info{};
  EXPECT_EQ(convoy_artifact_check(bytes.data(), CONVOY_HEADER_BYTES, &info), CONVOY_OK);
  EXPECT_EQ(info.format_version, 1u);
  EXPECT_EQ(info.file_bytes, bytes.size());
  EXPECT_LE(info.least_runtime, convoy_version());

  bytes.store<uint32_t>(8, 7);
  bytes.sign();
  EXPECT_EQ(tryLoad(bytes), CONVOY_FORMAT_TOO_NEW);
  EXPECT_THAT(convoy_last_error(), HasSubstr("format version 7"));
  EXPECT_THAT(convoy_last_error(), HasSubstr("reads up to 1"));
  EXPECT_EQ(convoy_artifact_check(bytes.data(), CONVOY_HEADER_BYTES, &info), CONVOY_FORMAT_TOO_NEW);
  EXPECT_EQ(info.format_version, 7u);
  bytes.store<uint32_t>(8, 0);
  bytes.sign();
  EXPECT_EQ(tryLoad(bytes), CONVOY_CORRUPT);

  bytes.store<uint32_t>(8, 1);
  bytes.store<uint32_t>(12, CONVOY_MAKE_VERSION(12, 34, 5));
  bytes.sign();
  EXPECT_EQ(tryLoad(bytes), CONVOY_RUNTIME_TOO_OLD);
  EXPECT_THAT(convoy_last_error(), HasSubstr("12.34.5"));
  std::string own = std::to_string(CONVOY_VERSION_MAJOR) + "." +
                    std::to_string(CONVOY_VERSION_MINOR) + "." +
                    std::to_string(CONVOY_VERSION_PATCH);
  EXPECT_THAT(convoy_last_error(), HasSubstr(own));

  EXPECT_EQ(convoy_artifact_check("CONVOY\r\n", 8, &info), CONVOY_TRUNCATED);
  EXPECT_EQ(convoy_artifact_check("CONVOY\n", 7, &info), CONVOY_NOT_AN_ARTIFACT);
  EXPECT_EQ(convoy_artifact_check("\x7f"
                                  "ELF",
                                  4, nullptr),
            CONVOY_NOT_AN_ARTIFACT);
  EXPECT_EQ(convoy_artifact_check(nullptr, 8, nullptr), CONVOY_INVALID_ARGUMENT);
}

TEST(Artifact, NamesMissingCpuFeatures) {
  artifact::Artifact model = makeModel();
  model.variants[0].cpuFeatures = {"sse2", "fake-feature-1", "fake-feature-2"};
  EXPECT_EQ(tryLoad(Bytes(model)), CONVOY_UNSUPPORTED_MACHINE);
  EXPECT_THAT(convoy_last_error(),
              HasSubstr("x86-baseline: this CPU lacks fake-feature-1, fake-feature-2"));
  model.variants[0].target = "abacus-3";
  model.variants[0].cpuFeatures = {};
  EXPECT_EQ(tryLoad(Bytes(model)), CONVOY_UNSUPPORTED_MACHINE);
  EXPECT_THAT(convoy_last_error(), HasSubstr("abacus-3: this runtime has no device for it"));
}

TEST(Artifact, NamesLibrariesThatItDoesNotKnow) {
  artifact::Artifact model = makeModel();
  EXPECT_EQ(Bytes(model).load<uint32_t>(12), CONVOY_MAKE_VERSION(0u, 1u, 0u));
  model.variants[0].cpuFeatures = {"fake-feature"};
  model.variants[0].libraries = {"libabacus"};
  Bytes bytes(model);
  EXPECT_EQ(bytes.load<uint32_t>(12), CONVOY_MAKE_VERSION(0u, 1u, 1u)) << "older ones ignore it";
  EXPECT_EQ(tryLoad(bytes), CONVOY_UNSUPPORTED_MACHINE);
  EXPECT_THAT(convoy_last_error(), HasSubstr("x86-baseline: this CPU lacks fake-feature, this "
                                             "runtime knows no library 'libabacus'"));
  // Whoever has the libraries of a later variant takes that.
  artifact::Variant variant = makeModel().variants[0];
  variant.target = "x86-plain";
  model.variants.push_back(variant);
  Bytes both(model);
  Model loaded = load(both);
  ASSERT_TRUE(loaded);
  EXPECT_STREQ(convoy_model_target(loaded.get()), "x86-plain");
}

/// A model of one launch, by oneDNN: from x as 3 channels of 8 x 10, with a kernel of 3 x 1, to 8
/// channels of 6 x 10 in the arena.
artifact::Artifact makeOneDnnModel() {
  artifact::Artifact model = makeModel();
  artifact::Variant &variant = model.variants[0];
  artifact::OneDnnConv conv;
  conv.ic = 3, conv.oc = 8, conv.block = 8, conv.planarSrc = conv.batched = true, conv.bias = 2;
  conv.h.in = 8, conv.h.out = 6, conv.h.kernel = 3;
  conv.w.in = conv.w.out = 10;
  variant.kernels[0].oneDnn = conv;
  artifact::Launch launch = variant.launches[0];
  launch.kernel = 0, launch.tiles = 1, launch.batched = false;
  auto constant = [&](size_t elements) {
    std::vector<float> values(elements, 1);
    artifact::Arg arg;
    arg.space = artifact::Space::constant;
    arg.bytes = elements * sizeof(float);
    arg.offset = model.constants.add(values.data(), arg.bytes);
    return arg;
  };
  artifact::Arg src, dst;
  src.space = artifact::Space::input;
  src.bytes = imageSize * sizeof(float);
  dst.bytes = 8 * 6 * 10 * sizeof(float);
  dst.writes = true;
  launch.args = {src, constant(8 * 3 * 3), constant(8), dst};
  variant.launches = {launch};
  return model;
}

TEST(Artifact, RefusesConvolutionsByOneDnnThatCannotBe) {
  Bytes bytes(makeOneDnnModel());
  EXPECT_EQ(tryLoad(bytes.data(), bytes.size()), CONVOY_OK) << convoy_last_error();
  struct Wrong {
    const char *message;
    std::function<void(artifact::OneDnnConv &, artifact::Launch &)> change;
  };
  using Conv = artifact::OneDnnConv;
  using Launch = artifact::Launch;
  const Wrong cases[] = {
      {"its tiles", [](Conv &, Launch &launch) { launch.tiles = 2; }},
      {"its tiles", [](Conv &, Launch &launch) { launch.batched = true; }},
      {"its arguments", [](Conv &, Launch &launch) { launch.args.pop_back(); }},
      {"its arguments", [](Conv &, Launch &launch) { launch.args.clear(); }},
      {"its arguments", [](Conv &conv, Launch &) { conv.bias = 0; }},
      {"its arguments", [](Conv &conv, Launch &) { conv.bias = 1; }},
      {"its arguments", [](Conv &conv, Launch &) { conv.bias = 3; }},
      {"its arguments", [](Conv &conv, Launch &) { conv.residual = 2; }},
      {"its arguments", [](Conv &conv, Launch &) { conv.residual = UINT32_MAX; }},
      {"an extent", [](Conv &conv, Launch &) { conv.groups = 0; }},
      {"an extent", [](Conv &conv, Launch &) { conv.h.stride = 0; }},
      {"an extent", [](Conv &conv, Launch &) { conv.w.dilation = 0; }},
      {"an extent", [](Conv &conv, Launch &) { conv.w.out = UINT32_MAX; }},
      {"a padding", [](Conv &conv, Launch &) { conv.h.padHigh = UINT32_MAX; }},
      {"its channels", [](Conv &conv, Launch &) { conv.block = 4; }},
      {"its channels", [](Conv &conv, Launch &) { conv.block = 16; }},
      {"its channels", [](Conv &conv, Launch &) { conv.planarSrc = false; }},
      {"its channels", [](Conv &conv, Launch &) { conv.groups = 2; }},
      {"the size of an argument", [](Conv &conv, Launch &) { conv.h.in = 9; }},
      {"the size of an argument", [](Conv &conv, Launch &) { conv.h.out = 7; }},
      {"the size of an argument", [](Conv &conv, Launch &) { conv.w.kernel = 2; }},
      {"the size of an argument", [](Conv &conv, Launch &) { conv.oc = 16; }},
      {"the size of an argument",
       [](Conv &conv, Launch &) { conv.oc = conv.h.kernel = conv.w.kernel = 1 << 20; }},
      {"the size of an argument", [](Conv &, Launch &launch) { launch.args[2].bytes = 0; }},
  };
  for (const Wrong &wrong : cases) {
    artifact::Artifact model = makeOneDnnModel();
    artifact::Variant &variant = model.variants[0];
    wrong.change(*variant.kernels[0].oneDnn, variant.launches[0]);
    size_t number = &wrong - cases;
    EXPECT_EQ(tryLoad(Bytes(model)), CONVOY_CORRUPT) << number;
    EXPECT_THAT(convoy_last_error(), HasSubstr(std::string("by oneDNN: ") + wrong.message))
        << number;
  }
}

TEST(Artifact, TakesTheFirstVariantThatTheMachineCanRun) {
  artifact::Artifact model = makeModel();
  artifact::Variant variant = model.variants[0];
  model.variants[0].target = "x86-future";
  model.variants[0].cpuFeatures = {"fake-feature"};
  variant.target = "x86-plain";
  model.variants.push_back(variant);
  variant.target = "x86-other";
  model.variants.push_back(variant);
  Bytes bytes(model);
  Model loaded = load(bytes);
  ASSERT_TRUE(loaded);
  EXPECT_STREQ(convoy_model_target(loaded.get()), "x86-plain");
  std::vector<float> x = makeInput(1);
  EXPECT_EQ(runOn(makeContext(loaded), x), expected(x));

  convoy_load_options options{"x86-other"};
  convoy_model *other = nullptr;
  ASSERT_EQ(convoy_model_load_memory(bytes.data(), bytes.size(), &options, &other), CONVOY_OK);
  EXPECT_STREQ(convoy_model_target(other), "x86-other");
  convoy_model_destroy(other);
  options.target = "x86-future";
  EXPECT_EQ(tryLoad(bytes.data(), bytes.size(), &options), CONVOY_UNSUPPORTED_MACHINE);
  EXPECT_THAT(convoy_last_error(), HasSubstr("fake-feature"));
  options.target = "x86-none";
  EXPECT_EQ(tryLoad(bytes.data(), bytes.size(), &options), CONVOY_UNSUPPORTED_MACHINE);
  EXPECT_THAT(convoy_last_error(), HasSubstr("x86-plain"));
}

/// A context's memory, so that a mutated size does not ask the machine for it.
void *allocateLittle(void *, size_t bytes, size_t alignment) {
  return bytes > (1 << 20) ? nullptr : std::aligned_alloc(alignment, (bytes + 63) / 64 * 64);
}
void releaseLittle(void *, void *memory, size_t, size_t) { std::free(memory); }

TEST(Artifact, SurvivesHostileMetadata) {
  // Files with a right checksum and wrong contents. Whatever loads must also answer every query,
  // within its bounds: the sanitizer watches.
  artifact::Artifact artifact = makeModel();
  artifact.variants[0].launches[3].joins = true;
  Bytes bytes(artifact);
  size_t metadata = bytes.load<uint64_t>(24);
  std::mt19937 random(7);
  convoy_allocator allocator{allocateLittle, releaseLittle, nullptr};
  convoy_context_options options{};
  options.allocator = &allocator;
  options.threads = 1;
  size_t loaded = 0, rejected = 0;
  for (int round = 0; round < 20000; ++round) {
    Bytes mutant = bytes;
    for (unsigned change = 0; change <= random() % 3; ++change) {
      // One in eight hits the header, but neither magic nor versions.
      size_t at =
          random() % 8 ? metadata + random() % (bytes.size() - metadata) : 16 + random() % 48;
      constexpr unsigned char interesting[] = {0x00, 0x01, 0x7F, 0x80, 0xFF};
      mutant.data()[at] =
          static_cast<char>(random() % 2 ? interesting[random() % 5] : random() % 256);
    }
    mutant.sign();
    convoy_model *raw = nullptr;
    convoy_status status = convoy_model_load_memory(mutant.data(), mutant.size(), nullptr, &raw);
    if (status != CONVOY_OK) {
      ++rejected;
      continue;
    }
    ++loaded;
    Model model(raw);
    size_t length = std::strlen(convoy_model_name(raw)) + std::strlen(convoy_model_producer(raw));
    for (size_t i = 0; i < convoy_model_num_inputs(raw); ++i) {
      convoy_value_info info{};
      ASSERT_EQ(convoy_model_input(raw, i, &info), CONVOY_OK);
      length += std::strlen(info.name);
      for (size_t d = 0; d < info.rank; ++d)
        length += static_cast<size_t>(info.dims[d]) + std::strlen(info.dim_names[d]);
    }
    for (size_t i = 0; i < convoy_model_num_launches(raw, 0); ++i) {
      convoy_launch_info info{};
      ASSERT_EQ(convoy_model_launch(raw, 0, i, &info), CONVOY_OK);
      length += std::strlen(info.name) + std::strlen(info.kernel) + std::strlen(info.strategy);
      EXPECT_LE(convoy_model_launch_wave(raw, 0, i), i);
    }
    EXPECT_NE(length, 0u);
    convoy_context *context = nullptr;
    if (convoy_context_create(raw, &options, &context) == CONVOY_OK)
      convoy_context_destroy(context);
  }
  EXPECT_GT(loaded, 1000u);
  EXPECT_GT(rejected, 1000u);
}

/// A mistake in a model, and a part of the writer's message.
struct Mistake {
  const char *message;
  void (*make)(artifact::Artifact &model);
};

TEST(Artifact, WriterRejectsWhatTheRuntimeWould) {
  using artifact::Artifact;
  using artifact::Space;
  const Mistake mistakes[] = {
      {"no variant", [](Artifact &m) { m.variants.clear(); }},
      {"no device", [](Artifact &m) { m.variants[0].target = "avx2"; }},
      {"exists twice", [](Artifact &m) { m.variants[0].outputs[1].name = "y"; }},
      {"wrong type", [](Artifact &m) { m.variants[0].inputs[0].type = {}; }},
      {"extent",
       [](Artifact &m) {
         m.variants[0].inputs[0].dims = {-1, -1, 10};
       }},
      {"extent",
       [](Artifact &m) {
         m.variants[0].inputs[0].dims = {-1, int64_t(1) << 62, 10};
       }},
      {"some dimensions", [](Artifact &m) { m.variants[0].inputs[0].dimNames = {"batch"}; }},
      {"arena", [](Artifact &m) { m.variants[0].arenaBytes += 4; }},
      {"kernel", [](Artifact &m) { m.variants[0].kernels[0].offset = 1 << 20; }},
      {"kernel", [](Artifact &m) { m.variants[0].code.clear(); }},
      {"buffer", [](Artifact &m) { m.variants[0].buffers[1].bytes += 64; }},
      {"no kernel 99", [](Artifact &m) { m.variants[0].launches[0].kernel = 99; }},
      {"tiles", [](Artifact &m) { m.variants[0].launches[0].tiles = ~uint64_t(0); }},
      {"index", [](Artifact &m) { m.variants[0].launches[0].args[0].index = 1; }},
      {"read-only", [](Artifact &m) { m.variants[0].launches[0].args[0].writes = true; }},
      {"out of bounds", [](Artifact &m) { m.variants[0].launches[0].args[1].offset += 4; }},
      {"out of bounds", [](Artifact &m) { m.variants[0].launches[1].args[0].sliceOffset = 961; }},
      {"is the first", [](Artifact &m) { m.variants[0].launches[0].joins = true; }},
      {"not aligned", [](Artifact &m) { m.variants[0].launches[1].args[0].offset = 4; }},
  };
  for (const Mistake &mistake : mistakes) {
    artifact::Artifact model = makeModel();
    mistake.make(model);
    std::vector<char> bytes;
    artifact::Problem problem = artifact::serialize(model, bytes);
    ASSERT_TRUE(problem) << mistake.message;
    EXPECT_THAT(*problem, HasSubstr(mistake.message));
  }
}

TEST(ConstantPool, StoresEqualConstantsOnce) {
  artifact::ConstantPool pool;
  std::vector<char> first(100, 'a'), second(100, 'b');
  EXPECT_EQ(pool.add(first), 0u);
  EXPECT_EQ(pool.add(second), 128u);
  EXPECT_EQ(pool.add(first), 0u);
  EXPECT_EQ(pool.add(std::vector<char>(99, 'a')), 256u);
  EXPECT_EQ(pool.count(), 3u);
  EXPECT_EQ(pool.size(), 355u);
  ASSERT_TRUE(pool.at(128));
  EXPECT_EQ(*pool.at(128), std::string(100, 'b'));
  EXPECT_FALSE(pool.at(64));
  std::vector<uint64_t> offsets;
  pool.forEach([&](uint64_t offset, std::string_view bytes) {
    EXPECT_EQ(bytes, *pool.at(offset));
    offsets.push_back(offset);
  });
  EXPECT_EQ(offsets, (std::vector<uint64_t>{0, 128, 256}));
}

TEST(ConstantPool, KeepsTheOwnerOfBytesThatItStores) {
  artifact::ConstantPool pool;
  auto owner = std::make_shared<const std::string>(100, 'a');
  EXPECT_EQ(pool.add(*owner, owner), 0u);
  EXPECT_EQ(owner.use_count(), 2);
  EXPECT_EQ(pool.at(0)->data(), owner->data()) << "no copy";
  auto equal = std::make_shared<const std::string>(*owner);
  EXPECT_EQ(pool.add(*equal, equal), 0u);
  EXPECT_EQ(equal.use_count(), 1);
}

} // namespace
