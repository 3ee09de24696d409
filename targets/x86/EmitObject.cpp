// From modules in MLIR's llvm dialect to one position-independent ELF shared object.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/x86/EmitObject.h"

#include "targets/x86/LinkObjects.h"
#include "targets/x86/LowerToLlvm.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Threading.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <mutex>

using namespace mlir;
using namespace convoy;

namespace {

constexpr llvm::StringLiteral kTriple = "x86_64-unknown-linux-gnu";

/// What one module becomes.
struct Part {
  SmallVector<char, 0> object;
  std::string errors, llvmIr, assembly, spills;
};

/// Keeps what LLVM reports as an error, without which it would end the process, and what the
/// register allocator has to say.
struct DiagnosticCollector : llvm::DiagnosticHandler {
  DiagnosticCollector(Part &part, bool wantSpills) : part(part), wantSpills(wantSpills) {}
  bool isMissedOptRemarkEnabled(StringRef pass) const override {
    return wantSpills && pass == "regalloc";
  }
  bool isAnyRemarkEnabled() const override { return wantSpills; }
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    bool isError = info.getSeverity() == llvm::DS_Error;
    if (!isError && info.getSeverity() != llvm::DS_Remark)
      return true;
    llvm::raw_string_ostream stream(isError ? part.errors : part.spills);
    if (auto *remark = dyn_cast<llvm::DiagnosticInfoOptimizationBase>(&info); remark && !isError)
      stream << remark->getFunction().getName() << ": ";
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    stream << "\n";
    return true;
  }
  Part &part;
  bool wantSpills;
};

std::unique_ptr<llvm::TargetMachine> createTargetMachine() {
  llvm::Triple triple(kTriple);
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, "x86-64", "", options, llvm::Reloc::PIC_,
                                  llvm::CodeModel::Small, llvm::CodeGenOptLevel::Aggressive));
}

void setAttributes(llvm::Module &module, const X86Machine &machine) {
  std::string features;
  for (const std::string &feature : machine.features)
    features += (features.empty() ? "+" : ",+") + feature;
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", "x86-64");
    function.addFnAttr("tune-cpu", machine.tune);
    function.addFnAttr("target-features", features);
    function.addFnAttr("prefer-vector-width", std::to_string(machine.vectorBits));
    function.addFnAttr(llvm::Attribute::NoUnwind);
    // Jump tables would be addresses in data: relocations, which an artifact cannot have.
    function.addFnAttr("no-jump-tables", "true");
  }
}

void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  // Strategies choose the vectors and unroll themselves.
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.LoopInterleaving = tuning.SLPVectorization = false;
  tuning.LoopUnrolling = false;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine, tuning);
  // There is no C library to call: loops that fill or copy must stay loops.
  llvm::TargetLibraryInfoImpl library{llvm::Triple(kTriple)};
  library.disableAllFunctions();
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, modules);
}

/// Makes each store of one lane, as its constant mask says, a store of a scalar. LLVM 22 does so
/// itself, but where the vector is truncated (to u8, i8 or the bits of bf16) it stores a whole lane
/// of 32 bits: over what lies behind the element.
void storeSingleLanes(llvm::Module &module) {
  SmallVector<llvm::IntrinsicInst *> stores;
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = dyn_cast<llvm::IntrinsicInst>(&instruction);
          call && call->getIntrinsicID() == llvm::Intrinsic::masked_store)
        stores.push_back(call);
  for (llvm::IntrinsicInst *store : stores) {
    auto *mask = dyn_cast<llvm::Constant>(store->getArgOperand(2));
    auto *type = dyn_cast<llvm::FixedVectorType>(store->getArgOperand(0)->getType());
    if (!mask || !type)
      continue;
    SmallVector<unsigned> lanes;
    bool known = true;
    for (unsigned i = 0; i < type->getNumElements(); ++i) {
      llvm::Constant *lane = mask->getAggregateElement(i);
      known &= isa_and_nonnull<llvm::ConstantInt>(lane);
      if (known && !lane->isNullValue())
        lanes.push_back(i);
    }
    if (!known || lanes.size() != 1)
      continue;
    llvm::IRBuilder<> builder(store);
    llvm::Value *element = builder.CreateExtractElement(store->getArgOperand(0), lanes[0]);
    llvm::Value *address = builder.CreateConstInBoundsGEP1_64(type->getElementType(),
                                                              store->getArgOperand(1), lanes[0]);
    llvm::Align alignment = llvm::commonAlignment(
        store->getParamAlign(1).valueOrOne(),
        lanes[0] * type->getElementType()->getPrimitiveSizeInBits().getFixedValue() / 8);
    builder.CreateAlignedStore(element, address, alignment);
    store->eraseFromParent();
  }
}

