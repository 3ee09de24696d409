// One case for each constraint that the ops state which move data.
// RUN: convoy-opt %s --split-input-file --verify-diagnostics

// reshape_c1: as many elements.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'cnn.reshape' op numbers of elements differ: 'tensor<2x3xf32>' to 'tensor<5xf32>'}}
  %0 = cnn.reshape %x : (tensor<2x3xf32>) -> tensor<5xf32>
  return
}

// -----

// reshape_c2: a free batch stays.
func.func @f(%x: tensor<?x3x8xf32>) {
  // expected-error @+1 {{'cnn.reshape' op the free batch must stay in dimension 0: 'tensor<?x3x8xf32>' to 'tensor<24xf32>'}}
  %0 = cnn.reshape %x : (tensor<?x3x8xf32>) -> tensor<24xf32>
  return
}

// -----

// reshape_c2: as many elements an image.
func.func @f(%x: tensor<?x3x8xf32>) {
  // expected-error @+1 {{'cnn.reshape' op numbers of elements differ: 'tensor<?x3x8xf32>' to 'tensor<?x12xf32>'}}
  %0 = cnn.reshape %x : (tensor<?x3x8xf32>) -> tensor<?x12xf32>
  return
}

// -----

// reshape_c3: row-major.
func.func @f(%x: tensor<2x3x4x4xf32, #cnn.layout<"nhwc">>) {
  // expected-error @+1 {{'cnn.reshape' op needs row-major layouts: 'tensor<2x3x4x4xf32, #cnn.layout<"nhwc">>' to 'tensor<2x48xf32>'}}
  %0 = cnn.reshape %x : (tensor<2x3x4x4xf32, #cnn.layout<"nhwc">>) -> tensor<2x48xf32>
  return
}

// -----

// reshape keeps the element type.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'cnn.reshape' op changes the element type: 'tensor<2x3xf32>' to 'tensor<6xi32>'}}
  %0 = cnn.reshape %x : (tensor<2x3xf32>) -> tensor<6xi32>
  return
}

// -----

// transpose_c1: a permutation.
func.func @f(%x: tensor<?x3x8xf32>) {
  // expected-error @+1 {{'cnn.transpose' op perm [0, 1, 1] is no permutation of rank 3}}
  %0 = cnn.transpose %x {perm = array<i64: 0, 1, 1>} : (tensor<?x3x8xf32>) -> tensor<?x3x8xf32>
  return
}

// -----

// transpose_c1: of the rank.
func.func @f(%x: tensor<?x3x8xf32>) {
  // expected-error @+1 {{'cnn.transpose' op perm [0, 1] is no permutation of rank 3}}
  %0 = cnn.transpose %x {perm = array<i64: 0, 1>} : (tensor<?x3x8xf32>) -> tensor<?x3x8xf32>
  return
}

// -----

// transpose_c2: the permuted shape.
func.func @f(%x: tensor<?x3x8xf32>) {
  // expected-error @+1 {{'cnn.transpose' op has result 'tensor<?x3x8xf32>', expected 'tensor<?x8x3xf32>'}}
  %0 = cnn.transpose %x {perm = array<i64: 0, 2, 1>} : (tensor<?x3x8xf32>) -> tensor<?x3x8xf32>
  return
}

// -----

// transpose_c3: a free batch stays in dimension 0.
func.func @f(%x: tensor<?x1x8xf32>) {
  // expected-error @+1 {{'cnn.transpose' op moves the free batch from dimension 0; fix it with --shape}}
  %0 = cnn.transpose %x {perm = array<i64: 1, 0, 2>} : (tensor<?x1x8xf32>) -> tensor<?x1x8xf32>
  return
}

// -----

// broadcast_c1: extents are 1 or equal.
func.func @f(%x: tensor<3xf32>) {
  // expected-error @+1 {{shapes [2x4] and [3] do not broadcast: 4 against 3}}
  %0 = cnn.broadcast %x : (tensor<3xf32>) -> tensor<2x4xf32>
  return
}

// -----

// broadcast_c1: nothing is lost.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'cnn.broadcast' op 'tensor<2x3xf32>' does not broadcast to 'tensor<3xf32>'}}
  %0 = cnn.broadcast %x : (tensor<2x3xf32>) -> tensor<3xf32>
  return
}

// -----

