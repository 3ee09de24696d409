// Reads model files and keeps external data inside the model's folder.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/ModelFile.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/logging.h>

using namespace mlir;
using namespace convoy::onnx;

ModelFile::ModelFile(StringRef name, StringRef folder, MLIRContext *context)
    : loc(FileLineColLoc::get(context, name, 0, 0)), folder(folder) {}

LogicalResult ModelFile::read(StringRef path) {
  if (llvm::sys::fs::is_directory(path))
    return mlir::emitError(loc) << "is a folder, not a model";
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return mlir::emitError(loc) << "cannot read: " << buffer.getError().message();
  return parse((*buffer)->getBuffer(), path.ends_with(".onnxtxt"));
}

LogicalResult ModelFile::parse(StringRef bytes, bool isText) {
  if (isText) {
    std::string error = parseTextModel(bytes.str(), proto);
    if (!error.empty())
      return mlir::emitError(loc) << "is not ONNX text: " << error;
  } else {
    if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max()))
      return mlir::emitError(loc) << "is larger than the 2 GiB that protobuf can hold; store the "
                                     "weights as external data";
    // Protobuf would print its own errors.
    google::protobuf::LogSilencer silence;
    google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t *>(bytes.data()),
                                                  static_cast<int>(bytes.size()));
    // Deep enough for nested graphs, and bounded so that a crafted file cannot end the stack.
    stream.SetRecursionLimit(100);
    if (!proto.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage())
      return mlir::emitError(loc) << "is no ONNX model, or is truncated";
  }
  if (!proto.has_graph())
    return mlir::emitError(loc) << "is no ONNX model: it has no graph";
  return success();
}

FailureOr<std::shared_ptr<llvm::MemoryBuffer>>
ModelFile::openExternal(Location at, StringRef tensor, StringRef location) {
  auto error = [&]() {
    return mlir::emitError(at) << "tensor '" << tensor << "': external data '" << location << "' ";
  };
  auto known = externals.find(location.str());
  if (known != externals.end())
    return known->second;
  namespace path = llvm::sys::path;
  bool leaves = location.empty() || path::is_absolute(location) ||
                llvm::any_of(llvm::make_range(path::begin(location), path::end(location)),
                             [](StringRef part) { return part == ".."; });
  if (leaves)
    return error() << "is outside the model's folder";
  llvm::SmallString<256> full(folder.empty() ? StringRef(".") : StringRef(folder));
  // A symbolic link inside the folder must not lead out of it either.
  llvm::SmallString<256> realFolder, realFile;
  std::error_code failed = llvm::sys::fs::real_path(full, realFolder);
  path::append(full, location);
  if (!failed)
    failed = llvm::sys::fs::real_path(full, realFile);
  if (failed)
    return error() << "cannot be read: " << failed.message();
  StringRef rest = realFile;
  if (!rest.consume_front(realFolder) || (!rest.starts_with("/") && realFolder != "/"))
    return error() << "is outside the model's folder";
  if (!llvm::sys::fs::is_regular_file(realFile))
    return error() << "is no file";
  auto buffer = llvm::MemoryBuffer::getFile(realFile, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return error() << "cannot be read: " << buffer.getError().message();
  std::shared_ptr<llvm::MemoryBuffer> shared = std::move(*buffer);
  externals.emplace(location.str(), shared);
  return shared;
}
