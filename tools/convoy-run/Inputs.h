// Makes the input tensors of a run: from files, or generated.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CONVOY_TOOLS_CONVOY_RUN_INPUTS_H
#define CONVOY_TOOLS_CONVOY_RUN_INPUTS_H

#include "tools/convoy-run/Session.h"

#include <string>
#include <vector>

namespace convoy::tools {

enum class Fill { Random, Zeros, Arange };

struct InputOptions {
  struct File {
    std::string name; // Of the input; empty: the first that has none yet.
    std::string path;
  };
  std::vector<File> files;
  Fill fill = Fill::Random;
  uint64_t seed = 0;
  int64_t batch = 0; // 0: what the files hold, else 1.
  std::string profile; // Its name or number; empty: the first that the files fit.
  // Of pictures.
  bool resize = false;
  std::vector<double> mean, std; // For each channel, or one for all.
};

struct Inputs {
  size_t profile = 0;
  std::vector<Tensor> tensors;
  std::vector<std::string> sources; // For each tensor where it comes from, for messages.
  std::vector<std::string> images;  // A name for each image of the batch where one is known.
};

/// Takes the first of the model's shape profiles that the files fit, or the one of the options.
Inputs makeInputs(const Session &session, const InputOptions &options);

/// Inputs from ONNX test data: DIR/input_N.pb is the model's N-th input.
Inputs loadTestInputs(const Session &session, const InputOptions &options,
                      const std::string &folder);

} // namespace convoy::tools

#endif // CONVOY_TOOLS_CONVOY_RUN_INPUTS_H
