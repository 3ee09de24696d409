// RUN: convoy-opt %s --split-input-file --convoy-pack-weights --verify-diagnostics

module attributes {cnn.target = #cnn.target<name = "test", lanes = 4, registers = 32, l1Bytes = 32768, l2Bytes = 1048576, cpu = "generic">} {
func.func @main(%x: tensor<1x4x2x2xf32, #cnn.layout<"nchw4c">>, %w: tensor<4x4x1x1xf32>) -> tensor<1x4x2x2xf32, #cnn.layout<"nchw4c">> {
  // expected-error @below {{'cnn.conv' op needs operand 1 in layout 'oihw4i4o', but it is not constant}}
  %0 = cnn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, strategy = "test-blocked-conv"} : (tensor<1x4x2x2xf32, #cnn.layout<"nchw4c">>, tensor<4x4x1x1xf32>) -> tensor<1x4x2x2xf32, #cnn.layout<"nchw4c">> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return %0 : tensor<1x4x2x2xf32, #cnn.layout<"nchw4c">>
}
}

// -----

module attributes {cnn.target = #cnn.target<name = "test", lanes = 4, registers = 32, l1Bytes = 32768, l2Bytes = 1048576, cpu = "generic">} {
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'cnn.softmax' op has unknown strategy 'magic'}}
  %0 = cnn.softmax %x {axis = 0 : i64, strategy = "magic"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
}
