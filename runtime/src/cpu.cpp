// CPUID, XGETBV and the limits on CPUs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cpu.h"

#include <cpuid.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

namespace {

enum Register { EAX, EBX, ECX, EDX };

/// Registers that the operating system must save for a feature to be usable, as bits of XCR0.
enum State : uint32_t { None = 0, Ymm = 0x6, Zmm = 0xE6 };

struct Feature {
  const char *name;
  uint32_t leaf, subleaf;
  Register where;
  int bit;
  State state;
};

constexpr Feature features[] = {
    {"sse2", 1, 0, EDX, 26, None},
    {"cx8", 1, 0, EDX, 8, None},
    {"cmov", 1, 0, EDX, 15, None},
    {"mmx", 1, 0, EDX, 23, None},
    {"fxsr", 1, 0, EDX, 24, None},
    {"sse", 1, 0, EDX, 25, None},
    {"sse3", 1, 0, ECX, 0, None},
    {"pclmul", 1, 0, ECX, 1, None},
    {"ssse3", 1, 0, ECX, 9, None},
    {"fma", 1, 0, ECX, 12, Ymm},
    {"cx16", 1, 0, ECX, 13, None},
    {"sse4.1", 1, 0, ECX, 19, None},
    {"sse4.2", 1, 0, ECX, 20, None},
    {"movbe", 1, 0, ECX, 22, None},
    {"popcnt", 1, 0, ECX, 23, None},
    {"aes", 1, 0, ECX, 25, None},
    {"avx", 1, 0, ECX, 28, Ymm},
    {"f16c", 1, 0, ECX, 29, Ymm},
    {"rdrnd", 1, 0, ECX, 30, None},
    {"fsgsbase", 7, 0, EBX, 0, None},
    {"bmi", 7, 0, EBX, 3, None},
    {"avx2", 7, 0, EBX, 5, Ymm},
    {"bmi2", 7, 0, EBX, 8, None},
    {"avx512f", 7, 0, EBX, 16, Zmm},
    {"avx512dq", 7, 0, EBX, 17, Zmm},
    {"rdseed", 7, 0, EBX, 18, None},
    {"adx", 7, 0, EBX, 19, None},
    {"avx512ifma", 7, 0, EBX, 21, Zmm},
    {"clflushopt", 7, 0, EBX, 23, None},
    {"clwb", 7, 0, EBX, 24, None},
    {"avx512cd", 7, 0, EBX, 28, Zmm},
    {"sha", 7, 0, EBX, 29, None},
    {"avx512bw", 7, 0, EBX, 30, Zmm},
    {"avx512vl", 7, 0, EBX, 31, Zmm},
    {"avx512vbmi", 7, 0, ECX, 1, Zmm},
    {"avx512vbmi2", 7, 0, ECX, 6, Zmm},
    {"gfni", 7, 0, ECX, 8, None},
    {"vaes", 7, 0, ECX, 9, Ymm},
    {"vpclmulqdq", 7, 0, ECX, 10, Ymm},
    {"avx512vnni", 7, 0, ECX, 11, Zmm},
    {"avx512bitalg", 7, 0, ECX, 12, Zmm},
    {"avx512vpopcntdq", 7, 0, ECX, 14, Zmm},
    {"rdpid", 7, 0, ECX, 22, None},
    {"movdiri", 7, 0, ECX, 27, None},
    {"movdir64b", 7, 0, ECX, 28, None},
    {"avx512vp2intersect", 7, 0, EDX, 8, Zmm},
    {"avx512fp16", 7, 0, EDX, 23, Zmm},
    {"avxvnni", 7, 1, EAX, 4, Ymm},
    {"avx512bf16", 7, 1, EAX, 5, Zmm},
    {"avxifma", 7, 1, EAX, 23, Ymm},
    {"avxvnniint8", 7, 1, EDX, 4, Ymm},
    {"avxneconvert", 7, 1, EDX, 5, Ymm},
    {"avxvnniint16", 7, 1, EDX, 10, Ymm},
    {"sahf", 0x80000001, 0, ECX, 0, None},
    {"lzcnt", 0x80000001, 0, ECX, 5, None},
    {"sse4a", 0x80000001, 0, ECX, 6, None},
    {"prfchw", 0x80000001, 0, ECX, 8, None},
    {"64bit", 0x80000001, 0, EDX, 29, None},
};

uint64_t savedState() {
  uint32_t a = 0, b = 0, c = 0, d = 0;
  constexpr uint32_t osxsave = 1u << 27; // without it XGETBV itself is an illegal instruction
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & osxsave))
    return 0;
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t(high) << 32 | low;
}

/// CPUs that the control group's quota allows, rounded up; 0 if there is no quota.
uint32_t quotaCpus() {
  FILE *file = fopen("/sys/fs/cgroup/cpu.max", "re");
  if (!file)
    return 0;
  unsigned long long quota = 0, period = 0;
  int fields = fscanf(file, "%llu %llu", &quota, &period); // "max 100000": no quota, no field
  fclose(file);
  return fields == 2 && period ? static_cast<uint32_t>((quota + period - 1) / period) : 0;
}

} // namespace

bool convoy::rt::hasCpuFeature(const char *name) {
  for (const Feature &feature : features) {
    if (strcmp(feature.name, name) != 0)
      continue;
    uint32_t registers[4] = {};
    if (!__get_cpuid_count(feature.leaf, feature.subleaf, &registers[EAX], &registers[EBX],
                           &registers[ECX], &registers[EDX]))
      return false;
    return registers[feature.where] >> feature.bit & 1 &&
           (feature.state == None || (savedState() & feature.state) == feature.state);
  }
  return false;
}

uint32_t convoy::rt::usableCpus() {
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  uint32_t cpus = online > 0 ? static_cast<uint32_t>(online) : 1;
  cpu_set_t set; // too small for more than 1024 CPUs: then the call fails and `online` stands
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    cpus = static_cast<uint32_t>(CPU_COUNT(&set));
  uint32_t quota = quotaCpus();
  if (quota && quota < cpus)
    cpus = quota;
  return cpus ? cpus : 1;
}
