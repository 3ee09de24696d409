// RUN: convoy-opt %s | convoy-opt | FileCheck %s

// CHECK-LABEL: func.func @conv
// CHECK: cnn.conv %{{.*}}, %{{.*}} extras(%{{.*}})
// CHECK: arith.addf
func.func @conv(%x: tensor<?x3x8x8xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<1x4x1x1xf32>)
    -> tensor<?x4x8x8xf32, #cnn.layout<"nchw16c">> {
  %y = cnn.conv %x, %w extras(%b) {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>,
                                   dilations = array<i64: 1, 1>, groups = 1 : i64}
      : (tensor<?x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<1x4x1x1xf32>)
      -> tensor<?x4x8x8xf32, #cnn.layout<"nchw16c">> {
  ^bb0(%acc: f32, %bias: f32):
    %0 = arith.addf %acc, %bias : f32
    cnn.yield %0 : f32
  }
  return %y : tensor<?x4x8x8xf32, #cnn.layout<"nchw16c">>
}

// CHECK-LABEL: func.func @map
func.func @map(%x: tensor<2x3xf32>, %u: tensor<3xui8>) -> tensor<2x3xf32> {
  // CHECK: cnn.map(%{{.*}}, %{{.*}}) : (tensor<2x3xf32>, tensor<3xui8>) -> tensor<2x3xf32>
  %y = cnn.map(%x, %u) : (tensor<2x3xf32>, tensor<3xui8>) -> tensor<2x3xf32> {
  ^bb0(%e: f32, %i: i8):
    %f = arith.uitofp %i : i8 to f32
    %0 = arith.addf %e, %f : f32
    cnn.yield %0 : f32
  }
  return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @constant
func.func @constant() -> tensor<2x3xf32> {
  // CHECK: cnn.constant dense<1.000000e+00> : tensor<2x3xf32> -> tensor<2x3xf32>
  %c = cnn.constant dense<1.0> : tensor<2x3xf32> -> tensor<2x3xf32>
  return %c : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @pool
func.func @pool(%x: tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32> {
  // CHECK: cnn.pool <max> %
  %y = cnn.pool <max> %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>,
                          pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return %y : tensor<1x3x4x4xf32>
}

// CHECK-LABEL: func.func @lrn
func.func @lrn(%x: tensor<?x8x4x4xf32>) -> tensor<?x8x4x4xf32> {
  // CHECK: cnn.lrn %{{.*}} {alpha = 1.000000e-04 : f64, beta = 7.500000e-01 : f64, bias = 1.000000e+00 : f64, size = 5 : i64}
  %y = cnn.lrn %x {size = 5 : i64, alpha = 1.0e-4 : f64, beta = 0.75 : f64, bias = 1.0 : f64}
      : (tensor<?x8x4x4xf32>) -> tensor<?x8x4x4xf32>
  return %y : tensor<?x8x4x4xf32>
}
