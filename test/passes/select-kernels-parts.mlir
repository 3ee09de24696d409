// RUN: convoy-opt %s --split-input-file --convoy-select-kernels --convoy-verify-stage=stage=select | FileCheck %s
// RUN: convoy-opt %s --split-input-file --convoy-select-kernels --convoy-outline-to-plan --convoy-plan-memory --convoy-verify-plan | FileCheck %s --check-prefix=PLAN
// RUN: convoy-opt %s --split-input-file --convoy-select-kernels --remarks-filter=.* 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// Both inputs are written where they belong, under another shape too; the slice of the result is
// a part of it as well.
// CHECK-LABEL: func.func @parts
// CHECK: cnn.concat
// CHECK-NOT: strategy
// CHECK: cnn.slice
// CHECK-NOT: strategy
// CHECK: cnn.softmax
// REMARK: loc("cat"): [Passed] SelectKernels | Category:kernel | Remark="cnn.concat without a copy"
// REMARK: loc("cut"): [Passed] SelectKernels | Category:kernel | Remark="cnn.slice without a copy"
// PLAN: plan.program @parts
// PLAN: %[[ALL:.+]] = plan.alloc {bytes = 1024 : i64, offset = 0 : i64}
// PLAN: %[[A:.+]] = plan.view %[[ALL]] {bytes = 512 : i64, offset = 0 : i64}
// PLAN: plan.launch @softmax_0 reads(%{{.+}}) writes(%[[A]])
// PLAN: %[[B:.+]] = plan.view %[[ALL]] {bytes = 512 : i64, offset = 512 : i64}
// PLAN: plan.launch @map_1 reads(%{{.+}}) writes(%[[B]])
// PLAN-NOT: plan.launch @concat
// PLAN: %[[CUT:.+]] = plan.view %[[ALL]] {bytes = 512 : i64, offset = 256 : i64}
// PLAN: plan.launch @softmax_0 reads(%[[CUT]])
// PLAN: plan.launch {{.*}} reads(%[[ALL]])
module attributes {cnn.target = #cnn.target<name = "test", lanes = 16, registers = 32, l1Bytes = 32768, l2Bytes = 1048576, cpu = "generic">} {
func.func @parts(%x: tensor<1x32x2x2xf32>, %z: tensor<1x128xf32>) -> (tensor<1x32x2x2xf32>, tensor<1x64x2x2xf32>) {
  %a = cnn.softmax %x {axis = 1 : i64} : (tensor<1x32x2x2xf32>) -> tensor<1x32x2x2xf32>
  %m = cnn.map(%z) : (tensor<1x128xf32>) -> tensor<1x128xf32> {
  ^bb0(%e: f32):
    %zero = arith.constant 0.0 : f32
    %v0 = arith.maximumf %e, %zero : f32
    cnn.yield %v0 : f32
  }
  %b = cnn.reshape %m : (tensor<1x128xf32>) -> tensor<1x32x2x2xf32>
  %c = cnn.concat(%a, %b) {axis = 1 : i64} : (tensor<1x32x2x2xf32>, tensor<1x32x2x2xf32>) -> tensor<1x64x2x2xf32> loc("cat")
  %s = cnn.slice %c {starts = array<i64: 0, 16, 0, 0>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x64x2x2xf32>) -> tensor<1x32x2x2xf32> loc("cut")
  %y = cnn.softmax %s {axis = 1 : i64} : (tensor<1x32x2x2xf32>) -> tensor<1x32x2x2xf32>
  %w = cnn.softmax %c {axis = 1 : i64} : (tensor<1x64x2x2xf32>) -> tensor<1x64x2x2xf32>
  return %y, %w : tensor<1x32x2x2xf32>, tensor<1x64x2x2xf32>
}
}

// -----

// A concat of a concat; an input of the network is copied to its place, as is a value that is a
// part of another result already.
// CHECK-LABEL: func.func @nested
// CHECK: %[[C:.+]] = cnn.concat(%{{.+}}, %{{.+}}) {axis = 1 : i64}
// CHECK: %[[COPY:.+]] = cnn.relayout %arg0 {strategy = "test-blocks"}
// CHECK: %[[AGAIN:.+]] = cnn.relayout %{{.+}} {strategy = "test-blocks"}
// CHECK: cnn.concat(%[[C]], %[[COPY]], %[[AGAIN]]) {axis = 1 : i64}
// PLAN: plan.program @nested
// PLAN: %[[OUTER:.+]] = plan.alloc {bytes = 2048 : i64
// PLAN: %[[INNER:.+]] = plan.view %[[OUTER]] {bytes = 1024 : i64, offset = 0 : i64}
// PLAN: plan.view %[[INNER]] {bytes = 512 : i64, offset = 0 : i64}
module attributes {cnn.target = #cnn.target<name = "test", lanes = 16, registers = 32, l1Bytes = 32768, l2Bytes = 1048576, cpu = "generic">} {
func.func @nested(%x: tensor<1x32x2x2xf32>) -> tensor<1x128x2x2xf32> {
  %a = cnn.softmax %x {axis = 1 : i64} : (tensor<1x32x2x2xf32>) -> tensor<1x32x2x2xf32>
  %b = cnn.softmax %a {axis = 1 : i64} : (tensor<1x32x2x2xf32>) -> tensor<1x32x2x2xf32>
  %c = cnn.concat(%a, %b) {axis = 1 : i64} : (tensor<1x32x2x2xf32>, tensor<1x32x2x2xf32>) -> tensor<1x64x2x2xf32>
  %d = cnn.concat(%c, %x, %a) {axis = 1 : i64} : (tensor<1x64x2x2xf32>, tensor<1x32x2x2xf32>, tensor<1x32x2x2xf32>) -> tensor<1x128x2x2xf32>
  %y = cnn.softmax %d {axis = 1 : i64} : (tensor<1x128x2x2xf32>) -> tensor<1x128x2x2xf32>
  return %y : tensor<1x128x2x2xf32>
}
}

