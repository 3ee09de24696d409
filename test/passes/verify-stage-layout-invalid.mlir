// RUN: convoy-opt %s --split-input-file --convoy-verify-stage=stage=layout --verify-diagnostics

// A region operand in another layout.
func.func @main(%x: tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32> {
  %b = cnn.relayout %x : (tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">>
  // expected-error @below {{that does not match the result}}
  %0 = cnn.map(%b, %x) : (tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">>, tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">> {
  ^bb0(%e: f32, %f: f32):
    %v0 = arith.addf %e, %f : f32
    cnn.yield %v0 : f32
  }
  return %x : tensor<1x32x8x8xf32>
}
