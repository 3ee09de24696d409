// The few functions of oneDNN's C API that the runtime calls, of versions 2 and 3, found by dlopen:
// the runtime links nothing and includes none of oneDNN's headers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CONVOY_RUNTIME_ONEDNN_LIBRARY_H
#define CONVOY_RUNTIME_ONEDNN_LIBRARY_H

#include "status.h"

namespace convoy::rt::dnnl {

// Types of the C API. Handles are pointers to what only oneDNN knows.
using Status = int; // 0: success
using Dims = int64_t[12];
using Engine = struct EngineObject *;
using Stream = struct StreamObject *;
using Memory = struct MemoryObject *;
using Attr = struct AttrObject *;
using PostOps = struct PostOpsObject *;
using PrimitiveDesc = struct PrimitiveDescObject *;
using Primitive = struct PrimitiveObject *;

struct ExecArg {
  int arg;
  Memory memory;
};

/// How a tensor lies in memory. Version 2 has a struct of known size, version 3 a handle.
using MemoryDesc = const void *;

// Numbers that are the same in both versions.
enum { kCpu = 1, kInOrder = 1, kF32 = 3, kForwardInference = 96, kDirect = 1 };
enum { kBinaryAdd = 0x1fff0, kUserScratchpad = 1, kQueryScratchpad = 136 };
enum { kArgSrc = 1, kArgSrc1 = 2, kArgDst = 17, kArgWeights = 33, kArgBias = 41 };
enum { kArgScratchpad = 80 };

/// Tags of memory formats, named as oneDNN names them by the order of dimensions.
enum class Tag { a, abcd, aBcd8b, aBcd16b, ABcd8b8a, ABcd16b16a, aBCde8c8b, aBCde16c16b, Acdb8a,
                 Acdb16a, count };

// Name, result and parameters of what is called as it is in both versions.
#define CONVOY_ONEDNN_FUNCTIONS(X)                                                                 \
  X(engine_create, Status, (Engine *, int kind, size_t index))                                     \
  X(stream_create, Status, (Stream *, Engine, unsigned flags))                                     \
  X(stream_destroy, Status, (Stream))                                                              \
  X(stream_wait, Status, (Stream))                                                                 \
  X(memory_create, Status, (Memory *, MemoryDesc, Engine, void *data))                             \
  X(memory_set_data_handle, Status, (Memory, void *data))                                          \
  X(memory_destroy, Status, (Memory))                                                              \
  X(memory_desc_get_size, size_t, (MemoryDesc))                                                    \
  X(primitive_attr_create, Status, (Attr *))                                                       \
  X(primitive_attr_destroy, Status, (Attr))                                                        \
  X(primitive_attr_set_scratchpad_mode, Status, (Attr, int mode))                                  \
  X(primitive_attr_set_post_ops, Status, (Attr, PostOps))                                          \
  X(post_ops_create, Status, (PostOps *))                                                          \
  X(post_ops_destroy, Status, (PostOps))                                                           \
  X(post_ops_append_binary, Status, (PostOps, int kind, MemoryDesc))                               \
  X(primitive_desc_query_md, MemoryDesc, (PrimitiveDesc, int what, int index))                     \
  X(primitive_desc_destroy, Status, (PrimitiveDesc))                                               \
  X(primitive_create, Status, (Primitive *, PrimitiveDesc))                                        \
  X(primitive_destroy, Status, (Primitive))                                                        \
  X(primitive_execute, Status, (Primitive, Stream, int count, const ExecArg *))                    \
  X(fmt_tag2str, const char *, (int tag))

/// What convolution to make a primitive of. All pointers are needed for the call alone.
struct ConvDesc {
  MemoryDesc src, wei, bias, dst; // bias may be null
  const int64_t *strides, *dilates, *padsLow, *padsHigh;
  Attr attr;
};

/// The library. What differs between the versions is behind functions.
class Library {
public:
  /// Null if it cannot be used; why, and what was looked for, is added to the text. The first call
  /// loads it, and it stays loaded.
  static const Library *get(Text &missing);

#define CONVOY_ONEDNN_MEMBER(name, result, parameters) result(*name) parameters = nullptr;
  CONVOY_ONEDNN_FUNCTIONS(CONVOY_ONEDNN_MEMBER)
#undef CONVOY_ONEDNN_MEMBER

  Engine engine = nullptr;

  /// A description of an f32 tensor, to be released; null where there is no memory for it.
  MemoryDesc createDesc(int rank, const int64_t *dims, Tag tag) const;
  void releaseDesc(MemoryDesc desc) const;
  Status appendRelu(PostOps ops) const;
  Status createConv(PrimitiveDesc *result, const ConvDesc &conv) const;
  /// The argument that is the second operand of post-op `number`.
  int postOpArg(int number) const;

private:
  friend class OneThread;
  bool open(Text &missing);
  bool resolve(Text &missing);
  bool check(Text &missing);
  void findTags();

  void *handle = nullptr;
  const char *path = nullptr;
  int major = 0;
  int tags[static_cast<int>(Tag::count)] = {};
  // Of version 2 and of version 3.
  Status (*memory_desc_init_by_tag)(void *, int rank, const int64_t *dims, int type, int tag) = nullptr;
  Status (*memory_desc_create_with_tag)(void **, int rank, const int64_t *dims, int type,
                                        int tag) = nullptr;
  Status (*memory_desc_destroy)(void *) = nullptr;
  Status (*append_eltwise2)(PostOps, float scale, int kind, float alpha, float beta) = nullptr;
  Status (*append_eltwise3)(PostOps, int kind, float alpha, float beta) = nullptr;
  Status (*conv_desc_init)(void *, int propagation, int algorithm, MemoryDesc src, MemoryDesc wei,
                           MemoryDesc bias, MemoryDesc dst, const int64_t *strides,
                           const int64_t *dilates, const int64_t *padsLow,
                           const int64_t *padsHigh) = nullptr;
  Status (*primitive_desc_create)(PrimitiveDesc *, const void *op, Attr, Engine,
                                  PrimitiveDesc hint) = nullptr;
  Status (*conv_desc_create)(PrimitiveDesc *, Engine, int propagation, int algorithm, MemoryDesc src,
                             MemoryDesc wei, MemoryDesc bias, MemoryDesc dst, const int64_t *strides,
                             const int64_t *dilates, const int64_t *padsLow, const int64_t *padsHigh,
                             Attr) = nullptr;
  // OpenMP's, which a oneDNN that was built for it brings; null without.
  int (*omp_get_max_threads)() = nullptr;
  void (*omp_set_num_threads)(int) = nullptr;
};

/// Keeps oneDNN in the calling thread while it lives: the runtime deals work to threads, and the
/// caller's own OpenMP finds its setting as it was.
class OneThread {
public:
  explicit OneThread(const Library &library) : library(library) {
    before = library.omp_get_max_threads ? library.omp_get_max_threads() : 1;
    if (before != 1)
      library.omp_set_num_threads(1);
  }
  ~OneThread() {
    if (before != 1)
      library.omp_set_num_threads(before);
  }
  OneThread(const OneThread &) = delete;
  OneThread &operator=(const OneThread &) = delete;

private:
  const Library &library;
  int before;
};

} // namespace convoy::rt::dnnl

#endif // CONVOY_RUNTIME_ONEDNN_LIBRARY_H
