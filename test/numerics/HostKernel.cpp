// Compiles kernels through the real code generator and runs them in this process.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/numerics/HostKernel.h"

#include "compiler/artifact/Image.h"
#include "runtime/include/convoy/kernel_abi.h"
#include "targets/x86/EmitObject.h"
#include "targets/x86/LowerToLlvm.h"
#include "targets/x86/X86Target.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>
#include <xmmintrin.h>

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
  auto result = std::make_unique<HostKernels>();
  Expected<artifact::Image> image =
      artifact::flattenImage(StringRef(code.object.data(), code.object.size()));
  if (!image) {
    module.emitError() << toString(image.takeError());
    return nullptr;
  }
  std::error_code error;
  result->memory = sys::Memory::allocateMappedMemory(
      image->bytes.size(), nullptr, sys::Memory::MF_READ | sys::Memory::MF_WRITE, error);
  if (!error) {
    std::memcpy(result->memory.base(), image->bytes.data(), image->bytes.size());
    error = sys::Memory::protectMappedMemory(result->memory,
                                             sys::Memory::MF_READ | sys::Memory::MF_EXEC);
  }
  if (error) {
    module.emitError() << "cannot map code: " << error.message();
    return nullptr;
  }
  for (auto kernel : module.getOps<plan::KernelOp>()) {
    auto symbol = image->symbols.find(kernel.getSymName());
    if (symbol == image->symbols.end() || !kernel.getTiles()) {
      kernel.emitError() << "has no code";
      return nullptr;
    }
    result->kernels[kernel.getSymName()] = {
        symbol->second.offset, static_cast<int64_t>(*kernel.getTiles()), kernel.getBatched(),
        static_cast<int64_t>(kernel.getScratchBytes().value_or(0))};
  }
  result->generated = std::move(code);
  return result;
}

HostKernels::~HostKernels() {
  if (memory.base())
    sys::Memory::releaseMappedMemory(memory);
}

void HostKernels::run(StringRef name, ArrayRef<void *> args, int64_t batch) const {
  auto found = kernels.find(name);
  ASSERT_NE(found, kernels.end()) << name.str();
  const Kernel &kernel = found->second;
  std::vector<char> scratch(kernel.scratchBytes + CONVOY_ALIGNMENT);
  convoy_call call{args.data(), batch,
                   reinterpret_cast<void *>(alignAddr(scratch.data(), Align(CONVOY_ALIGNMENT)))};
  auto function =
      reinterpret_cast<convoy_kernel_fn>(static_cast<char *>(memory.base()) + kernel.offset);
  unsigned saved = _mm_getcsr();
  _mm_setcsr(saved | 0x8040); // FTZ and DAZ
  int64_t end = kernel.tiles * (kernel.batched ? batch : 1);
  for (int64_t length = 1; end > 0; length = length * 2 + 1) {
    int64_t begin = std::max<int64_t>(end - length, 0);
    function(&call, begin, end);
    end = begin;
  }
  _mm_setcsr(saved);
}

void HostKernels::runInOrder(StringRef name, ArrayRef<void *> args, int64_t batch) {
  const Kernel kernel = kernels.lookup(name);
  // Kept as a context does: a new one for each run would be part of what is measured.
  if (scratch.size() < static_cast<size_t>(kernel.scratchBytes) + CONVOY_ALIGNMENT)
    scratch.resize(kernel.scratchBytes + CONVOY_ALIGNMENT);
  convoy_call call{args.data(), batch,
                   reinterpret_cast<void *>(alignAddr(scratch.data(), Align(CONVOY_ALIGNMENT)))};
  auto function =
      reinterpret_cast<convoy_kernel_fn>(static_cast<char *>(memory.base()) + kernel.offset);
  function(&call, 0, kernel.tiles * (kernel.batched ? batch : 1));
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