LogicalResult assemble(llvm::Module &module, llvm::TargetMachine &machine,
                       llvm::CodeGenFileType kind, SmallVectorImpl<char> &bytes) {
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, kind))
    return failure();
  passes.run(module);
  return success();
}

LogicalResult compile(ModuleOp source, const X86Machine &target, bool wantDumps, Part &part) {
  llvm::LLVMContext context;
  context.setDiagnosticHandler(std::make_unique<DiagnosticCollector>(part, wantDumps));
  std::unique_ptr<llvm::Module> module = translateModuleToLLVMIR(source, context);
  if (!module)
    return failure();
  std::unique_ptr<llvm::TargetMachine> machine = createTargetMachine();
  if (!machine) {
    part.errors += "this LLVM cannot generate code for x86-64\n";
    return failure();
  }
  module->setTargetTriple(llvm::Triple(kTriple));
  module->setDataLayout(machine->createDataLayout());
  setAttributes(*module, target);
  optimize(*module, *machine);
  storeSingleLanes(*module);
  if (wantDumps) {
    llvm::raw_string_ostream stream(part.llvmIr);
    module->print(stream, nullptr);
    SmallVector<char, 0> text;
    if (failed(assemble(*llvm::CloneModule(*module), *machine, llvm::CodeGenFileType::AssemblyFile,
                        text)))
      return failure();
    part.assembly.assign(text.begin(), text.end());
    part.spills.clear(); // they come again
  }
  return assemble(*module, *machine, llvm::CodeGenFileType::ObjectFile, part.object);
}

// The machine scheduler hoists loads over whole loop bodies and so spills accumulators. It has no
// other switch, and lld resets all switches: set it before each use.
void disableMachineScheduler() {
  auto &options = llvm::cl::getRegisteredOptions();
  auto found = options.find("enable-misched");
  if (found != options.end())
    found->second->addOccurrence(0, "enable-misched", "false");
}

void initializeLlvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
}

/// Turns LLVM's fatal errors, which end the process, into failures of RunSafely.
class FatalErrorGuard {
public:
  FatalErrorGuard() {
    llvm::CrashRecoveryContext::Enable();
    llvm::install_fatal_error_handler(
        [](void *errors, const char *reason, bool) {
          static_cast<std::string *>(errors)->append(reason).append("\n");
          llvm::sys::Process::Exit(1);
        },
        &errors);
  }
  ~FatalErrorGuard() {
    llvm::remove_fatal_error_handler();
    llvm::CrashRecoveryContext::Disable();
  }
  std::string errors;
};

} // namespace

X86Machine X86Machine::of(cnn::TargetAttr target) {
  X86Machine machine{target.getCpu().str(), {}, target.getLanes() * 32};
  for (StringAttr feature : target.getFeatures())
    machine.features.push_back(feature.str());
  return machine;
}

FailureOr<std::vector<char>> convoy::emitSharedObject(ArrayRef<ModuleOp> modules,
                                                      const X86Machine &machine, CodeDumps &dumps) {
  // LLVM's switches and lld's state are global.
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  initializeLlvm();
  disableMachineScheduler();
  FatalErrorGuard guard;
  ModuleOp first = modules.front();
  MLIRContext *context = first.getContext();
  prepareContextForCodegen(context);
  if (failed(lowerToLlvmDialect(modules)))
    return failure();

  std::vector<Part> parts(modules.size());
  LogicalResult compiled = failableParallelForEachN(context, 0, modules.size(), [&](size_t i) {
    LogicalResult result = failure();
    llvm::CrashRecoveryContext recovery;
    bool survived =
        recovery.RunSafely([&] { result = compile(modules[i], machine, dumps.wanted, parts[i]); });
    if (!survived)
      parts[i].errors += "LLVM crashed\n";
    return success(survived && succeeded(result) && parts[i].errors.empty());
  });
  std::string errors = guard.errors;
  std::vector<ArrayRef<char>> objects;
  for (Part &part : parts) {
    errors += part.errors;
    objects.push_back(part.object);
    dumps.llvmIr += part.llvmIr;
    dumps.assembly += part.assembly;
    dumps.spills += part.spills;
  }
  if (failed(compiled))
    return first.emitError() << "code generation failed" << (errors.empty() ? "" : ": ")
                             << StringRef(errors).rtrim();
  return linkSharedObject(objects, first.getLoc());
}
