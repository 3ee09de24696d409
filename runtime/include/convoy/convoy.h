/* Convoy's runtime: loads a compiled model (.cvy) and runs it.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *   float pixels[64];
 *   int64_t dims[] = {1, 1, 8, 8};
 *   convoy_model *model;
 *   convoy_context *context;
 *   convoy_model_load("model.cvy", NULL, &model);
 *   convoy_context_create(model, NULL, &context);
 *   convoy_tensor x = {pixels, sizeof pixels, CONVOY_TYPE_F32, 4, dims}, y;
 *   convoy_context_set_input(context, 0, &x);
 *   convoy_context_run(context);
 *   convoy_context_output(context, 0, &y);
 *
 * Objects. A model is immutable and may be used by any number of threads and contexts at once. A
 * context is used by one thread at a time; make one for each thread that runs at the same time.
 * Destroy a model after its contexts.
 *
 * Errors. Every call that can fail returns a status and leaves its results unset on failure;
 * convoy_last_error() says what was expected and what was found. Nothing aborts on bad input.
 *
 * Structs. Zero-initialise option structs: zero means the default of every field. */
#ifndef CONVOY_CONVOY_H
#define CONVOY_CONVOY_H

#include <stddef.h>
#include <stdint.h>

#define CONVOY_VERSION_MAJOR 0
#define CONVOY_VERSION_MINOR 1
#define CONVOY_VERSION_PATCH 0
#define CONVOY_MAKE_VERSION(major, minor, patch) ((major) << 16 | (minor) << 8 | (patch))
#define CONVOY_VERSION                                                                             \
  CONVOY_MAKE_VERSION(CONVOY_VERSION_MAJOR, CONVOY_VERSION_MINOR, CONVOY_VERSION_PATCH)

#if defined(CONVOY_BUILDING)
#define CONVOY_API __attribute__((visibility("default")))
#else
#define CONVOY_API
#endif

/* A number outside of an enum is an error to report, not undefined behaviour, in C++ too. */
#ifdef __cplusplus
#define CONVOY_INT_ENUM : int
#else
#define CONVOY_INT_ENUM
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status ---------------------------------------------------------------------------------- */

/* The one list that makes codes and texts. */
#define CONVOY_STATUS_LIST(X)                                                                      \
  X(OK, 0, "success")                                                                              \
  X(INVALID_ARGUMENT, 1, "invalid argument")                                                       \
  X(OUT_OF_MEMORY, 2, "out of memory")                                                             \
  X(SYSTEM, 3, "the operating system refused a request")                                           \
  X(CANNOT_OPEN, 4, "cannot open or read the file")                                                \
  X(NOT_AN_ARTIFACT, 5, "not a Convoy artifact")                                                   \
  X(TRUNCATED, 6, "the artifact is truncated")                                                     \
  X(CORRUPT, 7, "the artifact is corrupt")                                                         \
  X(FORMAT_TOO_NEW, 8, "the artifact's format is newer than this runtime")                         \
  X(RUNTIME_TOO_OLD, 9, "the artifact needs a newer runtime")                                      \
  X(UNSUPPORTED_MACHINE, 10, "the artifact has no variant for this machine")                       \
  X(NO_SUCH_NAME, 11, "no input, output or profile of this name")                                         \
  X(NO_SUCH_INDEX, 12, "no input, output, profile or launch of this index")                        \
  X(TYPE_MISMATCH, 13, "wrong element type")                                                       \
  X(RANK_MISMATCH, 14, "wrong number of dimensions")                                               \
  X(SHAPE_MISMATCH, 15, "wrong extent of a dimension")                                             \
  X(SIZE_MISMATCH, 16, "buffer too small")                                                         \
  X(BATCH_MISMATCH, 17, "inputs and outputs disagree about the batch")                             \
  X(BATCH_LIMIT, 18, "batch outside of what the context or model allows")                          \
  X(NOT_SET, 19, "an input has not been set")

typedef enum convoy_status CONVOY_INT_ENUM {
#define CONVOY_STATUS_VALUE(name, number, text) CONVOY_##name = number,
  CONVOY_STATUS_LIST(CONVOY_STATUS_VALUE)
#undef CONVOY_STATUS_VALUE
} convoy_status;

