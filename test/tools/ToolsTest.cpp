// Tests of convoy-run and convoy-inspect as programs, on the runtime tests' model.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/runtime/TestModel.h"
#include "tools/support/Tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <sys/wait.h>

using namespace convoy;
using testing::HasSubstr;

namespace {

struct Done {
  int status;
  std::string output; // With what went to stderr.
};

class Tools : public testing::Test {
protected:
  Tools() {
    std::string name = std::filesystem::temp_directory_path() / "convoy-tools-XXXXXX";
    folder = mkdtemp(name.data());
    test::Bytes bytes(test::makeModel());
    model = write("model.cvy", bytes.data(), bytes.size());
  }
  ~Tools() override { std::filesystem::remove_all(folder); }

  std::string path(const std::string &name) const { return folder + "/" + name; }

  std::string write(const std::string &name, const void *data, size_t size) const {
    tools::writeFile(path(name), data, size);
    return path(name);
  }

  /// Runs a command line by the shell; in it, FOLDER/ stands for the test's folder.
  Done run(const char *program, std::string arguments) const {
    for (size_t at; (at = arguments.find("FOLDER/")) != std::string::npos;)
      arguments.replace(at, 7, folder + "/");
    std::string command = std::string(program) + " " + arguments + " 2>&1";
    FILE *pipe = popen(command.c_str(), "r");
    Done done;
    char buffer[4096];
    for (size_t size; (size = fread(buffer, 1, sizeof buffer, pipe)) > 0;)
      done.output.append(buffer, size);
    int status = pclose(pipe);
    // A crash gives 128 and the signal, which no expectation below takes for an exit status.
    done.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return done;
  }

  /// It must fail with exactly one line, and this status.
  void expectError(const Done &done, int status, const std::string &text) const {
    EXPECT_EQ(done.status, status) << done.output;
    EXPECT_THAT(done.output, HasSubstr("error: "));
    EXPECT_THAT(done.output, HasSubstr(text));
    EXPECT_EQ(std::count(done.output.begin(), done.output.end(), '\n'), 1) << done.output;
  }

