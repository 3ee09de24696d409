// Builds the tests' model with the artifact writer.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/runtime/TestModel.h"

#include <gtest/gtest.h>

#include <cstring>
#include <elf.h>
#include <fstream>
#include <iterator>
#include <random>

using namespace convoy;
using namespace convoy::test;

std::vector<char> convoy::test::readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

static CodeImage readCode(const std::string &path) {
  std::vector<char> file = readFile(path);
  CodeImage image;
  const auto *header = reinterpret_cast<const Elf64_Ehdr *>(file.data());
  const auto *segments = reinterpret_cast<const Elf64_Phdr *>(file.data() + header->e_phoff);
  for (int i = 0; i < header->e_phnum; ++i) {
    if (segments[i].p_type != PT_LOAD)
      continue;
    size_t end = segments[i].p_vaddr + segments[i].p_memsz;
    if (image.bytes.size() < end)
      image.bytes.resize(end);
    std::memcpy(image.bytes.data() + segments[i].p_vaddr, file.data() + segments[i].p_offset,
                segments[i].p_filesz);
  }
  const auto *sections = reinterpret_cast<const Elf64_Shdr *>(file.data() + header->e_shoff);
  for (int i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_DYNSYM)
      continue;
    const auto *symbols = reinterpret_cast<const Elf64_Sym *>(file.data() + sections[i].sh_offset);
    const char *names = file.data() + sections[sections[i].sh_link].sh_offset;
    for (size_t s = 0; s < sections[i].sh_size / sizeof *symbols; ++s)
      if (ELF64_ST_TYPE(symbols[s].st_info) == STT_FUNC)
        image.kernels.push_back(
            {names + symbols[s].st_name, "test", symbols[s].st_value, symbols[s].st_size});
  }
  return image;
}

const CodeImage &convoy::test::testCode() {
  static const CodeImage image = readCode(CONVOY_TEST_KERNELS);
  return image;
}

uint32_t CodeImage::kernel(const std::string &name) const {
  for (size_t i = 0; i < kernels.size(); ++i)
    if (kernels[i].name == name)
      return static_cast<uint32_t>(i);
  ADD_FAILURE() << "no kernel " << name;
  return 0;
}

static std::vector<float> makeWeights(float scale) {
  std::vector<float> weights;
  for (int64_t r = 0; r < rows; ++r)
    weights.push_back(scale * (0.5f + 0.125f * static_cast<float>(r)));
  for (int64_t c = 0; c < columns; ++c)
    weights.push_back(static_cast<float>(c) - 4);
  return weights;
}

artifact::Artifact convoy::test::makeModel(float scale) {
  using namespace convoy::artifact;
  constexpr uint64_t imageBytes = imageSize * sizeof(float); // a multiple of 64: 960
  constexpr uint64_t halfBytes = columns / 2 * sizeof(float);
  static_assert(imageBytes % 64 == 0, "buffers of the arena lie next to each other");
  const CodeImage &code = testCode();

  Artifact model;
  model.producer = "runtime tests";
  model.modelName = "scale and mix";
  std::vector<float> weights = makeWeights(scale);
  model.constants.add("so that weights do not start at 0", 33);
  uint64_t weightsAt = model.constants.add(weights.data(), weights.size() * sizeof(float));

  Variant variant;
  variant.target = "x86-baseline";
  variant.cpuFeatures = {"sse2"};
  variant.code = code.bytes;
  variant.kernels = code.kernels;
  variant.inputs = {{"x", ElementType::f32, {-1, rows, columns}, {"batch", "", ""}}};
  variant.outputs = {{"y", ElementType::f32, {-1, columns}, {}},
                     {"z", ElementType::f32, {-1, rows, columns}, {}}};
  variant.arenaBytes = 2 * imageBytes;
  variant.arenaLowerBoundBytes = 2 * imageBytes;
  variant.scratchBytes = columns * sizeof(float);
  variant.buffers = {{"a", 0, imageBytes, 0, 4}, {"b", imageBytes, imageBytes, 1, 2}};

  Arg x{Space::input, 0, 0, 0, imageBytes, false};
  Arg w{Space::constant, 0, weightsAt, 0, weights.size() * sizeof(float), false};
  Arg a{Space::arena, 0, 0, 0, imageBytes, false};
  Arg b{Space::arena, 0, imageBytes, 0, imageBytes, false};
  Arg y{Space::output, 0, 0, 0, columns * sizeof(float), true};
  auto written = [](Arg arg) {
    arg.writes = true;
    return arg;
  };
  auto half = [](Arg arg, uint64_t slice) {
    arg.sliceOffset = slice;
    arg.bytes = imageBytes - halfBytes;
    return arg;
  };
  Arg z{Space::output, 1, 0, 0, imageBytes, true};
  variant.launches = {
      {"scale", "map", code.kernel("test_scale"), rows, true, {x, w, written(a)}, 480, 1920},
      {"mix", "gemm", code.kernel("test_mix"), rows, true, {a, written(b)}, 11520, 1920},
      {"sum", "reduce", code.kernel("test_sum"), 1, false, {b, y}, 240, 1000},
      {"left", "slice", code.kernel("test_half"), rows, true, {half(a, 0), half(z, 0)}, 0, 960},
      {"right",
       "slice",
       code.kernel("test_half"),
       rows,
       true,
       {half(a, halfBytes), half(z, halfBytes)},
       0,
       960}};
  model.variants.push_back(std::move(variant));
  return model;
}

