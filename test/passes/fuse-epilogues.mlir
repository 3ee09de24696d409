// RUN: convoy-opt %s --convoy-fuse-epilogues | FileCheck %s
// RUN: convoy-opt %s --convoy-fuse-epilogues --remarks-filter=.* 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// A residual and an activation; the later of the two producers takes them.
// CHECK-LABEL: func.func @residual
// CHECK: %[[A:.+]] = cnn.conv %{{.*}}, %{{.*}} {
// CHECK: %[[B:.+]] = cnn.conv %[[A]], %{{.*}} extras(%[[A]])
// CHECK-NEXT: ^bb0(%[[ACC:.+]]: f32, %[[E:.+]]: f32):
// CHECK: %[[SUM:.+]] = arith.addf %[[E]], %[[ACC]]
// CHECK: %[[MAX:.+]] = arith.maximumf %[[SUM]]
// CHECK: cnn.yield %[[MAX]]
// CHECK-NOT: cnn.map
// CHECK: return %[[B]]
// REMARK: [Passed] FuseEpilogues | Category:fusion | Remark="fused into cnn.map"
// REMARK: [Passed] FuseEpilogues | Category:fusion | Remark="fused into cnn.conv"
func.func @residual(%x: tensor<1x2x4x4xf32>, %w: tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32> {
  %a = cnn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  %b = cnn.conv %a, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  %s = cnn.map(%a, %b) : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  ^bb0(%e: f32, %f: f32):
    %v0 = arith.addf %e, %f : f32
    cnn.yield %v0 : f32
  }
  %y = cnn.map(%s) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  ^bb0(%e: f32):
    %zero = arith.constant 0.0 : f32
    %v0 = arith.maximumf %e, %zero : f32
    cnn.yield %v0 : f32
  }
  return %y : tensor<1x2x4x4xf32>
}

// x * exp(x): two maps use the convolution, one is left to join it.
// CHECK-LABEL: func.func @two_maps
// CHECK: cnn.conv
// CHECK: ^bb0(%[[ACC:.+]]: f32):
// CHECK: %[[EXP:.+]] = math.exp %[[ACC]]
// CHECK: %[[MUL:.+]] = arith.mulf %[[ACC]], %[[EXP]]
// CHECK: cnn.yield %[[MUL]]
// CHECK-NOT: cnn.map
func.func @two_maps(%x: tensor<1x2x4x4xf32>, %w: tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32> {
  %c = cnn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  %s = cnn.map(%c) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  ^bb0(%e: f32):
    %v0 = math.exp %e : f32
    cnn.yield %v0 : f32
  }
  %y = cnn.map(%c, %s) : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  ^bb0(%e: f32, %f: f32):
    %v0 = arith.mulf %e, %f : f32
    cnn.yield %v0 : f32
  }
  return %y : tensor<1x2x4x4xf32>
}

// Every op with a scalar region takes maps. A map may change the element type.
// CHECK-LABEL: func.func @producers
// CHECK: cnn.pool
// CHECK: arith.fptosi
// CHECK: cnn.matmul
// CHECK: arith.maximumf
// CHECK: cnn.reduce
// CHECK: arith.maximumf
// CHECK: cnn.conv_transpose
// CHECK: arith.maximumf
// CHECK-NOT: cnn.map
// CHECK: return
func.func @producers(%x: tensor<1x2x4x4xf32>, %m: tensor<4x4xf32>, %w: tensor<2x1x1x1xf32>)
    -> (tensor<1x2x2x2xi32>, tensor<4x4xf32>, tensor<1x2x1x1xf32>, tensor<1x1x4x4xf32>) {
  %p = cnn.pool <average> %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  %a = cnn.map(%p) : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xi32> {
  ^bb0(%e: f32):
    %v0 = arith.fptosi %e : f32 to i32
    cnn.yield %v0 : i32
  }
  %q = cnn.matmul %m, %m : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  %b = cnn.map(%q) : (tensor<4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%e: f32):
    %zero = arith.constant 0.0 : f32
    %v0 = arith.maximumf %e, %zero : f32
    cnn.yield %v0 : f32
  }
  %r = cnn.reduce <mean> %x {axes = array<i64: 2, 3>, keep_dims} : (tensor<1x2x4x4xf32>) -> tensor<1x2x1x1xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  %c = cnn.map(%r) : (tensor<1x2x1x1xf32>) -> tensor<1x2x1x1xf32> {
  ^bb0(%e: f32):
    %zero = arith.constant 0.0 : f32
    %v0 = arith.maximumf %e, %zero : f32
    cnn.yield %v0 : f32
  }
  %t = cnn.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x1x4x4xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  %d = cnn.map(%t) : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> {
  ^bb0(%e: f32):
    %zero = arith.constant 0.0 : f32
    %v0 = arith.maximumf %e, %zero : f32
    cnn.yield %v0 : f32
  }
  return %a, %b, %c, %d : tensor<1x2x2x2xi32>, tensor<4x4xf32>, tensor<1x2x1x1xf32>, tensor<1x1x4x4xf32>
}

