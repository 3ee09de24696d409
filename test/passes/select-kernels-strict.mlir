// RUN: convoy-opt %s --split-input-file --convoy-select-kernels | FileCheck %s

// Winograd's algorithm is the fastest for this convolution.
// CHECK-LABEL: func.func @fast
// CHECK: cnn.conv {{.*}} strategy = "winograd4"
module attributes {cnn.target = #cnn.target<name = "x86-avx512", lanes = 16, registers = 32, l1Bytes = 49152, l2Bytes = 1048576, cpu = "znver4">} {
func.func @fast(%x: tensor<?x64x56x56xf32, #cnn.layout<"nchw16c">>) -> tensor<?x64x56x56xf32, #cnn.layout<"nchw16c">> {
  %w = cnn.constant dense<1.0> : tensor<64x64x3x3xf32> -> tensor<64x64x3x3xf32>
  %0 = cnn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x64x56x56xf32, #cnn.layout<"nchw16c">>, tensor<64x64x3x3xf32>) -> tensor<?x64x56x56xf32, #cnn.layout<"nchw16c">> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return %0 : tensor<?x64x56x56xf32, #cnn.layout<"nchw16c">>
}
}

// -----

// It sums other products than the definition does.
// CHECK-LABEL: func.func @strict
// CHECK: cnn.conv {{.*}} strategy = "direct"
module attributes {cnn.target = #cnn.target<name = "x86-avx512", lanes = 16, registers = 32, l1Bytes = 49152, l2Bytes = 1048576, cpu = "znver4", strictFp = true>} {
func.func @strict(%x: tensor<?x64x56x56xf32, #cnn.layout<"nchw16c">>) -> tensor<?x64x56x56xf32, #cnn.layout<"nchw16c">> {
  %w = cnn.constant dense<1.0> : tensor<64x64x3x3xf32> -> tensor<64x64x3x3xf32>
  %0 = cnn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x64x56x56xf32, #cnn.layout<"nchw16c">>, tensor<64x64x3x3xf32>) -> tensor<?x64x56x56xf32, #cnn.layout<"nchw16c">> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return %0 : tensor<?x64x56x56xf32, #cnn.layout<"nchw16c">>
}
}
