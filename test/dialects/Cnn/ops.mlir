// Every op and attribute prints what it parses.
// RUN: convoy-opt %s | convoy-opt | FileCheck %s
// RUN: convoy-opt %s --mlir-print-op-generic | convoy-opt | FileCheck %s
// RUN: convoy-opt %s --emit-bytecode | convoy-opt | FileCheck %s

// CHECK: module attributes {cnn.target = #cnn.target<name = "test", lanes = 16, registers = 32, l1Bytes = 32768, l2Bytes = 1048576, cpu = "x86-64-v4", features = "avx512f", "avx512vl">}
module attributes {cnn.target = #cnn.target<name = "test", lanes = 16, registers = 32,
    l1Bytes = 32768, l2Bytes = 1048576, cpu = "x86-64-v4", features = "avx512f", "avx512vl">} {

// CHECK-LABEL: func.func @constant
func.func @constant() {
  // CHECK: cnn.constant dense<1.000000e+00> : tensor<2x3xf32> -> tensor<2x3xf32>
  %0 = cnn.constant dense<1.0> : tensor<2x3xf32> -> tensor<2x3xf32>
  // The value has the shape in memory: 3 channels of 16.
  // CHECK: cnn.constant dense<0.000000e+00> : tensor<1x1x2x2x16xf32> -> tensor<1x3x2x2xf32, #cnn.layout<"nchw16c">>
  %1 = cnn.constant dense<0.0> : tensor<1x1x2x2x16xf32>
      -> tensor<1x3x2x2xf32, #cnn.layout<"nchw16c">>
  // CHECK: cnn.constant dense<[255, 1]> : tensor<2xui8> -> tensor<2xui8>
  %2 = cnn.constant dense<[255, 1]> : tensor<2xui8> -> tensor<2xui8>
  // CHECK: cnn.constant dense<[true, false]> : tensor<2xi1> -> tensor<2xi1>
  %3 = cnn.constant dense<[true, false]> : tensor<2xi1> -> tensor<2xi1>
  // CHECK: cnn.constant dense<> : tensor<0x3xf32> -> tensor<0x3xf32>
  %4 = cnn.constant dense<> : tensor<0x3xf32> -> tensor<0x3xf32>
  // CHECK: cnn.constant dense_resource<weights> : tensor<4xf32> -> tensor<4xf32>
  %5 = cnn.constant dense_resource<weights> : tensor<4xf32> -> tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @conv
// CHECK: cnn.conv %{{.*}}, %{{.*}} extras(%{{.*}}) {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
// CHECK-SAME: (tensor<?x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<1x4x1x1xf32>) -> tensor<?x4x8x8xf32, #cnn.layout<"nchw16c">>
// CHECK-NEXT: ^bb0(%[[ACC:.*]]: f32, %[[BIAS:.*]]: f32):
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[ACC]], %[[BIAS]] : f32
// CHECK-NEXT: cnn.yield %[[SUM]] : f32
func.func @conv(%x: tensor<?x3x8x8xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<1x4x1x1xf32>)
    -> tensor<?x4x8x8xf32, #cnn.layout<"nchw16c">> {
  %y = cnn.conv %x, %w extras(%b) {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>,
                                   dilations = array<i64: 1, 1>, groups = 1 : i64}
      : (tensor<?x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<1x4x1x1xf32>)
      -> tensor<?x4x8x8xf32, #cnn.layout<"nchw16c">> {
  ^bb0(%acc: f32, %bias: f32):
    %0 = arith.addf %acc, %bias : f32
    cnn.yield %0 : f32
  }
  return %y : tensor<?x4x8x8xf32, #cnn.layout<"nchw16c">>
}

// Three spatial dimensions, groups, and a result of another element type.
// CHECK-LABEL: func.func @conv_3d
// CHECK: cnn.conv {{.*}}groups = 2 : i64{{.*}}strategy = "loops"
// CHECK-SAME: (tensor<1x4x8x8x8xf32>, tensor<6x2x3x3x3xf32>) -> tensor<1x6x3x6x2xf16>
func.func @conv_3d(%x: tensor<1x4x8x8x8xf32>, %w: tensor<6x2x3x3x3xf32>) -> tensor<1x6x3x6x2xf16> {
  %y = cnn.conv %x, %w {strides = array<i64: 2, 1, 3>, pads = array<i64: 0, 0, 0, 0, 0, 0>,
                        dilations = array<i64: 1, 1, 1>, groups = 2 : i64, strategy = "loops"}
      : (tensor<1x4x8x8x8xf32>, tensor<6x2x3x3x3xf32>) -> tensor<1x6x3x6x2xf16> {
  ^bb0(%acc: f32):
    %0 = arith.truncf %acc : f32 to f16
    cnn.yield %0 : f16
  }
  return %y : tensor<1x6x3x6x2xf16>
}

