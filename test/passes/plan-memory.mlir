// RUN: convoy-opt %s --split-input-file --convoy-plan-memory --convoy-verify-plan | FileCheck %s
// RUN: convoy-opt %s --split-input-file --convoy-plan-memory --remarks-filter=.* 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: convoy-opt %s --split-input-file --convoy-plan-memory=in-place=false --convoy-verify-plan | FileCheck %s --check-prefix=APART

// Two buffers take turns.
// CHECK-LABEL: plan.program @turns attributes {arena_bytes = 512 : i64, lower_bound_bytes = 512 : i64}
// CHECK: plan.alloc {bytes = 256 : i64, offset = [[A:[0-9]+]] : i64}
// CHECK: plan.alloc {bytes = 256 : i64, offset = [[B:[0-9]+]] : i64}
// CHECK: plan.alloc {bytes = 256 : i64, offset = [[A]] : i64}
// REMARK: [Passed] PlanMemory | Category:memory | Remark="arena of 512 bytes, lower bound 512, 3 buffers, 0 in place"
plan.program @turns {
  %x = plan.input "x" : tensor<64xf32>
  %y = plan.output "y" : tensor<64xf32>
  %0 = plan.alloc {bytes = 256 : i64}
  plan.launch @softmax reads(%x) writes(%0) {bytes = 0 : i64, flops = 0 : i64}
  %1 = plan.alloc {bytes = 256 : i64}
  plan.launch @softmax reads(%0) writes(%1) {bytes = 0 : i64, flops = 0 : i64}
  %2 = plan.alloc {bytes = 256 : i64}
  plan.launch @softmax reads(%1) writes(%2) {bytes = 0 : i64, flops = 0 : i64}
  plan.launch @softmax reads(%2) writes(%y) {bytes = 0 : i64, flops = 0 : i64}
}
plan.kernel @softmax strategy "test-loops" {
^bb0(%a: tensor<64xf32>):
  %r = cnn.softmax %a {axis = 0 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  plan.yield %r : tensor<64xf32>
}

// -----

// Maps write over what they read: one place for all. But not over what is read later (%1).
// CHECK-LABEL: plan.program @in_place attributes {arena_bytes = 512 : i64, lower_bound_bytes = 512 : i64}
// CHECK: plan.alloc {bytes = 256 : i64, offset = [[A:[0-9]+]] : i64}
// CHECK: plan.alloc {bytes = 256 : i64, offset = [[A]] : i64}
// CHECK: plan.alloc {bytes = 256 : i64, offset = [[B:[0-9]+]] : i64}
// CHECK: plan.alloc {bytes = 256 : i64, offset = {{[[]B[]]|[0-9]+}} : i64}
// REMARK: 4 buffers, 2 in place
// APART-LABEL: plan.program @turns
// APART-LABEL: plan.program @in_place attributes {arena_bytes = 768 : i64, lower_bound_bytes = 768 : i64}
plan.program @in_place {
  %x = plan.input "x" : tensor<64xf32>
  %y = plan.output "y" : tensor<64xf32>
  %0 = plan.alloc {bytes = 256 : i64}
  plan.launch @softmax reads(%x) writes(%0) {bytes = 0 : i64, flops = 0 : i64}
  %1 = plan.alloc {bytes = 256 : i64}
  plan.launch @map reads(%0) writes(%1) {bytes = 0 : i64, flops = 0 : i64}
  %2 = plan.alloc {bytes = 256 : i64}
  plan.launch @map reads(%1) writes(%2) {bytes = 0 : i64, flops = 0 : i64}
  %3 = plan.alloc {bytes = 256 : i64}
  plan.launch @add reads(%1, %2) writes(%3) {bytes = 0 : i64, flops = 0 : i64}
  plan.launch @softmax reads(%3) writes(%y) {bytes = 0 : i64, flops = 0 : i64}
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
plan.kernel @add strategy "test-loops" {
^bb0(%a: tensor<64xf32>, %b: tensor<64xf32>):
  %r = cnn.map(%a, %b) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%e: f32, %f: f32):
    cnn.yield %e : f32
  }
  plan.yield %r : tensor<64xf32>
}

// -----

