// RUN: convoy-opt %s --convoy-generate-code="target=x86-avx2" -split-input-file -verify-diagnostics -o /dev/null

// expected-error @below {{target x86-avx2 has no strategy 'fastest'}}
plan.kernel @unknown strategy "fastest" {
^bb0(%x: tensor<4xf32>):
  %y = cnn.relayout %x : (tensor<4xf32>) -> tensor<4xf32>
  plan.yield %y : tensor<4xf32>
}

// -----

plan.kernel @scalar strategy "reference" {
^bb0(%x: tensor<4xf32>):
  %y = cnn.map(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%e: f32):
    // expected-error @below {{scalar regions of kernels hold arith and math ops of one result, got math.sincos}}
    %0, %1 = math.sincos %e : f32
    cnn.yield %0 : f32
  }
  plan.yield %y : tensor<4xf32>
}
