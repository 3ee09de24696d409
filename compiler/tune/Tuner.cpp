// Chooses kernels by measuring: collects the ops of a graph, times candidates, keeps the results.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/tune/Tuner.h"

#include "compiler/tune/Machine.h"
#include "compiler/tune/Measure.h"
#include "compiler/tune/OpCase.h"
#include "compiler/tune/Shipped.h"
#include "compiler/tune/Signature.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringSet.h"

#include <limits>
#include <map>

using namespace mlir;
using namespace convoy;
using namespace convoy::tune;

// Estimates are hardly off by more than this factor, so that what is beyond it will not win.
static constexpr double kMostTimes = 4;
// Layouts are further apart than kernels of one layout, and relayouts add to the slower one.
static constexpr double kMostTimesOfLayouts = 2;
// Ops that take less are not worth a measurement.
static constexpr double kLeastNs = 1000;
// What the runs of one candidate may take, and how often its results change layouts.
static constexpr double kMostNsEach = 12e6;
static constexpr int kMostRounds = 3;
// Kernels that are compiled together: enough to keep the processors busy, few enough to stop in time.
static constexpr size_t kBatch = 16;
// Results are written that often, so that who is interrupted keeps them.
static constexpr double kSecondsBetweenWrites = 10;

/// An op that is not known yet.
struct Tuner::Asked {
  std::string signature;
  std::unique_ptr<OpCase> op;
};

Tuner::Tuner(const TuneOptions &options, const Target &target, bool isHost)
    : options(options), target(target), isHost(isHost),
      setting{Cpu::host().name(), target.name().str(), compilerVersion()},
      tuned(target.kernelTable(), {&fresh, &kept, &shipped}) {}

LogicalResult Tuner::start(Location loc) {
  if (options.shipped && isHost)
    shipped = shippedResults(Cpu::host().machineClass(), target.name());
  if (options.cacheFile.empty())
    return success();
  llvm::Expected<ResultsFile> file = readResults(options.cacheFile, !options.mustExist);
  if (!file) {
    std::string reason = llvm::toString(file.takeError());
    if (options.mustExist)
      return emitError(loc) << "tuning cache '" << options.cacheFile << "' " << reason;
    mlir::emitWarning(loc) << "tuning cache '" << options.cacheFile << "' " << reason
                           << "; it is neither used nor written";
    return success();
  }
  mayWrite = true;
  if (const Results *found = file->find(setting))
    kept = *found;
  return success();
}

double Tuner::secondsLeft() const {
  std::chrono::duration<double> now = std::chrono::steady_clock::now() - begin;
  return options.budgetSeconds - spentSeconds - now.count();
}

void Tuner::report(bool isOver) {
  if (!options.progress)
    return;
  double left = std::max(secondsLeft(), 0.0);
  std::chrono::duration<double> now = std::chrono::steady_clock::now() - begin;
  if (done)
    left = std::min(left, (spentSeconds + now.count()) / done * (total - done));
  options.progress({done, total, isOver ? 0 : left, isOver});
}

LogicalResult Tuner::collect(ModuleOp module, const PipelineOptions &pipeline,
                             std::vector<Asked> &asked) {
  OwningOpRef<ModuleOp> copy = module.clone();
  // An op in all layouts that compete.
  struct Group {
    double leastNs = std::numeric_limits<double>::infinity();
    size_t timesAsked = 0;
    std::vector<std::pair<double, Asked>> ops; // with their best estimates
  };
  std::map<std::string, Group> groups;
  llvm::StringSet<> seen;
  TunedTable table(target.kernelTable(), {&fresh, &kept});
  table.onAsked = [&](Operation *op, StringRef signature) {
    if (!OpCase::isMeasurable(op))
      return;
    Group &group = groups[shapeSignatureOf(op)];
    ++group.timesAsked;
    if (!seen.insert(signature).second)
      return;
    auto opCase = std::make_unique<OpCase>(op, target, kMostTimes);
    if (opCase->candidates().empty())
      return;
    double ns = opCase->candidates().front().estimateNs;
    group.leastNs = std::min(group.leastNs, ns);
    if (ns >= kLeastNs && fresh.find(signature).empty() && kept.find(signature).empty())
      group.ops.emplace_back(ns, Asked{signature.str(), std::move(opCase)});
  };
  PassManager manager(module.getContext());
  buildChoices(manager, table, pipeline);
  {
    // What is said here is said again by the passes that change the graph.
    ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) { return success(); });
    if (failed(manager.run(*copy)))
      return success();
  }
  // What takes longest first: the budget may not last for all.
  std::multimap<double, Group *, std::greater<double>> sorted;
  for (auto &[shape, group] : groups) {
    llvm::erase_if(group.ops, [&, most = kMostTimesOfLayouts * group.leastNs](auto &one) {
      return one.first > most;
    });
    bool isChoice = group.ops.size() > 1 || llvm::any_of(group.ops, [](auto &one) {
                      return one.second.op->candidates().size() > 1;
                    });
    if (isChoice)
      sorted.emplace(group.leastNs * group.timesAsked, &group);
  }
  for (auto [ns, group] : sorted)
    for (auto &[estimate, one] : group->ops)
      asked.push_back(std::move(one));
  return success();
}

