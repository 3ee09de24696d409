// RUN: convoy-opt %s --convoy-fold-batch-norm | FileCheck %s
// RUN: convoy-opt %s --convoy-fold-batch-norm --remarks-filter=.* 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// scale / sqrt(variance + epsilon) is (2, 3); bias - mean * that is (5 - 1 * 2, 6 - 2 * 3).
// CHECK-LABEL: func.func @conv
// CHECK-SAME: %[[X:.+]]: tensor<?x1x4x4xf32>
// CHECK-DAG: %[[W:.+]] = cnn.constant dense<{{\[\[\[\[}}2.000000e+00]]], {{\[\[\[}}3.000000e+00]]]]>
// CHECK-DAG: %[[B:.+]] = cnn.constant dense<{{\[\[\[\[}}3.000000e+00]], {{\[\[}}0.000000e+00]]]]> : tensor<1x2x1x1xf32>
// CHECK: %[[Y:.+]] = cnn.conv %[[X]], %[[W]] extras(%[[B]])
// CHECK: ^bb0(%[[ACC:.+]]: f32, %[[BIAS:.+]]: f32):
// CHECK: %[[SUM:.+]] = arith.addf %[[ACC]], %[[BIAS]]
// CHECK: cnn.yield %[[SUM]]
// CHECK-NOT: cnn.batch_norm
// CHECK: return %[[Y]]
// REMARK: loc("bn_of_conv"): [Passed] FoldBatchNorm | Category:fold | Remark="folded into the weights of its producer"
func.func @conv(%x: tensor<?x1x4x4xf32>) -> tensor<?x2x4x4xf32> {
  %w = cnn.constant dense<1.0> : tensor<2x1x1x1xf32> -> tensor<2x1x1x1xf32>
  %scale = cnn.constant dense<[1.0, 3.0]> : tensor<2xf32> -> tensor<2xf32>
  %bias = cnn.constant dense<[5.0, 6.0]> : tensor<2xf32> -> tensor<2xf32>
  %mean = cnn.constant dense<[1.0, 2.0]> : tensor<2xf32> -> tensor<2xf32>
  %variance = cnn.constant dense<[0.0, 0.75]> : tensor<2xf32> -> tensor<2xf32>
  %c = cnn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<?x2x4x4xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  %y = cnn.batch_norm %c, %scale, %bias, %mean, %variance {epsilon = 0.25 : f64} : (tensor<?x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<?x2x4x4xf32> loc("bn_of_conv")
  return %y : tensor<?x2x4x4xf32>
}

// A bias, then a multiplication and an addition per channel: ((w x + 1) * s + 10) is w s x + s + 10.
// CHECK-LABEL: func.func @chain
// CHECK-DAG: %[[W:.+]] = cnn.constant dense<{{\[\[\[\[}}2.000000e+00]]], {{\[\[\[}}4.000000e+00]]]]>
// CHECK-DAG: %[[B:.+]] = cnn.constant dense<{{\[\[\[\[}}1.200000e+01]], {{\[\[}}1.400000e+01]]]]>
// CHECK: cnn.conv %{{.*}}, %[[W]] extras(%[[B]])
// CHECK-NOT: cnn.map
func.func @chain(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = cnn.constant dense<1.0> : tensor<2x1x1x1xf32> -> tensor<2x1x1x1xf32>
  %b = cnn.constant dense<1.0> : tensor<1x2x1x1xf32> -> tensor<1x2x1x1xf32>
  %s = cnn.constant dense<[[[2.0]], [[4.0]]]> : tensor<2x1x1xf32> -> tensor<2x1x1xf32>
  %c = cnn.conv %x, %w extras(%b) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x4x4xf32> {
  ^bb0(%acc: f32, %e: f32):
    %v0 = arith.addf %acc, %e : f32
    cnn.yield %v0 : f32
  }
  %m = cnn.map(%c, %s) : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32> {
  ^bb0(%e: f32, %f: f32):
    %v0 = arith.mulf %e, %f : f32
    cnn.yield %v0 : f32
  }
  %y = cnn.map(%m) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  ^bb0(%e: f32):
    %ten = arith.constant 10.0 : f32
    %v0 = arith.addf %ten, %e : f32
    cnn.yield %v0 : f32
  }
  return %y : tensor<1x2x4x4xf32>
}