// slice_c1: a start for each dimension.
func.func @f(%x: tensor<?x3x8xf32>) {
  // expected-error @+1 {{'cnn.slice' op needs one start and one step for each of 3 dimensions}}
  %0 = cnn.slice %x {starts = array<i64: 0, 0>, steps = array<i64: 1, 1, 1>} : (tensor<?x3x8xf32>) -> tensor<?x3x8xf32>
  return
}

// -----

// slice_c1: the rank stays.
func.func @f(%x: tensor<?x3x8xf32>) {
  // expected-error @+1 {{'cnn.slice' op needs one start and one step for each of 3 dimensions}}
  %0 = cnn.slice %x {starts = array<i64: 0, 0, 0>, steps = array<i64: 1, 1, 1>} : (tensor<?x3x8xf32>) -> tensor<?x3xf32>
  return
}

// -----

// slice_c2: the first element lies inside.
func.func @f(%x: tensor<?x3x8xf32>) {
  // expected-error @+1 {{'cnn.slice' op dimension 1: start -1, step 1, size 2 leave the extent 3}}
  %0 = cnn.slice %x {starts = array<i64: 0, -1, 0>, steps = array<i64: 1, 1, 1>} : (tensor<?x3x8xf32>) -> tensor<?x2x8xf32>
  return
}

// -----

// slice_c2: the last element lies inside.
func.func @f(%x: tensor<?x3x8xf32>) {
  // expected-error @+1 {{'cnn.slice' op dimension 2: start 2, step 2, size 4 leave the extent 8}}
  %0 = cnn.slice %x {starts = array<i64: 0, 0, 2>, steps = array<i64: 1, 1, 2>} : (tensor<?x3x8xf32>) -> tensor<?x3x4xf32>
  return
}

// -----

// slice_c2: also with a negative step.
func.func @f(%x: tensor<?x3x8xf32>) {
  // expected-error @+1 {{'cnn.slice' op dimension 2: start 4, step -2, size 4 leave the extent 8}}
  %0 = cnn.slice %x {starts = array<i64: 0, 0, 4>, steps = array<i64: 1, 1, -2>} : (tensor<?x3x8xf32>) -> tensor<?x3x4xf32>
  return
}

// -----

// slice_c2: a step is not 0.
func.func @f(%x: tensor<?x3x8xf32>) {
  // expected-error @+1 {{'cnn.slice' op dimension 2: start 0, step 0, size 4 leave the extent 8}}
  %0 = cnn.slice %x {starts = array<i64: 0, 0, 0>, steps = array<i64: 1, 1, 0>} : (tensor<?x3x8xf32>) -> tensor<?x3x4xf32>
  return
}

// -----

// slice_c3: a free batch is taken whole.
func.func @f(%x: tensor<?x3x8xf32>) {
  // expected-error @+1 {{'cnn.slice' op slices the free batch; fix it with --shape}}
  %0 = cnn.slice %x {starts = array<i64: 1, 0, 0>, steps = array<i64: 1, 1, 1>} : (tensor<?x3x8xf32>) -> tensor<?x3x8xf32>
  return
}

// -----

// slice_c3: and stays free.
func.func @f(%x: tensor<?x3x8xf32>) {
  // expected-error @+1 {{'cnn.slice' op slices the free batch; fix it with --shape}}
  %0 = cnn.slice %x {starts = array<i64: 0, 0, 0>, steps = array<i64: 1, 1, 1>} : (tensor<?x3x8xf32>) -> tensor<1x3x8xf32>
  return
}

// -----

// slice keeps the element type.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'cnn.slice' op changes the element type: 'tensor<2x3xf32>' to 'tensor<2x3xf16>'}}
  %0 = cnn.slice %x {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf16>
  return
}

// -----

// concat_c1: an input.
func.func @f() {
  // expected-error @+1 {{needs at least one input}}
  %0 = cnn.concat() {axis = 0 : i64} : () -> tensor<1xf32>
  return
}

// -----

// concat_c1: of one rank.
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{inputs 'tensor<2x3xf32>' and 'tensor<3xf32>' differ in rank or element type}}
  %0 = cnn.concat(%a, %b) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x6xf32>
  return
}

// -----

// concat_c1: of one element type.
func.func @f(%a: tensor<2x3xf32>, %b: tensor<2x3xi8>) {
  // expected-error @+1 {{inputs 'tensor<2x3xf32>' and 'tensor<2x3xi8>' differ in rank or element type}}
  %0 = cnn.concat(%a, %b) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xi8>) -> tensor<2x6xf32>
  return
}

// -----

