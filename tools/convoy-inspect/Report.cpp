// What convoy-inspect tells of an artifact.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/convoy-inspect/Report.h"

#include "tools/convoy-inspect/Memory.h"
#include "tools/convoy-inspect/Sharing.h"
#include "tools/support/Error.h"
#include "tools/support/Json.h"
#include "tools/support/Printable.h"

#include <algorithm>
#include <cstdio>
#include <map>

namespace convoy::tools {

namespace {

const char *text(const flatbuffers::String *string) { return string ? string->c_str() : ""; }
/// The same for people.
std::string shown(const flatbuffers::String *string) { return printable(text(string)); }

template <typename Vector> size_t sizeOf(const Vector *vector) { return vector ? vector->size() : 0; }

std::string bytes(uint64_t count) {
  if (count < 10000)
    return format("%llu B", (unsigned long long)count);
  if (count < 10000000)
    return format("%.1f KB", double(count) / 1e3);
  return format("%.1f MB", double(count) / 1e6);
}

std::string version(uint32_t packed) {
  return format("%u.%u.%u", packed >> 16, packed >> 8 & 255, packed & 255);
}

std::string shape(const schema::Value &value) {
  std::string result = convoy_type_string(convoy_type(value.type()));
  result += " [";
  for (unsigned i = 0; i < value.dims()->size(); ++i) {
    int64_t dim = value.dims()->Get(i);
    std::string name = i < sizeOf(value.dim_names()) ? shown(value.dim_names()->Get(i)) : "";
    result += i ? ", " : "";
    result += dim >= 0 ? std::to_string(dim) : !name.empty() ? name : "N";
    if (dim >= 0 && !name.empty())
      result += " (" + name + ")";
  }
  return result + "]";
}

bool isChosen(const Opened &opened, const schema::Variant &variant) {
  return !opened.target.empty() && opened.target == text(variant.target());
}

uint64_t sectionSize(const schema::Section *section) { return section ? section->size() : 0; }

template <typename Total> uint64_t sum(const schema::Variant &variant, Total total) {
  uint64_t result = 0;
  for (unsigned i = 0; i < sizeOf(variant.launches()); ++i)
    result += total(*variant.launches()->Get(i));
  return result;
}

uint64_t flopsOf(const schema::Variant &variant) {
  return sum(variant, [](const schema::Launch &launch) { return launch.flops(); });
}

const schema::Kernel *kernelOf(const schema::Variant &variant, const schema::Launch &launch) {
  return launch.kernel() < sizeOf(variant.kernels()) ? variant.kernels()->Get(launch.kernel())
                                                     : nullptr;
}

/// The wave of each launch.
std::vector<unsigned> wavesOf(const schema::Variant &variant) {
  std::vector<unsigned> waves;
  for (unsigned i = 0; i < sizeOf(variant.launches()); ++i)
    waves.push_back(i == 0 ? 0 : waves.back() + !variant.launches()->Get(i)->joins());
  return waves;
}

unsigned numWaves(const schema::Variant &variant) {
  std::vector<unsigned> waves = wavesOf(variant);
  return waves.empty() ? 0 : waves.back() + 1;
}

void printValues(const char *kind,
                 const flatbuffers::Vector<flatbuffers::Offset<schema::Value>> *values) {
  for (unsigned i = 0; i < sizeOf(values); ++i) {
    const schema::Value &value = *values->Get(i);
    if (value.internal())
      continue;
    bool batched = value.dims()->size() && value.dims()->Get(0) < 0;
    printf("  %-6s %2u  %-24s %s, %s%s", kind, i, shown(value.name()).c_str(), shape(value).c_str(),
           bytes(value.bytes()).c_str(), batched ? " an image" : "");
    if (value.counted_dim() >= 0)
      printf(", the data decide dimension %d", value.counted_dim());
    puts("");
  }
}

void printLaunches(const schema::Variant &variant) {
  puts("\n  Launches");
  printf("  %5s %5s  %8s %10s %10s  %-14s %-24s %s\n", "#", "wave", "tiles", "MFLOP", "KB", "op",
         "strategy", "name");
  std::vector<unsigned> waves = wavesOf(variant);
  for (unsigned i = 0; i < sizeOf(variant.launches()); ++i) {
    const schema::Launch &launch = *variant.launches()->Get(i);
    const schema::Kernel *kernel = kernelOf(variant, launch);
    printf("  %5u %5u  %8llu %10.3f %10.1f  %-14s %-24s %s\n", i, waves[i],
           (unsigned long long)launch.tiles(), double(launch.flops()) / 1e6,
           double(launch.bytes()) / 1e3, shown(launch.op()).c_str(),
           kernel ? shown(kernel->strategy()).c_str() : "", shown(launch.name()).c_str());
  }
}

void printMemory(const schema::Variant &variant) {
  std::vector<uint64_t> live = liveBytes(variant);
  puts("\n  Memory plan");
  printf("  %12s %12s  %-13s %s\n", "offset", "bytes", "launches", "tensor");
  for (unsigned i = 0; i < sizeOf(variant.buffers()); ++i) {
    const schema::Buffer &buffer = *variant.buffers()->Get(i);
    std::string lifetime = format("%u..%u", buffer.first_launch(), buffer.last_launch());
    printf("  %12llu %12llu  %-13s %s\n", (unsigned long long)buffer.offset(),
           (unsigned long long)buffer.bytes(), lifetime.c_str(), shown(buffer.name()).c_str());
  }
  auto fullest = std::max_element(live.begin(), live.end());
  if (fullest == live.end())
    return;
  size_t launch = fullest - live.begin();
  printf("  fullest at launch %zu (%s): %s of %s in use\n", launch,
         shown(variant.launches()->Get(launch)->name()).c_str(), bytes(*fullest).c_str(),
         bytes(variant.arena_bytes()).c_str());
}

void printKernels(const schema::Variant &variant) {
  puts("\n  Kernels");
  printf("  %10s %10s  %-24s %s\n", "offset", "bytes", "strategy", "name");
  for (unsigned i = 0; i < sizeOf(variant.kernels()); ++i) {
    const schema::Kernel &kernel = *variant.kernels()->Get(i);
    printf("  %10llu %10llu  %-24s %s\n", (unsigned long long)kernel.offset(),
           (unsigned long long)kernel.bytes(), shown(kernel.strategy()).c_str(),
           shown(kernel.name()).c_str());
  }
}

std::string overLowerBound(const schema::Variant &variant) {
  uint64_t bound = variant.arena_lower_bound_bytes();
  if (bound == 0)
    return "";
  double over = 100 * (double(variant.arena_bytes()) / double(bound) - 1);
  return format(", %.1f %% over the lower bound of %s", over, bytes(bound).c_str());
}

/// The variants of a target are its profiles: those with other input shapes than all before them.
void printProfiles(const schema::Artifact &artifact) {
  std::map<std::string, std::vector<const schema::Variant *>> targets;
  for (const schema::Variant *variant : *artifact.variants())
    targets[text(variant->target())].push_back(variant);
  for (auto &[target, variants] : targets) {
    if (variants.size() == 1)
      continue;
    printf("\nProfiles of %s, of which the first that the inputs fit runs\n", printable(target).c_str());
    for (size_t i = 0; i < variants.size(); ++i) {
      printf("  %3zu  %-24s", i, shown(variants[i]->profile()).c_str());
      for (unsigned v = 0; v < sizeOf(variants[i]->inputs()); ++v) {
        const schema::Value &value = *variants[i]->inputs()->Get(v);
        printf("%s %s %s", v ? "," : "", shown(value.name()).c_str(), shape(value).c_str());
      }
      puts("");
    }
  }
}

void printVariant(const Opened &opened, unsigned index, const Use &use,
                  const ReportOptions &options) {
  const schema::Variant &variant = *opened.artifact->variants()->Get(index);
  printf("\nVariant %u: %s%s%s%s\n", index, shown(variant.target()).c_str(),
         sizeOf(variant.profile()) ? ", profile " : "", shown(variant.profile()).c_str(),
         isChosen(opened, variant) ? "   (chosen for this machine)" : "");
  printf("  needs     ");
  for (unsigned i = 0; i < sizeOf(variant.cpu_features()); ++i)
    printf("%s%s", i ? " " : "", shown(variant.cpu_features()->Get(i)).c_str());
  puts(sizeOf(variant.cpu_features()) ? "" : "nothing special");
  printf("  code      %s in %zu kernels, %zu launches in %u waves, %.3f MFLOP an image\n",
         bytes(sectionSize(variant.code())).c_str(), sizeOf(variant.kernels()),
         sizeOf(variant.launches()), numWaves(variant), double(flopsOf(variant)) / 1e6);
  if (opened.artifact->variants()->size() > 1)
    printf("  shares    %s of its %s of constants and %llu of its kernels with other variants\n",
           bytes(use.sharedConstantBytes).c_str(), bytes(use.constantBytes).c_str(),
           (unsigned long long)use.sharedKernels);
  printf("  arena     %s an image%s\n", bytes(variant.arena_bytes()).c_str(),
         overLowerBound(variant).c_str());
  printf("  scratch   %s a thread\n", bytes(variant.scratch_bytes()).c_str());
  printValues("input", variant.inputs());
  printValues("output", variant.outputs());
  if (options.launches)
    printLaunches(variant);
  if (options.memory)
    printMemory(variant);
  if (options.code)
    printKernels(variant);
}

void writeValues(Json &json, const char *key,
                 const flatbuffers::Vector<flatbuffers::Offset<schema::Value>> *values) {
  json.key(key).open('[');
  for (unsigned i = 0; i < sizeOf(values); ++i) {
    const schema::Value &value = *values->Get(i);
    if (value.internal())
      continue;
    json.open('{').member("name", text(value.name()));
    json.member("type", convoy_type_string(convoy_type(value.type()))).key("dims").open('[');
    for (int64_t dim : *value.dims())
      json.value(dim);
    json.close().key("dim_names").open('[');
    for (unsigned d = 0; d < sizeOf(value.dim_names()); ++d)
      json.value(text(value.dim_names()->Get(d)));
    json.close().member("bytes", value.bytes());
    if (value.counted_dim() >= 0)
      json.key("counted_dim").value(int64_t(value.counted_dim()));
    json.close();
  }
  json.close();
}

void writeVariant(Json &json, const Opened &opened, const schema::Variant &variant,
                  const Use &use) {
  json.open('{').member("target", text(variant.target()));
  json.member("profile", text(variant.profile())).member("chosen", isChosen(opened, variant));
  json.key("cpu_features").open('[');
  for (unsigned i = 0; i < sizeOf(variant.cpu_features()); ++i)
    json.value(text(variant.cpu_features()->Get(i)));
  json.close().member("code_bytes", sectionSize(variant.code()));
  json.member("arena_bytes", variant.arena_bytes());
  json.member("arena_lower_bound_bytes", variant.arena_lower_bound_bytes());
  json.member("scratch_bytes", variant.scratch_bytes()).member("flops", flopsOf(variant));
  json.key("shares").open('{').member("constant_bytes", use.constantBytes);
  json.member("shared_constant_bytes", use.sharedConstantBytes);
  json.member("kernels", use.kernels).member("shared_kernels", use.sharedKernels).close();
  writeValues(json, "inputs", variant.inputs());
  writeValues(json, "outputs", variant.outputs());

  json.key("kernels").open('[');
  for (unsigned i = 0; i < sizeOf(variant.kernels()); ++i) {
    const schema::Kernel &kernel = *variant.kernels()->Get(i);
    json.open('{').member("name", text(kernel.name())).member("strategy", text(kernel.strategy()));
    json.member("offset", kernel.offset()).member("bytes", kernel.bytes()).close();
  }
  json.close().key("launches").open('[');
  std::vector<uint64_t> live = liveBytes(variant);
  std::vector<unsigned> waves = wavesOf(variant);
  for (unsigned i = 0; i < sizeOf(variant.launches()); ++i) {
    const schema::Launch &launch = *variant.launches()->Get(i);
    json.open('{').member("name", text(launch.name())).member("op", text(launch.op()));
    json.member("kernel", launch.kernel()).member("wave", int64_t(waves[i]));
    json.member("tiles", launch.tiles()).member("batched", launch.batched());
    json.member("flops", launch.flops()).member("bytes", launch.bytes());
    json.member("live_bytes", live[i]).key("args").open('[');
    for (unsigned a = 0; a < sizeOf(launch.args()); ++a) {
      const schema::Arg &arg = *launch.args()->Get(a);
      json.open('{').member("space", schema::EnumNameSpace(arg.space()));
      json.member("index", arg.index()).member("offset", arg.offset());
      json.member("slice_offset", arg.slice_offset()).member("bytes", arg.bytes());
      json.member("writes", arg.writes()).close();
    }
    json.close().close();
  }
  json.close().key("buffers").open('[');
  for (unsigned i = 0; i < sizeOf(variant.buffers()); ++i) {
    const schema::Buffer &buffer = *variant.buffers()->Get(i);
    json.open('{').member("name", text(buffer.name())).member("offset", buffer.offset());
    json.member("bytes", buffer.bytes()).member("first_launch", buffer.first_launch());
    json.member("last_launch", buffer.last_launch()).close();
  }
  json.close().close();
}

} // namespace

void printReport(const Opened &opened, const ReportOptions &options) {
  const schema::Artifact &artifact = *opened.artifact;
  printf("%s: %s, format %u, for runtime %s or newer\n", opened.path.c_str(),
         bytes(opened.info.file_bytes).c_str(), opened.info.format_version,
         version(opened.info.least_runtime).c_str());
  printf("  model     %s\n", shown(artifact.model_name()).c_str());
  printf("  producer  %s\n", shown(artifact.producer()).c_str());
  if (sizeOf(artifact.options()))
    printf("  options   %s\n", shown(artifact.options()).c_str());
  printf("  constants %s, shared by %zu variant%s\n", bytes(sectionSize(artifact.constants())).c_str(),
         sizeOf(artifact.variants()), sizeOf(artifact.variants()) == 1 ? "" : "s");
  if (!opened.problem.empty())
    printf("  This machine cannot run it: %s\n", opened.problem.c_str());
  printProfiles(artifact);
  std::vector<Use> uses = usesOf(artifact);
  for (unsigned i = 0; i < sizeOf(artifact.variants()); ++i)
    printVariant(opened, i, uses[i], options);
}

std::string jsonReport(const Opened &opened) {
  const schema::Artifact &artifact = *opened.artifact;
  Json json;
  json.open('{').member("file", opened.path).member("file_bytes", opened.info.file_bytes);
  json.member("format_version", opened.info.format_version);
  json.member("least_runtime", version(opened.info.least_runtime));
  json.member("model", text(artifact.model_name())).member("producer", text(artifact.producer()));
  json.member("options", text(artifact.options()));
  json.member("constant_bytes", sectionSize(artifact.constants()));
  json.key("variants").open('[');
  std::vector<Use> uses = usesOf(artifact);
  for (unsigned i = 0; i < sizeOf(artifact.variants()); ++i)
    writeVariant(json, opened, *artifact.variants()->Get(i), uses[i]);
  json.close().close();
  return json.text();
}

} // namespace convoy::tools
