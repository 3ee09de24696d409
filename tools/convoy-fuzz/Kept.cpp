// Failing cases as folders.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/convoy-fuzz/Kept.h"

#include "tools/support/Error.h"
#include "tools/support/Options.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <filesystem>

using namespace convoy;
using namespace convoy::fuzz;
using tools::Error;
using tools::format;
using tools::Options;

static void writeText(const std::string &path, const std::string &text) {
  tools::writeFile(path, text.data(), text.size());
}

void convoy::fuzz::keep(const std::string &folder, const Case &test, const std::string &report) {
  std::filesystem::create_directories(folder + "/test_data_set_0");
  writeText(folder + "/model.onnx", test.model.SerializeAsString());
  if (std::string text = toText(test.model); !text.empty())
    writeText(folder + "/model.onnxtxt", text);
  for (size_t i = 0; i < test.inputs.size(); ++i)
    writeText(folder + format("/test_data_set_0/input_%zu.pb", i),
              toTensorProto(test.model.graph().input(i).name(), test.inputs[i]));
  std::string tolerances;
  for (double tolerance : test.tolerances)
    tolerances += format("%.17g\n", tolerance);
  writeText(folder + "/tolerances.txt", tolerances);
  writeText(folder + "/report.txt", report);
}

static std::string readText(const std::string &path) {
  std::vector<uint8_t> bytes = tools::readFile(path);
  return std::string(bytes.begin(), bytes.end());
}

Case convoy::fuzz::readCase(const std::string &folder) {
  Case test;
  if (!test.model.ParseFromString(readText(folder + "/model.onnx")))
    throw Error(folder + "/model.onnx is no ONNX model");
  for (int i = 0; i < test.model.graph().input_size(); ++i)
    test.inputs.push_back(
        tools::readTensorProto(folder + format("/test_data_set_0/input_%d.pb", i)));
  std::string text = readText(folder + "/tolerances.txt");
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(text).split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef line : lines)
    test.tolerances.push_back(Options::number("tolerances.txt", line.str()));
  if (test.tolerances.size() != size_t(test.model.graph().output_size()))
    throw Error(folder + "/tolerances.txt must have a number for each output");
  return test;
}
