// The C API: checks arguments and calls the parts that do the work.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "context.h"
#include "types.h"

#include <string.h>

using namespace convoy::rt;
namespace schema = convoy::schema;

namespace {

convoy_status nullArgument(const char *function, const char *argument) {
  return fail(CONVOY_INVALID_ARGUMENT, "%s: %s is NULL", function, argument);
}

/// For the arguments of the function around it.
#define CONVOY_REQUIRE(argument)                                                                   \
  if (!(argument))                                                                                 \
    return nullArgument(__func__, #argument);

convoy_status findProfile(const convoy_model &model, size_t index, const Profile **profile) {
  if (index >= model.profiles.size())
    return fail(CONVOY_NO_SUCH_INDEX, "profile %zu of a model with %zu", index,
                model.profiles.size());
  *profile = &model.profiles[index];
  return CONVOY_OK;
}

/// Adds for each profile its name and the shapes of its inputs.
void addProfiles(Text &list, const convoy_model &model) {
  constexpr size_t shown = 8;
  size_t count = model.profiles.size();
  for (size_t p = 0; p < count && p < shown; ++p) {
    const Profile &profile = model.profiles[p];
    list.add("%s%zu", p ? "; " : "", p);
    if (profile.name()[0])
      list.add(" \"%.100s\"", profile.name());
    for (const convoy_value_info &value : profile.inputs.infos) {
      list.add(" %.100s ", value.name);
      addShape(list, value.type, value.dims, value.rank);
    }
  }
  if (count > shown)
    list.add("; and %zu more", count - shown);
}

convoy_status badIndex(const char *kind, size_t index, size_t count) {
  return fail(CONVOY_NO_SUCH_INDEX, "%s %zu of a model with %zu", kind, index, count);
}

convoy_status findName(const Values &values, const char *kind, const char *name, size_t *index) {
  for (size_t i = 0; i < values.visible; ++i)
    if (strcmp(values.infos[i].name, name) == 0) {
      *index = i;
      return CONVOY_OK;
    }
  Text known;
  for (size_t i = 0; i < values.visible; ++i)
    known.add("%s\"%s\"", known.str()[0] ? ", " : "", values.infos[i].name);
  return fail(CONVOY_NO_SUCH_NAME, "no %s \"%.100s\"; the model has %s", kind, name, known.str());
}

/// Opens a model from whatever `open` makes of its file.
template <typename Open>
convoy_status loadModel(const convoy_load_options *options, convoy_model **result, Open open) {
  auto *model = create<convoy_model>(systemAllocator());
  if (!model)
    return fail(CONVOY_OUT_OF_MEMORY, "no memory for a model");
  convoy_status status = open(model->file);
  if (status == CONVOY_OK)
    status = model->load(options);
  if (status == CONVOY_OK)
    *result = model;
  else
    convoy_model_destroy(model);
  return status;
}

} // namespace

// ---- Models -------------------------------------------------------------------------------------

extern "C" convoy_status convoy_model_load(const char *path, const convoy_load_options *options,
                                           convoy_model **model) {
  CONVOY_REQUIRE(path)
  CONVOY_REQUIRE(model)
  return loadModel(options, model, [&](File &file) { return file.open(path); });
}

extern "C" convoy_status convoy_model_load_memory(const void *data, size_t size,
                                                  const convoy_load_options *options,
                                                  convoy_model **model) {
  CONVOY_REQUIRE(data)
  CONVOY_REQUIRE(model)
  return loadModel(options, model, [&](File &file) { return file.borrow(data, size); });
}

extern "C" void convoy_model_destroy(convoy_model *model) { destroy(systemAllocator(), model); }

extern "C" const char *convoy_model_name(const convoy_model *model) {
  return text(model->artifact->model_name());
}

extern "C" const char *convoy_model_producer(const convoy_model *model) {
  return text(model->artifact->producer());
}

extern "C" const char *convoy_model_target(const convoy_model *model) {
  return model->profiles[0].variant->target()->c_str();
}

extern "C" size_t convoy_model_num_inputs(const convoy_model *model) {
  return model->profiles[0].inputs.size();
}

extern "C" size_t convoy_model_num_outputs(const convoy_model *model) {
  return model->profiles[0].outputs.visible;
}

extern "C" size_t convoy_model_num_profiles(const convoy_model *model) {
  return model->profiles.size();
}

extern "C" const char *convoy_model_profile_name(const convoy_model *model, size_t profile) {
  return profile < model->profiles.size() ? model->profiles[profile].name() : "";
}

extern "C" convoy_status convoy_model_find_profile(const convoy_model *model, const char *name,
                                                   size_t *profile) {
  CONVOY_REQUIRE(model)
  CONVOY_REQUIRE(name)
  CONVOY_REQUIRE(profile)
  for (size_t i = 0; i < model->profiles.size(); ++i)
    if (name[0] && strcmp(model->profiles[i].name(), name) == 0) {
      *profile = i;
      return CONVOY_OK;
    }
  Text list;
  addProfiles(list, *model);
  return fail(CONVOY_NO_SUCH_NAME, "no profile \"%.100s\"; the model has %s", name, list.str());
}

extern "C" convoy_status convoy_model_select_profile(const convoy_model *model,
                                                     const convoy_tensor *inputs, size_t count,
                                                     size_t *profile) {
  CONVOY_REQUIRE(model)
  CONVOY_REQUIRE(profile)
  size_t expected = model->profiles[0].inputs.size();
  if (count != expected)
    return fail(CONVOY_INVALID_ARGUMENT, "%zu inputs, the model has %zu", count, expected);
  if (count)
    CONVOY_REQUIRE(inputs)
  if (const Profile *found = model->findProfileFor(inputs)) {
    *profile = static_cast<size_t>(found - model->profiles.begin());
    return CONVOY_OK;
  }
  Text list;
  addProfiles(list, *model);
  return fail(CONVOY_SHAPE_MISMATCH, "no profile takes inputs of these shapes; there are %s",
              list.str());
}

extern "C" convoy_status convoy_model_profile_input(const convoy_model *model, size_t profile,
                                                    size_t index, convoy_value_info *info) {
  CONVOY_REQUIRE(model)
  CONVOY_REQUIRE(info)
  const Profile *found = nullptr;
  if (convoy_status status = findProfile(*model, profile, &found))
    return status;
  if (index >= found->inputs.size())
    return badIndex("input", index, found->inputs.size());
  *info = found->inputs.infos[index];
  return CONVOY_OK;
}

extern "C" convoy_status convoy_model_profile_output(const convoy_model *model, size_t profile,
                                                     size_t index, convoy_value_info *info) {
  CONVOY_REQUIRE(model)
  CONVOY_REQUIRE(info)
  const Profile *found = nullptr;
  if (convoy_status status = findProfile(*model, profile, &found))
    return status;
  if (index >= found->outputs.visible)
    return badIndex("output", index, found->outputs.visible);
  *info = found->outputs.infos[index];
  return CONVOY_OK;
}

extern "C" convoy_status convoy_model_input(const convoy_model *model, size_t index,
                                            convoy_value_info *info) {
  return convoy_model_profile_input(model, 0, index, info);
}

extern "C" convoy_status convoy_model_output(const convoy_model *model, size_t index,
                                             convoy_value_info *info) {
  return convoy_model_profile_output(model, 0, index, info);
}

extern "C" convoy_status convoy_model_find_input(const convoy_model *model, const char *name,
                                                 size_t *index) {
  CONVOY_REQUIRE(model)
  CONVOY_REQUIRE(name)
  CONVOY_REQUIRE(index)
  return findName(model->profiles[0].inputs, "input", name, index);
}

extern "C" convoy_status convoy_model_find_output(const convoy_model *model, const char *name,
                                                  size_t *index) {
  CONVOY_REQUIRE(model)
  CONVOY_REQUIRE(name)
  CONVOY_REQUIRE(index)
  return findName(model->profiles[0].outputs, "output", name, index);
}

extern "C" convoy_status convoy_model_memory(const convoy_model *model, size_t profile,
                                             convoy_memory_info *info) {
  CONVOY_REQUIRE(model)
  CONVOY_REQUIRE(info)
  const Profile *found = nullptr;
  if (convoy_status status = findProfile(*model, profile, &found))
    return status;
  const schema::Variant &variant = *found->variant;
  const schema::Section *constants = model->artifact->constants();
  *info = {constants ? constants->size() : 0, variant.code() ? variant.code()->size() : 0,
           variant.arena_bytes(), variant.arena_lower_bound_bytes(), variant.scratch_bytes()};
  return CONVOY_OK;
}

extern "C" size_t convoy_model_num_launches(const convoy_model *model, size_t profile) {
  return profile < model->profiles.size() ? sizeOf(model->profiles[profile].variant->launches())
                                          : 0;
}

extern "C" convoy_status convoy_model_launch(const convoy_model *model, size_t profile,
                                             size_t index, convoy_launch_info *info) {
  CONVOY_REQUIRE(model)
  CONVOY_REQUIRE(info)
  const Profile *found = nullptr;
  if (convoy_status status = findProfile(*model, profile, &found))
    return status;
  size_t count = convoy_model_num_launches(model, profile);
  if (index >= count)
    return badIndex("launch", index, count);
  const schema::Launch &launch = *found->variant->launches()->Get(static_cast<uint32_t>(index));
  const schema::Kernel &kernel = *found->variant->kernels()->Get(launch.kernel());
  *info = {text(launch.name()), text(launch.op()), text(kernel.name()), text(kernel.strategy()),
           launch.tiles(),      launch.batched(),  launch.flops(),      launch.bytes()};
  return CONVOY_OK;
}

extern "C" size_t convoy_model_launch_wave(const convoy_model *model, size_t profile,
                                           size_t index) {
  size_t wave = 0;
  for (size_t i = 0; i < convoy_model_num_launches(model, profile); ++i) {
    const auto &launches = *model->profiles[profile].variant->launches();
    wave += i && !launches.Get(static_cast<uint32_t>(i))->joins();
    if (i == index)
      return wave;
  }
  return convoy_model_num_launches(model, profile) ? wave + 1 : 0;
}

// ---- Contexts -----------------------------------------------------------------------------------

extern "C" convoy_status convoy_context_create(const convoy_model *model,
                                               const convoy_context_options *options,
                                               convoy_context **result) {
  CONVOY_REQUIRE(model)
  convoy_context **context = result; // the name that the header gives it, for the message
  CONVOY_REQUIRE(context)
  convoy_context_options defaults{};
  if (!options)
    options = &defaults;
  convoy_allocator allocator = options->allocator ? *options->allocator : systemAllocator();
  CONVOY_REQUIRE(allocator.allocate)
  CONVOY_REQUIRE(allocator.release)
  auto *made = create<convoy_context>(allocator, *model, allocator);
  if (!made)
    return fail(CONVOY_OUT_OF_MEMORY, "no memory for a context");
  convoy_status status = made->initialize(*options);
  if (status == CONVOY_OK)
    *context = made;
  else
    convoy_context_destroy(made);
  return status;
}

extern "C" void convoy_context_destroy(convoy_context *context) {
  if (context)
    destroy(context->allocator, context);
}

extern "C" convoy_status convoy_context_set_batch(convoy_context *context, int64_t batch) {
  CONVOY_REQUIRE(context)
  return context->setBatch(batch);
}

extern "C" int64_t convoy_context_batch(const convoy_context *context) { return context->batch; }

extern "C" convoy_status convoy_context_set_input(convoy_context *context, size_t index,
                                                  const convoy_tensor *tensor) {
  CONVOY_REQUIRE(context)
  if (index >= context->inputs.size())
    return badIndex("input", index, context->inputs.size());
  return context->bind(context->inputs[index], "input", tensor);
}

extern "C" convoy_status convoy_context_set_output(convoy_context *context, size_t index,
                                                   const convoy_tensor *tensor) {
  CONVOY_REQUIRE(context)
  if (index >= context->profile->outputs.visible)
    return badIndex("output", index, context->profile->outputs.visible);
  return context->bind(context->outputs[index], "output", tensor);
}

extern "C" convoy_status convoy_context_set_input_by_name(convoy_context *context, const char *name,
                                                          const convoy_tensor *tensor) {
  CONVOY_REQUIRE(context)
  CONVOY_REQUIRE(name)
  size_t index;
  if (convoy_status status = findName(context->profile->inputs, "input", name, &index))
    return status;
  return convoy_context_set_input(context, index, tensor);
}

extern "C" convoy_status convoy_context_set_output_by_name(convoy_context *context,
                                                           const char *name,
                                                           const convoy_tensor *tensor) {
  CONVOY_REQUIRE(context)
  CONVOY_REQUIRE(name)
  size_t index;
  if (convoy_status status = findName(context->profile->outputs, "output", name, &index))
    return status;
  return convoy_context_set_output(context, index, tensor);
}

extern "C" convoy_status convoy_context_input(convoy_context *context, size_t index,
                                              convoy_tensor *tensor) {
  CONVOY_REQUIRE(context)
  CONVOY_REQUIRE(tensor)
  if (index >= context->inputs.size())
    return badIndex("input", index, context->inputs.size());
  Slot &slot = context->inputs[index];
  if (!slot.data)
    if (convoy_status status = context->bindOwn(slot, "input"))
      return status;
  *tensor = slot.tensor();
  return CONVOY_OK;
}

extern "C" convoy_status convoy_context_output(convoy_context *context, size_t index,
                                               convoy_tensor *tensor) {
  CONVOY_REQUIRE(context)
  CONVOY_REQUIRE(tensor)
  if (index >= context->profile->outputs.visible)
    return badIndex("output", index, context->profile->outputs.visible);
  *tensor = context->outputs[index].tensor();
  return CONVOY_OK;
}

extern "C" convoy_status convoy_context_run(convoy_context *context) {
  CONVOY_REQUIRE(context)
  return context->run();
}

extern "C" convoy_status convoy_context_set_profiling(convoy_context *context, int32_t enable) {
  CONVOY_REQUIRE(context)
  context->profiling = enable != 0;
  context->measured = false;
  return CONVOY_OK;
}

extern "C" const uint64_t *convoy_context_launch_times(const convoy_context *context) {
  return context->measured ? context->times.begin() : nullptr;
}

extern "C" uint32_t convoy_context_threads(const convoy_context *context) {
  return context->threads;
}