// -----

// With a free batch each image has its parts. An inner extent is cut into many pieces. A part of
// 20 bytes is not aligned. Outputs are not read, so they are not parts. Inputs that would all be
// copied are copied by the concat. A step leaves elements out.
// CHECK-LABEL: func.func @kernels
// CHECK-COUNT-5: cnn.concat({{.*}}strategy = "test-loops"
// CHECK: cnn.slice {{.*}}strategy = "test-loops"
module attributes {cnn.target = #cnn.target<name = "test", lanes = 16, registers = 32, l1Bytes = 32768, l2Bytes = 1048576, cpu = "generic">} {
func.func @kernels(%x: tensor<?x32x2x2xf32>, %z: tensor<1x32x2x2xf32>, %f: tensor<1x5x1x1xf32>) -> (tensor<?x64x2x2xf32>, tensor<1x32x4x2xf32>, tensor<1x10x1x1xf32>, tensor<1x64x2x2xf32>, tensor<1x64x2x2xf32>, tensor<1x16x2x2xf32>) {
  %a = cnn.softmax %x {axis = 1 : i64} : (tensor<?x32x2x2xf32>) -> tensor<?x32x2x2xf32>
  %b = cnn.softmax %a {axis = 1 : i64} : (tensor<?x32x2x2xf32>) -> tensor<?x32x2x2xf32>
  %0 = cnn.concat(%a, %b) {axis = 1 : i64} : (tensor<?x32x2x2xf32>, tensor<?x32x2x2xf32>) -> tensor<?x64x2x2xf32>
  %1 = cnn.softmax %0 {axis = 1 : i64} : (tensor<?x64x2x2xf32>) -> tensor<?x64x2x2xf32>
  %c = cnn.softmax %z {axis = 1 : i64} : (tensor<1x32x2x2xf32>) -> tensor<1x32x2x2xf32>
  %d = cnn.softmax %c {axis = 1 : i64} : (tensor<1x32x2x2xf32>) -> tensor<1x32x2x2xf32>
  %2 = cnn.concat(%c, %d) {axis = 2 : i64} : (tensor<1x32x2x2xf32>, tensor<1x32x2x2xf32>) -> tensor<1x32x4x2xf32>
  %3 = cnn.softmax %2 {axis = 1 : i64} : (tensor<1x32x4x2xf32>) -> tensor<1x32x4x2xf32>
  %g = cnn.softmax %f {axis = 1 : i64} : (tensor<1x5x1x1xf32>) -> tensor<1x5x1x1xf32>
  %h = cnn.softmax %g {axis = 1 : i64} : (tensor<1x5x1x1xf32>) -> tensor<1x5x1x1xf32>
  %4 = cnn.concat(%g, %h) {axis = 1 : i64} : (tensor<1x5x1x1xf32>, tensor<1x5x1x1xf32>) -> tensor<1x10x1x1xf32>
  %5 = cnn.softmax %4 {axis = 1 : i64} : (tensor<1x10x1x1xf32>) -> tensor<1x10x1x1xf32>
  %6 = cnn.concat(%c, %d) {axis = 1 : i64} : (tensor<1x32x2x2xf32>, tensor<1x32x2x2xf32>) -> tensor<1x64x2x2xf32>
  %7 = cnn.concat(%z, %z) {axis = 1 : i64} : (tensor<1x32x2x2xf32>, tensor<1x32x2x2xf32>) -> tensor<1x64x2x2xf32>
  %8 = cnn.softmax %7 {axis = 1 : i64} : (tensor<1x64x2x2xf32>) -> tensor<1x64x2x2xf32>
  %9 = cnn.slice %c {starts = array<i64: 0, 0, 0, 0>, steps = array<i64: 1, 2, 1, 1>} : (tensor<1x32x2x2xf32>) -> tensor<1x16x2x2xf32>
  %10 = cnn.softmax %9 {axis = 1 : i64} : (tensor<1x16x2x2xf32>) -> tensor<1x16x2x2xf32>
  return %1, %3, %5, %6, %8, %10 : tensor<?x64x2x2xf32>, tensor<1x32x4x2xf32>, tensor<1x10x1x1xf32>, tensor<1x64x2x2xf32>, tensor<1x64x2x2xf32>, tensor<1x16x2x2xf32>
}
}
