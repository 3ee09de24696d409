// A model compiled and loaded in this process.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/compiler/CompiledModel.h"

#include "compiler/Compiler.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <sys/mman.h>
#include <unistd.h>

using namespace convoy;
using namespace convoy::test;

static constexpr char kMargin = 0x5a;

GuardedMemory::GuardedMemory(size_t bytes, size_t elementBytes, Place place) : bytes(bytes) {
  size_t page = sysconf(_SC_PAGESIZE);
  mapped = (bytes + elementBytes + page - 1) / page * page;
  void *memory = mmap(nullptr, mapped + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    abort();
  pages = static_cast<char *>(memory) + page;
  if (mprotect(pages, mapped, PROT_READ | PROT_WRITE) != 0)
    abort();
  std::memset(pages, kMargin, mapped);
  begin = place == Place::Begin ? pages
          : place == Place::Odd ? pages + elementBytes
                                : pages + (mapped - bytes) / elementBytes * elementBytes;
}

GuardedMemory::~GuardedMemory() {
  size_t page = sysconf(_SC_PAGESIZE);
  munmap(pages - page, mapped + 2 * page);
}

bool GuardedMemory::marginsIntact() const {
  for (const char *p = pages; p != pages + mapped; ++p)
    if ((p < begin || p >= begin + bytes) && *p != kMargin)
      return false;
  return true;
}

std::unique_ptr<CompiledModel> CompiledModel::fromFile(const std::string &path,
                                                       const std::string &target,
                                                       const Adjust &adjust) {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry);
  CompileOptions options;
  options.targets = {target};
  if (adjust)
    adjust(options);
  mlir::FailureOr<CompileResult> result = compileModel(path, options, false, &context);
  std::unique_ptr<CompiledModel> compiled(new CompiledModel);
  if (mlir::failed(result)) {
    ADD_FAILURE() << "cannot compile " << path << " for " << target;
    return nullptr;
  }
  compiled->artifact = std::move(result->artifact);
  convoy_status status = convoy_model_load_memory(
      compiled->artifact.data(), compiled->artifact.size(), nullptr, &compiled->model);
  if (status != CONVOY_OK) {
    ADD_FAILURE() << convoy_last_error();
    return nullptr;
  }
  return compiled;
}

std::unique_ptr<CompiledModel> CompiledModel::fromText(const std::string &text,
                                                       const std::string &target,
                                                       const Adjust &adjust) {
  std::string path = ::testing::TempDir() + "/model" + std::to_string(getpid()) + ".onnxtxt";
  std::ofstream(path) << text;
  std::unique_ptr<CompiledModel> compiled = fromFile(path, target, adjust);
  unlink(path.c_str());
  return compiled;
}

std::vector<convoy_value_info> CompiledModel::values(bool outputs) const {
  std::vector<convoy_value_info> infos(outputs ? convoy_model_num_outputs(model)
                                               : convoy_model_num_inputs(model));
  for (size_t i = 0; i < infos.size(); ++i)
    EXPECT_EQ((outputs ? convoy_model_output : convoy_model_input)(model, i, &infos[i]), CONVOY_OK);
  return infos;
}

static bool isBatched(const convoy_value_info &info) { return info.rank > 0 && info.dims[0] < 0; }

bool CompiledModel::hasFreeBatch() const {
  std::vector<convoy_value_info> inputs = values(false), outputs = values(true);
  return std::any_of(inputs.begin(), inputs.end(), isBatched) &&
         std::all_of(outputs.begin(), outputs.end(), isBatched);
}

std::vector<Bytes> CompiledModel::makeInputs(int64_t batch) const {
  std::mt19937 random(17);
  std::vector<Bytes> inputs;
  for (const convoy_value_info &info : values(/*outputs=*/false)) {
    Bytes bytes(info.bytes * (isBatched(info) ? batch : 1));
    if (info.type == CONVOY_TYPE_F32) {
      std::uniform_real_distribution<float> distribution(-1, 1);
      for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
        float value = distribution(random);
        std::memcpy(&bytes[i], &value, 4);
      }
    } else {
      // 0 to 2 in the first byte of each element: indices, bytes and bools that mean something.
      size_t size = convoy_type_size(info.type);
      for (size_t i = 0; i < bytes.size(); i += size)
        bytes[i] = random() % (info.type == CONVOY_TYPE_BOOL ? 2 : 3);
    }
    inputs.push_back(std::move(bytes));
  }
  return inputs;
}

namespace {
struct Context {
  Context(const convoy_model *model, unsigned threads) {
    convoy_context_options options = {};
    options.threads = threads;
    EXPECT_EQ(convoy_context_create(model, &options, &context), CONVOY_OK) << convoy_last_error();
  }
  ~Context() { convoy_context_destroy(context); }
  convoy_context *context = nullptr;
};
} // namespace

