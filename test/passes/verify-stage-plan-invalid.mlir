// RUN: convoy-opt %s --split-input-file --convoy-verify-stage=stage=plan --verify-diagnostics

// A graph beside the plan.
// expected-error @below {{has a graph beside its plan}}
module {
func.func @main() {
  return
}
}

// -----

// No plan.
// expected-error @below {{needs one plan.program, has 0}}
module {
}

// -----

// A kernel of two ops.
plan.program @main {
}
// expected-error @below {{must hold one op and yield its results}}
plan.kernel @k strategy "test-loops" {
^bb0(%a: tensor<64xf32>):
  %q = cnn.softmax %a {axis = 0 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  %r = cnn.softmax %q {axis = 0 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  plan.yield %r : tensor<64xf32>
}
