// Checks and binds the tensors of a context.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "context.h"
#include "types.h"

using namespace convoy::rt;

/// Names a profile whose input the tensor fits, if that is another one.
void convoy_context::addOtherProfile(Text &text, const Slot &slot,
                                     const convoy_tensor &tensor) const {
  size_t index = static_cast<size_t>(&slot - inputs.begin());
  if (&slot < inputs.begin() || &slot >= inputs.end() || tensor.type != slot.value->type)
    return;
  for (const Profile &other : model.profiles) {
    const convoy_value_info &value = other.inputs.infos[index];
    bool fits = &other != profile && value.rank == tensor.rank;
    for (size_t d = 0; fits && d < value.rank; ++d)
      fits = tensor.dims[d] == value.dims[d] || (value.dims[d] == -1 && tensor.dims[d] > 0);
    if (!fits)
      continue;
    text.add("; profile %zu", static_cast<size_t>(&other - model.profiles.begin()));
    if (other.name()[0])
      text.add(" \"%.100s\"", other.name());
    text.add(" takes it");
    return;
  }
}

convoy_status convoy_context::checkTensor(const Slot &slot, const char *kind,
                                          const convoy_tensor &tensor) const {
  const convoy_value_info &value = *slot.value;
  if (tensor.rank && !tensor.dims)
    return fail(CONVOY_INVALID_ARGUMENT, "%s \"%s\": dims is NULL", kind, value.name);
  Text shapes;
  auto differ = [&](convoy_status status, const char *what) {
    constexpr size_t shown = 16;
    shapes.add("%s: expected ", what);
    addShape(shapes, value.type, value.dims, value.rank);
    shapes.add(", got ");
    addShape(shapes, tensor.type, tensor.dims, tensor.rank < shown ? tensor.rank : shown);
    addOtherProfile(shapes, slot, tensor);
    return fail(status, "%s \"%s\": wrong %s", kind, value.name, shapes.str());
  };
  if (tensor.type != value.type)
    return differ(CONVOY_TYPE_MISMATCH, "element type");
  if (tensor.rank != value.rank)
    return differ(CONVOY_RANK_MISMATCH, "number of dimensions");
  for (size_t d = slot.isBatched() ? 1 : 0; d < value.rank; ++d)
    if (tensor.dims[d] != value.dims[d])
      return differ(CONVOY_SHAPE_MISMATCH, "extent");

  int64_t images = slot.isBatched() ? tensor.dims[0] : 1;
  if (slot.isBatched())
    if (convoy_status status = checkBatch(images))
      return status;
  size_t needed = slot.bytesFor(images);
  if (tensor.bytes < needed)
    return fail(CONVOY_SIZE_MISMATCH, "%s \"%s\": needs %zu bytes, the buffer has %zu", kind,
                value.name, needed, tensor.bytes);
  if (!tensor.data && needed)
    return fail(CONVOY_INVALID_ARGUMENT, "%s \"%s\": data is NULL", kind, value.name);
  size_t element = convoy_type_size(value.type);
  if (reinterpret_cast<uintptr_t>(tensor.data) % element != 0)
    return fail(CONVOY_INVALID_ARGUMENT, "%s \"%s\": data is not aligned to its %zu-byte elements",
                kind, value.name, element);
  return CONVOY_OK;
}

convoy_status convoy_context::bind(Slot &slot, const char *kind, const convoy_tensor *tensor) {
  if (!tensor)
    return bindOwn(slot, kind);
  if (convoy_status status = checkTensor(slot, kind, *tensor))
    return status;
  slot.own = false;
  slot.memory.reset();
  slot.data = tensor->data;
  slot.bytes = tensor->bytes;
  stale = true;
  if (!slot.isBatched())
    return CONVOY_OK;
  slot.batch = slot.dims[0] = tensor->dims[0];
  return setBatch(slot.batch);
}

convoy_status convoy_context::bindOwn(Slot &slot, const char *kind) {
  int64_t images = batch ? batch : 1;
  stale = true;
  slot.own = true;
  if (!growOwn(slot, images))
    return fail(CONVOY_OUT_OF_MEMORY, "%s \"%s\": no memory for %zu bytes", kind, slot.value->name,
                slot.bytesFor(images));
  return CONVOY_OK;
}

convoy_status convoy_context::checkBound(const Array<Slot> &slots, const char *kind) const {
  for (const Slot &slot : slots) {
    if (!slot.data && slot.bytesFor(batch))
      return fail(CONVOY_NOT_SET, "%s \"%s\" has not been set", kind, slot.value->name);
    if (slot.isBatched() && slot.batch != batch)
      return fail(CONVOY_BATCH_MISMATCH, "%s \"%s\" was set for a batch of %lld, the batch is %lld",
                  kind, slot.value->name, static_cast<long long>(slot.batch),
                  static_cast<long long>(batch));
  }
  return CONVOY_OK;
}