// Groups: the weights of a transposed convolution are [ic, oc / groups, ...].
// CHECK-LABEL: func.func @conv_transpose
// CHECK: cnn.constant dense<{{\[\[\[\[}}2.000000e+00]]], {{\[\[\[}}3.000000e+00]]]]>
// CHECK: cnn.conv_transpose
// CHECK-NOT: cnn.map
func.func @conv_transpose(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = cnn.constant dense<1.0> : tensor<2x1x1x1xf32> -> tensor<2x1x1x1xf32>
  %s = cnn.constant dense<[[[2.0]], [[3.0]]]> : tensor<2x1x1xf32> -> tensor<2x1x1xf32>
  %c = cnn.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 2 : i64} : (tensor<1x2x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  %y = cnn.map(%s, %c) : (tensor<2x1x1xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  ^bb0(%e: f32, %f: f32):
    %v0 = arith.mulf %e, %f : f32
    cnn.yield %v0 : f32
  }
  return %y : tensor<1x2x4x4xf32>
}

// Both orientations of the right matrix.
// CHECK-LABEL: func.func @matmul
// CHECK-DAG: cnn.constant dense<{{\[\[}}2.000000e+00, 3.000000e+00]]> : tensor<1x2xf32>
// CHECK-DAG: cnn.constant dense<{{\[\[}}2.000000e+00], [3.000000e+00]]> : tensor<2x1xf32>
// CHECK-NOT: cnn.map
func.func @matmul(%x: tensor<3x1xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>) {
  %w = cnn.constant dense<1.0> : tensor<1x2xf32> -> tensor<1x2xf32>
  %t = cnn.constant dense<1.0> : tensor<2x1xf32> -> tensor<2x1xf32>
  %s = cnn.constant dense<[2.0, 3.0]> : tensor<2xf32> -> tensor<2xf32>
  %c = cnn.matmul %x, %w : (tensor<3x1xf32>, tensor<1x2xf32>) -> tensor<3x2xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  %d = cnn.matmul %x, %t {transpose_rhs} : (tensor<3x1xf32>, tensor<2x1xf32>) -> tensor<3x2xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  %y = cnn.map(%c, %s) : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32> {
  ^bb0(%e: f32, %f: f32):
    %v0 = arith.mulf %e, %f : f32
    cnn.yield %v0 : f32
  }
  %z = cnn.map(%d, %s) : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32> {
  ^bb0(%e: f32, %f: f32):
    %v0 = arith.mulf %e, %f : f32
    cnn.yield %v0 : f32
  }
  return %y, %z : tensor<3x2xf32>, tensor<3x2xf32>
}

