// Builds the function of one kernel: arguments, tiles, loops, memory access, scalar regions.
// Strategies of every CPU target are written with it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "dialects/Cnn/Cnn.h"
#include "dialects/Plan/Plan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace convoy {

/// Where images stand in the order of tiles: one after another, or all of them within each tile of
/// an image, so that what all images read, such as weights, is read while it is near.
enum class ImageOrder { Outermost, Innermost };

/// A kernel becomes `func.func @name(%call: !llvm.ptr, %begin: i64, %end: i64)`, where `call`
/// points to a convoy_call (runtime/include/convoy/kernel_abi.h). Integers are i64 throughout,
/// pointers !llvm.ptr, offsets are in elements. Vectors are vector<lanes x T>.
class KernelBuilder {
public:
  using Values = llvm::SmallVector<mlir::Value>;

  /// Starts the function at the end of `code`. Arguments of the kernel are its block arguments,
  /// then its yielded values.
  KernelBuilder(mlir::ModuleOp code, plan::KernelOp kernel, cnn::TargetAttr target);
  /// Ends the function.
  void finish();

  mlir::OpBuilder builder;
  mlir::Location loc;
  plan::KernelOp kernel;
  cnn::TargetAttr target;

  int64_t lanes() const { return target.getLanes(); }

  /// The tensor of an argument and the number of read arguments.
  mlir::RankedTensorType argType(unsigned arg) const;
  unsigned numReads() const;
  /// The argument that holds a value of the kernel's body (a block argument or a yielded value).
  unsigned argOf(mlir::Value value) const;
  /// Base pointer of an argument, and where an image begins: base, or base + image * bytes if the
  /// argument has the free batch.
  mlir::Value base(unsigned arg);
  mlir::Value imageBase(unsigned arg, mlir::Value image);
  /// The batch of this call (i64); this thread's scratch memory.
  mlir::Value batch();
  mlir::Value scratch(int64_t bytes);

  // Constants and integer arithmetic. Constant operands are folded.
  mlir::Value i64(int64_t value);
  mlir::Value constant(mlir::Type scalarOrVector, double value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value add(mlir::Value a, int64_t b) { return add(a, i64(b)); }
  mlir::Value mul(mlir::Value a, int64_t b) { return mul(a, i64(b)); }
  /// Unsigned division and remainder, for values that are never negative.
  mlir::Value div(mlir::Value a, int64_t b);
  mlir::Value rem(mlir::Value a, int64_t b);
  mlir::Value min(mlir::Value a, mlir::Value b);
  mlir::Value max(mlir::Value a, mlir::Value b);
  /// Splits a linear index into coordinates of `shape` (row-major).
  Values delinearize(mlir::Value linear, llvm::ArrayRef<int64_t> shape);

  /// The loop over [begin, end) of this call: `body` gets the image and the tile of one image.
  /// Sets tiles and batched on the kernel; `batched` is whether the kernel has the free batch.
  void forTiles(int64_t tiles, llvm::function_ref<void(mlir::Value image, mlir::Value tile)> body,
                ImageOrder order = ImageOrder::Outermost);
  /// The same for a kernel that takes all images of the batch in each of its tiles.
  void forTilesOfAllImages(int64_t tiles, llvm::function_ref<void(mlir::Value tile)> body);
  /// scf.for with carried values; `body` returns the next ones.
  Values loop(mlir::Value begin, mlir::Value end, int64_t step, mlir::ValueRange carried,
              llvm::function_ref<Values(mlir::Value index, mlir::ValueRange carried)> body);
  void loop(mlir::Value begin, mlir::Value end, int64_t step,
            llvm::function_ref<void(mlir::Value index)> body);
  /// scf.if with results. Without results the bodies return nothing, and `elseBody` may be null.
  Values ifThenElse(mlir::Value condition, mlir::TypeRange results,
                    llvm::function_ref<Values()> thenBody, llvm::function_ref<Values()> elseBody);

  // Memory. `elementType` is the tensor's; a bool is a byte in memory and i1 as a value.
  mlir::Value load(mlir::Type elementType, mlir::Value pointer, mlir::Value offset);
  void store(mlir::Type elementType, mlir::Value value, mlir::Value pointer, mlir::Value offset);
  /// `count` consecutive elements; `aligned` promises alignment to the vector's size. With a mask
  /// (vector<count x i1>), lanes that are off are neither read (they are 0) nor written.
  mlir::Value loadVector(mlir::Type elementType, int64_t count, mlir::Value pointer,
                         mlir::Value offset, bool aligned = false, mlir::Value mask = {});
  void storeVector(mlir::Type elementType, mlir::Value value, mlir::Value pointer,
                   mlir::Value offset, bool aligned = false, mlir::Value mask = {});
  /// The mask whose first `count` (i64) lanes are on.
  mlir::Value firstLanes(mlir::Value count, int64_t lanes);
  mlir::Value splat(mlir::Value scalar, int64_t count);
  /// A read-only table beside the code, aligned to 64 bytes: the address of `bytes`.
  mlir::Value table(llvm::ArrayRef<char> bytes);
  /// Asks for the line at an address, in the second cache. The address may be any.
  void prefetch(mlir::Value pointer);
  /// Pointer arithmetic in elements.
  mlir::Value advance(mlir::Type elementType, mlir::Value pointer, mlir::Value offset);

  /// The index in memory of a logical index; broadcasts as numpy has it: dimensions of extent 1 and
  /// missing leading ones are index 0. The image is not part of it: pass 0 for a free batch.
  mlir::Value offsetOf(mlir::RankedTensorType type, mlir::ValueRange logicalIndex);

  /// The scalar region on scalars, or on vectors if the arguments are vectors. Returns what it
  /// yields.
  mlir::Value apply(mlir::Region &region, mlir::ValueRange arguments);

private:
  mlir::func::FuncOp function;
  mlir::Value call, begin, end, batchSize, scratchBase;
  Values bases;
  unsigned numTables = 0;
};

} // namespace convoy
