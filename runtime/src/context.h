// A model with memory, threads and tensors: runs on one thread at a time.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CONVOY_RUNTIME_CONTEXT_H
#define CONVOY_RUNTIME_CONTEXT_H

#include "model.h"
#include "onednn.h"

namespace convoy::rt {

/// An input or output of a context and the memory that it is bound to.
struct Slot {
  const convoy_value_info *value = nullptr;
  void *data = nullptr; // null: an input that has not been set
  size_t bytes = 0;
  int64_t batch = 0; // that data is for; 0 if the value has no batch
  bool own = false;  // data is the runtime's
  Block memory;      // the runtime's; grows only
  Array<int64_t> dims;

  bool isBatched() const { return batch != 0; }
  size_t bytesFor(int64_t images) const {
    return isBatched() ? value->bytes * static_cast<size_t>(images) : value->bytes;
  }
  convoy_tensor tensor() const { return {data, bytes, value->type, value->rank, dims.begin()}; }
};

} // namespace convoy::rt

struct convoy_context {
  using Slot = convoy::rt::Slot;

  convoy_context(const convoy_model &model, const convoy_allocator &allocator)
      : model(model), allocator(allocator) {}
  ~convoy_context();

  convoy_status initialize(const convoy_context_options &options);

  /// Checks everything before it changes anything.
  convoy_status setBatch(int64_t images);

  /// Binds a slot to the caller's memory, or to the runtime's own for null.
  convoy_status bind(Slot &slot, const char *kind, const convoy_tensor *tensor);
  convoy_status bindOwn(Slot &slot, const char *kind);

  convoy_status run();

  const convoy_model &model;
  const convoy_allocator allocator;
  const convoy::rt::Profile *profile = nullptr;
  convoy::rt::Queue *queue = nullptr;
  uint32_t threads = 1;
  int64_t batch = 0; // 0: memory for the last batch could not be had
  int64_t maxBatch = 0;
  bool stale = true; // addresses in `arguments` are not those of the slots
  bool profiling = false;
  bool measured = false;

  convoy::rt::Array<Slot> inputs, outputs;
  convoy::rt::Block arena;
  convoy::rt::Array<convoy::rt::Step> steps;
  convoy::rt::Array<void *> arguments; // of all steps, one after another
  convoy::rt::Array<uint64_t> times;
  convoy::rt::Array<convoy::rt::OneDnnLaunch> oneDnnLaunches; // of those launches, in their order

private:
  bool makeSlots(convoy::rt::Array<Slot> &slots, const convoy::rt::Values &values);
  convoy_status makeSteps();
  convoy_status makeOneDnnLaunches();
  const convoy::schema::OneDnnConv *oneDnnOf(const convoy::schema::Launch &launch) const {
    return profile->variant->kernels()->Get(launch.kernel())->onednn();
  }
  convoy_status checkBatch(int64_t images) const;
  convoy_status checkTensor(const Slot &slot, const char *kind, const convoy_tensor &tensor) const;
  void addOtherProfile(convoy::rt::Text &text, const Slot &slot, const convoy_tensor &tensor) const;
  convoy_status checkBound(const convoy::rt::Array<Slot> &slots, const char *kind) const;
  bool growOwn(Slot &slot, int64_t images);
  void resolve();
  /// Sets the extents of outputs that the last run has decided.
  void readCounts();
};

#endif // CONVOY_RUNTIME_CONTEXT_H
