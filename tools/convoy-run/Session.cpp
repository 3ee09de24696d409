// A loaded model and one context of it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/convoy-run/Session.h"

#include "tools/support/Error.h"

namespace convoy::tools {

namespace {

void check(convoy_status status, const std::string &what) {
  if (status == CONVOY_OK)
    return;
  std::string detail = convoy_last_error();
  if (detail.empty())
    detail = convoy_status_string(status);
  // The runtime names files itself.
  throw Error(detail.compare(0, what.size(), what) == 0 ? detail : what + ": " + detail);
}

template <typename Get>
std::vector<Value> values(const convoy_model *model, size_t count, size_t profile, Get get) {
  std::vector<Value> result;
  for (size_t i = 0; i < count; ++i) {
    convoy_value_info info;
    check(get(model, profile, i, &info), convoy_model_name(model));
    std::vector<int64_t> dims(info.dims, info.dims + info.rank);
    result.push_back({info.name, info.type, std::move(dims), info.dim_names});
  }
  return result;
}

} // namespace

Session::Session(const std::string &path, const std::string &target)
    : model(nullptr, convoy_model_destroy), context(nullptr, convoy_context_destroy) {
  convoy_load_options options = {};
  options.target = target.empty() ? nullptr : target.c_str();
  convoy_model *loaded = nullptr;
  check(convoy_model_load(path.c_str(), &options, &loaded), path);
  model.reset(loaded);
}

size_t Session::findProfile(const std::string &text) const {
  size_t index = 0;
  if (convoy_model_find_profile(model.get(), text.c_str(), &index) == CONVOY_OK)
    return index;
  std::string problem = convoy_last_error();
  bool isNumber = !text.empty() && text.size() < 6 &&
                  text.find_first_not_of("0123456789") == std::string::npos;
  if (isNumber && (index = std::stoul(text)) < numProfiles())
    return index;
  throw Error("--use-profile: " + problem);
}

std::string Session::profileText(size_t of) const {
  std::string name = convoy_model_profile_name(model.get(), of);
  return "profile " + std::to_string(of) + (name.empty() ? "" : " '" + name + "'");
}

std::vector<Value> Session::inputs(size_t of) const {
  return values(model.get(), convoy_model_num_inputs(model.get()), of, convoy_model_profile_input);
}

std::vector<Value> Session::outputs(size_t of) const {
  return values(model.get(), convoy_model_num_outputs(model.get()), of,
                convoy_model_profile_output);
}

std::vector<convoy_launch_info> Session::launches() const {
  std::vector<convoy_launch_info> result(convoy_model_num_launches(model.get(), profile));
  for (size_t i = 0; i < result.size(); ++i)
    check(convoy_model_launch(model.get(), profile, i, &result[i]), "launch");
  return result;
}

std::vector<size_t> Session::waves() const {
  std::vector<size_t> result(convoy_model_num_launches(model.get(), profile));
  for (size_t i = 0; i < result.size(); ++i)
    result[i] = convoy_model_launch_wave(model.get(), profile, i);
  return result;
}

void Session::start(size_t ofProfile, uint32_t threads) {
  profile = ofProfile;
  convoy_context_options options = {};
  options.threads = threads;
  options.profile = profile;
  convoy_context *made = nullptr;
  check(convoy_context_create(model.get(), &options, &made), "cannot start");
  context.reset(made);
}

void Session::setInputs(std::vector<Tensor> &tensors, const std::vector<std::string> &sources) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    Tensor &from = tensors[i];
    convoy_tensor tensor = {from.bytes.data(), from.bytes.size(), from.type, from.dims.size(),
                            from.dims.data()};
    check(convoy_context_set_input(context.get(), i, &tensor), sources[i]);
  }
}

void Session::run() { check(convoy_context_run(context.get()), "cannot run"); }

std::vector<Tensor> Session::results() {
  std::vector<Tensor> result(convoy_model_num_outputs(model.get()));
  for (size_t i = 0; i < result.size(); ++i) {
    convoy_tensor tensor;
    check(convoy_context_output(context.get(), i, &tensor), "output");
    result[i].type = tensor.type;
    result[i].resize(std::vector<int64_t>(tensor.dims, tensor.dims + tensor.rank));
    auto *data = static_cast<const uint8_t *>(tensor.data);
    result[i].bytes.assign(data, data + result[i].bytes.size());
  }
  return result;
}

void Session::setProfiling(bool enable) {
  check(convoy_context_set_profiling(context.get(), enable), "cannot measure launches");
}

std::vector<uint64_t> Session::launchTimes() {
  const uint64_t *times = convoy_context_launch_times(context.get());
  if (!times)
    throw Error("the runtime measured no launches");
  return {times, times + convoy_model_num_launches(model.get(), profile)};
}

} // namespace convoy::tools
