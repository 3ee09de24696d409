// One case for each constraint that the ops with a scalar region state, and for the region itself.
// RUN: convoy-opt %s --split-input-file --verify-diagnostics

// conv_c1: the rank is at least 3.
func.func @f(%x: tensor<1x4xf32>, %w: tensor<8x4xf32>) {
  // expected-error @+1 {{src needs rank 3 or more, got 2}}
  %0 = cnn.conv %x, %w {strides = array<i64>, pads = array<i64>, dilations = array<i64>, groups = 1 : i64}
      : (tensor<1x4xf32>, tensor<8x4xf32>) -> tensor<1x8xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// conv_c1: ranks agree.
func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<8x4x3xf32>) {
  // expected-error @+1 {{src has rank 4 but weights have rank 3}}
  %0 = cnn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64}
      : (tensor<1x4x8x8xf32>, tensor<8x4x3xf32>) -> tensor<1x8x6x6xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// conv_c1, conv_c4: the result has the rank, too.
func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<8x4x3x3xf32>) {
  // expected-error @+1 {{'cnn.conv' op has result 'tensor<1x8x6xf32>', expected the shape of 'tensor<1x8x6x6xf32>'}}
  %0 = cnn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64}
      : (tensor<1x4x8x8xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x6xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// conv_c2: groups divides ic.
func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<8x4x3x3xf32>) {
  // expected-error @+1 {{group=3 does not divide ic=4 and oc=8}}
  %0 = cnn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 3 : i64}
      : (tensor<1x4x8x8xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x6x6xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// conv_c2: groups divides oc.
func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<7x2x3x3xf32>) {
  // expected-error @+1 {{group=2 does not divide ic=4 and oc=7}}
  %0 = cnn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 2 : i64}
      : (tensor<1x4x8x8xf32>, tensor<7x2x3x3xf32>) -> tensor<1x7x6x6xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// conv_c2: groups is positive.
func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<8x4x3x3xf32>) {
  // expected-error @+1 {{group=0 does not divide ic=4 and oc=8}}
  %0 = cnn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 0 : i64}
      : (tensor<1x4x8x8xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x6x6xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// conv_c2: ic / groups channels.
func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<8x3x3x3xf32>) {
  // expected-error @+1 {{weights have 3 input channels, expected 2 (ic=4, group=2)}}
  %0 = cnn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 2 : i64}
      : (tensor<1x4x8x8xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x6x6xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// conv_c3: a stride for each dimension.
func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<8x4x3x3xf32>) {
  // expected-error @+1 {{strides needs 2 values for 2 spatial dimensions, got 1}}
  %0 = cnn.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64}
      : (tensor<1x4x8x8xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x6x6xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// conv_c3: strides are positive.
func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<8x4x3x3xf32>) {
  // expected-error @+1 {{strides must be positive, got [1x0]}}
  %0 = cnn.conv %x, %w {strides = array<i64: 1, 0>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64}
      : (tensor<1x4x8x8xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x6x6xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// conv_c3: a dilation for each dimension.
func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<8x4x3x3xf32>) {
  // expected-error @+1 {{dilations needs 2 values for 2 spatial dimensions, got 3}}
  %0 = cnn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1, 1>, groups = 1 : i64}
      : (tensor<1x4x8x8xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x6x6xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// conv_c3: dilations are positive.
func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<8x4x3x3xf32>) {
  // expected-error @+1 {{dilations must be positive, got [-1x1]}}
  %0 = cnn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: -1, 1>, groups = 1 : i64}
      : (tensor<1x4x8x8xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x6x6xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// conv_c3: two pads for each dimension.
func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<8x4x3x3xf32>) {
  // expected-error @+1 {{pads needs 4 values for 2 spatial dimensions, got 2}}
  %0 = cnn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64}
      : (tensor<1x4x8x8xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x6x6xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// conv_c4: the inferred shape.
func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<8x4x3x3xf32>) {
  // expected-error @+1 {{'cnn.conv' op has result 'tensor<1x8x8x8xf32>', expected the shape of 'tensor<1x8x6x6xf32>'}}
  %0 = cnn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64}
      : (tensor<1x4x8x8xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x8x8xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// conv_c4: a kernel that does not fit.
func.func @f(%x: tensor<1x4x8x2xf32>, %w: tensor<8x4x3x3xf32>) {
  // expected-error @+1 {{spatial dimension 1: extent 2 with padding is smaller than the kernel's 3}}
  %0 = cnn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64}
      : (tensor<1x4x8x2xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x6x6xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// conv_c5: one element type.
func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<8x4x3x3xf16>) {
  // expected-error @+1 {{src has elements of 'f32' but weights of 'f16'}}
  %0 = cnn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64}
      : (tensor<1x4x8x8xf32>, tensor<8x4x3x3xf16>) -> tensor<1x8x6x6xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// The free batch stays free.
func.func @f(%x: tensor<?x4x8x8xf32>, %w: tensor<8x4x3x3xf32>) {
  // expected-error @+1 {{'cnn.conv' op has result 'tensor<1x8x6x6xf32>', expected the shape of 'tensor<?x8x6x6xf32>'}}
  %0 = cnn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64}
      : (tensor<?x4x8x8xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x6x6xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// conv_transpose_c1: ranks agree.
func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<4x8x3x3x3xf32>) {
  // expected-error @+1 {{src has rank 4 but weights have rank 5}}
  %0 = cnn.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, output_padding = array<i64: 0, 0>}
      : (tensor<1x4x8x8xf32>, tensor<4x8x3x3x3xf32>) -> tensor<1x8x10x10xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// conv_transpose_c2: groups divides ic.
func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<4x8x3x3xf32>) {
  // expected-error @+1 {{group=3 does not divide ic=4}}
  %0 = cnn.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 3 : i64, output_padding = array<i64: 0, 0>}
      : (tensor<1x4x8x8xf32>, tensor<4x8x3x3xf32>) -> tensor<1x8x10x10xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// conv_transpose_c2: wei has ic rows.
func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<5x8x3x3xf32>) {
  // expected-error @+1 {{weights have 5 input channels, expected 4}}
  %0 = cnn.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, output_padding = array<i64: 0, 0>}
      : (tensor<1x4x8x8xf32>, tensor<5x8x3x3xf32>) -> tensor<1x8x10x10xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// conv_transpose_c3: strides.
