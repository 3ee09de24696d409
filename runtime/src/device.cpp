// The list of devices.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "device.h"

#include <string.h>

using namespace convoy::rt;

const Device *convoy::rt::findDevice(const char *target) {
  static constexpr const Device *devices[] = {&x86Device};
  for (const Device *device : devices) {
    size_t length = strlen(device->name);
    if (strncmp(target, device->name, length) == 0 && target[length] == '-')
      return device;
  }
  return nullptr;
}
