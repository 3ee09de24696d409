// Creates contexts; memory that follows the batch.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "context.h"

#include "cpu.h"

#include <string.h>

using namespace convoy::rt;
namespace schema = convoy::schema;

/// More is a mistake; it also bounds the scratch that a context may ask for.
static constexpr uint32_t maxThreads = 1024;

convoy_context::~convoy_context() {
  if (queue)
    profile->device->close(queue);
}

convoy_status convoy_context::initialize(const convoy_context_options &options) {
  if (options.profile >= model.profiles.size())
    return fail(CONVOY_NO_SUCH_INDEX, "profile %zu of a model with %zu", options.profile,
                model.profiles.size());
  if (options.threads > maxThreads)
    return fail(CONVOY_INVALID_ARGUMENT, "%u threads asked for, at most %u are possible",
                options.threads, maxThreads);
  profile = &model.profiles[options.profile];
  threads = options.threads ? options.threads : usableCpus();
  if (threads > maxThreads)
    threads = maxThreads;
  if (options.max_batch)
    if (convoy_status status = checkBatch(options.max_batch))
      return status;

  if (!makeSlots(inputs, profile->inputs) || !makeSlots(outputs, profile->outputs))
    return fail(CONVOY_OUT_OF_MEMORY, "no memory for the tables of a context");
  if (convoy_status status = makeSteps())
    return status;
  QueueOptions queueOptions{threads, profile->variant->scratch_bytes(), steps.size(),
                            allocator, options.parallel_for, options.parallel_for_user};
  if (convoy_status status = profile->device->open(queueOptions, &queue))
    return status;
  // Memory for the largest batch stays when the batch shrinks.
  if (options.max_batch)
    if (convoy_status status = setBatch(options.max_batch))
      return status;
  maxBatch = options.max_batch;
  return setBatch(1);
}

bool convoy_context::makeSlots(Array<Slot> &slots, const Values &values) {
  if (!slots.allocate(allocator, values.size()))
    return false;
  for (size_t i = 0; i < values.size(); ++i) {
    Slot &slot = slots[i];
    slot.value = &values.infos[i];
    slot.batch = ::isBatched(*slot.value) ? 1 : 0;
    slot.own = &slots == &outputs; // an input becomes so when it is asked for
    if (!slot.dims.allocate(allocator, slot.value->rank))
      return false;
    for (size_t d = 0; d < slot.value->rank; ++d)
      slot.dims[d] = slot.value->dims[d] == -1 ? 1 : slot.value->dims[d];
  }
  return true;
}

convoy_status convoy_context::makeSteps() {
  const auto *launches = profile->variant->launches();
  size_t count = sizeOf(launches), total = 0;
  for (uint32_t i = 0; i < count; ++i)
    total += sizeOf(launches->Get(i)->args());
  if (!steps.allocate(allocator, count) || !times.allocate(allocator, count) ||
      !arguments.allocate(allocator, total))
    return fail(CONVOY_OUT_OF_MEMORY, "no memory for %zu launches", count);
  void **next = arguments.begin();
  for (uint32_t i = 0; i < count; ++i) {
    const schema::Launch &launch = *launches->Get(i);
    const schema::Kernel &kernel = *profile->variant->kernels()->Get(launch.kernel());
    steps[i].kernel = profile->device->entry(profile->program, kernel);
    steps[i].args = next;
    steps[i].joins = launch.joins();
    next += sizeOf(launch.args());
  }
  return CONVOY_OK;
}

convoy_status convoy_context::checkBatch(int64_t images) const {
  auto asked = static_cast<long long>(images);
  if (images < 1)
    return fail(CONVOY_BATCH_LIMIT, "a batch of %lld, expected at least 1", asked);
  if (!profile->batched && images != 1)
    return fail(CONVOY_BATCH_LIMIT, "a batch of %lld for a model without a free batch", asked);
  if (maxBatch && images > maxBatch)
    return fail(CONVOY_BATCH_LIMIT, "a batch of %lld, the context allows up to %lld", asked,
                static_cast<long long>(maxBatch));
  if (images > profile->batchLimit)
    return fail(CONVOY_BATCH_LIMIT, "a batch of %lld, the model allows up to %lld", asked,
                static_cast<long long>(profile->batchLimit));
  return CONVOY_OK;
}

convoy_status convoy_context::setBatch(int64_t images) {
  if (images == batch)
    return CONVOY_OK;
  if (convoy_status status = checkBatch(images))
    return status;
  // The old arena goes first, so that the two are never in memory together.
  batch = 0;
  stale = true;
  size_t bytes = profile->variant->arena_bytes() * static_cast<size_t>(images);
  bool grown = arena.size() >= bytes && arena.data();
  grown = grown || arena.allocate(allocator, bytes);
  for (const Array<Slot> *slots : {&inputs, &outputs})
    for (Slot &slot : *slots)
      grown = grown && (!slot.own || growOwn(slot, images));
  if (!grown)
    return fail(CONVOY_OUT_OF_MEMORY, "no memory for a batch of %lld: the arena takes %zu bytes",
                static_cast<long long>(images), bytes);
  batch = images;
  const auto *launches = profile->variant->launches();
  for (uint32_t i = 0; i < steps.size(); ++i) {
    const schema::Launch &launch = *launches->Get(i);
    steps[i].tiles = static_cast<int64_t>(launch.tiles()) * (launch.batched() ? images : 1);
  }
  return CONVOY_OK;
}

bool convoy_context::growOwn(Slot &slot, int64_t images) {
  size_t bytes = slot.bytesFor(images);
  if (!slot.memory.data() || slot.memory.size() < bytes) {
    slot.data = nullptr;
    if (!slot.memory.allocate(allocator, bytes))
      return false;
    memset(slot.memory.data(), 0, bytes);
  }
  slot.data = slot.memory.data();
  slot.bytes = bytes;
  if (slot.isBatched())
    slot.batch = slot.dims[0] = images;
  return true;
}
