// RUN: convoy-opt %s --split-input-file --verify-diagnostics
// The constraints of sample and roi_align.

func.func @sample_c1(%x: tensor<2x1x3x4xf32>, %p: tensor<1x5x2xf32>) -> tensor<2x1x5xf32> {
  // expected-error @below {{needs rank 3 or more and positions for each image}}
  %0 = cnn.sample <linear> %x, %p {padding = #cnn.sample_padding<zeros>}
      : (tensor<2x1x3x4xf32>, tensor<1x5x2xf32>) -> tensor<2x1x5xf32>
  return %0 : tensor<2x1x5xf32>
}

// -----

func.func @sample_c2(%x: tensor<1x1x3x4xf32>, %p: tensor<1x5x3xf32>) -> tensor<1x1x5xf32> {
  // expected-error @below {{positions must have 2 coordinates, got 'tensor<1x5x3xf32>'}}
  %0 = cnn.sample <linear> %x, %p {padding = #cnn.sample_padding<zeros>}
      : (tensor<1x1x3x4xf32>, tensor<1x5x3xf32>) -> tensor<1x1x5xf32>
  return %0 : tensor<1x1x5xf32>
}

// -----

func.func @sample_c3(%x: tensor<1x1x3x4xf16>, %p: tensor<1x5x2xf16>) -> tensor<1x1x5xf16> {
  // expected-error @below {{positions must be f32 or f64, got 'f16'}}
  %0 = cnn.sample <linear> %x, %p {padding = #cnn.sample_padding<zeros>}
      : (tensor<1x1x3x4xf16>, tensor<1x5x2xf16>) -> tensor<1x1x5xf16>
  return %0 : tensor<1x1x5xf16>
}

// -----

func.func @sample_c4(%x: tensor<1x1x3x4xi8>, %p: tensor<1x5x2xf32>) -> tensor<1x1x5xi8> {
  // expected-error @below {{cannot interpolate elements of 'i8'}}
  %0 = cnn.sample <cubic> %x, %p {padding = #cnn.sample_padding<zeros>}
      : (tensor<1x1x3x4xi8>, tensor<1x5x2xf32>) -> tensor<1x1x5xi8>
  return %0 : tensor<1x1x5xi8>
}

// -----

func.func @sample_c5(%x: tensor<1x1x0x4xf32>, %p: tensor<1x5x2xf32>) -> tensor<1x1x5xf32> {
  // expected-error @below {{samples an image without elements}}
  %0 = cnn.sample <nearest> %x, %p {padding = #cnn.sample_padding<zeros>}
      : (tensor<1x1x0x4xf32>, tensor<1x5x2xf32>) -> tensor<1x1x5xf32>
  return %0 : tensor<1x1x5xf32>
}

// -----

func.func @sample_c6(%x: tensor<1x1x3x4xf32>, %p: tensor<1x5x2xf32>) -> tensor<1x1x4xf32> {
  // expected-error @below {{has result 'tensor<1x1x4xf32>', expected 'tensor<1x1x5xf32>'}}
  %0 = cnn.sample <nearest> %x, %p {padding = #cnn.sample_padding<zeros>}
      : (tensor<1x1x3x4xf32>, tensor<1x5x2xf32>) -> tensor<1x1x4xf32>
  return %0 : tensor<1x1x4xf32>
}

// -----

func.func @roi_align_c1(%x: tensor<1x2x3x4xf32>, %r: tensor<5x3xf32>, %i: tensor<5xi64>) -> tensor<5x2x1x1xf32> {
  // expected-error @below {{needs images of rank 4 and four corners and an image a region}}
  %0 = cnn.roi_align <max> %x, %r, %i {bins = array<i64: 1, 1>, sampling_ratio = 0 : i64, spatial_scale = 1.0 : f64}
      : (tensor<1x2x3x4xf32>, tensor<5x3xf32>, tensor<5xi64>) -> tensor<5x2x1x1xf32>
  return %0 : tensor<5x2x1x1xf32>
}

// -----

func.func @roi_align_c2(%x: tensor<1x2x3x4xf32>, %r: tensor<5x4xf64>, %i: tensor<5xi64>) -> tensor<5x2x1x1xf32> {
  // expected-error @below {{needs one floating-point type and indices of i32 or i64}}
  %0 = cnn.roi_align <max> %x, %r, %i {bins = array<i64: 1, 1>, sampling_ratio = 0 : i64, spatial_scale = 1.0 : f64}
      : (tensor<1x2x3x4xf32>, tensor<5x4xf64>, tensor<5xi64>) -> tensor<5x2x1x1xf32>
  return %0 : tensor<5x2x1x1xf32>
}

// -----

func.func @roi_align_c3(%x: tensor<?x2x3x4xf32>, %r: tensor<5x4xf32>, %i: tensor<5xi64>) -> tensor<5x2x1x1xf32> {
  // expected-error @below {{regions of a free batch; fix it with --shape}}
  %0 = cnn.roi_align <max> %x, %r, %i {bins = array<i64: 1, 1>, sampling_ratio = 0 : i64, spatial_scale = 1.0 : f64}
      : (tensor<?x2x3x4xf32>, tensor<5x4xf32>, tensor<5xi64>) -> tensor<5x2x1x1xf32>
  return %0 : tensor<5x2x1x1xf32>
}

// -----

func.func @roi_align_c4(%x: tensor<1x2x3x4xf32>, %r: tensor<5x4xf32>, %i: tensor<5xi64>) -> tensor<5x2x0x1xf32> {
  // expected-error @below {{needs two positive extents of bins}}
  %0 = cnn.roi_align <max> %x, %r, %i {bins = array<i64: 0, 1>, sampling_ratio = 0 : i64, spatial_scale = 1.0 : f64}
      : (tensor<1x2x3x4xf32>, tensor<5x4xf32>, tensor<5xi64>) -> tensor<5x2x0x1xf32>
  return %0 : tensor<5x2x0x1xf32>
}

// -----

func.func @roi_align_c5(%x: tensor<1x2x3x4xf32>, %r: tensor<5x4xf32>, %i: tensor<5xi64>) -> tensor<5x2x1x2xf32> {
  // expected-error @below {{has result 'tensor<5x2x1x2xf32>', expected 'tensor<5x2x1x1xf32>'}}
  %0 = cnn.roi_align <max> %x, %r, %i {bins = array<i64: 1, 1>, sampling_ratio = 0 : i64, spatial_scale = 1.0 : f64}
      : (tensor<1x2x3x4xf32>, tensor<5x4xf32>, tensor<5xi64>) -> tensor<5x2x1x2xf32>
  return %0 : tensor<5x2x1x2xf32>
}
