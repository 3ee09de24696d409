// The meaning of the metadata: every section, index, offset and size against its bounds.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "artifact.h"
#include "status.h"
#include "types.h"

using namespace convoy::rt;
namespace schema = convoy::schema;

namespace {

/// No space or number of tiles comes near it, and sums of three such numbers cannot overflow.
constexpr uint64_t hugeNumber = uint64_t(1) << 60;

convoy_status checkSection(const schema::Section *section, uint64_t fileSize, const char *what) {
  if (!section)
    return CONVOY_OK;
  if (section->offset() % pageBytes != 0 || section->offset() > fileSize ||
      section->size() > fileSize - section->offset())
    return fail(CONVOY_CORRUPT, "%s at offset %llu with %llu bytes is out of bounds", what,
                static_cast<unsigned long long>(section->offset()),
                static_cast<unsigned long long>(section->size()));
  return CONVOY_OK;
}

/// A variant and the names by which messages call its parts.
class VariantCheck {
public:
  VariantCheck(const schema::Artifact &artifact, const schema::Variant &variant)
      : variant(variant), target(variant.target()->c_str()),
        constantBytes(artifact.constants() ? artifact.constants()->size() : 0) {}

  convoy_status check(uint64_t fileSize) const {
    if (convoy_status status = checkSection(variant.code(), fileSize, "the code section"))
      return status;
    if (convoy_status status = checkValues(variant.inputs(), "input"))
      return status;
    if (convoy_status status = checkValues(variant.outputs(), "output"))
      return status;
    if (convoy_status status = checkCounts())
      return status;
    if (variant.arena_bytes() % CONVOY_ALIGNMENT != 0 || variant.arena_bytes() > hugeNumber ||
        variant.scratch_bytes() > hugeNumber)
      return wrong("arena or scratch size", 0);
    if (convoy_status status = checkKernels())
      return status;
    if (convoy_status status = checkBuffers())
      return status;
    for (uint32_t i = 0; i < sizeOf(variant.launches()); ++i)
      if (convoy_status status = checkLaunch(*variant.launches()->Get(i), i))
        return status;
    return checkWaves();
  }

private:
  convoy_status wrong(const char *what, uint32_t index) const {
    return fail(CONVOY_CORRUPT, "variant %s: %s %u is out of bounds", target, what, index);
  }

  convoy_status checkValues(const flatbuffers::Vector<flatbuffers::Offset<schema::Value>> *values,
                            const char *what) const {
    for (uint32_t i = 0; i < sizeOf(values); ++i) {
      const schema::Value &value = *values->Get(i);
      uint64_t bytes = convoy_type_size(static_cast<convoy_type>(value.type()));
      // FlatBuffers' verifier looks at the alignment of a vector's length only, not its elements'.
      bool scalar = value.dims()->size() == 0;
      // An empty vector's end need not be aligned; nothing of it is read.
      if (bytes == 0 ||
          (!scalar && reinterpret_cast<uintptr_t>(value.dims()->data()) % alignof(int64_t) != 0))
        return wrong(what, i);
      for (uint32_t d = 0; d < value.dims()->size(); ++d) {
        int64_t extent = value.dims()->Get(d);
        if (d == 0 && extent == -1)
          extent = 1;
        if (extent < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes))
          return wrong(what, i);
      }
      uint32_t names = sizeOf(value.dim_names());
      if (bytes != value.bytes() || bytes > hugeNumber || (names && names != value.dims()->size()))
        return wrong(what, i);
    }
    return CONVOY_OK;
  }

  // Counts of outputs are internal outputs of one i64, after all others.
  convoy_status checkCounts() const {
    bool wasInternal = false;
    for (uint32_t i = 0; i < sizeOf(variant.outputs()); ++i) {
      const schema::Value &value = *variant.outputs()->Get(i);
      if (wasInternal && !value.internal())
        return wrong("output", i);
      wasInternal = value.internal();
      int64_t dim = value.counted_dim();
      if (dim == -1)
        continue;
      if (dim < 0 || dim >= value.dims()->size() ||
          value.dims()->Get(static_cast<uint32_t>(dim)) < 0 ||
          value.count() >= sizeOf(variant.outputs()))
        return wrong("counted dimension of output", i);
      const schema::Value &count = *variant.outputs()->Get(value.count());
      if (!count.internal() || count.type() != schema::ElementType::i64 ||
          count.bytes() != sizeof(int64_t))
        return wrong("count of output", i);
      for (int64_t extent : *count.dims())
        if (extent != 1)
          return wrong("count of output", i);
    }
    return CONVOY_OK;
  }

