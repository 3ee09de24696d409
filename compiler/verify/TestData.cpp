// Inputs and expected outputs that a model is verified on.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/verify/TestData.h"

#include "compiler/onnx/ModelFile.h"
#include "compiler/onnx/TensorData.h"
#include "dialects/Cnn/ConstantData.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <cstring>
#include <random>

using namespace mlir;
using namespace convoy;
using namespace convoy::verify;
using cnn::Tensor;

static FailureOr<Tensor> readTensor(StringRef path, MLIRContext *context) {
  Location loc = FileLineColLoc::get(context, path, 0, 0);
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> buffer = llvm::MemoryBuffer::getFile(
      path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return emitError(loc) << "cannot read: " << buffer.getError().message();
  ::onnx::TensorProto proto;
  if (!proto.ParseFromArray((*buffer)->getBufferStart(), (*buffer)->getBufferSize()))
    return emitError(loc) << "is no ONNX tensor";
  convoy::onnx::ModelFile file(path, llvm::sys::path::parent_path(path), context);
  FailureOr<ElementsAttr> value = convoy::onnx::importTensor(loc, file, proto);
  if (failed(value))
    return failure();
  auto type = cast<RankedTensorType>(value->getShapedType());
  cnn::ConstantData data(*value);
  // A copy: the file is closed when this returns.
  return Tensor::unpack(type, data.bytes());
}

static LogicalResult checkInput(StringRef path, size_t index, RankedTensorType expected,
                                RankedTensorType found) {
  bool fits = found.getElementType() == expected.getElementType() &&
              found.getRank() == expected.getRank();
  for (int64_t i = 0; fits && i < found.getRank(); ++i)
    fits = expected.isDynamicDim(i) || expected.getDimSize(i) == found.getDimSize(i);
  if (fits)
    return success();
  return emitError(FileLineColLoc::get(expected.getContext(), path, 0, 0))
         << "holds " << found << ", but input " << index << " is " << expected;
}

static FailureOr<TestData> readSet(StringRef dir, func::FuncOp graph) {
  TestData data;
  data.name = dir.str();
  auto pathOf = [&](StringRef kind, size_t index) {
    return (dir + "/" + kind + "_" + Twine(index) + ".pb").str();
  };
  int64_t batch = -1;
  for (auto [i, type] : llvm::enumerate(graph.getArgumentTypes())) {
    std::string path = pathOf("input", i);
    FailureOr<Tensor> tensor = readTensor(path, graph.getContext());
    auto expected = cast<RankedTensorType>(type);
    if (failed(tensor) || failed(checkInput(path, i, expected, tensor->type())))
      return failure();
    if (cnn::hasFreeBatch(expected)) {
      if (batch >= 0 && batch != tensor->shape()[0])
        return emitError(FileLineColLoc::get(graph.getContext(), path, 0, 0))
               << "has a batch of " << tensor->shape()[0] << ", but an input before it one of "
               << batch;
      batch = tensor->shape()[0];
    }
    data.inputs.push_back(*tensor);
  }
  if (std::string extra = pathOf("input", data.inputs.size()); llvm::sys::fs::exists(extra))
    return emitError(FileLineColLoc::get(graph.getContext(), extra, 0, 0))
           << "is one too many: the model has " << data.inputs.size() << " inputs";
  for (size_t i = 0; i < graph.getNumResults(); ++i) {
    std::string path = pathOf("output", i);
    Tensor tensor;
    if (llvm::sys::fs::exists(path)) {
      FailureOr<Tensor> read = readTensor(path, graph.getContext());
      if (failed(read))
        return failure();
      tensor = *read;
    }
    data.outputs.push_back(tensor);
  }
  return data;
}

FailureOr<std::vector<TestData>> verify::readTestData(StringRef dir, func::FuncOp graph) {
  std::vector<std::pair<unsigned, std::string>> sets;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator entry(dir, error), end; !error && entry != end;
       entry.increment(error)) {
    StringRef name = llvm::sys::path::filename(entry->path());
    unsigned number;
    if (name.consume_front("test_data_set_") && !name.getAsInteger(10, number))
      sets.push_back({number, entry->path()});
  }
  if (error)
    return emitError(FileLineColLoc::get(graph.getContext(), dir, 0, 0))
           << "cannot read the folder: " << error.message();
  llvm::sort(sets);
  if (sets.empty())
    sets.push_back({0, dir.str()});
  std::vector<TestData> result;
  for (const auto &[number, path] : sets) {
    FailureOr<TestData> data = readSet(path, graph);
    if (failed(data))
      return failure();
    result.push_back(std::move(*data));
  }
  return result;
}

FailureOr<std::vector<TestData>> verify::makeTestData(uint64_t seed, func::FuncOp graph) {
  TestData data;
  data.name = "seed " + std::to_string(seed);
  std::mt19937_64 random(seed);
  for (Type argument : graph.getArgumentTypes()) {
    auto type = cast<RankedTensorType>(cnn::perImage(cast<RankedTensorType>(argument)));
    Tensor tensor = Tensor::allocate(type);
    if (tensor.numElements() > 0 && !tensor.data())
      return graph.emitError() << "no memory for an input of " << type;
    int64_t size = tensor.elementBytes();
    for (int64_t i = 0; i < tensor.numElements(); ++i) {
      char *element = tensor.mutableData() + i * size;
      if (isa<FloatType>(type.getElementType()))
        cnn::writeFloat(element, type.getElementType(),
                        static_cast<double>(random() >> 11) * 0x1p-52 - 1);
      else
        cnn::writeInt(element, type.getElementType(),
                      random() % (type.getElementType().isInteger(1) ? 2 : 3));
    }
    data.inputs.push_back(tensor);
  }
  data.outputs.resize(graph.getNumResults());
  return std::vector<TestData>{std::move(data)};
}
