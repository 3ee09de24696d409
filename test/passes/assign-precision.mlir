// RUN: convoy-opt %s --split-input-file --convoy-assign-precision | FileCheck %s
// RUN: convoy-opt %s --split-input-file --convoy-assign-precision --remarks-filter=.* 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// The weights are cast at compile time, the input by a map; sum and epilogue are rounded once.
// CHECK-LABEL: func.func @conv
// CHECK: %[[X:.+]] = cnn.map(%{{.*}}) : (tensor<1x1x4x4xf16>) -> tensor<1x1x4x4xf32>
// CHECK: arith.extf
// CHECK: %[[W:.+]] = cnn.constant dense<1.500000e+00> : tensor<1x1x1x1xf32>
// CHECK: cnn.conv %[[X]], %[[W]] {{.*}} -> tensor<1x1x4x4xf16>
// CHECK: ^bb0(%[[ACC:.+]]: f32):
// CHECK-NEXT: %[[EXP:.+]] = math.exp %[[ACC]] : f32
// CHECK-NEXT: %[[RESULT:.+]] = arith.truncf %[[EXP]]
// CHECK-NEXT: cnn.yield %[[RESULT]] : f16
// REMARK: loc("half_conv"): [Passed] AssignPrecision | Category:precision | Remark="computes in f32, scalar arithmetic in f32"
func.func @conv(%x: tensor<1x1x4x4xf16>) -> tensor<1x1x4x4xf16> {
  %w = cnn.constant dense<1.5> : tensor<1x1x1x1xf16> -> tensor<1x1x1x1xf16>
  %y = cnn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x4x4xf16>, tensor<1x1x1x1xf16>) -> tensor<1x1x4x4xf16> {
  ^bb0(%acc: f16):
    %v0 = math.exp %acc : f16
    cnn.yield %v0 : f16
  } loc("half_conv")
  return %y : tensor<1x1x4x4xf16>
}

// -----

// CHECK-LABEL: func.func @softmax
// CHECK: cnn.softmax %{{.*}} : (tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK: %[[Y:.+]] = cnn.map(%{{.*}}) : (tensor<2x4xf32>) -> tensor<2x4xbf16>
// CHECK: return %[[Y]]
func.func @softmax(%x: tensor<2x4xbf16>) -> tensor<2x4xbf16> {
  %y = cnn.softmax %x {axis = 1 : i64} : (tensor<2x4xbf16>) -> tensor<2x4xbf16>
  return %y : tensor<2x4xbf16>
}

// -----

// A maximum rounds nothing, but there are kernels for f32; one cast serves all users. f32 stays as it
// is.
// CHECK-LABEL: func.func @picks
// CHECK: %[[X:.+]] = cnn.map(%{{.*}}) : (tensor<1x1x4x4xf16>) -> tensor<1x1x4x4xf32>
// CHECK: cnn.pool <max> %[[X]] {{.*}} : (tensor<1x1x4x4xf32>) -> tensor<1x1x2x2xf16>
// CHECK: ^bb0(%[[ACC:.+]]: f32):
// CHECK-NEXT: %[[RESULT:.+]] = arith.truncf %[[ACC]]
// CHECK-NEXT: cnn.yield %[[RESULT]] : f16
// CHECK: cnn.reduce <max> %[[X]] {{.*}} : (tensor<1x1x4x4xf32>) -> tensor<1x1x1x1xf16>
// CHECK: cnn.reduce <sum> %{{.*}} : (tensor<1x4xf32>) -> tensor<1x1xf32>
// CHECK-NOT: cnn.map
// CHECK: return
func.func @picks(%x: tensor<1x1x4x4xf16>, %z: tensor<1x4xf32>) -> (tensor<1x1x2x2xf16>, tensor<1x1x1x1xf16>, tensor<1x1xf32>) {
  %p = cnn.pool <max> %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x1x4x4xf16>) -> tensor<1x1x2x2xf16> {
  ^bb0(%acc: f16):
    cnn.yield %acc : f16
  }
  %m = cnn.reduce <max> %x {axes = array<i64: 2, 3>, keep_dims} : (tensor<1x1x4x4xf16>) -> tensor<1x1x1x1xf16> {
  ^bb0(%acc: f16):
    cnn.yield %acc : f16
  }
  %r = cnn.reduce <sum> %z {axes = array<i64: 1>, keep_dims} : (tensor<1x4xf32>) -> tensor<1x1xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return %p, %m, %r : tensor<1x1x2x2xf16>, tensor<1x1x1x1xf16>, tensor<1x1xf32>
}

// -----

// Arithmetic is in f32 and its result rounded once; what the model itself rounds stays rounded, and
// bits are those of the half float.
// CHECK-LABEL: func.func @map
// CHECK: ^bb0(%[[X:.+]]: f16, %[[Z:.+]]: f32):
// CHECK-DAG: %[[C:.+]] = arith.constant 2.500000e-01 : f32
// CHECK-DAG: %[[WIDE:.+]] = arith.extf %[[X]] : f16 to f32
// CHECK-DAG: %[[PRODUCT:.+]] = arith.mulf %[[WIDE]], %[[C]] : f32
// CHECK-DAG: %[[CAST:.+]] = arith.truncf %[[Z]] : f32 to f16
// CHECK-DAG: %[[BACK:.+]] = arith.extf %[[CAST]] : f16 to f32
// CHECK: %[[SUM:.+]] = arith.addf %[[PRODUCT]], %[[BACK]] : f32
// CHECK: %[[LESS:.+]] = arith.cmpf olt, %[[SUM]], %[[WIDE]] : f32
// CHECK: %[[PICK:.+]] = arith.select %[[LESS]], %[[SUM]], %[[C]] : f32
// CHECK: %[[HALF:.+]] = arith.truncf %[[PICK]] : f32 to f16
// CHECK: %[[BITS:.+]] = arith.bitcast %[[HALF]] : f16 to i16
// CHECK: arith.addi %[[BITS]], %[[BITS]] : i16
// CHECK: %[[RESULT:.+]] = arith.truncf %[[PICK]] : f32 to f16
// CHECK: cnn.yield %[[RESULT]] : f16
func.func @map(%x: tensor<4xf16>, %z: tensor<4xf32>) -> tensor<4xf16> {
  %y = cnn.map(%x, %z) : (tensor<4xf16>, tensor<4xf32>) -> tensor<4xf16> {
  ^bb0(%a: f16, %b: f32):
    %c = arith.constant 0.25 : f16
    %0 = arith.mulf %a, %c : f16
    %1 = arith.truncf %b : f32 to f16
    %2 = arith.addf %0, %1 : f16
    %3 = arith.cmpf olt, %2, %a : f16
    %4 = arith.select %3, %2, %c : f16
    %5 = arith.bitcast %4 : f16 to i16
    %6 = arith.addi %5, %5 : i16
    cnn.yield %4 : f16
  }
  return %y : tensor<4xf16>
}
