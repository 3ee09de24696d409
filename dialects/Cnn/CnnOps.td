// The operations of the cnn dialect.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CONVOY_DIALECTS_CNN_OPS
#define CONVOY_DIALECTS_CNN_OPS

include "dialects/Cnn/CnnBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Cnn_Op<string mnemonic, list<Trait> traits = []> : Op<Cnn_Dialect, mnemonic, traits> {
  let hasVerifier = 1;
}
// An op that only computes: it may be folded, moved and removed.
class Cnn_PureOp<string mnemonic, list<Trait> traits = []>
    : Cnn_Op<mnemonic, !listconcat(traits, [Pure])>;
// An op with a scalar region, see EpilogueOpInterface.
class Cnn_EpilogueOp<string mnemonic, list<Trait> traits = []>
    : Cnn_PureOp<mnemonic, !listconcat(traits, [
        IsolatedFromAbove,
        DeclareOpInterfaceMethods<Cnn_EpilogueOpInterface>,
        SingleBlock])>;

// What the dialect's description says of tensors: element types, and no dynamic extent but a free
// batch.
def Cnn_Tensor : RankedTensorOf<
    [F16, BF16, F32, F64, I1, I8, I16, I32, I64, UI8, UI16, UI32, UI64],
    [CPred<[{
      !::llvm::is_contained(
          ::llvm::cast<::mlir::RankedTensorType>($_self).getShape().drop_front(
              ::llvm::cast<::mlir::RankedTensorType>($_self).getRank() ? 1 : 0),
          ::mlir::ShapedType::kDynamic)
    }]>], "ranked tensor with a dynamic extent in dimension 0 at most">;

