// Runs a context: resolves addresses that have changed and hands the launches to the device.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "context.h"

using namespace convoy::rt;
namespace schema = convoy::schema;

void convoy_context::resolve() {
  auto address = [&](const schema::Arg &arg) {
    auto at = [](const void *base, uint64_t offset) {
      return reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(base) + offset);
    };
    uint64_t offset = arg.offset() + arg.slice_offset();
    switch (arg.space()) {
    case schema::Space::input:
      return at(inputs[arg.index()].data, offset);
    case schema::Space::output:
      return at(outputs[arg.index()].data, offset);
    case schema::Space::constant:
      return at(model.constants(), offset);
    case schema::Space::arena:
      break;
    }
    // Scaling all offsets by the batch keeps the plan valid: what was apart stays apart.
    return at(arena.data(), arg.offset() * static_cast<uint64_t>(batch) + arg.slice_offset());
  };
  void **next = arguments.begin();
  for (uint32_t i = 0; i < steps.size(); ++i) {
    const schema::Launch &launch = *profile->variant->launches()->Get(i);
    const auto *args = launch.args();
    next += oneDnnOf(launch) != nullptr; // its own argument stays
    for (uint32_t a = 0; a < sizeOf(args); ++a)
      *next++ = address(*args->Get(a));
  }
  stale = false;
}

void convoy_context::readCounts() {
  for (uint32_t i = 0; i < profile->outputs.visible; ++i) {
    const convoy_value_info &info = profile->outputs.infos[i];
    if (info.counted_dim == -1)
      continue;
    uint32_t from = profile->variant->outputs()->Get(i)->count();
    int64_t count = *static_cast<const int64_t *>(outputs[from].data);
    int64_t most = info.dims[info.counted_dim];
    outputs[i].dims[static_cast<size_t>(info.counted_dim)] =
        count < 0 ? 0 : count > most ? most : count;
  }
}

convoy_status convoy_context::run() {
  measured = false;
  if (batch == 0)
    return fail(CONVOY_OUT_OF_MEMORY, "there was no memory for the batch set last");
  if (convoy_status status = checkBound(inputs, "input"))
    return status;
  if (convoy_status status = checkBound(outputs, "output"))
    return status;
  if (stale)
    resolve();
  profile->device->run(queue, steps.begin(), steps.size(), batch,
                       profiling ? times.begin() : nullptr);
  measured = profiling;
  for (OneDnnLaunch &launch : oneDnnLaunches)
    if (launch.takeFailure())
      return fail(CONVOY_SYSTEM, "oneDNN failed to compute a convolution; its memory may be short");
  readCounts();
  return CONVOY_OK;
}
