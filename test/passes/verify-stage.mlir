// RUN: convoy-opt %s --convoy-verify-stage --convoy-verify-stage=stage=fold --convoy-verify-stage=stage=layout | FileCheck %s

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32> {
  return %x : tensor<1x1x2x2xf32>
}
