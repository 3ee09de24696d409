// --tune: what ops are known by, how results are kept, and what follows from them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/tune/Machine.h"
#include "compiler/tune/Measure.h"
#include "compiler/tune/OpCase.h"
#include "compiler/tune/Results.h"
#include "compiler/tune/Shipped.h"
#include "compiler/tune/ShippedFiles.h"
#include "compiler/tune/Signature.h"
#include "compiler/tune/TunedTable.h"
#include "passes/Graph.h"
#include "targets/Target.h"
#include "targets/x86/X86Target.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <filesystem>
#include <fstream>
#include <thread>
#include <unistd.h>

using namespace mlir;
using namespace convoy;
using namespace convoy::tune;
using testing::HasSubstr;

namespace {

// A function with one convolution of a constant; words in capitals are replaced.
constexpr const char *kConv = R"(
func.func @g(%x: tensor<BATCHx32x8x8xf32LAYOUT>, %b: tensor<1x32x1x1xf32LAYOUT>) -> tensor<BATCHx32x8x8xf32LAYOUT> {
  %w = cnn.constant dense<WEIGHT> : tensor<32x32x3x3xf32> -> tensor<32x32x3x3xf32>
  %y = cnn.conv %x, %w extras(%b) {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<BATCHx32x8x8xf32LAYOUT>, tensor<32x32x3x3xf32>, tensor<1x32x1x1xf32LAYOUT>) -> tensor<BATCHx32x8x8xf32LAYOUT> {
  ^bb0(%acc: f32, %bias: f32):
    EPILOGUE
    cnn.yield %1 : f32
  } loc("NODE")
  return %y : tensor<BATCHx32x8x8xf32LAYOUT>
}
)";

struct Words {
  std::string batch = "?", layout = R"(, #cnn.layout<"nchw16c">)", weight = "1.0", node = "conv";
  std::string epilogue = R"(%zero = arith.constant 0.0 : f32
    %0 = arith.addf %acc, %bias : f32
    %1 = arith.maximumf %0, %zero : f32)";
};

class Signature : public testing::Test {
protected:
  Signature() {
    context.loadDialect<cnn::CnnDialect, plan::PlanDialect, func::FuncDialect, arith::ArithDialect,
                        math::MathDialect>();
  }

  // The convolution; its module lives as long as the test.
  Operation *conv(const Words &words) {
    std::string text = kConv;
    for (auto [from, to] : {std::pair("BATCH", words.batch), {"LAYOUT", words.layout},
                            {"WEIGHT", words.weight}, {"NODE", words.node},
                            {"EPILOGUE", words.epilogue}})
      for (size_t at; (at = text.find(from)) != std::string::npos;)
        text.replace(at, strlen(from), to);
    modules.push_back(parseSourceString<ModuleOp>(text, &context));
    EXPECT_TRUE(modules.back()) << text;
    Operation *found = nullptr;
    modules.back()->walk([&](cnn::ConvOp op) { found = op; });
    return found;
  }
  std::string signature(const Words &words) { return signatureOf(conv(words)); }

  MLIRContext context;
  std::vector<OwningOpRef<ModuleOp>> modules;
};

} // namespace

TEST_F(Signature, IsReadable) {
  EXPECT_EQ(signature({}),
            "conv dilations=1,1 groups=1 pads=1,1,1,1 strides=1,1 (?x32x8x8xf32:nchw16c, "
            "32x32x3x3xf32 const, 1x32x1x1xf32:nchw16c) -> ?x32x8x8xf32:nchw16c "
            "{ addf 0 1; maximumf 2 c; yield 3; }");
}

