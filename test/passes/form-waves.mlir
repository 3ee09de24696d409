// RUN: convoy-opt %s --split-input-file --convoy-form-waves --convoy-plan-memory --convoy-verify-plan | FileCheck %s
// RUN: convoy-opt %s --split-input-file --convoy-form-waves --remarks-filter=.* 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: convoy-opt %s --split-input-file --convoy-form-waves=max-us=0 | FileCheck %s --check-prefix=SHORT

// Two branches: the second one's first launch joins the first one's last, and the two last ones,
// which write parts of one buffer, are a wave of their own. What reads it is alone.
// CHECK-LABEL: plan.program @branches
// CHECK: plan.launch @softmax reads(%[[X:.*]]) writes(%[[A:.*]]) {bytes = 512 : i64, flops = 0 : i64}
// CHECK: plan.launch @softmax reads(%[[A]]) writes(%{{.*}}) {bytes = 512 : i64, flops = 0 : i64}
// CHECK: plan.launch @softmax reads(%[[X]]) writes(%{{.*}}) {bytes = 512 : i64, flops = 0 : i64, joins}
// CHECK: plan.launch @double
// CHECK-NOT: joins
// REMARK: [Passed] FormWaves | Category:waves | Remark="4 launches in 3 waves, 0 parted for memory"
// SHORT-LABEL: plan.program @branches
// SHORT-NOT: joins
plan.program @branches {
  %x = plan.input "x" : tensor<64xf32>
  %y = plan.output "y" : tensor<128xf32>
  %0 = plan.alloc {bytes = 256 : i64}
  plan.launch @softmax reads(%x) writes(%0) {bytes = 512 : i64, flops = 0 : i64}
  %1 = plan.alloc {bytes = 512 : i64}
  %a = plan.view %1 {offset = 0 : i64, bytes = 256 : i64}
  %b = plan.view %1 {offset = 256 : i64, bytes = 256 : i64}
  plan.launch @softmax reads(%0) writes(%a) {bytes = 512 : i64, flops = 0 : i64}
  plan.launch @softmax reads(%x) writes(%b) {bytes = 512 : i64, flops = 0 : i64}
  plan.launch @double reads(%1) writes(%y) {bytes = 1024 : i64, flops = 0 : i64}
}
plan.kernel @softmax strategy "test-loops" {
^bb0(%a: tensor<64xf32>):
  %r = cnn.softmax %a {axis = 0 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  plan.yield %r : tensor<64xf32>
}
plan.kernel @double strategy "test-loops" {
^bb0(%a: tensor<128xf32>):
  %r = cnn.softmax %a {axis = 0 : i64} : (tensor<128xf32>) -> tensor<128xf32>
  plan.yield %r : tensor<128xf32>
}

// -----

// Side by side both results and both that they are made of would be alive: 1024 bytes where 768 do.
// CHECK-LABEL: plan.program @memory attributes {arena_bytes = 768 : i64, lower_bound_bytes = 768 : i64}
// CHECK-NOT: joins
// REMARK: [Missed] FormWaves | Category:waves | Remark="would need more memory beside the launch before"
// REMARK: "5 launches in 5 waves, 1 parted for memory"
plan.program @memory {
  %x = plan.input "x" : tensor<64xf32>
  %y = plan.output "y" : tensor<64xf32>
  %0 = plan.alloc {bytes = 256 : i64}
  %1 = plan.alloc {bytes = 256 : i64}
  plan.launch @two reads(%x) writes(%0, %1) {bytes = 0 : i64, flops = 0 : i64}
  %2 = plan.alloc {bytes = 256 : i64}
  plan.launch @softmax reads(%0) writes(%2) {bytes = 0 : i64, flops = 0 : i64}
  %3 = plan.alloc {bytes = 256 : i64}
  plan.launch @softmax reads(%1) writes(%3) {bytes = 0 : i64, flops = 0 : i64}
  %4 = plan.alloc {bytes = 256 : i64}
  plan.launch @sum reads(%2, %3) writes(%4) {bytes = 0 : i64, flops = 0 : i64}
  plan.launch @sum reads(%2, %4) writes(%y) {bytes = 0 : i64, flops = 0 : i64}
}
plan.kernel @two strategy "test-loops" {
^bb0(%a: tensor<64xf32>):
  %r = cnn.softmax %a {axis = 0 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  plan.yield %r, %r : tensor<64xf32>, tensor<64xf32>
}
plan.kernel @softmax strategy "test-loops" {
^bb0(%a: tensor<64xf32>):
  %r = cnn.softmax %a {axis = 0 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  plan.yield %r : tensor<64xf32>
}
plan.kernel @sum strategy "test-loops" {
^bb0(%a: tensor<64xf32>, %b: tensor<64xf32>):
  %r = cnn.map(%a, %b) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%e: f32, %f: f32):
    %s = arith.addf %e, %f : f32
    cnn.yield %s : f32
  }
  plan.yield %r : tensor<64xf32>
}

// -----

// Both take longer than a millisecond: 2e8 operations. The third one does not.
// CHECK-LABEL: plan.program @long
// CHECK: plan.launch {{.*}} {bytes = 0 : i64, flops = 200000000 : i64}
// CHECK: plan.launch {{.*}} {bytes = 0 : i64, flops = 200000000 : i64}
// CHECK: plan.launch {{.*}} {bytes = 0 : i64, flops = 1000 : i64, joins}
// REMARK: [Missed] FormWaves | Category:waves | Remark="is independent of the launch before, but both are long"
// REMARK: "3 launches in 2 waves, 0 parted for memory"
// SHORT-LABEL: plan.program @long
// SHORT-NOT: joins
plan.program @long {
  %x = plan.input "x" : tensor<64xf32>
  %y = plan.output "y" : tensor<64xf32>
  %z = plan.output "z" : tensor<64xf32>
  %u = plan.output "u" : tensor<64xf32>
  plan.launch @softmax reads(%x) writes(%y) {bytes = 0 : i64, flops = 200000000 : i64}
  plan.launch @softmax reads(%x) writes(%z) {bytes = 0 : i64, flops = 200000000 : i64}
  plan.launch @softmax reads(%x) writes(%u) {bytes = 0 : i64, flops = 1000 : i64}
}
plan.kernel @softmax strategy "test-loops" {
^bb0(%a: tensor<64xf32>):
  %r = cnn.softmax %a {axis = 0 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  plan.yield %r : tensor<64xf32>
}
