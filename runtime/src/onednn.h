// Launches that oneDNN computes: the convolutions of one context.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CONVOY_RUNTIME_ONEDNN_H
#define CONVOY_RUNTIME_ONEDNN_H

#include "artifact.h"
#include "memory.h"
#include "onednn_library.h"

namespace convoy::rt {

/// A primitive with what it reads and writes. It belongs to one launch of one context, which at
/// most one thread runs at a time.
class OneDnnLaunch {
public:
  OneDnnLaunch() = default;
  OneDnnLaunch(const OneDnnLaunch &) = delete;
  OneDnnLaunch &operator=(const OneDnnLaunch &) = delete;
  ~OneDnnLaunch();

  /// Makes the primitive for one image. `arguments` is how many the launch has.
  convoy_status create(const schema::OneDnnConv &conv, uint32_t arguments, const char *name);

  /// Scratch that a run needs.
  size_t scratchBytes() const { return scratch; }
  /// Whether oneDNN has refused a run since the last call.
  bool takeFailure();

  /// As kernel_abi.h describes it; the first argument is the OneDnnLaunch, then follow those of the
  /// launch. It has one tile: all images, one after another.
  static void run(const convoy_call *call, int64_t begin, int64_t end);

private:
  struct Operand {
    uint32_t argument; // of the launch
    size_t imageBytes; // 0: the same for all images
    dnnl::Memory memory;
  };
  bool addOperand(int dnnlArgument, uint32_t argument, dnnl::MemoryDesc desc, bool isOfImage);
  dnnl::Status createPrimitive(const schema::OneDnnConv &conv, uint32_t arguments);

  static constexpr size_t mostOperands = 5; // src, wei, bias, residual, dst
  const dnnl::Library *library = nullptr;
  dnnl::Stream stream = nullptr;
  dnnl::Primitive primitive = nullptr;
  dnnl::Memory scratchMemory = nullptr;
  Operand operands[mostOperands] = {};
  dnnl::ExecArg execArgs[mostOperands + 1] = {};
  size_t count = 0;
  size_t scratch = 0;
  bool batched = false;
  bool failed = false;
};

/// What is wrong with a description, or null: what oneDNN does not check.
const char *checkOneDnnConv(const schema::OneDnnConv &conv, const schema::Launch &launch);

} // namespace convoy::rt

#endif // CONVOY_RUNTIME_ONEDNN_H
