// RUN: convoy-opt %s --split-input-file --convoy-verify-plan | FileCheck %s

// A place is used again once its buffer was read for the last time; a map may write over its input;
// a concat's parts are views that two launches write.
// CHECK: plan.program @main
plan.program @main attributes {arena_bytes = 1280 : i64, lower_bound_bytes = 1024 : i64} {
  %x = plan.input "x" : tensor<64xf32>
  %y = plan.output "y" : tensor<64xf32>
  %0 = plan.alloc {bytes = 256 : i64, offset = 0 : i64}
  plan.launch @softmax reads(%x) writes(%0) {bytes = 0 : i64, flops = 0 : i64}
  %1 = plan.alloc {bytes = 256 : i64, offset = 0 : i64}
  plan.launch @map reads(%0) writes(%1) {bytes = 0 : i64, flops = 0 : i64}
  %2 = plan.alloc {bytes = 512 : i64, offset = 256 : i64}
  %a = plan.view %2 {offset = 0 : i64, bytes = 256 : i64}
  %b = plan.view %2 {offset = 256 : i64, bytes = 256 : i64}
  plan.launch @softmax reads(%1) writes(%a) {bytes = 0 : i64, flops = 0 : i64}
  plan.launch @softmax reads(%x) writes(%b) {bytes = 0 : i64, flops = 0 : i64}
  %3 = plan.alloc {bytes = 512 : i64, offset = 768 : i64}
  plan.launch @copy reads(%2) writes(%3) {bytes = 0 : i64, flops = 0 : i64}
  %4 = plan.alloc {bytes = 256 : i64, offset = 0 : i64}
  plan.launch @half reads(%3) writes(%4) {bytes = 0 : i64, flops = 0 : i64}
  plan.launch @softmax reads(%4) writes(%y) {bytes = 0 : i64, flops = 0 : i64}
}
plan.kernel @softmax strategy "test-loops" {
^bb0(%a: tensor<64xf32>):
  %r = cnn.softmax %a {axis = 0 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  plan.yield %r : tensor<64xf32>
}
plan.kernel @map strategy "test-loops" {
^bb0(%a: tensor<64xf32>):
  %r = cnn.map(%a) : (tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%e: f32):
    cnn.yield %e : f32
  }
  plan.yield %r : tensor<64xf32>
}
plan.kernel @copy strategy "test-loops" {
^bb0(%a: tensor<128xf32>):
  %r = cnn.reshape %a : (tensor<128xf32>) -> tensor<128xf32>
  plan.yield %r : tensor<128xf32>
}
plan.kernel @half strategy "test-loops" {
^bb0(%a: tensor<128xf32>):
  %r = cnn.slice %a {starts = array<i64: 0>, steps = array<i64: 1>} : (tensor<128xf32>) -> tensor<64xf32>
  plan.yield %r : tensor<64xf32>
}