TEST_F(Signature, LeavesOutWhatDoesNotDecide) {
  std::string plain = signature({});
  Words words;
  words.node = "another";
  words.weight = "2.0";
  EXPECT_EQ(signature(words), plain);
  // The order of independent ops, and the value of a constant.
  words.epilogue = R"(%0 = arith.addf %acc, %bias : f32
    %zero = arith.constant 0.5 : f32
    %1 = arith.maximumf %0, %zero : f32)";
  EXPECT_EQ(signature(words), plain);
  Operation *op = conv({});
  op->setAttr("strategy", StringAttr::get(&context, "direct"));
  op->setAttr(kConfigAttrName, StringAttr::get(&context, "14x2"));
  EXPECT_EQ(signatureOf(op), plain);
}

TEST_F(Signature, TellsApartWhatDecides) {
  std::string plain = signature({});
  Words rowMajor, product, wide;
  rowMajor.layout = "";
  product.epilogue = "%1 = arith.mulf %acc, %bias : f32";
  wide.batch = "1"; // known: kernels may tell it from a free one
  EXPECT_NE(signature(rowMajor), plain);
  EXPECT_NE(signature(product), plain);
  EXPECT_NE(signature(wide), plain);
  EXPECT_EQ(shapeSignatureOf(conv(rowMajor)), shapeSignatureOf(conv({})));
  EXPECT_NE(shapeSignatureOf(conv(product)), shapeSignatureOf(conv({})));
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

namespace {

// Takes what its estimates say; has variants "good" and "bad" of the same estimate.
struct FakeStrategy : Strategy {
  FakeStrategy(std::string name, double ns) : ownName(std::move(name)), ns(ns) {}
  StringRef name() const override { return ownName; }
  std::optional<double> cost(Operation *op, cnn::TargetAttr) const override {
    if (!getConfig(op).empty() && getConfig(op) != "good" && getConfig(op) != "bad")
      return std::nullopt;
    return ns;
  }
  std::string ownName;
  double ns;
};

struct FakeTable : KernelTable {
  llvm::ArrayRef<const Strategy *> strategies() const override { return list; }
  llvm::ArrayRef<Measurement> measurements(Operation *, cnn::TargetAttr) const override {
    return measured;
  }
  FakeStrategy quick{"quick", 100}, medium{"medium", 150}, slow{"slow", 400};
  const Strategy *list[3] = {&quick, &medium, &slow};
  std::vector<Measurement> measured;
};

struct Choice : Signature {
  KernelChoice choose(std::vector<Measurement> measured) {
    table.measured = std::move(measured);
    return table.choose(conv({}), {});
  }
  FakeTable table;
};

} // namespace

TEST_F(Choice, OfTheLeastEstimateWithoutMeasurements) {
  KernelChoice choice = choose({});
  EXPECT_EQ(choice.strategy, &table.quick);
  EXPECT_EQ(choice.ns, 100);
  EXPECT_FALSE(choice.isMeasured);
  EXPECT_FALSE(choice.isChanged());
}

TEST_F(Choice, OfTheLeastTime) {
  KernelChoice choice = choose({{"quick", "", 300}, {"medium", "", 200}, {"slow", "", 250}});
  EXPECT_EQ(choice.strategy, &table.medium);
  EXPECT_EQ(choice.ns, 200);
  EXPECT_TRUE(choice.isMeasured);
  EXPECT_TRUE(choice.isChanged());
  EXPECT_EQ(choice.estimated, &table.quick);
  EXPECT_EQ(choice.estimatedTook, 300);
}

TEST_F(Choice, OfAVariant) {
  KernelChoice choice = choose({{"quick", "", 300}, {"quick", "good", 200}, {"quick", "bad", 900}});
  EXPECT_EQ(choice.strategy, &table.quick);
  EXPECT_EQ(choice.config, "good");
  EXPECT_TRUE(choice.isChanged());
}

// What was not measured competes with its estimate as that of the best measured one is corrected:
// 100 took 300, so 150 is taken for 450.
TEST_F(Choice, IsNotDrawnToWhatWasNotMeasured) {
  KernelChoice choice = choose({{"quick", "", 300}});
  EXPECT_EQ(choice.strategy, &table.quick);
  // A strategy that came later and promises more than all that was measured gets its chance.
  choice = choose({{"medium", "", 300}, {"slow", "", 250}});
  EXPECT_EQ(choice.strategy, &table.quick);
  EXPECT_EQ(choice.ns, 200);
  EXPECT_FALSE(choice.isMeasured);
}

TEST_F(Choice, IgnoresWhatIsNoLongerThere) {
  KernelChoice choice = choose({{"gone", "", 1}, {"quick", "gone", 1}, {"gone", "x", 1}});
  EXPECT_EQ(choice.strategy, &table.quick);
  EXPECT_FALSE(choice.isMeasured);
  EXPECT_EQ(choice.unknown, std::vector<std::string>{"gone"});
}

TEST_F(Choice, ByTheFirstResultsThatHaveTheOp) {
  Results fresh, old;
  std::string signature = signatureOf(conv({}));
  old.add(signature, {"quick", "", 30});
  old.add(signature, {"slow", "", 10});
  TunedTable tuned(table, {&fresh, &old});
  EXPECT_EQ(tuned.choose(conv({}), {}).strategy, &table.slow);
  fresh.add(signature, {"quick", "", 20});
  EXPECT_EQ(tuned.choose(conv({}), {}).strategy, &table.quick);
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

namespace {

class CacheFile : public testing::Test {
protected:
  CacheFile()
      : folder(std::filesystem::temp_directory_path() /
               ("convoy-tune-" + std::to_string(getpid()))),
        path((folder / "made" / "tuning.json").string()) {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
  }
  ~CacheFile() override { std::filesystem::remove_all(folder); }

  static Results one(const std::string &signature, Measurement measurement) {
    Results results;
    results.add(signature, std::move(measurement));
    return results;
  }
  std::string errorOf(llvm::Error error) { return llvm::toString(std::move(error)); }
  void write(const std::string &text) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
  }
  std::string read() {
    std::ifstream stream(path);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  std::filesystem::path folder;
  std::string path;
  Setting setting{"cpu", "x86-avx512", "1"};
};

} // namespace

TEST_F(CacheFile, KeepsAndMerges) {
  ASSERT_EQ(errorOf(addToFile(path, setting, one("a", {"direct", "", 2000}))), "");
  ASSERT_EQ(errorOf(addToFile(path, setting, one("a", {"direct", "14x2", 1500}))), "");
  ASSERT_EQ(errorOf(addToFile(path, setting, one("b \"x\"", {"planar", "", 10}))), "");
  // The later time holds.
  ASSERT_EQ(errorOf(addToFile(path, setting, one("a", {"direct", "", 1800}))), "");
  llvm::Expected<ResultsFile> file = readResults(path, /*mayBeAbsent=*/false);
  ASSERT_TRUE(bool(file));
  const Results *results = file->find(setting);
  ASSERT_TRUE(results);
  ASSERT_EQ(results->find("a").size(), 2u);
  // In the order in which they came.
  std::vector<std::pair<std::string, double>> times;
  for (const Measurement &measured : results->find("a"))
    times.push_back({measured.strategy + "/" + measured.config, measured.ns});
  EXPECT_EQ(times, (decltype(times){{"direct/", 1800}, {"direct/14x2", 1500}}));
  EXPECT_EQ(results->find("b \"x\"").size(), 1u);
  EXPECT_TRUE(results->find("c").empty());
  // Nothing but the file and its lock is left.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / "made"), {}), 2);
}

TEST_F(CacheFile, KeepsMachinesTargetsAndCompilersApart) {
  ASSERT_EQ(errorOf(addToFile(path, setting, one("a", {"direct", "", 1}))), "");
  for (Setting other : {Setting{"cpu2", "x86-avx512", "1"}, Setting{"cpu", "x86-avx2", "1"},
                        Setting{"cpu", "x86-avx512", "2"}}) {
    llvm::Expected<ResultsFile> file = readResults(path, false);
    ASSERT_TRUE(bool(file));
    EXPECT_FALSE(file->find(other));
    ASSERT_EQ(errorOf(addToFile(path, other, one("a", {"direct", "", 1}))), "");
  }
  // Versions that nobody uses any more go, the latest stay.
  for (int version = 3; version < 20; ++version)
    ASSERT_EQ(errorOf(addToFile(path, {"cpu", "x86-avx512", std::to_string(version)},
                                one("a", {"direct", "", 1}))),
              "");
  llvm::Expected<ResultsFile> file = readResults(path, false);
  ASSERT_TRUE(bool(file));
  EXPECT_EQ(file->all().size(), ResultsFile::kMostSettings);
  EXPECT_FALSE(file->find(setting));
  EXPECT_TRUE(file->find({"cpu", "x86-avx512", "19"}));
}

TEST_F(CacheFile, LosesNothingToOtherWriters) {
  constexpr int numWriters = 6, each = 12;
  std::vector<std::thread> writers;
  for (int writer = 0; writer < numWriters; ++writer)
    writers.emplace_back([&, writer] {
      for (int i = 0; i < each; ++i)
        EXPECT_EQ(errorOf(addToFile(path, setting,
                                    one(std::to_string(writer) + "," + std::to_string(i),
                                        {"direct", "", 1.0 + i}))),
                  "");
    });
  for (std::thread &writer : writers)
    writer.join();
  llvm::Expected<ResultsFile> file = readResults(path, false);
  ASSERT_TRUE(bool(file));
  ASSERT_TRUE(file->find(setting));
  EXPECT_EQ(file->find(setting)->all().size(), size_t(numWriters * each));
}

TEST_F(CacheFile, TakesBracketsWithinNames) {
  std::string name = "\\\"" + std::string(100, '[') + "\"" + std::string(100, '{');
  EXPECT_EQ(errorOf(addToFile(path, setting, one(name, {"direct", "", 5}))), "");
  llvm::Expected<ResultsFile> file = readResults(path, false);
  ASSERT_EQ(errorOf(file.takeError()), "");
  ASSERT_TRUE(file->find(setting));
  EXPECT_EQ(file->find(setting)->find(name).size(), 1u);
}

TEST_F(CacheFile, LeavesAloneWhatItCannotRead) {
  const char *head = R"({"format": "convoy-tuning-1", "settings": [)";
  std::pair<std::string, const char *> cases[] = {
      {"", "is damaged"},
      {"{\"format\": \"convoy-tuning-1\", \"settings\": [", "is damaged"},
      {"{\"name\": \"something else\"}", "holds no tuning results"},
      {"[1, 2]", "holds no tuning results"},
      {"{\"format\": \"convoy-tuning-2\", \"settings\": []}", "of format 'convoy-tuning-2'"},
      {"{\"format\": \"convoy-tuning-1\"}", "no list of settings"},
      {head + std::string(R"({"cpu": "c", "target": "t", "ops": {}}]})"), "lacks its"},
      {head + std::string(
                  R"({"cpu": "c", "target": "t", "compiler": "1", "ops": {"a": [["d", "fast"]]}}]})"),
       "has a time that is no"},
      {head + std::string(
                  R"({"cpu": "c", "target": "t", "compiler": "1", "ops": {"a": [["d", -1]]}}]})"),
       "has a time that is no"},
      {head + std::string(R"({"cpu": "c", "target": "t", "compiler": "1", "ops": {"a": 3}}]})"),
       "are no list"},
      // More than the stack holds.
      {std::string(2000000, '['), "nested too deeply"},
      {head + std::string(1000000, '[') + std::string(1000000, ']') + "]}", "nested too deeply"},
  };
  for (const auto &[text, reason] : cases) {
    write(text);
    EXPECT_THAT(errorOf(readResults(path, true).takeError()), HasSubstr(reason))
        << text.substr(0, 200);
    EXPECT_THAT(errorOf(addToFile(path, setting, one("a", {"direct", "", 1}))), HasSubstr(reason));
    EXPECT_EQ(read(), text);
  }
  std::filesystem::remove(path);
  EXPECT_THAT(errorOf(readResults(path, false).takeError()), HasSubstr("cannot be read"));
  EXPECT_TRUE(bool(readResults(path, true)));
  EXPECT_THAT(errorOf(readResults(folder.string(), true).takeError()), HasSubstr("is a folder"));
}

TEST_F(CacheFile, SaysWhyItCannotWrite) {
  std::ofstream(folder / "made") << "a file";
  EXPECT_THAT(errorOf(addToFile(path, setting, one("a", {"direct", "", 1}))),
              HasSubstr("cannot make the folder"));
}

//===----------------------------------------------------------------------===//
// Machine, measuring and what is shipped
//===----------------------------------------------------------------------===//

TEST(Machine, HasAName) {
  const Cpu &cpu = Cpu::host();
  EXPECT_THAT(cpu.machineClass(), HasSubstr(" family "));
  EXPECT_THAT(cpu.name(), HasSubstr(cpu.machineClass()));
  EXPECT_EQ(cpu.name(), Cpu::host().name());
  EXPECT_THAT(compilerVersion(), HasSubstr("LLVM"));
}

TEST(Shipped, CanBeRead) {
  for (StringRef text : kShippedFiles) {
    llvm::Expected<ResultsFile> file = ResultsFile::parse(text);
    ASSERT_TRUE(bool(file)) << llvm::toString(file.takeError()) << text.str();
    EXPECT_EQ(file->print(), text) << "written by another tool";
    for (const auto &[setting, results] : file->all()) {
      std::unique_ptr<Target> target = createTarget(setting.target);
      ASSERT_TRUE(target) << setting.target;
      EXPECT_EQ(shippedResults(setting.cpu, setting.target).all().size(), results.all().size());
      for (const auto &[signature, measurements] : results.all())
        for (const Measurement &measured : measurements)
          EXPECT_TRUE(target->kernelTable().find(measured.strategy)) << measured.strategy;
    }
  }
  EXPECT_TRUE(shippedResults("Unknown family 0", "x86-avx512").empty());
}

// Every candidate is compiled, runs, and takes some time.
TEST_F(Signature, CandidatesAreMeasured) {
  std::unique_ptr<Target> target = createTarget("host");
  if (!target)
    GTEST_SKIP() << "this machine is no target";
  Words words;
  int64_t lanes = target->facts(&context).getLanes();
  words.layout = ", #cnn.layout<\"nchw" + std::to_string(lanes) + "c\">";
  OpCase one(conv(words), *target, /*mostTimes=*/4);
  ASSERT_GE(one.candidates().size(), 3u);
  EXPECT_EQ(one.weights(), llvm::ArrayRef<unsigned>({1}));
  OwningOpRef<ModuleOp> library = ModuleOp::create(UnknownLoc::get(&context));
  (*library)->setAttr(cnn::kTargetAttrName, target->facts(&context));
  std::vector<plan::KernelOp> kernels;
  double last = 0;
  for (const Candidate &candidate : one.candidates()) {
    EXPECT_GE(candidate.estimateNs, last);
    last = candidate.estimateNs;
    kernels.push_back(one.addKernel(*library, "k" + std::to_string(kernels.size()), candidate));
  }
  CodeDumps dumps;
  FailureOr<GeneratedCode> generated = target->generate(*library, dumps);
  ASSERT_TRUE(succeeded(generated));
  FailureOr<std::unique_ptr<HostCode>> code = HostCode::load(*library, *generated);
  ASSERT_TRUE(succeeded(code));
  auto times = measure(**code, kernels, one.weights(), /*mostNs=*/1e6);
  ASSERT_TRUE(times);
  ASSERT_EQ(times->size(), kernels.size());
  for (double ns : *times) {
    // 1.2 MFLOP cannot take less than 100 ns, and a tenth of a second is no measurement.
    EXPECT_GT(ns, 100);
    EXPECT_LT(ns, 1e8);
  }
}
