// RUN: convoy-opt %s --split-input-file --convoy-outline-to-plan --convoy-verify-stage=stage=plan | FileCheck %s
// RUN: convoy-opt %s --split-input-file --convoy-outline-to-plan --mlir-print-debuginfo | FileCheck %s --check-prefix=LOC

// Two equal pools share a kernel; the reshape shares a buffer; the last op writes the output.
// CHECK: plan.program @main {
// CHECK-DAG: %[[X:.+]] = plan.input "x" : tensor<?x2x8x8xf32> {dim_names = ["N", "", "height", "width"]}
// CHECK-DAG: %[[Y:.+]] = plan.output "y" : tensor<?x8xf32> {dim_names = ["N", ""]}
// CHECK: %[[C:.+]] = plan.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00
// CHECK: %[[A:.+]] = plan.alloc {bytes = 512 : i64}
// CHECK: plan.launch @pool_0 reads(%[[X]]) writes(%[[A]]) {bytes = 1024 : i64, flops = 512 : i64}
// CHECK: %[[B:.+]] = plan.alloc {bytes = 512 : i64}
// CHECK: plan.launch @pool_0 reads(%[[A]]) writes(%[[B]])
// CHECK: %[[P:.+]] = plan.alloc {bytes = 32 : i64}
// CHECK: plan.launch @pool_1 reads(%[[B]]) writes(%[[P]])
// CHECK: plan.launch @map_2 reads(%[[P]], %[[C]]) writes(%[[Y]]) {bytes = 96 : i64, flops = 8 : i64}
// CHECK-NOT: func.func
// CHECK: plan.kernel @pool_0 strategy "test-loops" {
// CHECK-NEXT: ^bb0(%[[SRC:.+]]: tensor<?x2x8x8xf32>):
// CHECK-NEXT: %[[DST:.+]] = cnn.pool <max> %[[SRC]]
// CHECK-NOT: strategy
// CHECK: plan.yield %[[DST]] : tensor<?x2x8x8xf32>
// CHECK: plan.kernel @pool_1
// CHECK: plan.kernel @map_2
// LOC-DAG: #[[FIRST:loc[0-9]*]] = loc("first")
// LOC-DAG: #[[SECOND:loc[0-9]*]] = loc("second")
module attributes {cnn.target = #cnn.target<name = "test", lanes = 16, registers = 32, l1Bytes = 32768, l2Bytes = 1048576, cpu = "generic">} {
func.func @main(%x: tensor<?x2x8x8xf32> {cnn.dim_names = ["N", "", "height", "width"], cnn.name = "x"}) -> (tensor<?x8xf32> {cnn.dim_names = ["N", ""], cnn.name = "y"}) {
  %c = cnn.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32> -> tensor<8xf32>
  %a = cnn.pool <max> %x {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, strategy = "test-loops"} : (tensor<?x2x8x8xf32>) -> tensor<?x2x8x8xf32> {
  ^bb0(%acc: f32):
    %zero = arith.constant 0.0 : f32
    %v0 = arith.addf %acc, %zero : f32
    %v1 = arith.addf %v0, %zero : f32
    %v2 = arith.addf %v1, %zero : f32
    cnn.yield %v2 : f32
  } loc("first")
  %b = cnn.pool <max> %a {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, strategy = "test-loops"} : (tensor<?x2x8x8xf32>) -> tensor<?x2x8x8xf32> {
  ^bb0(%acc: f32):
    %zero = arith.constant 0.0 : f32
    %v0 = arith.addf %acc, %zero : f32
    %v1 = arith.addf %v0, %zero : f32
    %v2 = arith.addf %v1, %zero : f32
    cnn.yield %v2 : f32
  } loc("second")
  %p = cnn.pool <max> %b {kernel = array<i64: 4, 4>, strides = array<i64: 4, 4>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, strategy = "test-loops"} : (tensor<?x2x8x8xf32>) -> tensor<?x2x2x2xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  %r = cnn.reshape %p : (tensor<?x2x2x2xf32>) -> tensor<?x8xf32>
  %y = cnn.map(%r, %c) {strategy = "test-loops"} : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32> {
  ^bb0(%e: f32, %f: f32):
    %v0 = arith.addf %e, %f : f32
    cnn.yield %v0 : f32
  }
  return %y : tensor<?x8xf32>
}
}

// -----

// Another epilogue, type or strategy is another kernel. An operand that is used twice is read as
// two arguments. Names of inputs and outputs that have none are made up.
// CHECK: plan.program @main
// CHECK-DAG: %[[X:.+]] = plan.input "input0"
// CHECK-DAG: plan.output "output0"
// CHECK: plan.launch @map_0 reads(%[[X]], %[[X]])
// CHECK: plan.launch @map_1
// CHECK: plan.launch @map_2
// CHECK: plan.launch @map_3
module attributes {cnn.target = #cnn.target<name = "test", lanes = 16, registers = 32, l1Bytes = 32768, l2Bytes = 1048576, cpu = "generic">} {
func.func @main(%x: tensor<2xf32>, %i: tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<4xf32>) {
  %a = cnn.map(%x, %x) {strategy = "test-loops"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%e: f32, %f: f32):
    %v0 = arith.addf %e, %f : f32
    cnn.yield %v0 : f32
  }
  %b = cnn.map(%x, %x) {strategy = "test-loops"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%e: f32, %f: f32):
    %v0 = arith.mulf %e, %f : f32
    cnn.yield %v0 : f32
  }
  %c = cnn.map(%x, %x) {strategy = "test-blocks"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%e: f32, %f: f32):
    %v0 = arith.addf %e, %f : f32
    cnn.yield %v0 : f32
  }
  %d = cnn.map(%i, %i) {strategy = "test-loops"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%e: f32, %f: f32):
    %v0 = arith.addf %e, %f : f32
    cnn.yield %v0 : f32
  }
  return %a, %b, %c, %d : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<4xf32>
}
}

// -----

// A count follows all other outputs and has no name.
// CHECK: plan.program @main {
// CHECK-DAG: plan.output "y" : tensor<4xi64> {count = 1 : i64, counted_dim = 0 : i64}
// CHECK-DAG: plan.output "" : tensor<i64> {internal}
module attributes {cnn.target = #cnn.target<name = "test", lanes = 16, registers = 32, l1Bytes = 32768, l2Bytes = 1048576, cpu = "generic">} {
func.func @main(%x: tensor<4xi1> {cnn.name = "x"}, %n: tensor<4xi64>) -> (tensor<4xi64> {cnn.name = "y", cnn.extent = #cnn.extent<dim = 0, count = 1>}, tensor<i64>) {
  %y = cnn.true_positions %x {strategy = "test-loops"} : (tensor<4xi1>) -> tensor<4xi64>
  %c = cnn.reduce <sum> %n {axes = array<i64: 0>, strategy = "test-loops"} : (tensor<4xi64>) -> tensor<i64> {
  ^bb0(%acc: i64):
    cnn.yield %acc : i64
  }
  return %y, %c : tensor<4xi64>, tensor<i64>
}
}
