// Layouts and targets that make no sense.
// RUN: convoy-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{'' is not a layout tag such as nchw, nhwc or nchw16c}}
func.func private @empty(tensor<2x3xf32, #cnn.layout<"">>)

// -----

// expected-error @+1 {{'nchw16' is not a layout tag}}
func.func private @block_of_nothing(tensor<2x3x4x4xf32, #cnn.layout<"nchw16">>)

// -----

// expected-error @+1 {{'nchw1c' is not a layout tag}}
func.func private @block_of_one(tensor<2x3x4x4xf32, #cnn.layout<"nchw1c">>)

// -----

// expected-error @+1 {{'nchw8192c' is not a layout tag}}
func.func private @large_block(tensor<2x3x4x4xf32, #cnn.layout<"nchw8192c">>)

// -----

// The blocks of one dimension count together.
// expected-error @+1 {{'nchw128c64c' is not a layout tag}}
func.func private @large_blocks(tensor<2x3x4x4xf32, #cnn.layout<"nchw128c64c">>)

// -----

// expected-error @+1 {{'nchw99999999999999999999c' is not a layout tag}}
func.func private @overflow(tensor<2x3x4x4xf32, #cnn.layout<"nchw99999999999999999999c">>)

// -----

// expected-error @+1 {{'nchw-16c' is not a layout tag}}
func.func private @negative(tensor<2x3x4x4xf32, #cnn.layout<"nchw-16c">>)

// -----

// expected-error @+1 {{'ncchw' is not a layout tag}}
func.func private @twice(tensor<2x3x4x4x4xf32, #cnn.layout<"ncchw">>)

// -----

// expected-error @+1 {{'nchx' is not a layout tag}}
func.func private @unknown_letter(tensor<2x3x4x4xf32, #cnn.layout<"nchx">>)

// -----

// A block before the letters end.
// expected-error @+1 {{'n16chw' is not a layout tag}}
func.func private @block_inside(tensor<2x3x4x4xf32, #cnn.layout<"n16chw">>)

// -----

// c is no dimension of weights.
// expected-error @+1 {{'oihw16c' is not a layout tag}}
func.func private @other_family(tensor<2x3x4x4xf32, #cnn.layout<"oihw16c">>)

// -----

// The blocked dimension is none of the outer ones.
// expected-error @+1 {{'nhw16c' is not a layout tag}}
func.func private @block_without_outer(tensor<2x3x4xf32, #cnn.layout<"nhw16c">>)

// -----

// expected-error @+1 {{layout 'nchw16c' is for rank 4, the tensor has rank 3}}
func.func private @rank(tensor<2x3x4xf32, #cnn.layout<"nchw16c">>)

// -----

// expected-error @+1 {{lanes must be a power of two, got 0}}
module attributes {cnn.target = #cnn.target<name = "t", lanes = 0, registers = 32, l1Bytes = 32768, l2Bytes = 1048576, cpu = "c">} {}

// -----

// expected-error @+1 {{lanes must be a power of two, got 12}}
module attributes {cnn.target = #cnn.target<name = "t", lanes = 12, registers = 32, l1Bytes = 32768, l2Bytes = 1048576, cpu = "c">} {}

// -----

// expected-error @+1 {{lanes must be a power of two, got -16}}
module attributes {cnn.target = #cnn.target<name = "t", lanes = -16, registers = 32, l1Bytes = 32768, l2Bytes = 1048576, cpu = "c">} {}

// -----

// expected-error @+1 {{registers must be positive, got 0}}
module attributes {cnn.target = #cnn.target<name = "t", lanes = 16, registers = 0, l1Bytes = 32768, l2Bytes = 1048576, cpu = "c">} {}

// -----

// expected-error @+1 {{l1Bytes must be positive, got -1}}
module attributes {cnn.target = #cnn.target<name = "t", lanes = 16, registers = 32, l1Bytes = -1, l2Bytes = 1048576, cpu = "c">} {}

// -----

// expected-error @+1 {{l2Bytes must be positive, got 0}}
module attributes {cnn.target = #cnn.target<name = "t", lanes = 16, registers = 32, l1Bytes = 32768, l2Bytes = 0, cpu = "c">} {}
