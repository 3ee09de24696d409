// RUN: convoy-opt %s --convoy-simplify | FileCheck %s
// RUN: convoy-opt %s --convoy-simplify --remarks-filter=.* 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// CHECK-LABEL: func.func @transposes
// CHECK-SAME: %[[X:.+]]: tensor<1x2x3x4xf32>
// CHECK-NEXT: return %[[X]]
func.func @transposes(%x: tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32> {
  %0 = cnn.transpose %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x2x3x4xf32>) -> tensor<1x3x4x2xf32>
  %1 = cnn.transpose %0 {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x3x4x2xf32>) -> tensor<1x2x3x4xf32>
  return %1 : tensor<1x2x3x4xf32>
}

// CHECK-LABEL: func.func @transpose_of_ones
// CHECK-NEXT: cnn.reshape %{{.*}} : (tensor<?x1x3x4xf32>) -> tensor<?x3x4x1xf32>
// CHECK-NEXT: return
func.func @transpose_of_ones(%x: tensor<?x1x3x4xf32>) -> tensor<?x3x4x1xf32> {
  %0 = cnn.transpose %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<?x1x3x4xf32>) -> tensor<?x3x4x1xf32>
  return %0 : tensor<?x3x4x1xf32>
}

// CHECK-LABEL: func.func @pad_into_conv
// CHECK-NEXT: cnn.conv %{{.*}} pads = array<i64: 1, 2, 3, 4>
// REMARK: loc("pad_of_conv"): [Passed] Simplify | Category:fold | Remark="padding joins the convolution"
func.func @pad_into_conv(%x: tensor<1x1x8x8xf32>, %w: tensor<1x1x3x3xf32>) -> tensor<1x1x10x12xf32> {
  %0 = cnn.pad <constant> %x {low = array<i64: 0, 0, 0, 1>, high = array<i64: 0, 0, 2, 3>} : (tensor<1x1x8x8xf32>) -> tensor<1x1x10x12xf32> loc("pad_of_conv")
  %1 = cnn.conv %0, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x10x12xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x10x12xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return %1 : tensor<1x1x10x12xf32>
}

// Padding that is not zero, crops, or adds channels stays.
// CHECK-LABEL: func.func @pad_stays
// CHECK: cnn.pad
// CHECK: cnn.conv
// CHECK: cnn.pad
// CHECK: cnn.conv
func.func @pad_stays(%x: tensor<1x1x8x8xf32>, %w: tensor<1x1x1x1xf32>, %v: tensor<1x2x1x1xf32>) -> (tensor<1x1x9x8xf32>, tensor<1x1x8x8xf32>) {
  %one = cnn.constant dense<1.0> : tensor<f32> -> tensor<f32>
  %0 = cnn.pad <constant> %x, %one {low = array<i64: 0, 0, 1, 0>, high = array<i64: 0, 0, 0, 0>} : (tensor<1x1x8x8xf32>, tensor<f32>) -> tensor<1x1x9x8xf32>
  %1 = cnn.conv %0, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x9x8xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x9x8xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  %2 = cnn.pad <constant> %x {low = array<i64: 0, 1, 0, 0>, high = array<i64: 0, 0, 0, 0>} : (tensor<1x1x8x8xf32>) -> tensor<1x2x8x8xf32>
  %3 = cnn.conv %2, %v {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x2x8x8xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x8x8xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return %1, %3 : tensor<1x1x9x8xf32>, tensor<1x1x8x8xf32>
}

// An average over zeros that were added counts them.
// CHECK-LABEL: func.func @pad_into_average
// CHECK-NEXT: cnn.pool <average> %{{.*}}count_include_pad{{.*}} pads = array<i64: 1, 1, 1, 1>
func.func @pad_into_average(%x: tensor<1x1x8x8xf32>) -> tensor<1x1x5x5xf32> {
  %0 = cnn.pad <constant> %x {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>} : (tensor<1x1x8x8xf32>) -> tensor<1x1x10x10xf32>
  %1 = cnn.pool <average> %0 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x1x10x10xf32>) -> tensor<1x1x5x5xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return %1 : tensor<1x1x5x5xf32>
}

// A pool that leaves its own padding out cannot count that of the pad; zeros may be a maximum.
// CHECK-LABEL: func.func @pad_before_pool_stays
// CHECK: cnn.pad
// CHECK: cnn.pool <average>
// CHECK: cnn.pool <max>
func.func @pad_before_pool_stays(%x: tensor<1x1x8x8xf32>) -> (tensor<1x1x6x6xf32>, tensor<1x1x5x5xf32>) {
  %0 = cnn.pad <constant> %x {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>} : (tensor<1x1x8x8xf32>) -> tensor<1x1x10x10xf32>
  %1 = cnn.pool <average> %0 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x1x10x10xf32>) -> tensor<1x1x6x6xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  %2 = cnn.pool <max> %0 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x1x10x10xf32>) -> tensor<1x1x5x5xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return %1, %2 : tensor<1x1x6x6xf32>, tensor<1x1x5x5xf32>
}

