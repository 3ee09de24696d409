// RUN: convoy-opt %s --split-input-file --convoy-verify-stage=stage=lunch --verify-diagnostics

// An unknown stage.
// expected-error @below {{unknown stage 'lunch'}}
module {
func.func @main() {
  return
}
}
