// The attributes that convolutions and pools share.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "compiler/onnx/NodeImport.h"

namespace convoy::onnx {

enum class AutoPad { NotSet, SameUpper, SameLower, Valid };

struct WindowAttrs {
  llvm::SmallVector<int64_t> kernel, strides, dilations;
  /// All begins, then all ends.
  llvm::SmallVector<int64_t> pads;
  AutoPad autoPad = AutoPad::NotSet;
};

/// Reads and checks the attributes for `kernel.size()` spatial dimensions. `pads` are as given;
/// for an auto_pad other than NOTSET they are zeros to be filled in.
mlir::FailureOr<WindowAttrs> readWindowAttrs(NodeImport &node, llvm::ArrayRef<int64_t> kernel);

/// Checks numbers of an attribute that count pixels: 0 to some number that no model reaches.
mlir::LogicalResult checkPixels(NodeImport &node, llvm::StringRef attr,
                                llvm::ArrayRef<int64_t> values);

/// Checks that the products of the extents of an image and strides fit into 64 bits.
mlir::LogicalResult checkExtents(NodeImport &node, llvm::ArrayRef<int64_t> extents);

/// Fills in the pads that auto_pad means for a window that slides over `extents`.
mlir::LogicalResult resolveAutoPad(NodeImport &node, WindowAttrs &attrs,
                                   llvm::ArrayRef<int64_t> extents);

} // namespace convoy::onnx
