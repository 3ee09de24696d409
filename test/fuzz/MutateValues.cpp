// Changes to tensors, types, attributes and bytes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/fuzz/Mutate.h"

#include <limits>

using namespace convoy::fuzz;
using ::onnx::AttributeProto;
using ::onnx::TensorProto;
using ::onnx::TypeProto;

int64_t convoy::fuzz::interestingInt(Random &random) {
  static constexpr int64_t values[] = {0,
                                       1,
                                       -1,
                                       2,
                                       -2,
                                       3,
                                       4,
                                       5,
                                       7,
                                       8,
                                       13,
                                       16,
                                       64,
                                       100,
                                       255,
                                       256,
                                       4096,
                                       65536,
                                       (int64_t(1) << 31) - 1,
                                       int64_t(1) << 31,
                                       -(int64_t(1) << 31),
                                       int64_t(1) << 32,
                                       (int64_t(1) << 32) + 1,
                                       int64_t(1) << 40,
                                       int64_t(1) << 47,
                                       int64_t(1) << 48,
                                       int64_t(1) << 62,
                                       std::numeric_limits<int64_t>::max(),
                                       std::numeric_limits<int64_t>::max() - 1,
                                       std::numeric_limits<int64_t>::min(),
                                       std::numeric_limits<int64_t>::min() + 1};
  switch (random.below(4)) {
  case 0:
    return static_cast<int64_t>(random.below(10)) - 3;
  case 1:
    return static_cast<int64_t>(random.next());
  default:
    return random.pick(values);
  }
}

static float interestingFloat(Random &random) {
  using Limits = std::numeric_limits<float>;
  static constexpr float values[] = {0,
                                     -0.0f,
                                     1,
                                     -1,
                                     0.5f,
                                     2,
                                     1e-30f,
                                     -1e30f,
                                     3e38f,
                                     1e10f,
                                     0.1f,
                                     1e9f,
                                     255,
                                     -7,
                                     64,
                                     Limits::infinity(),
                                     -Limits::infinity(),
                                     Limits::quiet_NaN(),
                                     Limits::denorm_min()};
  return random.pick(values);
}

static int64_t changedInt(int64_t value, Random &random) {
  switch (random.below(5)) {
  case 0:
    return static_cast<int64_t>(static_cast<uint64_t>(value) + 1);
  case 1:
    return static_cast<int64_t>(static_cast<uint64_t>(value) - 1);
  case 2:
    return static_cast<int64_t>(-static_cast<uint64_t>(value));
  default:
    return interestingInt(random);
  }
}

// Adds, removes, doubles or changes an element.
template <typename List, typename Make>
static void mutateList(List &list, Random &random, Make make) {
  size_t size = list.size();
  switch (size == 0 ? 0 : random.below(6)) {
  case 0:
    *list.Add() = make();
    return;
  case 1:
    list.RemoveLast();
    return;
  case 2:
    list.SwapElements(0, static_cast<int>(random.below(size)));
    return;
  case 3:
    list.Clear();
    return;
  default:
    *list.Mutable(static_cast<int>(random.below(size))) = make();
  }
}

// How the parts of a file might be meant to lead out of its folder, or to what is no file.
static std::string hostilePath(Random &random) {
  static const std::string paths[] = {"/etc/passwd",
                                      "../../../../etc/passwd",
                                      "a/../../b",
                                      "",
                                      ".",
                                      "..",
                                      "/dev/zero",
                                      "/proc/self/mem",
                                      std::string("a\0b", 3),
                                      "no such file",
                                      "//",
                                      "\xff\xfe",
                                      std::string(5000, 'a'),
                                      "weights.bin"};
  return paths[random.below(std::size(paths))];
}

static void makeExternal(TensorProto &tensor, Random &random) {
  tensor.set_data_location(TensorProto::EXTERNAL);
  tensor.clear_external_data();
  auto add = [&](const char *key, const std::string &value) {
    auto *entry = tensor.add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  };
  add("location", hostilePath(random));
  for (const char *key : {"offset", "length"})
    if (random.oneIn(2))
      add(key, random.oneIn(8) ? "0x1z" : std::to_string(interestingInt(random)));
}

void convoy::fuzz::mutateTensor(TensorProto &tensor, Random &random) {
  std::string *raw = tensor.mutable_raw_data();
  bool hadRaw = !raw->empty();
  switch (random.below(9)) {
  case 0:
    mutateList(*tensor.mutable_dims(), random, [&] { return interestingInt(random); });
    break;
  case 1:
    tensor.set_data_type(random.oneIn(4) ? static_cast<int32_t>(interestingInt(random))
                                         : static_cast<int32_t>(random.below(26)));
    break;
  case 2:
    raw->resize(random.below(raw->size() + 1));
    break;
  case 3:
    raw->append(1 + random.below(64), static_cast<char>(random.next()));
    break;
  case 4: // values of a shape, where that is what it holds
    if (raw->size() >= 8) {
      int64_t value = interestingInt(random);
      raw->replace(random.below(raw->size() / 8) * 8, 8, reinterpret_cast<const char *>(&value), 8);
    } else {
      mutateList(*tensor.mutable_int64_data(), random, [&] { return interestingInt(random); });
    }
    break;
  case 5:
    if (raw->size() >= 4) {
      float value = interestingFloat(random);
      raw->replace(random.below(raw->size() / 4) * 4, 4, reinterpret_cast<const char *>(&value), 4);
    } else {
      mutateList(*tensor.mutable_float_data(), random, [&] { return interestingFloat(random); });
    }
    break;
  case 6:
    makeExternal(tensor, random);
    break;
  case 7:
    mutateList(*tensor.mutable_int32_data(), random,
               [&] { return static_cast<int32_t>(interestingInt(random)); });
    break;
  default:
    tensor.mutable_segment()->set_begin(interestingInt(random));
    break;
  }
  if (raw->empty() && !hadRaw)
    tensor.clear_raw_data();
}

