// One case for each constraint of constants, normalizations and of tensors in general.
// RUN: convoy-opt %s --split-input-file --verify-diagnostics

// constant_c1: the value has the shape in memory.
func.func @f() {
  // expected-error @+1 {{'cnn.constant' op value 'tensor<1x3x2x2xf32>' does not fill 'tensor<1x3x2x2xf32, #cnn.layout<"nchw16c">>'}}
  %0 = cnn.constant dense<0.0> : tensor<1x3x2x2xf32>
      -> tensor<1x3x2x2xf32, #cnn.layout<"nchw16c">>
  return
}

// -----

// constant_c1: and the element type.
func.func @f() {
  // expected-error @+1 {{'cnn.constant' op value 'tensor<2xi32>' does not fill 'tensor<2xf32>'}}
  %0 = cnn.constant dense<0> : tensor<2xi32> -> tensor<2xf32>
  return
}

// -----

// constant_c1: the shape is static.
func.func @f() {
  // expected-error @+1 {{'cnn.constant' op needs a static shape, got 'tensor<?x2xf32>'}}
  %0 = cnn.constant dense<0.0> : tensor<1x2xf32> -> tensor<?x2xf32>
  return
}

// -----

// constant_c2: dense.
func.func @f() {
  // expected-error @+1 {{'cnn.constant' op needs a dense value}}
  %0 = cnn.constant sparse<[[0]], [1.0]> : tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

// softmax_c1: the axis is inside the rank.
func.func @f(%x: tensor<?x3x8xf32>) {
  // expected-error @+1 {{'cnn.softmax' op axis 3 is outside rank 3}}
  %0 = cnn.softmax %x {axis = 3 : i64} : (tensor<?x3x8xf32>) -> tensor<?x3x8xf32>
  return
}

// -----

// softmax_c1: the axis is not negative.
func.func @f(%x: tensor<?x3x8xf32>) {
  // expected-error @+1 {{'cnn.softmax' op axis -1 is outside rank 3}}
  %0 = cnn.softmax %x {axis = -1 : i64} : (tensor<?x3x8xf32>) -> tensor<?x3x8xf32>
  return
}

// -----

// softmax_c2: the result has src's shape.
func.func @f(%x: tensor<?x3x8xf32>) {
  // expected-error @+1 {{'cnn.softmax' op has result 'tensor<?x3x7xf32>', expected 'tensor<?x3x8xf32>'}}
  %0 = cnn.softmax %x {axis = 1 : i64} : (tensor<?x3x8xf32>) -> tensor<?x3x7xf32>
  return
}

// -----

// softmax_c3: a free batch is not the axis.
func.func @f(%x: tensor<?x3x8xf32>) {
  // expected-error @+1 {{'cnn.softmax' op axis 0 is the free batch; fix it with --shape}}
  %0 = cnn.softmax %x {axis = 0 : i64} : (tensor<?x3x8xf32>) -> tensor<?x3x8xf32>
  return
}

// -----

// lrn_c1: the rank is at least 2.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'cnn.lrn' op needs rank 2 or more and a positive size, got rank 1 and size 3}}
  %0 = cnn.lrn %x {size = 3 : i64, alpha = 1.0 : f64, beta = 1.0 : f64, bias = 1.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// lrn_c1: the size is positive.
func.func @f(%x: tensor<?x3x8xf32>) {
  // expected-error @+1 {{'cnn.lrn' op needs rank 2 or more and a positive size, got rank 3 and size -3}}
  %0 = cnn.lrn %x {size = -3 : i64, alpha = 1.0 : f64, beta = 1.0 : f64, bias = 1.0 : f64} : (tensor<?x3x8xf32>) -> tensor<?x3x8xf32>
  return
}

// -----

// lrn_c2: the result has src's shape.
func.func @f(%x: tensor<?x3x8xf32>) {
  // expected-error @+1 {{'cnn.lrn' op has result 'tensor<?x3x8xf16>', expected 'tensor<?x3x8xf32>'}}
  %0 = cnn.lrn %x {size = 3 : i64, alpha = 1.0 : f64, beta = 1.0 : f64, bias = 1.0 : f64} : (tensor<?x3x8xf32>) -> tensor<?x3x8xf16>
  return
}

// -----

// batch_norm_c1: as many as channels.
func.func @f(%x: tensor<?x3x8xf32>, %p: tensor<3xf32>, %q: tensor<4xf32>) {
  // expected-error @+1 {{'cnn.batch_norm' op mean is 'tensor<4xf32>', expected a vector of 3}}
  %0 = cnn.batch_norm %x, %p, %p, %q, %p {epsilon = 1.0e-5 : f64}
      : (tensor<?x3x8xf32>, tensor<3xf32>, tensor<3xf32>, tensor<4xf32>, tensor<3xf32>) -> tensor<?x3x8xf32>
  return
}

// -----

// batch_norm_c1: vectors.
func.func @f(%x: tensor<?x3x8xf32>, %p: tensor<3x1xf32>, %q: tensor<3xf32>) {
  // expected-error @+1 {{'cnn.batch_norm' op scale is 'tensor<3x1xf32>', expected a vector of 3}}
  %0 = cnn.batch_norm %x, %p, %p, %q, %p {epsilon = 1.0e-5 : f64}
      : (tensor<?x3x8xf32>, tensor<3x1xf32>, tensor<3x1xf32>, tensor<3xf32>, tensor<3x1xf32>) -> tensor<?x3x8xf32>
  return
}

// -----

// batch_norm_c2: the result has src's shape.
func.func @f(%x: tensor<?x3x8xf32>, %p: tensor<3xf32>, %q: tensor<3xf32>) {
  // expected-error @+1 {{'cnn.batch_norm' op has result 'tensor<1x3x8xf32>', expected 'tensor<?x3x8xf32>'}}
  %0 = cnn.batch_norm %x, %p, %p, %q, %p {epsilon = 1.0e-5 : f64}
      : (tensor<?x3x8xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<1x3x8xf32>
  return
}

// -----

// Only dimension 0 may be dynamic.
func.func @f(%x: tensor<1x?x8xf32>) {
  // expected-error @+1 {{ranked tensor with a dynamic extent in dimension 0 at most}}
  %0 = cnn.relayout %x : (tensor<1x?x8xf32>) -> tensor<1x?x8xf32>
  return
}

// -----

// A tensor has elements of ONNX.
func.func @f(%x: tensor<2xcomplex<f32>>) {
  // expected-error @+1 {{ranked tensor with a dynamic extent in dimension 0 at most}}
  %0 = cnn.relayout %x : (tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  return
}

// -----

// No index.
func.func @f(%x: tensor<2xindex>) {
  // expected-error @+1 {{ranked tensor with a dynamic extent in dimension 0 at most}}
  %0 = cnn.relayout %x : (tensor<2xindex>) -> tensor<2xindex>
  return
}
