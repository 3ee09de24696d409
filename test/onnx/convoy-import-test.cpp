// The importer on its own: imports a model and evaluates the module on ONNX test data, so that a
// wrong answer can be laid at the importer's door or not.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/Importer.h"
#include "compiler/onnx/TensorData.h"
#include "dialects/Cnn/ConstantData.h"
#include "dialects/Cnn/Evaluate/Evaluate.h"
#include "tools/support/Error.h"
#include "tools/support/Options.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <string>
#include <vector>

using namespace convoy;
using mlir::failed;
using mlir::FailureOr;

namespace {

class Data {
public:
  Data(std::string folder, mlir::MLIRContext &context)
      : folder(std::move(folder)), file("data", this->folder, &context), context(context) {}

  /// The bytes of a file such as input_0.pb; empty if there is none.
  std::string bytes(llvm::StringRef kind, size_t index) const {
    auto buffer = llvm::MemoryBuffer::getFile(path(kind, index));
    return buffer ? (*buffer)->getBuffer().str() : "";
  }
  bool has(llvm::StringRef kind, size_t index) const {
    return llvm::sys::fs::exists(path(kind, index));
  }
  FailureOr<cnn::Tensor> tensor(llvm::StringRef kind, size_t index) {
    ::onnx::TensorProto proto;
    if (!proto.ParseFromString(bytes(kind, index)))
      return mlir::failure();
    FailureOr<mlir::ElementsAttr> value =
        convoy::onnx::importTensor(mlir::UnknownLoc::get(&context), file, proto);
    if (failed(value))
      return mlir::failure();
    return cnn::Tensor::fromConstant(
        mlir::cast<mlir::RankedTensorType>(value->getShapedType()), *value);
  }

private:
  std::string path(llvm::StringRef kind, size_t index) const {
    return folder + "/" + kind.str() + "_" + std::to_string(index) + ".pb";
  }
  std::string folder;
  convoy::onnx::ModelFile file;
  mlir::MLIRContext &context;
};

} // namespace

static double at(const cnn::Tensor &tensor, int64_t index) {
  const char *element = tensor.data() + index * tensor.elementBytes();
  return mlir::isa<mlir::FloatType>(tensor.elementType())
             ? cnn::readFloat(element, tensor.elementType())
             : static_cast<double>(cnn::readInt(element, tensor.elementType()));
}

// Whether all elements agree within ONNX's own relative tolerance for its backend tests, or within
// 1e-4 of the largest magnitude, which long chains of sums in f32 need. 2e-7, two units in the last
// place of 1, is what expected sigmoids near 0 are off.
static bool agree(const cnn::Tensor &actual, const cnn::Tensor &expected, size_t index) {
  if (actual.type() != expected.type()) {
    llvm::errs() << "output " << index << " is " << actual.type() << ", expected "
                 << expected.type() << "\n";
    return false;
  }
  double largest = 0;
  for (int64_t i = 0; i < expected.numElements(); ++i)
    if (std::isfinite(at(expected, i)))
      largest = std::max(largest, std::fabs(at(expected, i)));
  bool isFloat = mlir::isa<mlir::FloatType>(expected.elementType());
  for (int64_t i = 0; i < expected.numElements(); ++i) {
    double a = at(actual, i), e = at(expected, i);
    double tolerance = isFloat ? std::max(2e-7 + 1e-3 * std::fabs(e), 1e-4 * largest) : 0;
    if (a == e || (std::isnan(a) && std::isnan(e)) || std::fabs(a - e) <= tolerance)
      continue;
    llvm::errs() << "output " << index << ": element " << i << " is " << a << ", expected " << e
                 << "\n";
    return false;
  }
  return true;
}

static int compare(mlir::ModuleOp module, const convoy::onnx::ModelInputs &names, Data &data) {
  auto main = module.lookupSymbol<mlir::func::FuncOp>("main");
  llvm::SmallVector<cnn::Tensor> inputs;
  for (unsigned i = 0; i < main.getNumArguments(); ++i) {
    llvm::StringRef name =
        main.getArgAttrOfType<mlir::StringAttr>(i, cnn::kNameAttrName).getValue();
    size_t index = llvm::find(names.names, name) - names.names.begin();
    FailureOr<cnn::Tensor> input = data.tensor("input", index);
    if (failed(input)) {
      llvm::errs() << "no data for input " << name << "\n";
      return 1;
    }
    inputs.push_back(*input);
  }
  FailureOr<llvm::SmallVector<cnn::Tensor>> results = cnn::evaluate(main, inputs);
  if (failed(results))
    return 1;
  bool isRight = true;
  for (size_t i = 0; i < results->size(); ++i) {
    FailureOr<cnn::Tensor> expected = data.tensor("output", i);
    if (failed(expected)) {
      llvm::errs() << "no data for output " << i << "\n";
      return 1;
    }
    isRight &= agree((*results)[i], *expected, i);
  }
  return isRight ? 0 : 1;
}

static int body(int argc, char **argv) {
  std::vector<std::string> words;
  tools::Options command(
      "convoy-import-test MODEL [DATA_FOLDER]",
      "Imports an ONNX model and prints the module. With a folder of ONNX test data, such as\n"
      "test_data_set_0, it evaluates the module on input_0.pb, ... instead, and compares with\n"
      "output_0.pb, ...: what is wrong here is the importer's fault, or the evaluator's.\n"
      "Prints nothing and exits with 0 if they agree.");
  command.positional([&](const std::string &word) { words.push_back(word); });
  command.parse(argc, argv);
  if (words.empty() || words.size() > 2)
    throw tools::UsageError("takes a model, and a folder at most");
  std::string model = words[0];
  bool compares = words.size() == 2;
  mlir::DialectRegistry registry;
  registry.insert<cnn::CnnDialect, mlir::func::FuncDialect, mlir::arith::ArithDialect,
                  mlir::math::MathDialect>();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.getDiagEngine().registerHandler([](mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
      llvm::errs() << diagnostic.getLocation() << ": error: " << diagnostic.str() << "\n";
    return mlir::success();
  });
  convoy::onnx::ImportOptions options;
  convoy::onnx::ModelInputs inputs;
  Data data(compares ? words[1] : "", context);
  if (compares) {
    if (failed(convoy::onnx::readInputs(model, &context, inputs)))
      return 1;
    for (size_t index : inputs.shapeInputs)
      options.boundInputs[inputs.names[index]] = data.bytes("input", index);
  }
  FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> module =
      convoy::onnx::importModel(model, options, &context);
  if (failed(module))
    return 1;
  if (compares)
    return compare(**module, inputs, data);
  (*module)->print(llvm::outs(), mlir::OpPrintingFlags().elideLargeResourceString());
  return 0;
}

int main(int argc, char **argv) { return tools::runTool("convoy-import-test", body, argc, argv); }
