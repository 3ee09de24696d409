// What the plan dialect does not accept.
// RUN: convoy-opt %s --split-input-file --verify-diagnostics

plan.program @main {
  // expected-error @+1 {{'plan.launch' op launches @absent, which is no kernel}}
  plan.launch @absent reads() writes() {bytes = 0 : i64, flops = 0 : i64}
}

// -----

// A program is no kernel.
plan.program @main {
  // expected-error @+1 {{'plan.launch' op launches @main, which is no kernel}}
  plan.launch @main reads() writes() {bytes = 0 : i64, flops = 0 : i64}
}

// -----

plan.program @main {
  %x = plan.input "x" : tensor<4xf32>
  // expected-error @+1 {{'plan.launch' op passes 2 reads and 0 writes, the kernel has 1 and 1}}
  plan.launch @copy reads(%x, %x) writes() {bytes = 0 : i64, flops = 0 : i64}
}
plan.kernel @copy strategy "loops" {
^bb0(%a: tensor<4xf32>):
  plan.yield %a : tensor<4xf32>
}

// -----

// expected-error @+1 {{'plan.kernel' op must end with plan.yield}}
plan.kernel @open strategy "loops" {
^bb0(%a: tensor<4xf32>):
  %r = cnn.softmax %a {axis = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
}

// -----

// expected-error @+1 {{'plan.kernel' op takes 'f32', expected a ranked tensor}}
plan.kernel @scalar strategy "loops" {
^bb0(%a: f32):
  plan.yield
}

// -----

// expected-error @+1 {{'plan.kernel' op region #0 ('body') failed to verify constraint: region with 1 blocks}}
"plan.kernel"() ({}) {sym_name = "k", strategy = "loops"} : () -> ()

// -----

// expected-error @+1 {{'plan.kernel' op takes 'tensor<*xf32>', expected a ranked tensor}}
plan.kernel @unranked strategy "loops" {
^bb0(%a: tensor<*xf32>):
  plan.yield
}

// -----

plan.program @main {
  // expected-error @+1 {{attribute 'bytes' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %a = plan.alloc {bytes = -4 : i64}
}

// -----

plan.program @main {
  %a = plan.alloc {bytes = 64 : i64}
  // expected-error @+1 {{attribute 'offset' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %v = plan.view %a {offset = -64 : i64, bytes = 64 : i64}
}

// -----

// expected-error @+1 {{'plan.input' op expects parent op 'plan.program'}}
%x = plan.input "x" : tensor<4xf32>

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'plan.yield' op expects parent op 'plan.kernel'}}
  plan.yield %a : tensor<4xf32>
}

// -----

// A program stands in a module.
func.func @f() {
  // expected-error @+1 {{'plan.program' op symbol's parent must have the SymbolTable trait}}
  plan.program @main {
  }
  return
}