// CHECK-LABEL: func.func @conv_transpose
// CHECK: cnn.conv_transpose {{.*}}output_padding = array<i64: 1, 0>
// CHECK-SAME: (tensor<1x4x5x5xf32>, tensor<4x3x3x3xf32>) -> tensor<1x6x12x11xf32>
func.func @conv_transpose(%x: tensor<1x4x5x5xf32>, %w: tensor<4x3x3x3xf32>)
    -> tensor<1x6x12x11xf32> {
  %y = cnn.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>,
      dilations = array<i64: 1, 1>, output_padding = array<i64: 1, 0>, groups = 2 : i64}
      : (tensor<1x4x5x5xf32>, tensor<4x3x3x3xf32>) -> tensor<1x6x12x11xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return %y : tensor<1x6x12x11xf32>
}

// CHECK-LABEL: func.func @pool
func.func @pool(%x: tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32> {
  // CHECK: cnn.pool <max> %{{.*}} {dilations
  %y = cnn.pool <max> %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>,
                          pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  // CHECK: cnn.pool <average> %{{.*}} {ceil_mode, count_include_pad, dilations
  // CHECK-SAME: -> tensor<1x3x5x5xf32>
  %z = cnn.pool <average> %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>,
      pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, ceil_mode, count_include_pad}
      : (tensor<1x3x8x8xf32>) -> tensor<1x3x5x5xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return %y : tensor<1x3x4x4xf32>
}

// CHECK-LABEL: func.func @pool_argmax
func.func @pool_argmax(%x: tensor<?x3x8x8xf32>) -> tensor<?x3x4x4xi64> {
  // CHECK: cnn.pool_argmax %{{.*}} {column_major, dilations {{.*}} -> tensor<?x3x4x4xi64>
  %y = cnn.pool_argmax %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>,
      pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, column_major}
      : (tensor<?x3x8x8xf32>) -> tensor<?x3x4x4xi64>
  return %y : tensor<?x3x4x4xi64>
}

// CHECK-LABEL: func.func @matmul
func.func @matmul(%a: tensor<?x1x5x2xf32>, %b: tensor<4x3x5xf32>) -> tensor<?x4x2x3xf32> {
  // CHECK: cnn.matmul %{{.*}}, %{{.*}} {transpose_lhs, transpose_rhs}
  // CHECK-SAME: (tensor<?x1x5x2xf32>, tensor<4x3x5xf32>) -> tensor<?x4x2x3xf32>
  %y = cnn.matmul %a, %b {transpose_lhs, transpose_rhs}
      : (tensor<?x1x5x2xf32>, tensor<4x3x5xf32>) -> tensor<?x4x2x3xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return %y : tensor<?x4x2x3xf32>
}

