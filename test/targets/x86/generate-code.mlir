// What code generation decides on kernels, and what the code may contain.
// RUN: convoy-opt %s --convoy-generate-code="target=x86-avx512" | FileCheck %s
// RUN: convoy-opt %s --convoy-generate-code="target=x86-reference print=llvm" | FileCheck %s --check-prefix=LLVM
// RUN: convoy-opt %s --convoy-generate-code="target=x86-avx2 print=asm" \
// RUN:   | FileCheck %s --check-prefix=ASM --implicit-check-not=zmm --implicit-check-not=%k1 \
// RUN:     --implicit-check-not=call --implicit-check-not=@GOT --implicit-check-not=.data

// Outputs with a free batch have their tiles counted for one image.
// CHECK: plan.kernel @exp strategy "reference" attributes {batched, tiles = 16 : i64}
// LLVM: define void @exp(ptr {{.*}}, i64 {{.*}}, i64 {{.*}}) {{.*}}#[[ATTRS:[0-9]+]]
// ASM-LABEL: exp:
plan.kernel @exp strategy "reference" {
^bb0(%x: tensor<?x64x32x32xf32>):
  %y = cnn.map(%x) : (tensor<?x64x32x32xf32>) -> tensor<?x64x32x32xf32> {
  ^bb0(%e: f32):
    %0 = math.exp %e : f32
    %1 = math.powf %0, %e : f32
    %2 = math.sin %1 : f32
    cnn.yield %2 : f32
  }
  plan.yield %y : tensor<?x64x32x32xf32>
}

// Little work is one tile.
// CHECK: plan.kernel @copy strategy "reference" attributes {tiles = 1 : i64}
// LLVM: define void @copy(
// A loop that copies is no memcpy: there is no library to call.
// LLVM-NOT: llvm.memcpy
plan.kernel @copy strategy "reference" {
^bb0(%x: tensor<2x8xf32>):
  %y = cnn.relayout %x : (tensor<2x8xf32>) -> tensor<2x8xf32>
  plan.yield %y : tensor<2x8xf32>
}

// Several results have their own tiles.
// CHECK: plan.kernel @two strategy "reference" attributes {tiles = 65 : i64}
plan.kernel @two strategy "reference" {
^bb0(%x: tensor<64x64x64xbf16>, %i: tensor<3xi64>):
  %y = cnn.transpose %x {perm = array<i64: 2, 0, 1>} : (tensor<64x64x64xbf16>) -> tensor<64x64x64xbf16>
  %z = cnn.map(%i) : (tensor<3xi64>) -> tensor<3xi64> {
  ^bb0(%e: i64):
    %0 = arith.divsi %e, %e : i64
    cnn.yield %0 : i64
  }
  plan.yield %y, %z : tensor<64x64x64xbf16>, tensor<3xi64>
}

// A kernel of several ops reads through them.
// CHECK: plan.kernel @chain strategy "reference"
plan.kernel @chain strategy "reference" {
^bb0(%x: tensor<4x6xf32>):
  %c = cnn.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32> -> tensor<4xf32>
  %t = cnn.transpose %x {perm = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %y = cnn.map(%t, %c) : (tensor<6x4xf32>, tensor<4xf32>) -> tensor<6x4xf32> {
  ^bb0(%e: f32, %f: f32):
    %0 = arith.mulf %e, %f : f32
    cnn.yield %0 : f32
  }
  plan.yield %y : tensor<6x4xf32>
}

// Instructions come from listed features alone.
// LLVM: attributes #[[ATTRS]] = {{.*}}"target-cpu"="x86-64" "target-features"="+sse3,+ssse3,+sse4.1,+sse4.2,+popcnt,+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe"
