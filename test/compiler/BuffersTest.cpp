// Whole models in memory that callers bring: aligned to an element and no more, at the end of what
// is mapped; and that neither the place, nor the batch, nor the number of threads changes a bit.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/compiler/CompiledModel.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <fstream>

using namespace convoy::test;

namespace {

struct Case {
  const char *name;
  /// A file below the repository or beside it, or ONNX text if it begins with '<'.
  const char *model;
};

#define HEAD "<ir_version: 8, opset_import: [\"\" : 17]>\n"

// Ops that read the caller's input and write the caller's output themselves, with extents that
// fill no vector evenly.
const Case kCases[] = {
    {"digits", "models/digits/digits.onnx"},
    {"mnist", "../shared/models/mnist-8/model.onnx"},
    {"resnet8", "../shared/models/mlperf_tiny_resnet8/model.onnx"},
    {"blazeface", "../shared/models/blazeface_front/model.onnx"},
    {"fastestdet", "../shared/models/fastestdet/model.onnx"},
    {"map", HEAD "g (float[N,3,7,5] x) => (float[N,3,7,5] y) { y = Sigmoid(x) }"},
    {"two_maps", HEAD "g (float[N,37] x, float[37] b) => (float[N,37] y, float[N,37] z) {"
                      " y = Add(x, b) z = Tanh(x) }"},
    {"conv", HEAD "g (float[N,3,13,11] x) => (float[N,5,13,11] y) <int64[4] s = {5,3,3,3}> {"
                  " w = ConstantOfShape <value = float[1] {0.37}> (s)"
                  " y = Conv <pads = [1,1,1,1]> (x, w) }"},
    {"wide_conv", HEAD "g (float[N,32,9,7] x) => (float[N,40,9,7] y) <int64[4] s = {40,32,1,1}> {"
                       " w = ConstantOfShape <value = float[1] {0.11}> (s)"
                       " y = Conv (x, w) }"},
    {"depthwise", HEAD "g (float[N,19,9,7] x) => (float[N,19,9,7] y) <int64[4] s = {19,1,3,3}> {"
                       " w = ConstantOfShape <value = float[1] {0.21}> (s)"
                       " y = Conv <group = 19, pads = [1,1,1,1]> (x, w) }"},
    {"conv_transpose", HEAD "g (float[N,6,5,7] x) => (float[N,4,10,14] y)"
                            " <int64[4] s = {6,4,2,2}> {"
                            " w = ConstantOfShape <value = float[1] {0.21}> (s)"
                            " y = ConvTranspose <strides = [2,2]> (x, w) }"},
    {"pool", HEAD "g (float[N,3,13,11] x) => (float[N,3,7,6] y, float[N,3,13,11] z) {"
                  " y = MaxPool <kernel_shape = [3,3], strides = [2,2], pads = [1,1,1,1]> (x)"
                  " z = AveragePool <kernel_shape = [3,3], pads = [1,1,1,1]> (x) }"},
    {"matmul", HEAD "g (float[N,45] x) => (float[N,23] y) <int64[2] s = {45,23}> {"
                    " w = ConstantOfShape <value = float[1] {0.21}> (s)"
                    " y = MatMul (x, w) }"},
    {"batched_matmul", HEAD "g (float[N,3,5,7] a, float[N,3,7,9] b) => (float[N,3,5,9] y) {"
                            " y = MatMul (a, b) }"},
    {"softmax", HEAD "g (float[N,3,19] x) => (float[N,3,19] y, float[N,3,19] z) {"
                     " y = Softmax <axis = 2> (x) z = Softmax <axis = 1> (x) }"},
    {"reduce", HEAD "g (float[N,5,7,3] x) => (float[N,5,1,1] y, float[N,7,3] z) {"
                    " y = ReduceMean <axes = [2,3]> (x)"
                    " z = ReduceMax <axes = [1], keepdims = 0> (x) }"},
    {"lrn", HEAD "g (float[N,7,5,3] x) => (float[N,7,5,3] y) { y = LRN <size = 3> (x) }"},
    {"transpose", HEAD "g (float[N,5,7,3] x) => (float[N,7,3,5] y) {"
                       " y = Transpose <perm = [0,2,3,1]> (x) }"},
    {"slices", HEAD "g (float[N,5,19] x) => (float[N,2,19] y, float[N,3,19] z, float[N,5,19] r)"
                    " <int64[2] s = {2,3}, int64[1] b = {-1}, int64[1] e = {-100},"
                    "  int64[1] a = {2}, int64[1] m = {-1}> {"
                    " y, z = Split <axis = 1> (x, s)"
                    " r = Slice (x, b, e, a, m) }"},
    {"concat", HEAD "g (float[N,5,3] a, float[N,2,3] b) => (float[N,7,3] y) {"
                    " y = Concat <axis = 1> (a, b) }"},
    {"pad", HEAD "g (float[N,3,5] x) => (float[N,4,9] y)"
                 " <int64[6] p = {0,1,1,0,0,3}> { y = Pad <mode = \"edge\"> (x, p) }"},
    {"resize",
     HEAD "g (float[N,3,5,7] x) => (float[N,3,10,14] y)"
          " <float[4] s = {1.0,1.0,2.0,2.0}> { y = Resize <mode = \"linear\"> (x, , s) }"},
    {"gather", HEAD "g (float[N,3,5] x, int64[2] i) => (float[N,2,5] y) {"
                    " y = Gather <axis = 1> (x, i) }"},
    {"bytes", HEAD "g (uint8[N,3,7] x) => (float[N,3,7] y, bool[N,3,7] z) <uint8 one = {1}> {"
                   " y = Cast <to = 1> (x) z = Equal (x, one) }"},
    // Models that declare a batch of 1. The images of a batch are what the model makes of each.
    {"one_shuffle", HEAD "g (float[1,6,5,7] x) => (float[1,3,5,7] y, float[1,3,5,7] z)"
                         " <int64[3] pairs = {3,2,35}, int64[5] apart = {2,-1,3,5,7},"
                         "  int64 zero = {0}, int64 one = {1}> {"
                         " a = Reshape (x, pairs) b = Transpose <perm = [1,0,2]> (a)"
                         " c = Reshape (b, apart) y = Gather <axis = 0> (c, zero)"
                         " z = Gather <axis = 0> (c, one) }"},
    {"one_attention", HEAD "g (float[1,6,5] x) => (float[1,5,6] y)"
                           " <float[6,6] w = {1,0,2,0,0,1, 0,1,0,-1,0,0, 0,0,1,0,2,0, 1,0,0,1,0,0, "
                           "  0,-2,0,0,1,0, 1,1,0,0,0,1}, float[5] b = {1,2,3,4,5}> {"
                           " s = Transpose <perm = [2,0,1]> (x) p = MatMul (s, w)"
                           " q = Transpose <perm = [1,0,2]> (p) k = Transpose <perm = [1,2,0]> (p)"
                           " m = MatMul (q, k) n = Add (m, b) a = Softmax <axis = -1> (n)"
                           " o = MatMul (a, q) t = Transpose <perm = [1,0,2]> (o)"
                           " r = ReduceMax <axes = [0], keepdims = 1> (t) u = Sub (t, r)"
                           " y = Transpose <perm = [1,0,2]> (u) }"},
    {"one_rows", HEAD "g (float[1,6,4] x) => (float[1,5,4] y, float[1,24] f)"
                      " <int64[1] at = {1}, int64[1] from = {-3}, int64[1] to = {100},"
                      "  int64[1] first = {0}, float[1,2,4] c = {1,2,3,4,5,6,7,8}> {"
                      " s = Squeeze (x, first) a = Slice (s, from, to, first)"
                      " u = Unsqueeze (a, first) y = Concat <axis = 1> (u, c)"
                      " f = Flatten <axis = 0> (x) }"},
    {"one_scale", HEAD "g (float[1,3,4] x, float[1,3,1] s) => (float[1,1] m, float[1,2,3,4] y)"
                       " <float[2,1,1] p = {1,-1}, int64[1] first = {0}> {"
                       " v = Mul (x, s) l = Squeeze (v, first) a = ReduceMean <keepdims = 0> (v)"
                       " zero = Constant <value_ints = [1,1]> () m = Reshape (a, zero)"
                       " b = Mul (l, p) y = Unsqueeze (b, first) }"},
    {"same_output", HEAD "g (float[N,33] x) => (float[N,33] y, float[N,33] z) {"
                         " y = Relu (x) z = Identity (y) }"},
};

class Buffers : public ::testing::TestWithParam<std::tuple<Case, const char *>> {
protected:
  void SetUp() override {
    auto [test, target] = GetParam();
    __builtin_cpu_init();
    std::string name = target;
    if ((name == "x86-avx512" &&
         !(__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))) ||
        (name == "x86-avx2" && !__builtin_cpu_supports("avx2")))
      GTEST_SKIP() << "this machine has no " << name.substr(4);
    if (test.model[0] == '<') {
      model = CompiledModel::fromText(test.model, target);
    } else {
      std::string path = std::string(CONVOY_TEST_ROOT) + "/" + test.model;
      if (!std::ifstream(path))
        GTEST_SKIP() << test.model << " is not here";
      model = CompiledModel::fromFile(path, target);
    }
    ASSERT_TRUE(model);
    batches = model->hasFreeBatch() ? std::vector<int64_t>{1, 3} : std::vector<int64_t>{1};
  }

