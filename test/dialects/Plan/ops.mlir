// Every op of the plan dialect prints what it parses.
// RUN: convoy-opt %s | convoy-opt | FileCheck %s
// RUN: convoy-opt %s --mlir-print-op-generic | convoy-opt | FileCheck %s
// RUN: convoy-opt %s --emit-bytecode | convoy-opt | FileCheck %s

// CHECK-LABEL: plan.program @main attributes {arena_bytes = 512 : i64, lower_bound_bytes = 256 : i64} {
// CHECK-NEXT: %[[X:.*]] = plan.input "x" : tensor<?x64xf32>
// CHECK-NEXT: %[[Y:.*]] = plan.output "y" : tensor<?x64xf32>
// CHECK-NEXT: %[[C:.*]] = plan.constant dense<2.000000e+00> : tensor<64xf32>
// CHECK-NEXT: %[[A:.*]] = plan.alloc {bytes = 512 : i64, offset = 0 : i64}
// CHECK-NEXT: %[[V:.*]] = plan.view %[[A]] {bytes = 256 : i64, offset = 256 : i64}
// CHECK-NEXT: plan.launch @scale reads(%[[X]], %[[C]]) writes(%[[V]]) {bytes = 768 : i64, flops = 64 : i64}
// CHECK-NEXT: plan.launch @scale reads(%[[V]], %[[C]]) writes(%[[Y]]) {bytes = 768 : i64, flops = 64 : i64}
// CHECK-NEXT: plan.launch @nothing reads() writes() {bytes = 0 : i64, flops = 0 : i64}
plan.program @main attributes {arena_bytes = 512 : i64, lower_bound_bytes = 256 : i64} {
  %x = plan.input "x" : tensor<?x64xf32>
  %y = plan.output "y" : tensor<?x64xf32>
  %c = plan.constant dense<2.0> : tensor<64xf32>
  %a = plan.alloc {bytes = 512 : i64, offset = 0 : i64}
  %v = plan.view %a {offset = 256 : i64, bytes = 256 : i64}
  plan.launch @scale reads(%x, %c) writes(%v) {bytes = 768 : i64, flops = 64 : i64}
  plan.launch @scale reads(%v, %c) writes(%y) {bytes = 768 : i64, flops = 64 : i64}
  plan.launch @nothing reads() writes() {bytes = 0 : i64, flops = 0 : i64}
}

// CHECK: plan.kernel @scale strategy "loops" attributes {batched, scratch_bytes = 64 : i64, tiles = 4 : i64} {
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<?x64xf32>, %{{.*}}: tensor<64xf32>):
// CHECK: plan.yield %{{.*}} : tensor<?x64xf32>
plan.kernel @scale strategy "loops" attributes {batched, scratch_bytes = 64 : i64, tiles = 4 : i64} {
^bb0(%a: tensor<?x64xf32>, %b: tensor<64xf32>):
  %r = cnn.map(%a, %b) : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32> {
  ^bb0(%e: f32, %f: f32):
    %0 = arith.mulf %e, %f : f32
    cnn.yield %0 : f32
  }
  plan.yield %r : tensor<?x64xf32>
}

// CHECK: plan.kernel @nothing strategy "none"
plan.kernel @nothing strategy "none" {
  plan.yield
}
