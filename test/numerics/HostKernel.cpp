// Compiles kernels through the real code generator and runs them in this process.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/numerics/HostKernel.h"

#include "targets/x86/EmitObject.h"
#include "targets/x86/LowerToLlvm.h"
#include "targets/x86/X86Target.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace convoy;
using namespace convoy::test;
using namespace llvm;

std::unique_ptr<HostKernels> HostKernels::compile(const Target &target, mlir::ModuleOp module) {
  CodeDumps dumps;
  mlir::FailureOr<GeneratedCode> code = target.generate(module, dumps);
  return mlir::failed(code) ? nullptr : load(module, std::move(*code));
}

std::unique_ptr<HostKernels> HostKernels::compile(const Target &target, mlir::ModuleOp module,
                                                  Emit emit) {
  prepareContextForCodegen(module.getContext());
  cnn::TargetAttr facts = target.facts(module.getContext());
  mlir::OwningOpRef<mlir::ModuleOp> code = mlir::ModuleOp::create(module.getLoc());
  for (auto kernel : module.getOps<plan::KernelOp>()) {
    KernelBuilder kb(*code, kernel, facts);
    emit(kernel, kb);
    kb.finish();
  }
  CodeDumps dumps;
  auto object = emitSharedObject({*code}, X86Machine::of(facts), dumps);
  return mlir::failed(object) ? nullptr : load(module, {std::move(*object), {}});
}

std::unique_ptr<HostKernels> HostKernels::load(mlir::ModuleOp module, GeneratedCode code) {
  mlir::FailureOr<std::unique_ptr<HostCode>> mapped = HostCode::load(module, code);
  if (mlir::failed(mapped))
    return nullptr;
  auto result = std::make_unique<HostKernels>();
  result->mapped = std::move(*mapped);
  result->generated = std::move(code);
  return result;
}

void HostKernels::run(StringRef name, ArrayRef<void *> args, int64_t batch) const {
  ASSERT_TRUE(mapped->has(name)) << name.str();
  mapped->run(name, args, batch);
}

void HostKernels::runInOrder(StringRef name, ArrayRef<void *> args, int64_t batch) {
  // Kept as a context does: a new one for each run would be part of what is measured.
  auto own = scratch.find(name);
  if (own == scratch.end())
    own = scratch.try_emplace(name, allocateAligned(mapped->scratchBytes(name))).first;
  mapped->runInOrder(name, args, batch, own->second.get());
}

std::unique_ptr<mlir::MLIRContext> test::makeContext() {
  auto context = std::make_unique<mlir::MLIRContext>();
  context->loadDialect<cnn::CnnDialect, plan::PlanDialect, mlir::arith::ArithDialect,
                       mlir::math::MathDialect>();
  return context;
}

mlir::OwningOpRef<mlir::ModuleOp> test::parse(mlir::MLIRContext &context, StringRef text) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  EXPECT_TRUE(module) << text.str();
  return module;
}

std::vector<std::unique_ptr<Target>> test::hostTargets() {
  std::vector<std::unique_ptr<Target>> targets;
  for (const std::string &name : targetNames()) {
    if (!StringRef(name).starts_with("x86"))
      continue;
    std::unique_ptr<Target> target = createTarget(name);
    if (hostRuns(*target))
      targets.push_back(std::move(target));
    else
      errs() << "skipping " << name << ": this CPU lacks features that it needs\n";
  }
  return targets;
}
