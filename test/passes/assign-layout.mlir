// RUN: convoy-opt %s --split-input-file --convoy-assign-layout --convoy-verify-stage=stage=layout | FileCheck %s
// RUN: convoy-opt %s --split-input-file --convoy-assign-layout --remarks-filter=.* 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// The first convolution reads row-major and writes blocks, the second stays in them; its extra, of
// rank 3, gets their rank and layout at compile time. One relayout at the end.
// CHECK-LABEL: func.func @region
// CHECK-SAME: %[[X:.+]]: tensor<?x3x8x8xf32>
// CHECK: %[[E:.+]] = cnn.constant {{.*}} : tensor<1x2x1x1x16xf32> -> tensor<1x32x1x1xf32, #cnn.layout<"nchw16c">>
// CHECK: %[[A:.+]] = cnn.conv %[[X]], %{{.*}} : (tensor<?x3x8x8xf32>, tensor<32x3x3x3xf32>) -> tensor<?x32x8x8xf32, #cnn.layout<"nchw16c">>
// CHECK: %[[B:.+]] = cnn.conv %[[A]], %{{.*}} extras(%[[E]])
// CHECK-SAME: -> tensor<?x32x8x8xf32, #cnn.layout<"nchw16c">>
// CHECK: %[[P:.+]] = cnn.pool <max> %[[B]] {{.*}} -> tensor<?x32x4x4xf32, #cnn.layout<"nchw16c">>
// CHECK: %[[R:.+]] = cnn.relayout %[[P]] : {{.*}} -> tensor<?x32x4x4xf32>
// CHECK: return %[[R]]
// REMARK: loc("conv1"): [Passed] AssignLayout | Category:layout | Remark="cnn.conv in nchw16c"
module attributes {cnn.target = #cnn.target<name = "test", lanes = 16, registers = 32, l1Bytes = 32768, l2Bytes = 1048576, cpu = "generic">} {
func.func @region(%x: tensor<?x3x8x8xf32>) -> tensor<?x32x4x4xf32> {
  %w = cnn.constant dense<1.0> : tensor<32x3x3x3xf32> -> tensor<32x3x3x3xf32>
  %v = cnn.constant dense<1.0> : tensor<32x32x3x3xf32> -> tensor<32x32x3x3xf32>
  %e = cnn.constant dense<2.0> : tensor<32x1x1xf32> -> tensor<32x1x1xf32>
  %a = cnn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x3x8x8xf32>, tensor<32x3x3x3xf32>) -> tensor<?x32x8x8xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  } loc("conv1")
  %b = cnn.conv %a, %v extras(%e) {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x32x8x8xf32>, tensor<32x32x3x3xf32>, tensor<32x1x1xf32>) -> tensor<?x32x8x8xf32> {
  ^bb0(%acc: f32, %f: f32):
    %v0 = arith.addf %acc, %f : f32
    cnn.yield %v0 : f32
  }
  %p = cnn.pool <max> %b {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<?x32x8x8xf32>) -> tensor<?x32x4x4xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return %p : tensor<?x32x4x4xf32>
}
}

// -----

// A residual is relayouted to the layout of the result once for both its users.
// CHECK-LABEL: func.func @residual
// CHECK: %[[X:.+]] = cnn.relayout %arg0
// CHECK: %[[A:.+]] = cnn.conv %[[X]], %{{.*}} extras(%[[X]])
// CHECK: %[[B:.+]] = cnn.relayout %[[A]]
// CHECK-NOT: cnn.relayout
// CHECK: return %[[B]]
module attributes {cnn.target = #cnn.target<name = "test", lanes = 16, registers = 32, l1Bytes = 32768, l2Bytes = 1048576, cpu = "generic">} {
func.func @residual(%x: tensor<?x32x8x8xf32>) -> tensor<?x32x8x8xf32> {
  %v = cnn.constant dense<1.0> : tensor<32x32x3x3xf32> -> tensor<32x32x3x3xf32>
  %a = cnn.conv %x, %v extras(%x) {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x32x8x8xf32>, tensor<32x32x3x3xf32>, tensor<?x32x8x8xf32>) -> tensor<?x32x8x8xf32> {
  ^bb0(%acc: f32, %f: f32):
    %v0 = arith.addf %acc, %f : f32
    cnn.yield %v0 : f32
  }
  return %a : tensor<?x32x8x8xf32>
}
}

