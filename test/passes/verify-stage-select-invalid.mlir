// RUN: convoy-opt %s --split-input-file --convoy-verify-stage=stage=select --verify-diagnostics

// An op without a strategy.
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error @below {{has no strategy}}
  %0 = cnn.softmax %x {axis = 0 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// -----

// An output that is an input.
// expected-error @below {{has an output that no kernel writes by itself}}
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  return %x : tensor<64xf32>
}
