// Memory and code of a program that is run in the compiler.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/verify/Program.h"

#include "compiler/artifact/Image.h"
#include "dialects/Cnn/ConstantData.h"
#include "runtime/include/convoy/kernel_abi.h"

#include "llvm/Support/Alignment.h"

#include <cstdlib>
#include <cstring>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

using namespace mlir;
using namespace convoy;
using namespace convoy::verify;

FailureOr<std::unique_ptr<LoadedCode>> LoadedCode::load(ModuleOp module,
                                                        const GeneratedCode &code) {
  auto result = std::make_unique<LoadedCode>();
  llvm::Expected<artifact::Image> image =
      artifact::flattenImage(StringRef(code.object.data(), code.object.size()));
  if (!image)
    return module.emitError() << "code: " << llvm::toString(image.takeError());
  std::error_code error;
  using llvm::sys::Memory;
  result->memory = Memory::allocateMappedMemory(image->bytes.size(), nullptr,
                                                Memory::MF_READ | Memory::MF_WRITE, error);
  if (!error) {
    std::memcpy(result->memory.base(), image->bytes.data(), image->bytes.size());
    error = Memory::protectMappedMemory(result->memory, Memory::MF_READ | Memory::MF_EXEC);
  }
  if (error)
    return module.emitError() << "cannot map the code: " << error.message();
  for (auto kernel : module.getOps<plan::KernelOp>()) {
    auto symbol = image->symbols.find(kernel.getSymName());
    if (symbol == image->symbols.end() || !kernel.getTiles())
      return kernel.emitOpError() << "has no code";
    result->offsets[kernel.getSymName()] = symbol->second.offset;
  }
  return result;
}

LoadedCode::~LoadedCode() {
  if (memory.base())
    llvm::sys::Memory::releaseMappedMemory(memory);
}

void LoadedCode::run(plan::KernelOp kernel, ArrayRef<void *> args, int64_t batch) const {
  std::vector<char> scratch(kernel.getScratchBytes().value_or(0) + CONVOY_ALIGNMENT);
  convoy_call call{args.data(), batch,
                   reinterpret_cast<void *>(
                       llvm::alignAddr(scratch.data(), llvm::Align(CONVOY_ALIGNMENT)))};
  auto function = reinterpret_cast<convoy_kernel_fn>(static_cast<char *>(memory.base()) +
                                                     offsets.lookup(kernel.getSymName()));
#if defined(__x86_64__)
  unsigned saved = _mm_getcsr();
  _mm_setcsr(saved | 0x8040); // subnormals count as zero, as in the runtime
#endif
  int64_t end = *kernel.getTiles() * (kernel.getBatched() ? batch : 1);
  for (int64_t length = 1; end > 0; length = length * 2 + 1) {
    int64_t begin = std::max<int64_t>(end - length, 0);
    function(&call, begin, end);
    end = begin;
  }
#if defined(__x86_64__)
  _mm_setcsr(saved);
#endif
}

char *ProgramMemory::allocate(size_t bytes) {
  bytes = llvm::alignTo(bytes + 1, CONVOY_ALIGNMENT);
  auto *memory = static_cast<char *>(std::aligned_alloc(CONVOY_ALIGNMENT, bytes));
  if (!memory)
    return nullptr;
  // NaN in every floating-point type: what is read before it is written shows.
  std::memset(memory, 0xff, bytes);
  blocks.emplace_back(memory, std::free);
  return memory;
}

LogicalResult ProgramMemory::prepare(plan::ProgramOp program, ArrayRef<cnn::Tensor> inputs,
                                     int64_t batch) {
  arenaBytes = program.getArenaBytes().value_or(0) * batch;
  arenaBegin = allocate(arenaBytes);
  size_t input = 0;
  for (Operation &op : program.getBody().front()) {
    char *address = nullptr;
    if (op.getNumResults() == 0)
      continue;
    if (isa<plan::InputOp>(op)) {
      if (input == inputs.size())
        return op.emitOpError() << "is input " << input << ", but there are " << inputs.size()
                                << " values";
      ArrayRef<char> bytes = inputs[input++].bytes();
      if ((address = allocate(bytes.size())))
        std::memcpy(address, bytes.data(), bytes.size());
    } else if (auto output = dyn_cast<plan::OutputOp>(op)) {
      auto type = cast<RankedTensorType>(output.getType());
      address = allocate(cnn::getBytes(type) * (cnn::hasFreeBatch(type) ? batch : 1));
    } else if (auto constant = dyn_cast<plan::ConstantOp>(op)) {
      cnn::ConstantData data(constant.getValue());
      if ((address = allocate(data.bytes().size())))
        std::memcpy(address, data.bytes().data(), data.bytes().size());
    } else if (auto alloc = dyn_cast<plan::AllocOp>(op)) {
      size_t bytes = alloc.getBytes() * batch;
      if (!alloc.getOffset())
        address = allocate(bytes);
      else if (*alloc.getOffset() * batch + bytes > arenaBytes)
        return op.emitOpError() << "lies outside of the arena of " << arenaBytes << " bytes";
      else if (arenaBegin)
        address = arenaBegin + *alloc.getOffset() * batch;
    } else if (auto view = dyn_cast<plan::ViewOp>(op)) {
      if (char *source = addresses.lookup(view.getSource()))
        address = source + view.getOffset();
    }
    if (!address)
      return op.emitOpError() << "has no memory in the compiler";
    addresses[op.getResult(0)] = address;
  }
  return success();
}
