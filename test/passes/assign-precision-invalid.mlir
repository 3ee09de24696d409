// RUN: convoy-opt %s --convoy-assign-precision --verify-diagnostics

// expected-error @below {{needs one function with one block, has 0 functions}}
module {
}
