// Convoy's runtime for C++17: owners and exceptions around convoy.h, header only.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   convoy::Model model("model.cvy");
//   convoy::Context context(model);
//   context.setInput(0, pixels.data(), {1, 3, 224, 224});
//   context.run();
//   convoy::Span<const float> scores = context.output<float>(0);
#ifndef CONVOY_CONVOY_HPP
#define CONVOY_CONVOY_HPP

#include "convoy/convoy.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace convoy {

/// A call that failed: its status, and what() with the details.
class Error : public std::runtime_error {
public:
  explicit Error(convoy_status status)
      : std::runtime_error(std::string(convoy_status_string(status)) + ": " + convoy_last_error()),
        code(status) {}
  convoy_status status() const noexcept { return code; }

private:
  convoy_status code;
};

inline void check(convoy_status status) {
  if (status != CONVOY_OK)
    throw Error(status);
}

/// Elements that belong to someone else.
template <typename T> class Span {
public:
  Span(T *data, size_t size) : first(data), count(size) {}
  T *data() const { return first; }
  size_t size() const { return count; }
  T *begin() const { return first; }
  T *end() const { return first + count; }
  T &operator[](size_t index) const { return first[index]; }

private:
  T *first;
  size_t count;
};

/// The convoy_type of a C++ type. f16 and bf16 have none: pass their convoy_tensor.
template <typename T> constexpr convoy_type typeOf() {
  static_assert(std::is_arithmetic<T>::value, "no element type of this C++ type");
  if (std::is_same<T, bool>::value)
    return CONVOY_TYPE_BOOL;
  if (std::is_floating_point<T>::value) {
    static_assert(!std::is_floating_point<T>::value || sizeof(T) == 4 || sizeof(T) == 8,
                  "no element type of this C++ type");
    return sizeof(T) == 4 ? CONVOY_TYPE_F32 : CONVOY_TYPE_F64;
  }
  constexpr bool isSigned = std::is_signed<T>::value;
  switch (sizeof(T)) {
  case 1:
    return isSigned ? CONVOY_TYPE_I8 : CONVOY_TYPE_U8;
  case 2:
    return isSigned ? CONVOY_TYPE_I16 : CONVOY_TYPE_U16;
  case 4:
    return isSigned ? CONVOY_TYPE_I32 : CONVOY_TYPE_U32;
  default:
    return isSigned ? CONVOY_TYPE_I64 : CONVOY_TYPE_U64;
  }
}

/// An immutable model. Copies share it; it may be used by any number of threads.
class Model {
public:
  explicit Model(const std::string &path, const convoy_load_options *options = nullptr) {
    convoy_model *made = nullptr;
    check(convoy_model_load(path.c_str(), options, &made));
    adopt(made);
  }

  /// From memory that must stay as it is until the last copy is gone.
  Model(const void *data, size_t size, const convoy_load_options *options = nullptr) {
    convoy_model *made = nullptr;
    check(convoy_model_load_memory(data, size, options, &made));
    adopt(made);
  }

  const convoy_model *get() const noexcept { return handle.get(); }
  std::string name() const { return convoy_model_name(get()); }
  std::string target() const { return convoy_model_target(get()); }
  size_t inputs() const { return convoy_model_num_inputs(get()); }
  size_t outputs() const { return convoy_model_num_outputs(get()); }

