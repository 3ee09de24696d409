// RUN: convoy-opt %s --split-input-file --convoy-verify-plan --verify-diagnostics

// Two buffers alive at once in one place, found where the first is read again.
plan.program @main attributes {arena_bytes = 512 : i64, lower_bound_bytes = 512 : i64} {
  %x = plan.input "x" : tensor<64xf32>
  %y = plan.output "y" : tensor<64xf32>
  // expected-note @below {{while this one is alive}}
  %0 = plan.alloc {bytes = 256 : i64, offset = 0 : i64}
  plan.launch @softmax reads(%x) writes(%0) {bytes = 0 : i64, flops = 0 : i64}
  // expected-note @below {{by this buffer}}
  %1 = plan.alloc {bytes = 256 : i64, offset = 128 : i64}
  plan.launch @softmax reads(%x) writes(%1) {bytes = 0 : i64, flops = 0 : i64}
  // expected-error @below {{reads byte 128 of the arena, which another buffer has overwritten}}
  plan.launch @concat reads(%0, %1) writes(%y) {bytes = 0 : i64, flops = 0 : i64}
}
plan.kernel @softmax strategy "test-loops" {
^bb0(%a: tensor<64xf32>):
  %r = cnn.softmax %a {axis = 0 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  plan.yield %r : tensor<64xf32>
}
plan.kernel @concat strategy "test-loops" {
^bb0(%a: tensor<64xf32>, %b: tensor<64xf32>):
  %r = cnn.map(%a, %b) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%e: f32, %f: f32):
    cnn.yield %e : f32
  }
  plan.yield %r : tensor<64xf32>
}

// -----

