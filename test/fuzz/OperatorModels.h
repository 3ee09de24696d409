// One small model for each row of the op table: where the importer's fuzzer starts from.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

namespace convoy::fuzz {

/// The models; `without` is filled with the rows for which none imports.
std::vector<::onnx::ModelProto> operatorModels(std::vector<std::string> &without);

} // namespace convoy::fuzz
