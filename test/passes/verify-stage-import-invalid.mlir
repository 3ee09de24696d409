// RUN: convoy-opt %s --split-input-file --convoy-verify-stage=stage=import --verify-diagnostics

// A layout before its time.
func.func @main(%x: tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32> {
  // expected-error @below {{has layout 'nchw16c' before layouts are assigned}}
  %0 = cnn.relayout %x : (tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">>
  return %x : tensor<1x32x8x8xf32>
}

// -----

// A strategy before its time.
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error @below {{has a strategy before kernels are selected}}
  %0 = cnn.softmax %x {axis = 0 : i64, strategy = "a"} : (tensor<64xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// -----

// A foreign op.
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error @below {{has no place in a graph}}
  %0 = arith.constant 1 : i32
  return %x : tensor<64xf32>
}

// -----

// An input in blocks.
// expected-error @below {{that is no row-major tensor}}
func.func @main(%x: tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">>) {
  return
}

// -----

// A printed module without its long constants.
func.func @main() -> tensor<400xf32> {
  // expected-error @+1 {{'cnn.constant' op has 0 bytes of data, expected 1600; --full-constants prints long constants too}}
  %0 = cnn.constant dense_resource<__elided__> : tensor<400xf32> -> tensor<400xf32>
  return %0 : tensor<400xf32>
}

// -----

// Or with too little of it.
func.func @main() -> tensor<400xf32> {
  // expected-error @+1 {{'cnn.constant' op has 4 bytes of data, expected 1600}}
  %0 = cnn.constant dense_resource<short> : tensor<400xf32> -> tensor<400xf32>
  return %0 : tensor<400xf32>
}

{-# dialect_resources: { builtin: { short: "0x040000000000803F" } } #-}