static std::vector<int64_t> dimsOf(const convoy_value_info &info, int64_t batch) {
  std::vector<int64_t> dims(info.dims, info.dims + info.rank);
  if (isBatched(info))
    dims[0] = batch;
  return dims;
}

Outputs CompiledModel::run(const std::vector<Bytes> &inputs, int64_t batch, unsigned threads,
                           Place place) const {
  Context context(model, threads);
  // The batch of a model whose inputs do not have it.
  EXPECT_EQ(convoy_context_set_batch(context.context, batch), CONVOY_OK) << convoy_last_error();
  std::vector<std::unique_ptr<GuardedMemory>> inputMemory, outputMemory;
  std::vector<convoy_value_info> inputInfos = values(false), outputInfos = values(true);
  for (size_t i = 0; i < inputInfos.size(); ++i) {
    size_t size = inputs[i].size(), element = convoy_type_size(inputInfos[i].type);
    inputMemory.push_back(std::make_unique<GuardedMemory>(size, element, place));
    std::memcpy(inputMemory[i]->data(), inputs[i].data(), size);
    std::vector<int64_t> dims = dimsOf(inputInfos[i], batch);
    convoy_tensor tensor = {inputMemory[i]->data(), size, inputInfos[i].type, dims.size(),
                            dims.data()};
    EXPECT_EQ(convoy_context_set_input(context.context, i, &tensor), CONVOY_OK)
        << convoy_last_error();
  }
  for (size_t i = 0; i < outputInfos.size(); ++i) {
    size_t size = outputInfos[i].bytes * (isBatched(outputInfos[i]) ? batch : 1);
    size_t element = convoy_type_size(outputInfos[i].type);
    outputMemory.push_back(std::make_unique<GuardedMemory>(size, element, place));
    std::vector<int64_t> dims = dimsOf(outputInfos[i], batch);
    convoy_tensor tensor = {outputMemory[i]->data(), size, outputInfos[i].type, dims.size(),
                            dims.data()};
    EXPECT_EQ(convoy_context_set_output(context.context, i, &tensor), CONVOY_OK)
        << convoy_last_error();
  }
  EXPECT_EQ(convoy_context_run(context.context), CONVOY_OK) << convoy_last_error();
  Outputs outputs;
  for (size_t i = 0; i < outputInfos.size(); ++i) {
    size_t size = outputInfos[i].bytes * (isBatched(outputInfos[i]) ? batch : 1);
    outputs.emplace_back(outputMemory[i]->data(), outputMemory[i]->data() + size);
    EXPECT_TRUE(outputMemory[i]->marginsIntact()) << "output " << i;
  }
  for (size_t i = 0; i < inputInfos.size(); ++i) {
    EXPECT_TRUE(inputMemory[i]->marginsIntact()) << "input " << i;
    EXPECT_EQ(std::memcmp(inputMemory[i]->data(), inputs[i].data(), inputs[i].size()), 0)
        << "input " << i << " was written";
  }
  return outputs;
}

Outputs CompiledModel::run(const std::vector<Bytes> &inputs, int64_t batch,
                           unsigned threads) const {
  Context context(model, threads);
  EXPECT_EQ(convoy_context_set_batch(context.context, batch), CONVOY_OK) << convoy_last_error();
  for (size_t i = 0; i < inputs.size(); ++i) {
    convoy_tensor tensor;
    EXPECT_EQ(convoy_context_input(context.context, i, &tensor), CONVOY_OK);
    EXPECT_EQ(tensor.bytes, inputs[i].size());
    std::memcpy(tensor.data, inputs[i].data(), inputs[i].size());
  }
  EXPECT_EQ(convoy_context_run(context.context), CONVOY_OK) << convoy_last_error();
  Outputs outputs;
  for (size_t i = 0; i < convoy_model_num_outputs(model); ++i) {
    convoy_tensor tensor;
    EXPECT_EQ(convoy_context_output(context.context, i, &tensor), CONVOY_OK);
    auto *data = static_cast<const char *>(tensor.data);
    outputs.emplace_back(data, data + tensor.bytes);
  }
  return outputs;
}

std::vector<Bytes> CompiledModel::imageOf(const std::vector<Bytes> &all, bool outputs,
                                          int64_t batch, int64_t index) const {
  std::vector<Bytes> images;
  std::vector<convoy_value_info> infos = values(outputs);
  for (size_t i = 0; i < all.size(); ++i) {
    if (!isBatched(infos[i])) {
      images.push_back(all[i]);
      continue;
    }
    size_t size = all[i].size() / batch;
    images.emplace_back(all[i].begin() + index * size, all[i].begin() + (index + 1) * size);
  }
  return images;
}