// CHECK-LABEL: func.func @reduce
func.func @reduce(%x: tensor<?x3x8xf32>) {
  // CHECK: cnn.reduce <mean> %{{.*}} {axes = array<i64: 1, 2>, keep_dims} : (tensor<?x3x8xf32>) -> tensor<?x1x1xf32>
  %0 = cnn.reduce <mean> %x {axes = array<i64: 1, 2>, keep_dims}
      : (tensor<?x3x8xf32>) -> tensor<?x1x1xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  // CHECK: cnn.reduce <sum> %{{.*}} {axes = array<i64>}
  %1 = cnn.reduce <sum> %x {axes = array<i64>} : (tensor<?x3x8xf32>) -> tensor<?x3x8xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  // CHECK: cnn.reduce <max>
  %2 = cnn.reduce <max> %x {axes = array<i64: 1>} : (tensor<?x3x8xf32>) -> tensor<?x8xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  // CHECK: cnn.reduce <min>
  %3 = cnn.reduce <min> %x {axes = array<i64: 1>} : (tensor<?x3x8xf32>) -> tensor<?x8xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  // CHECK: cnn.reduce <prod>
  %4 = cnn.reduce <prod> %x {axes = array<i64: 1>} : (tensor<?x3x8xf32>) -> tensor<?x8xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// An unsigned element is a signless scalar in the region.
// CHECK-LABEL: func.func @map
func.func @map(%x: tensor<2x3xf32>, %u: tensor<3xui8>) -> tensor<2x3xf32> {
  // CHECK: cnn.map(%{{.*}}, %{{.*}}) : (tensor<2x3xf32>, tensor<3xui8>) -> tensor<2x3xf32>
  %y = cnn.map(%x, %u) : (tensor<2x3xf32>, tensor<3xui8>) -> tensor<2x3xf32> {
  ^bb0(%e: f32, %i: i8):
    %f = arith.uitofp %i : i8 to f32
    %0 = arith.addf %e, %f : f32
    cnn.yield %0 : f32
  }
  return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @normalizations
func.func @normalizations(%x: tensor<?x3x8x8xf32>, %p: tensor<3xf32>) {
  // CHECK: cnn.softmax %{{.*}} {axis = 1 : i64, log} : (tensor<?x3x8x8xf32>) -> tensor<?x3x8x8xf32>
  %0 = cnn.softmax %x {axis = 1 : i64, log} : (tensor<?x3x8x8xf32>) -> tensor<?x3x8x8xf32>
  // CHECK: cnn.lrn %{{.*}} {alpha = 1.000000e-04 : f64, beta = 7.500000e-01 : f64, bias = 1.000000e+00 : f64, size = 5 : i64}
  %1 = cnn.lrn %x {size = 5 : i64, alpha = 1.0e-4 : f64, beta = 0.75 : f64, bias = 1.0 : f64}
      : (tensor<?x3x8x8xf32>) -> tensor<?x3x8x8xf32>
  // CHECK: cnn.batch_norm %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {epsilon = 1.000000e-05 : f64}
  %2 = cnn.batch_norm %x, %p, %p, %p, %p {epsilon = 1.0e-5 : f64}
      : (tensor<?x3x8x8xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
      -> tensor<?x3x8x8xf32>
  return
}

// CHECK-LABEL: func.func @movement
func.func @movement(%x: tensor<?x3x8xf32>, %s: tensor<f32>, %i: tensor<2x2xi64>) {
  // CHECK: cnn.reshape %{{.*}} : (tensor<?x3x8xf32>) -> tensor<?x24xf32>
  %0 = cnn.reshape %x : (tensor<?x3x8xf32>) -> tensor<?x24xf32>
  // CHECK: cnn.transpose %{{.*}} {perm = array<i64: 0, 2, 1>}
  %1 = cnn.transpose %x {perm = array<i64: 0, 2, 1>} : (tensor<?x3x8xf32>) -> tensor<?x8x3xf32>
  // CHECK: cnn.broadcast %{{.*}} : (tensor<f32>) -> tensor<4x2xf32>
  %2 = cnn.broadcast %s : (tensor<f32>) -> tensor<4x2xf32>
  // CHECK: cnn.slice %{{.*}} {starts = array<i64: 0, 2, 0>, steps = array<i64: 1, -2, 3>}
  %3 = cnn.slice %x {starts = array<i64: 0, 2, 0>, steps = array<i64: 1, -2, 3>}
      : (tensor<?x3x8xf32>) -> tensor<?x2x3xf32>
  // CHECK: cnn.concat(%{{.*}}, %{{.*}}) {axis = 1 : i64} : (tensor<?x3x8xf32>, tensor<?x3x8xf32>) -> tensor<?x6x8xf32>
  %4 = cnn.concat(%x, %x) {axis = 1 : i64}
      : (tensor<?x3x8xf32>, tensor<?x3x8xf32>) -> tensor<?x6x8xf32>
  // CHECK: cnn.pad <constant> %{{.*}}, %{{.*}} {high = array<i64: 0, 1, 0>, low = array<i64: 0, 0, -2>}
  %5 = cnn.pad <constant> %x, %s {low = array<i64: 0, 0, -2>, high = array<i64: 0, 1, 0>}
      : (tensor<?x3x8xf32>, tensor<f32>) -> tensor<?x4x6xf32>
  // CHECK: cnn.pad <reflect>
  %6 = cnn.pad <reflect> %x {low = array<i64: 0, 2, 0>, high = array<i64: 0, 0, 0>}
      : (tensor<?x3x8xf32>) -> tensor<?x5x8xf32>
  // CHECK: cnn.pad <edge>
  %7 = cnn.pad <edge> %x {low = array<i64: 0, 9, 0>, high = array<i64: 0, 0, 0>}
      : (tensor<?x3x8xf32>) -> tensor<?x12x8xf32>
  // CHECK: cnn.pad <wrap>
  %8 = cnn.pad <wrap> %x {low = array<i64: 0, 0, 0>, high = array<i64: 0, 9, 0>}
      : (tensor<?x3x8xf32>) -> tensor<?x12x8xf32>
  // CHECK: cnn.gather %{{.*}}, %{{.*}} {axis = 1 : i64} : (tensor<?x3x8xf32>, tensor<2x2xi64>) -> tensor<?x2x2x8xf32>
  %9 = cnn.gather %x, %i {axis = 1 : i64}
      : (tensor<?x3x8xf32>, tensor<2x2xi64>) -> tensor<?x2x2x8xf32>
  return
}

// CHECK-LABEL: func.func @resize
func.func @resize(%x: tensor<?x3x4x4xf32>) {
  // CHECK: cnn.resize <nearest> %{{.*}} {antialias, coordinates = #cnn.coordinates<asymmetric>
  // CHECK-SAME: exclude_outside
  // CHECK-SAME: nearest_mode = #cnn.nearest_mode<floor>, roi = array<f64>, scales = array<f64: 1.000000e+00, 1.000000e+00, 2.000000e+00, 2.000000e+00>
  %0 = cnn.resize <nearest> %x {coordinates = #cnn.coordinates<asymmetric>,
      nearest_mode = #cnn.nearest_mode<floor>, scales = array<f64: 1.0, 1.0, 2.0, 2.0>,
      roi = array<f64>, cubic_coeff_a = -0.75 : f64, extrapolation_value = 0.0 : f64,
      exclude_outside, antialias} : (tensor<?x3x4x4xf32>) -> tensor<?x3x8x8xf32>
  // CHECK: cnn.resize <linear> %{{.*}} #cnn.coordinates<tf_crop_and_resize>
  // CHECK-SAME: roi = array<f64: 0.000000e+00
  %1 = cnn.resize <linear> %x {coordinates = #cnn.coordinates<tf_crop_and_resize>,
      nearest_mode = #cnn.nearest_mode<round_prefer_ceil>, scales = array<f64: 1.0, 1.0, 0.5, 0.5>,
      roi = array<f64: 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0>, cubic_coeff_a = -0.75 : f64,
      extrapolation_value = 0.0 : f64} : (tensor<?x3x4x4xf32>) -> tensor<?x3x2x2xf32>
  // CHECK: cnn.resize <cubic> %{{.*}} #cnn.coordinates<half_pixel_symmetric>
  %2 = cnn.resize <cubic> %x {coordinates = #cnn.coordinates<half_pixel_symmetric>,
      nearest_mode = #cnn.nearest_mode<round_prefer_floor>,
      scales = array<f64: 1.0, 1.0, 0.5, 0.5>, roi = array<f64>, cubic_coeff_a = -0.5 : f64,
      extrapolation_value = 0.0 : f64} : (tensor<?x3x4x4xf32>) -> tensor<?x3x2x2xf32>
  return
}

// CHECK-LABEL: func.func @sampling
func.func @sampling(%x: tensor<2x3x8x8xf32>, %p: tensor<2x5x2xf32>, %r: tensor<4x4xf32>,
                    %i: tensor<4xi64>) {
  // CHECK: cnn.sample <cubic> %{{.*}}, %{{.*}} {align_corners, padding = #cnn.sample_padding<reflection>}
  %0 = cnn.sample <cubic> %x, %p {padding = #cnn.sample_padding<reflection>, align_corners}
      : (tensor<2x3x8x8xf32>, tensor<2x5x2xf32>) -> tensor<2x3x5xf32>
  // CHECK: cnn.roi_align <max> %{{.*}}, %{{.*}}, %{{.*}} {bins = array<i64: 2, 3>, half_pixel, sampling_ratio = 2 : i64, spatial_scale = 5.000000e-01 : f64}
  %1 = cnn.roi_align <max> %x, %r, %i {bins = array<i64: 2, 3>, half_pixel,
      sampling_ratio = 2 : i64, spatial_scale = 0.5 : f64}
      : (tensor<2x3x8x8xf32>, tensor<4x4xf32>, tensor<4xi64>) -> tensor<4x3x2x3xf32>
  return
}

// CHECK-LABEL: func.func @relayout
func.func @relayout(%x: tensor<?x3x8x8xf32>) -> tensor<?x3x8x8xf32, #cnn.layout<"nhwc">> {
  // CHECK: cnn.relayout %{{.*}} {strategy = "copy"} : (tensor<?x3x8x8xf32>) -> tensor<?x3x8x8xf32, #cnn.layout<"nhwc">>
  %y = cnn.relayout %x {strategy = "copy"}
      : (tensor<?x3x8x8xf32>) -> tensor<?x3x8x8xf32, #cnn.layout<"nhwc">>
  return %y : tensor<?x3x8x8xf32, #cnn.layout<"nhwc">>
}

// Tags of every family and rank.
// CHECK-LABEL: func.func private @layouts
// CHECK-SAME: #cnn.layout<"oihw16i16o">
// CHECK-SAME: #cnn.layout<"nk8n">
func.func private @layouts(tensor<2x3x4x4xf32, #cnn.layout<"nchw">>,
    tensor<2x3x4xf32, #cnn.layout<"ncw8c">>, tensor<2x3x4x4x4xf32, #cnn.layout<"ndhwc">>,
    tensor<2x3xf32, #cnn.layout<"nc16c">>, tensor<32x32x3x3xf32, #cnn.layout<"oihw16i16o">>,
    tensor<32x32x3x3xf32, #cnn.layout<"oihw4i16o4i">>, tensor<8x32xf32, #cnn.layout<"nk8n">>)

} // module

{-#
  dialect_resources: {
    builtin: {
      weights: "0x040000000000803F000000400000404000008040"
    }
  }
#-}
