// The cnn dialect, its attributes, enumerations and the interface of ops with an epilogue.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CONVOY_DIALECTS_CNN_BASE
#define CONVOY_DIALECTS_CNN_BASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/TensorEncoding.td"

def Cnn_Dialect : Dialect {
  let name = "cnn";
  let cppNamespace = "::convoy::cnn";
  let summary = "Convolutional networks as graphs of tensors";
  let description = [{
    Value semantics on ranked tensors. A tensor's type keeps its **logical** ONNX shape; how the
    tensor lies in memory is the type's encoding, a `#cnn.layout`, and row-major without one.
    Shape logic never looks at the layout.

    A dynamic extent is allowed in dimension 0 alone and always means the batch, which is free
    until run time. Every other extent is static.

    Element types: f16, bf16, f32, f64, signless integers for ONNX's signed integers, `ui8` to
    `ui64` for its unsigned ones, `i1` for its bool (one byte each in memory). Inside a scalar
    region an unsigned integer is the signless integer of its width, as arith has it.

    The lanes that a blocked layout adds beyond the logical extent hold unspecified values. No op
    reads them into a logical element.
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let hasConstantMaterializer = 1;
}

class Cnn_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Cnn_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Cnn_LayoutAttr : Cnn_Attr<"Layout", "layout",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "How a tensor lies in memory";
  let description = [{
    A tag in oneDNN's manner: the letters give the order of the outer dimensions, from slowest to
    fastest; a number before a letter, after them, is an inner block of that dimension. The
    logical order of the dimensions is `n c d h w` for activations, `o i d h w` for convolution
    weights and `k n` for matrices, of which a tag names those that its tensor has.

    `nchw` is row-major; `nhwc` has channels last; `nchw16c` has blocks of 16 channels, that is
    `[n][ceil(c / 16)][h][w][16]`; `oihw16i16o` has blocks of 16 by 16 weights. A tag that ends
    with `.f4` is for weights transformed for Winograd's convolution by tiles of 4 by 4 outputs.
  }];
  let parameters = (ins StringRefParameter<"layout tag">:$tag);
  let assemblyFormat = "`<` $tag `>`";
  let genVerifyDecl = 1;
}

def Cnn_TargetAttr : Cnn_Attr<"Target", "target"> {
  let summary = "The facts about a target that passes may read";
  let description = [{
    Stands on the module as `cnn.target`. `lanes` is the number of f32 in a vector register, a power
    of two, `registers` the number of vector registers, caches are per core and in bytes, `features`
    are LLVM's names of the CPU features in use. With `strictFp` no strategy may compute a sum of
    products from other products, as Winograd's algorithm does.
  }];
  let parameters = (ins
    StringRefParameter<"name, such as x86-avx512">:$name,
    "int64_t":$lanes,
    "int64_t":$registers,
    "int64_t":$l1Bytes,
    "int64_t":$l2Bytes,
    StringRefParameter<"LLVM's CPU name">:$cpu,
    OptionalArrayRefParameter<"::mlir::StringAttr", "LLVM's feature names">:$features,
    DefaultValuedParameter<"bool", "false">:$strictFp);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Cnn_ExtentAttr : AttrDef<Cnn_Dialect, "Extent"> {
  let mnemonic = "extent";
  let summary = "That a dimension of a result has an extent that only a run tells";
  let description = [{
    Stands on a result of the graph as `cnn.extent`: dimension `dim`, of which the type has the
    bound, has as many elements as result number `count` of the graph, a scalar of i64, says.
  }];
  let parameters = (ins "int64_t":$dim, "int64_t":$count);
  let assemblyFormat = "`<` struct(params) `>`";
}

class Cnn_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::convoy::cnn";
}
class Cnn_EnumAttr<EnumAttrInfo info, string attrMnemonic>
    : EnumAttr<Cnn_Dialect, info, attrMnemonic> {
  let assemblyFormat = "`<` $value `>`";
}

def Cnn_PoolKind : Cnn_Enum<"PoolKind", "How a window becomes one value", [
  I32EnumAttrCase<"Max", 0, "max">,
  I32EnumAttrCase<"Average", 1, "average">
]>;
def Cnn_PoolKindAttr : Cnn_EnumAttr<Cnn_PoolKind, "pool_kind">;

def Cnn_ReduceKind : Cnn_Enum<"ReduceKind", "How the elements along axes become one value", [
  I32EnumAttrCase<"Sum", 0, "sum">,
  I32EnumAttrCase<"Mean", 1, "mean">,
  I32EnumAttrCase<"Max", 2, "max">,
  I32EnumAttrCase<"Min", 3, "min">,
  I32EnumAttrCase<"Prod", 4, "prod">
]>;
def Cnn_ReduceKindAttr : Cnn_EnumAttr<Cnn_ReduceKind, "reduce_kind">;

def Cnn_PadMode : Cnn_Enum<"PadMode", "What padding holds", [
  I32EnumAttrCase<"Constant", 0, "constant">,
  I32EnumAttrCase<"Reflect", 1, "reflect">,
  I32EnumAttrCase<"Edge", 2, "edge">,
  I32EnumAttrCase<"Wrap", 3, "wrap">
]>;
def Cnn_PadModeAttr : Cnn_EnumAttr<Cnn_PadMode, "pad_mode">;

def Cnn_ScatterKind : Cnn_Enum<"ScatterKind", "What an update does to an element", [
  I32EnumAttrCase<"Set", 0, "set">,
  I32EnumAttrCase<"Add", 1, "add">,
  I32EnumAttrCase<"Mul", 2, "mul">,
  I32EnumAttrCase<"Max", 3, "max">,
  I32EnumAttrCase<"Min", 4, "min">
]>;
def Cnn_ScatterKindAttr : Cnn_EnumAttr<Cnn_ScatterKind, "scatter_kind">;

def Cnn_ResizeMode : Cnn_Enum<"ResizeMode", "How a resized element is made", [
  I32EnumAttrCase<"Nearest", 0, "nearest">,
  I32EnumAttrCase<"Linear", 1, "linear">,
  I32EnumAttrCase<"Cubic", 2, "cubic">
]>;
def Cnn_ResizeModeAttr : Cnn_EnumAttr<Cnn_ResizeMode, "resize_mode">;

def Cnn_CoordinateMode : Cnn_Enum<"CoordinateMode",
    "ONNX's coordinate_transformation_mode", [
  I32EnumAttrCase<"HalfPixel", 0, "half_pixel">,
  I32EnumAttrCase<"HalfPixelSymmetric", 1, "half_pixel_symmetric">,
  I32EnumAttrCase<"PytorchHalfPixel", 2, "pytorch_half_pixel">,
  I32EnumAttrCase<"AlignCorners", 3, "align_corners">,
  I32EnumAttrCase<"Asymmetric", 4, "asymmetric">,
  I32EnumAttrCase<"TfHalfPixelForNn", 5, "tf_half_pixel_for_nn">,
  I32EnumAttrCase<"TfCropAndResize", 6, "tf_crop_and_resize">
]>;
def Cnn_CoordinateModeAttr : Cnn_EnumAttr<Cnn_CoordinateMode, "coordinates">;

def Cnn_NearestMode : Cnn_Enum<"NearestMode", "ONNX's nearest_mode", [
  I32EnumAttrCase<"RoundPreferFloor", 0, "round_prefer_floor">,
  I32EnumAttrCase<"RoundPreferCeil", 1, "round_prefer_ceil">,
  I32EnumAttrCase<"Floor", 2, "floor">,
  I32EnumAttrCase<"Ceil", 3, "ceil">
]>;
def Cnn_NearestModeAttr : Cnn_EnumAttr<Cnn_NearestMode, "nearest_mode">;

def Cnn_SamplePadding : Cnn_Enum<"SamplePadding", "What lies around a tensor that is sampled", [
  I32EnumAttrCase<"Zeros", 0, "zeros">,
  I32EnumAttrCase<"Border", 1, "border">,
  I32EnumAttrCase<"Reflection", 2, "reflection">
]>;
def Cnn_SamplePaddingAttr : Cnn_EnumAttr<Cnn_SamplePadding, "sample_padding">;

def Cnn_EpilogueOpInterface : OpInterface<"EpilogueOpInterface"> {
  let cppNamespace = "::convoy::cnn";
  let description = [{
    An op that computes an accumulator for each element of its result and hands it to its epilogue
    region. The region's arguments are the accumulator and one element of each further operand
    (`extras`), which broadcast to the result's shape as numpy has it; it yields the result's
    element. Bias, folded batch norm, residual add, activation and requantization all live there.

    `cnn.map` has no accumulator: its region takes an element of each operand.
  }];
  let methods = [
    InterfaceMethod<"The scalar region.", "::mlir::Region &", "getScalarRegion">,
    InterfaceMethod<"Operands whose elements the region takes, in argument order.",
                    "::mlir::OperandRange", "getRegionOperands">,
    InterfaceMethod<"The same, to be changed.",
                    "::mlir::MutableOperandRange", "getRegionOperandsMutable">,
    InterfaceMethod<"Type of the accumulator argument; null if the region has none.",
                    "::mlir::Type", "getAccumulatorType">
  ];
  let verify = "return ::convoy::cnn::verifyScalarRegion($_op);";
}

#endif
