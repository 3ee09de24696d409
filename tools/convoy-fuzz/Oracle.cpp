// Speaks with an oracle over pipes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/convoy-fuzz/Oracle.h"

#include "tools/support/Error.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace convoy;
using namespace convoy::fuzz;
using tools::Error;

Oracle::Oracle(const std::string &command) : command(command) { start(); }
Oracle::~Oracle() { stop(); }

void Oracle::start() {
  int requests[2], answers[2];
  if (pipe2(requests, O_CLOEXEC) != 0 || pipe2(answers, O_CLOEXEC) != 0)
    throw Error(std::string("cannot make a pipe: ") + strerror(errno));
  pid = fork();
  if (pid < 0)
    throw Error(std::string("cannot start the oracle: ") + strerror(errno));
  if (pid == 0) {
    dup2(requests[0], STDIN_FILENO);
    dup2(answers[1], STDOUT_FILENO);
    execl("/bin/sh", "sh", "-c", ("exec " + command).c_str(), nullptr);
    _exit(127);
  }
  close(requests[0]);
  close(answers[1]);
  to = requests[1];
  from = answers[0];
}

void Oracle::stop() {
  if (pid < 0)
    return;
  close(to);
  close(from);
  kill(pid, SIGKILL);
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid = -1;
}

void Oracle::ensureRunning() {
  if (pid >= 0 && waitpid(pid, nullptr, WNOHANG) == 0)
    return;
  if (pid >= 0) {
    close(to);
    close(from);
    pid = -1;
  }
  start();
}

static void append(std::string &message, uint32_t number) {
  message.append(reinterpret_cast<const char *>(&number), sizeof number);
}

static void append(std::string &message, const std::string &bytes) {
  append(message, static_cast<uint32_t>(bytes.size()));
  message += bytes;
}

static void readExactly(int file, void *to, size_t size) {
  auto *bytes = static_cast<char *>(to);
  while (size > 0) {
    ssize_t count = read(file, bytes, size);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      throw Error("the oracle has ended; start it by hand to see why");
    bytes += count;
    size -= count;
  }
}

static uint32_t readNumber(int file) {
  uint32_t number;
  readExactly(file, &number, sizeof number);
  return number;
}

static std::string readBytes(int file) {
  std::string bytes(readNumber(file), '\0');
  readExactly(file, bytes.data(), bytes.size());
  return bytes;
}

static Tensor toTensor(const std::string &bytes) {
  ::onnx::TensorProto proto;
  if (!proto.ParseFromString(bytes))
    throw Error("the oracle's answer is no TensorProto");
  Tensor tensor;
  tensor.type = static_cast<convoy_type>(proto.data_type());
  tensor.dims.assign(proto.dims().begin(), proto.dims().end());
  tensor.bytes.assign(proto.raw_data().begin(), proto.raw_data().end());
  if (tensor.bytes.size() != tools::byteSize(tensor.type, tensor.dims))
    throw Error("a tensor in the oracle's answer has no raw_data of its size");
  return tensor;
}

Answer Oracle::ask(const std::string &model, const std::vector<Tensor> &inputs) {
  // Different in each process that asks the same oracle.
  static uint32_t count = 0;
  uint32_t id = static_cast<uint32_t>(getpid()) * 4096u + ++count;
  std::string request;
  append(request, id);
  append(request, model);
  append(request, static_cast<uint32_t>(inputs.size()));
  for (const Tensor &input : inputs)
    append(request, toTensorProto("", input));
  for (size_t written = 0; written < request.size();) {
    ssize_t size = write(to, request.data() + written, request.size() - written);
    if (size < 0 && errno == EINTR)
      continue;
    if (size <= 0)
      throw Error("the oracle has ended; start it by hand to see why");
    written += size;
  }
  for (;;) {
    uint32_t answered = readNumber(from);
    Answer answer;
    answer.kind = static_cast<Answer::Kind>(readNumber(from));
    answer.text = readBytes(from);
    std::vector<std::string> outputs(readNumber(from));
    for (std::string &output : outputs)
      output = readBytes(from);
    if (answered != id)
      continue;
    for (const std::string &output : outputs)
      answer.outputs.push_back(toTensor(output));
    return answer;
  }
}
