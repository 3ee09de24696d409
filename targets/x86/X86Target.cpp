// The x86 targets: facts, and code for all kernels of a module.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/x86/X86Target.h"

#include "targets/x86/EmitObject.h"
#include "targets/x86/KernelTable.h"
#include "targets/x86/LowerToLlvm.h"

#include "mlir/IR/Verifier.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace convoy;

namespace {

struct X86Facts {
  StringRef name;
  int64_t lanes, registers, l1Bytes, l2Bytes;
  StringRef tune;
  SmallVector<StringRef> features;
};

// What a kernel may use, and so what the runtime must find: x86-64-v3 and -v4 without the features
// that compiled kernels have no use for.
constexpr const char *kV3Features[] = {"sse3", "ssse3", "sse4.1", "sse4.2", "popcnt",
                                       "avx",  "avx2",  "bmi",    "bmi2",   "f16c",
                                       "fma",  "lzcnt", "movbe"};
constexpr const char *kV4Features[] = {"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"};

X86Facts avx2Facts(StringRef name) {
  X86Facts facts{name, 8, 16, 32 << 10, 512 << 10, "znver3", {}};
  llvm::append_range(facts.features, kV3Features);
  return facts;
}

X86Facts avx512Facts() {
  X86Facts facts{"x86-avx512", 16, 32, 48 << 10, 1 << 20, "znver4", {}};
  llvm::append_range(facts.features, kV3Features);
  llvm::append_range(facts.features, kV4Features);
  return facts;
}

// Scalar regions hold what KernelBuilder::apply can clone lane by lane.
LogicalResult checkScalarRegions(plan::KernelOp kernel) {
  WalkResult result = kernel.walk([&](cnn::EpilogueOpInterface op) {
    for (Operation &scalar : op.getScalarRegion().front().without_terminator())
      if (!isa<arith::ArithDialect, math::MathDialect>(scalar.getDialect()) ||
          scalar.getNumRegions() != 0 || scalar.getNumResults() != 1) {
        scalar.emitError() << "scalar regions of kernels hold arith and math ops of one result, got "
                           << scalar.getName();
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return success(!result.wasInterrupted());
}

class X86Target final : public Target {
public:
  X86Target(X86Facts facts, const KernelTable &table) : x86(std::move(facts)), table(table) {}

  StringRef name() const override { return x86.name; }
  const KernelTable &kernelTable() const override { return table; }

  cnn::TargetAttr facts(MLIRContext *context) const override {
    SmallVector<StringAttr> features;
    for (StringRef feature : x86.features)
      features.push_back(StringAttr::get(context, feature));
    return cnn::TargetAttr::get(context, x86.name, x86.lanes, x86.registers, x86.l1Bytes,
                                x86.l2Bytes, x86.tune, features, /*strictFp=*/false);
  }

  FailureOr<GeneratedCode> generate(ModuleOp module, CodeDumps &dumps) const override;

private:
  LogicalResult emit(plan::KernelOp kernel, ModuleOp code, cnn::TargetAttr target) const;

  X86Facts x86;
  const KernelTable &table;
};

LogicalResult X86Target::emit(plan::KernelOp kernel, ModuleOp code, cnn::TargetAttr target) const {
  const Strategy *found = nullptr;
  for (const Strategy *strategy : table.strategies())
    if (strategy->name() == kernel.getStrategy())
      found = strategy;
  if (!found)
    return kernel.emitError() << "target " << x86.name << " has no strategy '"
                              << kernel.getStrategy() << "'";
  if (failed(checkScalarRegions(kernel)))
    return failure();
  kernel.removeScratchBytesAttr();
  KernelBuilder kb(code, kernel, target);
  // Every row of the tables of this target is an X86Strategy.
  if (failed(static_cast<const X86Strategy *>(found)->emit(kernel, kb)))
    return failure();
  kb.finish();
  return success();
}

FailureOr<GeneratedCode> X86Target::generate(ModuleOp module, CodeDumps &dumps) const {
  MLIRContext *context = module.getContext();
  prepareContextForCodegen(context);
  cnn::TargetAttr target = facts(context);

  // Modules that threads compile at the same time, filled evenly: a kernel goes where there is
  // least. Their number does not depend on the machine, so that its code does not.
  constexpr size_t kMaxParts = 8;
  struct Part {
    OwningOpRef<ModuleOp> code;
    size_t ops;
  };
  auto kernels = llvm::to_vector(module.getOps<plan::KernelOp>());
  size_t numParts = std::clamp<size_t>(kernels.size(), 1, kMaxParts);
  std::vector<Part> parts(numParts);
  for (Part &part : parts)
    part = {ModuleOp::create(module.getLoc()), 0};
  for (plan::KernelOp kernel : kernels) {
    Part &part = *llvm::min_element(parts, [](auto &a, auto &b) { return a.ops < b.ops; });
    if (failed(emit(kernel, *part.code, target)))
      return failure();
    part.code->getBody()->back().walk([&](Operation *) { ++part.ops; });
  }

  SmallVector<ModuleOp> modules;
  for (Part &part : parts) {
    if (failed(verify(*part.code)))
      return failure();
    modules.push_back(*part.code);
    if (dumps.wanted) {
      llvm::raw_string_ostream stream(dumps.kernels);
      part.code->print(stream);
      stream << "\n";
    }
  }
  X86Machine machine = X86Machine::of(target);
  FailureOr<std::vector<char>> object = emitSharedObject(modules, machine, dumps);
  if (failed(object))
    return failure();
  return GeneratedCode{std::move(*object), machine.features};
}

} // namespace

std::unique_ptr<Target> convoy::createX86Avx512Target() {
  return std::make_unique<X86Target>(avx512Facts(), x86KernelTable());
}

std::unique_ptr<Target> convoy::createX86Avx2Target() {
  return std::make_unique<X86Target>(avx2Facts("x86-avx2"), x86KernelTable());
}

std::unique_ptr<Target> convoy::createReferenceTarget() {
  return std::make_unique<X86Target>(avx2Facts("x86-reference"), x86ReferenceTable());
}

bool convoy::hostRuns(const Target &target) {
  MLIRContext context;
  context.loadDialect<cnn::CnnDialect>();
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  return llvm::all_of(target.facts(&context).getFeatures(),
                      [&](StringAttr feature) { return host.lookup(feature.getValue()); });
}
