// RUN: convoy-opt %s -convoy-simplify -split-input-file | FileCheck %s
// RUN: convoy-opt %s -convoy-simplify=max-bytes=16 -split-input-file | FileCheck %s --check-prefix=SMALL

// CHECK-LABEL: func.func @arithmetic
// CHECK-NEXT: %[[C:.*]] = cnn.constant dense<[2, 3, 8]> : tensor<3xi64>
// CHECK-NEXT: return %[[C]]
func.func @arithmetic() -> tensor<3xi64> {
  %shape = cnn.constant dense<[2, 3, 4, 2]> : tensor<4xi64> -> tensor<4xi64>
  %head = cnn.slice %shape {starts = array<i64: 0>, steps = array<i64: 1>}
      : (tensor<4xi64>) -> tensor<2xi64>
  %tail = cnn.slice %shape {starts = array<i64: 2>, steps = array<i64: 1>}
      : (tensor<4xi64>) -> tensor<2xi64>
  %product = cnn.reduce <prod> %tail {axes = array<i64: 0>, keep_dims}
      : (tensor<2xi64>) -> tensor<1xi64> {
  ^bb0(%acc: i64):
    cnn.yield %acc : i64
  }
  %new = cnn.concat(%head, %product) {axis = 0 : i64}
      : (tensor<2xi64>, tensor<1xi64>) -> tensor<3xi64>
  return %new : tensor<3xi64>
}

// -----

// What depends on an input stays; what nobody uses goes.
// CHECK-LABEL: func.func @partly
// CHECK-NEXT: %[[C:.*]] = cnn.constant dense<3.000000e+00> : tensor<2xf32>
// CHECK-NEXT: %[[R:.*]] = cnn.map(%{{.*}}, %[[C]])
// CHECK-NOT: cnn.softmax
// CHECK: return %[[R]]
func.func @partly(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %one = cnn.constant dense<1.0> : tensor<2xf32> -> tensor<2xf32>
  %two = cnn.constant dense<2.0> : tensor<f32> -> tensor<f32>
  %three = cnn.map(%one, %two) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    cnn.yield %s : f32
  }
  %same = cnn.reshape %x : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %dead = cnn.softmax %same {axis = 1 : i64} : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %y = cnn.map(%same, %three) : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.mulf %a, %b : f32
    cnn.yield %s : f32
  }
  return %y : tensor<?x2xf32>
}

// -----

// A result may not grow over the limit, but for one element repeated.
// CHECK-LABEL: func.func @growth
// CHECK-COUNT-2: cnn.constant
// CHECK-NEXT: return
// SMALL-LABEL: func.func @growth
// SMALL-DAG: %[[C:.*]] = cnn.constant dense<1.000000e+00> : tensor<4x2xf32>
// SMALL-DAG: %[[B:.*]] = cnn.broadcast
// SMALL-NEXT: return %[[B]], %[[C]]
func.func @growth() -> (tensor<4x2xf32>, tensor<4x2xf32>) {
  %pair = cnn.constant dense<[1.0, 2.0]> : tensor<2xf32> -> tensor<2xf32>
  %one = cnn.constant dense<1.0> : tensor<2xf32> -> tensor<2xf32>
  %0 = cnn.broadcast %pair : (tensor<2xf32>) -> tensor<4x2xf32>
  %1 = cnn.broadcast %one : (tensor<2xf32>) -> tensor<4x2xf32>
  return %0, %1 : tensor<4x2xf32>, tensor<4x2xf32>
}