def Cnn_ConstantOp : Cnn_PureOp<"constant", [ConstantLike]> {
  let summary = "A tensor known at compile time";
  let description = [{
    `value` holds the elements in the order of memory: its shape is the physical shape of the
    result's layout (constraint constant_c1), which for a row-major result is the logical shape. It
    is dense elements or a dense resource (constraint constant_c2).

    ```mlir
    %w = cnn.constant dense<1.0> : tensor<8x3x3x3xf32> -> tensor<8x3x3x3xf32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Cnn_Tensor:$result);
  let assemblyFormat = "$value attr-dict `->` type($result)";
  let builders = [OpBuilder<(ins "::mlir::ElementsAttr":$value)>];
  let hasFolder = 1;
}

def Cnn_YieldOp : Op<Cnn_Dialect, "yield", [Pure, Terminator]> {
  let summary = "Ends a scalar region with the result's element";
  let description = "Constraints: yield_c1 the parent op has a scalar region.";
  let arguments = (ins AnyType:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Ops with an accumulator and an epilogue
//===----------------------------------------------------------------------===//

def Cnn_ConvOp : Cnn_EpilogueOp<"conv"> {
  let summary = "Convolution over any number of spatial dimensions";
  let description = [{
    `src` is [n, ic, spatial...], `wei` [oc, ic / groups, kernel...], the result [n, oc,
    spatial...]. `pads` are all begins, then all ends. The accumulator of an element is

        sum over i, k of src[n, g * ic/groups + i, o * stride + k * dilation - pad] * wei[oc, i, k]

    where src is 0 outside its extent.

    Constraints: conv_c1 ranks of src, wei and result agree and are at least 3; conv_c2 groups
    divides ic and oc, and wei has ic / groups channels; conv_c3 strides and dilations are
    positive, one for each spatial dimension, pads two; conv_c4 the result's shape is the inferred
    one; conv_c5 src, wei have one element type.

    ```mlir
    %y = cnn.conv %x, %w extras(%b) {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>,
                                     dilations = array<i64: 1, 1>, groups = 1 : i64}
        : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<1x4x1x1xf32>) -> tensor<1x4x8x8xf32> {
    ^bb0(%acc: f32, %bias: f32):
      %0 = arith.addf %acc, %bias : f32
      cnn.yield %0 : f32
    }
    ```
  }];
  let arguments = (ins Cnn_Tensor:$src, Cnn_Tensor:$wei, Variadic<Cnn_Tensor>:$extras,
    DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations,
    I64Attr:$groups, OptionalAttr<StrAttr>:$strategy);
  let results = (outs Cnn_Tensor:$dst);
  let regions = (region SizedRegion<1>:$epilogue);
  let assemblyFormat = [{
    $src `,` $wei (`extras` `(` $extras^ `)`)? attr-dict `:` functional-type(operands, results)
    $epilogue
  }];
  let extraClassDeclaration = [{
    /// The result's type, or an error at `loc` that names what contradicts what.
    static ::mlir::FailureOr<::mlir::RankedTensorType> inferType(
        ::mlir::Location loc, ::mlir::RankedTensorType src, ::mlir::RankedTensorType wei,
        ::llvm::ArrayRef<int64_t> strides, ::llvm::ArrayRef<int64_t> pads,
        ::llvm::ArrayRef<int64_t> dilations, int64_t groups);
  }];
}

def Cnn_ConvTransposeOp : Cnn_EpilogueOp<"conv_transpose"> {
  let summary = "Transposed convolution";
  let description = [{
    `src` is [n, ic, spatial...], `wei` [ic, oc / groups, kernel...], the result [n, oc,
    spatial...]. Each source element, times a kernel, is added into the result at
    `i * stride + k * dilation - pad`; what falls outside the result is dropped. The result's
    spatial extent is `(in - 1) * stride + (kernel - 1) * dilation + 1 + output_padding - pads`.

    Constraints: conv_transpose_c1 ranks agree; c2 groups divides ic, and wei has ic rows; c3
    attribute lengths; c4 the result's shape is the inferred one; c5 one element type.
  }];
  let arguments = (ins Cnn_Tensor:$src, Cnn_Tensor:$wei, Variadic<Cnn_Tensor>:$extras,
    DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations,
    DenseI64ArrayAttr:$output_padding, I64Attr:$groups, OptionalAttr<StrAttr>:$strategy);
  let results = (outs Cnn_Tensor:$dst);
  let regions = (region SizedRegion<1>:$epilogue);
  let assemblyFormat = [{
    $src `,` $wei (`extras` `(` $extras^ `)`)? attr-dict `:` functional-type(operands, results)
    $epilogue
  }];
  let extraClassDeclaration = [{
    static ::mlir::FailureOr<::mlir::RankedTensorType> inferType(
        ::mlir::Location loc, ::mlir::RankedTensorType src, ::mlir::RankedTensorType wei,
        ::llvm::ArrayRef<int64_t> strides, ::llvm::ArrayRef<int64_t> pads,
        ::llvm::ArrayRef<int64_t> dilations, ::llvm::ArrayRef<int64_t> outputPadding,
        int64_t groups);
  }];
}

def Cnn_PoolOp : Cnn_EpilogueOp<"pool"> {
  let summary = "Maximum or average over a sliding window";
  let description = [{
    `max` takes the largest element of the window that lies inside src; NaN if one is NaN.
    `average` divides the sum by the number of elements inside src, or, with `count_include_pad`,
    inside src and its padding; what ceil_mode adds beyond the padding never counts. With
    `ceil_mode` the result's extent is rounded up, but a window never starts in the end padding.

    Constraints: pool_c1 the rank is at least 3; pool_c2 kernel, strides, dilations are positive,
    one for each spatial dimension, pads two; pool_c3 the result's shape is the inferred one.
  }];
  let arguments = (ins Cnn_Tensor:$src, Variadic<Cnn_Tensor>:$extras,
    Cnn_PoolKindAttr:$kind, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
    DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations, UnitAttr:$ceil_mode,
    UnitAttr:$count_include_pad, OptionalAttr<StrAttr>:$strategy);
  let results = (outs Cnn_Tensor:$dst);
  let regions = (region SizedRegion<1>:$epilogue);
  let assemblyFormat = [{
    $kind $src (`extras` `(` $extras^ `)`)? attr-dict `:` functional-type(operands, results)
    $epilogue
  }];
  let extraClassDeclaration = [{
    static ::mlir::FailureOr<::mlir::RankedTensorType> inferType(
        ::mlir::Location loc, ::mlir::RankedTensorType src, ::llvm::ArrayRef<int64_t> kernel,
        ::llvm::ArrayRef<int64_t> strides, ::llvm::ArrayRef<int64_t> pads,
        ::llvm::ArrayRef<int64_t> dilations, bool ceilMode);
  }];
}

def Cnn_PoolArgmaxOp : Cnn_PureOp<"pool_argmax"> {
  let summary = "Where the maximum of each window lies";
  let description = [{
    The index of the first largest element of each window in the flattened src, row-major or, with
    `column_major`, with the first spatial dimension innermost and the last one outermost within a
    plane, as ONNX's MaxPool with storage_order has it. The result's elements are i64. Constraints
    as for `pool`.
  }];
  let arguments = (ins Cnn_Tensor:$src, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
    DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations, UnitAttr:$ceil_mode,
    UnitAttr:$column_major, OptionalAttr<StrAttr>:$strategy);
  let results = (outs Cnn_Tensor:$dst);
  let assemblyFormat = "$src attr-dict `:` functional-type(operands, results)";
}

def Cnn_MatmulOp : Cnn_EpilogueOp<"matmul"> {
  let summary = "Matrix product, batched over leading dimensions";
  let description = [{
    `lhs` is [..., m, k], or [..., k, m] with `transpose_lhs`; `rhs` is [..., k, n], or
    [..., n, k] with `transpose_rhs`; leading dimensions broadcast as numpy has it.

    Constraints: matmul_c1 both ranks are at least 2; matmul_c2 the inner extents agree; matmul_c3
    the leading extents broadcast; matmul_c4 the result's shape is the inferred one; matmul_c5 one
    element type.
  }];
  let arguments = (ins Cnn_Tensor:$lhs, Cnn_Tensor:$rhs, Variadic<Cnn_Tensor>:$extras,
    UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs, OptionalAttr<StrAttr>:$strategy);
  let results = (outs Cnn_Tensor:$dst);
  let regions = (region SizedRegion<1>:$epilogue);
  let assemblyFormat = [{
    $lhs `,` $rhs (`extras` `(` $extras^ `)`)? attr-dict `:` functional-type(operands, results)
    $epilogue
  }];
  let extraClassDeclaration = [{
    static ::mlir::FailureOr<::mlir::RankedTensorType> inferType(
        ::mlir::Location loc, ::mlir::RankedTensorType lhs, ::mlir::RankedTensorType rhs,
        bool transposeLhs, bool transposeRhs);
  }];
}

def Cnn_ReduceOp : Cnn_EpilogueOp<"reduce"> {
  let summary = "Sum, mean, maximum, minimum or product along axes";
  let description = [{
    Axes are sorted, non-negative, without repeats; none means that nothing is reduced. Reduced
    dimensions stay with extent 1 if `keep_dims` is set. `max` and `min` give NaN if an element is
    NaN. Over no elements: sum 0, prod 1, max the least and min the greatest value of the type.

    Constraints: reduce_c1 axes are sorted and inside the rank; reduce_c2 the result's shape is the
    inferred one; reduce_c3 a free batch is not reduced.
  }];
  let arguments = (ins Cnn_Tensor:$src, Variadic<Cnn_Tensor>:$extras, Cnn_ReduceKindAttr:$kind,
    DenseI64ArrayAttr:$axes, UnitAttr:$keep_dims, OptionalAttr<StrAttr>:$strategy);
  let results = (outs Cnn_Tensor:$dst);
  let regions = (region SizedRegion<1>:$epilogue);
  let assemblyFormat = [{
    $kind $src (`extras` `(` $extras^ `)`)? attr-dict `:` functional-type(operands, results)
    $epilogue
  }];
  let extraClassDeclaration = [{
    static ::mlir::FailureOr<::mlir::RankedTensorType> inferType(
        ::mlir::Location loc, ::mlir::RankedTensorType src, ::llvm::ArrayRef<int64_t> axes,
        bool keepDims);
  }];
}

def Cnn_MapOp : Cnn_EpilogueOp<"map"> {
  let summary = "Elementwise function of any number of tensors";
  let description = [{
    The region takes one element of each input and yields the result's. Inputs broadcast to the
    result's shape as numpy has it.

    Constraints: map_c1 the result's shape is what the inputs broadcast to.

    ```mlir
    %y = cnn.map(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32> {
    ^bb0(%e: f32):
      %0 = math.exp %e : f32
      cnn.yield %0 : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Cnn_Tensor>:$inputs, OptionalAttr<StrAttr>:$strategy);
  let results = (outs Cnn_Tensor:$dst);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` $inputs `)` attr-dict `:` functional-type(operands, results) $body
  }];
  let extraClassDeclaration = [{
    /// The shape that `inputs` broadcast to, with `elementType`.
    static ::mlir::FailureOr<::mlir::RankedTensorType> inferType(
        ::mlir::Location loc, ::llvm::ArrayRef<::mlir::RankedTensorType> inputs,
        ::mlir::Type elementType);
  }];
}

//===----------------------------------------------------------------------===//
// Normalizations
//===----------------------------------------------------------------------===//

def Cnn_SoftmaxOp : Cnn_PureOp<"softmax"> {
  let summary = "Softmax or log-softmax along one axis";
  let description = [{
    exp(x - max) / sum(exp(x - max)) along `axis`; with `log`, its logarithm.

    Constraints: softmax_c1 the axis is inside the rank; softmax_c2 the result has src's shape;
    softmax_c3 a free batch is not the axis.
  }];
  let arguments = (ins Cnn_Tensor:$src, I64Attr:$axis, UnitAttr:$log,
    OptionalAttr<StrAttr>:$strategy);
  let results = (outs Cnn_Tensor:$dst);
  let assemblyFormat = "$src attr-dict `:` functional-type(operands, results)";
}

def Cnn_LrnOp : Cnn_PureOp<"lrn"> {
  let summary = "Local response normalization across channels";
  let description = [{
    x / (bias + alpha / size * sum of x^2 over the channels from c - floor((size - 1) / 2) to
    c + ceil((size - 1) / 2))^beta.

    Constraints: lrn_c1 rank at least 2 and size positive; lrn_c2 the result has src's shape.
  }];
  let arguments = (ins Cnn_Tensor:$src, I64Attr:$size, F64Attr:$alpha, F64Attr:$beta,
    F64Attr:$bias, OptionalAttr<StrAttr>:$strategy);
  let results = (outs Cnn_Tensor:$dst);
  let assemblyFormat = "$src attr-dict `:` functional-type(operands, results)";
}

def Cnn_BatchNormOp : Cnn_PureOp<"batch_norm"> {
  let summary = "Batch normalization with given statistics";
  let description = [{
    (x - mean) / sqrt(variance + epsilon) * scale + bias, where dimension 1 is the channel.
    `convoy-fold-batch-norm` folds it into a convolution or turns it into a `map`; no later stage
    has it.

    Constraints: batch_norm_c1 the parameters are vectors of src's channels (dimension 1; one for
    a src of rank 1); batch_norm_c2 the result has src's shape.
  }];
  let arguments = (ins Cnn_Tensor:$src, Cnn_Tensor:$scale, Cnn_Tensor:$bias, Cnn_Tensor:$mean,
    Cnn_Tensor:$variance, F64Attr:$epsilon);
  let results = (outs Cnn_Tensor:$dst);
  let assemblyFormat = [{
    $src `,` $scale `,` $bias `,` $mean `,` $variance attr-dict `:`
    functional-type(operands, results)
  }];
}

//===----------------------------------------------------------------------===//
// Sampling at computed positions
//===----------------------------------------------------------------------===//

def Cnn_SampleOp : Cnn_PureOp<"sample"> {
  let summary = "Samples a tensor at positions that are data";
  let description = [{
    `src` is [n, c, spatial...], `positions` [n, points..., d] with one coordinate for each of the
    d spatial dimensions, the last dimension first, in elements of src. The result is
    [n, c, points...]. A position is rounded to the nearest element, ties to even, or its
    neighbours are weighed linearly (2 in each dimension) or by Keys' cubic with a = -0.75 (4).

    Elements outside src are zero; with `border` those at its edge; with `reflection` mirrored at
    the centres of the edge elements if `align_corners` is set, else at their outer sides. A
    position further out than those is itself first moved inside by `border` and `reflection`. One
    that is not a number counts as -1.

    Constraints: sample_c1 rank at least 3, src and positions of as many images; sample_c2 the last
    extent of positions is the number of spatial dimensions; sample_c3 positions are f32 or f64;
    sample_c4 integers are sampled to the nearest only; sample_c5 no spatial extent is 0 unless the
    result is empty; sample_c6 the result's shape is the inferred one.

    ```mlir
    %y = cnn.sample <linear> %x, %p {padding = #cnn.sample_padding<zeros>, align_corners}
        : (tensor<?x8x16x16xf32>, tensor<?x4x4x2xf32>) -> tensor<?x8x4x4xf32>
    ```
  }];
  let arguments = (ins Cnn_Tensor:$src, Cnn_Tensor:$positions, Cnn_ResizeModeAttr:$mode,
    Cnn_SamplePaddingAttr:$padding, UnitAttr:$align_corners, OptionalAttr<StrAttr>:$strategy);
  let results = (outs Cnn_Tensor:$dst);
  let assemblyFormat = "$mode $src `,` $positions attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    static ::mlir::FailureOr<::mlir::RankedTensorType> inferType(
        ::mlir::Location loc, ::mlir::RankedTensorType src, ::mlir::RankedTensorType positions,
        ResizeMode mode);
  }];
}

def Cnn_RoiAlignOp : Cnn_PureOp<"roi_align"> {
  let summary = "Pools regions whose corners are data";
  let description = [{
    `src` is [n, c, h, w], `rois` [r, 4] with the corners x1, y1, x2, y2 of each region, which
    `spatial_scale` takes to elements of src, `images` [r] the image of each. The result is
    [r, c, bins...]. A region, at least 1 wide and high, or with `half_pixel` moved by half an
    element, is divided into bins. A bin holds a grid of samples, `sampling_ratio` in each
    dimension, or as many as it has elements, rounded up, if that is 0, but no more than 4096. A
    sample is interpolated linearly; beyond an element outside src it is 0. `average` divides by
    the number of samples.

    Constraints: roi_align_c1 src has rank 4, rois four columns, images as many elements as rois
    has rows; roi_align_c2 src and rois have one floating-point type, images are i32 or i64;
    roi_align_c3 the batch is not free; roi_align_c4 bins are two positive extents, the sampling
    ratio is not negative; roi_align_c5 the result's shape is the inferred one.
  }];
  let arguments = (ins Cnn_Tensor:$src, Cnn_Tensor:$rois, Cnn_Tensor:$images,
    Cnn_PoolKindAttr:$kind, DenseI64ArrayAttr:$bins, I64Attr:$sampling_ratio,
    F64Attr:$spatial_scale, UnitAttr:$half_pixel, OptionalAttr<StrAttr>:$strategy);
  let results = (outs Cnn_Tensor:$dst);
  let assemblyFormat = [{
    $kind $src `,` $rois `,` $images attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// The most samples of a bin in one dimension.
    static constexpr int64_t kMostSamples = 4096;
    static ::mlir::FailureOr<::mlir::RankedTensorType> inferType(
        ::mlir::Location loc, ::mlir::RankedTensorType src, ::mlir::RankedTensorType rois,
        ::mlir::RankedTensorType images, ::llvm::ArrayRef<int64_t> bins, int64_t samplingRatio);
  }];
}

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

def Cnn_ReshapeOp : Cnn_PureOp<"reshape"> {
  let summary = "The same elements in row-major order under another shape";
  let description = [{
    Constraints: reshape_c1 both sides have as many elements; reshape_c2 with a free batch both
    sides have it in dimension 0 and as many elements an image; reshape_c3 both sides are row-major.
  }];
  let arguments = (ins Cnn_Tensor:$src, OptionalAttr<StrAttr>:$strategy);
  let results = (outs Cnn_Tensor:$dst);
  let assemblyFormat = "$src attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def Cnn_TransposeOp : Cnn_PureOp<"transpose"> {
  let summary = "Permutes dimensions";
  let description = [{
    Dimension i of the result is dimension perm[i] of src.

    Constraints: transpose_c1 perm is a permutation of the rank; transpose_c2 the result's shape is
    the permuted one; transpose_c3 a free batch stays in dimension 0.
  }];
  let arguments = (ins Cnn_Tensor:$src, DenseI64ArrayAttr:$perm, OptionalAttr<StrAttr>:$strategy);
  let results = (outs Cnn_Tensor:$dst);
  let assemblyFormat = "$src attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def Cnn_BroadcastOp : Cnn_PureOp<"broadcast"> {
  let summary = "Repeats a tensor along dimensions of extent 1";
  let description = [{
    Constraints: broadcast_c1 src broadcasts to the result's shape as numpy has it.
  }];
  let arguments = (ins Cnn_Tensor:$src, OptionalAttr<StrAttr>:$strategy);
  let results = (outs Cnn_Tensor:$dst);
  let assemblyFormat = "$src attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def Cnn_SliceOp : Cnn_PureOp<"slice"> {
  let summary = "Every step-th element from a start";
  let description = [{
    Element i of the result along a dimension is element `start + i * step` of src. Steps may be
    negative, not 0. A free batch is taken whole.

    Constraints: slice_c1 one start and step a dimension; slice_c2 the first and last element lie
    inside src; slice_c3 a free batch has start 0 and step 1.
  }];
  let arguments = (ins Cnn_Tensor:$src, DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$steps,
    OptionalAttr<StrAttr>:$strategy);
  let results = (outs Cnn_Tensor:$dst);
  let assemblyFormat = "$src attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def Cnn_ConcatOp : Cnn_PureOp<"concat"> {
  let summary = "Tensors one after another along an axis";
  let description = [{
    Constraints: concat_c1 at least one input, of the result's rank and element type; concat_c2
    extents agree but along the axis, where they add up; concat_c3 a free batch is not the axis.
  }];
  let arguments = (ins Variadic<Cnn_Tensor>:$inputs, I64Attr:$axis,
    OptionalAttr<StrAttr>:$strategy);
  let results = (outs Cnn_Tensor:$dst);
  let assemblyFormat = "`(` $inputs `)` attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
  let extraClassDeclaration = [{
    static ::mlir::FailureOr<::mlir::RankedTensorType> inferType(
        ::mlir::Location loc, ::llvm::ArrayRef<::mlir::RankedTensorType> inputs, int64_t axis);
  }];
}

def Cnn_PadOp : Cnn_PureOp<"pad"> {
  let summary = "Adds elements around a tensor, or crops it";
  let description = [{
    `low` and `high` elements are added before and after each dimension; a negative number crops.
    Mode `constant` fills with the scalar `value`, or zero without one.

    Constraints: pad_c1 one low and high a dimension; pad_c2 the result's shape is src's plus low
    plus high; pad_c3 a value has one element of src's type; pad_c4 a free batch is not padded;
    pad_c5 reflect pads by less than the extent.
  }];
  let arguments = (ins Cnn_Tensor:$src, Optional<Cnn_Tensor>:$value, DenseI64ArrayAttr:$low,
    DenseI64ArrayAttr:$high, Cnn_PadModeAttr:$mode, OptionalAttr<StrAttr>:$strategy);
  let results = (outs Cnn_Tensor:$dst);
  let assemblyFormat = [{
    $mode $src (`,` $value^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasFolder = 1;
}

def Cnn_ResizeOp : Cnn_PureOp<"resize"> {
  let summary = "Resamples a tensor as ONNX's Resize of opset 19 has it";
  let description = [{
    The extent is the result type's; `scales` are the factors that the coordinate map uses, one for
    each dimension, as the model gives them (they need not be extent / extent). `roi` has start
    and end of each dimension and is used by tf_crop_and_resize alone.

    Constraints: resize_c1 one scale a dimension, each positive; resize_c2 a free batch is not
    resized; resize_c3 roi is empty or two a dimension.
  }];
  let arguments = (ins Cnn_Tensor:$src, Cnn_ResizeModeAttr:$mode,
    Cnn_CoordinateModeAttr:$coordinates, Cnn_NearestModeAttr:$nearest_mode,
    DenseF64ArrayAttr:$scales, DenseF64ArrayAttr:$roi, F64Attr:$cubic_coeff_a,
    F64Attr:$extrapolation_value, UnitAttr:$exclude_outside, UnitAttr:$antialias,
    OptionalAttr<StrAttr>:$strategy);
  let results = (outs Cnn_Tensor:$dst);
  let assemblyFormat = "$mode $src attr-dict `:` functional-type(operands, results)";
}

def Cnn_GatherOp : Cnn_PureOp<"gather"> {
  let summary = "Slices of a tensor, picked by indices along an axis";
  let description = [{
    The result is src's shape with dimension `axis` replaced by the shape of `indices`. Negative
    indices count from the end; one outside [-extent, extent) is clamped into it.

    Constraints: gather_c1 the axis is inside the rank; gather_c2 indices are i32 or i64; gather_c3
    the result's shape is the inferred one; gather_c4 a free batch is not the axis; gather_c5 an
    axis of extent 0 has no indices.
  }];
  let arguments = (ins Cnn_Tensor:$src, Cnn_Tensor:$indices, I64Attr:$axis,
    OptionalAttr<StrAttr>:$strategy);
  let results = (outs Cnn_Tensor:$dst);
  let assemblyFormat = "$src `,` $indices attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    static ::mlir::FailureOr<::mlir::RankedTensorType> inferType(
        ::mlir::Location loc, ::mlir::RankedTensorType src, ::mlir::RankedTensorType indices,
        int64_t axis);
  }];
}

def Cnn_RelayoutOp : Cnn_PureOp<"relayout"> {
  let summary = "The same tensor in another layout";
  let description = [{
    Constraints: relayout_c1 shape and element type stay as they are.

    ```mlir
    %y = cnn.relayout %x : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32, #cnn.layout<"nchw16c">>
    ```
  }];
  let arguments = (ins Cnn_Tensor:$src, OptionalAttr<StrAttr>:$strategy);
  let results = (outs Cnn_Tensor:$dst);
  let assemblyFormat = "$src attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

include "dialects/Cnn/CnnIndexOps.td"

#endif
