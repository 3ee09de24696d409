// RUN: convoy-opt %s --split-input-file --verify-diagnostics
// The constraints of CnnIndexOps.td.

func.func @gather_elements_c1(%x: tensor<2x3xf32>, %i: tensor<2xi64>) -> tensor<2x2xf32> {
  // expected-error @below {{axis 2 is outside rank 2}}
  %0 = cnn.gather_elements %x, %i {axis = 2 : i64} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----

func.func @gather_elements_c2_type(%x: tensor<2x3xf32>, %i: tensor<2xi16>) -> tensor<2x2xf32> {
  // expected-error @below {{indices must be i32 or i64, got 'i16'}}
  %0 = cnn.gather_elements %x, %i {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2xi16>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----

func.func @gather_elements_c2_shape(%x: tensor<2x3xf32>, %i: tensor<2x2xi64>) -> tensor<1x2xf32> {
  // expected-error @below {{indices 'tensor<2x2xi64>' do not broadcast to 'tensor<1x2xf32>'}}
  %0 = cnn.gather_elements %x, %i {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x2xi64>) -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}

// -----

func.func @gather_elements_c3(%x: tensor<2x3xf32>, %i: tensor<2xi64>) -> tensor<3x2xf32> {
  // expected-error @below {{result 'tensor<3x2xf32>' does not fit into src 'tensor<2x3xf32>' in dimension 0}}
  %0 = cnn.gather_elements %x, %i {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// -----

func.func @gather_elements_c4(%x: tensor<?x3xf32>, %i: tensor<3xi64>) -> tensor<?x3xf32> {
  // expected-error @below {{axis 0 is the free batch; fix it with --shape}}
  %0 = cnn.gather_elements %x, %i {axis = 0 : i64} : (tensor<?x3xf32>, tensor<3xi64>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

func.func @gather_elements_c5(%x: tensor<0xf32>, %i: tensor<3xi64>) -> tensor<3xf32> {
  // expected-error @below {{picks from dimension 0 of 'tensor<0xf32>', which has no elements}}
  %0 = cnn.gather_elements %x, %i {axis = 0 : i64} : (tensor<0xf32>, tensor<3xi64>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @scatter_c1(%x: tensor<4xf32>, %i: tensor<2xi64>, %u: tensor<1x2xf32>) -> tensor<4xf32> {
  // expected-error @below {{updates 'tensor<1x2xf32>' and src 'tensor<4xf32>' differ in rank or element type}}
  %0 = cnn.scatter <set> %x, %i, %u {axis = 0 : i64} : (tensor<4xf32>, tensor<2xi64>, tensor<1x2xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @scatter_c3(%x: tensor<2x4xf32>, %i: tensor<3x4xi64>, %u: tensor<3x4xf32>) -> tensor<2x4xf32> {
  // expected-error @below {{updates 'tensor<3x4xf32>' does not fit into src 'tensor<2x4xf32>' in dimension 0}}
  %0 = cnn.scatter <add> %x, %i, %u {axis = 1 : i64} : (tensor<2x4xf32>, tensor<3x4xi64>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

func.func @scatter_c4(%x: tensor<4xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) -> tensor<5xf32> {
  // expected-error @below {{has result 'tensor<5xf32>', expected 'tensor<4xf32>'}}
  %0 = cnn.scatter <max> %x, %i, %u {axis = 0 : i64} : (tensor<4xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

func.func @scatter_c5(%x: tensor<?x4xf32>, %i: tensor<2xi64>, %u: tensor<1x2xf32>) -> tensor<?x4xf32> {
  // expected-error @below {{updates 'tensor<1x2xf32>' does not fit into src 'tensor<?x4xf32>' in dimension 0}}
  %0 = cnn.scatter <set> %x, %i, %u {axis = 1 : i64} : (tensor<?x4xf32>, tensor<2xi64>, tensor<1x2xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

func.func @arg_extreme_c2(%x: tensor<2x3xf32>) -> tensor<2xi32> {
  // expected-error @below {{has result 'tensor<2xi32>', expected 'tensor<2xi64>'}}
  %0 = cnn.arg_extreme %x {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}

// -----

func.func @arg_extreme_c4(%x: tensor<2x0xf32>) -> tensor<2xi64> {
  // expected-error @below {{dimension 1 of 'tensor<2x0xf32>' has no elements}}
  %0 = cnn.arg_extreme %x {axis = 1 : i64} : (tensor<2x0xf32>) -> tensor<2xi64>
  return %0 : tensor<2xi64>
}

// -----

func.func @top_k_c2(%x: tensor<2x3xf32>) -> tensor<2x4xi64> {
  // expected-error @below {{picks 4 of 3 elements}}
  %0 = cnn.top_k %x {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x4xi64>
  return %0 : tensor<2x4xi64>
}

// -----

func.func @top_k_c3(%x: tensor<?x3xf32>) -> tensor<?x3xi64> {
  // expected-error @below {{axis 0 is the free batch; fix it with --shape}}
  %0 = cnn.top_k %x {axis = 0 : i64} : (tensor<?x3xf32>) -> tensor<?x3xi64>
  return %0 : tensor<?x3xi64>
}

// -----

func.func @cumulative_sum_c1(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error @below {{axis -1 is outside rank 2}}
  %0 = cnn.cumulative_sum %x {axis = -1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

func.func @cumulative_sum_c2(%x: tensor<2x3xf32>) -> tensor<2x3xf64> {
  // expected-error @below {{has result 'tensor<2x3xf64>', expected 'tensor<2x3xf32>'}}
  %0 = cnn.cumulative_sum %x {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf64>
  return %0 : tensor<2x3xf64>
}

// -----

func.func @true_positions_c1(%x: tensor<2x3xi1>) -> tensor<2x3xi64> {
  // expected-error @below {{needs a vector of i1, got 'tensor<2x3xi1>'}}
  %0 = cnn.true_positions %x : (tensor<2x3xi1>) -> tensor<2x3xi64>
  return %0 : tensor<2x3xi64>
}

// -----

func.func @suppress_c2(%b: tensor<1x5x4xf32>, %o: tensor<1x2x6xf32>, %e: tensor<i1>, %t: tensor<f32>) -> tensor<1x2x3xi64> {
  // expected-error @below {{needs an order of [n, classes, boxes] and f32 for 'tensor<1x5x4xf32>', got 'tensor<1x2x6xf32>'}}
  %0 = cnn.suppress %b, %o, %e, %t : (tensor<1x5x4xf32>, tensor<1x2x6xf32>, tensor<i1>, tensor<f32>) -> tensor<1x2x3xi64>
  return %0 : tensor<1x2x3xi64>
}

// -----

func.func @suppress_c4(%b: tensor<1x5x4xf32>, %o: tensor<1x2x5xf32>, %e: tensor<i1>, %t: tensor<2xf32>) -> tensor<1x2x3xi64> {
  // expected-error @below {{needs one f32 as threshold and one i64 as limit}}
  %0 = cnn.suppress %b, %o, %e, %t : (tensor<1x5x4xf32>, tensor<1x2x5xf32>, tensor<i1>, tensor<2xf32>) -> tensor<1x2x3xi64>
  return %0 : tensor<1x2x3xi64>
}

// -----

func.func @pack_c2(%x: tensor<2x3xf32>, %n: tensor<i32>) -> tensor<2x3xf32> {
  // expected-error @below {{needs one i64 as count, got 'tensor<i32>'}}
  %0 = cnn.pack %x, %n {axis = 1 : i64} : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