// concat_c1: an axis inside the rank.
func.func @f(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) {
  // expected-error @+1 {{axis 2 is outside rank 2}}
  %0 = cnn.concat(%a, %b) {axis = 2 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  return
}

// -----

// concat_c2: other extents agree.
func.func @f(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>) {
  // expected-error @+1 {{inputs differ in dimension 0: 2 against 4}}
  %0 = cnn.concat(%a, %b) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x6xf32>
  return
}

// -----

// concat_c2: extents along the axis add up.
func.func @f(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) {
  // expected-error @+1 {{'cnn.concat' op has result 'tensor<2x7xf32>', expected 'tensor<2x6xf32>'}}
  %0 = cnn.concat(%a, %b) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x7xf32>
  return
}

// -----

// concat_c3: a free batch is not the axis.
func.func @f(%a: tensor<?x3xf32>, %b: tensor<?x3xf32>) {
  // expected-error @+1 {{axis 0 is the free batch; fix it with --shape}}
  %0 = cnn.concat(%a, %b) {axis = 0 : i64} : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// -----

// concat_c3: nor is another input's.
func.func @f(%a: tensor<2x3xf32>, %b: tensor<?x3xf32>) {
  // expected-error @+1 {{axis 0 is the free batch; fix it with --shape}}
  %0 = cnn.concat(%a, %b) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// -----

// pad_c1: a low for each dimension.
func.func @f(%x: tensor<?x3x8xf32>) {
  // expected-error @+1 {{'cnn.pad' op needs one low and one high for each of 3 dimensions}}
  %0 = cnn.pad <constant> %x {low = array<i64: 0, 1>, high = array<i64: 0, 0, 0>}
      : (tensor<?x3x8xf32>) -> tensor<?x3x9xf32>
  return
}

// -----

// pad_c1: a high for each dimension.
func.func @f(%x: tensor<?x3x8xf32>) {
  // expected-error @+1 {{'cnn.pad' op needs one low and one high for each of 3 dimensions}}
  %0 = cnn.pad <constant> %x {low = array<i64: 0, 0, 0>, high = array<i64: 0, 0, 0, 1>}
      : (tensor<?x3x8xf32>) -> tensor<?x3x9xf32>
  return
}

// -----

// pad_c2: the sum.
func.func @f(%x: tensor<?x3x8xf32>) {
  // expected-error @+1 {{'cnn.pad' op has result 'tensor<?x3x9xf32>', expected 'tensor<?x3x10xf32>'}}
  %0 = cnn.pad <constant> %x {low = array<i64: 0, 0, 1>, high = array<i64: 0, 0, 1>}
      : (tensor<?x3x8xf32>) -> tensor<?x3x9xf32>
  return
}

// -----

// pad_c2: nothing negative is left.
func.func @f(%x: tensor<?x3x8xf32>) {
  // expected-error @+1 {{'cnn.pad' op dimension 1: crops 3 to -1}}
  %0 = cnn.pad <constant> %x {low = array<i64: 0, -2, 0>, high = array<i64: 0, -2, 0>}
      : (tensor<?x3x8xf32>) -> tensor<?x0x8xf32>
  return
}

// -----

// pad_c3: the value is one element.
func.func @f(%x: tensor<?x3x8xf32>, %v: tensor<2xf32>) {
  // expected-error @+1 {{'cnn.pad' op value must be one element of 'f32', got 'tensor<2xf32>'}}
  %0 = cnn.pad <constant> %x, %v {low = array<i64: 0, 0, 1>, high = array<i64: 0, 0, 0>}
      : (tensor<?x3x8xf32>, tensor<2xf32>) -> tensor<?x3x9xf32>
  return
}

// -----

// pad_c3: of src's type.
func.func @f(%x: tensor<?x3x8xf32>, %v: tensor<f16>) {
  // expected-error @+1 {{'cnn.pad' op value must be one element of 'f32', got 'tensor<f16>'}}
  %0 = cnn.pad <constant> %x, %v {low = array<i64: 0, 0, 1>, high = array<i64: 0, 0, 0>}
      : (tensor<?x3x8xf32>, tensor<f16>) -> tensor<?x3x9xf32>
  return
}

// -----

// pad_c4: a free batch is not padded.
func.func @f(%x: tensor<?x3x8xf32>) {
  // expected-error @+1 {{'cnn.pad' op pads the free batch; fix it with --shape}}
  %0 = cnn.pad <constant> %x {low = array<i64: 1, 0, 0>, high = array<i64: 0, 0, 0>}
      : (tensor<?x3x8xf32>) -> tensor<?x3x8xf32>
  return
}

// -----

// pad_c5: reflect pads by less than the extent.
func.func @f(%x: tensor<?x3x8xf32>) {
  // expected-error @+1 {{'cnn.pad' op dimension 1: reflect needs pads below the extent 3, got 0 and 3}}
  %0 = cnn.pad <reflect> %x {low = array<i64: 0, 0, 0>, high = array<i64: 0, 3, 0>}
      : (tensor<?x3x8xf32>) -> tensor<?x6x8xf32>
  return
}

// -----

// resize_c1: a scale for each dimension.
func.func @f(%x: tensor<?x3x4x4xf32>) {
  // expected-error @+1 {{'cnn.resize' op needs one positive scale for each of 4 dimensions}}
  %0 = cnn.resize <linear> %x {coordinates = #cnn.coordinates<half_pixel>,
      nearest_mode = #cnn.nearest_mode<floor>, scales = array<f64: 2.0, 2.0>, roi = array<f64>,
      cubic_coeff_a = -0.75 : f64, extrapolation_value = 0.0 : f64}
      : (tensor<?x3x4x4xf32>) -> tensor<?x3x8x8xf32>
  return
}

// -----

// resize_c1: scales are positive.
func.func @f(%x: tensor<?x3x4x4xf32>) {
  // expected-error @+1 {{'cnn.resize' op needs one positive scale for each of 4 dimensions}}
  %0 = cnn.resize <linear> %x {coordinates = #cnn.coordinates<half_pixel>,
      nearest_mode = #cnn.nearest_mode<floor>, scales = array<f64: 1.0, 1.0, 2.0, 0.0>, roi = array<f64>,
      cubic_coeff_a = -0.75 : f64, extrapolation_value = 0.0 : f64}
      : (tensor<?x3x4x4xf32>) -> tensor<?x3x8x8xf32>
  return
}

// -----

// resize_c1: not NaN.
func.func @f(%x: tensor<?x3x4x4xf32>) {
  // expected-error @+1 {{'cnn.resize' op needs one positive scale for each of 4 dimensions}}
  %0 = cnn.resize <linear> %x {coordinates = #cnn.coordinates<half_pixel>,
      nearest_mode = #cnn.nearest_mode<floor>, scales = array<f64: 1.0, 1.0, 2.0, 0x7FF8000000000000>, roi = array<f64>,
      cubic_coeff_a = -0.75 : f64, extrapolation_value = 0.0 : f64}
      : (tensor<?x3x4x4xf32>) -> tensor<?x3x8x8xf32>
  return
}

// -----

// resize_c2: a free batch is not resized.
func.func @f(%x: tensor<?x3x4x4xf32>) {
  // expected-error @+1 {{'cnn.resize' op resizes the free batch; fix it with --shape}}
  %0 = cnn.resize <linear> %x {coordinates = #cnn.coordinates<half_pixel>,
      nearest_mode = #cnn.nearest_mode<floor>, scales = array<f64: 2.0, 1.0, 2.0, 2.0>, roi = array<f64>,
      cubic_coeff_a = -0.75 : f64, extrapolation_value = 0.0 : f64}
      : (tensor<?x3x4x4xf32>) -> tensor<?x3x8x8xf32>
  return
}

// -----

// resize_c2: and stays free.
func.func @f(%x: tensor<?x3x4x4xf32>) {
  // expected-error @+1 {{'cnn.resize' op resizes the free batch; fix it with --shape}}
  %0 = cnn.resize <linear> %x {coordinates = #cnn.coordinates<half_pixel>,
      nearest_mode = #cnn.nearest_mode<floor>, scales = array<f64: 1.0, 1.0, 2.0, 2.0>, roi = array<f64>,
      cubic_coeff_a = -0.75 : f64, extrapolation_value = 0.0 : f64}
      : (tensor<?x3x4x4xf32>) -> tensor<1x3x8x8xf32>
  return
}

// -----

// resize_c3: roi has two a dimension.
func.func @f(%x: tensor<?x3x4x4xf32>) {
  // expected-error @+1 {{'cnn.resize' op roi needs 8 values, got 4}}
  %0 = cnn.resize <linear> %x {coordinates = #cnn.coordinates<half_pixel>,
      nearest_mode = #cnn.nearest_mode<floor>, scales = array<f64: 1.0, 1.0, 2.0, 2.0>, roi = array<f64: 0.0, 0.0, 1.0, 1.0>,
      cubic_coeff_a = -0.75 : f64, extrapolation_value = 0.0 : f64}
      : (tensor<?x3x4x4xf32>) -> tensor<?x3x8x8xf32>
  return
}

// -----

// resize keeps rank and element type.
func.func @f(%x: tensor<?x3x4x4xf32>) {
  // expected-error @+1 {{'cnn.resize' op changes rank or element type: 'tensor<?x3x4x4xf32>' to 'tensor<?x3x8x8xf16>'}}
  %0 = cnn.resize <linear> %x {coordinates = #cnn.coordinates<half_pixel>,
      nearest_mode = #cnn.nearest_mode<floor>, scales = array<f64: 1.0, 1.0, 2.0, 2.0>, roi = array<f64>,
      cubic_coeff_a = -0.75 : f64, extrapolation_value = 0.0 : f64}
      : (tensor<?x3x4x4xf32>) -> tensor<?x3x8x8xf16>
  return
}

// -----

// gather_c1: the axis is inside the rank.
func.func @f(%x: tensor<?x3x8xf32>, %i: tensor<2xi64>) {
  // expected-error @+1 {{axis 3 is outside rank 3}}
  %0 = cnn.gather %x, %i {axis = 3 : i64} : (tensor<?x3x8xf32>, tensor<2xi64>) -> tensor<?x2x8xf32>
  return
}

// -----

// gather_c2: indices are i32 or i64.
func.func @f(%x: tensor<?x3x8xf32>, %i: tensor<2xi16>) {
  // expected-error @+1 {{indices must be i32 or i64, got 'i16'}}
  %0 = cnn.gather %x, %i {axis = 1 : i64} : (tensor<?x3x8xf32>, tensor<2xi16>) -> tensor<?x2x8xf32>
  return
}

// -----

// gather_c2: not unsigned.
func.func @f(%x: tensor<?x3x8xf32>, %i: tensor<2xui32>) {
  // expected-error @+1 {{indices must be i32 or i64, got 'ui32'}}
  %0 = cnn.gather %x, %i {axis = 1 : i64} : (tensor<?x3x8xf32>, tensor<2xui32>) -> tensor<?x2x8xf32>
  return
}

// -----

// gather_c3: the inferred shape.
func.func @f(%x: tensor<?x3x8xf32>, %i: tensor<2xi64>) {
  // expected-error @+1 {{'cnn.gather' op has result 'tensor<?x3x8xf32>', expected 'tensor<?x2x8xf32>'}}
  %0 = cnn.gather %x, %i {axis = 1 : i64} : (tensor<?x3x8xf32>, tensor<2xi64>) -> tensor<?x3x8xf32>
  return
}

// -----

// gather_c4: a free batch is not the axis.
func.func @f(%x: tensor<?x3x8xf32>, %i: tensor<2xi64>) {
  // expected-error @+1 {{axis 0 is the free batch; fix it with --shape}}
  %0 = cnn.gather %x, %i {axis = 0 : i64} : (tensor<?x3x8xf32>, tensor<2xi64>) -> tensor<?x2x8xf32>
  return
}

// -----

// gather_c4: a free batch of indices would move.
func.func @f(%x: tensor<1x3xf32>, %i: tensor<?xi64>) {
  // expected-error @+1 {{the free batch would move from dimension 0; fix it with --shape}}
  %0 = cnn.gather %x, %i {axis = 1 : i64} : (tensor<1x3xf32>, tensor<?xi64>) -> tensor<1x3xf32>
  return
}

// -----

// relayout_c1: the shape stays.
func.func @f(%x: tensor<?x3x8xf32>) {
  // expected-error @+1 {{'cnn.relayout' op has result 'tensor<?x8x3xf32>', expected 'tensor<?x3x8xf32>'}}
  %0 = cnn.relayout %x : (tensor<?x3x8xf32>) -> tensor<?x8x3xf32>
  return
}

// -----

// relayout_c1: the element type stays.
func.func @f(%x: tensor<?x3x8xf32>) {
  // expected-error @+1 {{'cnn.relayout' op has result 'tensor<?x3x8xf16>', expected 'tensor<?x3x8xf32>'}}
  %0 = cnn.relayout %x : (tensor<?x3x8xf32>) -> tensor<?x3x8xf16>
  return
}
