// RUN: convoy-opt %s --split-input-file --convoy-pack-weights --mlir-print-elementsattrs-with-hex-if-larger=-1 | FileCheck %s
// RUN: convoy-opt %s --split-input-file --convoy-pack-weights=release=true -o /dev/null

// [oc 2][ic 3] becomes blocks of 4 by 4, input channels outside; what is missing is zero. Both
// convolutions share it. The bias and the weights of the loops stay as they are.
// CHECK-LABEL: func.func @pack
// CHECK-DAG: %[[W:.+]] = cnn.constant dense<{{\[\[\[\[\[\[}}1.000000e+00, 4.000000e+00, 0.000000e+00, 0.000000e+00], [2.000000e+00, 5.000000e+00, 0.000000e+00, 0.000000e+00], [3.000000e+00, 6.000000e+00, 0.000000e+00, 0.000000e+00], [0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00]]{{.*}} -> tensor<2x3x1x1xf32, #cnn.layout<"oihw4i4o">>
// CHECK-DAG: %[[R:.+]] = cnn.constant dense<{{.*}} -> tensor<2x3x1x1xf32>{{$}}
// CHECK: cnn.conv %{{.*}}, %[[W]]
// CHECK: cnn.conv %{{.*}}, %[[W]]
// CHECK: cnn.conv %{{.*}}, %[[R]]
module attributes {cnn.target = #cnn.target<name = "test", lanes = 4, registers = 32, l1Bytes = 32768, l2Bytes = 1048576, cpu = "generic">} {
func.func @pack(%x: tensor<1x3x2x2xf32, #cnn.layout<"nchw4c">>, %y: tensor<1x3x2x2xf32>) -> (tensor<1x2x2x2xf32, #cnn.layout<"nchw4c">>, tensor<1x2x2x2xf32, #cnn.layout<"nchw4c">>, tensor<1x2x2x2xf32>) {
  %w = cnn.constant dense<[[[[1.0]], [[2.0]], [[3.0]]], [[[4.0]], [[5.0]], [[6.0]]]]> : tensor<2x3x1x1xf32> -> tensor<2x3x1x1xf32>
  %0 = cnn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, strategy = "test-blocked-conv"} : (tensor<1x3x2x2xf32, #cnn.layout<"nchw4c">>, tensor<2x3x1x1xf32>) -> tensor<1x2x2x2xf32, #cnn.layout<"nchw4c">> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  %1 = cnn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, strategy = "test-blocked-conv"} : (tensor<1x3x2x2xf32, #cnn.layout<"nchw4c">>, tensor<2x3x1x1xf32>) -> tensor<1x2x2x2xf32, #cnn.layout<"nchw4c">> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  %2 = cnn.conv %y, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, strategy = "test-loops"} : (tensor<1x3x2x2xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x2x2xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return %0, %1, %2 : tensor<1x2x2x2xf32, #cnn.layout<"nchw4c">>, tensor<1x2x2x2xf32, #cnn.layout<"nchw4c">>, tensor<1x2x2x2xf32>
}
}
