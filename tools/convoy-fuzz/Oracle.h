// Another implementation of ONNX, in a process of its own.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "tools/convoy-fuzz/Graph.h"

#include <sys/types.h>

namespace convoy::fuzz {

struct Answer {
  enum Kind : uint8_t {
    Values = 0,
    None = 1,  ///< it does not implement an op, or is known to deviate from the text: `text` says
    Error = 2, ///< it refuses the model, or fails
  } kind = None;
  std::string text;
  std::vector<Tensor> outputs;
};

/// A command that answers requests on its standard input on its standard output until that ends.
/// Numbers are little-endian u32:
///
///   request: id, bytes of the ModelProto, it, number of inputs, for each: bytes of the
///   TensorProto, it answer:  id, kind (see Answer), bytes of a text, it, number of outputs, for
///   each as above
///
/// Tensors are in raw_data. One process may be used by children of this one, one at a time: an
/// answer that a child which was killed has left behind has another id.
class Oracle {
public:
  explicit Oracle(const std::string &command);
  ~Oracle();
  Oracle(const Oracle &) = delete;
  Oracle &operator=(const Oracle &) = delete;

  /// Starts it again if it has ended.
  void ensureRunning();
  Answer ask(const std::string &model, const std::vector<Tensor> &inputs);

private:
  void start();
  void stop();

  std::string command;
  pid_t pid = -1;
  int to = -1, from = -1;
};

} // namespace convoy::fuzz
