// Prints what the importer makes of a model, so that the importer can be tested without the rest
// of the compiler: convoy-import-test MODEL [--shape NAME=DIMS] [--bind NAME=FILE.pb] [--quiet]
// [--inputs].
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/Importer.h"
#include "dialects/Cnn/Cnn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>

using namespace convoy;

static int printInputs(const std::string &model, mlir::MLIRContext &context) {
  onnx::ModelInputs inputs;
  if (mlir::failed(onnx::readInputs(model, &context, inputs)))
    return 1;
  for (size_t i = 0; i < inputs.names.size(); ++i)
    llvm::outs() << "input " << inputs.names[i]
                 << (llvm::is_contained(inputs.shapeInputs, i) ? " decides shapes\n" : "\n");
  return 0;
}

int main(int argc, char **argv) {
  onnx::ImportOptions options;
  std::string model;
  bool isQuiet = false, wantsInputs = false;
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef word = argv[i];
    if (word == "--shape" && i + 1 < argc) {
      if (std::string error = options.addShape(argv[++i]); !error.empty()) {
        llvm::errs() << "--shape " << argv[i] << ": " << error << "\n";
        return 1;
      }
    } else if (word == "--bind" && i + 1 < argc) {
      auto [name, path] = llvm::StringRef(argv[++i]).rsplit('=');
      auto buffer = llvm::MemoryBuffer::getFile(path);
      if (!buffer) {
        llvm::errs() << "cannot read " << path << "\n";
        return 1;
      }
      options.boundInputs[name.str()] = (*buffer)->getBuffer().str();
    } else if (word == "--quiet") {
      isQuiet = true;
    } else if (word == "--inputs") {
      wantsInputs = true;
    } else {
      model = word.str();
    }
  }

  mlir::DialectRegistry registry;
  registry.insert<cnn::CnnDialect, mlir::func::FuncDialect, mlir::arith::ArithDialect,
                  mlir::math::MathDialect>();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.getDiagEngine().registerHandler([](mlir::Diagnostic &diagnostic) {
    llvm::errs() << diagnostic.getLocation() << ": "
                 << (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error ? "error: "
                                                                                 : "remark: ")
                 << diagnostic.str() << "\n";
    return mlir::success();
  });
  if (wantsInputs)
    return printInputs(model, context);
  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> module =
      onnx::importModel(model, options, &context);
  if (mlir::failed(module))
    return 1;
  if (!isQuiet)
    (*module)->print(llvm::outs(), mlir::OpPrintingFlags().elideLargeResourceString());
  return 0;
}