// -----

// Relayouts would cost more than blocks save: a lone pool stays row-major.
// CHECK-LABEL: func.func @too_small
// CHECK-NEXT: cnn.pool
// CHECK-NOT: cnn.relayout
// REMARK: [Passed] AssignLayout | Category:layout | Remark="cnn.pool in row-major"
module attributes {cnn.target = #cnn.target<name = "test", lanes = 16, registers = 32, l1Bytes = 32768, l2Bytes = 1048576, cpu = "generic">} {
func.func @too_small(%x: tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32> {
  %p = cnn.pool <max> %x {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return %p : tensor<1x32x8x8xf32>
}
}

// -----

// A reshape in between needs row-major; a softmax and a grouped convolution have no kernel in
// blocks. Weights that are computed keep a convolution row-major.
// CHECK-LABEL: func.func @row_major
// CHECK-NOT: nchw16c
// CHECK: return
module attributes {cnn.target = #cnn.target<name = "test", lanes = 16, registers = 32, l1Bytes = 32768, l2Bytes = 1048576, cpu = "generic">} {
func.func @row_major(%x: tensor<1x4x8x8xf32>, %v: tensor<4x4x3x3xf32>) -> tensor<1x4x64xf32> {
  %w = cnn.constant dense<1.0> : tensor<4x2x3x3xf32> -> tensor<4x2x3x3xf32>
  %a = cnn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 2 : i64} : (tensor<1x4x8x8xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x8x8xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  %b = cnn.conv %a, %v {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x8x8xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  %s = cnn.softmax %b {axis = 1 : i64} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %y = cnn.reshape %s : (tensor<1x4x8x8xf32>) -> tensor<1x4x64xf32>
  return %y : tensor<1x4x64xf32>
}
}

// -----

// Convolutions of one spatial dimension have blocks of their own rank.
// CHECK-LABEL: func.func @signal
// CHECK: %[[A:.+]] = cnn.conv %arg0, %{{.*}} : (tensor<1x1x576xf32>, tensor<258x1x256xf32>) -> tensor<1x258x3xf32, #cnn.layout<"ncw16c">>
// CHECK: %[[B:.+]] = cnn.conv %[[A]], %{{.*}} -> tensor<1x64x3xf32, #cnn.layout<"ncw16c">>
// CHECK: %[[R:.+]] = cnn.relayout %[[B]] : {{.*}} -> tensor<1x64x3xf32>
// CHECK: return %[[R]]
module attributes {cnn.target = #cnn.target<name = "x86-avx512", lanes = 16, registers = 32, l1Bytes = 32768, l2Bytes = 1048576, cpu = "generic">} {
func.func @signal(%x: tensor<1x1x576xf32>) -> tensor<1x64x3xf32> {
  %v = cnn.constant dense<1.0> : tensor<258x1x256xf32> -> tensor<258x1x256xf32>
  %w = cnn.constant dense<1.0> : tensor<64x258x3xf32> -> tensor<64x258x3xf32>
  %a = cnn.conv %x, %v {strides = array<i64: 128>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x1x576xf32>, tensor<258x1x256xf32>) -> tensor<1x258x3xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  %b = cnn.conv %a, %w {strides = array<i64: 1>, pads = array<i64: 1, 1>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x258x3xf32>, tensor<64x258x3xf32>) -> tensor<1x64x3xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return %b : tensor<1x64x3xf32>
}
}
