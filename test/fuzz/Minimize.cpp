// Makes a file that fails smaller.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/fuzz/Minimize.h"

#include <onnx/onnx_pb.h>

#include <google/protobuf/stubs/logging.h>

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using ::onnx::ModelProto;

namespace {

class Minimizer {
public:
  Minimizer(std::string bytes, unsigned mostTries,
            const std::function<bool(const std::string &)> &fails)
      : best(std::move(bytes)), triesLeft(mostTries), fails(fails) {}

  void shrinkModel();
  void shrinkBytes();
  std::string best;

private:
  bool keepsFailing(const std::string &bytes) {
    if (triesLeft == 0 || bytes.size() >= best.size())
      return false;
    --triesLeft;
    if (!fails(bytes))
      return false;
    best = bytes;
    return true;
  }
  /// Tries to leave out each part of a message, of its parts, and so on. Whether one could be.
  bool shrink(ModelProto &model, Message &message);
  bool shrinkList(ModelProto &model, Message &message, const FieldDescriptor *field);

  unsigned triesLeft;
  const std::function<bool(const std::string &)> &fails;
};

} // namespace

// Whole halves first, then quarters, then single elements.
bool Minimizer::shrinkList(ModelProto &model, Message &message, const FieldDescriptor *field) {
  const Reflection &reflection = *message.GetReflection();
  bool hasShrunk = false;
  for (int length = reflection.FieldSize(message, field); length > 0; length /= 2) {
    for (int at = 0; at + length <= reflection.FieldSize(message, field) && triesLeft > 0;) {
      Message *before = message.New();
      before->CopyFrom(message);
      int size = reflection.FieldSize(message, field);
      for (int i = at; i + length < size; ++i)
        reflection.SwapElements(&message, field, i, i + length);
      for (int i = 0; i < length; ++i)
        reflection.RemoveLast(&message, field);
      if (keepsFailing(model.SerializeAsString())) {
        hasShrunk = true;
      } else {
        message.CopyFrom(*before);
        at += length;
      }
      delete before;
    }
  }
  return hasShrunk;
}

bool Minimizer::shrink(ModelProto &model, Message &message) {
  const Reflection &reflection = *message.GetReflection();
  std::vector<const FieldDescriptor *> fields;
  reflection.ListFields(message, &fields);
  bool hasShrunk = false;
  for (const FieldDescriptor *field : fields) {
    if (triesLeft == 0)
      return hasShrunk;
    if (field->is_repeated()) {
      hasShrunk |= shrinkList(model, message, field);
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE)
        for (int i = 0; i < reflection.FieldSize(message, field); ++i)
          hasShrunk |= shrink(model, *reflection.MutableRepeatedMessage(&message, field, i));
      continue;
    }
    Message *before = message.New();
    before->CopyFrom(message);
    reflection.ClearField(&message, field);
    bool isGone = keepsFailing(model.SerializeAsString());
    if (!isGone)
      message.CopyFrom(*before);
    hasShrunk |= isGone;
    delete before;
    if (!isGone && field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE)
      hasShrunk |= shrink(model, *reflection.MutableMessage(&message, field));
  }
  return hasShrunk;
}

void Minimizer::shrinkModel() {
  google::protobuf::LogSilencer silence;
  for (bool again = true; again && triesLeft > 0;) {
    ModelProto model;
    if (!model.ParseFromString(best))
      return;
    again = shrink(model, model);
  }
}

void Minimizer::shrinkBytes() {
  for (size_t length = best.size() / 2; length > 0; length /= 2)
    for (size_t at = 0; at + length <= best.size() && triesLeft > 0;) {
      std::string shorter = best.substr(0, at) + best.substr(at + length);
      if (!keepsFailing(shorter))
        at += length;
    }
}

std::string convoy::fuzz::minimize(const std::string &bytes, unsigned mostTries,
                                   const std::function<bool(const std::string &)> &fails) {
  Minimizer minimizer(bytes, mostTries, fails);
  minimizer.shrinkModel();
  minimizer.shrinkBytes();
  return minimizer.best;
}
