// Chooses variants and prepares what queries return.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "model.h"

#include <string.h>

using namespace convoy::rt;
namespace schema = convoy::schema;

namespace {

bool haveEqualDims(const Values::Metadata *a, const Values::Metadata *b) {
  if (sizeOf(a) != sizeOf(b))
    return false;
  for (uint32_t i = 0; i < sizeOf(a); ++i) {
    const auto &left = *a->Get(i)->dims(), &right = *b->Get(i)->dims();
    if (left.size() != right.size() ||
        memcmp(left.data(), right.data(), left.size() * sizeof(int64_t)) != 0)
      return false;
  }
  return true;
}

/// Profiles of a model differ in extents only.
bool haveEqualSignature(const Values &a, const Values &b) {
  if (a.size() != b.size())
    return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (strcmp(a.infos[i].name, b.infos[i].name) != 0 || a.infos[i].type != b.infos[i].type ||
        a.infos[i].rank != b.infos[i].rank)
      return false;
  return true;
}

/// The variants that this machine can run: the first such one, and the others of its target that
/// have other input shapes than all before them.
class Choice {
public:
  explicit Choice(const char *wanted) : wanted(wanted) {}

  bool allocate(size_t variants) { return chosen.allocate(systemAllocator(), variants); }

  void consider(const schema::Variant &variant) {
    const char *target = variant.target()->c_str();
    if (wanted && strcmp(wanted, target) != 0) {
      reasons.add("%s%s was not asked for", reasons.str()[0] ? "; " : "", target);
      return;
    }
    const Device *itsDevice = findDevice(target);
    Text missing;
    if (!itsDevice)
      missing.add("this runtime has no device for it");
    if (!itsDevice || !itsDevice->supports(variant, missing)) {
      reasons.add("%s%s: %s", reasons.str()[0] ? "; " : "", target, missing.str());
      return;
    }
    if (count && strcmp(chosen[0]->target()->c_str(), target) != 0)
      return;
    for (size_t i = 0; i < count; ++i)
      if (haveEqualDims(chosen[i]->inputs(), variant.inputs()))
        return;
    device = itsDevice;
    chosen[count++] = &variant;
  }

  const char *wanted;
  const Device *device = nullptr;
  Array<const schema::Variant *> chosen;
  size_t count = 0;
  Text reasons; // why the others cannot run
};

} // namespace

bool Values::load(const Metadata *metadata) {
  size_t dims = 0;
  for (uint32_t i = 0; i < sizeOf(metadata); ++i)
    dims += metadata->Get(i)->dims()->size();
  if (!infos.allocate(systemAllocator(), sizeOf(metadata)) ||
      !dimNames.allocate(systemAllocator(), dims))
    return false;
  const char **names = dimNames.begin();
  for (uint32_t i = 0; i < sizeOf(metadata); ++i) {
    const schema::Value &value = *metadata->Get(i);
    uint32_t rank = value.dims()->size();
    infos[i] = {value.name()->c_str(),
                static_cast<convoy_type>(value.type()),
                rank,
                value.dims()->data(),
                names,
                value.bytes(),
                value.counted_dim()};
    visible += !value.internal();
    for (uint32_t d = 0; d < rank; ++d)
      *names++ = sizeOf(value.dim_names()) ? value.dim_names()->Get(d)->c_str() : "";
  }
  return true;
}

Profile::~Profile() {
  if (program && !sharesProgram)
    device->unload(program);
}

/// Whether all extents agree, those of a free batch with each other.
static bool takes(const Profile &profile, const convoy_tensor *tensors) {
  int64_t batch = 0; // not known yet
  for (size_t i = 0; i < profile.inputs.size(); ++i) {
    const convoy_value_info &value = profile.inputs.infos[i];
    const convoy_tensor &tensor = tensors[i];
    if (tensor.rank != value.rank || (tensor.rank && !tensor.dims))
      return false;
    size_t d = 0;
    if (isBatched(value)) {
      if (tensor.dims[0] < 1 || (batch && tensor.dims[0] != batch))
        return false;
      batch = tensor.dims[0];
      d = 1;
    }
    for (; d < value.rank; ++d)
      if (tensor.dims[d] != value.dims[d])
        return false;
  }
  return true;
}

const Profile *convoy_model::findProfileFor(const convoy_tensor *tensors) const {
  for (const Profile &profile : profiles)
    if (takes(profile, tensors))
      return &profile;
  return nullptr;
}

convoy_status Profile::load(const File &file, const schema::Variant &chosen, const Device &its,
                            const Array<Profile> &earlier, size_t count) {
  variant = &chosen;
  device = &its;
  if (!inputs.load(chosen.inputs()) || !outputs.load(chosen.outputs()))
    return fail(CONVOY_OUT_OF_MEMORY, "no memory for descriptions of inputs and outputs");

  uint64_t largest = chosen.arena_bytes();
  for (const Values *values : {&inputs, &outputs})
    for (const convoy_value_info &value : values->infos) {
      batched |= isBatched(value);
      largest = value.bytes > largest ? value.bytes : largest;
    }
  uint64_t tiles = 0; // of a wave so far
  for (uint32_t i = 0; i < sizeOf(chosen.launches()); ++i) {
    const schema::Launch &launch = *chosen.launches()->Get(i);
    tiles = launch.tiles() + (launch.joins() ? tiles : 0);
    largest = tiles > largest ? tiles : largest;
  }
  if (batched) {
    constexpr int64_t largestProduct = int64_t(1) << 61;
    batchLimit = largest ? largestProduct / static_cast<int64_t>(largest) : largestProduct;
  }
  for (size_t i = 0; i < count; ++i) {
    const schema::Section *code = earlier[i].variant->code(), *own = chosen.code();
    if (code && own && code->offset() == own->offset() && code->size() == own->size()) {
      program = earlier[i].program;
      sharesProgram = true;
      return CONVOY_OK;
    }
  }
  return its.load(file, chosen, &program);
}

convoy_status convoy_model::load(const convoy_load_options *options) {
  if (convoy_status status = verifyArtifact(file.data(), file.size(), &artifact))
    return status;
  Choice choice(options ? options->target : nullptr);
  if (!choice.allocate(artifact->variants()->size()))
    return fail(CONVOY_OUT_OF_MEMORY, "no memory for a list of variants");
  for (const schema::Variant *variant : *artifact->variants())
    choice.consider(*variant);
  if (choice.count == 0 && choice.wanted)
    return fail(CONVOY_UNSUPPORTED_MACHINE, "no variant for target %s that can run here: %s",
                choice.wanted, choice.reasons.str());
  if (choice.count == 0)
    return fail(CONVOY_UNSUPPORTED_MACHINE, "no variant can run here: %s", choice.reasons.str());

  if (!profiles.allocate(systemAllocator(), choice.count))
    return fail(CONVOY_OUT_OF_MEMORY, "no memory for %zu profiles", choice.count);
  for (size_t i = 0; i < choice.count; ++i) {
    if (convoy_status status = profiles[i].load(file, *choice.chosen[i], *choice.device, profiles, i))
      return status;
    if (!haveEqualSignature(profiles[0].inputs, profiles[i].inputs) ||
        !haveEqualSignature(profiles[0].outputs, profiles[i].outputs))
      return fail(CONVOY_CORRUPT, "profiles 0 and %zu differ in more than extents", i);
  }
  return CONVOY_OK;
}