// 1e-30 * 1e-10 is a denormal of f32: it becomes zero.
// CHECK-LABEL: func.func @denormal
// CHECK: cnn.constant dense<0.000000e+00> : tensor<1x1x1x1xf32>
func.func @denormal(%x: tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> {
  %w = cnn.constant dense<1.0e-30> : tensor<1x1x1x1xf32> -> tensor<1x1x1x1xf32>
  %c = cnn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  %y = cnn.map(%c) : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> {
  ^bb0(%e: f32):
    %s = arith.constant 1.0e-10 : f32
    %v0 = arith.mulf %s, %e : f32
    cnn.yield %v0 : f32
  }
  return %y : tensor<1x1x4x4xf32>
}

// The convolution's result has another user: the batch_norm becomes a map.
// CHECK-LABEL: func.func @other_user
// CHECK: cnn.conv
// CHECK: cnn.map(%{{.+}}, %{{.+}}, %{{.+}})
// CHECK: arith.mulf
// CHECK: arith.addf
// REMARK: loc("bn_other_user"): [Missed] FoldBatchNorm | Category:fold | Remark="batch_norm becomes a map: its input has other users"
func.func @other_user(%x: tensor<1x1x4x4xf32>) -> (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) {
  %w = cnn.constant dense<1.0> : tensor<1x1x1x1xf32> -> tensor<1x1x1x1xf32>
  %one = cnn.constant dense<1.0> : tensor<1xf32> -> tensor<1xf32>
  %c = cnn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  %y = cnn.batch_norm %c, %one, %one, %one, %one {epsilon = 0.0 : f64} : (tensor<1x1x4x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32> loc("bn_other_user")
  return %c, %y : tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>
}

// An activation is in between.
// CHECK-LABEL: func.func @not_affine
// CHECK: cnn.map(
// REMARK: loc("bn_after_relu"): [Missed] {{.*}}the producer's epilogue is not affine
func.func @not_affine(%x: tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> {
  %w = cnn.constant dense<1.0> : tensor<1x1x1x1xf32> -> tensor<1x1x1x1xf32>
  %one = cnn.constant dense<1.0> : tensor<1xf32> -> tensor<1xf32>
  %c = cnn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32> {
  ^bb0(%acc: f32):
    %v0 = math.exp %acc : f32
    cnn.yield %v0 : f32
  }
  %y = cnn.batch_norm %c, %one, %one, %one, %one {epsilon = 0.0 : f64} : (tensor<1x1x4x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32> loc("bn_after_relu")
  return %y : tensor<1x1x4x4xf32>
}

// Parameters that are computed: the map computes with them. No convolution before it.
// CHECK-LABEL: func.func @computed
// CHECK: cnn.reshape %{{.+}} : (tensor<2xf32>) -> tensor<1x2x1xf32>
// CHECK: cnn.map(
// CHECK: math.sqrt
// CHECK: arith.divf
// REMARK: loc("bn_computed"): [Missed] {{.*}}its input is not made by conv, conv_transpose or matmul
func.func @computed(%x: tensor<1x2x4xf32>, %p: tensor<2xf32>) -> tensor<1x2x4xf32> {
  %y = cnn.batch_norm %x, %p, %p, %p, %p {epsilon = 0.0 : f64} : (tensor<1x2x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4xf32> loc("bn_computed")
  return %y : tensor<1x2x4xf32>
}

// A factor that differs along another dimension, or that broadcasts, is left alone.
// CHECK-LABEL: func.func @not_per_channel
// CHECK: cnn.conv
// CHECK: cnn.map
func.func @not_per_channel(%x: tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32> {
  %w = cnn.constant dense<1.0> : tensor<1x1x1x1xf32> -> tensor<1x1x1x1xf32>
  %s = cnn.constant dense<[2.0, 3.0]> : tensor<2xf32> -> tensor<2xf32>
  %c = cnn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x1x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x1x2xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  %y = cnn.map(%c, %s) : (tensor<1x1x1x2xf32>, tensor<2xf32>) -> tensor<1x1x1x2xf32> {
  ^bb0(%e: f32, %f: f32):
    %v0 = arith.mulf %e, %f : f32
    cnn.yield %v0 : f32
  }
  return %y : tensor<1x1x1x2xf32>
}

// A division by a variance of zero gives no finite weights.
// CHECK-LABEL: func.func @not_finite
// CHECK: cnn.map(
// CHECK: arith.divf
// REMARK: loc("bn_not_finite"): [Missed] {{.*}}its factors are not finite
func.func @not_finite(%x: tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> {
  %w = cnn.constant dense<1.0> : tensor<1x1x1x1xf32> -> tensor<1x1x1x1xf32>
  %zero = cnn.constant dense<0.0> : tensor<1xf32> -> tensor<1xf32>
  %one = cnn.constant dense<1.0> : tensor<1xf32> -> tensor<1xf32>
  %c = cnn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  %y = cnn.batch_norm %c, %one, %one, %one, %zero {epsilon = 0.0 : f64} : (tensor<1x1x4x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32> loc("bn_not_finite")
  return %y : tensor<1x1x4x4xf32>
}
