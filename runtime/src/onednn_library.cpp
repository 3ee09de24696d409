// Finds oneDNN and bridges its two versions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "onednn_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

using namespace convoy::rt;
using namespace convoy::rt::dnnl;

namespace {

constexpr const char *pathVariable = "CONVOY_ONEDNN";
/// Newest first.
constexpr const char *names[] = {"libdnnl.so.3", "libdnnl.so.2"};

/// The begin of dnnl_version_t, which is the same in all versions.
struct Version {
  int major, minor, patch;
  const char *hash;
  unsigned cpuRuntime;
};
enum : unsigned { sequential = 1, openMp = 2 };

/// Version 2's descriptions: the sizes of dnnl_memory_desc_t and dnnl_convolution_desc_t.
constexpr size_t memoryDescBytes2 = 696, convDescBytes2 = 5976;

/// Older ones of version 2 lack functions that are called here.
constexpr int leastMinor2 = 6;

constexpr const char *tagNames[] = {"a",          "abcd",      "aBcd8b",      "aBcd16b", "ABcd8b8a",
                                    "ABcd16b16a", "aBCde8c8b", "aBCde16c16b", "Acdb8a",  "Acdb16a"};
static_assert(sizeof tagNames / sizeof *tagNames == static_cast<size_t>(Tag::count),
              "a name for each tag");

pthread_once_t once = PTHREAD_ONCE_INIT;
Library library;
Text whyNot;
bool usable = false;

template <typename Function> bool find(void *handle, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  return function;
}

} // namespace

bool Library::open(Text &missing) {
  const char *given = secure_getenv(pathVariable);
  if (given && *given) {
    path = given;
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      missing.add("oneDNN is needed, and %s names one that cannot be loaded: %s", pathVariable,
                  dlerror());
    return handle;
  }
  for (const char *name : names) {
    path = name;
    handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle)
      return true;
  }
  missing.add("oneDNN is needed: looked for %s and %s (%s can name another)", names[0], names[1],
              pathVariable);
  return false;
}

bool Library::resolve(Text &missing) {
  const char *absent = nullptr;
  auto need = [&](const char *name, auto &function) {
    if (!find(handle, name, function) && !absent)
      absent = name;
  };
#define CONVOY_ONEDNN_FIND(name, result, parameters) need("dnnl_" #name, name);
  CONVOY_ONEDNN_FUNCTIONS(CONVOY_ONEDNN_FIND)
#undef CONVOY_ONEDNN_FIND
  if (major == 2) {
    need("dnnl_memory_desc_init_by_tag", memory_desc_init_by_tag);
    need("dnnl_post_ops_append_eltwise", append_eltwise2);
    need("dnnl_dilated_convolution_forward_desc_init", conv_desc_init);
    need("dnnl_primitive_desc_create", primitive_desc_create);
  } else {
    need("dnnl_memory_desc_create_with_tag", memory_desc_create_with_tag);
    need("dnnl_memory_desc_destroy", memory_desc_destroy);
    need("dnnl_post_ops_append_eltwise", append_eltwise3);
    need("dnnl_convolution_forward_primitive_desc_create", conv_desc_create);
  }
  if (absent)
    missing.add("%s is no oneDNN that can be used: it lacks %s", path, absent);
  return !absent;
}

bool Library::check(Text &missing) {
  const Version *(*version)() = nullptr;
  if (!find(handle, "dnnl_version", version)) {
    missing.add("%s is no oneDNN: it lacks dnnl_version", path);
    return false;
  }
  const Version &found = *version();
  major = found.major;
  bool isKnown = major == 3 || (major == 2 && found.minor >= leastMinor2);
  if (!isKnown) {
    missing.add("%s is oneDNN %d.%d.%d, expected 2.%d or newer, or 3", path, found.major,
                found.minor, found.patch, leastMinor2);
    return false;
  }
  // What else there is would take threads of its own.
  bool hasOmp = find(handle, "omp_get_max_threads", omp_get_max_threads) &&
                find(handle, "omp_set_num_threads", omp_set_num_threads);
  if (found.cpuRuntime != sequential && !(found.cpuRuntime == openMp && hasOmp)) {
    missing.add("%s is built for a thread library (number %u) that cannot be held to one thread, "
                "expected OpenMP or none",
                path, found.cpuRuntime);
    return false;
  }
  if (found.cpuRuntime == sequential)
    omp_get_max_threads = nullptr;
  return true;
}

/// Numbers of tags differ from version to version, their names do not.
void Library::findTags() {
  constexpr int mostTags = 4096;
  for (int number = 1, left = static_cast<int>(Tag::count); left && number < mostTags; ++number) {
    const char *name = fmt_tag2str(number);
    for (int tag = 0; name && tag < static_cast<int>(Tag::count); ++tag)
      if (!tags[tag] && strcmp(name, tagNames[tag]) == 0) {
        tags[tag] = number;
        --left;
      }
  }
}

const Library *Library::get(Text &missing) {
  pthread_once(&once, [] {
    if (!library.open(whyNot) || !library.check(whyNot) || !library.resolve(whyNot))
      return;
    library.findTags();
    OneThread oneThread(library);
    if (library.engine_create(&library.engine, kCpu, 0) == 0)
      usable = true;
    else
      whyNot.add("%s has no engine for CPUs", library.path);
  });
  if (!usable)
    missing.add("%s", whyNot.str());
  return usable ? &library : nullptr;
}

MemoryDesc Library::createDesc(int rank, const int64_t *dims, Tag tag) const {
  int number = tags[static_cast<int>(tag)];
  void *desc = nullptr;
  if (!number)
    return nullptr;
  if (major == 3)
    return memory_desc_create_with_tag(&desc, rank, dims, kF32, number) == 0 ? desc : nullptr;
  desc = calloc(1, memoryDescBytes2);
  if (desc && memory_desc_init_by_tag(desc, rank, dims, kF32, number) != 0) {
    free(desc);
    desc = nullptr;
  }
  return desc;
}

void Library::releaseDesc(MemoryDesc desc) const {
  if (!desc)
    return;
  if (major == 3)
    memory_desc_destroy(const_cast<void *>(desc));
  else
    free(const_cast<void *>(desc));
}

Status Library::appendRelu(PostOps ops) const {
  return major == 3 ? append_eltwise3(ops, 32, 0, 0) : append_eltwise2(ops, 1, 31, 0, 0);
}

Status Library::createConv(PrimitiveDesc *result, const ConvDesc &conv) const {
  if (major == 3)
    return conv_desc_create(result, engine, kForwardInference, kDirect, conv.src, conv.wei,
                            conv.bias, conv.dst, conv.strides, conv.dilates, conv.padsLow,
                            conv.padsHigh, conv.attr);
  alignas(8) unsigned char op[convDescBytes2] = {};
  if (Status status = conv_desc_init(op, kForwardInference, kDirect, conv.src, conv.wei, conv.bias,
                                     conv.dst, conv.strides, conv.dilates, conv.padsLow,
                                     conv.padsHigh))
    return status;
  return primitive_desc_create(result, op, conv.attr, engine, nullptr);
}

int Library::postOpArg(int number) const {
  int base = major == 3 ? 32768 : 16384;
  return (base * (number + 1)) | kArgSrc1;
}
