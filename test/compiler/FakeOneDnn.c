// A library that says of itself which oneDNN it is, and has nothing else.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

struct version {
  int major, minor, patch;
  const char *hash;
  unsigned cpu_runtime, gpu_runtime;
};

__attribute__((visibility("default"))) const struct version *dnnl_version(void) {
  static const struct version version = {FAKE_VERSION, "none", FAKE_RUNTIME, 0};
  return &version;
}