// One constant number, whatever its shape, becomes a constant of the region; ui8 is i8 in there.
// CHECK-LABEL: func.func @numbers
// CHECK-NOT: cnn.constant
// CHECK: cnn.map(%{{.+}}) : (tensor<2xui8>) -> tensor<2xui8>
// CHECK: arith.constant -56 : i8
// CHECK: cnn.map(%{{.+}}) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK: arith.constant 5.000000e-01 : f32
func.func @numbers(%x: tensor<2xui8>, %z: tensor<2xf32>) -> (tensor<2xui8>, tensor<2xf32>) {
  %c = cnn.constant dense<200> : tensor<ui8> -> tensor<ui8>
  %h = cnn.constant dense<0.5> : tensor<2xf32> -> tensor<2xf32>
  %y = cnn.map(%x, %c) : (tensor<2xui8>, tensor<ui8>) -> tensor<2xui8> {
  ^bb0(%e: i8, %f: i8):
    %v0 = arith.minui %e, %f : i8
    cnn.yield %v0 : i8
  }
  %w = cnn.map(%h, %z) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%e: f32, %f: f32):
    %v0 = arith.subf %e, %f : f32
    cnn.yield %v0 : f32
  }
  return %y, %w : tensor<2xui8>, tensor<2xf32>
}

// A number that gives the result its shape stays an operand.
// CHECK-LABEL: func.func @shape_of_number
// CHECK: cnn.map(%{{.+}}, %{{.+}}) : (tensor<2xf32>, tensor<1x1xf32>) -> tensor<1x2xf32>
func.func @shape_of_number(%x: tensor<2xf32>) -> tensor<1x2xf32> {
  %c = cnn.constant dense<2.0> : tensor<1x1xf32> -> tensor<1x1xf32>
  %y = cnn.map(%x, %c) : (tensor<2xf32>, tensor<1x1xf32>) -> tensor<1x2xf32> {
  ^bb0(%e: f32, %f: f32):
    %v0 = arith.mulf %e, %f : f32
    cnn.yield %v0 : f32
  }
  return %y : tensor<1x2xf32>
}

// The convolution is an output as well.
// CHECK-LABEL: func.func @other_user
// CHECK: cnn.conv
// CHECK: cnn.map
// REMARK: loc("relu_other_user"): [Missed] {{.*}}not fused into cnn.conv: the producer's result has other users
func.func @other_user(%x: tensor<1x2x4x4xf32>, %w: tensor<2x2x1x1xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) {
  %c = cnn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  %y = cnn.map(%c) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  ^bb0(%e: f32):
    %zero = arith.constant 0.0 : f32
    %v0 = arith.maximumf %e, %zero : f32
    cnn.yield %v0 : f32
  } loc("relu_other_user")
  return %c, %y : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>
}

// The map repeats the reduction's result over space.
// CHECK-LABEL: func.func @broadcasts
// CHECK: cnn.reduce
// CHECK: cnn.map
// REMARK: loc("gate"): [Missed] {{.*}}not fused into cnn.reduce: it broadcasts the producer's result
func.func @broadcasts(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %r = cnn.reduce <mean> %x {axes = array<i64: 2, 3>, keep_dims} : (tensor<1x2x4x4xf32>) -> tensor<1x2x1x1xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  %y = cnn.map(%x, %r) : (tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x4x4xf32> {
  ^bb0(%e: f32, %f: f32):
    %v0 = arith.mulf %e, %f : f32
    cnn.yield %v0 : f32
  } loc("gate")
  return %y : tensor<1x2x4x4xf32>
}

// CHECK-LABEL: func.func @no_region
// CHECK: cnn.softmax
// CHECK: cnn.map
// REMARK: loc("after_softmax"): [Missed] {{.*}}not fused into cnn.softmax: its producer has no scalar region
func.func @no_region(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %s = cnn.softmax %x {axis = 1 : i64} : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %y = cnn.map(%s) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  ^bb0(%e: f32):
    %zero = arith.constant 0.0 : f32
    %v0 = arith.maximumf %e, %zero : f32
    cnn.yield %v0 : f32
  } loc("after_softmax")
  return %y : tensor<1x2x4x4xf32>
}
