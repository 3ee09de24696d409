// What a kind of machine provides so that models can run on it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CONVOY_RUNTIME_DEVICE_H
#define CONVOY_RUNTIME_DEVICE_H

#include "artifact.h"
#include "file.h"
#include "status.h"

namespace convoy::rt {

/// The loaded code of a variant: immutable, shared by contexts. Devices derive from it.
struct Program {};

/// A context's share of a device: threads, scratch. Devices derive from it.
struct Queue {};

/// A launch with the addresses of one context in it.
struct Step {
  const void *kernel = nullptr;
  void *const *args = nullptr;
  int64_t tiles = 0;
  bool joins = false; // runs side by side with the step before it
};

struct QueueOptions {
  uint32_t threads;
  size_t scratchBytes;
  size_t steps; // of every run
  convoy_allocator allocator;
  convoy_parallel_for parallelFor; // may be null
  void *parallelForUser;
};

struct Device {
  /// The part of a variant's target before "-".
  const char *name;

  /// Whether this machine can run the variant; adds what it lacks to the text if not.
  bool (*supports)(const schema::Variant &variant, Text &missing);

  convoy_status (*load)(const File &file, const schema::Variant &variant, Program **program);
  void (*unload)(Program *program);

  /// The entry of a kernel, as Step::kernel.
  const void *(*entry)(const Program *program, const schema::Kernel &kernel);

  convoy_status (*open)(const QueueOptions &options, Queue **queue);
  void (*close)(Queue *queue);

  /// Runs the steps in order; those that join others, together with them. `times` gets the
  /// nanoseconds of each if it is not null.
  void (*run)(Queue *queue, const Step *steps, size_t count, int64_t batch, uint64_t *times);
};

extern const Device x86Device;

/// The device for a target, or null if this runtime has none.
const Device *findDevice(const char *target);

} // namespace convoy::rt

#endif // CONVOY_RUNTIME_DEVICE_H
