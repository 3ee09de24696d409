// A loaded model and one context of it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CONVOY_TOOLS_CONVOY_RUN_SESSION_H
#define CONVOY_TOOLS_CONVOY_RUN_SESSION_H

#include "convoy/convoy.h"
#include "tools/support/Tensor.h"

#include <memory>
#include <string>
#include <vector>

namespace convoy::tools {

/// An input or output as the model declares it.
struct Value {
  std::string name;
  convoy_type type;
  std::vector<int64_t> dims; // -1 in front: the batch.
  const char *const *dimNames;

  bool batched() const { return !dims.empty() && dims[0] < 0; }
  std::string describe() const { return tools::describe(type, dims, dimNames); }
};

class Session {
public:
  /// Throws Error with the runtime's own text; so do all functions here.
  Session(const std::string &path, const std::string &target);

  size_t numProfiles() const { return convoy_model_num_profiles(model.get()); }
  /// The profile of a name or number.
  size_t findProfile(const std::string &text) const;
  /// For messages: its number, and its name if it has one.
  std::string profileText(size_t profile) const;
  std::vector<Value> inputs(size_t profile) const;
  std::vector<Value> outputs(size_t profile) const;
  std::vector<convoy_launch_info> launches() const;
  /// The wave of each launch.
  std::vector<size_t> waves() const;
  const convoy_model *get() const { return model.get(); }

  /// Makes the context; the functions below need it.
  void start(size_t profile, uint32_t threads);
  /// Lets runs read these tensors, which must live as long as they do. `sources` names them in
  /// errors.
  void setInputs(std::vector<Tensor> &tensors, const std::vector<std::string> &sources);
  void run();
  /// Copies of the last run's outputs.
  std::vector<Tensor> results();
  void setProfiling(bool enable);
  /// Nanoseconds of each launch of the last run.
  std::vector<uint64_t> launchTimes();
  int64_t batch() const { return convoy_context_batch(context.get()); }
  uint32_t threads() const { return convoy_context_threads(context.get()); }

private:
  std::unique_ptr<convoy_model, void (*)(convoy_model *)> model;
  std::unique_ptr<convoy_context, void (*)(convoy_context *)> context;
  size_t profile = 0;
};

} // namespace convoy::tools

#endif // CONVOY_TOOLS_CONVOY_RUN_SESSION_H
