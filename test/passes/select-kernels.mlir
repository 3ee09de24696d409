// RUN: convoy-opt %s --split-input-file --convoy-select-kernels | FileCheck %s
// RUN: convoy-opt %s --split-input-file --convoy-select-kernels --remarks-filter=.* 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// The cheapest strategy of the table. A reshape has none: both sides share a buffer.
// CHECK-LABEL: func.func @cheapest
// CHECK: cnn.conv {{.*}} strategy = "test-blocked-conv"
// CHECK: cnn.relayout {{.*}}strategy = "test-blocks"
// CHECK: cnn.reshape
// CHECK-NOT: strategy
// CHECK: cnn.softmax {{.*}} strategy = "test-loops"
// REMARK: loc("conv"): [Passed] SelectKernels | Category:kernel | Remark="cnn.conv by test-blocked-conv, estimated 1.3 us"
module attributes {cnn.target = #cnn.target<name = "test", lanes = 16, registers = 32, l1Bytes = 32768, l2Bytes = 1048576, cpu = "generic">} {
func.func @cheapest(%x: tensor<?x32x8x8xf32, #cnn.layout<"nchw16c">>, %w: tensor<32x32x1x1xf32>) -> tensor<?x2048xf32> {
  %0 = cnn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x32x8x8xf32, #cnn.layout<"nchw16c">>, tensor<32x32x1x1xf32>) -> tensor<?x32x8x8xf32, #cnn.layout<"nchw16c">> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  } loc("conv")
  %1 = cnn.relayout %0 : (tensor<?x32x8x8xf32, #cnn.layout<"nchw16c">>) -> tensor<?x32x8x8xf32>
  %2 = cnn.reshape %1 : (tensor<?x32x8x8xf32>) -> tensor<?x2048xf32>
  %3 = cnn.softmax %2 {axis = 1 : i64} : (tensor<?x2048xf32>) -> tensor<?x2048xf32>
  return %3 : tensor<?x2048xf32>
}
}

// -----

// 32 channels of 1x1 lie in blocks as they lie row-major: that relayout moves nothing.
// CHECK-LABEL: func.func @moves_nothing
// CHECK: cnn.relayout %{{[^{]*}} : (tensor<?x32x1x1xf32
// CHECK: cnn.relayout {{.*}}strategy = "test-blocks"} : (tensor<?x20x1x1xf32
module attributes {cnn.target = #cnn.target<name = "test", lanes = 16, registers = 32, l1Bytes = 32768, l2Bytes = 1048576, cpu = "generic">} {
func.func @moves_nothing(%x: tensor<?x32x1x1xf32, #cnn.layout<"nchw16c">>, %y: tensor<?x20x1x1xf32, #cnn.layout<"nchw16c">>) -> (tensor<?x32xf32>, tensor<?x20x1x1xf32>) {
  %0 = cnn.map(%x) : (tensor<?x32x1x1xf32, #cnn.layout<"nchw16c">>) -> tensor<?x32x1x1xf32, #cnn.layout<"nchw16c">> {
  ^bb0(%e: f32):
    %zero = arith.constant 0.0 : f32
    %v0 = arith.maximumf %e, %zero : f32
    cnn.yield %v0 : f32
  }
  %1 = cnn.relayout %0 : (tensor<?x32x1x1xf32, #cnn.layout<"nchw16c">>) -> tensor<?x32x1x1xf32>
  %2 = cnn.reshape %1 : (tensor<?x32x1x1xf32>) -> tensor<?x32xf32>
  %3 = cnn.relayout %y : (tensor<?x20x1x1xf32, #cnn.layout<"nchw16c">>) -> tensor<?x20x1x1xf32>
  return %2, %3 : tensor<?x32xf32>, tensor<?x20x1x1xf32>
}
}

// -----

// An input, a constant, a value with another use and a value that is returned twice are copied.
// CHECK-LABEL: func.func @copies
// CHECK-SAME: %[[X:.+]]: tensor<2xf32>
// CHECK: %[[C:.+]] = cnn.constant
// CHECK: %[[A:.+]] = cnn.reshape %[[X]] {strategy = "test-loops"} : (tensor<2xf32>) -> tensor<2x1xf32>
// CHECK: %[[M:.+]] = cnn.map
// CHECK: %[[N:.+]] = cnn.map
// CHECK: %[[O:.+]] = cnn.map
// CHECK-DAG: %[[B:.+]] = cnn.reshape %[[C]] {strategy = "test-loops"}
// CHECK-DAG: %[[D:.+]] = cnn.reshape %[[M]] {strategy = "test-loops"}
// CHECK-DAG: %[[E:.+]] = cnn.reshape %[[O]] {strategy = "test-loops"}
// CHECK-DAG: %[[F:.+]] = cnn.reshape %[[O]] {strategy = "test-loops"}
// CHECK: return %[[A]], %[[B]], %[[D]], %[[N]], %[[E]], %[[F]]
module attributes {cnn.target = #cnn.target<name = "test", lanes = 16, registers = 32, l1Bytes = 32768, l2Bytes = 1048576, cpu = "generic">} {
func.func @copies(%x: tensor<2xf32>) -> (tensor<2x1xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %c = cnn.constant dense<[1.0, 2.0]> : tensor<2xf32> -> tensor<2xf32>
  %r = cnn.reshape %x : (tensor<2xf32>) -> tensor<2x1xf32>
  %m = cnn.map(%x) : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%e: f32):
    %zero = arith.constant 0.0 : f32
    %v0 = arith.maximumf %e, %zero : f32
    cnn.yield %v0 : f32
  }
  %n = cnn.map(%m) : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%e: f32):
    %zero = arith.constant 0.0 : f32
    %v0 = arith.maximumf %e, %zero : f32
    cnn.yield %v0 : f32
  }
  %o = cnn.map(%x, %c) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%e: f32, %f: f32):
    %v0 = arith.addf %e, %f : f32
    cnn.yield %v0 : f32
  }
  return %r, %c, %m, %n, %o, %o : tensor<2x1xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
}
