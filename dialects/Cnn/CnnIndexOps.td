// Operations of the cnn dialect that work with indices: picking, placing and ordering elements.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CONVOY_DIALECTS_CNN_INDEX_OPS
#define CONVOY_DIALECTS_CNN_INDEX_OPS

// Included by CnnOps.td, which defines the base classes.

def Cnn_GatherElementsOp : Cnn_PureOp<"gather_elements"> {
  let summary = "Elements of a tensor, one index for each";
  let description = [{
    An element of the result is the element of src at the same position but along `axis`, where an
    element of `indices` says the place. Indices broadcast to the result's shape as numpy has it.
    Negative ones count from the end; one outside [-extent, extent) is clamped into it.

    Constraints: gather_elements_c1 the axis is inside src's rank, which the result has;
    gather_elements_c2 indices are i32 or i64 and broadcast to the result's shape;
    gather_elements_c3 the result has src's element type and, but along the axis, no larger extents;
    gather_elements_c4 a free batch is not the axis; gather_elements_c5 src has elements along the
    axis if the result has any.

    ```mlir
    %y = cnn.gather_elements %x, %i {axis = 1 : i64}
        : (tensor<2x5xf32>, tensor<2x3xi64>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Cnn_Tensor:$src, Cnn_Tensor:$indices, I64Attr:$axis,
    OptionalAttr<StrAttr>:$strategy);
  let results = (outs Cnn_Tensor:$dst);
  let assemblyFormat = "$src `,` $indices attr-dict `:` functional-type(operands, results)";
}

def Cnn_ScatterOp : Cnn_PureOp<"scatter"> {
  let summary = "A tensor with some elements replaced or combined with others";
  let description = [{
    The result is src, in which each element of `updates`, in row-major order, is put at its own
    position but along `axis`, where an element of `indices` says the place. Indices broadcast to
    the shape of updates. `set` replaces; the others combine with what is there, and round each
    time. `max` and `min` give NaN if one is NaN. Negative indices count from the end; an update
    whose index is outside [-extent, extent) is dropped.

    Constraints: scatter_c1 the axis is inside src's rank, which updates have; scatter_c2 indices
    are i32 or i64 and broadcast to the shape of updates; scatter_c3 updates have src's element
    type and, but along the axis, no larger extents; scatter_c4 the result has src's type;
    scatter_c5 a free batch is not the axis, and src and updates have it both.

    ```mlir
    %y = cnn.scatter add %x, %i, %u {axis = 1 : i64}
        : (tensor<2x5xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<2x5xf32>
    ```
  }];
  let arguments = (ins Cnn_Tensor:$src, Cnn_Tensor:$indices, Cnn_Tensor:$updates,
    Cnn_ScatterKindAttr:$kind, I64Attr:$axis, OptionalAttr<StrAttr>:$strategy);
  let results = (outs Cnn_Tensor:$dst);
  let assemblyFormat = [{
    $kind $src `,` $indices `,` $updates attr-dict `:` functional-type(operands, results)
  }];
}

def Cnn_ArgExtremeOp : Cnn_PureOp<"arg_extreme"> {
  let summary = "Where the largest or smallest element along an axis lies";
  let description = [{
    The position along `axis` of the largest element, of the smallest with `least`. Among equals
    the first counts, with `last` the last. A NaN is more extreme than any number. The dimension
    stays with extent 1 if `keep_dims` is set. The result's elements are i64.

    Constraints: arg_extreme_c1 the axis is inside the rank; arg_extreme_c2 the result's shape is
    that of a reduction, its elements are i64; arg_extreme_c3 a free batch is not the axis;
    arg_extreme_c4 the axis has elements if the result has any.
  }];
  let arguments = (ins Cnn_Tensor:$src, I64Attr:$axis, UnitAttr:$keep_dims, UnitAttr:$least,
    UnitAttr:$last, OptionalAttr<StrAttr>:$strategy);
  let results = (outs Cnn_Tensor:$dst);
  let assemblyFormat = "$src attr-dict `:` functional-type(operands, results)";
}

def Cnn_TopKOp : Cnn_PureOp<"top_k"> {
  let summary = "Where the largest or smallest elements along an axis lie, in order";
  let description = [{
    The positions along `axis` of the largest elements, as many as the result's extent, from the
    largest down; with `least` of the smallest, from the smallest up. Among equals the lower
    position comes first. A NaN counts as larger than any number. The result's elements are i64;
    `gather_elements` gives the values.

    Constraints: top_k_c1 the axis is inside the rank; top_k_c2 the result has src's shape but along
    the axis, where it has no larger extent, and elements of i64; top_k_c3 a free batch is not the
    axis.
  }];
  let arguments = (ins Cnn_Tensor:$src, I64Attr:$axis, UnitAttr:$least,
    OptionalAttr<StrAttr>:$strategy);
  let results = (outs Cnn_Tensor:$dst);
  let assemblyFormat = "$src attr-dict `:` functional-type(operands, results)";
}

def Cnn_CumulativeSumOp : Cnn_PureOp<"cumulative_sum"> {
  let summary = "Sum of all elements up to each one along an axis";
  let description = [{
    With `reverse`, of all from each one on; with `exclusive` without the element itself.

    Constraints: cumulative_sum_c1 the axis is inside the rank; cumulative_sum_c2 the result has
    src's type; cumulative_sum_c3 a free batch is not the axis.
  }];
  let arguments = (ins Cnn_Tensor:$src, I64Attr:$axis, UnitAttr:$exclusive, UnitAttr:$reverse,
    OptionalAttr<StrAttr>:$strategy);
  let results = (outs Cnn_Tensor:$dst);
  let assemblyFormat = "$src attr-dict `:` functional-type(operands, results)";
}

//===----------------------------------------------------------------------===//
// Extents that only the data tell
//===----------------------------------------------------------------------===//
//
// A tensor of which a dimension has an extent that only a run tells has the largest one that is
// possible in its type, and a count beside it: a scalar of i64. What lies beyond the count is of no
// account. The ops below make such tensors, or make one from such a tensor.

def Cnn_TruePositionsOp : Cnn_PureOp<"true_positions"> {
  let summary = "Where a vector of bools is true";
  let description = [{
    The positions of the true elements, in order, then zeros. Their number is the sum of src.

    Constraints: true_positions_c1 src is a vector of i1 of a static extent; true_positions_c2 the
    result has as many elements of i64.
  }];
  let arguments = (ins Cnn_Tensor:$src, OptionalAttr<StrAttr>:$strategy);
  let results = (outs Cnn_Tensor:$dst);
  let assemblyFormat = "$src attr-dict `:` functional-type(operands, results)";
}

def Cnn_SuppressOp : Cnn_PureOp<"suppress"> {
  let summary = "Boxes without those that overlap a better one";
  let description = [{
    `boxes` is [n, boxes, 4], of two opposite corners (y1, x1, y2, x2) each, or with `center` of
    center and size (x, y, width, height). `order` is [n, classes, boxes]: what the boxes of each
    image and class are ordered by, the one with the largest first, of equals that with the lower
    position; a NaN counts as larger than any number. A row of the result, which is [n, classes,
    most], has the boxes that are kept, in that order, then -1. A box is kept if it is `eligible`
    (broadcasts to the shape of order), if fewer than `limit` have been kept, and if for none of
    them the area of the intersection, divided by the area of the union, is above `threshold`. A box
    without area overlaps nothing. Boxes that are not eligible need not be ordered.

    Constraints: suppress_c1 boxes are f32 of [n, boxes, 4]; suppress_c2 order is f32 of [n,
    classes, boxes]; suppress_c3 eligible is i1 and broadcasts to order; suppress_c4 threshold is
    one f32 and limit, if there is one, one i64; suppress_c5 the result is i64 of [n, classes,
    most], where most is no more than the boxes.
  }];
  let arguments = (ins Cnn_Tensor:$boxes, Cnn_Tensor:$order, Cnn_Tensor:$eligible,
    Cnn_Tensor:$threshold, Optional<Cnn_Tensor>:$limit, UnitAttr:$center,
    OptionalAttr<StrAttr>:$strategy);
  let results = (outs Cnn_Tensor:$dst);
  let assemblyFormat = [{
    $boxes `,` $order `,` $eligible `,` $threshold (`limit` $limit^)? attr-dict `:`
    functional-type(operands, results)
  }];
}

def Cnn_PackOp : Cnn_PureOp<"pack"> {
  let summary = "A tensor with a counted dimension, its elements one after another";
  let description = [{
    The elements of src whose position along `axis` is below `count` in row-major order without gaps,
    as a tensor lies in memory whose extent is the count, then zeros. A count outside of [0, extent]
    is clamped.

    Constraints: pack_c1 the axis is inside the rank; pack_c2 count is one i64; pack_c3 the result
    has src's type, which is static.
  }];
  let arguments = (ins Cnn_Tensor:$src, Cnn_Tensor:$count, I64Attr:$axis,
    OptionalAttr<StrAttr>:$strategy);
  let results = (outs Cnn_Tensor:$dst);
  let assemblyFormat = "$src `,` $count attr-dict `:` functional-type(operands, results)";
}

#endif
