// RUN: convoy-opt %s --split-input-file --convoy-assign-precision | FileCheck %s
// RUN: convoy-opt %s --split-input-file --convoy-assign-precision --remarks-filter=.* 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// The weights are cast at compile time, the input by a map; the sum is rounded once.
// CHECK-LABEL: func.func @conv
// CHECK: %[[X:.+]] = cnn.map(%{{.*}}) : (tensor<1x1x4x4xf16>) -> tensor<1x1x4x4xf32>
// CHECK: arith.extf
// CHECK: %[[W:.+]] = cnn.constant dense<1.500000e+00> : tensor<1x1x1x1xf32>
// CHECK: cnn.conv %[[X]], %[[W]] {{.*}} -> tensor<1x1x4x4xf16>
// CHECK: ^bb0(%[[ACC:.+]]: f32):
// CHECK: %[[ROUNDED:.+]] = arith.truncf %[[ACC]] : f32 to f16
// CHECK: %[[WIDE:.+]] = arith.extf %[[ROUNDED]]
// CHECK: %[[EXP:.+]] = math.exp %[[WIDE]] : f32
// CHECK: %[[RESULT:.+]] = arith.truncf %[[EXP]]
// CHECK: cnn.yield %[[RESULT]] : f16
// REMARK: loc("half_conv"): [Passed] AssignPrecision | Category:precision | Remark="sums in f32, scalar arithmetic in f32"
func.func @conv(%x: tensor<1x1x4x4xf16>) -> tensor<1x1x4x4xf16> {
  %w = cnn.constant dense<1.5> : tensor<1x1x1x1xf16> -> tensor<1x1x1x1xf16>
  %y = cnn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x4x4xf16>, tensor<1x1x1x1xf16>) -> tensor<1x1x4x4xf16> {
  ^bb0(%acc: f16):
    %v0 = math.exp %acc : f16
    cnn.yield %v0 : f16
  } loc("half_conv")
  return %y : tensor<1x1x4x4xf16>
}

// -----

// CHECK-LABEL: func.func @softmax
// CHECK: cnn.softmax %{{.*}} : (tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK: %[[Y:.+]] = cnn.map(%{{.*}}) : (tensor<2x4xf32>) -> tensor<2x4xbf16>
// CHECK: return %[[Y]]
func.func @softmax(%x: tensor<2x4xbf16>) -> tensor<2x4xbf16> {
  %y = cnn.softmax %x {axis = 1 : i64} : (tensor<2x4xbf16>) -> tensor<2x4xbf16>
  return %y : tensor<2x4xbf16>
}

// -----

// A maximum rounds nothing; f32 and data movement stay as they are.
// CHECK-LABEL: func.func @unchanged
// CHECK-NEXT: cnn.pool <max> %{{.*}} : (tensor<1x1x4x4xf16>) -> tensor<1x1x2x2xf16>
// CHECK-NOT: cnn.map
// CHECK: cnn.reduce <sum> %{{.*}} : (tensor<1x4xf32>) -> tensor<1x1xf32>
// CHECK-NOT: cnn.map
// CHECK: return
func.func @unchanged(%x: tensor<1x1x4x4xf16>, %z: tensor<1x4xf32>) -> (tensor<1x1x2x2xf16>, tensor<1x1xf32>) {
  %p = cnn.pool <max> %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x1x4x4xf16>) -> tensor<1x1x2x2xf16> {
  ^bb0(%acc: f16):
    cnn.yield %acc : f16
  }
  %r = cnn.reduce <sum> %z {axes = array<i64: 1>, keep_dims} : (tensor<1x4xf32>) -> tensor<1x1xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return %p, %r : tensor<1x1x2x2xf16>, tensor<1x1xf32>
}
