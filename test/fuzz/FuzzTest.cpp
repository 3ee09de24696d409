// The importer's fuzzer itself: that it finds what it is there for, and is the same each time.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/fuzz/Minimize.h"
#include "test/fuzz/Mutate.h"
#include "test/fuzz/OperatorModels.h"
#include "test/fuzz/Subject.h"
#include "test/fuzz/Workers.h"

#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"

#include <atomic>
#include <csignal>
#include <map>
#include <set>

#include <sys/mman.h>
#include <unistd.h>

using namespace convoy::fuzz;
using ::onnx::ModelProto;

namespace {

class FuzzTest : public testing::Test {
protected:
  FuzzTest() { llvm::sys::fs::createUniqueDirectory("convoy-fuzz-test", folder); }
  ~FuzzTest() override { llvm::sys::fs::remove_directories(folder); }
  llvm::SmallString<128> folder;
};

std::vector<Seed> operatorSeeds() {
  std::vector<Seed> corpus;
  std::vector<std::string> without;
  for (ModelProto &model : operatorModels(without))
    corpus.push_back({model.graph().name(), std::move(model)});
  EXPECT_TRUE(without.empty()) << without.front();
  return corpus;
}

TEST_F(FuzzTest, EachFailureIsOneAndTheRestGoesOn) {
  auto *done = static_cast<std::atomic<int> *>(mmap(nullptr, sizeof(std::atomic<int>),
                                                    PROT_READ | PROT_WRITE,
                                                    MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(done, MAP_FAILED);
  std::map<int64_t, std::string> failures;
  Limits limits;
  limits.cpuSeconds = 0.5;
  auto step = [&](int64_t i) -> std::string {
    if (i == 12)
      raise(SIGSEGV);
    if (i == 13)
      for (volatile unsigned spin = 0;; spin = spin + 1) {
      }
    if (i == 14)
      _exit(7);
    if (i == 20)
      return "is not as it should be";
    ++*done;
    return "";
  };
  for (unsigned jobs : {1u, 3u}) {
    *done = 0;
    failures.clear();
    runSteps(10, 20, jobs, folder.str().str(), limits, step,
             [&](const Failure &failure) { failures[failure.step] = failure.kind; });
    EXPECT_EQ(*done, 16);
    std::map<int64_t, std::string> expected = {{12, strsignal(SIGSEGV)},
                                               {13, kTakesTooLong},
                                               {14, "exits with status 7"},
                                               {20, "is not as it should be"}};
    // A sanitizer tells more of a signal.
    if (failures.count(12) && failures[12].find("AddressSanitizer") != std::string::npos)
      expected[12] = failures[12];
    EXPECT_EQ(failures, expected);
  }
  munmap(done, sizeof(*done));
}

TEST_F(FuzzTest, WaitingHasAnEnd) {
  Limits limits;
  limits.seconds = 0.5;
  std::map<int64_t, std::string> failures;
  runSteps(3, 1, 1, folder.str().str(), limits,
           [](int64_t) {
             pause();
             return std::string();
           },
           [&](const Failure &failure) { failures[failure.step] = failure.kind; });
  EXPECT_EQ(failures, (std::map<int64_t, std::string>{{3, "waits for something"}}));
}

TEST_F(FuzzTest, MinimizesToWhatFails) {
  std::vector<Seed> corpus = operatorSeeds();
  ModelProto model;
  for (const Seed &seed : corpus) {
    auto *graph = model.mutable_graph();
    graph->MergeFrom(seed.model.graph());
  }
  auto fails = [](const std::string &bytes) {
    ModelProto candidate;
    if (!candidate.ParseFromString(bytes))
      return false;
    for (const auto &node : candidate.graph().node())
      for (const auto &attribute : node.attribute())
        if (node.op_type() == "Conv" && attribute.name() == "dilations" &&
            attribute.ints_size() > 0 && attribute.ints(0) == 2)
          return true;
    return false;
  };
  std::string smallest = minimize(model.SerializeAsString(), 20000, fails);
  ASSERT_TRUE(fails(smallest));
  ASSERT_TRUE(model.ParseFromString(smallest));
  ASSERT_EQ(model.graph().node_size(), 1);
  EXPECT_EQ(model.graph().node(0).attribute_size(), 1);
  EXPECT_EQ(model.graph().node(0).attribute(0).ints_size(), 1);
  EXPECT_EQ(model.graph().input_size() + model.graph().output_size(), 0);
  EXPECT_EQ(model.graph().node(0).input_size() + model.graph().node(0).output_size(), 0);
}

TEST_F(FuzzTest, SameSeedSameFiles) {
  std::vector<Seed> corpus = operatorSeeds();
  std::set<std::string> different;
  for (uint64_t i = 0; i < 300; ++i) {
    Random once(5, i), again(5, i);
    std::string bytes = mutate(corpus, once);
    EXPECT_EQ(bytes, mutate(corpus, again)) << i;
    different.insert(bytes);
  }
  // Two may be the same by chance.
  EXPECT_GT(different.size(), 290u);
}

// What is unchanged comes through all stages; so most of what is refused is so by the change.
TEST_F(FuzzTest, OperatorModelsComeThrough) {
  Subject subject(folder.str().str(), false);
  for (const Seed &seed : operatorSeeds()) {
    std::string fault;
    EXPECT_EQ(subject.run(seed.model.SerializeAsString(), "model.onnx", fault), Reached::Simplified)
        << seed.name << ": " << fault;
    EXPECT_EQ(fault, "") << seed.name;
  }
}

} // namespace