// CHECK-LABEL: func.func @broadcast_into_map
// CHECK-NEXT: cnn.map(%{{.*}}, %{{.*}}) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
func.func @broadcast_into_map(%x: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = cnn.broadcast %b : (tensor<3xf32>) -> tensor<2x3xf32>
  %1 = cnn.map(%x, %0) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32> {
  ^bb0(%e: f32, %f: f32):
    %v0 = arith.addf %e, %f : f32
    cnn.yield %v0 : f32
  }
  return %1 : tensor<2x3xf32>
}

// Here the broadcast gives the result its shape.
// CHECK-LABEL: func.func @broadcast_stays
// CHECK-NEXT: cnn.broadcast
func.func @broadcast_stays(%b: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = cnn.broadcast %b : (tensor<3xf32>) -> tensor<2x3xf32>
  %1 = cnn.map(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32> {
  ^bb0(%e: f32):
    %zero = arith.constant 0.0 : f32
    %v0 = arith.maximumf %e, %zero : f32
    cnn.yield %v0 : f32
  }
  return %1 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @identity_map
// CHECK-NEXT: return
func.func @identity_map(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = cnn.map(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32> {
  ^bb0(%e: f32):
    cnn.yield %e : f32
  }
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @keep_dims
// CHECK-NEXT: %[[R:.+]] = cnn.reduce <mean> %{{.*}} keep_dims{{.*}} -> tensor<?x2x1x1xf32>
// CHECK: cnn.reshape %[[R]] : (tensor<?x2x1x1xf32>) -> tensor<?x2xf32>
func.func @keep_dims(%x: tensor<?x2x4x4xf32>) -> tensor<?x2xf32> {
  %0 = cnn.reduce <mean> %x {axes = array<i64: 2, 3>} : (tensor<?x2x4x4xf32>) -> tensor<?x2xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return %0 : tensor<?x2xf32>
}

// The prelu of a network that was converted from channels-last: its transposes meet and its slope
// is transposed at compile time.
// CHECK-LABEL: func.func @transpose_through_map
// CHECK-SAME: %[[X:.+]]: tensor<1x2x3x4xf32>
// CHECK: %[[S:.+]] = cnn.constant dense<{{\[\[\[\[}}1.000000e+00]], {{\[\[}}2.000000e+00]]]]> : tensor<1x2x1x1xf32>
// CHECK: %[[Y:.+]] = cnn.map(%[[X]], %[[S]]) : (tensor<1x2x3x4xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x3x4xf32>
// CHECK: return %[[Y]]
func.func @transpose_through_map(%x: tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32> {
  %s = cnn.constant dense<[1.0, 2.0]> : tensor<2xf32> -> tensor<2xf32>
  %0 = cnn.transpose %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x2x3x4xf32>) -> tensor<1x3x4x2xf32>
  %1 = cnn.map(%0, %s) : (tensor<1x3x4x2xf32>, tensor<2xf32>) -> tensor<1x3x4x2xf32> {
  ^bb0(%e: f32, %f: f32):
    %v0 = arith.mulf %e, %f : f32
    cnn.yield %v0 : f32
  }
  %2 = cnn.transpose %1 {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x3x4x2xf32>) -> tensor<1x2x3x4xf32>
  return %2 : tensor<1x2x3x4xf32>
}

// Padding of channels, a concat along them and a mean over space in channels-last.
// CHECK-LABEL: func.func @transpose_through_others
// CHECK-SAME: %[[X:.+]]: tensor<?x2x3x4xf32>
// CHECK: %[[P:.+]] = cnn.pad <constant> %[[X]] {high = array<i64: 0, 2, 0, 1>, low = array<i64: 0, 1, 0, 0>} : (tensor<?x2x3x4xf32>) -> tensor<?x5x3x5xf32>
// CHECK: %[[C:.+]] = cnn.concat(%[[P]], %[[P]]) {axis = 1 : i64} : (tensor<?x5x3x5xf32>, tensor<?x5x3x5xf32>) -> tensor<?x10x3x5xf32>
// CHECK: %[[R:.+]] = cnn.reduce <mean> %[[C]] {axes = array<i64: 2, 3>, keep_dims} : (tensor<?x10x3x5xf32>) -> tensor<?x10x1x1xf32>
// CHECK-NOT: cnn.transpose
// CHECK: cnn.reshape %[[R]] : (tensor<?x10x1x1xf32>) -> tensor<?x1x1x10xf32>
func.func @transpose_through_others(%x: tensor<?x2x3x4xf32>) -> tensor<?x1x1x10xf32> {
  %0 = cnn.transpose %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<?x2x3x4xf32>) -> tensor<?x3x4x2xf32>
  %1 = cnn.pad <constant> %0 {low = array<i64: 0, 0, 0, 1>, high = array<i64: 0, 0, 1, 2>} : (tensor<?x3x4x2xf32>) -> tensor<?x3x5x5xf32>
  %2 = cnn.concat(%1, %1) {axis = 3 : i64} : (tensor<?x3x5x5xf32>, tensor<?x3x5x5xf32>) -> tensor<?x3x5x10xf32>
  %3 = cnn.reduce <mean> %2 {axes = array<i64: 1, 2>, keep_dims} : (tensor<?x3x5x10xf32>) -> tensor<?x1x1x10xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return %3 : tensor<?x1x1x10xf32>
}

// Inputs that are transposed in different ways, or not at all, stay as they are; so does a
// transpose that someone else needs.
// CHECK-LABEL: func.func @transpose_stays
// CHECK: cnn.transpose
// CHECK: cnn.map
// CHECK: cnn.transpose
// CHECK: cnn.map
// CHECK: cnn.map
func.func @transpose_stays(%x: tensor<3x3x3xf32>, %y: tensor<3x3x3xf32>) -> (tensor<3x3x3xf32>, tensor<3x3x3xf32>, tensor<3x3x3xf32>, tensor<3x3x3xf32>) {
  %0 = cnn.transpose %x {perm = array<i64: 2, 1, 0>} : (tensor<3x3x3xf32>) -> tensor<3x3x3xf32>
  %1 = cnn.map(%0, %y) : (tensor<3x3x3xf32>, tensor<3x3x3xf32>) -> tensor<3x3x3xf32> {
  ^bb0(%e: f32, %f: f32):
    %v0 = arith.addf %e, %f : f32
    cnn.yield %v0 : f32
  }
  %2 = cnn.transpose %y {perm = array<i64: 0, 2, 1>} : (tensor<3x3x3xf32>) -> tensor<3x3x3xf32>
  %3 = cnn.map(%0, %2) : (tensor<3x3x3xf32>, tensor<3x3x3xf32>) -> tensor<3x3x3xf32> {
  ^bb0(%e: f32, %f: f32):
    %v0 = arith.addf %e, %f : f32
    cnn.yield %v0 : f32
  }
  %4 = cnn.map(%0) : (tensor<3x3x3xf32>) -> tensor<3x3x3xf32> {
  ^bb0(%e: f32):
    %zero = arith.constant 0.0 : f32
    %v0 = arith.maximumf %e, %zero : f32
    cnn.yield %v0 : f32
  }
  return %1, %3, %4, %0 : tensor<3x3x3xf32>, tensor<3x3x3xf32>, tensor<3x3x3xf32>, tensor<3x3x3xf32>
}

// CHECK-LABEL: func.func @slice_of_slice
// CHECK-NEXT: cnn.slice %{{.*}} {starts = array<i64: 7>, steps = array<i64: -6>} : (tensor<10xf32>) -> tensor<2xf32>
func.func @slice_of_slice(%x: tensor<10xf32>) -> tensor<2xf32> {
  %0 = cnn.slice %x {starts = array<i64: 1>, steps = array<i64: 3>} : (tensor<10xf32>) -> tensor<3xf32>
  %1 = cnn.slice %0 {starts = array<i64: 2>, steps = array<i64: -2>} : (tensor<3xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// Pieces in YOLO's order (0, 0), (1, 0), (0, 1), (1, 1) with weights 1, 2, 3, 4: a 2x2 kernel.
// CHECK-LABEL: func.func @focus
// CHECK-SAME: %[[X:.+]]: tensor<?x1x8x8xf32>
// CHECK: %[[W:.+]] = cnn.constant dense<{{\[\[\[\[}}1.000000e+00, 3.000000e+00], [2.000000e+00, 4.000000e+00]]]]> : tensor<1x1x2x2xf32>
// CHECK: cnn.conv %[[X]], %[[W]] {{.*}} pads = array<i64: 2, 0, 0, 2>, strides = array<i64: 2, 2>} : (tensor<?x1x8x8xf32>, tensor<1x1x2x2xf32>) -> tensor<?x1x5x5xf32>
// REMARK: loc("focus"): [Passed] Simplify | Category:fold | Remark="space-to-depth joins the convolution"
func.func @focus(%x: tensor<?x1x8x8xf32>) -> tensor<?x1x5x5xf32> {
  %w = cnn.constant dense<[[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]]> : tensor<1x4x1x1xf32> -> tensor<1x4x1x1xf32>
  %rows = cnn.slice %x {starts = array<i64: 0, 0, 0, 0>, steps = array<i64: 1, 1, 2, 1>} : (tensor<?x1x8x8xf32>) -> tensor<?x1x4x8xf32>
  %a = cnn.slice %rows {starts = array<i64: 0, 0, 0, 0>, steps = array<i64: 1, 1, 1, 2>} : (tensor<?x1x4x8xf32>) -> tensor<?x1x4x4xf32>
  %b = cnn.slice %x {starts = array<i64: 0, 0, 1, 0>, steps = array<i64: 1, 1, 2, 2>} : (tensor<?x1x8x8xf32>) -> tensor<?x1x4x4xf32>
  %c = cnn.slice %rows {starts = array<i64: 0, 0, 0, 1>, steps = array<i64: 1, 1, 1, 2>} : (tensor<?x1x4x8xf32>) -> tensor<?x1x4x4xf32>
  %d = cnn.slice %x {starts = array<i64: 0, 0, 1, 1>, steps = array<i64: 1, 1, 2, 2>} : (tensor<?x1x8x8xf32>) -> tensor<?x1x4x4xf32>
  %y = cnn.concat(%a, %b, %c, %d) {axis = 1 : i64} : (tensor<?x1x4x4xf32>, tensor<?x1x4x4xf32>, tensor<?x1x4x4xf32>, tensor<?x1x4x4xf32>) -> tensor<?x4x4x4xf32>
  %z = cnn.conv %y, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 0, 0, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x4x4x4xf32>, tensor<1x4x1x1xf32>) -> tensor<?x1x5x5xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  } loc("focus")
  return %z : tensor<?x1x5x5xf32>
}

// One piece twice, another one never.
// CHECK-LABEL: func.func @no_focus
// CHECK: cnn.concat
func.func @no_focus(%x: tensor<1x1x4x2xf32>) -> tensor<1x1x2x1xf32> {
  %w = cnn.constant dense<[[[[1.0]], [[2.0]]]]> : tensor<1x2x1x1xf32> -> tensor<1x2x1x1xf32>
  %a = cnn.slice %x {starts = array<i64: 0, 0, 0, 0>, steps = array<i64: 1, 1, 2, 2>} : (tensor<1x1x4x2xf32>) -> tensor<1x1x2x1xf32>
  %y = cnn.concat(%a, %a) {axis = 1 : i64} : (tensor<1x1x2x1xf32>, tensor<1x1x2x1xf32>) -> tensor<1x2x2x1xf32>
  %z = cnn.conv %y, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x2x2x1xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x2x1xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return %z : tensor<1x1x2x1xf32>
}

// A dense block concatenates what it has again and again.
// CHECK-LABEL: func.func @concat_of_concat
// CHECK: %[[AB:.+]] = cnn.concat(%[[A:.+]], %[[B:.+]])
// CHECK: %[[C:.+]] = cnn.softmax %[[AB]]
// CHECK: cnn.concat(%[[AB]], %[[C]]) {axis = 0 : i64} : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
func.func @concat_of_concat(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<16xf32> {
  %0 = cnn.concat(%a, %b) {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %1 = cnn.softmax %0 {axis = 0 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  %2 = cnn.concat(%a, %b, %1) {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf32>, tensor<8xf32>) -> tensor<16xf32>
  return %2 : tensor<16xf32>
}

// Equal ops are one; dead ops and constants are none. Constants stay inside their region.
// CHECK-LABEL: func.func @common_and_dead
// CHECK-NEXT: %[[Y:.+]] = cnn.map
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.constant
// CHECK-NEXT: arith.maximumf
// CHECK-NEXT: cnn.yield
// CHECK-NEXT: }
// CHECK-NEXT: return %[[Y]], %[[Y]]
func.func @common_and_dead(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %c = cnn.constant dense<1.0> : tensor<2xf32> -> tensor<2xf32>
  %0 = cnn.map(%x) : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%e: f32):
    %zero = arith.constant 0.0 : f32
    %v0 = arith.maximumf %e, %zero : f32
    cnn.yield %v0 : f32
  }
  %1 = cnn.map(%x) : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%e: f32):
    %zero = arith.constant 0.0 : f32
    %v0 = arith.maximumf %e, %zero : f32
    cnn.yield %v0 : f32
  }
  %2 = cnn.map(%c) : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%e: f32):
    %zero = arith.constant 0.0 : f32
    %v0 = arith.maximumf %e, %zero : f32
    cnn.yield %v0 : f32
  }
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}
