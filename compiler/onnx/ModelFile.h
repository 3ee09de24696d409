// A model file on disk: its protobuf, and the files of its external data.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "mlir/IR/Location.h"
#include "llvm/Support/MemoryBuffer.h"

#include <map>
#include <memory>
#include <string>

#include <onnx/onnx_pb.h>

namespace convoy::onnx {

/// The model with what is needed to report errors and to read its tensors.
class ModelFile {
public:
  /// `name` stands in diagnostics; `folder` holds external data.
  ModelFile(llvm::StringRef name, llvm::StringRef folder, mlir::MLIRContext *context);

  mlir::LogicalResult read(llvm::StringRef path);
  mlir::LogicalResult parse(llvm::StringRef bytes, bool isText);

  /// The location of errors that concern the file as a whole.
  mlir::Location getLoc() const { return loc; }
  /// The file of external data of a tensor, mapped and shared; an error at `at` if it may not or
  /// cannot be read.
  mlir::FailureOr<std::shared_ptr<llvm::MemoryBuffer>>
  openExternal(mlir::Location at, llvm::StringRef tensor, llvm::StringRef location);

  ::onnx::ModelProto proto;

private:
  mlir::Location loc;
  std::string folder;
  std::map<std::string, std::shared_ptr<llvm::MemoryBuffer>> externals;
};

/// Parses ONNX's text form; an error message, or nothing. It stands in a file of its own since
/// only it needs libonnx.
std::string parseTextModel(const std::string &text, ::onnx::ModelProto &model);

} // namespace convoy::onnx