  convoy_value_info input(size_t index) const {
    convoy_value_info info;
    check(convoy_model_input(get(), index, &info));
    return info;
  }
  convoy_value_info output(size_t index) const {
    convoy_value_info info;
    check(convoy_model_output(get(), index, &info));
    return info;
  }
  /// Sets of input shapes; the functions above tell of the first.
  size_t profiles() const { return convoy_model_num_profiles(get()); }
  std::string profileName(size_t profile) const {
    return convoy_model_profile_name(get(), profile);
  }
  convoy_value_info input(size_t profile, size_t index) const {
    convoy_value_info info;
    check(convoy_model_profile_input(get(), profile, index, &info));
    return info;
  }
  convoy_value_info output(size_t profile, size_t index) const {
    convoy_value_info info;
    check(convoy_model_profile_output(get(), profile, index, &info));
    return info;
  }
  size_t findProfile(const std::string &name) const {
    size_t index;
    check(convoy_model_find_profile(get(), name.c_str(), &index));
    return index;
  }
  /// The profile for these extents of all inputs; convoy_context_options::profile takes it.
  size_t selectProfile(const std::vector<std::vector<int64_t>> &shapes) const {
    std::vector<convoy_tensor> tensors(shapes.size());
    for (size_t i = 0; i < shapes.size(); ++i) {
      tensors[i].rank = shapes[i].size();
      tensors[i].dims = shapes[i].data();
    }
    size_t index;
    check(convoy_model_select_profile(get(), tensors.data(), tensors.size(), &index));
    return index;
  }
  size_t findInput(const std::string &name) const {
    size_t index;
    check(convoy_model_find_input(get(), name.c_str(), &index));
    return index;
  }
  size_t findOutput(const std::string &name) const {
    size_t index;
    check(convoy_model_find_output(get(), name.c_str(), &index));
    return index;
  }

private:
  void adopt(convoy_model *made) {
    handle = std::shared_ptr<const convoy_model>(made, [](const convoy_model *model) {
      convoy_model_destroy(const_cast<convoy_model *>(model));
    });
  }

  std::shared_ptr<const convoy_model> handle;
};

/// Runs a model, which it keeps alive, on one thread at a time.
class Context {
public:
  explicit Context(const Model &model, const convoy_context_options &options = {}) : model(model) {
    convoy_context *made = nullptr;
    check(convoy_context_create(model.get(), &options, &made));
    handle.reset(made);
  }

  convoy_context *get() const noexcept { return handle.get(); }
  int64_t batch() const { return convoy_context_batch(get()); }
  void setBatch(int64_t batch) { check(convoy_context_set_batch(get(), batch)); }

  /// The next runs read from, or write to, these elements.
  template <typename T>
  void setInput(size_t index, const T *data, const std::vector<int64_t> &dims) {
    convoy_tensor tensor = describe(const_cast<T *>(data), dims);
    check(convoy_context_set_input(get(), index, &tensor));
  }
  template <typename T> void setOutput(size_t index, T *data, const std::vector<int64_t> &dims) {
    convoy_tensor tensor = describe(data, dims);
    check(convoy_context_set_output(get(), index, &tensor));
  }
  template <typename T>
  void setInput(const std::string &name, const T *data, const std::vector<int64_t> &dims) {
    setInput(model.findInput(name), data, dims);
  }
  template <typename T>
  void setOutput(const std::string &name, T *data, const std::vector<int64_t> &dims) {
    setOutput(model.findOutput(name), data, dims);
  }

  convoy_tensor inputTensor(size_t index) {
    convoy_tensor tensor;
    check(convoy_context_input(get(), index, &tensor));
    return tensor;
  }
  convoy_tensor outputTensor(size_t index) {
    convoy_tensor tensor;
    check(convoy_context_output(get(), index, &tensor));
    return tensor;
  }

  /// The elements that the next run reads, and that the last run wrote. They throw if T is not the
  /// value's type.
  template <typename T> Span<T> input(size_t index) {
    return elements<T>(inputTensor(index), "input");
  }
  template <typename T> Span<const T> output(size_t index) {
    return elements<const T>(outputTensor(index), "output");
  }

  void run() { check(convoy_context_run(get())); }

private:
  struct Destroy {
    void operator()(convoy_context *context) const { convoy_context_destroy(context); }
  };

  template <typename T> static convoy_tensor describe(T *data, const std::vector<int64_t> &dims) {
    size_t bytes = sizeof(T);
    for (int64_t extent : dims)
      bytes *= static_cast<size_t>(extent);
    return {data, bytes, typeOf<T>(), dims.size(), dims.data()};
  }

  template <typename T> static Span<T> elements(const convoy_tensor &tensor, const char *kind) {
    using Element = typename std::remove_const<T>::type;
    if (tensor.type != typeOf<Element>())
      throw std::invalid_argument(std::string("the ") + kind + " has elements of type " +
                                  convoy_type_string(tensor.type) + ", asked for " +
                                  convoy_type_string(typeOf<Element>()));
    size_t count = 1;
    for (size_t i = 0; i < tensor.rank; ++i)
      count *= static_cast<size_t>(tensor.dims[i]);
    return {static_cast<T *>(tensor.data), count};
  }

  Model model;
  std::unique_ptr<convoy_context, Destroy> handle;
};

} // namespace convoy

#endif // CONVOY_CONVOY_HPP
