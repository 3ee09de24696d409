// RUN: convoy-opt %s --split-input-file --convoy-verify-stage=stage=fold --verify-diagnostics

// A batch_norm that is left.
func.func @main(%x: tensor<1x1xf32>, %p: tensor<1xf32>) -> tensor<1x1xf32> {
  // expected-error @below {{should have been folded or become a map}}
  %0 = cnn.batch_norm %x, %p, %p, %p, %p {epsilon = 0.0 : f64} : (tensor<1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
}