  convoy_status checkKernels() const {
    uint64_t codeBytes = variant.code() ? variant.code()->size() : 0;
    for (uint32_t i = 0; i < sizeOf(variant.kernels()); ++i) {
      const schema::Kernel &kernel = *variant.kernels()->Get(i);
      if (kernel.offset() >= codeBytes || kernel.bytes() > codeBytes - kernel.offset())
        return wrong("kernel", i);
    }
    return CONVOY_OK;
  }

  convoy_status checkBuffers() const {
    for (uint32_t i = 0; i < sizeOf(variant.buffers()); ++i) {
      const schema::Buffer &buffer = *variant.buffers()->Get(i);
      if (buffer.offset() % CONVOY_ALIGNMENT != 0 || buffer.offset() > variant.arena_bytes() ||
          buffer.bytes() > variant.arena_bytes() - buffer.offset())
        return wrong("buffer", i);
    }
    return CONVOY_OK;
  }

  convoy_status checkLaunch(const schema::Launch &launch, uint32_t index) const {
    if (launch.kernel() >= sizeOf(variant.kernels()) || launch.tiles() > hugeNumber)
      return wrong("launch", index);
    for (uint32_t i = 0; i < sizeOf(launch.args()); ++i)
      if (!isArgValid(*launch.args()->Get(i)))
        return fail(CONVOY_CORRUPT, "variant %s: argument %u of launch %u (%s) is out of bounds",
                    target, i, index, text(launch.name()));
    return CONVOY_OK;
  }

  // Launches of one wave run at the same time: what one writes the others must not touch.
  convoy_status checkWaves() const {
    constexpr uint32_t mostArgs = 1024; // each is compared with each
    uint32_t first = 0, args = 0;
    uint64_t tiles = 0;
    for (uint32_t i = 0; i < sizeOf(variant.launches()); ++i) {
      const schema::Launch &launch = *variant.launches()->Get(i);
      if (!launch.joins()) {
        first = i;
        args = 0;
        tiles = 0;
      }
      tiles += launch.tiles();
      args += sizeOf(launch.args());
      if (launch.joins() && (i == 0 || args > mostArgs || tiles > hugeNumber))
        return wrong("the wave of launch", i);
      for (uint32_t other = first; other < i; ++other)
        if (meet(launch, *variant.launches()->Get(other)))
          return fail(CONVOY_CORRUPT,
                      "variant %s: launches %u and %u of one wave use the same memory", target,
                      other, i);
    }
    return CONVOY_OK;
  }

  static bool meet(const schema::Launch &a, const schema::Launch &b) {
    for (uint32_t i = 0; i < sizeOf(a.args()); ++i)
      for (uint32_t j = 0; j < sizeOf(b.args()); ++j)
        if (meet(*a.args()->Get(i), *b.args()->Get(j)))
          return true;
    return false;
  }

  static bool meet(const schema::Arg &a, const schema::Arg &b) {
    uint64_t beginA = a.offset() + a.slice_offset(), beginB = b.offset() + b.slice_offset();
    return (a.writes() || b.writes()) && a.space() == b.space() && a.index() == b.index() &&
           beginA < beginB + b.bytes() && beginB < beginA + a.bytes();
  }

  bool isArgValid(const schema::Arg &arg) const {
    uint64_t limit = 0;
    bool writable = true;
    switch (arg.space()) {
    case schema::Space::input:
      if (arg.index() >= sizeOf(variant.inputs()))
        return false;
      limit = variant.inputs()->Get(arg.index())->bytes();
      writable = false;
      break;
    case schema::Space::output:
      if (arg.index() >= sizeOf(variant.outputs()))
        return false;
      limit = variant.outputs()->Get(arg.index())->bytes();
      break;
    case schema::Space::constant:
      limit = constantBytes;
      writable = false;
      break;
    case schema::Space::arena:
      if (arg.offset() % CONVOY_ALIGNMENT != 0)
        return false;
      limit = variant.arena_bytes();
      break;
    default:
      return false; // a newer space: its writer must raise the least runtime version
    }
    if (arg.writes() && !writable)
      return false;
    if (arg.offset() > hugeNumber || arg.slice_offset() > hugeNumber || arg.bytes() > hugeNumber)
      return false;
    return arg.offset() + arg.slice_offset() + arg.bytes() <= limit;
  }

  const schema::Variant &variant;
  const char *target;
  uint64_t constantBytes;
};

} // namespace

convoy_status convoy::rt::verifyMetadata(const schema::Artifact &artifact, uint64_t fileSize) {
  if (convoy_status status = checkSection(artifact.constants(), fileSize, "the constants"))
    return status;
  if (sizeOf(artifact.variants()) == 0)
    return fail(CONVOY_CORRUPT, "the artifact has no variant");
  for (const schema::Variant *variant : *artifact.variants())
    if (convoy_status status = VariantCheck(artifact, *variant).check(fileSize))
      return status;
  return CONVOY_OK;
}
