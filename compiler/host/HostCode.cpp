// Code of kernels, mapped into this process and called.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/host/HostCode.h"

#include "compiler/artifact/Image.h"
#include "runtime/include/convoy/kernel_abi.h"

#include "llvm/Support/Alignment.h"

#include <cstdlib>
#include <cstring>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

using namespace mlir;
using namespace convoy;

FailureOr<std::unique_ptr<HostCode>> HostCode::load(ModuleOp module, const GeneratedCode &code) {
  auto result = std::make_unique<HostCode>();
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
    result->kernels[kernel.getSymName()] = {
        symbol->second.offset, static_cast<int64_t>(*kernel.getTiles()), kernel.getBatched(),
        static_cast<int64_t>(kernel.getScratchBytes().value_or(0))};
  }
  return result;
}

HostCode::~HostCode() {
  if (memory.base())
    llvm::sys::Memory::releaseMappedMemory(memory);
}

static convoy_kernel_fn functionAt(const llvm::sys::MemoryBlock &memory, uint64_t offset) {
  return reinterpret_cast<convoy_kernel_fn>(static_cast<char *>(memory.base()) + offset);
}

void HostCode::run(StringRef name, ArrayRef<void *> args, int64_t batch) const {
  const Kernel kernel = kernels.lookup(name);
  std::vector<char> scratch(kernel.scratchBytes + CONVOY_ALIGNMENT);
  convoy_call call{args.data(), batch,
                   reinterpret_cast<void *>(
                       llvm::alignAddr(scratch.data(), llvm::Align(CONVOY_ALIGNMENT)))};
  FlushSubnormals flushed;
  int64_t end = kernel.tiles * (kernel.batched ? batch : 1);
  for (int64_t length = 1; end > 0; length = length * 2 + 1) {
    int64_t begin = std::max<int64_t>(end - length, 0);
    functionAt(memory, kernel.offset)(&call, begin, end);
    end = begin;
  }
}

void HostCode::runInOrder(StringRef name, ArrayRef<void *> args, int64_t batch,
                          void *scratch) const {
  const Kernel kernel = kernels.lookup(name);
  convoy_call call{args.data(), batch, scratch};
  functionAt(memory, kernel.offset)(&call, 0, kernel.tiles * (kernel.batched ? batch : 1));
}

FlushSubnormals::FlushSubnormals() {
#if defined(__x86_64__)
  saved = _mm_getcsr();
  _mm_setcsr(saved | 0x8040); // FTZ and DAZ
#endif
}

FlushSubnormals::~FlushSubnormals() {
#if defined(__x86_64__)
  _mm_setcsr(saved);
#endif
}

AlignedBytes convoy::allocateAligned(size_t bytes) {
  bytes = llvm::alignTo(bytes + 1, CONVOY_ALIGNMENT);
  return AlignedBytes(static_cast<char *>(std::aligned_alloc(CONVOY_ALIGNMENT, bytes)), std::free);
}
