// What can be refused of a node without the types of its inputs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/Refusals.h"

#include "compiler/onnx/OpTable.h"
#include "compiler/onnx/Ops.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;

// Why Convoy has none of a family of ops, by names that ONNX gives them.
static StringRef reasonFor(StringRef op) {
  if (op == "Loop" || op == "Scan")
    return "loops whose body a model brings along are not supported; export it with a fixed number "
           "of steps, unrolled";
  if (op.starts_with("Optional"))
    return "values that may be missing are not supported";
  // ReverseSequence works on tensors, despite its name.
  if (op.contains("Sequence") && op != "ReverseSequence")
    return "sequences are not supported; export the model with tensors";
  if (op.starts_with("String") || op.starts_with("Regex") || op == "TfIdfVectorizer")
    return "strings are not supported";
  return "no such op is known";
}

void convoy::onnx::refuseOp(NodeImport &node, bool imports) {
  InFlightDiagnostic error = node.unsupported();
  if (node.domain() == kMicrosoftLayoutDomain) {
    error << "onnxruntime wrote this model for the machine that it ran on; export it again without "
             "optimization, or with its level at most 'extended'";
    return;
  }
  if (!imports) {
    error << "the model imports no opset of this domain";
    return;
  }
  if (!node.domain().empty() && node.domain() != kMicrosoftDomain) {
    error << "expected an op of ai.onnx or " << kMicrosoftDomain;
    return;
  }
  std::string known = knownOpsets(node.domain(), node.opType());
  if (known.empty())
    error << reasonFor(node.opType());
  else
    error << "known in " << known << "; convert the model to one of these opsets";
}

void convoy::onnx::refuseAttrs(NodeImport &node) {
  using Check = LogicalResult (*)(NodeImport &);
  if (!node.domain().empty())
    return;
  auto check = llvm::StringSwitch<Check>(node.opType())
                   .Case("BatchNormalization", checkBatchNormalization)
                   .Case("Cast", checkCast)
                   .Case("Dropout", checkDropout)
                   .Case("Pad", checkPad)
                   .Case("Resize", checkResize)
                   .Cases({"ScatterElements", "ScatterND"}, checkScatter)
                   .Case("Upsample", checkUpsample)
                   .Default(nullptr);
  if (check)
    (void)check(node);
}
