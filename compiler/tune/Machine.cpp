// The machine that measures, and the compiler that makes what is measured.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/tune/Machine.h"

#include "compiler/tune/Fingerprint.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"
#include "llvm/TargetParser/Host.h"

#include <cstring>
#include <vector>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

using namespace convoy::tune;

static Cpu askHost() {
  Cpu cpu;
#if defined(__x86_64__)
  unsigned a, b, c, d;
  if (__get_cpuid(0, &a, &b, &c, &d)) {
    char vendor[12];
    std::memcpy(vendor, &b, 4);
    std::memcpy(vendor + 4, &d, 4);
    std::memcpy(vendor + 8, &c, 4);
    cpu.vendor.assign(vendor, sizeof vendor);
  }
  if (__get_cpuid(1, &a, &b, &c, &d)) {
    cpu.family = (a >> 8) & 15;
    cpu.model = (a >> 4) & 15;
    if (cpu.family == 6 || cpu.family == 15)
      cpu.model += ((a >> 16) & 15) << 4;
    if (cpu.family == 15)
      cpu.family += (a >> 20) & 255;
  }
  char brand[48] = {};
  for (unsigned i = 0; i < 3; ++i)
    if (__get_cpuid(0x80000002 + i, &a, &b, &c, &d)) {
      unsigned words[] = {a, b, c, d};
      std::memcpy(brand + 16 * i, words, 16);
    }
  cpu.brand = llvm::StringRef(brand, strnlen(brand, sizeof brand)).trim().str();
#endif
  std::vector<std::string> names;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    if (feature.getValue())
      names.push_back(feature.getKey().str());
  llvm::sort(names);
  std::string all = llvm::join(names, ",");
  std::array<uint8_t, 32> digest = llvm::SHA256::hash(
      llvm::ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(all.data()), all.size()));
  cpu.features = llvm::toHex(llvm::ArrayRef<uint8_t>(digest).take_front(4), /*LowerCase=*/true);
  return cpu;
}

const Cpu &Cpu::host() {
  static const Cpu cpu = askHost();
  return cpu;
}

std::string Cpu::machineClass() const { return vendor + " family " + std::to_string(family); }

std::string Cpu::name() const {
  return machineClass() + " model " + std::to_string(model) + ", " + brand + ", features " +
         features;
}

std::string convoy::tune::compilerVersion() { return CONVOY_CODE_VERSION; }
