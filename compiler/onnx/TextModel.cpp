// ONNX's text form, through the parser of libonnx.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/ModelFile.h"

#include <onnx/defs/parser.h>

#include <algorithm>

// The parser reports over several lines: one is enough.
static std::string oneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && text.back() == ' ')
    text.pop_back();
  return text;
}

std::string convoy::onnx::parseTextModel(const std::string &text, ::onnx::ModelProto &model) {
  try {
    ::onnx::OnnxParser parser(text.c_str());
    ::onnx::Common::Status status = parser.Parse(model);
    if (!status.IsOK())
      return oneLine(status.ErrorMessage());
    if (!parser.EndOfInput())
      return "text follows the end of the model";
  } catch (const std::exception &error) {
    return oneLine(error.what());
  }
  return "";
}
