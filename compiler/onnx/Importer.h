// An ONNX model as a module of the cnn dialect: the importer's whole interface.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace convoy::onnx {

/// The opsets of the default domain that the importer knows.
inline constexpr int64_t kOldestOpset = 1, kNewestOpset = 28;
/// The oldest version of the file format itself.
inline constexpr int64_t kOldestIrVersion = 3;

/// A shape as users write it: 1x3x?x224.
std::string showShape(llvm::ArrayRef<int64_t> shape);

struct ImportOptions {
  /// Shapes of inputs by name; a dynamic extent in dimension 0 is the free batch.
  std::map<std::string, std::vector<int64_t>> shapes;
  /// Whether a batch that all inputs declare as 1 is made free where every op treats an image by
  /// itself. Inputs that `shapes` names keep what it says.
  bool freeBatch = true;
  /// Inputs whose value is known: name to the bytes of a serialized TensorProto. They become
  /// constants and are no arguments of main.
  std::map<std::string, std::string> boundInputs;
};

/// What a caller learns about a model without importing it.
struct ModelInputs {
  /// Names of the inputs that have no initializer, in order.
  std::vector<std::string> names;
  /// Those, as indices into `names`, on whose values the shapes of other tensors depend. Without
  /// a bound value for each of them importModel fails.
  std::vector<size_t> shapeInputs;
  /// Those with an extent that the model leaves open and that is not the batch. Without a shape for
  /// each of them importModel fails.
  std::vector<size_t> openInputs;
  /// Types of ops of the main graph that no row of the op table has, in any opset.
  std::set<std::string> unknownOps;
};

/// Imports a model file: ONNX's protobuf form, or its text form if the name ends in .onnxtxt.
///
/// The module has one function, @main, in the cnn dialect, all tensors row-major. Arguments and
/// results carry the names of the ONNX values as `cnn.name`; the location of an op is a NameLoc
/// of its ONNX node. Dimension 0 of an input is the free batch unless the model or a shape of the
/// options fixes it; a batch of 1 that the model declares is made free where that is possible, and
/// a remark says where it is not. Errors, all that can be found in one run, go to the context's diagnostics.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
importModel(llvm::StringRef path, const ImportOptions &options, mlir::MLIRContext *context);

/// The same for a model in memory. `name` stands for the file in diagnostics; external data is
/// looked for in `folder`.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
importModelFromMemory(llvm::StringRef bytes, llvm::StringRef name, llvm::StringRef folder,
                      const ImportOptions &options, mlir::MLIRContext *context);

/// Reads the inputs of a model file.
mlir::LogicalResult readInputs(llvm::StringRef path, mlir::MLIRContext *context,
                               ModelInputs &inputs);

} // namespace convoy::onnx