func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<4x8x3x3xf32>) {
  // expected-error @+1 {{strides needs 2 values for 2 spatial dimensions, got 3}}
  %0 = cnn.conv_transpose %x, %w {strides = array<i64: 1, 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, output_padding = array<i64: 0, 0>}
      : (tensor<1x4x8x8xf32>, tensor<4x8x3x3xf32>) -> tensor<1x8x10x10xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// conv_transpose_c3: output_padding.
func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<4x8x3x3xf32>) {
  // expected-error @+1 {{output_padding needs 2 values, got 1}}
  %0 = cnn.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, output_padding = array<i64: 1>}
      : (tensor<1x4x8x8xf32>, tensor<4x8x3x3xf32>) -> tensor<1x8x10x10xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// conv_transpose_c4: the inferred shape.
func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<4x8x3x3xf32>) {
  // expected-error @+1 {{'cnn.conv_transpose' op has result 'tensor<1x8x9x10xf32>', expected the shape of 'tensor<1x8x10x10xf32>'}}
  %0 = cnn.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, output_padding = array<i64: 0, 0>}
      : (tensor<1x4x8x8xf32>, tensor<4x8x3x3xf32>) -> tensor<1x8x9x10xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// conv_transpose_c4: no negative extent.
func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<4x8x3x3xf32>) {
  // expected-error @+1 {{spatial dimension 0: the result's extent -2 or output_padding 0 is negative}}
  %0 = cnn.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 6, 0, 6, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, output_padding = array<i64: 0, 0>}
      : (tensor<1x4x8x8xf32>, tensor<4x8x3x3xf32>) -> tensor<1x8x10x10xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// conv_transpose_c5: one element type.
func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<4x8x3x3xf64>) {
  // expected-error @+1 {{src has elements of 'f32' but weights of 'f64'}}
  %0 = cnn.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, output_padding = array<i64: 0, 0>}
      : (tensor<1x4x8x8xf32>, tensor<4x8x3x3xf64>) -> tensor<1x8x10x10xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// pool_c1: the rank is at least 3.