/* The general text of a status; never NULL, also for numbers outside the enum. */
CONVOY_API const char *convoy_status_string(convoy_status status);

/* What exactly went wrong in the last call that failed on this thread, naming both sides of a
 * mismatch. Valid until the next call that fails on this thread; "" if none has failed. */
CONVOY_API const char *convoy_last_error(void);

/* CONVOY_VERSION of the library, which may differ from that of this header. */
CONVOY_API uint32_t convoy_version(void);

/* ---- Values ---------------------------------------------------------------------------------- */

/* Element types, numbered as in ONNX. A bool is one byte, 0 or 1. */
typedef enum convoy_type CONVOY_INT_ENUM {
  CONVOY_TYPE_F32 = 1,
  CONVOY_TYPE_U8 = 2,
  CONVOY_TYPE_I8 = 3,
  CONVOY_TYPE_U16 = 4,
  CONVOY_TYPE_I16 = 5,
  CONVOY_TYPE_I32 = 6,
  CONVOY_TYPE_I64 = 7,
  CONVOY_TYPE_BOOL = 9,
  CONVOY_TYPE_F16 = 10,
  CONVOY_TYPE_F64 = 11,
  CONVOY_TYPE_U32 = 12,
  CONVOY_TYPE_U64 = 13,
  CONVOY_TYPE_BF16 = 16
} convoy_type;

/* "f32", ...; "?" for numbers outside the enum. */
CONVOY_API const char *convoy_type_string(convoy_type type);
/* Bytes of one element; 0 for numbers outside the enum. */
CONVOY_API size_t convoy_type_size(convoy_type type);

/* An input or output as the model declares it. All pointers live as long as the model. */
typedef struct convoy_value_info {
  const char *name;
  convoy_type type;
  size_t rank;
  const int64_t *dims;          /* -1 in dimension 0: the batch, free at run time */
  const char *const *dim_names; /* for each dimension its symbolic name or "" */
  size_t bytes;                 /* for a batch of 1 */
  /* Of an output: the dimension whose extent the data decide, or -1. dims has the largest that is
   * possible, and memory is needed for it; convoy_context_output tells the real one after a run,
   * and the data lie as those of a tensor with that extent do. */
  int32_t counted_dim;
} convoy_value_info;

/* Data in plain row-major order, images one after another. `dims` are the real extents: dimension 0
 * of a batched value is the number of images. */
typedef struct convoy_tensor {
  void *data;
  size_t bytes; /* of the memory at data: at least what type and dims need */
  convoy_type type;
  size_t rank;
  const int64_t *dims;
} convoy_tensor;

/* ---- Artifacts ------------------------------------------------------------------------------- */

enum { CONVOY_HEADER_BYTES = 64 };

typedef struct convoy_artifact_info {
  uint32_t format_version;
  uint32_t least_runtime; /* as CONVOY_VERSION */
  uint64_t file_bytes;
} convoy_artifact_info;

/* Whether a file can be loaded by this runtime as far as its first CONVOY_HEADER_BYTES tell: cheap,
 * for deciding about a download or a model store. `size` may be that of the header or of the whole
 * file. `info` (may be NULL) is also set when a version is too new. */
CONVOY_API convoy_status convoy_artifact_check(const void *data, size_t size,
                                               convoy_artifact_info *info);

/* ---- Models ---------------------------------------------------------------------------------- */

typedef struct convoy_model convoy_model;

typedef struct convoy_load_options {
  const char *target; /* take only variants of this target, e.g. "x86-avx2"; NULL: the best one */
} convoy_load_options;

/* Maps the file read-only. Nothing of it is used before its checksum, bounds, versions and CPU
 * features have been checked. The file may be unlinked or replaced (by renaming) afterwards, but
 * must not be changed in place while the model lives. `options` may be NULL. */
CONVOY_API convoy_status convoy_model_load(const char *path, const convoy_load_options *options,
                                           convoy_model **model);

/* The same from memory, which stays the caller's: it must stay as it is until the model is
 * destroyed. Constants are used in place if `data` is a multiple of 64, else copied. Code is copied
 * to memory of its own. */
