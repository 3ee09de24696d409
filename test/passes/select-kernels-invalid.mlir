// RUN: convoy-opt %s --split-input-file --convoy-select-kernels --verify-diagnostics

// All ops without a kernel are listed in one run.
module attributes {cnn.target = #cnn.target<name = "test", lanes = 16, registers = 32, l1Bytes = 32768, l2Bytes = 1048576, cpu = "generic">} {
func.func @main(%x: tensor<4xf32>, %i: tensor<2xi64>) -> (tensor<2xf32>, tensor<2xf32>) {
  // expected-error @below {{'cnn.gather' op has no kernel on target 'test'}}
  %0 = cnn.gather %x, %i {axis = 0 : i64} : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
  // expected-error @below {{'cnn.gather' op has no kernel on target 'test'}}
  %1 = cnn.gather %0, %i {axis = 0 : i64} : (tensor<2xf32>, tensor<2xi64>) -> tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}
}

// -----

// expected-error @below {{no kernel table for target 'abacus'}}
module attributes {cnn.target = #cnn.target<name = "abacus", lanes = 16, registers = 32, l1Bytes = 32768, l2Bytes = 1048576, cpu = "generic">} {
func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {
  return %x : tensor<1xf32>
}
}

// -----

// expected-error @below {{needs one function with one block, has 2 functions}}
module attributes {cnn.target = #cnn.target<name = "test", lanes = 16, registers = 32, l1Bytes = 32768, l2Bytes = 1048576, cpu = "generic">} {
func.func @a() {
  return
}
func.func @b() {
  return
}
}