func.func @f(%x: tensor<1x3xf32>) {
  // expected-error @+1 {{src needs rank 3 or more, got 2}}
  %0 = cnn.pool <max> %x {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x3xf32>) -> tensor<1x3xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// pool_c2: a kernel for each dimension.
func.func @f(%x: tensor<1x3x8x8xf32>) {
  // expected-error @+1 {{kernel needs 2 positive values, got [2]}}
  %0 = cnn.pool <max> %x {kernel = array<i64: 2>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x3x8x8xf32>) -> tensor<1x3x7x7xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// pool_c2: kernels are positive.
func.func @f(%x: tensor<1x3x8x8xf32>) {
  // expected-error @+1 {{kernel needs 2 positive values, got [2x0]}}
  %0 = cnn.pool <max> %x {kernel = array<i64: 2, 0>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x3x8x8xf32>) -> tensor<1x3x7x7xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// pool_c2: strides are positive.
func.func @f(%x: tensor<1x3x8x8xf32>) {
  // expected-error @+1 {{strides must be positive, got [-1x1]}}
  %0 = cnn.pool <max> %x {kernel = array<i64: 2, 2>, strides = array<i64: -1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x3x8x8xf32>) -> tensor<1x3x7x7xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// pool_c2: two pads for each dimension.
func.func @f(%x: tensor<1x3x8x8xf32>) {
  // expected-error @+1 {{pads needs 4 values for 2 spatial dimensions, got 5}}
  %0 = cnn.pool <max> %x {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x3x8x8xf32>) -> tensor<1x3x7x7xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// pool_c2: a dilation for each dimension.
func.func @f(%x: tensor<1x3x8x8xf32>) {
  // expected-error @+1 {{dilations needs 2 values for 2 spatial dimensions, got 1}}
  %0 = cnn.pool <max> %x {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1>}
      : (tensor<1x3x8x8xf32>) -> tensor<1x3x7x7xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// pool_c3: the inferred shape.
func.func @f(%x: tensor<1x3x8x8xf32>) {
  // expected-error @+1 {{'cnn.pool' op has result 'tensor<1x3x8x7xf32>', expected the shape of 'tensor<1x3x7x7xf32>'}}
  %0 = cnn.pool <average> %x {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x7xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// pool_c3: a window fits.
func.func @f(%x: tensor<1x3x8x8xf32>) {
  // expected-error @+1 {{spatial dimension 0: extent 8 with padding is smaller than the kernel's 9}}
  %0 = cnn.pool <max> %x {kernel = array<i64: 9, 2>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x3x8x8xf32>) -> tensor<1x3x7x7xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// pool_argmax: the rank.
func.func @f(%x: tensor<3xf32>) {
  // expected-error @+1 {{src needs rank 3 or more, got 1}}
  %0 = cnn.pool_argmax %x {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<3xf32>) -> tensor<1x3x7x7xi64>
  return
}

// -----

// pool_argmax: kernels.
func.func @f(%x: tensor<1x3x8x8xf32>) {
  // expected-error @+1 {{kernel needs 2 positive values, got [2x2x2]}}
  %0 = cnn.pool_argmax %x {kernel = array<i64: 2, 2, 2>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x3x8x8xf32>) -> tensor<1x3x7x7xi64>
  return
}

// -----

// pool_argmax: indices are i64.
func.func @f(%x: tensor<1x3x8x8xf32>) {
  // expected-error @+1 {{'cnn.pool_argmax' op has result 'tensor<1x3x7x7xf32>', expected 'tensor<1x3x7x7xi64>'}}
  %0 = cnn.pool_argmax %x {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x3x8x8xf32>) -> tensor<1x3x7x7xf32>
  return
}

// -----

// pool_argmax: the inferred shape.
func.func @f(%x: tensor<1x3x8x8xf32>) {
  // expected-error @+1 {{'cnn.pool_argmax' op has result 'tensor<1x3x7x8xi64>', expected 'tensor<1x3x7x7xi64>'}}
  %0 = cnn.pool_argmax %x {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x3x8x8xf32>) -> tensor<1x3x7x8xi64>
  return
}

// -----

// matmul_c1: the ranks are at least 2.
func.func @f(%a: tensor<3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{matrices need rank 2 or more, got 1 and 2}}
  %0 = cnn.matmul %a, %b : (tensor<3xf32>, tensor<3x4xf32>) -> tensor<4xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// matmul_c2: the inner extents agree.
func.func @f(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>) {
  // expected-error @+1 {{inner extents differ: 3 against 4}}
  %0 = cnn.matmul %a, %b : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// matmul_c2: the same of transposed matrices.
func.func @f(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>) {
  // expected-error @+1 {{inner extents differ: 2 against 5}}
  %0 = cnn.matmul %a, %b {transpose_lhs, transpose_rhs} : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<3x4xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// matmul_c3: leading extents broadcast.
func.func @f(%a: tensor<2x4x5xf32>, %b: tensor<3x5x6xf32>) {
  // expected-error @+1 {{shapes [2] and [3] do not broadcast: 2 against 3}}
  %0 = cnn.matmul %a, %b : (tensor<2x4x5xf32>, tensor<3x5x6xf32>) -> tensor<2x4x6xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// matmul_c4: the inferred shape.
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x5xf32>) {
  // expected-error @+1 {{'cnn.matmul' op has result 'tensor<2x6xf32>', expected the shape of 'tensor<2x5xf32>'}}
  %0 = cnn.matmul %a, %b : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x6xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// matmul_c5: one element type.
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x5xbf16>) {
  // expected-error @+1 {{operands have elements of 'f32' and 'bf16'}}
  %0 = cnn.matmul %a, %b : (tensor<2x3xf32>, tensor<3x5xbf16>) -> tensor<2x5xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// The free batch is no inner extent.
func.func @f(%a: tensor<?x3xf32>, %b: tensor<?x5xf32>) {
  // expected-error @+1 {{the free batch would be an inner or right extent; fix it with --shape}}
  %0 = cnn.matmul %a, %b {transpose_lhs} : (tensor<?x3xf32>, tensor<?x5xf32>) -> tensor<3x5xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// reduce_c1: axes are sorted.
func.func @f(%x: tensor<?x3x8xf32>) {
  // expected-error @+1 {{axes must be sorted without repeats, got [2x1]}}
  %0 = cnn.reduce <sum> %x {axes = array<i64: 2, 1>} : (tensor<?x3x8xf32>) -> tensor<?xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// reduce_c1: without repeats.
func.func @f(%x: tensor<?x3x8xf32>) {
  // expected-error @+1 {{axes must be sorted without repeats, got [1x1]}}
  %0 = cnn.reduce <sum> %x {axes = array<i64: 1, 1>} : (tensor<?x3x8xf32>) -> tensor<?x8xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// reduce_c1: axes are inside the rank.
func.func @f(%x: tensor<?x3x8xf32>) {
  // expected-error @+1 {{axis 3 is outside rank 3}}
  %0 = cnn.reduce <sum> %x {axes = array<i64: 3>} : (tensor<?x3x8xf32>) -> tensor<?x3x8xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// reduce_c1: axes are not negative.
func.func @f(%x: tensor<?x3x8xf32>) {
  // expected-error @+1 {{axis -1 is outside rank 3}}
  %0 = cnn.reduce <sum> %x {axes = array<i64: -1>} : (tensor<?x3x8xf32>) -> tensor<?x3xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// reduce_c2: the inferred shape.
func.func @f(%x: tensor<?x3x8xf32>) {
  // expected-error @+1 {{'cnn.reduce' op has result 'tensor<?x8xf32>', expected the shape of 'tensor<?x1x8xf32>'}}
  %0 = cnn.reduce <sum> %x {axes = array<i64: 1>, keep_dims} : (tensor<?x3x8xf32>) -> tensor<?x8xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// reduce_c3: a free batch is not reduced.
func.func @f(%x: tensor<?x3x8xf32>) {
  // expected-error @+1 {{axis 0 is the free batch; fix it with --shape}}
  %0 = cnn.reduce <sum> %x {axes = array<i64: 0>} : (tensor<?x3x8xf32>) -> tensor<3x8xf32> {
  ^bb0(%acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// map_c1: inputs broadcast.
func.func @f(%x: tensor<2x3xf32>, %y: tensor<2xf32>) {
  // expected-error @+1 {{shapes [2x3] and [2] do not broadcast: 3 against 2}}
  %0 = cnn.map(%x, %y) : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32> {
  ^bb0(%a: f32, %b: f32):
    cnn.yield %a : f32
  }
  return
}

// -----

// map_c1: to the result.
func.func @f(%x: tensor<2x1xf32>) {
  // expected-error @+1 {{'cnn.map' op has result 'tensor<2x3xf32>', expected the shape of 'tensor<2x1xf32>'}}
  %0 = cnn.map(%x) : (tensor<2x1xf32>) -> tensor<2x3xf32> {
  ^bb0(%a: f32):
    cnn.yield %a : f32
  }
  return
}

// -----

// A region takes one element of each operand.
func.func @f(%x: tensor<2x4xf32>, %b: tensor<4xui8>) {
  // expected-error @+1 {{'cnn.map' op scalar region takes ('f32'), expected ('f32', 'i8')}}
  %0 = "cnn.map"(%x, %b) ({
  ^bb0(%a: f32):
    cnn.yield %a : f32
  }) : (tensor<2x4xf32>, tensor<4xui8>) -> tensor<2x4xf32>
  return
}

// -----

// An unsigned element is a signless scalar.
func.func @f(%x: tensor<2x4xf32>, %b: tensor<4xui8>) {
  // expected-error @+1 {{'cnn.map' op scalar region takes ('f32', 'ui8'), expected ('f32', 'i8')}}
  %0 = "cnn.map"(%x, %b) ({
  ^bb0(%a: f32, %i: ui8):
    cnn.yield %a : f32
  }) : (tensor<2x4xf32>, tensor<4xui8>) -> tensor<2x4xf32>
  return
}

// -----

// A region yields the result's element.
func.func @f(%x: tensor<2x4xf32>, %b: tensor<4xui8>) {
  // expected-error @+1 {{'cnn.map' op scalar region yields 'i8', expected 'f32'}}
  %0 = "cnn.map"(%x, %b) ({
  ^bb0(%a: f32, %i: i8):
    cnn.yield %i : i8
  }) : (tensor<2x4xf32>, tensor<4xui8>) -> tensor<2x4xf32>
  return
}

// -----

// A region ends with cnn.yield.
func.func @f(%x: tensor<2x4xf32>, %b: tensor<4xui8>) {
  // expected-error @+1 {{'cnn.map' op scalar region must end with cnn.yield}}
  %0 = "cnn.map"(%x, %b) ({
  ^bb0(%a: f32, %i: i8):
    %s = arith.addf %a, %a : f32
  }) : (tensor<2x4xf32>, tensor<4xui8>) -> tensor<2x4xf32>
  return
}

// -----

// A region has one block.
func.func @f(%x: tensor<2x4xf32>, %b: tensor<4xui8>) {
  // expected-error @+1 {{'cnn.map' op region #0 ('body') failed to verify constraint: region with 1 blocks}}
  %0 = "cnn.map"(%x, %b) ({

  }) : (tensor<2x4xf32>, tensor<4xui8>) -> tensor<2x4xf32>
  return
}

// -----

// An accumulator comes first, then the extras.
func.func @f(%x: tensor<1x3x8x8xf32>, %b: tensor<3x1x1xf16>) {
  // expected-error @+1 {{'cnn.pool' op scalar region takes ('f16', 'f32'), expected ('f32', 'f16')}}
  %0 = cnn.pool <max> %x extras(%b) {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>,
      pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x3x8x8xf32>, tensor<3x1x1xf16>) -> tensor<1x3x7x7xf32> {
  ^bb0(%bias: f16, %acc: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// Extras broadcast to the result.
func.func @f(%x: tensor<1x3x8x8xf32>, %b: tensor<4x1x1xf32>) {
  // expected-error @+1 {{shapes [1x3x7x7] and [4x1x1] do not broadcast: 3 against 4}}
  %0 = cnn.pool <max> %x extras(%b) {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>,
      pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x3x8x8xf32>, tensor<4x1x1xf32>) -> tensor<1x3x7x7xf32> {
  ^bb0(%acc: f32, %bias: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// Extras do not make the result larger.
func.func @f(%x: tensor<1x3x8x8xf32>, %b: tensor<2x3x1x1xf32>) {
  // expected-error @+1 {{'cnn.pool' op an operand of the scalar region does not broadcast to 'tensor<1x3x7x7xf32>'}}
  %0 = cnn.pool <max> %x extras(%b) {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>,
      pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x3x8x8xf32>, tensor<2x3x1x1xf32>) -> tensor<1x3x7x7xf32> {
  ^bb0(%acc: f32, %bias: f32):
    cnn.yield %acc : f32
  }
  return
}

// -----

// yield_c1: only in a scalar region.
func.func @f(%x: f32) {
  // expected-error @+1 {{'cnn.yield' op stands outside of a scalar region}}
  cnn.yield %x : f32
}