CONVOY_API convoy_status convoy_model_load_memory(const void *data, size_t size,
                                                  const convoy_load_options *options,
                                                  convoy_model **model);

/* Takes NULL too. All contexts of the model must be gone. */
CONVOY_API void convoy_model_destroy(convoy_model *model);

CONVOY_API const char *convoy_model_name(const convoy_model *model);
CONVOY_API const char *convoy_model_producer(const convoy_model *model);
/* The target of the chosen variant, e.g. "x86-avx512". */
CONVOY_API const char *convoy_model_target(const convoy_model *model);

CONVOY_API size_t convoy_model_num_inputs(const convoy_model *model);
CONVOY_API size_t convoy_model_num_outputs(const convoy_model *model);
CONVOY_API convoy_status convoy_model_input(const convoy_model *model, size_t index,
                                            convoy_value_info *info);
CONVOY_API convoy_status convoy_model_output(const convoy_model *model, size_t index,
                                             convoy_value_info *info);
CONVOY_API convoy_status convoy_model_find_input(const convoy_model *model, const char *name,
                                                 size_t *index);
CONVOY_API convoy_status convoy_model_find_output(const convoy_model *model, const char *name,
                                                  size_t *index);

/* A model may have been compiled for several sets of input shapes (profiles) that share constants,
 * code, names and types. The functions above tell of profile 0; a context runs the profile that it
 * was made with. */
CONVOY_API size_t convoy_model_num_profiles(const convoy_model *model);
/* The name that the compiler gave the profile; "" if it has none or does not exist. */
CONVOY_API const char *convoy_model_profile_name(const convoy_model *model, size_t profile);
CONVOY_API convoy_status convoy_model_find_profile(const convoy_model *model, const char *name,
                                                   size_t *profile);
/* The first profile that takes inputs of these shapes. `inputs` has all inputs of the model in
 * order, `count` of them; only their rank and dims are looked at. */
CONVOY_API convoy_status convoy_model_select_profile(const convoy_model *model,
                                                     const convoy_tensor *inputs, size_t count,
                                                     size_t *profile);
CONVOY_API convoy_status convoy_model_profile_input(const convoy_model *model, size_t profile,
                                                    size_t index, convoy_value_info *info);
CONVOY_API convoy_status convoy_model_profile_output(const convoy_model *model, size_t profile,
                                                     size_t index, convoy_value_info *info);

/* Memory of a profile for a batch of 1; `scratch` is for each thread. */
typedef struct convoy_memory_info {
  uint64_t constant_bytes;
  uint64_t code_bytes;
  uint64_t arena_bytes;
  uint64_t arena_lower_bound_bytes;
  uint64_t scratch_bytes;
} convoy_memory_info;

CONVOY_API convoy_status convoy_model_memory(const convoy_model *model, size_t profile,
                                             convoy_memory_info *info);

/* A step of the net. All pointers live as long as the model. */
typedef struct convoy_launch_info {
  const char *name; /* ONNX node names */
  const char *op;
  const char *kernel;
  const char *strategy;
  uint64_t tiles; /* for one image if batched */
  int32_t batched;
  uint64_t flops; /* for one image */
  uint64_t bytes; /* for one image */
} convoy_launch_info;

CONVOY_API size_t convoy_model_num_launches(const convoy_model *model, size_t profile);
CONVOY_API convoy_status convoy_model_launch(const convoy_model *model, size_t profile,
                                             size_t index, convoy_launch_info *info);

/* The number of the wave that a launch is of. The waves run one after another; the launches of one
 * have nothing to do with each other, and threads take their tiles together. The number of waves if
 * there is no such launch. */
CONVOY_API size_t convoy_model_launch_wave(const convoy_model *model, size_t profile, size_t index);

/* ---- Contexts -------------------------------------------------------------------------------- */

typedef struct convoy_context convoy_context;

/* Gives all memory of a context: arena, scratch, tables, tensors. `allocate` returns NULL when it
 * has no memory; `release` gets the size and alignment that the memory was asked with. Neither is
 * called by convoy_context_run. */
