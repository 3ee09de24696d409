// What does nothing goes away, and what only looks like nothing stays.
// RUN: convoy-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @reshape
func.func @reshape(%x: tensor<?x3x8xf32>) -> (tensor<?x3x8xf32>, tensor<?x24xf32>) {
  // CHECK-SAME: %[[X:.*]]: tensor<?x3x8xf32>
  %0 = cnn.reshape %x : (tensor<?x3x8xf32>) -> tensor<?x3x8xf32>
  // Two reshapes are one.
  // CHECK-NEXT: %[[Y:.*]] = cnn.reshape %[[X]] : (tensor<?x3x8xf32>) -> tensor<?x24xf32>
  %1 = cnn.reshape %x : (tensor<?x3x8xf32>) -> tensor<?x8x3xf32>
  %2 = cnn.reshape %1 : (tensor<?x8x3xf32>) -> tensor<?x24xf32>
  // CHECK-NEXT: return %[[X]], %[[Y]]
  return %0, %2 : tensor<?x3x8xf32>, tensor<?x24xf32>
}

// There and back again is nothing.
// CHECK-LABEL: func.func @reshape_back
func.func @reshape_back(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
  %0 = cnn.reshape %x : (tensor<2x3xf32>) -> tensor<6xf32>
  %1 = cnn.reshape %0 : (tensor<6xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: return %[[X]]
  return %1 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @transpose
func.func @transpose(%x: tensor<2x3x3xf32>) -> (tensor<2x3x3xf32>, tensor<2x3x3xf32>) {
  // CHECK-SAME: %[[X:.*]]: tensor<2x3x3xf32>
  %0 = cnn.transpose %x {perm = array<i64: 0, 1, 2>} : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  // The same type, but another order.
  // CHECK-NEXT: %[[Y:.*]] = cnn.transpose %[[X]] {perm = array<i64: 0, 2, 1>}
  %1 = cnn.transpose %x {perm = array<i64: 0, 2, 1>} : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  // CHECK-NEXT: return %[[X]], %[[Y]]
  return %0, %1 : tensor<2x3x3xf32>, tensor<2x3x3xf32>
}

// Another layout is another place in memory.
// CHECK-LABEL: func.func @transpose_layout
func.func @transpose_layout(%x: tensor<2x3x4x4xf32>)
    -> tensor<2x3x4x4xf32, #cnn.layout<"nhwc">> {
  // CHECK: cnn.transpose
  %0 = cnn.transpose %x {perm = array<i64: 0, 1, 2, 3>}
      : (tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32, #cnn.layout<"nhwc">>
  return %0 : tensor<2x3x4x4xf32, #cnn.layout<"nhwc">>
}

// CHECK-LABEL: func.func @broadcast
func.func @broadcast(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<4x2x3xf32>) {
  // CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
  %0 = cnn.broadcast %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %[[Y:.*]] = cnn.broadcast
  %1 = cnn.broadcast %x : (tensor<2x3xf32>) -> tensor<4x2x3xf32>
  // CHECK-NEXT: return %[[X]], %[[Y]]
  return %0, %1 : tensor<2x3xf32>, tensor<4x2x3xf32>
}

// CHECK-LABEL: func.func @slice
func.func @slice(%x: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  // CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>
  %0 = cnn.slice %x {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>}
      : (tensor<?x8xf32>) -> tensor<?x8xf32>
  // Backwards.
  // CHECK-NEXT: %[[Y:.*]] = cnn.slice
  %1 = cnn.slice %x {starts = array<i64: 0, 7>, steps = array<i64: 1, -1>}
      : (tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: return %[[X]], %[[Y]]
  return %0, %1 : tensor<?x8xf32>, tensor<?x8xf32>
}

// CHECK-LABEL: func.func @concat
func.func @concat(%x: tensor<2x0xf32>) -> (tensor<2x0xf32>, tensor<2x0xf32>) {
  // CHECK-SAME: %[[X:.*]]: tensor<2x0xf32>
  %0 = cnn.concat(%x) {axis = 1 : i64} : (tensor<2x0xf32>) -> tensor<2x0xf32>
  // CHECK-NEXT: %[[Y:.*]] = cnn.concat
  %1 = cnn.concat(%x, %x) {axis = 1 : i64} : (tensor<2x0xf32>, tensor<2x0xf32>) -> tensor<2x0xf32>
  // CHECK-NEXT: return %[[X]], %[[Y]]
  return %0, %1 : tensor<2x0xf32>, tensor<2x0xf32>
}

// CHECK-LABEL: func.func @pad
func.func @pad(%x: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  // CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>
  %0 = cnn.pad <edge> %x {low = array<i64: 0, 0>, high = array<i64: 0, 0>}
      : (tensor<?x8xf32>) -> tensor<?x8xf32>
  // A shift has the same type.
  // CHECK-NEXT: %[[Y:.*]] = cnn.pad
  %1 = cnn.pad <edge> %x {low = array<i64: 0, 1>, high = array<i64: 0, -1>}
      : (tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: return %[[X]], %[[Y]]
  return %0, %1 : tensor<?x8xf32>, tensor<?x8xf32>
}

// CHECK-LABEL: func.func @relayout
func.func @relayout(%x: tensor<2x3x4x4xf32>)
    -> (tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32, #cnn.layout<"nhwc">>) {
  // CHECK-SAME: %[[X:.*]]: tensor<2x3x4x4xf32>
  // There and back, and one on the way to another.
  %0 = cnn.relayout %x : (tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32, #cnn.layout<"nchw16c">>
  %1 = cnn.relayout %0 : (tensor<2x3x4x4xf32, #cnn.layout<"nchw16c">>) -> tensor<2x3x4x4xf32>
  // CHECK-NEXT: %[[Y:.*]] = cnn.relayout %[[X]] : (tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32, #cnn.layout<"nhwc">>
  %2 = cnn.relayout %0 : (tensor<2x3x4x4xf32, #cnn.layout<"nchw16c">>)
      -> tensor<2x3x4x4xf32, #cnn.layout<"nhwc">>
  // CHECK-NEXT: return %[[X]], %[[Y]]
  return %1, %2 : tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32, #cnn.layout<"nhwc">>
}

// Ops without a use go.
// CHECK-LABEL: func.func @unused
func.func @unused(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: return
  %0 = cnn.constant dense<1.0> : tensor<2x3xf32> -> tensor<2x3xf32>
  %1 = cnn.softmax %x {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %x : tensor<2x3xf32>
}