  std::unique_ptr<CompiledModel> model;
  std::vector<int64_t> batches;
};

TEST_P(Buffers, AnyPlaceAndThreadsGiveTheSameBits) {
  for (int64_t batch : batches) {
    std::vector<Bytes> inputs = model->makeInputs(batch);
    Outputs expected = model->run(inputs, batch, /*threads=*/1);
    EXPECT_EQ(model->run(inputs, batch, /*threads=*/2), expected) << "batch " << batch;
    for (Place place : {Place::Begin, Place::Odd, Place::End})
      for (unsigned threads : {1, 2})
        EXPECT_EQ(model->run(inputs, batch, threads, place), expected)
            << "batch " << batch << ", place " << int(place) << ", threads " << threads;
  }
}

TEST_P(Buffers, ABatchIsItsImages) {
  if (batches.size() == 1)
    GTEST_SKIP() << "the batch is not free";
  std::vector<Bytes> inputs = model->makeInputs(3);
  Outputs together = model->run(inputs, 3, /*threads=*/2);
  for (int64_t i = 0; i < 3; ++i)
    EXPECT_EQ(model->run(model->imageOf(inputs, /*outputs=*/false, 3, i), 1, /*threads=*/1),
              model->imageOf(together, /*outputs=*/true, 3, i))
        << "image " << i;
}

INSTANTIATE_TEST_SUITE_P(Models, Buffers,
                         ::testing::Combine(::testing::ValuesIn(kCases),
                                            ::testing::Values("x86-avx512", "x86-avx2",
                                                              "x86-reference")),
                         [](const auto &info) {
                           std::string name = std::get<0>(info.param).name +
                                              ("_" + std::string(std::get<1>(info.param)));
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

} // namespace
