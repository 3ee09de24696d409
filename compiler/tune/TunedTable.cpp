// A target's kernel table with what was measured.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/tune/TunedTable.h"

#include "compiler/tune/Signature.h"

using namespace convoy;
using namespace convoy::tune;

llvm::ArrayRef<Measurement> TunedTable::measurements(mlir::Operation *op, cnn::TargetAttr) const {
  std::string signature = signatureOf(op);
  if (onAsked)
    onAsked(op, signature);
  for (const Results *some : results)
    if (llvm::ArrayRef<Measurement> found = some->find(signature); !found.empty())
      return found;
  return {};
}