typedef struct convoy_allocator {
  void *(*allocate)(void *user, size_t bytes, size_t alignment);
  void (*release)(void *user, void *memory, size_t bytes, size_t alignment);
  void *user;
} convoy_allocator;

/* Calls task(task_data, i) once for each i < count and returns when all calls have returned. The
 * calls may run at once or one after another, on any threads: none waits for another. */
typedef void (*convoy_parallel_for)(void *user, void (*task)(void *task_data, size_t index),
                                    void *task_data, size_t count);

typedef struct convoy_context_options {
  /* Threads of a run, the calling one among them. 0: as many as the process may use. Results do not
   * depend on it, bit for bit. */
  uint32_t threads;
  /* Reserve memory for this batch at once and allow no larger one. 0: memory grows with the batch.
   */
  int64_t max_batch;
  /* Which set of input shapes: convoy_model_select_profile finds the one for given tensors. */
  size_t profile;
  /* NULL: malloc. Copied. */
  const convoy_allocator *allocator;
  /* NULL: a pool of threads of the context's own, asleep between runs. Otherwise it is called once
   * for each wave of more than one tile, with at most `threads` pieces, and the context starts no
   * thread. */
  convoy_parallel_for parallel_for;
  void *parallel_for_user;
} convoy_context_options;

/* `options` may be NULL. The model must outlive the context. */
CONVOY_API convoy_status convoy_context_create(const convoy_model *model,
                                               const convoy_context_options *options,
                                               convoy_context **context);

/* Takes NULL too. */
CONVOY_API void convoy_context_destroy(convoy_context *context);

/* The context's batch, 1 at first. Memory for it is allocated here. The setters below set it too,
 * from dimension 0 of a batched value. Tensors set for another batch must be set again before a
 * run; the runtime's own tensors follow the batch, and lose their contents. */
CONVOY_API convoy_status convoy_context_set_batch(convoy_context *context, int64_t batch);
CONVOY_API int64_t convoy_context_batch(const convoy_context *context);

/* Lets the next runs read an input from, or write an output to, the caller's memory. The memory
 * must live until the last run that uses it; type and dims are checked and not kept. Data must be
 * aligned to its element. Outputs must not overlap inputs or each other. */
CONVOY_API convoy_status convoy_context_set_input(convoy_context *context, size_t index,
                                                  const convoy_tensor *tensor);
CONVOY_API convoy_status convoy_context_set_input_by_name(convoy_context *context, const char *name,
                                                          const convoy_tensor *tensor);
CONVOY_API convoy_status convoy_context_set_output(convoy_context *context, size_t index,
                                                   const convoy_tensor *tensor);
CONVOY_API convoy_status convoy_context_set_output_by_name(convoy_context *context,
                                                           const char *name,
                                                           const convoy_tensor *tensor);

/* The tensor that the next run will read or write, or that the last one wrote: an extent that the data
 * decide is the largest one that is possible before a run, and the real one after it. One that was not set by the caller is the
 * runtime's own (an input becomes so by this call): fill it before, or read it after, the run. Its
 * data and dims are valid until the batch is set, the tensor is set or the context destroyed. */
CONVOY_API convoy_status convoy_context_input(convoy_context *context, size_t index,
                                              convoy_tensor *tensor);
CONVOY_API convoy_status convoy_context_output(convoy_context *context, size_t index,
                                               convoy_tensor *tensor);

/* Runs the net on the inputs set. Allocates nothing, takes no lock and opens no file. The caller's
 * floating-point state is as before when it returns; within, subnormals count as zero. */
CONVOY_API convoy_status convoy_context_run(convoy_context *context);

/* Whether runs measure the time of each launch. Off at first. */
CONVOY_API convoy_status convoy_context_set_profiling(convoy_context *context, int32_t enable);

/* Nanoseconds that each launch of the last run took, as many as convoy_model_num_launches; NULL if
 * it was not measured. Valid until the next run or call of convoy_context_set_profiling. */
CONVOY_API const uint64_t *convoy_context_launch_times(const convoy_context *context);

/* Threads of a run, after resolving 0. */
CONVOY_API uint32_t convoy_context_threads(const convoy_context *context);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* CONVOY_CONVOY_H */
