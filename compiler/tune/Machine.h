// The machine that measures, and the compiler that makes what is measured.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <string>

namespace convoy::tune {

/// A CPU by what it says of itself.
struct Cpu {
  std::string vendor, brand;
  unsigned family = 0, model = 0;
  std::string features; ///< a digest of the features that it has

  /// This machine's.
  static const Cpu &host();
  /// The class of machines that it is one of, such as "AuthenticAMD family 26": what is fast on one
  /// of them is fast on the others.
  std::string machineClass() const;
  /// Different for two machines that may measure different times.
  std::string name() const;
};

/// The code that kernels get: the version of this compiler, of its sources that make code, and of
/// LLVM.
std::string compilerVersion();

} // namespace convoy::tune
