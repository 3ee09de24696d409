// A loaded artifact: immutable, shared by contexts.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CONVOY_RUNTIME_MODEL_H
#define CONVOY_RUNTIME_MODEL_H

#include "device.h"
#include "memory.h"

namespace convoy::rt {

/// The inputs or the outputs of a profile.
struct Values {
  Array<convoy_value_info> infos;
  Array<const char *> dimNames; // of all values, one after another

  using Metadata = flatbuffers::Vector<flatbuffers::Offset<schema::Value>>;
  bool load(const Metadata *metadata);
  size_t size() const { return infos.size(); }
  /// Those that callers see; outputs that only hold counts come after them.
  size_t visible = 0;
};

/// One variant, chosen for this machine, with its code loaded.
struct Profile {
  const schema::Variant *variant = nullptr;
  const Device *device = nullptr;
  Program *program = nullptr;
  Values inputs, outputs;
  bool sharesProgram = false; // with an earlier profile, which unloads it
  bool batched = false;   // some input or output has a free batch
  int64_t batchLimit = 1; // no size or number of tiles overflows up to it

  Profile() = default;
  ~Profile();
  /// `earlier` have been loaded; code that one of them has is not loaded again.
  convoy_status load(const File &file, const schema::Variant &chosen, const Device &its,
                     const Array<Profile> &earlier, size_t count);
  const char *name() const { return text(variant->profile()); }
};

/// Whether dimension 0 is the batch.
inline bool isBatched(const convoy_value_info &value) {
  return value.rank != 0 && value.dims[0] == -1;
}

} // namespace convoy::rt

struct convoy_model {
  convoy::rt::File file;
  const convoy::schema::Artifact *artifact = nullptr;
  convoy::rt::Array<convoy::rt::Profile> profiles;

  const unsigned char *constants() const {
    return artifact->constants() ? file.data() + artifact->constants()->offset() : nullptr;
  }

  /// The first profile that takes inputs of these shapes, as many as it has; null if none does.
  const convoy::rt::Profile *findProfileFor(const convoy_tensor *tensors) const;

  /// Verifies the file, which has been opened, and loads what this machine can run.
  convoy_status load(const convoy_load_options *options);
};

#endif // CONVOY_RUNTIME_MODEL_H
