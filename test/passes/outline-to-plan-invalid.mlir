// RUN: convoy-opt %s --split-input-file --convoy-outline-to-plan --verify-diagnostics

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'cnn.softmax' op has no strategy}}
  %0 = cnn.softmax %x {axis = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{output 0 is not made by an op of its own}}
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{input 0 is not row-major}}
func.func @main(%x: tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">>) -> tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">> {
  return %x : tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'arith.negf' op has no place in a plan}}
  %0 = arith.negf %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @below {{has an input or output 'f32' that is no ranked tensor}}
func.func @main(%x: f32) -> f32 {
  return %x : f32
}

// -----

// expected-error @below {{has an input or output 'tensor<*xf32>' that is no ranked tensor}}
func.func @main(%x: tensor<*xf32>) -> tensor<*xf32> {
  return %x : tensor<*xf32>
}
