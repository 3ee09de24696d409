// Window ops that treat every channel alike on blocked layouts: depthwise convolution and pooling.
// Rows of outputs are cut into tiles, and a tile's source columns are each loaded once.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "targets/x86/Window.h"

namespace convoy {

struct SweepChoice {
  int64_t pixels;
  double cycles; ///< of a row of outputs and one block of channels
};
/// The tile of at most `room` outputs that makes a row the cheapest. `weight` is the cost of using
/// a source vector, in multiply-adds.
SweepChoice chooseSweep(const Axis &axis, int64_t room, int64_t kernelRows, double weight = 1);
/// The same with as many outputs as a config says; nothing if it says none that fit. An empty config
/// leaves the choice.
std::optional<SweepChoice> chooseSweep(llvm::StringRef config, const Axis &axis, int64_t room,
                                       int64_t kernelRows, double weight = 1);
/// Configs of further tiles that may be as fast, most promising first.
std::vector<std::string> otherSweeps(const Axis &axis, int64_t room, int64_t kernelRows,
                                     double weight = 1);

class RowSweep {
public:
  /// Output `pixel` of the tile takes a source column as kernel element `kw`.
  struct Use {
    int64_t pixel, kw;
  };
  struct Place {
    mlir::Value image, n, block, oh;
  };

  RowSweep(KernelBuilder &kb, const WindowShape &shape, int64_t pixels);

  /// The kernel's tiles: calls `row` for each row of outputs of each block of channels.
  void run(int64_t blocks, double ns, llvm::function_ref<void(const Place &)> row);
  /// Calls `tile` with the first output of each tile of a row.
  void overRow(llvm::function_ref<void(const Segment &segment, mlir::Value ow)> tile);
  /// Calls `column` for every source column (counted from that of output 0, kernel element 0) that
  /// some output of a tile uses.
  void overColumns(const Segment &segment,
                   llvm::function_ref<void(int64_t column, llvm::ArrayRef<Use> uses)> column);
  /// Index of a source vector's first element; `plane` counts the blocks of all images.
  mlir::Value srcOffset(mlir::Value plane, mlir::Value oh, mlir::Value kh, mlir::Value ow,
                        int64_t column);

private:
  KernelBuilder &kb;
  WindowShape shape;
  std::vector<Segment> segments;
};

} // namespace convoy
