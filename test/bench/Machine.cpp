// Loops that do nothing but FMAs, or nothing but reads. In assembly, so that no compiler option
// changes what they do.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/bench/Machine.h"

#include "test/bench/Timing.h"

#include <algorithm>
#include <unistd.h>
#include <vector>

using namespace convoy::test;

namespace {

// FMAs of one round: more than the units hold in flight, as many as registers allow.
constexpr int kFmas512 = 24, kFmas256 = 12;
constexpr int64_t kReadBytes = 512;

const float kFactors[] = {1e-3f, 1.5f};

__attribute__((target("avx512f"))) void fma512(int64_t rounds) {
  asm volatile("vbroadcastss (%[factors]), %%zmm30\n"
               "vbroadcastss 4(%[factors]), %%zmm31\n"
               "1:\n"
               ".irp sum,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23\n"
               "vfmadd231ps %%zmm30, %%zmm31, %%zmm\\sum\n"
               ".endr\n"
               "dec %[rounds]\n"
               "jnz 1b\n"
               : [rounds] "+r"(rounds)
               : [factors] "r"(kFactors)
               : "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
                 "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "xmm16",
                 "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm30", "xmm31");
}

__attribute__((target("avx2,fma"))) void fma256(int64_t rounds) {
  asm volatile("vbroadcastss (%[factors]), %%ymm14\n"
               "vbroadcastss 4(%[factors]), %%ymm15\n"
               "1:\n"
               ".irp sum,0,1,2,3,4,5,6,7,8,9,10,11\n"
               "vfmadd231ps %%ymm14, %%ymm15, %%ymm\\sum\n"
               ".endr\n"
               "dec %[rounds]\n"
               "jnz 1b\n"
               : [rounds] "+r"(rounds)
               : [factors] "r"(kFactors)
               : "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
                 "xmm8", "xmm9", "xmm10", "xmm11", "xmm14", "xmm15");
}

__attribute__((target("avx512f"))) void read512(const char *at, const char *end) {
  asm volatile("1:\n"
               ".irp line,0,64,128,192,256,320,384,448\n"
               "vmovups \\line(%[at]), %%zmm0\n"
               ".endr\n"
               "add $512, %[at]\n"
               "cmp %[end], %[at]\n"
               "jb 1b\n"
               : [at] "+r"(at)
               : [end] "r"(end)
               : "cc", "memory", "xmm0");
}

__attribute__((target("avx2"))) void read256(const char *at, const char *end) {
  asm volatile("1:\n"
               ".irp line,0,32,64,96,128,160,192,224,256,288,320,352,384,416,448,480\n"
               "vmovups \\line(%[at]), %%ymm0\n"
               ".endr\n"
               "add $512, %[at]\n"
               "cmp %[end], %[at]\n"
               "jb 1b\n"
               : [at] "+r"(at)
               : [end] "r"(end)
               : "cc", "memory", "xmm0");
}

double measureFmas(int64_t lanes) {
  bool wide = lanes == 16;
  constexpr int64_t rounds = 20000; // below a tenth of a millisecond: the best is undisturbed
  double seconds = measureSeconds([&] { wide ? fma512(rounds) : fma256(rounds); }, 0.05);
  return 2.0 * double(lanes) * (wide ? kFmas512 : kFmas256) * rounds / seconds * 1e-9;
}

double measureReads(int64_t lanes, size_t bytes, int64_t repeats, double budget) {
  std::vector<char> data(bytes / kReadBytes * kReadBytes, 1);
  const char *begin = data.data(), *end = begin + data.size();
  auto pass = [&] {
    for (int64_t i = 0; i < repeats; ++i)
      lanes == 16 ? read512(begin, end) : read256(begin, end);
  };
  return double(data.size()) * double(repeats) / measureSeconds(pass, budget) * 1e-9;
}

} // namespace

MachineRates MachineRates::measure(int64_t lanes, int64_t l2Bytes) {
  constexpr int64_t leastMemory = int64_t(256) << 20, mostMemory = int64_t(1) << 30;
  int64_t lastCache = std::max<int64_t>(sysconf(_SC_LEVEL3_CACHE_SIZE), 0);
  int64_t memoryBytes = std::clamp(4 * lastCache, leastMemory, mostMemory);
  MachineRates rates;
  rates.gflops = measureFmas(lanes);
  // Half of the cache: what else is in it stays out of the way.
  rates.l2Gbs = measureReads(lanes, l2Bytes / 2, 4, 0.05);
  rates.memoryGbs = measureReads(lanes, memoryBytes, 1, 0.05);
  return rates;
}