Bytes::Bytes(const artifact::Artifact &artifact) {
  std::vector<char> bytes;
  artifact::Problem problem = artifact::serialize(artifact, bytes);
  EXPECT_FALSE(problem) << *problem;
  length = bytes.size();
  lines.resize((length + 63) / 64);
  memcpyTo(0, bytes.data(), length);
}

void Bytes::memcpyTo(size_t offset, const void *from, size_t bytes) {
  if (bytes)
    std::memcpy(data() + offset, from, bytes);
}

void Bytes::memcpyFrom(size_t offset, void *to, size_t bytes) const {
  std::memcpy(to, data() + offset, bytes);
}

void Bytes::sign() {
  store<uint64_t>(40, 0);
  store<uint64_t>(40, artifact::checksum(data(), size()));
}

std::vector<float> convoy::test::makeInput(int64_t batch, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-2, 2);
  std::vector<float> x(static_cast<size_t>(batch * imageSize));
  for (float &value : x)
    value = uniform(random);
  return x;
}

Outputs convoy::test::expected(const std::vector<float> &x, float scale) {
  std::vector<float> w = makeWeights(scale);
  Outputs outputs;
  for (size_t n = 0; n < x.size(); n += imageSize) {
    float a[rows][columns], b[rows][columns];
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c) {
        a[r][c] = x[n + r * columns + c] * w[r] + w[rows + c];
        outputs.z.push_back(a[r][c]);
      }
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c) {
        b[r][c] = 0;
        for (int64_t q = 0; q < rows; ++q)
          b[r][c] += a[q][c] / static_cast<float>(1 + r + q);
      }
    for (int64_t c = 0; c < columns; ++c) {
      float sum = 0;
      for (int64_t r = 0; r < rows; ++r)
        sum += b[r][c];
      outputs.y.push_back(sum);
    }
  }
  return outputs;
}

Model convoy::test::load(const Bytes &bytes) {
  convoy_model *model = nullptr;
  EXPECT_EQ(convoy_model_load_memory(bytes.data(), bytes.size(), nullptr, &model), CONVOY_OK)
      << convoy_last_error();
  return Model(model);
}

Context convoy::test::makeContext(const Model &model, const convoy_context_options &options) {
  convoy_context *context = nullptr;
  EXPECT_EQ(convoy_context_create(model.get(), &options, &context), CONVOY_OK)
      << convoy_last_error();
  return Context(context);
}

Outputs convoy::test::runOn(const Context &context, std::vector<float> &x) {
  InputTensor input(x);
  EXPECT_EQ(convoy_context_set_input(context.get(), 0, &input), CONVOY_OK) << convoy_last_error();
  EXPECT_EQ(convoy_context_run(context.get()), CONVOY_OK) << convoy_last_error();
  auto read = [&](size_t index) {
    convoy_tensor tensor{};
    EXPECT_EQ(convoy_context_output(context.get(), index, &tensor), CONVOY_OK);
    EXPECT_EQ(tensor.dims[0], input.dims[0]);
    const float *data = static_cast<const float *>(tensor.data);
    return std::vector<float>(data, data + tensor.bytes / sizeof(float));
  };
  return {read(0), read(1)};
}
