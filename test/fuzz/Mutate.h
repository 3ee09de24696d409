// Changes to model files: some that know what an ONNX model is made of, some that do not.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "test/fuzz/Random.h"

#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

namespace convoy::fuzz {

/// A model to start from.
struct Seed {
  std::string name;
  ::onnx::ModelProto model;
};

/// The bytes of one of the seeds after some changes: a function of the random numbers.
std::string mutate(const std::vector<Seed> &corpus, Random &random);

// MutateValues.cpp: changes inside one part of a model.

int64_t interestingInt(Random &random);
void mutateTensor(::onnx::TensorProto &tensor, Random &random);
void mutateType(::onnx::TypeProto &type, Random &random);
void mutateAttribute(::onnx::AttributeProto &attribute, Random &random);
/// Changes to bytes that know nothing of the model.
void mutateBytes(std::string &bytes, Random &random);

} // namespace convoy::fuzz