// Sizes are rounded up to 64; a buffer without a launch goes away; a view keeps its source
// alive.
// CHECK-LABEL: plan.program @views attributes {arena_bytes = 640 : i64, lower_bound_bytes = 640 : i64}
// CHECK: plan.alloc {bytes = 512 : i64, offset = [[A:[0-9]+]] : i64}
// CHECK: plan.alloc {bytes = 5 : i64, offset = [[B:[0-9]+]] : i64}
plan.program @views {
  %x = plan.input "x" : tensor<64xf32>
  %y = plan.output "y" : tensor<64xf32>
  %z = plan.output "z" : tensor<5xi8>
  %0 = plan.alloc {bytes = 512 : i64}
  %a = plan.view %0 {offset = 0 : i64, bytes = 256 : i64}
  %b = plan.view %0 {offset = 256 : i64, bytes = 256 : i64}
  plan.launch @softmax reads(%x) writes(%a) {bytes = 0 : i64, flops = 0 : i64}
  plan.launch @softmax reads(%a) writes(%b) {bytes = 0 : i64, flops = 0 : i64}
  %1 = plan.alloc {bytes = 5 : i64}
  plan.launch @small reads() writes(%1) {bytes = 0 : i64, flops = 0 : i64}
  %unused = plan.alloc {bytes = 4096 : i64}
  %2 = plan.alloc {bytes = 5 : i64}
  plan.launch @copy reads(%1) writes(%2) {bytes = 0 : i64, flops = 0 : i64}
  plan.launch @copy reads(%2) writes(%z) {bytes = 0 : i64, flops = 0 : i64}
  plan.launch @softmax reads(%b) writes(%y) {bytes = 0 : i64, flops = 0 : i64}
}
plan.kernel @small strategy "test-loops" {
  %r = cnn.constant dense<1> : tensor<5xi8> -> tensor<5xi8>
  plan.yield %r : tensor<5xi8>
}
plan.kernel @copy strategy "test-loops" {
^bb0(%a: tensor<5xi8>):
  %r = cnn.reshape %a : (tensor<5xi8>) -> tensor<5xi8>
  plan.yield %r : tensor<5xi8>
}
plan.kernel @softmax strategy "test-loops" {
^bb0(%a: tensor<64xf32>):
  %r = cnn.softmax %a {axis = 0 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  plan.yield %r : tensor<64xf32>
}


// -----

// The same place with two shapes, of which one is broadcast: the result cannot have it.
// CHECK-LABEL: plan.program @two_shapes
// CHECK: plan.alloc {bytes = 16 : i64, offset = [[A:[0-9]+]] : i64}
// CHECK-NOT: offset = [[A]]
// REMARK: 2 buffers, 0 in place
plan.program @two_shapes {
  %x = plan.input "x" : tensor<1x2x2xf32>
  %y = plan.output "y" : tensor<1x2x2xf32>
  %0 = plan.alloc {bytes = 16 : i64}
  plan.launch @copy reads(%x) writes(%0) {bytes = 0 : i64, flops = 0 : i64}
  %1 = plan.alloc {bytes = 16 : i64}
  plan.launch @add_shapes reads(%0, %0) writes(%1) {bytes = 0 : i64, flops = 0 : i64}
  plan.launch @copy reads(%1) writes(%y) {bytes = 0 : i64, flops = 0 : i64}
}
plan.kernel @copy strategy "test-loops" {
^bb0(%a: tensor<1x2x2xf32>):
  %r = cnn.softmax %a {axis = 0 : i64} : (tensor<1x2x2xf32>) -> tensor<1x2x2xf32>
  plan.yield %r : tensor<1x2x2xf32>
}
plan.kernel @add_shapes strategy "test-loops" {
^bb0(%a: tensor<1x2x2xf32>, %b: tensor<2x2xf32>):
  %r = cnn.map(%a, %b) : (tensor<1x2x2xf32>, tensor<2x2xf32>) -> tensor<1x2x2xf32> {
  ^bb0(%e: f32, %f: f32):
    %s = arith.addf %e, %f : f32
    cnn.yield %s : f32
  }
  plan.yield %r : tensor<1x2x2xf32>
}

// -----

// Alive as long as the wave: what both launches of one read and write is apart, and neither map has
// the place of %0, which the other one reads at the same time. In a wave of its own one would.
// CHECK-LABEL: plan.program @waves attributes {arena_bytes = 768 : i64, lower_bound_bytes = 768 : i64}
// REMARK: "arena of 768 bytes, lower bound 768, 3 buffers, 0 in place"
plan.program @waves {
  %x = plan.input "x" : tensor<64xf32>
  %y = plan.output "y" : tensor<64xf32>
  %z = plan.output "z" : tensor<64xf32>
  %0 = plan.alloc {bytes = 256 : i64}
  plan.launch @softmax reads(%x) writes(%0) {bytes = 0 : i64, flops = 0 : i64}
  %1 = plan.alloc {bytes = 256 : i64}
  plan.launch @map reads(%0) writes(%1) {bytes = 0 : i64, flops = 0 : i64}
  %2 = plan.alloc {bytes = 256 : i64}
  plan.launch @map reads(%0) writes(%2) {bytes = 0 : i64, flops = 0 : i64, joins}
  plan.launch @softmax reads(%1) writes(%y) {bytes = 0 : i64, flops = 0 : i64}
  plan.launch @softmax reads(%2) writes(%z) {bytes = 0 : i64, flops = 0 : i64, joins}
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
