// RUN: convoy-opt %s --convoy-cancel-relayouts | FileCheck %s
// RUN: convoy-opt %s --convoy-cancel-relayouts --remarks-filter=.* 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// CHECK-LABEL: func.func @there_and_back
// CHECK-SAME: %[[X:.+]]: tensor<1x32x8x8xf32>
// CHECK-NEXT: return %[[X]]
func.func @there_and_back(%x: tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32> {
  %0 = cnn.relayout %x : (tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">>
  %1 = cnn.relayout %0 : (tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">>) -> tensor<1x32x8x8xf32>
  return %1 : tensor<1x32x8x8xf32>
}

// CHECK-LABEL: func.func @two_steps
// CHECK-NEXT: cnn.relayout %{{.*}} : (tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">>) -> tensor<1x32x8x8xf32, #cnn.layout<"nhwc">>
// CHECK-NEXT: return
func.func @two_steps(%x: tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">>) -> tensor<1x32x8x8xf32, #cnn.layout<"nhwc">> {
  %0 = cnn.relayout %x : (tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">>) -> tensor<1x32x8x8xf32>
  %1 = cnn.relayout %0 : (tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32, #cnn.layout<"nhwc">>
  return %1 : tensor<1x32x8x8xf32, #cnn.layout<"nhwc">>
}

// CHECK-LABEL: func.func @shared
// CHECK-NEXT: %[[R:.+]] = cnn.relayout
// CHECK-NEXT: return %[[R]], %[[R]]
// REMARK-DAG: loc("again"): [Passed] CancelRelayouts | Category:layout | Remark="relayout shared"
func.func @shared(%x: tensor<1x32x8x8xf32>) -> (tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">>, tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">>) {
  %0 = cnn.relayout %x : (tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">>
  %1 = cnn.relayout %x : (tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">> loc("again")
  return %0, %1 : tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">>, tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">>
}

// Two channels in a block of 16: what is beyond them is zero.
// CHECK-LABEL: func.func @constant
// CHECK-NEXT: cnn.constant dense<{{\[\[\[\[\[}}1.000000e+00, 2.000000e+00, 0.000000e+00, {{.*}}> : tensor<1x1x1x1x16xf32> -> tensor<1x2x1x1xf32, #cnn.layout<"nchw16c">>
// CHECK-NEXT: return
func.func @constant() -> tensor<1x2x1x1xf32, #cnn.layout<"nchw16c">> {
  %0 = cnn.constant dense<[[[[1.0]], [[2.0]]]]> : tensor<1x2x1x1xf32> -> tensor<1x2x1x1xf32>
  %1 = cnn.relayout %0 : (tensor<1x2x1x1xf32>) -> tensor<1x2x1x1xf32, #cnn.layout<"nchw16c">>
  return %1 : tensor<1x2x1x1xf32, #cnn.layout<"nchw16c">>
}

// From blocks to row-major.
// CHECK-LABEL: func.func @constant_back
// CHECK-NEXT: cnn.constant dense<{{\[\[\[\[}}1.000000e+00, 3.000000e+00]], {{\[\[}}2.000000e+00, 4.000000e+00]]]]> : tensor<1x2x1x2xf32>
func.func @constant_back() -> tensor<1x2x1x2xf32> {
  %0 = cnn.constant dense<[[[[[1.0, 2.0], [3.0, 4.0]]]]]> : tensor<1x1x1x2x2xf32> -> tensor<1x2x1x2xf32, #cnn.layout<"nchw2c">>
  %1 = cnn.relayout %0 : (tensor<1x2x1x2xf32, #cnn.layout<"nchw2c">>) -> tensor<1x2x1x2xf32>
  return %1 : tensor<1x2x1x2xf32>
}

// CHECK-LABEL: func.func @map_between
// CHECK-SAME: %[[X:.+]]: tensor<1x32x8x8xf32>
// CHECK-NEXT: %[[Y:.+]] = cnn.map(%[[X]]) : (tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32>
// CHECK: return %[[Y]]
// REMARK-DAG: loc("map_between"): [Passed] CancelRelayouts | Category:layout | Remark="relayouts around a map cancelled"
func.func @map_between(%x: tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32> {
  %0 = cnn.relayout %x : (tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">>
  %1 = cnn.map(%0) : (tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">>) -> tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">> {
  ^bb0(%e: f32):
    %zero = arith.constant 0.0 : f32
    %v0 = arith.maximumf %e, %zero : f32
    cnn.yield %v0 : f32
  } loc("map_between")
  %2 = cnn.relayout %1 : (tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">>) -> tensor<1x32x8x8xf32>
  return %2 : tensor<1x32x8x8xf32>
}

// Another input would need a relayout of its own, or a user wants blocks.
// CHECK-LABEL: func.func @map_stays
// CHECK: cnn.relayout
// CHECK: cnn.map
// CHECK: cnn.relayout
// CHECK: cnn.map
// CHECK: cnn.relayout
func.func @map_stays(%x: tensor<1x32x8x8xf32>, %b: tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">>) -> (tensor<1x32x8x8xf32>, tensor<1x32x8x8xf32>, tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">>) {
  %0 = cnn.relayout %x : (tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">>
  %1 = cnn.map(%0, %b) : (tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">>, tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">>) -> tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">> {
  ^bb0(%e: f32, %f: f32):
    %v0 = arith.addf %e, %f : f32
    cnn.yield %v0 : f32
  }
  %2 = cnn.relayout %1 : (tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">>) -> tensor<1x32x8x8xf32>
  %4 = cnn.relayout %x : (tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">>
  %5 = cnn.map(%4) : (tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">>) -> tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">> {
  ^bb0(%e: f32):
    %zero = arith.constant 0.0 : f32
    %v0 = arith.maximumf %e, %zero : f32
    cnn.yield %v0 : f32
  }
  %6 = cnn.relayout %5 : (tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">>) -> tensor<1x32x8x8xf32>
  return %2, %6, %5 : tensor<1x32x8x8xf32>, tensor<1x32x8x8xf32>, tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">>
}

// A constant before an input that stays as it is.
// CHECK-LABEL: func.func @map_of_constant_and_blocked
// CHECK: cnn.map({{.*}}) : (tensor<1x32x1x1xf32, #cnn.layout<"nchw16c">>, tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">>)
// CHECK: cnn.relayout
// CHECK-NEXT: return
func.func @map_of_constant_and_blocked(%x: tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">>) -> tensor<1x32x8x8xf32> {
  %c = cnn.constant dense<1.0> : tensor<1x2x1x1x16xf32> -> tensor<1x32x1x1xf32, #cnn.layout<"nchw16c">>
  %0 = cnn.map(%c, %x) : (tensor<1x32x1x1xf32, #cnn.layout<"nchw16c">>, tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">>) -> tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">> {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.subf %a, %b : f32
    cnn.yield %1 : f32
  }
  %2 = cnn.relayout %0 : (tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">>) -> tensor<1x32x8x8xf32>
  return %2 : tensor<1x32x8x8xf32>
}