LogicalResult Tuner::measureBatch(Location loc, ArrayRef<Asked *> batch) {
  OwningOpRef<ModuleOp> library = ModuleOp::create(loc);
  (*library)->setAttr(cnn::kTargetAttrName, target.facts(loc.getContext()));
  std::vector<std::vector<plan::KernelOp>> kernels;
  size_t number = 0;
  for (Asked *asked : batch) {
    kernels.emplace_back();
    for (const Candidate &candidate : asked->op->candidates())
      kernels.back().push_back(
          asked->op->addKernel(*library, "k" + std::to_string(number++), candidate));
  }
  CodeDumps dumps;
  FailureOr<GeneratedCode> generated = target.generate(*library, dumps);
  if (failed(generated))
    return failure();
  FailureOr<std::unique_ptr<HostCode>> code = HostCode::load(*library, *generated);
  if (failed(code))
    return failure();
  for (auto [asked, own] : llvm::zip_equal(batch, kernels)) {
    std::optional<std::vector<double>> times =
        measure(**code, own, asked->op->weights(), kMostNsEach);
    done += own.size();
    report(/*isOver=*/false);
    if (!times) {
      mlir::emitWarning(own.front().getLoc()) << "not enough memory to measure it";
      continue;
    }
    for (auto [candidate, ns] : llvm::zip_equal(asked->op->candidates(), *times))
      fresh.add(asked->signature, {candidate.strategy->name().str(), candidate.config, ns});
  }
  return success();
}

LogicalResult Tuner::measureAll(Location loc, std::vector<Asked> &asked) {
  begin = std::chrono::steady_clock::now();
  auto lastWrite = begin;
  auto write = [&] {
    lastWrite = std::chrono::steady_clock::now();
    if (!mayWrite || fresh.empty())
      return;
    if (llvm::Error error = addToFile(options.cacheFile, setting, fresh)) {
      mayWrite = false;
      mlir::emitWarning(loc) << "tuning cache '" << options.cacheFile << "' "
                             << llvm::toString(std::move(error)) << "; it is not written";
    }
  };
  for (size_t next = 0; next < asked.size() && secondsLeft() > 0;) {
    std::vector<Asked *> batch;
    for (size_t kernels = 0; next < asked.size() && kernels < kBatch; ++next) {
      batch.push_back(&asked[next]);
      kernels += asked[next].op->candidates().size();
    }
    if (failed(measureBatch(loc, batch)))
      return failure();
    std::chrono::duration<double> since = std::chrono::steady_clock::now() - lastWrite;
    if (since.count() > kSecondsBetweenWrites)
      write();
  }
  write();
  std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  spentSeconds += spent.count();
  begin = std::chrono::steady_clock::now();
  return success();
}

LogicalResult Tuner::tune(ModuleOp module, const PipelineOptions &pipeline) {
  begin = std::chrono::steady_clock::now();
  // Times change layouts, and so which ops there are.
  for (int round = 0; round < kMostRounds && secondsLeft() > 0; ++round) {
    std::vector<Asked> asked;
    if (failed(collect(module, pipeline, asked)))
      return failure();
    if (asked.empty())
      break;
    for (const Asked &one : asked)
      total += one.op->candidates().size();
    report(/*isOver=*/false);
    if (failed(measureAll(module.getLoc(), asked)))
      return failure();
  }
  report(/*isOver=*/true);
  return success();
}