void convoy::fuzz::mutateType(TypeProto &type, Random &random) {
  if (random.oneIn(12)) {
    TypeProto inner = type;
    (random.oneIn(2) ? type.mutable_sequence_type()->mutable_elem_type()
                     : type.mutable_optional_type()->mutable_elem_type())
        ->Swap(&inner);
    return;
  }
  if (random.oneIn(12)) {
    type.Clear();
    return;
  }
  auto *tensor = type.mutable_tensor_type();
  auto *dims = tensor->mutable_shape()->mutable_dim();
  switch (random.below(5)) {
  case 0:
    tensor->set_elem_type(static_cast<int32_t>(random.below(26)));
    return;
  case 1:
    tensor->clear_shape();
    return;
  case 2:
    if (dims->empty() || random.oneIn(2))
      dims->Add()->set_dim_value(interestingInt(random));
    else
      dims->RemoveLast();
    return;
  default:
    if (dims->empty())
      return;
    auto *dim = dims->Mutable(static_cast<int>(random.below(dims->size())));
    if (random.oneIn(3))
      dim->set_dim_param(random.oneIn(2) ? "N" : "M");
    else
      dim->set_dim_value(changedInt(dim->dim_value(), random));
  }
}

void convoy::fuzz::mutateAttribute(AttributeProto &attribute, Random &random) {
  // Strings that some attribute somewhere takes.
  static const std::string words[] = {"",
                                      "SAME_UPPER",
                                      "SAME_LOWER",
                                      "VALID",
                                      "NOTSET",
                                      "constant",
                                      "reflect",
                                      "edge",
                                      "wrap",
                                      "nearest",
                                      "linear",
                                      "cubic",
                                      "area",
                                      "half_pixel",
                                      "asymmetric",
                                      "align_corners",
                                      "LEFT",
                                      "RIGHT",
                                      "add",
                                      "mul",
                                      "max",
                                      "min",
                                      "tf_crop_and_resize",
                                      "ij,jk->ik",
                                      "...ii->...i",
                                      "i->",
                                      "->",
                                      "Relu",
                                      "Tanh",
                                      "bidirectional",
                                      "reverse",
                                      "floor",
                                      "ceil",
                                      "DCR",
                                      "CRD",
                                      "avg",
                                      "not_larger",
                                      std::string(3000, 'i')};
  if (random.oneIn(16)) {
    attribute.set_type(static_cast<AttributeProto::AttributeType>(random.below(15)));
    return;
  }
  switch (attribute.type()) {
  case AttributeProto::INT:
    attribute.set_i(changedInt(attribute.i(), random));
    return;
  case AttributeProto::INTS:
    mutateList(*attribute.mutable_ints(), random, [&] { return interestingInt(random); });
    return;
  case AttributeProto::FLOAT:
    attribute.set_f(interestingFloat(random));
    return;
  case AttributeProto::FLOATS:
    mutateList(*attribute.mutable_floats(), random, [&] { return interestingFloat(random); });
    return;
  case AttributeProto::STRING:
    if (random.oneIn(2))
      mutateBytes(*attribute.mutable_s(), random);
    else
      attribute.set_s(words[random.below(std::size(words))]);
    return;
  case AttributeProto::STRINGS:
    mutateList(*attribute.mutable_strings(), random,
               [&] { return words[random.below(std::size(words))]; });
    return;
  case AttributeProto::TENSOR:
    mutateTensor(*attribute.mutable_t(), random);
    return;
  default:
    attribute.set_type(AttributeProto::INT);
    attribute.set_i(interestingInt(random));
  }
}

void convoy::fuzz::mutateBytes(std::string &bytes, Random &random) {
  for (size_t count = 1 + random.below(4); count-- > 0;) {
    if (bytes.empty()) {
      bytes.push_back(static_cast<char>(random.next()));
      continue;
    }
    size_t at = random.below(bytes.size());
    size_t length = std::min(bytes.size() - at, 1 + random.below(32));
    switch (random.below(6)) {
    case 0:
      bytes[at] ^= static_cast<char>(1 << random.below(8));
      break;
    case 1:
      bytes[at] = static_cast<char>(random.next());
      break;
    case 2:
      bytes.erase(at, length);
      break;
    case 3:
      bytes.insert(random.below(bytes.size()), bytes.substr(at, length));
      break;
    case 4:
      bytes.resize(at);
      break;
    default: // a number of many bytes
      bytes.insert(at, std::string(random.below(10), '\xff'));
      break;
    }
  }
}
