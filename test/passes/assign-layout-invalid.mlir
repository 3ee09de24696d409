// RUN: convoy-opt %s --split-input-file --convoy-assign-layout --verify-diagnostics

// expected-error @below {{has no cnn.target attribute}}
module {
func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {
  return %x : tensor<1xf32>
}
}

// -----

// expected-error @below {{no kernel table for target 'abacus'}}
module attributes {cnn.target = #cnn.target<name = "abacus", lanes = 16, registers = 32, l1Bytes = 32768, l2Bytes = 1048576, cpu = "generic">} {
func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {
  return %x : tensor<1xf32>
}
}