// Nothing has written it.
plan.program @main attributes {arena_bytes = 512 : i64, lower_bound_bytes = 512 : i64} {
  %x = plan.input "x" : tensor<64xf32>
  %y = plan.output "y" : tensor<64xf32>
  %0 = plan.alloc {bytes = 256 : i64, offset = 0 : i64}
  // expected-error @below {{reads byte 0 of the arena, which nothing has written}}
  plan.launch @softmax reads(%0) writes(%y) {bytes = 0 : i64, flops = 0 : i64}
}
plan.kernel @softmax strategy "test-loops" {
^bb0(%a: tensor<64xf32>):
  %r = cnn.softmax %a {axis = 0 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  plan.yield %r : tensor<64xf32>
}

// -----

// Half of it is written.
plan.program @main attributes {arena_bytes = 512 : i64, lower_bound_bytes = 512 : i64} {
  %x = plan.input "x" : tensor<64xf32>
  %y = plan.output "y" : tensor<64xf32>
  %0 = plan.alloc {bytes = 512 : i64, offset = 0 : i64}
  %v = plan.view %0 {offset = 0 : i64, bytes = 256 : i64}
  plan.launch @softmax reads(%x) writes(%v) {bytes = 0 : i64, flops = 0 : i64}
  // expected-error @below {{reads byte 256 of the arena, which nothing has written}}
  plan.launch @half reads(%0) writes(%y) {bytes = 0 : i64, flops = 0 : i64}
}
plan.kernel @softmax strategy "test-loops" {
^bb0(%a: tensor<64xf32>):
  %r = cnn.softmax %a {axis = 0 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  plan.yield %r : tensor<64xf32>
}
plan.kernel @half strategy "test-loops" {
^bb0(%a: tensor<128xf32>):
  %r = cnn.slice %a {starts = array<i64: 0>, steps = array<i64: 1>} : (tensor<128xf32>) -> tensor<64xf32>
  plan.yield %r : tensor<64xf32>
}

// -----

// Out of the arena.
plan.program @main attributes {arena_bytes = 512 : i64, lower_bound_bytes = 512 : i64} {
  %x = plan.input "x" : tensor<64xf32>
  %y = plan.output "y" : tensor<64xf32>
  // expected-error @below {{bytes 448 to 704 leave the arena of 512}}
  %0 = plan.alloc {bytes = 256 : i64, offset = 448 : i64}
}

// -----

// Misaligned.
plan.program @main attributes {arena_bytes = 512 : i64, lower_bound_bytes = 512 : i64} {
  %x = plan.input "x" : tensor<64xf32>
  %y = plan.output "y" : tensor<64xf32>
  // expected-error @below {{offset 32 is no multiple of 64}}
  %0 = plan.alloc {bytes = 256 : i64, offset = 32 : i64}
}

// -----

// No offset.
plan.program @main attributes {arena_bytes = 512 : i64, lower_bound_bytes = 512 : i64} {
  %x = plan.input "x" : tensor<64xf32>
  %y = plan.output "y" : tensor<64xf32>
  // expected-error @below {{has no offset}}
  %0 = plan.alloc {bytes = 256 : i64}
}

// -----

// No arena.
  // expected-error @below {{has no arena_bytes}}
plan.program @main {
}

// -----

// Writes an input.
plan.program @main attributes {arena_bytes = 512 : i64, lower_bound_bytes = 512 : i64} {
  %x = plan.input "x" : tensor<64xf32>
  %y = plan.output "y" : tensor<64xf32>
  // expected-error @below {{writes an input or a constant}}
  plan.launch @softmax reads(%x) writes(%x) {bytes = 0 : i64, flops = 0 : i64}
}
plan.kernel @softmax strategy "test-loops" {
^bb0(%a: tensor<64xf32>):
  %r = cnn.softmax %a {axis = 0 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  plan.yield %r : tensor<64xf32>
}

// -----

// Writes a constant.
plan.program @main attributes {arena_bytes = 512 : i64, lower_bound_bytes = 512 : i64} {
  %x = plan.input "x" : tensor<64xf32>
  %y = plan.output "y" : tensor<64xf32>
  %c = plan.constant dense<1.0> : tensor<64xf32>
  // expected-error @below {{writes an input or a constant}}
  plan.launch @softmax reads(%x) writes(%c) {bytes = 0 : i64, flops = 0 : i64}
}
plan.kernel @softmax strategy "test-loops" {
^bb0(%a: tensor<64xf32>):
  %r = cnn.softmax %a {axis = 0 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  plan.yield %r : tensor<64xf32>
}

// -----

// Reads an output.
plan.program @main attributes {arena_bytes = 512 : i64, lower_bound_bytes = 512 : i64} {
  %x = plan.input "x" : tensor<64xf32>
  %y = plan.output "y" : tensor<64xf32>
  plan.launch @softmax reads(%x) writes(%y) {bytes = 0 : i64, flops = 0 : i64}
  // expected-error @below {{reads an output}}
  plan.launch @softmax reads(%y) writes(%y) {bytes = 0 : i64, flops = 0 : i64}
}
plan.kernel @softmax strategy "test-loops" {
^bb0(%a: tensor<64xf32>):
  %r = cnn.softmax %a {axis = 0 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  plan.yield %r : tensor<64xf32>
}

// -----

// A view beyond its buffer.
plan.program @main attributes {arena_bytes = 512 : i64, lower_bound_bytes = 512 : i64} {
  %x = plan.input "x" : tensor<64xf32>
  %y = plan.output "y" : tensor<64xf32>
  %0 = plan.alloc {bytes = 256 : i64, offset = 0 : i64}
  // expected-error @below {{bytes 64 to 320 leave the buffer of 256}}
  %v = plan.view %0 {offset = 64 : i64, bytes = 256 : i64}
}

// -----

// A view of an input.
plan.program @main attributes {arena_bytes = 512 : i64, lower_bound_bytes = 512 : i64} {
  %x = plan.input "x" : tensor<64xf32>
  %y = plan.output "y" : tensor<64xf32>
  // expected-error @below {{is no part of the arena}}
  %v = plan.view %x {offset = 0 : i64, bytes = 256 : i64}
}

// -----

// A buffer smaller than its tensor.
plan.program @main attributes {arena_bytes = 512 : i64, lower_bound_bytes = 512 : i64} {
  %x = plan.input "x" : tensor<64xf32>
  %y = plan.output "y" : tensor<64xf32>
  %0 = plan.alloc {bytes = 128 : i64, offset = 0 : i64}
  // expected-error @below {{needs 256 bytes for 'tensor<64xf32>', the buffer has 128}}
  plan.launch @softmax reads(%x) writes(%0) {bytes = 0 : i64, flops = 0 : i64}
}
plan.kernel @softmax strategy "test-loops" {
^bb0(%a: tensor<64xf32>):
  %r = cnn.softmax %a {axis = 0 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  plan.yield %r : tensor<64xf32>
}

// -----

// An output that no one writes.
plan.program @main attributes {arena_bytes = 0 : i64} {
  // expected-error @below {{is never written}}
  %y = plan.output "y" : tensor<64xf32>
}

// -----

// A softmax over its own input: its tiles read what others write.
plan.program @main attributes {arena_bytes = 512 : i64, lower_bound_bytes = 512 : i64} {
  %x = plan.input "x" : tensor<64xf32>
  %y = plan.output "y" : tensor<64xf32>
  %0 = plan.alloc {bytes = 256 : i64, offset = 0 : i64}
  plan.launch @softmax reads(%x) writes(%0) {bytes = 0 : i64, flops = 0 : i64}
  %1 = plan.alloc {bytes = 256 : i64, offset = 0 : i64}
  // expected-error @below {{writes bytes 0 to 256 of the arena over what it reads}}
  plan.launch @softmax reads(%0) writes(%1) {bytes = 0 : i64, flops = 0 : i64}
  plan.launch @softmax reads(%1) writes(%y) {bytes = 0 : i64, flops = 0 : i64}
}
plan.kernel @softmax strategy "test-loops" {
^bb0(%a: tensor<64xf32>):
  %r = cnn.softmax %a {axis = 0 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  plan.yield %r : tensor<64xf32>
}

// -----

// A map over a part of its input.
plan.program @main attributes {arena_bytes = 512 : i64, lower_bound_bytes = 512 : i64} {
  %x = plan.input "x" : tensor<64xf32>
  %y = plan.output "y" : tensor<64xf32>
  %0 = plan.alloc {bytes = 256 : i64, offset = 0 : i64}
  plan.launch @softmax reads(%x) writes(%0) {bytes = 0 : i64, flops = 0 : i64}
  %1 = plan.alloc {bytes = 256 : i64, offset = 64 : i64}
  // expected-error @below {{writes bytes 64 to 320 of the arena over what it reads}}
  plan.launch @map reads(%0) writes(%1) {bytes = 0 : i64, flops = 0 : i64}
  plan.launch @softmax reads(%1) writes(%y) {bytes = 0 : i64, flops = 0 : i64}
}
plan.kernel @softmax strategy "test-loops" {
^bb0(%a: tensor<64xf32>):
  %r = cnn.softmax %a {axis = 0 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  plan.yield %r : tensor<64xf32>
}
plan.kernel @map strategy "test-loops" {
^bb0(%a: tensor<64xf32>):
  %r = cnn.map(%a) : (tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%e: f32):
    cnn.yield %e : f32
  }
  plan.yield %r : tensor<64xf32>
}

// -----

// A wave of launches of which one reads what the other writes.
plan.program @main attributes {arena_bytes = 512 : i64, lower_bound_bytes = 512 : i64} {
  %x = plan.input "x" : tensor<64xf32>
  %y = plan.output "y" : tensor<64xf32>
  %0 = plan.alloc {bytes = 256 : i64, offset = 0 : i64}
  plan.launch @softmax reads(%x) writes(%0) {bytes = 0 : i64, flops = 0 : i64}
  // expected-error @below {{reads byte 0 of the arena, which nothing has written}}
  plan.launch @softmax reads(%0) writes(%y) {bytes = 0 : i64, flops = 0 : i64, joins}
}
plan.kernel @softmax strategy "test-loops" {
^bb0(%a: tensor<64xf32>):
  %r = cnn.softmax %a {axis = 0 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  plan.yield %r : tensor<64xf32>
}

// -----

// Of which one writes where the other reads: one after another they would be right.
plan.program @main attributes {arena_bytes = 512 : i64, lower_bound_bytes = 512 : i64} {
  %x = plan.input "x" : tensor<64xf32>
  %y = plan.output "y" : tensor<64xf32>
  %z = plan.output "z" : tensor<64xf32>
  %0 = plan.alloc {bytes = 256 : i64, offset = 0 : i64}
  plan.launch @softmax reads(%x) writes(%0) {bytes = 0 : i64, flops = 0 : i64}
  // expected-note @below {{this launch}}
  plan.launch @softmax reads(%0) writes(%y) {bytes = 0 : i64, flops = 0 : i64}
  %1 = plan.alloc {bytes = 256 : i64, offset = 192 : i64}
  // expected-error @below {{joins a wave with a launch that uses the same memory}}
  plan.launch @softmax reads(%x) writes(%1) {bytes = 0 : i64, flops = 0 : i64, joins}
  plan.launch @softmax reads(%1) writes(%z) {bytes = 0 : i64, flops = 0 : i64}
}
plan.kernel @softmax strategy "test-loops" {
^bb0(%a: tensor<64xf32>):
  %r = cnn.softmax %a {axis = 0 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  plan.yield %r : tensor<64xf32>
}

// -----

// Of which both write one place.
plan.program @main attributes {arena_bytes = 512 : i64, lower_bound_bytes = 512 : i64} {
  %x = plan.input "x" : tensor<64xf32>
  %y = plan.output "y" : tensor<64xf32>
  // expected-note @below {{this launch}}
  plan.launch @softmax reads(%x) writes(%y) {bytes = 0 : i64, flops = 0 : i64}
  // expected-error @below {{joins a wave with a launch that uses the same memory}}
  plan.launch @softmax reads(%x) writes(%y) {bytes = 0 : i64, flops = 0 : i64, joins}
}
plan.kernel @softmax strategy "test-loops" {
^bb0(%a: tensor<64xf32>):
  %r = cnn.softmax %a {axis = 0 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  plan.yield %r : tensor<64xf32>
}

// -----

plan.program @main attributes {arena_bytes = 0 : i64, lower_bound_bytes = 0 : i64} {
  %x = plan.input "x" : tensor<64xf32>
  %y = plan.output "y" : tensor<64xf32>
  // expected-error @below {{joins a wave, but is the first launch}}
  plan.launch @softmax reads(%x) writes(%y) {bytes = 0 : i64, flops = 0 : i64, joins}
}
plan.kernel @softmax strategy "test-loops" {
^bb0(%a: tensor<64xf32>):
  %r = cnn.softmax %a {axis = 0 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  plan.yield %r : tensor<64xf32>
}

// -----

// No plan.
  // expected-error @below {{has no plan.program}}
module {
}
