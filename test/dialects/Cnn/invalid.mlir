// RUN: convoy-opt %s --split-input-file --verify-diagnostics

// lrn_c1
func.func @lrn_size(%x: tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
  // expected-error @+1 {{needs rank 2 or more and a positive size, got rank 4 and size 0}}
  %y = cnn.lrn %x {size = 0 : i64, alpha = 1.0 : f64, beta = 1.0 : f64, bias = 1.0 : f64}
      : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return %y : tensor<1x8x4x4xf32>
}

// -----

// lrn_c1
func.func @lrn_rank(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{needs rank 2 or more and a positive size, got rank 1 and size 5}}
  %y = cnn.lrn %x {size = 5 : i64, alpha = 1.0 : f64, beta = 1.0 : f64, bias = 1.0 : f64}
      : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// lrn_c2
func.func @lrn_shape(%x: tensor<1x8x4x4xf32>) -> tensor<1x8x4x2xf32> {
  // expected-error @+1 {{has result 'tensor<1x8x4x2xf32>', expected 'tensor<1x8x4x4xf32>'}}
  %y = cnn.lrn %x {size = 5 : i64, alpha = 1.0 : f64, beta = 1.0 : f64, bias = 1.0 : f64}
      : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x2xf32>
  return %y : tensor<1x8x4x2xf32>
}
