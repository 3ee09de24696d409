// Memory of a program that is run in the compiler.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/verify/Program.h"

#include "dialects/Cnn/ConstantData.h"
#include "runtime/include/convoy/kernel_abi.h"

#include "llvm/Support/Alignment.h"

#include <cstdlib>
#include <cstring>

using namespace mlir;
using namespace convoy;
using namespace convoy::verify;

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