  std::string folder, model;
};

tools::Tensor tensor(std::vector<int64_t> dims, const std::vector<float> &values) {
  tools::Tensor result;
  result.resize(std::move(dims));
  EXPECT_EQ(result.bytes.size(), values.size() * sizeof(float));
  memcpy(result.bytes.data(), values.data(), result.bytes.size());
  return result;
}

/// A serialized onnx.TensorProto of floats.
std::string proto(const std::vector<int64_t> &dims, const std::vector<float> &values) {
  auto varint = [](uint64_t value) {
    std::string bytes;
    for (; value > 127; value >>= 7)
      bytes += char(value | 128);
    return bytes + char(value);
  };
  std::string bytes;
  for (int64_t dim : dims)
    bytes += '\x08' + varint(uint64_t(dim));
  bytes += "\x10\x01\x4a" + varint(values.size() * sizeof(float));
  return bytes.append(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(float));
}

TEST_F(Tools, RunGivesTheRuntimesResults) {
  for (int64_t batch : {1, 3}) {
    std::vector<float> x = test::makeInput(batch);
    test::Outputs expected = test::expected(x);
    tools::writeNpy(path("x.npy"), tensor({batch, test::rows, test::columns}, x));
    write("x.bin", x.data(), x.size() * sizeof(float));
    for (const char *input : {"FOLDER/x.npy", "x=FOLDER/x.npy", "FOLDER/x.bin"})
      for (const char *threads : {"1", "2", "5"}) {
        Done done = run(CONVOY_RUN, "FOLDER/model.cvy --input " + std::string(input) +
                                        " --threads " + threads +
                                        " --output FOLDER/out --output z=FOLDER/z.bin");
        ASSERT_EQ(done.status, 0) << done.output;
        tools::Tensor y = tools::readNpy(path("out/y.npy")), z = tools::readNpy(path("out/z.npy"));
        EXPECT_EQ(y.dims, (std::vector<int64_t>{batch, test::columns}));
        EXPECT_EQ(y.bytes, tensor(y.dims, expected.y).bytes);
        EXPECT_EQ(z.bytes, tensor(z.dims, expected.z).bytes);
        EXPECT_EQ(tools::readFile(path("z.bin")), z.bytes);
      }
  }
}

TEST_F(Tools, RunComparesWithTestData) {
  std::vector<float> x = test::makeInput(2);
  test::Outputs expected = test::expected(x);
  for (const char *set : {"data/test_data_set_0/", "data/test_data_set_1/"}) {
    std::filesystem::create_directories(path(set));
    std::string in = proto({2, test::rows, test::columns}, x);
    std::string y = proto({2, test::columns}, expected.y);
    std::string z = proto({2, test::rows, test::columns}, expected.z);
    write(std::string(set) + "input_0.pb", in.data(), in.size());
    write(std::string(set) + "output_0.pb", y.data(), y.size());
    write(std::string(set) + "output_1.pb", z.data(), z.size());
  }
  Done done = run(CONVOY_RUN, "FOLDER/model.cvy --test-data FOLDER/data --tolerance 0");
  EXPECT_EQ(done.status, 0);
  EXPECT_THAT(done.output, HasSubstr("4 passed, 0 failed"));

  // A single element that is off by more than the tolerance.
  expected.y[3] *= 1.001f;
  std::string y = proto({2, test::columns}, expected.y);
  write("data/test_data_set_1/output_0.pb", y.data(), y.size());
  done = run(CONVOY_RUN, "FOLDER/model.cvy --test-data FOLDER/data --tolerance 1e-7");
  EXPECT_EQ(done.status, 1);
  EXPECT_THAT(done.output, HasSubstr("FAILED"));
  EXPECT_THAT(done.output, HasSubstr("element 3 is "));
  EXPECT_THAT(done.output, HasSubstr("3 passed, 1 failed"));
  done = run(CONVOY_RUN, "FOLDER/model.cvy --test-data FOLDER/data --tolerance 1e-2");
  EXPECT_EQ(done.status, 0) << done.output;

  std::filesystem::remove(path("data/test_data_set_0/output_1.pb"));
  done = run(CONVOY_RUN, "FOLDER/model.cvy --test-data FOLDER/data/test_data_set_0");
  EXPECT_EQ(done.status, 1);
  EXPECT_THAT(done.output, HasSubstr("output_1.pb: No such file or directory"));
}

TEST_F(Tools, RunMeasures) {
  Done done = run(CONVOY_RUN, "FOLDER/model.cvy --benchmark --profile --sort time --runs 3 --warmup 1 "
                              "--threads 1 --json FOLDER/x.json --trace FOLDER/x.trace");
  EXPECT_EQ(done.status, 0) << done.output;
  EXPECT_THAT(done.output, HasSubstr("3 runs after 1 to warm up, batch 1, 1 thread, x86-baseline"));
  EXPECT_THAT(done.output, HasSubstr("median"));
  for (const char *launch : {"scale", "mix", "sum", "left", "right"})
    EXPECT_THAT(done.output, HasSubstr(std::string(" ") + launch + "\n"));
  EXPECT_TRUE(std::filesystem::exists(path("x.json")));
  EXPECT_TRUE(std::filesystem::exists(path("x.trace")));
  // Alone on standard output, JSON begins at once.
  done = run(CONVOY_RUN, "FOLDER/model.cvy --profile --runs 1 --json -");
  EXPECT_EQ(done.output.substr(0, 2), "{\n");
}

TEST_F(Tools, RunTellsWhatIsWrong) {
  auto wrong = [&](const std::string &arguments, int status, const std::string &text) {
    expectError(run(CONVOY_RUN, arguments), status, text);
  };
  wrong("", 2, "no model given");
  wrong("FOLDER/model.cvy --no-such", 2, "--no-such");
  wrong("FOLDER/absent.cvy", 1, "absent.cvy: No such file");
  wrong("FOLDER/model.cvy --device gpu", 2, "gpu");
  wrong("FOLDER/model.cvy --target x86-none", 1, "x86-none");
  wrong("FOLDER/model.cvy --input y=FOLDER/x.npy", 1, "no input 'y'; it has 'x'");
  wrong("FOLDER/model.cvy --input FOLDER/x.npy", 1, "x.npy: No such file");
  wrong("FOLDER/model.cvy --output q=FOLDER/x.npy", 1, "no output 'q'");
  wrong("FOLDER/model.cvy --output y=FOLDER/x.txt", 1, "must end in");
  wrong("FOLDER/model.cvy --test-data FOLDER/ --batch 2", 2, "--batch");

  std::vector<float> x = test::makeInput(1);
  tools::writeNpy(path("flat.npy"), tensor({1, test::imageSize}, x));
  wrong("FOLDER/model.cvy --input FOLDER/flat.npy", 1, "flat.npy: ");
  tools::writeNpy(path("turned.npy"), tensor({1, test::columns, test::rows}, x));
  wrong("FOLDER/model.cvy --input FOLDER/turned.npy", 1, "turned.npy: ");
  tools::Tensor ints;
  ints.type = CONVOY_TYPE_I32;
  ints.resize({1, test::rows, test::columns});
  tools::writeNpy(path("ints.npy"), ints);
  wrong("FOLDER/model.cvy --input FOLDER/ints.npy", 1, "i32");
  write("short.bin", x.data(), 100);
  wrong("FOLDER/model.cvy --input FOLDER/short.bin", 1, "100 bytes, input 'x' is f32 [batch, 24, 10]");
}

TEST_F(Tools, DamagedArtifactsAreRefused) {
  std::vector<uint8_t> bytes = tools::readFile(model);
  for (size_t size : {size_t(0), size_t(63), size_t(64), bytes.size() / 2, bytes.size() - 1}) {
    write("bad.cvy", bytes.data(), size);
    expectError(run(CONVOY_RUN, "FOLDER/bad.cvy"), 1, "bad.cvy: ");
    expectError(run(CONVOY_INSPECT, "FOLDER/bad.cvy"), 1, "bad.cvy: ");
  }
  for (size_t at = 0; at < bytes.size(); at += bytes.size() / 16) {
    bytes[at] ^= 1;
    write("bad.cvy", bytes.data(), bytes.size());
    bytes[at] ^= 1;
    expectError(run(CONVOY_RUN, "FOLDER/bad.cvy"), 1, "bad.cvy: ");
    expectError(run(CONVOY_INSPECT, "FOLDER/bad.cvy"), 1, "bad.cvy: ");
  }
}

TEST_F(Tools, InspectShowsAll) {
  Done done = run(CONVOY_INSPECT, "FOLDER/model.cvy --kernels");
  EXPECT_EQ(done.status, 0) << done.output;
  for (const char *text : {"scale and mix", "runtime tests", "Variant 0: x86-baseline",
                           "(chosen for this machine)", "sse2", "f32 [batch, 24, 10], 960 B an image",
                           "0.0 % over the lower bound of 1920 B", "test_mix", "0..4", "1..2",
                           "fullest at launch 1 (mix): 1920 B of 1920 B in use"})
    EXPECT_THAT(done.output, HasSubstr(text));
  done = run(CONVOY_INSPECT, "FOLDER/model.cvy --json");
  EXPECT_THAT(done.output, HasSubstr("\"live_bytes\": 1920"));
}

TEST_F(Tools, InspectShowsWhatThisMachineCannotRun) {
  artifact::Artifact other = test::makeModel();
  other.variants[0].cpuFeatures = {"no-such-feature"};
  test::Bytes bytes(other);
  write("other.cvy", bytes.data(), bytes.size());
  Done done = run(CONVOY_INSPECT, "FOLDER/other.cvy");
  EXPECT_EQ(done.status, 0) << done.output;
  EXPECT_THAT(done.output, HasSubstr("This machine cannot run it"));
  EXPECT_THAT(done.output, HasSubstr("no-such-feature"));
  EXPECT_THAT(done.output, testing::Not(HasSubstr("(chosen for this machine)")));
  expectError(run(CONVOY_RUN, "FOLDER/other.cvy"), 1, "no-such-feature");
}

TEST_F(Tools, HelpNamesEveryOption) {
  Done done = run(CONVOY_RUN, "--help");
  EXPECT_EQ(done.status, 0);
  for (const char *option : {"--input", "--fill", "--seed", "--batch", "--resize", "--mean", "--std",
                             "--output", "--labels", "--top", "--test-data", "--tolerance", "--absolute-tolerance",
                             "--device", "--target", "--threads", "--benchmark", "--profile",
                             "--sort", "--trace", "--json", "--warmup", "--runs", "--seconds"})
    EXPECT_THAT(done.output, HasSubstr(option));
  EXPECT_EQ(run(CONVOY_INSPECT, "--help").status, 0);
  EXPECT_THAT(run(CONVOY_RUN, "--version").output, HasSubstr("Convoy 0.1"));
}

} // namespace
